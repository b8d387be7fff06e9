"""Pods, groups of Pods, and what acts through its Pods. The scenarios are the kubelet, the scheduler
and the controllers that make Pods."""
import copy

from harness import kinds, objects, solo
from harness.api import ApiError, condition, is_true
from harness.federation import holding, report
from harness.helm import CHART, RELEASE, Helm
from harness.suite import scenario
from harness.waiting import wait_for

NS = objects.NAMESPACE
POOL = {"example.dev/pool": "own"}  # the labels of the nodes of the only flavor
GATE = "kueue.x-k8s.io/admission"
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
CLASS = "kueue.x-k8s.io/priority-class"
LWS = "leaderworkerset.x-k8s.io"
FOLDERS = {"Pod": "/api/v1", "StatefulSet": "/apis/apps/v1", "Deployment": "/apis/apps/v1",
           "ReplicaSet": "/apis/apps/v1", "LeaderWorkerSet": f"/apis/{LWS}/v1"}


def made_of(kind, name, labels, **rest):
    version = FOLDERS[kind].removeprefix("/apis/").removeprefix("/api/")
    return {"apiVersion": version, "kind": kind,
            "metadata": {"name": name, "namespace": NS, "labels": labels}, **rest}


def owner(obj):
    return {**{k: obj[k] for k in ("apiVersion", "kind")}, "controller": True,
            "blockOwnerDeletion": True, **{k: obj["metadata"][k] for k in ("name", "uid")}}


def pod_from(template, name, maker, labels=None):
    """A Pod as a controller makes it of its template."""
    pod = copy.deepcopy({"apiVersion": "v1", "kind": "Pod", **template})
    meta = pod["metadata"]
    meta.update(name=name, namespace=NS, ownerReferences=[owner(maker)])
    meta["labels"] = {**meta.get("labels", {}), **(labels or {})}
    return pod


def template(app, container="main"):
    return {"metadata": {"labels": {"app": app}}, "spec": kinds.pod_spec(container)}


class Pods:
    """The Pods of a cluster and what makes them. `pool`: the labels of nodes that its flavor adds."""

    def __init__(self, cluster, pool):
        self.cluster, self.api, self.pool = cluster, cluster.api, pool

    def wait_for(self, what, check, timeout=30):
        return wait_for(what, check, timeout, self.cluster.check)

    def path(self, kind, name=None):
        plural = kind.lower() + "s"
        return f"{FOLDERS[kind]}/namespaces/{NS}/{plural}" + (f"/{name}" if name else "")

    def create(self, obj):
        return self.api.request("POST", self.path(obj["kind"]), obj)

    def hold(self, pod):
        """Creates a Pod, which its webhook holds back. Returns its name."""
        made = self.create(pod)
        gates = [gate["name"] for gate in made["spec"].get("schedulingGates", [])]
        assert GATE in gates, (made["metadata"], gates)
        return made["metadata"]["name"]

    def delete(self, kind, name):
        self.api.request("DELETE", self.path(kind, name) + "?propagationPolicy=Background")

    def gated(self, name):
        gates = self.api.get("pods", name, NS)["spec"].get("schedulingGates", [])
        return GATE in [gate["name"] for gate in gates]

    def set_status(self, kind, name, status):
        self.api.request("PATCH", self.path(kind, name) + "/status", {"status": status},
                         "application/strategic-merge-patch+json")

    def run(self, name):
        """The scheduler and the kubelet, once the Pod may run."""
        def may_run():
            spec = self.api.get("pods", name, NS)["spec"]
            held, chosen = spec.get("schedulingGates"), spec.get("nodeSelector")
            return not held and chosen == {"disk": "fast", **self.pool} or report([held, chosen])
        self.wait_for(f"Pod {name} may run", may_run)
        self.api.request("POST", self.path("Pod", name) + "/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "node"}})
        self.set_status("Pod", name, {"phase": "Running", "startTime": kinds.SINCE, "conditions": [
            kinds.condition(c) for c in ("PodScheduled", "ContainersReady", "Ready")]})

    def end(self, name, phase):
        self.set_status("Pod", name, {"phase": phase, "conditions": [
            kinds.condition(c, "False") for c in ("ContainersReady", "Ready")]})

    def kill(self, name):
        """The kubelet, once the Pod is to go."""
        def is_to_go():
            meta = self.api.get("pods", name, NS)["metadata"]
            return "deletionTimestamp" in meta or report(meta)
        self.wait_for(f"Pod {name} is to go", is_to_go)
        self.end(name, "Failed")
        self.remove(name)

    def remove(self, name):
        try:
            self.api.request("DELETE", self.path("Pod", name) + "?gracePeriodSeconds=0")
        except ApiError as e:
            assert e.code == 404, e

    def wait_gone(self, names):
        self.wait_for(f"{names} are gone", lambda: not (
            left := [n for n in names if self.api.find("pods", n, NS)]) or report(left))


class Site(Pods):
    """A cluster with the chart, so that webhooks are called. `cores`: the quota of each queue."""

    def __init__(self, env, frameworks, cores, crds=()):
        cluster = env.cluster("solo")
        super().__init__(cluster, POOL)
        if crds:
            cluster.define(*crds)
        self.helm = Helm(cluster)
        self.helm.install(RELEASE, CHART, self.helm.served_values(
            integrations={"frameworks": ["batch/job", *frameworks]},
            waitForPodsReady={"timeout": "1h"}), "--create-namespace")
        cluster.wait_crds()
        self.helm.route(self.helm.start_manager())
        cluster.kubectl.apply(
            objects.namespace(NS), {**solo.flavor("own"), "spec": {"nodeLabels": POOL}},
            solo.priority_class("low", 1), solo.priority_class("high", 100),
            *[made for queue, count in cores.items() for made in queue_of(queue, count)])

    def workloads(self, queue, priority="low"):
        """Those of the queue and that class."""
        return [w for w in self.api.list("workloads", NS) if w["spec"]["queueName"] == queue
                and w["spec"]["priorityClassRef"]["name"] == priority]

    def wait_workloads(self, queue, kind, status, reason=None, priority="low"):
        """Until each has the condition."""
        def all_have():
            found = self.workloads(queue, priority)
            return found and all(holding(w, kind, status, reason) for w in found)
        self.wait_for(f"{queue}: {kind} is {status}", all_have)


def queue_of(name, cores):
    made = solo.cluster_queue(name, 0, preemption={"withinClusterQueue": "LowerPriority"})
    made[0]["spec"]["resourceGroups"] = [{"coveredResources": ["cpu", "memory"], "flavors": [{
        "name": "own", "resources": [{"name": "cpu", "nominalQuota": str(cores)},
                                     {"name": "memory", "nominalQuota": "64Gi"}]}]}]
    return made


class Made:
    """One job that consists of Pods or acts through them. `sets`: for each Workload the pods of each
    of its pod sets. `replaced_at_once`: what an evicted Pod leaves stays until there is another one."""
    queue, sets, replaced_at_once = "", [], False

    def __init__(self, site):
        self.site = site
        self.labels = {objects.QUEUE_LABEL: self.queue, CLASS: "low"}

    @classmethod
    def cores(cls):
        return sum(map(sum, cls.sets))

    def begin(self):
        """Creates what makes Pods."""

    def pods(self, turn):
        """Creates the Pods for the first or second time; returns their names."""
        raise NotImplementedError

    def finish(self, names):
        """Ends it in a way of its own, while its Pods run."""
        raise NotImplementedError


class AlonePod(Made):
    queue, sets = "pods", [[1]]

    def pods(self, turn):
        return [self.site.hold(made_of("Pod", f"alone-{turn}", self.labels, spec=kinds.pod_spec()))]

    def finish(self, names):
        self.site.end(names[0], "Succeeded")
        self.site.wait_workloads(self.queue, "Finished", "True", "Succeeded")
        self.site.remove(names[0])


class Group(Made):
    queue, sets, replaced_at_once = "groups", [[1, 1]], True

    def member(self, name, memory):
        """Pods of one role ask for the same."""
        pod = made_of("Pod", name, {**self.labels, GROUP: "duo"}, spec=kinds.pod_spec())
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
        pod["metadata"]["annotations"] = {TOTAL: "2"}
        return self.site.hold(pod)

    def told(self, name):
        found = self.site.cluster.kubectl.run("get", "events", "-n", NS, "-o", "json").json()["items"]
        return [e for e in found if e["reason"] == "ErrWorkloadCompose"
                and (e.get("involvedObject") or e.get("regarding"))["name"] == name]

    def pods(self, turn):
        first = self.member(f"duo-lead-{turn}", "1Gi")
        if turn == 1:
            self.site.wait_for("it is told that it is alone", lambda: self.told(first))
            assert self.site.gated(first)
        return [first, self.member(f"duo-crew-{turn}", "2Gi")]

    def finish(self, names):
        """One Pod fails and is replaced, and both end well."""
        lead, crew = names
        self.site.end(crew, "Failed")
        again = self.member("duo-crew-again", "2Gi")
        self.site.run(again)
        for name in (lead, again):
            self.site.end(name, "Succeeded")
        self.site.wait_workloads(self.queue, "Finished", "True", "Succeeded")
        for name in (lead, crew, again):
            self.site.remove(name)


class OfDeployment(Made):
    """Each Pod has a Workload of its own."""
    queue, sets = "deployments", [[1], [1]]

    def begin(self):
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                "template": template("web")}
        made = self.site.create(made_of("Deployment", "web", self.labels, spec=spec))
        spec["template"] = made["spec"]["template"]
        self.set = made_of("ReplicaSet", "web-1", {"app": "web"}, spec=spec)
        self.set["metadata"]["ownerReferences"] = [owner(made)]
        self.set = self.site.create(self.set)

    def pods(self, turn):
        return [self.site.hold(pod_from(self.set["spec"]["template"], f"web-1-{turn}{i}", self.set))
                for i in range(2)]

    def finish(self, names):
        self.site.delete("Deployment", "web")
        for name in names:
            self.site.kill(name)


class OfStatefulSet(Made):
    queue, sets = "statefulsets", [[2]]

    def begin(self):
        self.set = self.site.create(made_of("StatefulSet", "db", self.labels, spec={
            "replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "template": template("db")}))

    def pods(self, turn):
        self.site.set_status("StatefulSet", "db", {
            "replicas": 2, "currentRevision": "r1", "updateRevision": "r1"})
        return [self.site.hold(pod_from(self.set["spec"]["template"], f"db-{i}", self.set, {
            "apps.kubernetes.io/pod-index": str(i), "controller-revision-hash": "r1"}))
                for i in range(2)]

    def scale(self, replicas):
        self.site.api.request("PATCH", self.site.path("StatefulSet", "db"),
                              {"spec": {"replicas": replicas}}, "application/merge-patch+json")

    def finish(self, names):
        """It shrinks to nothing, grows again, and is deleted."""
        self.scale(0)
        for name in names:
            self.site.delete("Pod", name)
            self.site.kill(name)
        self.site.wait_gone(names)
        self.site.wait_workloads(self.queue, "QuotaReserved", "False", "OnHold")
        self.scale(2)
        for name in (names := self.pods(2)):
            self.site.run(name)
        self.site.delete("StatefulSet", "db")
        for name in names:
            self.site.kill(name)


class OfLeaderWorkerSet(Made):
    """Each replica has a Workload: a leader and its workers."""
    queue, sets = "lws", [[1, 2], [1, 2]]

    def begin(self):
        site = self.site
        self.made = site.create(made_of("LeaderWorkerSet", "serve", self.labels, spec={
            "replicas": 2, "leaderWorkerTemplate": {
                "size": 3, "leaderTemplate": template("serve", "leader"),
                "workerTemplate": template("serve", "worker")}}))
        self.leaders = self.stateful_set("serve", 2, "leaderTemplate", self.made)

    def stateful_set(self, name, replicas, of, maker):
        made = made_of("StatefulSet", name, {"leaderworkerset.sigs.k8s.io/name": "serve"}, spec={
            "replicas": replicas, "serviceName": "serve",
            "selector": {"matchLabels": {"app": "serve"}},
            "template": self.made["spec"]["leaderWorkerTemplate"][of]})
        made["metadata"]["ownerReferences"] = [owner(maker)]
        # The webhook refuses it while it does not know its maker, and a controller tries again.
        made = self.site.wait_for(f"StatefulSet {name} is accepted", lambda: self.site.create(made))
        self.site.set_status("StatefulSet", name, {
            "replicas": replicas, "currentRevision": "r1", "updateRevision": "r1"})
        return made

    def pod(self, name, maker, group, worker):
        return self.site.hold(pod_from(maker["spec"]["template"], name, maker, {
            "leaderworkerset.sigs.k8s.io/name": "serve",
            "leaderworkerset.sigs.k8s.io/group-index": str(group),
            "leaderworkerset.sigs.k8s.io/worker-index": str(worker),
            "controller-revision-hash": "r1"}))

    def pods(self, turn):
        names = []
        for group in range(2):
            names.append(leader := self.pod(f"serve-{group}", self.leaders, group, 0))
            self.site.wait_for("what the last leader left is gone", lambda: not self.left(leader))
            workers = self.stateful_set(leader, 2, "workerTemplate",
                                        self.site.api.get("pods", leader, NS) | POD)
            names += [self.pod(f"{leader}-{i}", workers, group, i) for i in (1, 2)]
        return names

    def left(self, leader):
        code, _ = self.site.api.raw("GET", self.site.path("StatefulSet", leader))
        return code != 404

    def finish(self, names):
        self.site.delete("LeaderWorkerSet", "serve")
        for name in names:
            self.site.kill(name)


POD = {"apiVersion": "v1", "kind": "Pod"}


def replace(site, job, names):
    """Its Pods are evicted, and made again. Returns the names of the new ones."""
    def told(name):
        target = condition(site.api.get("pods", name, NS), "TerminationTarget")
        return target.get("reason") == "WorkloadEvictedDueToPreempted" or report(target)
    for name in names:
        site.wait_for(f"{name} is told why it is to go", lambda: told(name))
    urgent = site.workloads(job.queue, "high")
    assert len(urgent) == 1 and not is_true(urgent[0], "QuotaReserved"), urgent
    for name in names:
        site.kill(name)
    if job.replaced_at_once:
        again = job.pods(2)
    site.wait_gone(names)
    return again if job.replaced_at_once else job.pods(2)


def come_and_go(site, jobs):
    """Each job is preempted by a Pod that needs the whole quota, comes back when that has ended, and
    ends. All do it at once."""
    names, urgent = {}, {}
    for job in jobs:
        job.begin()
        names[job] = job.pods(1)
    for job in jobs:
        for name in names[job]:
            site.run(name)
        found = sorted([s["count"] for s in w["spec"]["podSets"]] for w in site.workloads(job.queue))
        assert found == job.sets, found
        site.wait_workloads(job.queue, "PodsReady", "True")
    for job in jobs:
        pod = made_of("Pod", f"urgent-{job.queue}", {**job.labels, CLASS: "high"},
                      spec=kinds.pod_spec())
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = str(job.cores())
        urgent[job] = site.hold(pod)
    for job in jobs:
        names[job] = replace(site, job, names[job])
    for job in jobs:
        site.run(urgent[job])
        assert all(site.gated(name) for name in names[job]), names[job]
        site.end(urgent[job], "Succeeded")
        site.wait_workloads(job.queue, "Finished", "True", "Succeeded", "high")
    for job in jobs:
        for name in names[job]:
            site.run(name)
    refused = site.helm.refused()
    assert not refused, refused
    for job in jobs:
        job.finish(names[job])
        site.remove(urgent[job])
    site.wait_for("nothing is left", lambda: not (
        left := [o["metadata"]["name"] for kind in ("workloads", "pods")
                 for o in site.api.list(kind, NS)]) or report(left))


@scenario
def pods_and_what_acts_through_them(env):
    """Pods, a group of them, a Deployment and a StatefulSet are preempted, come back and end."""
    made = (AlonePod, Group, OfDeployment, OfStatefulSet)
    site = Site(env, ("pod", "deployment", "statefulset"), {m.queue: m.cores() for m in made})
    come_and_go(site, [m(site) for m in made])


@scenario
def leader_worker_set(env):
    """The groups of a LeaderWorkerSet are preempted, come back, and go with it."""
    crd = kinds.crd_file(f"{LWS}_leaderworkersets.yaml")
    site = Site(env, ("pod", "statefulset", f"{LWS}/leaderworkerset"),
                {OfLeaderWorkerSet.queue: OfLeaderWorkerSet.cores()}, [crd])
    come_and_go(site, [OfLeaderWorkerSet(site)])


POOLS = {"a100": {"cloud.regatta.dev/accelerator": "nvidia-a100"},
         "cpu": {"cloud.regatta.dev/pool": "general"}}
PODS = {"integrations": {"frameworks": ["batch/job", "pod"]}}
MANAGED = "kueue.x-k8s.io/managed"


def pod_of_the_hub(name):
    """As the hub's webhook would leave it."""
    pod = made_of("Pod", name, {objects.QUEUE_LABEL: "default", MANAGED: "true"},
                  spec={**kinds.pod_spec(restart="Never"), "schedulingGates": [{"name": GATE}]})
    pod["metadata"]["finalizers"] = [MANAGED]
    return pod


@scenario
def pods_of_a_fleet(env):
    """Pods run on workers, are held back on the hub, show there how they are, and end or are deleted."""
    fed = env.federate(workers=("a100", "cpu"), hub_config=PODS, worker_config=PODS)
    hub = Pods(fed.hub, {})
    workers = {name: Pods(cluster, POOLS[name]) for name, cluster in fed.workers.items()}

    def there(name):
        """The Pods of the worker that has it, which is one."""
        found = [pods for pods in workers.values() if pods.api.find("pods", name, NS)]
        assert len(found) < 2, "it runs on both workers"
        return found and found[0]

    def shows(name, phase):
        pod = hub.api.get("pods", name, NS)
        return pod.get("status", {}).get("phase") == phase or report(pod.get("status"))

    def gone(name):
        left = [o["metadata"]["name"] for pods in workers.values() for kind in ("pods", "workloads")
                for o in pods.api.list(kind, NS) if name in o["metadata"]["name"]]
        return not left or report(left)

    winners = {}
    for name in ("stays", "goes"):
        hub.hold(pod_of_the_hub(name))
    for name in ("stays", "goes"):
        winners[name] = fed.wait_for(f"{name} is on a worker", lambda: there(name))
        winners[name].run(name)
        fed.wait_for(f"the hub's {name} shows that it runs", lambda: shows(name, "Running"))
        assert hub.gated(name), "it may run on the hub"
    hub.delete("Pod", "goes")
    winners["goes"].kill("goes")
    fed.wait_for("goes is gone from the workers", lambda: gone("goes"))
    hub.wait_gone(["goes"])

    winners["stays"].end("stays", "Succeeded")
    fed.wait_for("the hub's stays shows how it ended", lambda: shows("stays", "Succeeded"))
    fed.wait_for("stays is gone from the workers", lambda: gone("stays"))
    workloads = [w for w in hub.api.list("workloads", NS) if "stays" in w["metadata"]["name"]]
    assert [w for w in workloads if holding(w, "Finished", "True", "Succeeded")], workloads
    hub.remove("stays")
    hub.wait_gone(["stays"])


@scenario
def a_group_of_a_fleet_comes_back(env):
    """A worker takes the place of a group back, and gives it again: the same Pods of the hub run, and
    end. So it is while the hub's manager is away."""
    fed = env.federate(workers=("cpu",), hub_config=PODS, worker_config=PODS)
    hub, worker = Pods(fed.hub, {}), Pods(fed.workers["cpu"], POOLS["cpu"])
    names, uids = [f"duo-{i}" for i in range(2)], {}
    for name in names:
        pod = pod_of_the_hub(name)
        pod["metadata"]["labels"][GROUP] = "duo"
        pod["metadata"]["annotations"] = {TOTAL: "2"}
        hub.hold(pod)
        uids[name] = hub.api.get("pods", name, NS)["metadata"]["uid"]

    for away in (False, True):
        for name in names:
            fed.wait_for(f"{name} is on the worker", lambda n=name: worker.api.find("pods", n, NS))
            worker.run(name)
        if away:
            fed.hub.kill_manager()
        fed.stop_policy("cpu", "HoldAndDrain")
        for name in names:
            worker.kill(name)
        fed.stop_policy("cpu", "None")
        if away:
            worker.wait_gone(names)
            fed.hub.restart_manager()
            fed.hub.wait_manager()
    for name in names:
        fed.wait_for(f"{name} is on the worker", lambda n=name: worker.api.find("pods", n, NS))
        worker.run(name)
        worker.end(name, "Succeeded")
    workload = fed.wait_for("the group has ended", lambda: [
        w for w in hub.api.list("workloads", NS) if holding(w, "Finished", "True", "Succeeded")])
    assert len(workload) == 1, workload
    for name in names:
        assert hub.api.get("pods", name, NS)["metadata"]["uid"] == uids[name], "another Pod ended"
        hub.remove(name)
    hub.wait_gone(names)
    fed.wait_for("nothing is left on the worker", lambda: not (
        left := [o["metadata"]["name"] for kind in ("pods", "workloads")
                 for o in worker.api.list(kind, NS)]) or report(left))
