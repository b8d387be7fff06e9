"""What jobs and Pods make, and what CRDs leave open."""
import copy
import dataclasses

from harness import kinds, objects
from harness.api import ApiError
from harness.kinds import at
from harness.suite import scenario
from scenarios.kinds import POOL as OWN, OneCluster, go_their_way, make_child
from scenarios.pods import OfStatefulSet, POD, Site, come_and_go, made_of, owner, template

NS = objects.NAMESPACE


@scenario
def what_an_unmanaged_pod_made_is_accepted(env):
    """Spark's executors are Pods of a Pod, and a StatefulSet of workers has a leader Pod. What is in no
    queue is let in."""
    site = Site(env, ("pod", "statefulset", "deployment"), {"pods": 1})
    driver = site.create(made_of("Pod", "driver", {}, spec=kinds.pod_spec())) | POD
    web = site.create(made_of("Deployment", "web", {}, spec={
        "selector": {"matchLabels": {"app": "web"}}, "template": template("web")}))
    refused = []

    def make(what, obj, maker, path):
        obj["metadata"]["ownerReferences"] = [owner(maker)]
        try:
            return site.api.request("POST", path, obj)
        except ApiError as e:
            refused.append((what, str(e)))
            return None

    pods, jobs = site.path("Pod"), site.api.path("jobs", namespace=NS)
    plain = make("a Pod", made_of("Pod", "executor", {}, spec=kinds.pod_spec()), driver, pods)
    queued = make("a Pod in a queue", made_of(
        "Pod", "queued", {objects.QUEUE_LABEL: "pods"}, spec=kinds.pod_spec()), driver, pods)
    make("a StatefulSet", made_of("StatefulSet", "db", {}, spec={
        "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": template("db")}), driver, site.path("StatefulSet"))
    make("a Job", objects.job("made", managed_by=None, queue=None), driver, jobs)
    make("a Pod of a Deployment", made_of("Pod", "of-web", {}, spec=kinds.pod_spec()), web, pods)
    assert not refused, refused
    assert "schedulingGates" not in plain["spec"]
    assert queued["spec"]["schedulingGates"], "its maker is in no queue, it is"


@scenario
def appwrapper_with_a_port(env):
    """The protocol of a port has a default in the CRD of Workloads, and the CRD of AppWrappers does not
    look into what is wrapped."""
    spec = copy.deepcopy(kinds.APPWRAPPER.spec)
    for pod in (spec["components"][0]["template"]["spec"]["template"], spec["components"][1]["template"]):
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 8080}]
    kind = dataclasses.replace(kinds.APPWRAPPER, spec=spec)
    jobs = OneCluster(env, [kind])
    jobs.create(kind, "low", "low")
    jobs.wait_running(kind, "low", OWN)


@scenario
def stateful_set_shrinks_while_its_pods_run(env):
    """No Pod is told that its group has no Pods, which its webhook would refuse."""
    site = Site(env, ("pod", "statefulset"), {OfStatefulSet.queue: OfStatefulSet.cores()})
    come_and_go(site, [OfStatefulSet(site)])
    assert not site.helm.refused(), site.helm.refused()


@scenario
def mpijobs_beside_the_training_operator(env):
    """Their versions are of one API group, and the laboratory collects what belongs to MPIJobs only if
    their version is the preferred one."""
    go_their_way(OneCluster(env, [*kinds.KUBEFLOW, kinds.MPIJOB]))


@scenario
def what_a_preempted_job_made_is_suspended(env):
    """A Job that a JobSet made runs when the JobSet loses its quota, and is suspended then. Nothing else
    changes the Job."""
    kind = kinds.JOBSET
    jobs = OneCluster(env, [kind])
    jobs.create(kind, "low", "low")
    jobs.wait_running(kind, "low", OWN)
    child = make_child(jobs, kind)
    jobs.say(kind, "low", kind.running)
    jobs.create(kind, "high", "high")
    jobs.wait_suspended(kind, "low")
    assert not at(jobs.find(kind.child, child), kind.child.suspend)
    jobs.say(kind, "low", kind.stopped)
    jobs.wait_running(kind, "high", OWN)
    jobs.wait_suspended(kind.child, child)
