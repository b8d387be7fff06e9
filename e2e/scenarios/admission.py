"""Quota on one cluster: preemption, cohorts, fair sharing, admission checks."""
import time

from harness.federation import report
from harness.solo import NS, Solo, cluster_queue, job, priority_class
from harness.suite import scenario

RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


def usage(solo, queue):
    """The cores that a ClusterQueue uses, and how many of them are borrowed."""
    for used in solo.api.get("clusterqueues", queue)["status"].get("flavorsReservation", []):
        cpu = next(r for r in used["resources"] if r["name"] == "cpu")
        return str(cpu.get("total", "0")), str(cpu.get("borrowed", "0"))
    return "0", "0"


def wait_usage(solo, queue, total, borrowed):
    wanted = (str(total), str(borrowed))
    solo.wait_for(f"{queue} uses {wanted}",
                  lambda: usage(solo, queue) == wanted or report(usage(solo, queue)))


@scenario
def preemption_and_cohorts(env):
    """A higher priority goes first; idle quota is lent, and comes back when it is needed."""
    solo = Solo(env)
    solo.kubectl.apply(priority_class("low", 1), priority_class("high", 100))
    solo.queues(cluster_queue("alone", 2, preemption={"withinClusterQueue": "LowerPriority"}),
                cluster_queue("lender", 2, cohort="team", preemption=RECLAIM),
                cluster_queue("borrower", 2, cohort="team", preemption=RECLAIM))
    # Within a ClusterQueue.
    solo.submit(job("low", "alone", pods=2, priority="low"))
    solo.wait_running("low")
    solo.submit(job("same", "alone", pods=2, priority="low"))
    solo.wait_condition("same", "QuotaReserved", "False", "WaitingForQuota")
    solo.submit(job("high", "alone", pods=2, priority="high"))
    solo.wait_running("high")
    solo.wait_condition("low", "Preempted", "True", "InClusterQueue")
    assert solo.condition("same", "Evicted") == {}, "equals are left alone"
    # Borrowing, and reclaiming.
    for name in ("own-0", "own-1", "borrowed-0", "borrowed-1"):
        solo.submit(job(name, "borrower"))
        solo.wait_admitted(name)
    wait_usage(solo, "borrower", 4, 2)
    solo.submit(job("reclaims", "lender"))
    solo.wait_running("reclaims")
    wait_usage(solo, "borrower", 3, 1)
    victims = [n for n in ("own-0", "own-1", "borrowed-0", "borrowed-1")
               if solo.condition(n, "Preempted").get("reason") == "InCohortReclamation"]
    assert len(victims) == 1, victims


@scenario
def fair_shares(env):
    """With fair sharing, two borrowing ClusterQueues end with the same share of idle quota."""
    solo = Solo(env, fairSharing={"preemptionStrategies": ["LessThanOrEqualToFinalShare",
                                                           "LessThanInitialShare"]})
    solo.queues(cluster_queue("idle", 4, cohort="team"),
                cluster_queue("a", 0, cohort="team", preemption=RECLAIM),
                cluster_queue("b", 0, cohort="team", preemption=RECLAIM))
    for i in range(4):
        solo.submit(job(f"a-{i}", "a"))
    solo.wait_admitted(*[f"a-{i}" for i in range(4)])
    wait_usage(solo, "a", 4, 4)

    def share():
        status = solo.api.get("clusterqueues", "a")["status"]
        return status.get("fairSharing", {}).get("weightedShare") == 1000 or report(status)
    solo.wait_for("a shows its share", share)
    for i in range(3):
        solo.submit(job(f"b-{i}", "b"))
    wait_usage(solo, "a", 2, 2)
    wait_usage(solo, "b", 2, 2)
    solo.wait_condition("b-2", "QuotaReserved", "False", "WaitingForQuota")
    time.sleep(3)  # a preemption would have happened by now
    wait_usage(solo, "a", 2, 2)
    wait_usage(solo, "b", 2, 2)
    reasons = [solo.condition(f"a-{i}", "Preempted").get("reason") for i in range(4)]
    assert sorted(filter(None, reasons)) == ["InCohortFairSharing"] * 2, reasons
    assert not any(solo.condition(f"b-{i}", "Preempted") for i in range(3)), "no workload is preempted"


def local_queue(name, cluster_queue):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": NS}, "spec": {"clusterQueue": cluster_queue}}


@scenario
def fair_users(env):
    """Of two LocalQueues of a ClusterQueue the one that used less goes first."""
    solo = Solo(env, admissionFairSharing={"usageHalfLifeTime": "1m", "usageSamplingInterval": "1s"})
    solo.queues(cluster_queue("shared", 2, admissionScope={
        "admissionMode": "UsageBasedAdmissionFairSharing"}))
    solo.kubectl.apply(local_queue("heavy", "shared"), local_queue("light", "shared"))
    solo.submit(job("heavy-0", "heavy", pods=2))
    solo.wait_running("heavy-0")

    def consumed():
        status = solo.api.get("localqueues", "heavy", NS).get("status", {})
        sharing = status.get("fairSharing", {}).get("admissionFairSharingStatus", {})
        return sharing.get("consumedResources", {}).get("cpu", "0") != "0" or report(status)
    solo.wait_for("what it used is remembered", consumed)
    solo.submit(job("heavy-1", "heavy", pods=2))
    solo.wait_condition("heavy-1", "QuotaReserved", "False", "WaitingForQuota")
    time.sleep(1)  # creation times have seconds
    solo.submit(job("light-1", "light", pods=2))
    solo.wait_for("light-1 waits, too", lambda: solo.workload("light-1"))
    solo.remove("heavy-0")
    solo.wait_running("light-1")
    assert solo.condition("heavy-1", "QuotaReserved")["status"] == "False"
    solo.remove("light-1")
    solo.wait_running("heavy-1")


CHECK = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
         "metadata": {"name": "approval"}, "spec": {"controllerName": "example.dev/approval"}}


def say(solo, name, state, message="because", **more):
    """Sets the check's state as its controller would."""
    workload = solo.workload(name)["metadata"]
    said = {"name": "approval", "state": state, "message": message,
            "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **more}
    solo.patch("workloads", workload["name"], {"status": {"admissionChecks": [said]}},
               workload["namespace"], status=True)


def check_of(solo, name):
    found = (solo.workload(name) or {}).get("status", {}).get("admissionChecks", [])
    return found[0] if found else {}


def wait_reserved(solo, name):
    solo.wait_condition(name, "QuotaReserved", "True")
    solo.wait_for(f"the check of {name} is Pending",
                  lambda: check_of(solo, name).get("state") == "Pending")


@scenario
def admission_checks(env):
    """A check whose controller is this test: Pending, Ready, Retry, Rejected."""
    solo = Solo(env)
    solo.kubectl.apply(CHECK)
    solo.patch("admissionchecks", "approval", {"status": {"conditions": [
        {"type": "Active", "status": "True", "reason": "Active", "message": "here",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, status=True)
    solo.queues(cluster_queue("checked", 4, admissionChecksStrategy={
        "admissionChecks": [{"name": "approval"}]}))
    # Pending, then Ready.
    solo.submit(job("agreed", "checked"))
    wait_reserved(solo, "agreed")
    solo.wait_condition("agreed", "Admitted", "False", "UnsatisfiedAdmissionChecks")
    say(solo, "agreed", "Pending", "two nodes are on their way")
    solo.wait_for("the job tells what it waits for", lambda: (
        "approval: two nodes are on their way" in solo.events("UpdatedAdmissionCheck")))
    assert solo.job("agreed")["spec"]["suspend"]
    say(solo, "agreed", "Ready", podSetUpdates=[{"name": "main", "labels": {"approved": "yes"}}])
    solo.wait_running("agreed")
    assert solo.job("agreed")["spec"]["template"]["metadata"]["labels"]["approved"] == "yes"
    # Retry, then Ready.
    solo.submit(job("retried", "checked"))
    wait_reserved(solo, "retried")
    say(solo, "retried", "Retry", "no capacity", requeueAfterSeconds=1)
    solo.wait_for("its eviction is told", lambda: (
        'Evicted due to AdmissionCheck in Retry state: "approval" (no capacity)'
        in solo.events("EvictedDueToAdmissionCheck")))
    solo.wait_condition("retried", "Requeued", "True", "BackoffFinished")
    wait_reserved(solo, "retried")
    assert check_of(solo, "retried")["retryCount"] == 1, check_of(solo, "retried")
    say(solo, "retried", "Ready")
    solo.wait_running("retried")
    # Rejected.
    solo.submit(job("refused", "checked"))
    wait_reserved(solo, "refused")
    say(solo, "refused", "Rejected", "not this one")
    evicted = solo.wait_condition("refused", "Evicted", "True", "DeactivatedDueToAdmissionCheck")
    assert evicted["message"] == (
        'The workload is deactivated due to AdmissionCheck in Rejected state: "approval" '
        '(not this one)'), evicted
    solo.wait_condition("refused", "QuotaReserved", "False")
    assert not solo.workload("refused")["spec"]["active"]
