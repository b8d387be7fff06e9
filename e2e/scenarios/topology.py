"""Pods that are placed by topology: racks, gates, broken nodes, and hubs that place nothing."""
import json
import os

from harness import objects
from harness.api import condition
from harness.federation import holding, report
from harness.suite import scenario
from harness.waiting import wait_for

RACK = "cloud.provider.com/topology-rack"
HOST = "kubernetes.io/hostname"
GATE = "kueue.x-k8s.io/topology"


def placed_cluster(env, fleet):
    """A cluster with a manager and the queues of examples/topology."""
    cluster = env.cluster("placed", fleet)
    cluster.kubectl.apply(objects.namespace(objects.SYSTEM))
    cluster.install_crds()
    cluster.kubectl.run("apply", "-f", example(env, "queues.yaml"))
    cluster.start_manager()
    cluster.wait_manager()
    return cluster


def example(env, name):
    return os.path.join(env.suite.root, "examples/topology", name)


def rack_job(name, pods, seconds=120, **options):
    """One pod fits on a node; all must be in one rack."""
    made = objects.job(name, seconds=seconds, cpu="10", parallelism=pods, queue="placed", **options)
    made["spec"]["template"]["metadata"] = {
        "annotations": {"kueue.x-k8s.io/podset-required-topology": RACK}}
    return made


def pods_of(cluster, job):
    found = cluster.api.list("pods", objects.NAMESPACE, f"batch.kubernetes.io/job-name={job}")
    return [p for p in found if p.get("status", {}).get("phase") != "Failed"
            and "deletionTimestamp" not in p["metadata"]]


def nodes_of(cluster, job, count):
    """The nodes of a job's pods once `count` of them run, each on the node to which it was sent."""
    def run():
        pods = pods_of(cluster, job)
        seen = [(p["metadata"]["name"], p["spec"].get("nodeName"), p["status"].get("phase"))
                for p in pods]
        if len(pods) != count or any(phase != "Running" for _, _, phase in seen):
            report({"pods": seen, "workload": workload_of(cluster, job).get("status")})
        for pod in pods:
            assert not pod["spec"].get("schedulingGates"), pod["spec"]
            assert pod["spec"]["nodeSelector"][HOST] == pod["spec"]["nodeName"], pod["spec"]
        return sorted(p["spec"]["nodeName"] for p in pods)
    return wait_for(f"{count} pods of {job} run", run, 60, cluster.check)


def rack_of(cluster, node):
    return cluster.api.get("nodes", node)["metadata"]["labels"][RACK]


def workload_of(cluster, job):
    for workload in cluster.api.list("workloads", objects.NAMESPACE):
        if any(o["name"] == job for o in workload["metadata"].get("ownerReferences", [])):
            return workload
    return {}


def set_ready(cluster, node, ready):
    status = "True" if ready else "False"
    patch = json.dumps({"status": {"conditions": [{"type": "Ready", "status": status}]}})
    cluster.kubectl.run("patch", "node", node, "--subresource=status", "-p", patch)


@scenario
def one_rack(env):
    """The jobs of examples/topology: all pods of a required rack run in one rack."""
    cluster = placed_cluster(env, "8xCPU")
    cluster.kubectl.run("apply", "-f", example(env, "jobs.yaml"))
    nodes = nodes_of(cluster, "allreduce", 4)
    assert len(set(nodes)) == 4, nodes
    assert len({rack_of(cluster, node) for node in nodes}) == 1, nodes
    nodes_of(cluster, "pipeline", 4)
    workload = workload_of(cluster, "allreduce")
    assignment = workload["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]
    assert assignment["levels"] == [HOST], assignment
    # A pod's number is its place: neighbours in the job are neighbours in the rack.
    by_index = sorted(pods_of(cluster, "allreduce"), key=lambda p: int(
        p["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]))
    assert [p["spec"]["nodeName"] for p in by_index] == nodes, by_index

    # No rack has five nodes: the condition says so, and nothing starts.
    cluster.kubectl.create(rack_job("too-wide", 5, managed_by=None))

    def refused():
        reserved = condition(workload_of(cluster, "too-wide"), "QuotaReserved")
        return (reserved.get("status") == "False" and 'topology "datacenter"' in reserved["message"]
                or report(reserved))
    wait_for("the job that fits no rack is told so", refused, 30, cluster.check)


@scenario
def broken_node(env):
    """A node that breaks is replaced within its rack; a second one sends the job elsewhere."""
    cluster = placed_cluster(env, "8xCPU")
    cluster.kubectl.create(rack_job("train", 3, managed_by=None))
    before = nodes_of(cluster, "train", 3)
    rack = rack_of(cluster, before[0])
    set_ready(cluster, before[0], False)
    wait_for("the pod leaves the broken node",
             lambda: before[0] not in [p["spec"].get("nodeName") for p in pods_of(cluster, "train")],
             30, cluster.check)
    after = nodes_of(cluster, "train", 3)
    assert set(before[1:]) < set(after), (before, after)
    assert {rack_of(cluster, node) for node in after} == {rack}, after
    workload = workload_of(cluster, "train")
    assert not workload["status"].get("unhealthyNodes"), workload["status"]
    assert not condition(workload, "Evicted"), workload["status"]

    # Two of four nodes are broken now: this rack has no room for three pods.
    set_ready(cluster, after[0], False)
    wait_for("the workload is evicted", lambda: condition(workload_of(cluster, "train"), "Evicted")
             or report(workload_of(cluster, "train")), 40, cluster.check)
    last = nodes_of(cluster, "train", 3)
    assert {rack_of(cluster, node) for node in last} != {rack}, last
    evictions = workload_of(cluster, "train")["status"]["schedulingStats"]["evictions"]
    assert [(e["reason"], e["count"]) for e in evictions] == [("NodeFailures", 1)], evictions


def placed_queue(flavor_topology, checks=()):
    """A queue `placed` whose flavor names a topology."""
    api = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    quota = [{"name": "cpu", "nominalQuota": "40"}, {"name": "memory", "nominalQuota": "100Gi"}]
    queue = {"namespaceSelector": {}, "resourceGroups": [{
        "coveredResources": ["cpu", "memory"], "flavors": [{"name": "placed", "resources": quota}]}]}
    if checks:
        queue["admissionChecksStrategy"] = {"admissionChecks": [{"name": c} for c in checks]}
    return [
        {**api, "kind": "ResourceFlavor", "metadata": {"name": "placed"}, "spec": {
            "nodeLabels": {"kubernetes.io/os": "linux"}, "topologyName": flavor_topology}},
        {**api, "kind": "ClusterQueue", "metadata": {"name": "placed"}, "spec": queue},
        {**api, "kind": "LocalQueue",
         "metadata": {"name": "placed", "namespace": objects.NAMESPACE},
         "spec": {"clusterQueue": "placed"}}]


@scenario
def hub_without_nodes(env):
    """A hub whose flavor names a topology that only the worker has: the worker places the pods."""
    fed = env.federate(workers=("cpu",))
    worker = fed.workers["cpu"]
    worker.kubectl.apply(
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology",
         "metadata": {"name": "datacenter"},
         "spec": {"levels": [{"nodeLabel": RACK}, {"nodeLabel": HOST}]}},
        *placed_queue("datacenter"))
    fed.hub.kubectl.apply(*placed_queue("not-here", checks=["multikueue"]))

    fed.wait_for("the hub's queue is active", lambda: holding(
        fed.hub.api.get("clusterqueues", "placed"), "Active", "True"), 20)
    fed.submit(rack_job("placed", 3, seconds=3))
    fed.wait_for("the hub's workload is admitted", lambda: holding(
        fed.workload_of("placed"), "Admitted", "True"), 40)
    sets = fed.workload_of("placed")["status"]["admission"]["podSetAssignments"]
    assert sets[0]["delayedTopologyRequest"] == "Ready", sets
    assert "topologyAssignment" not in sets[0], sets
    nodes = nodes_of(worker, "placed", 3)
    assert len({rack_of(worker, node) for node in nodes}) == 1, nodes
    fed.wait_complete(["placed"])
    fed.wait_workers_empty()
