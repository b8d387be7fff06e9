"""Regatta and upstream Kueue in one federation, each as hub and as worker.

These scenarios run only where upstream's manager lies beside kube-apiserver. One case is left out
on purpose: upstream's hub hangs by itself when a worker returns that still runs a Job which another
worker admitted meanwhile. It deletes the running Job and then fails for ever to write the status of
the other one (`status.startTime: ... field is immutable`). So workers are lost under our hub only."""
import json
import time

from harness import objects, upstream
from harness.api import is_true
from harness.federation import holding, report
from harness.suite import interop
from harness.waiting import slowness

from .race import check_finished, mixed

NS = objects.NAMESPACE
PRIORITY = "kueue.x-k8s.io/priority-class"
LEASE = "c1f6bfd2.kueue.x-k8s.io"
ELECTION = {"leaderElection": {"leaderElect": True, "resourceName": LEASE,
                               "resourceNamespace": objects.SYSTEM}}
ALWAYS = 3600  # seconds; such a job ends only because it is stopped
NEVER_FITS = dict(cpu="100")  # less than the hub's quota, more than each worker's


def federate(env, **options):
    return env.federate(workers=("h100", "cpu"), **options)


def set_active(fed, name, active):
    workload = fed.workload_of(name)["metadata"]["name"]
    fed.hub.api.request("PATCH", fed.hub.api.path("workloads", workload, NS),
                        {"spec": {"active": active}}, "application/merge-patch+json")


def wait_nominated(fed, name):
    """Waits until a job that fits nowhere has copies on both workers."""
    def copied():
        workload = fed.workload_of(name)
        return workload and all(w.api.find("workloads", workload["metadata"]["name"], NS)
                                for w in fed.workers.values())
    fed.wait_for(f"{name} has its copies", copied, 60)


def delete_and_deactivate(fed):
    """Of two running and two waiting jobs one each is deleted, the other one deactivated."""
    names = fed.submit(*[objects.job(f"{fate}-{state}", seconds=ALWAYS,
                                     **(NEVER_FITS if state == "waiting" else {}))
                         for fate in ("deleted", "stopped") for state in ("running", "waiting")])
    for name in names:
        fed.wait_running(name) if name.endswith("running") else wait_nominated(fed, name)
    fed.hub.kubectl.run("delete", "job", "deleted-running", "deleted-waiting", "-n", NS,
                        "--wait=false")
    for name in ("stopped-running", "stopped-waiting"):
        set_active(fed, name, False)


def check_deleted_and_deactivated(fed):
    fed.wait_for("the deleted jobs are gone", lambda: not (left := [
        o["metadata"]["name"] for kind in ("jobs", "workloads") for o in fed.hub.api.list(kind, NS)
        if "deleted-" in o["metadata"]["name"]]) or report(left))
    for name in ("stopped-running", "stopped-waiting"):
        fed.wait_for(f"the quota of {name} is released", lambda: holding(
            fed.workload_of(name), "QuotaReserved", "False"))
        job = fed.hub.api.get("jobs", name, NS)
        assert job["spec"]["suspend"], f"{name} is not suspended"
        fed.wait_for(f"{name} has no pods", lambda: not (
            s := fed.hub.api.get("jobs", name, NS)["status"]).get("active") or report(s))
    fed.check_ran_once(["deleted-running", "stopped-running"])
    ran = [n for n in ("deleted-waiting", "stopped-waiting") if fed.ran_on(n)]
    assert not ran, f"{ran} fit nowhere and ran"


def runs_of(fed, name):
    return sum(o.runs(NS, name) for o in fed.observers.values())


def evictions_of(fed, name):
    """How often the hub evicted the job's Workload."""
    stats = fed.workload_of(name)["status"].get("schedulingStats", {})
    return sum(e["count"] for e in stats.get("evictions", []))


def last_said(fed, name):
    """What the worker said last on which the job ended. A job that ends there while the hub evicts it
    counts as ended, and the hub no longer has a record of its worker."""
    winner = fed.winner_of(name)
    if winner:
        return fed.observers[winner].last_status(NS, name)
    said = [fed.observers[w].last_status(NS, name) for w in fed.ran_on(name)]
    ended = [status for status in said if is_true({"status": status}, "Complete")]
    assert len(ended) == 1 and evictions_of(fed, name), f"{name} has no record of a worker: {said}"
    return ended[0]


def check_statuses(fed, names):
    """What the hub shows about a finished job is what its worker said last."""
    for name in names:
        theirs = last_said(fed, name)
        ours = fed.hub.api.get("jobs", name, NS)["status"]
        assert ours == theirs, f"{name}: the hub shows {json.dumps(ours)}, " \
                               f"the worker said {json.dumps(theirs)}"


def check_ended(fed, names, evicted=()):
    """Each job ended and left nothing on the workers, and the hub shows its end. Each ran once and
    was never evicted; those of `evicted` ran at most once more for each eviction."""
    fed.wait_complete(names, 120)
    fed.wait_workers_empty(60)
    fed.check_ran_once(sorted(set(names) - set(evicted)))
    for name in names:
        runs, evictions = runs_of(fed, name), evictions_of(fed, name)
        assert runs >= 1, f"{name} is Complete and was never seen to run"
        assert runs <= 1 + evictions, f"{name}: {runs} runs, {evictions} evictions"
        assert not evictions or name in evicted, f"{name} was evicted {evictions} times"
        check_finished(fed, name, once=name not in evicted)
    check_statuses(fed, names)


def together(env, theirs):
    """Sixteen jobs that end and four that do not, with upstream's manager in the clusters `theirs`."""
    fed = federate(env, upstream=theirs)
    names = fed.submit(*mixed(16, seconds=2))
    delete_and_deactivate(fed)
    check_ended(fed, names)
    check_deleted_and_deactivated(fed)
    return fed


@interop
def upstream_workers(env):
    """Our hub, and workers that upstream manages."""
    together(env, ("h100", "cpu"))


@interop
def upstream_worker_beside_ours(env):
    """Our hub, one worker that upstream manages, and one of ours."""
    together(env, ("h100",))


@interop
def upstream_hub(env):
    """Upstream's hub, and workers of ours."""
    together(env, ("hub",))


@interop
def hub_swapped(env):
    """Upstream's hub manager is replaced by ours in mid-race, and ours by upstream's: jobs run on."""
    fed = federate(env, upstream=("hub",), hub_config=ELECTION)
    fed.hub.kubectl.apply(*upstream.NOMINATIONS_ARE_CLEARED)
    names = []
    for turn, start in (("ours", fed.hub.start_manager), ("upstream", fed.hub.start_upstream)):
        steady = fed.submit(*[objects.job(f"steady-{turn}-{i}", seconds=20 + 8 * slowness(), cpu="6")
                              for i in range(6)])
        for name in steady:
            fed.wait_running(name, 60)
        racing = fed.submit(*[objects.job(f"racing-{turn}-{i}", cpu="4") for i in range(4)])
        before = holder(fed)
        fed.hub.stop_manager()
        late = fed.submit(*[objects.job(f"late-{turn}-{i}", cpu="4") for i in range(3)])
        start(**ELECTION)
        fed.wait_for("the new manager has the Lease", lambda: holder(fed) not in ("", before), 60)
        if turn == "upstream":
            fed.wait_for("no workload waits for a worker", lambda: wake(fed), 90)
        fed.wait_complete([*racing, *late], 90)
        going = [n for n in steady if not is_true(fed.hub.api.get("jobs", n, NS), "Complete")]
        assert going, f"all jobs ended before {turn} had it: a higher REGATTA_E2E_SLOW makes them longer"
        names += [*steady, *racing, *late]
    check_ended(fed, names)


def wake(fed):
    """Whether every nominated workload has a worker. Those that have none are touched: upstream does
    not look again at a workload that it saw before its workers were connected (kueue #11668)."""
    waiting = [w["metadata"]["name"] for w in fed.hub.api.list("workloads")
               if w.get("status", {}).get("nominatedClusterNames")]
    for name in waiting:
        fed.hub.kubectl.run("annotate", "workload", name, "-n", NS, f"example.com/woken={time.time()}",
                            "--overwrite")
    return not waiting or report(waiting)


def holder(fed):
    return fed.hub.api.get("leases", LEASE, objects.SYSTEM)["spec"].get("holderIdentity") or ""


@interop
def upstream_worker_away(env):
    """A worker of upstream's is away for a moment: its jobs run on, and what was deleted or
    deactivated meanwhile is removed when it is back."""
    fed = federate(env, upstream=("h100", "cpu"))
    names = fed.submit(*mixed(12, seconds=4))
    going = fed.submit(*[objects.job(f"{fate}-running", seconds=ALWAYS, gpus=1)
                         for fate in ("deleted", "stopped")])
    for name in going:
        fed.wait_running(name, 60)
    lost = fed.workers["h100"]
    lose(lost)
    fed.wait_for("h100 is lost", lambda: holding(
        fed.hub.api.get("multikueueclusters", "h100"), "Active", "False"))
    fed.hub.kubectl.run("delete", "job", "deleted-running", "-n", NS, "--wait=false")
    set_active(fed, "stopped-running", False)
    bring_back(lost)
    fed.wait_connected(["h100"], 60)
    check_ended(fed, names)
    fed.check_ran_once(going)
    fed.wait_for("the deactivated job is stopped", lambda: holding(
        fed.workload_of("stopped-running"), "QuotaReserved", "False"))


def away_for_long(env, theirs, away=None):
    """The worker `away`, or the one with most jobs, is away for longer than its grace: its jobs run
    elsewhere, and it gets rid of what it still has. Upstream manages the workers `theirs`."""
    fed = federate(env, upstream=theirs, hub_config={"multiKueue": {
        "gcInterval": "2s", "workerLostTimeout": "3s"}})
    names = fed.submit(*[objects.job(f"long-{i}", seconds=10 + 4 * slowness(), cpu="8")
                         for i in range(12)])
    for name in names:
        fed.wait_running(name, 60)
    fed.wait_for("every job has a winner", lambda: all(fed.winner_of(n) for n in names))
    count = {w: len([n for n in names if fed.winner_of(n) == w]) for w in fed.workers}
    away = away or max(count, key=count.get)
    assert count[away], f"no job runs on {away}: {count}"
    moved = [n for n in names if fed.winner_of(n) == away]
    lost, other = fed.workers[away], next(w for w in fed.workers if w != away)
    lose(lost)
    fed.wait_for(f"the jobs of {away} move", lambda: not (
        left := [n for n in moved if fed.winner_of(n) != other])
        or report(left), 60)
    bring_back(lost)
    fed.wait_connected([away], 60)
    check_ended(fed, names, evicted=moved)


@interop
def upstream_worker_away_for_long(env):
    """Jobs move from one worker of upstream's to another one."""
    away_for_long(env, ("h100", "cpu"))


@interop
def upstream_worker_lost_beside_ours(env):
    """Jobs move from a worker of upstream's to one of ours."""
    away_for_long(env, ("h100",), away="h100")


@interop
def our_worker_lost_beside_upstream(env):
    """Jobs move from a worker of ours to one of upstream's."""
    away_for_long(env, ("h100",), away="cpu")


def lose(cluster):
    cluster.kill_manager()
    cluster.kill_server()


def bring_back(cluster):
    cluster.restart_server()
    cluster.restart_manager()


@interop
def preemption_beside_upstream(env):
    """The hub preempts while a worker evicts: every job ends, and none is stuck in a check."""
    fed = federate(env, upstream=("h100",))
    fed.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=json", "-p", json.dumps([
        {"op": "add", "path": "/spec/preemption", "value": {"withinClusterQueue": "LowerPriority"}},
        {"op": "replace", "value": "48",
         "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"}]))
    low = fed.submit(*[objects.job(f"batch-{i:02}", seconds=4, cpu="8", labels={PRIORITY: "batch"})
                       for i in range(14)])
    fed.wait_for("the hub's quota is used", lambda: len(
        [n for n in low if is_true(fed.workload_of(n) or {}, "QuotaReserved")]) >= 6)
    high = []
    for turn, worker in enumerate(("h100", "cpu")):
        # Before the worker evicts, because what it evicts makes room.
        high += fed.submit(*[objects.job(f"urgent-{turn}-{i}", seconds=1, cpu="16",
                                         labels={PRIORITY: "urgent"}) for i in range(3)])
        fed.stop_policy(worker, "HoldAndDrain")
        fed.wait_for("an urgent job is admitted", lambda: any(
            is_true(fed.workload_of(n) or {}, "Admitted") for n in high[-3:]))
        fed.stop_policy(worker, "None")
    left = [n for n in low if not is_true(fed.hub.api.get("jobs", n, NS), "Complete")]
    deleted, stopped = left[-1], left[-2]
    fed.hub.kubectl.run("delete", "job", deleted, "-n", NS, "--wait=false")
    set_active(fed, stopped, False)
    names = [n for n in [*high, *low] if n not in (deleted, stopped)]
    fed.wait_complete(names, 120)
    check_ended(fed, names, evicted=[n for n in names if evictions_of(fed, n)])
    reasons = {e["reason"] for n in low if n != deleted for e in
               fed.workload_of(n)["status"].get("schedulingStats", {}).get("evictions", [])}
    assert "Preempted" in reasons, f"the hub preempted nothing: {reasons}"
    assert not is_true(fed.workload_of(stopped), "QuotaReserved")
