"""Queues that are stopped, and queues that are full."""
import json

from harness import objects
from harness.api import is_true
from harness.federation import holding, report
from harness.suite import scenario


def stop_policy(fed, kind, name, policy, cluster=None):
    patch = json.dumps({"spec": {"stopPolicy": policy}})
    (cluster or fed.hub).kubectl.run("patch", kind, name, "-n", objects.NAMESPACE, "--type=merge",
                                     "-p", patch)


def wait_stopped(fed, kind, name):
    fed.wait_for(f"{kind} {name} is Stopped", lambda: holding(
        fed.hub.api.get(kind + "s", name, objects.NAMESPACE), "Active", "False", "Stopped"), 20)


@scenario
def queues_on_hold(env):
    """Hold keeps jobs waiting and leaves running ones alone; HoldAndDrain stops them."""
    fed = env.federate(workers=("cpu",))
    for kind, name in (("localqueue", "default"), ("clusterqueue", "fleet")):
        running, waiting = f"running-{kind}", f"waiting-{kind}"
        fed.submit(objects.job(running, seconds=3))
        fed.wait_running(running)
        stop_policy(fed, kind, name, "Hold")
        wait_stopped(fed, kind, name)
        fed.submit(objects.job(waiting))
        fed.wait_for(f"{waiting} has a Workload", lambda: fed.workload_of(waiting), 20)
        fed.wait_complete([running])
        waits = fed.workload_of(waiting)
        assert not is_true(waits, "QuotaReserved"), waits["status"]
        stop_policy(fed, kind, name, "None")
        fed.wait_complete([waiting])
    fed.submit(objects.job("drained", seconds=4))
    fed.wait_running("drained")
    stop_policy(fed, "clusterqueue", "fleet", "HoldAndDrain")
    fed.wait_for("the job is suspended again and without quota", lambda: (
        fed.hub.api.get("jobs", "drained", objects.NAMESPACE)["spec"]["suspend"]
        and not is_true(fed.workload_of("drained"), "QuotaReserved")
        or report(fed.workload_of("drained")["status"])), 30)
    fed.wait_workers_empty()
    stop_policy(fed, "clusterqueue", "fleet", "None")
    fed.wait_complete(["drained"])
    fed.wait_workers_empty()


@scenario
def evicted_on_worker(env):
    """A worker takes its admission back: the job goes to another worker."""
    fed = env.federate(workers=("h100", "cpu"))
    fed.submit(objects.job("evicted", seconds=6))
    first = fed.wait_running("evicted")
    other = next(n for n in fed.workers if n != first)
    stop_policy(fed, "clusterqueue", "local", "HoldAndDrain", fed.workers[first])
    fed.wait_for(f"the job moves to {other}", lambda: fed.winner_of("evicted") == other
                 or report(fed.workload_of("evicted")["status"]), 40)
    fed.wait_complete(["evicted"])
    fed.wait_workers_empty()


@scenario
def more_than_fits(env):
    """Jobs beyond the hub's quota wait for their turn, and all of them run."""
    fed = env.federate()
    # The hub has a quota of 12 GPUs: three jobs of four at a time.
    names = fed.submit(*[objects.job(f"full-{i}", gpus=4, seconds=1) for i in range(9)])
    fed.wait_complete(names, 90)
    fed.wait_workers_empty()
    fed.check_ran_once(names)

    def usage():
        flavors = fed.hub.api.get("clusterqueues", "fleet")["status"]["flavorsUsage"]
        used = {r["name"]: r["total"] for f in flavors for r in f["resources"]}
        return all(str(v) == "0" for v in used.values()) or report(used)
    fed.wait_for("all quota is given back", usage, 20)


@scenario
def what_is_deleted_while_it_is_used(env):
    """A queue, its flavor and its check wait for what uses them, and go when that has gone."""
    fed = env.federate(workers=("cpu",))
    api = fed.hub.api
    queue = api.get("clusterqueues", "fleet")["spec"]
    deleted = {"clusterqueues": "fleet",
               "resourceflavors": queue["resourceGroups"][0]["flavors"][0]["name"],
               "admissionchecks": queue["admissionChecksStrategy"]["admissionChecks"][0]["name"]}
    fed.submit(objects.job("holds-them", seconds=6))
    fed.wait_running("holds-them")
    for kind, name in deleted.items():
        fed.hub.kubectl.run("delete", kind, name, "--wait=false")
    fed.wait_for("the queue is terminating", lambda: holding(
        api.get("clusterqueues", "fleet"), "Active", "False", "Terminating"), 20)
    for kind, name in deleted.items():
        assert api.get(kind, name)["metadata"].get("deletionTimestamp"), (kind, name)
    fed.wait_complete(["holds-them"])
    fed.wait_for("all three are gone", lambda: not [
        kind for kind, name in deleted.items() if api.find(kind, name)], 20)
