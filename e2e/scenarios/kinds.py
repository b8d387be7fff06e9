"""Jobs of other kinds than batch/v1, with the CRDs of their projects."""
from harness import kinds, objects, solo
from harness.api import ApiError, is_true
from harness.federation import holding, report
from harness.helm import CHART, RELEASE, Helm
from harness.kinds import at, crd_file
from harness.suite import scenario
from harness.waiting import wait_for
from scenarios.charts import Installed

NS = objects.NAMESPACE
POOL = {"example.dev/pool": "own"}  # the labels of the nodes of the only flavor


class Jobs:
    """The jobs of a cluster, of the kinds of harness/kinds.py."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, cluster.api

    def wait_for(self, what, check, timeout=30):
        return wait_for(what, check, timeout, self.cluster.check)

    def find(self, kind, name):
        try:
            return self.api.request("GET", kind.path(name))
        except ApiError as e:
            if e.code == 404:
                return None
            raise

    def say(self, kind, name, status):
        """Writes the status, as the operator of the kind."""
        self.api.request("PATCH", kind.path(name) + "/status",
                         [{"op": "add", "path": "/status", "value": status}],
                         "application/json-patch+json")

    def delete(self, kind, name, policy="Background"):
        self.api.request("DELETE", kind.path(name) + f"?propagationPolicy={policy}")

    def workload(self, kind, name):
        """The Workload of the job; None when there is none."""
        for found in self.api.list("workloads", NS):
            if any(o["kind"] == kind.name and o["name"] == name
                   for o in found["metadata"].get("ownerReferences", [])):
                return found
        return None

    def holding(self, kind, name, condition, status, reason=None):
        return holding(self.workload(kind, name) or {}, condition, status, reason)

    def runs(self, kind, name, pool):
        """Whether it is started, with nodes of that pool for all of its pods."""
        job = self.find(kind, name)
        wanted = {"disk": "fast", **pool}
        places = {pods: at(job, path) for pods, _, path in kind.pods}
        if kind.name in ("TrainJob", "AppWrapper"):
            wanted = pool  # they are added apart from what the user wrote
        return not at(job, kind.suspend) and all(p == wanted for p in places.values()) or report(
            {"suspend": at(job, kind.suspend), **places})

    def wait_running(self, kind, name, pool):
        self.wait_for(f"{kind.name} {name} is started", lambda: self.runs(kind, name, pool))

    def wait_suspended(self, kind, name):
        return self.wait_for(f"{kind.name} {name} is suspended", lambda: (
            job := self.find(kind, name)) and at(job, kind.suspend) is True and job)

    def stop_as_told(self, kind, name):
        """The operator stops the job that the manager has suspended. The manager does not wait for a job
        whose status names no pods, so that one may be gone by now."""
        self.wait_for(f"{kind.name} {name} is suspended or gone", lambda: (
            not (job := self.find(kind, name)) or at(job, kind.suspend) is True))
        try:
            self.say(kind, name, kind.stopped)
        except ApiError as e:
            if e.code != 404:
                raise


def same(spec, before, kind):
    """Whether a stopped job is as it was, but for what a stop leaves of a start."""
    for path in kind.left:
        for one in (spec, before):
            at({"spec": one}, path[:-1]).pop(path[-1], None)
    return spec == before or report(spec)


class OneCluster(Jobs):
    """A cluster with the chart, so that webhooks are called, and a queue for each kind that has room
    for one job of it."""

    def __init__(self, env, wanted):
        self.kinds = wanted
        crds = [crd_file(name) for kind in wanted for name in kind.crd_files]
        cluster = env.cluster("solo")
        super().__init__(cluster)
        cluster.define(*crds)
        self.helm = Helm(cluster)
        self.helm.install(RELEASE, CHART, self.helm.served_values(
            integrations=kinds.integrations(wanted),
            featureGates={"SparkApplicationIntegration": True},
            waitForPodsReady={"timeout": "1h"}), "--create-namespace")
        cluster.wait_crds()
        self.helm.route(self.helm.start_manager())
        cluster.kubectl.apply(
            objects.namespace(NS), {**solo.flavor("own"), "spec": {"nodeLabels": POOL}},
            solo.priority_class("low", 1), solo.priority_class("high", 100),
            *[kind.runtime for kind in wanted if kind.runtime],
            *[made for kind in wanted for made in queue_for(kind)],
            CHECK, *solo.cluster_queue(SENT, 1, admissionChecksStrategy={
                "admissionChecks": [{"name": "multikueue"}]}))

    def create(self, kind, name, priority):
        """Returns the job as the webhooks leave it. The user does not suspend it."""
        job = kind.job(name, kind.plural, labels={"kueue.x-k8s.io/priority-class": priority})
        made = self.api.request("POST", kind.path(), job)
        assert at(made, kind.suspend) is True, made["spec"]
        return made

    def ask(self, kind, queue):
        """What would become of a new job of that queue."""
        return self.api.request("POST", kind.path() + "?dryRun=All", kind.job("asked", queue))

    def check_webhooks(self, kind):
        def marked():
            manager = at(self.ask(kind, SENT), kind.managed_by)
            return manager == (objects.MULTIKUEUE if kind.dispatched else None) or report(manager)
        self.wait_for(f"a {kind.name} for workers says so", marked)
        try:
            raise AssertionError(f"a queue with a wrong name is accepted: {self.ask(kind, 'No_Queue')}")
        except ApiError as e:
            assert "denied the request" in str(e) and "queue-name" in str(e), e


CHECK = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
         "metadata": {"name": "multikueue"}, "spec": {"controllerName": objects.MULTIKUEUE}}
SENT = "sent"  # the queue of what MultiKueue sends to workers


def queue_for(kind):
    made = solo.cluster_queue(kind.plural, 0, preemption={"withinClusterQueue": "LowerPriority"})
    made[0]["spec"]["resourceGroups"] = [{"coveredResources": ["cpu", "memory"], "flavors": [{
        "name": "own", "resources": [{"name": "cpu", "nominalQuota": str(kind.cores)},
                                     {"name": "memory", "nominalQuota": "64Gi"}]}]}]
    return made


def make_child(jobs, kind):
    """The operator makes a job by which it runs this one. Its webhook holds it not back."""
    made = jobs.api.request("POST", kind.child.path(), kind.child_of(jobs.find(kind, "low")))
    assert not at(made, kind.child.suspend), made["spec"]
    return made["metadata"]["name"]


def end_child(jobs, kind, name):
    assert not jobs.workload(kind.child, name), jobs.workload(kind.child, name)
    jobs.delete(kind.child, name)
    jobs.wait_for(f"{name} is gone", lambda: not jobs.find(kind.child, name))


def check_pod_sets(kind, workload):
    named = lambda name: f"low{name}" if name.startswith("-") else name
    found = [(s["name"], s["count"]) for s in workload["spec"]["podSets"]]
    assert found == [(named(name), count) for name, count, _ in kind.pods], found
    for one in workload["spec"]["podSets"]:
        assert POOL.keys().isdisjoint(one["template"]["spec"].get("nodeSelector", {})), one


def go_their_way(jobs):
    """Of each kind one job is preempted by another one, comes back when that has ended, and fails.
    All kinds do it at once."""
    before, children = {}, {}
    for kind in jobs.kinds:
        before[kind.name] = jobs.create(kind, "low", "low")["spec"]
        jobs.check_webhooks(kind)
    for kind in jobs.kinds:
        jobs.wait_running(kind, "low", POOL)
        check_pod_sets(kind, jobs.workload(kind, "low"))
        if kind.child:
            children[kind] = make_child(jobs, kind)
        jobs.say(kind, "low", kind.running)
    for kind in jobs.kinds:
        jobs.wait_for(f"{kind.name}: its Workload knows that its pods run", lambda: (
            jobs.holding(kind, "low", "PodsReady", "True")))
        if kind.child:
            assert not at(jobs.find(kind.child, children[kind]), kind.child.suspend), kind.name
            end_child(jobs, kind, children[kind])
        jobs.create(kind, "high", "high")
    for kind in jobs.kinds:
        jobs.wait_suspended(kind, "low")
        jobs.wait_for(f"{kind.name}: it was preempted", lambda: (
            jobs.holding(kind, "low", "Preempted", "True", "InClusterQueue")))
        held = jobs.workload(kind, "low"), jobs.workload(kind, "high")
        assert [is_true(w, "QuotaReserved") for w in held] == [True, False], (kind.name, held)
        jobs.say(kind, "low", kind.stopped)
    for kind in jobs.kinds:
        jobs.wait_running(kind, "high", POOL)
        jobs.say(kind, "high", kind.running)
        jobs.wait_for(f"{kind.name}: it is as it was before its start", lambda: same(
            jobs.find(kind, "low")["spec"], before[kind.name], kind))
        assert not is_true(jobs.workload(kind, "low"), "QuotaReserved")
        if kind.child:  # made too late
            jobs.wait_suspended(kind.child, make_child(jobs, kind))
            end_child(jobs, kind, children[kind])
        if kind.done:
            jobs.say(kind, "high", kind.done)
            jobs.wait_for(f"{kind.name}: its Workload knows that it is done", lambda: (
                jobs.holding(kind, "high", "Finished", "True", "Succeeded")))
        else:
            jobs.delete(kind, "high")
    for kind in jobs.kinds:
        jobs.wait_running(kind, "low", POOL)
        jobs.say(kind, "low", kind.running)
        if kind.failed:
            jobs.say(kind, "low", kind.failed)
            found = jobs.wait_for(f"{kind.name}: its Workload knows that it failed", lambda: (
                jobs.holding(kind, "low", "Finished", "True", "Failed")))
            assert "the operator says so" in found["message"] or kind is kinds.APPWRAPPER, found
            jobs.delete(kind, "high")
        jobs.delete(kind, "low")
    jobs.wait_for("nothing is left", lambda: not (
        left := [w["metadata"]["name"] for w in jobs.api.list("workloads", NS)]) or report(left))
    refused = jobs.helm.refused()
    assert not refused, refused


@scenario
def kinds_on_one_cluster(env):
    """One job of each kind is preempted, comes back and fails; another one ends well."""
    go_their_way(OneCluster(env, kinds.DIVERSE))


@scenario
def kubeflow_on_one_cluster(env):
    """The same with the kinds of the training operator and of the trainer."""
    go_their_way(OneCluster(env, kinds.TRAINING))


class Fleet:
    """A hub, two workers that serve the kinds, and one that does not."""

    def __init__(self, env, wanted):
        self.kinds = [kind for kind in wanted if kind.dispatched]
        crds = [crd_file(name) for kind in wanted for name in kind.crd_files]
        config = {"integrations": kinds.integrations(wanted),
                  "featureGates": {"SparkApplicationIntegration": True}}
        self.fed = fed = env.federate(
            workers=("a100", "cpu", "h100"), worker_config=config,
            hub_config={**config, "multiKueue": {"gcInterval": "2s", "workerLostTimeout": "3s"}},
            definitions=dict.fromkeys(("hub", "a100", "cpu"), crds))
        self.hub = Jobs(fed.hub)
        self.workers = {name: Jobs(fed.workers[name]) for name in ("a100", "cpu")}
        runtimes = [kind.runtime for kind in wanted if kind.runtime]
        for jobs in (self.hub, *self.workers.values()) if runtimes else ():
            jobs.cluster.kubectl.apply(*runtimes)

    def wait_for(self, what, check, timeout=30):
        return self.fed.wait_for(what, check, timeout)

    def create(self, kind, name):
        """As the hub's webhooks would leave it."""
        job = kind.job(name, "default", suspend=True, managed_by=objects.MULTIKUEUE)
        if kind is kinds.TRAINJOB:
            job["spec"]["runtimePatches"] = kinds.PATCHES
        return self.hub.api.request("POST", kind.path(), job)

    def winner(self, kind, name):
        status = (self.hub.workload(kind, name) or {}).get("status", {})
        return status.get("clusterName") or report(status)

    def wait_finished(self, kind, name):
        self.wait_for(f"{kind.name}: the hub's Workload knows that {name} is done", lambda: (
            self.hub.holding(kind, name, "Finished", "True", "Succeeded")))

    def wait_started(self, kind, name):
        """Returns the jobs of the worker that has won, once it has started this one."""
        winner = self.wait_for(f"{kind.name} {name} has a winner", lambda: self.winner(kind, name))
        jobs = self.workers[winner]
        jobs.wait_running(kind, name, POOLS[winner])
        copy = jobs.find(kind, name)
        assert at(copy, kind.managed_by) in (None, *NATIVE), copy["spec"]
        assert copy["metadata"]["labels"][objects.ORIGIN_LABEL] == "multikueue"
        others = [other for other in self.workers.values() if other is not jobs]
        assert not [o.cluster.name for o in others if o.find(kind, name)], "it runs on both workers"
        return jobs

    def wait_status(self, kind, name, status):
        self.wait_for(f"the hub's {kind.name} {name} shows its status", lambda: shows(
            found := self.hub.find(kind, name).get("status"), status) or report(found))

    def wait_gone(self, kind, name):
        """From the workers, with its Workload, whether that has an owner or not."""
        named = f"{kind.name.lower()}-{name}-"
        self.wait_for(f"{kind.name} {name} is gone from the workers", lambda: not (
            left := [jobs.cluster.name for jobs in self.workers.values() if jobs.find(kind, name)
                     or any(w["metadata"]["name"].startswith(named)
                            for w in jobs.api.list("workloads", NS))]) or report(left))


POOLS = {"a100": {"cloud.regatta.dev/accelerator": "nvidia-a100"},
         "cpu": {"cloud.regatta.dev/pool": "general"}}
# What CRDs have as the default of managedBy.
NATIVE = ("trainer.kubeflow.org/trainjob-controller",)


def shows(found, wanted):
    """Whether all that is wanted is found."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(shows(found.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(shows, found, wanted))
    return found == wanted


def race_and_come_home(fleet):
    """Of each kind one job ends, and another one is deleted on the hub while it runs. All kinds do it
    at once. The third one `stays`. Returns what the user wrote of it."""
    fed = fleet.fed
    groups = [f"{kind.plural}.{kind.group}" for kind in fleet.kinds]
    message = fed.active("h100").get("message", "")
    assert all(group in message for group in groups), message
    assert [fed.active(name)["message"] for name in fleet.workers] == ["Connected", "Connected"]
    before = {}
    for kind in fleet.kinds:
        for name in ("ends", "goes", "stays"):
            before[kind] = fleet.create(kind, name)["spec"]
    for kind in fleet.kinds:
        for name in ("ends", "goes", "stays"):
            winner = fleet.wait_started(kind, name)
            winner.say(kind, name, kind.running)
            fleet.wait_status(kind, name, kind.running)
            if name == "ends" and kind.done:
                winner.say(kind, name, kind.done)
        for name in ("goes",) if kind.done else ("goes", "ends"):
            fleet.hub.delete(kind, name)
    for kind in fleet.kinds:
        if kind.done:
            fleet.wait_status(kind, "ends", kind.done)
            fleet.wait_finished(kind, "ends")
        for name in ("ends", "goes"):
            fleet.wait_gone(kind, name)
    assert not fed.workers["h100"].api.list("workloads", NS), "it was offered what it cannot run"
    return before


def come_back(fleet, before):
    """The hub takes the jobs back, and gives them to one worker only."""
    winners = {kind: fleet.wait_started(kind, "stays") for kind in fleet.kinds}
    stop(fleet.hub, "fleet", "HoldAndDrain")
    for kind, winner in winners.items():
        winner.stop_as_told(kind, "stays")
    for kind in fleet.kinds:
        fleet.wait_gone(kind, "stays")
        fleet.hub.wait_suspended(kind, "stays")
        fleet.wait_for(f"{kind.name} has no quota", lambda: (
            fleet.hub.holding(kind, "stays", "QuotaReserved", "False")))
        job = fleet.hub.find(kind, "stays")
        assert same(job["spec"], before[kind], kind)
        assert not shows(job["status"], kind.running), job["status"]
    stop(fleet.workers["cpu"], "local", "Hold")
    stop(fleet.hub, "fleet", "None")
    for kind in fleet.kinds:
        winner = fleet.wait_started(kind, "stays")
        assert winner is fleet.workers["a100"], winner.cluster.name
        winner.say(kind, "stays", kind.running)
        fleet.wait_status(kind, "stays", kind.running)


def lose_the_worker(fleet):
    """The hub's jobs say that nothing of them runs any more, and then run on the other worker. What the
    lost one has left of them goes when it is back."""
    lost, other = fleet.workers["a100"], fleet.workers["cpu"]
    lost.cluster.kill_manager()
    lost.cluster.kill_server()
    for kind in fleet.kinds:
        fleet.wait_for(f"{kind.name}: the hub's job shows that it is lost", lambda: not shows(
            found := fleet.hub.find(kind, "stays").get("status"), kind.running) or report(found))
    stop(other, "local", "None")
    for kind in fleet.kinds:
        fleet.wait_for(f"{kind.name} has another winner", lambda: fleet.winner(kind, "stays") == "cpu")
        other.wait_running(kind, "stays", POOLS["cpu"])
        other.say(kind, "stays", kind.running)
        fleet.wait_status(kind, "stays", kind.running)
    lost.cluster.restart_server()
    lost.cluster.restart_manager()
    for kind in fleet.kinds:
        fleet.wait_for(f"{kind.name}: what was left is gone", lambda: not lost.find(kind, "stays"))


def end_unseen(fleet):
    """The jobs end and are deleted on the worker while no manager of the hub looks. How they ended is
    known from their Workloads."""
    there = fleet.workers["cpu"]
    assert fleet.fed.hub.stop_manager() == 0
    for kind in fleet.kinds:
        if kind.done:
            there.say(kind, "stays", kind.done)
            there.wait_for(f"{kind.name}: its worker knows that it is done", lambda: (
                there.holding(kind, "stays", "Finished", "True", "Succeeded")))
            there.delete(kind, "stays", "Orphan")
    for kind in fleet.kinds:
        if kind.done:
            there.wait_for(f"{kind.name} is deleted", lambda: not there.find(kind, "stays"))
    fleet.fed.hub.restart_manager()
    for kind in fleet.kinds:
        if kind.done:
            fleet.wait_finished(kind, "stays")
            status = fleet.hub.find(kind, "stays")["status"]
            assert kinds.ends_as(status, kind.done), status
        else:
            fleet.hub.delete(kind, "stays")
    for kind in fleet.kinds:
        fleet.wait_gone(kind, "stays")


def stop(jobs, queue, policy):
    jobs.api.request("PATCH", jobs.api.path("clusterqueues", queue), {"spec": {"stopPolicy": policy}},
                     "application/merge-patch+json")


def all_ways(fleet):
    before = race_and_come_home(fleet)
    come_back(fleet, before)
    lose_the_worker(fleet)
    end_unseen(fleet)


@scenario
def kinds_of_a_fleet(env):
    """Jobs race over the workers that serve their kinds, are deleted, taken back and lost, and end."""
    fleet = Fleet(env, kinds.DIVERSE)
    all_ways(fleet)
    fleet.hub.api.request("POST", kinds.SPARK.path(), kinds.SPARK.job("here", "default", suspend=True))
    found = fleet.wait_for("a kind that no worker runs is told so", lambda: fleet.hub.holding(
        kinds.SPARK, "here", "Evicted", "True", "DeactivatedDueToAdmissionCheck"))
    assert "No multikueue adapter found" in found["message"], found
    assert at(fleet.hub.find(kinds.SPARK, "here"), kinds.SPARK.suspend) is True


@scenario
def kubeflow_of_a_fleet(env):
    """The same with the kinds of the training operator and of the trainer."""
    all_ways(Fleet(env, kinds.TRAINING))


def pass_all_webhooks(env, wanted):
    """A job of each kind as users write it comes from the hub to the worker and ends."""
    wanted = [kind for kind in wanted if kind.dispatched]
    frameworks = ["batch/job", *[f"{kind.plural}.{kind.group}" if kind.description else kind.framework
                                 for kind in wanted]]
    fleet = Installed(env, served=True, config={"integrations": kinds.integrations(wanted)},
                      definitions=[crd_file(f) for kind in wanted for f in kind.crd_files],
                      namespaces=[NS], frameworks=frameworks)
    hub, worker = Jobs(fleet.hub), Jobs(fleet.worker)
    for kind in wanted:
        for jobs in (hub, worker) if kind.runtime else ():
            jobs.cluster.kubectl.apply(kind.runtime)
        made = hub.api.request("POST", kind.path(), kind.job("plain", "default"))
        assert at(made, kind.suspend) is True, made["spec"]
        assert at(made, kind.managed_by) == objects.MULTIKUEUE, made["spec"]
    for kind in wanted:
        worker.wait_running(kind, "plain", POOLS["a100"])
        worker.say(kind, "plain", kind.done or kind.running)
    for kind in wanted:
        fleet.wait_for(f"the hub's {kind.name} shows its status", lambda: shows(
            found := hub.find(kind, "plain").get("status"), kind.done or kind.running) or report(found))
        if not kind.done:
            hub.delete(kind, "plain")
    for kind in wanted:
        fleet.wait_for(f"{kind.name} is gone from the worker", lambda: not worker.find(kind, "plain"))
    fleet.check_permissions()


@scenario
def kinds_between_charts(env):
    """Webhooks and permissions of the charts let jobs pass to a worker."""
    pass_all_webhooks(env, kinds.DIVERSE)


@scenario
def kubeflow_between_charts(env):
    """The same with the kinds of the training operator and of the trainer."""
    pass_all_webhooks(env, kinds.TRAINING)


@scenario
def described_kind_on_one_cluster(env):
    """The same with a kind that only the Configuration describes."""
    go_their_way(OneCluster(env, [kinds.PIPELINE]))


@scenario
def described_kind_of_a_fleet(env):
    """Jobs of a described kind race, are deleted, taken back and lost, and end."""
    all_ways(Fleet(env, [kinds.PIPELINE]))


@scenario
def described_kind_between_charts(env):
    """The charts derive permissions and webhooks from the description."""
    pass_all_webhooks(env, [kinds.PIPELINE])


@scenario
def jobset_of_a_fleet(env):
    """Definitions that come while the managers run are noticed: a JobSet runs on the worker that has got
    the kind."""
    kind = kinds.JOBSET
    crd = crd_file(*kind.crd_files)
    config = {"integrations": {"frameworks": ["batch/job", kind.framework]}}
    fed = env.federate(workers=("a100", "cpu"), hub_config=config, worker_config=config)
    fed.hub.define(crd)
    fed.workers["cpu"].define(crd)
    fed.wait_for("the worker without the kind is Active and says so", lambda: (
        f"no use for: {kind.plural}.{kind.group}" in fed.active("a100").get("message", "")), 150)
    fed.wait_for("the other one is of use", lambda: (
        fed.active("cpu").get("message") == "Connected"), 150)
    hub, there = Jobs(fed.hub), Jobs(fed.workers["cpu"])
    hub.api.request("POST", kind.path(), kind.job(
        "pair", "default", suspend=True, managed_by=objects.MULTIKUEUE))
    fed.wait_for("it is started on the worker", lambda: there.runs(kind, "pair", POOLS["cpu"]), 150)
    there.say(kind, "pair", kind.done)
    fed.wait_for("the end comes home", lambda: (
        shows(found := hub.find(kind, "pair").get("status"), kind.done) or report(found)), 30)
    fed.wait_for("nothing is left on the worker", lambda: there.find(kind, "pair") is None, 30)
