"""A hub that is restored from a backup, and one that takes the place of another one."""
import json
import re

from harness import objects
from harness.api import is_true
from harness.federation import holding
from harness.suite import scenario
from harness.waiting import slowness

NS = objects.NAMESPACE
FOR_LONG = 3600
BRAKE = {"multiKueue": {"gcInterval": "1s", "removalBrake": {"sharePercent": 50, "atLeast": 3}}}


def federate(env):
    return env.federate(workers=("cpu",), hub_config=BRAKE)


def run(fed, *names, seconds=FOR_LONG):
    """Submits the jobs, and returns when all run on the worker."""
    fed.submit(*[objects.job(name, seconds=seconds) for name in names])
    for name in names:
        fed.wait_running(name)


def uids_on_worker(fed):
    """The jobs on the worker that run, by name: an exchanged job has another UID."""
    return {j["metadata"]["name"]: j["metadata"]["uid"]
            for j in fed.workers["cpu"].api.list("jobs", NS) if j.get("status", {}).get("active")}


def wait_told(fed, hub, kind, status):
    """Returns the message of a condition of the hub's MultiKueueCluster."""
    return fed.wait_for(f"{kind} is {status}", lambda: holding(
        hub.api.get("multikueueclusters", "cpu"), kind, status))["message"]


def annotate(hub, annotation, value):
    hub.kubectl.run("annotate", "multikueuecluster", "cpu",
                    f"multikueue.regatta.dev/{annotation}={value}")


def back_up(hub):
    hub.stop_manager()
    hub.save()
    hub.restart_manager()
    hub.wait_manager()


def restore(hub):
    hub.kill_manager()
    hub.go_back()
    hub.restart_manager()
    hub.wait_manager()


@scenario
def hub_restored_from_a_backup(env):
    """The hub comes back without most of what runs: nothing is removed before a user allows it, and
    what the backup has runs on."""
    fed = federate(env)
    run(fed, "saved")
    back_up(fed.hub)
    late = [f"late-{i}" for i in range(4)]
    run(fed, *late)
    before = uids_on_worker(fed)
    restore(fed.hub)
    message = wait_told(fed, fed.hub, "RemovalsHeld", "True")
    assert message.startswith("4 of 5 workloads that run on this worker do not exist"), message
    fed.wait_connected(["cpu"])
    run(fed, "new")
    assert before == {n: u for n, u in uids_on_worker(fed).items() if n != "new"}
    allowed = re.search(r"multikueue.regatta.dev/remove-vanished=(\d+)", message)[1]
    annotate(fed.hub, "remove-vanished", allowed)
    fed.wait_for("the lost jobs are removed", lambda: set(uids_on_worker(fed)) == {"saved", "new"})
    wait_told(fed, fed.hub, "RemovalsHeld", "False")
    assert uids_on_worker(fed)["saved"] == before["saved"]
    assert fed.winner_of("saved") == "cpu"


@scenario
def hub_restored_to_before_its_jobs_were_sent(env):
    """The backup has jobs that wait: they run on the worker, and are not run a second time."""
    fed = federate(env)
    hold(fed.hub, "Hold")
    names = [f"waiting-{i}" for i in range(4)]
    fed.submit(*[objects.job(name, seconds=FOR_LONG) for name in names])
    fed.wait_for("each job has a Workload", lambda: all(fed.workload_of(name) for name in names))
    back_up(fed.hub)
    hold(fed.hub, "None")
    for name in names:
        fed.wait_running(name)
    before = uids_on_worker(fed)
    restore(fed.hub)
    hold(fed.hub, "None")
    wait_told(fed, fed.hub, "RemovalsHeld", "True")
    run(fed, "new")
    assert before == {n: u for n, u in uids_on_worker(fed).items() if n != "new"}
    annotate(fed.hub, "remove-vanished", len(names))
    fed.wait_for("each job has a worker on the hub, too", lambda: all(
        fed.winner_of(name) == "cpu" for name in names))
    wait_told(fed, fed.hub, "RemovalsHeld", "False")


def hold(hub, policy):
    hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p",
                    json.dumps({"spec": {"stopPolicy": policy}}))


def another_hub(env, fed):
    """A cluster with the same queues, checks, worker and origin, and no manager yet."""
    other = env.cluster("other")
    other.kubectl.apply(objects.namespace(objects.SYSTEM))
    other.install_crds()
    other.kubectl.run("apply", "-f", fed.example("hub/queues.yaml"))
    secret = fed.hub.api.get("secrets", "cpu-kubeconfig", objects.SYSTEM)
    other.kubectl.apply({**secret, "metadata": {"name": "cpu-kubeconfig",
                                                "namespace": objects.SYSTEM}})
    other.kubectl.run("apply", "-f", fed.example("hub/multikueue.yaml"))
    other.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p",
                      json.dumps({"spec": {"clusters": ["cpu"]}}))
    return other


def bring(fed, other, name):
    """A job and its Workload, with their status, as a tool for backups brings them."""
    job, workload = fed.hub.api.get("jobs", name, NS), fed.workload_of(name)
    for made in (job, workload):
        for field in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
            made["metadata"].pop(field, None)
    for field in ("selector", "manualSelector"):
        job["spec"].pop(field, None)
    labels = job["spec"]["template"]["metadata"].get("labels", {})
    for label in [l for l in labels if "controller-uid" in l or "job-name" in l]:
        del labels[label]
    other.kubectl.create(job)
    workload["metadata"]["ownerReferences"][0]["uid"] = \
        other.api.get("jobs", name, NS)["metadata"]["uid"]
    other.kubectl.create(workload)
    path = other.api.path("workloads", workload["metadata"]["name"], NS) + "/status"
    other.api.request("PATCH", path, {"status": workload["status"]}, "application/merge-patch+json")


@scenario
def hub_replaced_by_a_new_one(env):
    """Two hubs with one origin leave each other's jobs alone and say so; then one takes over what
    the other one had: its jobs run on, and end on the new hub."""
    fed = federate(env)
    run(fed, "lasting")
    run(fed, "ending", seconds=15 + 5 * slowness())
    before = uids_on_worker(fed)
    other = another_hub(env, fed)
    other.start_manager(**BRAKE)
    other.wait_manager()
    message = wait_told(fed, other, "OriginShared", "True")
    uid = fed.hub.api.get("namespaces", "kube-system")["metadata"]["uid"]
    assert uid in message, message
    other.kubectl.create(objects.job("of-the-other", seconds=FOR_LONG))
    fed.wait_for("a job of the other hub runs beside them", lambda: set(
        uids_on_worker(fed)) == {*before, "of-the-other"})
    wait_told(fed, fed.hub, "OriginShared", "True")
    together = uids_on_worker(fed)
    assert before.items() <= together.items()

    fed.hub.stop_manager()
    other.stop_manager()
    for name in before:
        bring(fed, other, name)
    annotate(other, "adopt-hub", uid)
    other.restart_manager()
    other.wait_manager()
    wait_told(fed, other, "OriginShared", "False")
    fed.wait_for("a job ends on the new hub", lambda: is_true(
        other.api.get("jobs", "ending", NS), "Complete"), 90)
    assert uids_on_worker(fed) == {n: u for n, u in together.items() if n != "ending"}
    found = other.api.get("jobs", "lasting", NS)
    assert found["status"].get("active") == 1, found["status"]
    other.kubectl.run("delete", "job", "lasting", "-n", NS)
    fed.wait_for("it is removed from the worker", lambda: set(
        uids_on_worker(fed)) == {"of-the-other"})
