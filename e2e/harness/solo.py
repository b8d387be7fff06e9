"""One cluster with nodes and a manager, and queues made for a scenario."""
import json
import os

from . import objects
from .api import condition, is_true
from .federation import holding, report
from .waiting import wait_for

NS = objects.NAMESPACE


def flavor(name="shared"):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
            "metadata": {"name": name}}


def cluster_queue(name, cpu, cohort=None, **spec):
    """A ClusterQueue with `cpu` of flavor `shared`, and a LocalQueue of the same name."""
    resources = [{"name": "cpu", "nominalQuota": cpu}]
    made = {"namespaceSelector": {}, "resourceGroups": [
        {"coveredResources": ["cpu"], "flavors": [{"name": "shared", "resources": resources}]}]}
    if cohort:
        made["cohortName"] = cohort
    return [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
         "spec": {**made, **spec}},
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
         "metadata": {"name": name, "namespace": NS}, "spec": {"clusterQueue": name}}]


def priority_class(name, value):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
            "metadata": {"name": name}, "value": value}


def job(name, queue, pods=1, seconds=600, priority=None, labels=None, grace=0, stuck=False):
    """`grace`: seconds its pods take to end; `stuck`: they never start."""
    labels = {**(labels or {}), **({"kueue.x-k8s.io/priority-class": priority} if priority else {})}
    made = objects.job(name, seconds=seconds, parallelism=pods, queue=queue, managed_by=None,
                       labels=labels,
                       annotations={"sandbox.regatta.dev/termination-share": "1" if grace else "0"})
    pod = made["spec"]["template"]["spec"]
    pod["terminationGracePeriodSeconds"] = grace or 1
    del pod["containers"][0]["resources"]["requests"]["memory"]
    if stuck:
        pod["schedulingGates"] = [{"name": "example.dev/never"}]
    return made


class Solo:
    """`config`: changes to the manager's configuration, by section."""

    def __init__(self, env, **config):
        self.cluster = env.cluster("solo", fleet="cpu")
        self.cluster.install_crds()
        self.kubectl, self.api = self.cluster.kubectl, self.cluster.api
        self.kubectl.apply(objects.namespace(objects.SYSTEM), objects.namespace(NS), flavor())
        self.cluster.start_manager(**config)
        self.cluster.wait_manager()
        self.examples = os.path.join(env.suite.root, "examples")

    def wait_for(self, what, check, timeout=30):
        return wait_for(what, check, timeout, self.cluster.check)

    def queues(self, *lists):
        """Applies the queues; returns when each ClusterQueue is Active."""
        self.kubectl.apply(*[o for made in lists for o in made])
        for queue in [o for made in lists for o in made if o["kind"] == "ClusterQueue"]:
            name = queue["metadata"]["name"]
            self.wait_for(f"ClusterQueue {name} is Active", lambda: is_true(
                self.api.get("clusterqueues", name), "Active"))

    def submit(self, *jobs):
        self.kubectl.create(*jobs)

    def patch(self, kind, name, patch, namespace=None, status=False):
        return self.api.request("PATCH", self.api.path(kind, name, namespace)
                                + ("/status" if status else ""), patch,
                                "application/merge-patch+json")

    def stop_policy(self, queue, policy):
        self.patch("clusterqueues", queue, {"spec": {"stopPolicy": policy}})

    def job(self, name):
        return self.api.get("jobs", name, NS)

    def workload(self, name):
        """The Workload of a job; None when there is none."""
        for found in self.api.list("workloads", NS):
            if any(o["name"] == name for o in found["metadata"].get("ownerReferences", [])):
                return found
        return None

    def pods(self, name):
        return [p["metadata"]["name"] for p in self.api.list("pods", NS)
                if any(o["name"] == name for o in p["metadata"].get("ownerReferences", []))
                and p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]

    def condition(self, name, kind):
        return condition(self.workload(name) or {}, kind)

    def wait_condition(self, name, kind, status, reason=None, timeout=30):
        """Returns the condition of the job's Workload."""
        return self.wait_for(f"{name} has {kind}={status} {reason or ''}", lambda: holding(
            self.workload(name) or {}, kind, status, reason), timeout)

    def wait_admitted(self, *names, timeout=30):
        for name in names:
            self.wait_condition(name, "Admitted", "True", timeout=timeout)

    def wait_running(self, *names, timeout=30):
        for name in names:
            def running():
                job = self.job(name)
                status = job.get("status", {})
                want = job["spec"].get("parallelism", 1)
                return status.get("active") == want and status.get("ready") == want or report(status)
            self.wait_for(f"job {name} runs", running, timeout)

    def remove(self, *names):
        """Deletes jobs; returns when their Workloads are gone."""
        self.kubectl.run("delete", "jobs", *names, "-n", NS, "--wait=false")
        self.wait_for(f"{names} are gone", lambda: not [n for n in names if self.workload(n)])

    def events(self, reason):
        """The notes of the events with that reason."""
        found = self.kubectl.run("get", "events", "-n", NS, "-o", "json").json()["items"]
        return [e.get("message") or e.get("note") for e in found if e["reason"] == reason]
