"""Jobs of other kinds than batch/v1, with the CRDs of their projects."""
import json
import os
import pathlib

from harness import objects
from harness.suite import Skip, scenario

JOBSETS = {"integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]}}
GROUP = "jobset.x-k8s.io"


def third_party_crd(name):
    """The CRDs are large and not ours: REGATTA_THIRD_PARTY_CRDS names the folder that has them."""
    folder = os.environ.get("REGATTA_THIRD_PARTY_CRDS", "")
    found = sorted(pathlib.Path(folder).rglob(name)) if folder else []
    if not found:
        raise Skip(f"{name} is not in REGATTA_THIRD_PARTY_CRDS")
    return found[0]


def serve(cluster, crd):
    cluster.kubectl.run("apply", "--server-side", "-f", crd)
    cluster.wait_kinds()


def jobset(name, managed_by="kueue.x-k8s.io/multikueue"):
    def role(role_name, replicas, pods):
        pod = {"restartPolicy": "Never", "containers": [{
            "name": "main", "image": "example.com/none",
            "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}]}
        return {"name": role_name, "replicas": replicas, "template": {"spec": {
            "parallelism": pods, "completions": pods, "template": {"spec": pod}}}}
    return {"apiVersion": f"{GROUP}/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": objects.NAMESPACE,
                         "labels": {"kueue.x-k8s.io/queue-name": "default"}},
            "spec": {"suspend": True, "managedBy": managed_by,
                     "replicatedJobs": [role("lead", 1, 1), role("crew", 2, 2)]}}


def read(cluster, name):
    """The JobSet of that name, or None."""
    found = cluster.kubectl.run("get", f"jobsets.{GROUP}", "-n", objects.NAMESPACE,
                                "--ignore-not-found", "-o", "json", name)
    return found.json() if found.out.strip() else None


def winner_of(fed, name):
    """The worker that runs the JobSet, or None."""
    for workload in fed.hub.api.list("workloads", objects.NAMESPACE):
        owners = workload["metadata"].get("ownerReferences", [])
        if any(o["kind"] == "JobSet" and o["name"] == name for o in owners):
            return workload.get("status", {}).get("clusterName")
    return None


def put_status(cluster, name, status):
    cluster.kubectl.run("patch", f"jobsets.{GROUP}", name, "-n", objects.NAMESPACE, "--type=merge",
                        "--subresource=status", "-p", json.dumps({"status": status}))


def role_status(name, active):
    return {"name": name, "active": active, "ready": active, "succeeded": 0, "failed": 0,
            "suspended": 0}


@scenario
def jobset_of_a_fleet(env):
    """A JobSet runs on the worker that serves the kind, and its status comes home."""
    crd = third_party_crd("jobset.x-k8s.io_jobsets.yaml")
    fed = env.federate(workers=("a100", "cpu"), hub_config=JOBSETS, worker_config=JOBSETS)
    # The managers run already: a definition that comes later is noticed.
    serve(fed.hub, crd)
    serve(fed.workers["cpu"], crd)
    fed.wait_for("the worker without the kind is Active and says so", lambda: (
        f"no use for: jobsets.{GROUP}" in fed.active("a100").get("message", "")), 150)
    fed.wait_for("the other one is of use", lambda: (
        fed.active("cpu").get("message") == "Connected"), 150)
    fed.hub.kubectl.apply(jobset("pair"))
    fed.wait_for("it has won", lambda: winner_of(fed, "pair") == "cpu", 150)
    there = fed.workers["cpu"]
    fed.wait_for("it is started on the worker", lambda: (
        (copy := read(there, "pair")) and copy["spec"].get("suspend") is False), 30)
    assert "managedBy" not in read(there, "pair")["spec"]

    put_status(there, "pair", {"restarts": 0, "replicatedJobsStatus": [
        role_status("lead", 1), role_status("crew", 2)]})
    fed.wait_for("its status comes home", lambda: (
        read(fed.hub, "pair").get("status", {}).get("replicatedJobsStatus")), 30)
    put_status(there, "pair", {"terminalState": "Completed", "conditions": [{
        "type": "Completed", "status": "True", "reason": "AllJobsCompleted",
        "message": "jobset completed", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
    fed.wait_for("the end comes home", lambda: (
        read(fed.hub, "pair").get("status", {}).get("terminalState") == "Completed"), 30)
    fed.wait_for("nothing is left on the worker", lambda: read(there, "pair") is None, 30)
