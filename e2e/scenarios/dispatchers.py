"""Dispatchers: which workers take part in a race."""
import json

from harness import objects
from harness.api import is_true
from harness.federation import report
from harness.suite import scenario

INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def nominate(fed, name, clusters, manager="external"):
    """Nominates as an external dispatcher does."""
    workload = fed.wait_for(f"workload of {name} has quota", lambda: is_true(
        w := fed.workload_of(name), "QuotaReserved") and w, 30)["metadata"]["name"]
    fed.hub.kubectl.run("patch", "workload", workload, "-n", objects.NAMESPACE, "--type=merge",
                        "--subresource=status", f"--field-manager={manager}",
                        "-p", json.dumps({"status": {"nominatedClusterNames": clusters}}))


def copies_of(fed, name):
    """Workers with a copy of the job's workload."""
    workload = fed.workload_of(name)["metadata"]["name"]
    return [n for n, w in fed.workers.items()
            if w.api.find("workloads", workload, objects.NAMESPACE)]


@scenario
def external_dispatcher(env):
    """Nothing is copied until an external dispatcher nominates; then only to nominated workers."""
    fed = env.federate(hub_config={"multiKueue": {"gcInterval": "2s",
                                                  "dispatcherName": "example.com/by-hand"}})
    fed.submit(objects.job("chosen", cpu="2"), objects.job("moved", gpus=2))
    nominate(fed, "chosen", ["cpu"])
    fed.wait_complete(["chosen"])
    assert fed.winner_of("chosen") == "cpu", fed.winner_of("chosen")
    assert not fed.workload_of("chosen")["status"].get("nominatedClusterNames")
    # Meanwhile the other job has waited for a nomination. On a worker without room it goes on
    # waiting; a new nomination takes that copy back.
    assert copies_of(fed, "moved") == [], copies_of(fed, "moved")
    nominate(fed, "moved", ["cpu"])
    fed.wait_for("it is copied to cpu", lambda: copies_of(fed, "moved") == ["cpu"], 20)
    nominate(fed, "moved", ["h100"], manager="another-external")
    fed.wait_complete(["moved"])
    assert fed.winner_of("moved") == "h100", fed.winner_of("moved")
    fed.wait_workers_empty()
    fed.check_ran_once(["chosen", "moved"])
    for name, observer in fed.observers.items():
        seen = {key[1] for key in observer.jobs_seen()}
        assert seen <= {"cpu": {"chosen"}, "h100": {"moved"}, "a100": set()}[name], (name, seen)


@scenario
def incremental_dispatcher(env):
    """The first round nominates only the first workers of the list."""
    fed = env.federate(workers=("cpu", "h100", "a100"), hub_config={"multiKueue": {
        "gcInterval": "2s", "dispatcherName": INCREMENTAL,
        "incrementalDispatcherConfig": {"stepSize": 2}}})
    fed.submit(objects.job("first", gpus=4), objects.job("waits", gpus=8))
    fed.wait_complete(["first"])
    assert fed.winner_of("first") == "h100", fed.winner_of("first")

    def nominated():
        status = fed.workload_of("waits")["status"]
        return status.get("nominatedClusterNames") == ["cpu", "h100"] or report(status)
    fed.wait_for("the first two are nominated", nominated, 20)
    fed.wait_for("they have copies", lambda: sorted(copies_of(fed, "waits")) == ["cpu", "h100"], 20)
    assert not fed.winner_of("waits")
