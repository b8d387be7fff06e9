"""Jobs that wait for nodes of an autoscaler, which the scenario plays."""
import os

from harness import objects
from harness.api import is_true
from harness.federation import holding, report
from harness.suite import ROOT, scenario
from harness.waiting import wait_for

CHECK = [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ProvisioningRequestConfig",
     "metadata": {"name": "queued"},
     "spec": {"provisioningClassName": "queued.example.dev",
              "retryStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 1}}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
     "metadata": {"name": "capacity"},
     "spec": {"controllerName": "kueue.x-k8s.io/provisioning-request",
              "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                             "name": "queued"}}}]
USE_CHECK = '{"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"capacity"}]}}}'


def requests(cluster):
    path = f"/apis/autoscaling.x-k8s.io/v1/namespaces/{objects.NAMESPACE}/provisioningrequests"
    return [r for r in cluster.api.request("GET", path)["items"]
            if "deletionTimestamp" not in r["metadata"]]


def say(cluster, request, *types):
    """Sets conditions of that request, as the autoscaler does."""
    path = (f"/apis/autoscaling.x-k8s.io/v1/namespaces/{objects.NAMESPACE}/provisioningrequests/"
            f"{request['metadata']['name']}/status")
    conditions = [{"type": t, "status": "True", "reason": t, "message": f"it is {t}",
                   "lastTransitionTime": "2026-01-01T00:00:00Z"} for t in types]
    cluster.api.request("PATCH", path, {"status": {"conditions": conditions}},
                        "application/merge-patch+json")


@scenario
def nodes_on_request(env):
    """A job starts when its nodes are provisioned; a failure is tried again once, then rejected."""
    cluster = env.cluster("cpu", fleet="cpu")
    cluster.kubectl.apply(objects.namespace(objects.SYSTEM))
    cluster.install_crds()
    for path in ("workers/cpu.yaml", "autoscaling/provisioningrequests.yaml"):
        cluster.kubectl.run("apply", "-f", os.path.join(ROOT, "examples", path))
    cluster.kubectl.apply(*CHECK)
    cluster.kubectl.run("patch", "clusterqueue", "local", "--type=merge", "-p", USE_CHECK)
    cluster.start_manager()
    cluster.wait_manager()

    def waiting(what, seen, timeout=30):
        return wait_for(what, seen, timeout, cluster.check)

    def only_request(ending):
        def found():
            names = [r["metadata"]["name"] for r in requests(cluster)]
            return (len(names) == 1 and names[0].endswith(ending) and requests(cluster)[0]
                    or report(names))
        return waiting(f"one request that ends with {ending}", found)

    def workload_of(job):
        return next(w for w in cluster.api.list("workloads", objects.NAMESPACE)
                    if w["metadata"]["ownerReferences"][0]["name"] == job)

    def check_state(job):
        return workload_of(job)["status"].get("admissionChecks", [{}])[0]

    waiting("the check is active", lambda: is_true(
        cluster.api.get("admissionchecks", "capacity"), "Active"), 60)
    cluster.kubectl.create(objects.job("served", parallelism=2, managed_by=None))
    request = only_request("-capacity-1")
    assert request["spec"]["podSets"][0]["count"] == 2, request["spec"]
    template = request["spec"]["podSets"][0]["podTemplateRef"]["name"]
    cluster.kubectl.run("get", "podtemplate", template, "-n", objects.NAMESPACE)
    assert cluster.api.get("jobs", "served", objects.NAMESPACE)["spec"]["suspend"]
    say(cluster, request, "Accepted", "Provisioned")
    waiting("the job is complete", lambda: is_true(
        cluster.api.get("jobs", "served", objects.NAMESPACE), "Complete"))
    waiting("its request is gone", lambda: not requests(cluster) or report(requests(cluster)))

    cluster.kubectl.create(objects.job("refused", managed_by=None))
    say(cluster, only_request("-capacity-1"), "Failed")
    second = only_request("-capacity-2")
    assert check_state("refused")["retryCount"] == 1, check_state("refused")
    say(cluster, second, "Failed")
    waiting("the workload is given up", lambda: not workload_of("refused")["spec"].get("active", True)
            or report(check_state("refused")))
    waiting("its eviction says why", lambda: holding(
        workload_of("refused"), "Evicted", "True", "DeactivatedDueToAdmissionCheck"))
    waiting("its request is gone", lambda: not requests(cluster) or report(requests(cluster)))
