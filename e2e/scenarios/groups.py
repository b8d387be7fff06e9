"""Jobs that run on a worker through several Pods: groups of Pods, StatefulSets and LeaderWorkerSets. The
scenarios are the kubelet, the scheduler and the controllers that make Pods."""
from harness import kinds, objects
from harness.federation import report
from harness.suite import scenario

from .pods import GATE, GROUP, LWS, MANAGED, POOLS, TOTAL, Pods, made_of, owner

NS = objects.NAMESPACE
CONFIG = {"integrations": {"frameworks": ["batch/job", "pod", "statefulset"]}}
PARENT = "kueue.x-k8s.io/pod-suspending-parent"


def gated_spec():
    return {**kinds.pod_spec(restart="Always"), "schedulingGates": [{"name": GATE}]}


def member(name, finalizers=(MANAGED,)):
    """A Pod of a group of two, as the hub's webhook would leave it."""
    pod = made_of("Pod", name, {objects.QUEUE_LABEL: "default", MANAGED: "true", GROUP: "duo"},
                  spec=gated_spec())
    pod["metadata"].update(annotations={TOTAL: "2"}, finalizers=list(finalizers))
    return pod


class Fleet:
    def __init__(self, env, config=CONFIG, crds=()):
        self.fed = env.federate(workers=("a100", "cpu"), hub_config=config, worker_config=config,
                                definitions=dict.fromkeys(("hub", "a100", "cpu"), list(crds)))
        self.hub = Pods(self.fed.hub, {})
        self.workers = {name: Pods(cluster, POOLS[name]) for name, cluster in self.fed.workers.items()}
        self.wait_for = self.fed.wait_for

    def names(self, worker):
        return sorted(o["metadata"]["name"] for o in self.workers[worker].api.list("pods", NS))

    def wait_together(self, names):
        """The worker that has these Pods, while no other has any."""
        def where():
            found = {w: n for w in self.workers if (n := self.names(w))}
            assert len(found) < 2, f"a group is on two workers: {found}"
            return [w for w, there in found.items() if there == sorted(names)] or report(found)
        return self.wait_for(f"{names} are on one worker", where)[0]

    def wait_shown(self, name, phase):
        def shows():
            pod = self.hub.api.get("pods", name, NS)
            return pod.get("status", {}).get("phase") == phase or report(pod.get("status"))
        self.wait_for(f"the hub's {name} shows that it is {phase}", shows)
        assert self.hub.gated(name), f"{name} may run on the hub"

    def wait_workers_empty(self, *kinds_of_objects):
        def empty():
            left = [(w, kind, o["metadata"]["name"]) for w, pods in self.workers.items()
                    for kind in ("workloads", *kinds_of_objects) for o in pods.api.list(kind, NS)]
            return not left or report(left)
        self.wait_for("nothing is left on the workers", empty)


@scenario
def group_of_a_fleet(env):
    """A group of Pods runs on one worker; one that is replaced on the hub is replaced there, while the
    hub's manager dies; its end comes home."""
    fleet = Fleet(env)
    hub = fleet.hub
    for name in ("lead", "crew"):
        hub.create(member(name))
    winner = fleet.wait_together(["crew", "lead"])
    there = fleet.workers[winner]
    for name in ("lead", "crew"):
        there.run(name)
        fleet.wait_shown(name, "Running")

    hub.delete("Pod", "crew")
    there.kill("crew")
    fleet.fed.hub.kill_manager()
    hub.create(member("again"))
    fleet.fed.hub.restart_manager()
    assert fleet.wait_together(["again", "lead"]) == winner, "the group moved"
    there.run("again")
    fleet.wait_shown("again", "Running")
    hub.wait_gone(["crew"])

    for name in ("lead", "again"):
        there.end(name, "Succeeded")
    for name in ("lead", "again"):
        fleet.wait_shown(name, "Succeeded")
    fleet.wait_workers_empty("pods")
    group = hub.api.get("workloads", "duo", NS)
    ends = [c for c in group["status"]["conditions"] if c["type"] == "Finished"]
    assert [(c["reason"], c["message"]) for c in ends] == [("Succeeded", "Pods succeeded: 2/2.")], ends
    for name in ("lead", "again"):
        hub.remove(name)
    hub.wait_gone(["lead", "again"])


@scenario
def stateful_set_of_a_fleet(env):
    """A StatefulSet runs on one worker and not on the hub; it is removed there when it has no replicas."""
    fleet = Fleet(env)
    hub = fleet.hub
    template = {"metadata": {"labels": {"app": "db"}, "annotations": {PARENT: "statefulset"}},
                "spec": kinds.pod_spec(restart="Always")}
    hub.create(made_of("StatefulSet", "db", {objects.QUEUE_LABEL: "default"}, spec={
        "replicas": 1, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": template}))

    def make_pod(site):
        maker = site.api.request("GET", site.path("StatefulSet", "db"))
        pod = made_of("Pod", "db-0", {"app": "db", "apps.kubernetes.io/pod-index": "0"},
                      spec=gated_spec())
        pod["metadata"].update(annotations={PARENT: "statefulset"}, ownerReferences=[owner(maker)])
        site.create(pod)

    def hosts():
        found = [w for w, site in fleet.workers.items()
                 if site.api.raw("GET", site.path("StatefulSet", "db"))[0] == 200]
        assert len(found) < 2, "it is on both workers"
        return found

    make_pod(hub)
    winner = fleet.wait_for("it is on a worker", hosts)[0]
    there = fleet.workers[winner]
    make_pod(there)
    there.run("db-0")
    assert hub.gated("db-0"), "its Pod may run on the hub"
    assert len(there.api.list("workloads", NS)) == 1, "it made a Workload of its own"

    hub.api.request("PATCH", hub.path("StatefulSet", "db"), {"spec": {"replicas": 0}},
                    "application/merge-patch+json")
    hub.delete("Pod", "db-0")
    fleet.wait_for("it is gone there", lambda: not hosts())
    there.remove("db-0")
    there.wait_gone(["db-0"])
    hub.wait_gone(["db-0"])
    fleet.wait_workers_empty("pods")
    hub.delete("StatefulSet", "db")
    fleet.wait_for("its Workload is gone", lambda: not hub.api.list("workloads", NS))


INDEX = "kueue.x-k8s.io/component-workload-index"
SETS = f"{LWS}/leaderworkerset"


class Serving:
    """A LeaderWorkerSet of one Pod in each group, on the hub and on the worker that has it."""

    def __init__(self, fleet):
        self.fleet, self.hub, self.wait_for = fleet, fleet.hub, fleet.wait_for
        self.path = self.hub.path("LeaderWorkerSet", "llm")

    def create(self, replicas):
        template = {"metadata": {"annotations": {PARENT: SETS}}, "spec": kinds.pod_spec(restart="Always")}
        self.hub.create(made_of("LeaderWorkerSet", "llm", {objects.QUEUE_LABEL: "default"}, spec={
            "replicas": replicas, "leaderWorkerTemplate": {"size": 1, "workerTemplate": template}}))

    def scale(self, replicas):
        self.hub.api.request("PATCH", self.path, {"spec": {"replicas": replicas}},
                             "application/merge-patch+json")

    def hosts(self):
        """By the index of the group."""
        return {w["metadata"]["annotations"][INDEX]: w["status"].get("clusterName")
                for w in self.hub.api.list("workloads", NS)}

    def wait_together(self, groups):
        """The worker that all of them have; no other one has the job."""
        def together():
            hosts, there = self.hosts(), self.there()
            assert len(there) < 2, f"it is on two workers: {there}"
            assert len({h for h in hosts.values() if h}) < 2, f"its groups are on two: {hosts}"
            return (len(hosts) == groups and len(there) == 1 and
                    set(hosts.values()) == set(there) and there) or report((hosts, there))
        return self.wait_for(f"{groups} groups are on one worker", together)[0]

    def there(self):
        return [w for w, site in self.fleet.workers.items() if site.api.raw("GET", self.path)[0] == 200]

    def make_pod(self, site, group):
        pod = made_of("Pod", f"llm-{group}", {
            f"{LEADER}/name": "llm", f"{LEADER}/group-index": str(group),
            f"{LEADER}/worker-index": "0"}, spec=gated_spec())
        pod["metadata"]["annotations"] = {PARENT: SETS}
        site.create(pod)
        return pod["metadata"]["name"]


LEADER = "leaderworkerset.sigs.k8s.io"


@scenario
def leader_worker_set_of_a_fleet(env):
    """All groups of a LeaderWorkerSet run on one worker; replicas follow from the hub, while its manager
    dies; a group that loses its place comes back to the others; it goes with the hub's."""
    config = {"integrations": {"frameworks": ["batch/job", "pod", SETS]}}
    fleet = Fleet(env, config, [kinds.crd_file(f"{LWS}_leaderworkersets.yaml")])
    serving, hub = Serving(fleet), fleet.hub
    serving.create(2)
    winner = serving.wait_together(2)
    there = fleet.workers[winner]
    for group in (0, 1):
        serving.make_pod(hub, group)
        there.run(serving.make_pod(there, group))
    uid = there.api.request("GET", serving.path)["metadata"]["uid"]

    fleet.fed.hub.kill_manager()
    serving.scale(3)
    fleet.fed.hub.restart_manager()
    assert serving.wait_together(3) == winner, "the job moved"
    fleet.wait_for("it is scaled there", lambda: there.api.request("GET", serving.path)["spec"]["replicas"] == 3)
    there.run(serving.make_pod(there, 2))

    first = next(w["metadata"]["name"] for w in hub.api.list("workloads", NS)
                 if w["metadata"]["annotations"][INDEX] == "0")
    activate = lambda on: hub.api.request(
        "PATCH", hub.api.path("workloads", first, NS), {"spec": {"active": on}}, "application/merge-patch+json")
    activate(False)
    there.kill("llm-0")
    fleet.wait_for("the first group has no place", lambda: serving.hosts()["0"] is None)
    activate(True)
    assert serving.wait_together(3) == winner, "the first group went elsewhere"
    there.run(serving.make_pod(there, 0))

    serving.scale(1)
    assert serving.wait_together(1) == winner
    fleet.wait_for("it is scaled there", lambda: there.api.request("GET", serving.path)["spec"]["replicas"] == 1)
    made = there.api.request("GET", serving.path)["metadata"]["uid"]
    assert made == uid, "the job was removed and made anew"
    assert len(there.api.list("workloads", NS)) == 1 or fleet.wait_for(
        "one Workload is left there", lambda: len(there.api.list("workloads", NS)) == 1)
    for group in (0, 1):
        assert hub.gated(f"llm-{group}"), "a Pod may run on the hub"

    hub.delete("LeaderWorkerSet", "llm")
    for group in (0, 1):
        hub.remove(f"llm-{group}")
    fleet.wait_for("it is gone there", lambda: not serving.there())
