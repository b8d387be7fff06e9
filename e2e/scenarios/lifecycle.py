"""The life of workloads between admission and their end."""
import json
import os

from harness import objects
from harness.api import is_true
from harness.solo import NS, Solo, cluster_queue, job
from harness.suite import scenario

PRIORITY = "kueue.x-k8s.io/priority-class"


@scenario
def cooperative_preemption(env):
    """A preemptor gets the quota of its victim when the victim's pods are gone, and not before."""
    solo = Solo(env)
    example = os.path.join(solo.examples, "checkpoint")
    solo.kubectl.run("apply", "-f", os.path.join(example, "queue.yaml"))
    solo.kubectl.run("create", "-f", os.path.join(example, "train.yaml"))
    solo.wait_running("train")
    solo.kubectl.run("create", "-f", os.path.join(example, "urgent.yaml"))
    evicted = solo.wait_condition("train", "Evicted", "True", "Preempted")
    assert evicted["message"].startswith("Preempted to accommodate a workload"), evicted
    ending = set()

    def admitted():
        if solo.condition("urgent", "QuotaReserved").get("status") == "True":
            return {"left": solo.pods("train")}
        ending.update(solo.pods("train"))
        return None
    found = solo.wait_for("the preemptor is admitted", admitted)
    assert not found["left"], f"admitted while {found['left']} still write their checkpoint"
    assert len(ending) == 4, f"pods of the victim that were seen to end: {ending}"
    solo.wait_condition("train", "Requeued", "True", "Preempted")
    solo.wait_condition("urgent", "Finished", "True", "Succeeded")
    # The victim goes on with its checkpoint.
    solo.wait_running("train")


def limits_config():
    return {"waitForPodsReady": {
                "timeout": "3s", "recoveryTimeout": "3s",
                "requeuingStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 3}},
            "objectRetentionPolicies": {"workloads": {"afterFinished": "1s",
                                                      "afterDeactivatedByKueue": "1s"}}}


def pods_that_never_start(solo):
    """Evicted, requeued after a while, and deactivated after the last try; then the job is deleted."""
    solo.submit(job("stuck", "first", stuck=True))
    waiting = solo.wait_condition("stuck", "PodsReady", "False", "WaitForStart")
    assert waiting["message"] == "Not all pods are ready or succeeded", waiting
    evicted = solo.wait_condition("stuck", "Evicted", "True", "PodsReadyTimeout")
    name = solo.workload("stuck")["metadata"]["name"]
    assert evicted["message"] == f"Exceeded the PodsReady timeout {NS}/{name}", evicted
    solo.wait_condition("stuck", "Requeued", "False", "PodsReadyTimeout")
    assert solo.workload("stuck")["status"]["requeueState"]["count"] == 1
    solo.wait_condition("stuck", "Requeued", "True", "BackoffFinished")
    solo.wait_for("the second try is the last", lambda: solo.events(
        "EvictedDueToDeactivatedDueToRequeuingLimitExceeded"))
    solo.wait_for("its job is removed", lambda: solo.api.find("jobs", "stuck", NS) is None)


def time_that_is_up(solo):
    solo.submit(job("limited", "second", labels={"kueue.x-k8s.io/max-exec-time-seconds": "2"}))
    solo.wait_for("the end of its time is told", lambda: (
        "The maximum execution time (2s) exceeded" in solo.events("MaximumExecutionTimeExceeded")))
    solo.wait_for("its job is removed", lambda: solo.api.find("jobs", "limited", NS) is None)


def queues_that_stop(solo):
    solo.submit(job("drained", "third"))
    solo.wait_running("drained")
    solo.stop_policy("third", "Hold")
    solo.submit(job("held", "third", seconds=0.2))
    solo.wait_condition("held", "QuotaReserved", "False", "Suspended")
    assert not solo.job("drained")["spec"]["suspend"], "Hold lets the admitted run"
    solo.stop_policy("third", "HoldAndDrain")
    solo.wait_condition("drained", "Evicted", "True", "ClusterQueueStopped")
    solo.wait_condition("drained", "Requeued", "False", "ClusterQueueStopped")
    solo.stop_policy("third", "None")
    solo.wait_condition("drained", "Requeued", "True", "ClusterQueueRestarted")
    solo.wait_running("drained")
    # A finished Workload is not kept for long; its job is.
    solo.wait_for("job held is Complete", lambda: solo.job("held")["status"].get("succeeded") == 1)
    solo.wait_for("its Workload is removed", lambda: solo.workload("held") is None)


@scenario
def limits_of_time(env):
    """Pods that never start, execution limits, stopped queues, retention of objects."""
    solo = Solo(env, **limits_config())
    solo.queues(*[cluster_queue(name, 2) for name in ("first", "second", "third")])
    pods_that_never_start(solo)
    time_that_is_up(solo)
    queues_that_stop(solo)


@scenario
def one_start_after_the_other(env):
    """With blocked admission no workload is admitted while the pods of another one are not ready."""
    solo = Solo(env, waitForPodsReady={"timeout": "6s", "blockAdmission": True,
                                       "requeuingStrategy": {"backoffBaseSeconds": 60}})
    solo.queues(cluster_queue("first", 4), cluster_queue("second", 4))
    solo.submit(job("stuck", "first", stuck=True))
    solo.wait_admitted("stuck")
    solo.submit(job("behind", "second"))
    blocked = solo.wait_condition("behind", "QuotaReserved", "False", "WaitingForPodsReady")
    assert blocked["message"] == (
        "waiting for all admitted workloads to be in PodsReady condition"), blocked
    solo.wait_condition("stuck", "Evicted", "True", "PodsReadyTimeout")
    solo.wait_running("behind")
    solo.wait_condition("behind", "PodsReady", "True", "Started")
    solo.submit(job("third", "second"))
    solo.wait_running("third")


@scenario
def cooperative_preemption_of_a_fleet(env):
    """The same on a hub: the victim keeps the quota until its pods on the worker are gone."""
    fed = env.federate(workers=("cpu",))
    fed.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p", json.dumps(
        {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}))
    whole = {"cpu": "40", "memory": "1Gi"}  # two of them are more than the worker has
    grace = objects.job("train", seconds=600, labels={PRIORITY: "batch"}, **whole,
                        annotations={"sandbox.regatta.dev/termination-share": "1"})
    grace["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 4
    fed.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=json", "-p", json.dumps([
        {"op": "replace", "value": "60",
         "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"}]))
    fed.submit(grace)
    worker = fed.workers[fed.wait_running("train")]
    fed.submit(objects.job("urgent", seconds=0.5, labels={PRIORITY: "urgent"}, **whole))

    def pods():
        return [p["metadata"]["name"] for p in worker.api.list("pods", objects.NAMESPACE)
                if p["metadata"]["name"].startswith("train")]
    ending = set()

    def reserved():
        if is_true(fed.workload_of("urgent") or {}, "QuotaReserved"):
            return {"left": pods()}
        if is_true(fed.workload_of("train"), "Evicted"):
            ending.update(pods())
        return None
    found = fed.wait_for("the preemptor has the hub's quota", reserved)
    assert not found["left"], f"reserved while {found['left']} still write their checkpoint"
    assert ending, "the victim's pods were never seen to end"
    fed.wait_complete(["urgent"])
    fed.wait_running("train")


@scenario
def one_worker_preempts(env):
    """Both workers would have to preempt for a job of the hub: one of them does."""
    gates = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}
    fed = env.federate(workers=("cpu", "h100"), hub_config=gates, worker_config=gates)
    for name, cpus in (("cpu", 60), ("h100", 76)):
        worker = fed.workers[name].kubectl
        worker.run("patch", "clusterqueue", "local", "--type=merge", "-p", json.dumps(
            {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}))
        worker.create(objects.job(f"fills-{name}", seconds=600, cpu=str(cpus), managed_by=None,
                                  labels={PRIORITY: "batch"}, annotations={
                                      "sandbox.regatta.dev/termination-share": "1"}))

    def filler(name):
        jobs = fed.workers[name].api.list("workloads", objects.NAMESPACE)
        return next((w for w in jobs if f"fills-{name}" in w["metadata"]["name"]), {})
    fed.wait_for("both workers are full",
                 lambda: all(is_true(filler(name), "Admitted") for name in fed.workers))
    fed.submit(objects.job("urgent", seconds=0.5, cpu="40", labels={PRIORITY: "urgent"}))
    fed.wait_complete(["urgent"])
    lost = [name for name in fed.workers
            if filler(name).get("status", {}).get("schedulingStats", {}).get("evictions")]
    assert len(lost) == 1, f"evictions on {lost}"
    fed.check_ran_once(["urgent"])
