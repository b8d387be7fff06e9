"""Releases whose servers the API server calls: webhooks, conversion, the visibility API."""
import http.client
import threading
import time

from harness import objects, solo, upstream
from harness.api import ApiError, is_true
from harness.federation import report
from harness.helm import CHART, RELEASE, Helm
from harness.suite import scenario
from harness.waiting import slowness, wait_for
from scenarios.charts import Installed, release_of_kueue

NS = objects.NAMESPACE
OLD, NEW = "/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"


class Events(threading.Thread):
    """Every write of the objects of a kind, from now on."""

    def __init__(self, cluster, kind):
        super().__init__(daemon=True)
        self.cluster, self.kind, self.error = cluster, kind, None
        self._stopping, self.seen = threading.Event(), []
        listed = cluster.api.request("GET", cluster.api.path(kind))
        self.before, self.version = listed["items"], listed["metadata"]["resourceVersion"]

    def run(self):
        try:
            ending = False
            while not ending:
                ending = self._stopping.is_set()  # one watch more: for what was written until then
                for event in self.cluster.api.watch(self.kind, self.version, seconds=2):
                    assert event["type"] != "ERROR", event
                    self.seen.append(event)
                    self.version = event["object"]["metadata"]["resourceVersion"]
        except Exception as e:
            self.error = e

    def stop(self):
        self._stopping.set()
        self.join()
        assert not self.error, repr(self.error)
        return self.seen


class Starts:
    """Follows every write of the Jobs and Workloads of a cluster: a Job is started by a write after
    its Workload got quota, and never by its creation."""

    def __init__(self, cluster):
        self.events = [Events(cluster, kind) for kind in ("jobs", "workloads")]
        assert not any(e.before for e in self.events), "it is to see the first write of each"

    def start(self):
        for events in self.events:
            events.start()

    def stop(self):
        jobs, workloads = [events.stop() for events in self.events]
        both = sorted(jobs + workloads,
                      key=lambda e: int(e["object"]["metadata"]["resourceVersion"]))
        has_quota, suspended, early, started = set(), {}, [], 0
        for event in both:
            obj, meta = event["object"], event["object"]["metadata"]
            if obj["kind"] == "Workload":
                owners = {o["uid"] for o in meta.get("ownerReferences", [])}
                reserved = is_true(obj, "QuotaReserved") and event["type"] != "DELETED"
                has_quota = has_quota | owners if reserved else has_quota - owners
                continue
            before = suspended.get(meta["uid"])
            suspended[meta["uid"]] = obj["spec"].get("suspend", False)
            if suspended[meta["uid"]] or before is False or event["type"] == "DELETED":
                continue
            started += 1
            if before is None or meta["uid"] not in has_quota:
                early.append((meta["name"], meta["resourceVersion"]))
        assert not early, f"Jobs could run before their quota: {early}"
        return started


def refused(cluster, kind, obj):
    try:
        cluster.api.request("POST", cluster.api.path(kind, namespace=obj["metadata"].get("namespace")), obj)
    except ApiError as e:
        return e.code, e.status["message"]
    raise AssertionError(f"{kind} {obj['metadata']['name']} was accepted")


def two_versions(cluster):
    """Clients of v1beta1 and of v1beta2 side by side."""
    api = cluster.api
    old = api.request("GET", f"{OLD}/clusterqueues/fleet")
    assert old["apiVersion"] == "kueue.x-k8s.io/v1beta1", old["apiVersion"]
    api.request("PATCH", f"{OLD}/clusterqueues/fleet", {"spec": {"cohort": "all"}},
                "application/merge-patch+json")
    new = api.request("GET", f"{NEW}/clusterqueues/fleet")
    assert new["spec"]["cohortName"] == "all" and "cohort" not in new["spec"], new["spec"]
    listed = api.request("GET", f"{OLD}/clusterqueues")["items"]
    assert [q["spec"]["cohort"] for q in listed] == ["all"], listed
    made = api.request("POST", f"{OLD}/namespaces/{NS}/localqueues", {
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue",
        "metadata": {"name": "old"}, "spec": {"clusterQueue": "fleet"}})
    again = api.request("GET", f"{NEW}/namespaces/{NS}/localqueues/old")
    assert again["metadata"]["uid"] == made["metadata"]["uid"]


@scenario
def helm_installs_servers_that_api_servers_call(env):
    """A hub and a worker with webhooks, conversion and visibility: a Job that is created unsuspended
    waits for its quota, both versions are served, and pending Workloads can be read."""
    fleet = Installed(env, served=True)
    hub = fleet.hub
    code, why = refused(hub, "clusterqueues", {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
        "metadata": {"name": "bad"}, "spec": {"resourceGroups": [{
            "coveredResources": ["cpu"],
            "flavors": [{"name": "fleet", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}]}})
    assert code == 403 and "denied the request" in why and "nominalQuota" in why, (code, why)

    watched = [Starts(c) for c in (hub, fleet.worker)]
    for starts in watched:
        starts.start()
    for i in range(5):
        # Neither suspended nor managed: the webhook says so.
        hub.kubectl.create(objects.job(f"eager-{i}", seconds=3, managed_by=None, suspend=False))
    made = hub.api.get("jobs", "eager-0", NS)
    assert made["spec"]["managedBy"] == objects.MULTIKUEUE, made["spec"]
    for i in range(5):
        fleet.wait_complete(f"eager-{i}")
    two_versions(hub)

    hub.kubectl.create(objects.job("too-large", cpu="1000", managed_by=None, suspend=False))
    path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/fleet/pendingworkloads"

    def pending():
        found = hub.kubectl.try_run("get", "--raw", path)
        return found.code == 0 and found.json()["items"]
    shown = fleet.wait_for("the pending Workload is shown", pending)
    assert [w["localQueueName"] for w in shown] == ["default"], shown
    started = [starts.stop() for starts in watched]
    assert started == [5, 5], f"on the hub and on the worker: {started}"
    fleet.check_permissions()


def connections(ports):
    """How many there are on this machine to the webhooks of that replica."""
    port, established = f":{ports['webhook-service']:04X}", "01"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    return sum(row[2].endswith(port) and row[3] == established for row in rows)


class Creations(threading.Thread):
    """Creates Jobs one after another; `refusals` are the answers that were none."""

    def __init__(self, cluster, prefix):
        super().__init__(daemon=True)
        self.cluster, self.prefix, self._stopping = cluster, prefix, threading.Event()
        self.made, self.refusals = 0, []

    def run(self):
        unsure = False  # whether the Job of this number was made: its request had no answer
        while not self._stopping.wait(0.1):
            job = solo.job(f"{self.prefix}-{self.made}", "cq", seconds=1)
            job["spec"]["suspend"] = False
            try:
                self.cluster.api.request("POST", self.cluster.api.path("jobs", namespace=NS), job)
                self.made, unsure = self.made + 1, False
            except ApiError as e:
                if unsure and e.code == 409:
                    self.made, unsure = self.made + 1, False
                else:
                    self.refusals.append((e.code, e.status.get("message", "")))
            except (OSError, http.client.HTTPException):
                unsure = True  # a busy server has closed the connection

    def stop(self):
        self._stopping.set()
        self.join()
        return self.refusals


@scenario
def webhooks_are_called_while_certificates_and_managers_end(env):
    """Two replicas with certificates of ten seconds: no Job is refused. Then one is killed while it is
    called, and no Job runs without its quota."""
    cluster = env.cluster("served", fleet="cpu")
    helm = Helm(cluster)
    life = f"{10 * slowness():g}s"
    certificates = {"enable": True, "webhookServiceName": f"{RELEASE}-webhook-service",
                    "webhookSecretName": f"{RELEASE}-webhook-server-cert", "validFor": life}
    helm.install(RELEASE, CHART, helm.served_values(internalCertManagement=certificates),
                 "--create-namespace")
    cluster.wait_crds()
    first = helm.start_manager()
    second = helm.start_manager("second")
    helm.route(first, second)
    cluster.kubectl.apply(objects.namespace(NS), solo.flavor(), *solo.cluster_queue("cq", 32))
    starts = Starts(cluster)
    starts.start()

    def bundle():
        found = cluster.api.request("GET", "/apis/admissionregistration.k8s.io/v1/"
                                    f"mutatingwebhookconfigurations/{RELEASE}-mutating-webhook-configuration")
        return found["webhooks"][0]["clientConfig"]["caBundle"]

    def certificate():
        return cluster.api.get("secrets", f"{RELEASE}-webhook-server-cert", objects.SYSTEM)["data"]["tls.crt"]
    before, renewed = bundle(), {certificate()}
    creations = Creations(cluster, "steady")
    creations.start()

    def three_times():
        renewed.add(certificate())
        return len(renewed) > 3
    wait_for("three renewals", three_times, 90, cluster.check)
    assert not creations.stop(), creations.refusals
    assert creations.made > 20, creations.made
    assert before and bundle()

    creations = Creations(cluster, "killed")
    creations.start()
    # An API server may keep to the connections that it has, and asks another replica as soon as
    # one refuses a connection: how many calls fail, if any, is up to it.
    called, left = ("second", first) if connections(second) else ("manager", second)
    assert connections(second) or connections(first), "no replica is called"
    cluster.processes.pop(called).kill()
    time.sleep(3 * slowness())
    helm.route(left)
    refusals = len(creations.refusals)
    made = creations.made
    wait_for("Jobs are accepted again", lambda: creations.made > made + 20, 60, cluster.check)
    assert all("failed calling webhook" in why for _, why in creations.stop()), creations.refusals[:3]
    assert len(creations.refusals) <= refusals + 2, creations.refusals
    around = {f"killed-{i}" for i in (0, max(made - 1, 0), made, creations.made - 1)}
    for name in ("steady-0", *sorted(around)):
        wait_for(f"{name} is Complete", lambda name=name: is_true(
            job := cluster.api.get("jobs", name, NS), "Complete") or report(job.get("status")), 120,
            cluster.check)
    assert starts.stop() >= 1 + len(around)


class Kept:
    """What a change of managers must leave as it is."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.before = self.look()

    def look(self):
        api = self.cluster.api
        uids = {(kind, o["metadata"]["name"]): o["metadata"]["uid"]
                for kind in ("jobs", "workloads", "pods") for o in api.list(kind, NS)}
        conditions = [c for w in api.list("workloads", NS)
                      for c in w.get("status", {}).get("conditions", []) if c["type"] == "Evicted"]
        return uids, conditions

    def check(self, when):
        uids, evicted = self.look()
        lost = {k: uid for k, uid in self.before[0].items() if uids.get(k) != uid}
        assert not lost and not evicted, f"{when}: {lost} {evicted}"


@scenario
def a_live_release_of_kueue_becomes_regattas_and_back(env):
    """With a Job that runs and one that waits: nothing is lost, nothing is evicted, and objects of both
    versions can be read. Kueue's own manager is there where its program is."""
    cluster = env.cluster("live", fleet="cpu")
    helm = Helm(cluster)
    theirs = not upstream.missing(cluster.suite.assets)
    start = cluster.start_upstream if theirs else cluster.start_manager
    helm.run("install", "kueue", release_of_kueue(env, helm), "--create-namespace")
    cluster.wait_crds()
    cluster.kubectl.apply(objects.namespace(NS), solo.flavor(), *solo.cluster_queue("cq", 1))
    start()
    cluster.wait_manager()
    active = lambda name: cluster.api.get("jobs", name, NS).get("status", {}).get("active")
    cluster.kubectl.create(solo.job("runs", "cq", seconds=900))
    wait_for("the Job runs", lambda: active("runs"), 60, cluster.check)
    cluster.kubectl.create(solo.job("waits", "cq", seconds=900))
    wait_for("the other waits", lambda: len(cluster.api.list("workloads", NS)) == 2, 60, cluster.check)
    kept = Kept(cluster)

    cluster.stop_manager()
    values = {**helm.served_values(), "fullnameOverride": RELEASE}
    helm.upgrade("kueue", CHART, values, "--server-side=false")
    cluster.wait_crds()
    helm.route(helm.start_manager())
    listed = wait_for("v1beta1 can be read", lambda: cluster.api.request(
        "GET", f"{OLD}/namespaces/{NS}/workloads")["items"], 60, cluster.check)
    assert {w["apiVersion"] for w in listed} == {"kueue.x-k8s.io/v1beta1"}, listed
    eager = solo.job("eager", "cq", seconds=900)
    eager["spec"]["suspend"] = False
    made = cluster.api.request("POST", cluster.api.path("jobs", namespace=NS), eager)
    assert made["spec"]["suspend"], made["spec"]
    kept.check("with Regatta")

    assert cluster.stop_manager() == 0
    helm.run("rollback", "kueue", "1", "--server-side=false")
    cluster.wait_crds()
    start()
    cluster.wait_manager()
    cluster.kubectl.run("patch", "clusterqueue", "cq", "--type=json", "-p", (
        '[{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", '
        '"value": "3"}]'))
    for name in ("waits", "eager"):
        wait_for(f"{name} runs", lambda name=name: active(name), 60, cluster.check)
    kept.check("with the manager from before")
