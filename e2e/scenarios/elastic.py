"""Jobs that grow and shrink while they run."""
import json
import os

from harness import objects
from harness.api import is_true
from harness.federation import report
from harness.suite import ROOT, interop, scenario
from harness.waiting import wait_for

GATE = "kueue.x-k8s.io/elastic-job"


@scenario
def elastic_job(env):
    """Pods beyond the quota wait behind a gate; a smaller job gives quota back at once."""
    cluster = env.cluster("cpu", fleet="cpu")
    cluster.kubectl.apply(objects.namespace(objects.SYSTEM))
    cluster.install_crds()
    cluster.kubectl.run("apply", "-f", os.path.join(ROOT, "examples/workers/cpu.yaml"))
    cluster.start_manager()
    cluster.wait_manager()
    job = objects.job("elastic", seconds=600, cpu="8", parallelism=2, managed_by=None,
                      annotations={GATE: "true"})
    job["spec"]["completions"] = 50

    def scale(count):
        cluster.kubectl.run("patch", "job", "elastic", "-n", objects.NAMESPACE, "--type=merge",
                            "-p", json.dumps({"spec": {"parallelism": count}}))

    def workloads():
        return [w for w in cluster.api.list("workloads", objects.NAMESPACE)
                if not is_true(w, "Finished")]

    def names():
        return [w["metadata"]["name"] for w in workloads()]

    def wait_pods(running, gated):
        def seen():
            pods = [p for p in cluster.api.list("pods", objects.NAMESPACE)
                    if "deletionTimestamp" not in p["metadata"]]
            runs = [p for p in pods if p["status"].get("phase") == "Running"]
            held = [p for p in pods if p["spec"].get("schedulingGates")]
            return ((len(runs), len(held)) == (running, gated)
                    or report({"running": len(runs), "gated": len(held)}))
        wait_for(f"{running} pods run and {gated} wait", seen, 40, cluster.check)

    cluster.kubectl.create(job)
    wait_pods(2, 0)
    first = names()[0]
    # 64 CPUs: eight pods, not ten.
    scale(10)
    wait_pods(2, 8)
    wait_for("there is a larger slice", lambda: len(workloads()) == 2 or report(names()), 20,
             cluster.check)
    scale(8)
    wait_pods(8, 0)
    wait_for("the larger slice took over", lambda: (
        len(found := names()) == 1 and found != [first] or report(found)), 20, cluster.check)
    scale(3)
    wait_pods(3, 0)

    def usage():
        queue = cluster.api.get("clusterqueues", "local")
        used = {r["name"]: r["total"] for f in queue["status"]["flavorsUsage"]
                for r in f["resources"]}
        return used["cpu"] == "24" or report(used)
    wait_for("quota of three pods is used", usage, 20, cluster.check)
    assert not cluster.api.get("jobs", "elastic", objects.NAMESPACE)["spec"]["suspend"]


class Growing:
    """An elastic job of a fleet with a worker of 64 CPUs, eight for each pod."""

    def __init__(self, fed):
        self.fed, self.hub = fed, fed.hub
        job = objects.job("elastic", seconds=600, cpu="8", parallelism=2, annotations={GATE: "true"})
        job["spec"]["completions"] = 50
        fed.submit(job)
        fed.wait_running("elastic", 60)
        # A hub of Kueue sends the job before it records the worker.
        self.where = fed.wait_winner("elastic")
        self.worker = fed.workers[self.where]
        self.uid = self.job()["metadata"]["uid"]

    def job(self):
        return self.worker.api.get("jobs", "elastic", objects.NAMESPACE)

    def scale(self, count):
        self.hub.kubectl.run("patch", "job", "elastic", "-n", objects.NAMESPACE, "--type=merge",
                             "-p", json.dumps({"spec": {"parallelism": count}}))

    def live(self):
        return [w for w in self.hub.api.list("workloads", objects.NAMESPACE)
                if not is_true(w, "Finished")]

    def wait_size(self, count):
        def seen():
            spec = self.job()["spec"]
            used = self.used(self.worker, "cpu")
            status = self.hub.api.get("jobs", "elastic", objects.NAMESPACE)["status"]
            state = (spec["parallelism"], used, status.get("active"))
            return state == (count, str(8 * count), count) or report(state)
        self.fed.wait_for(f"{count} pods run on {self.where}, and the hub shows it", seen, 60)
        self.check()

    @staticmethod
    def used(cluster, resource):
        """By the only Workload with quota; the queue's name differs from cluster to cluster."""
        return next((r["total"] for q in cluster.api.list("clusterqueues")
                     for f in q.get("status", {}).get("flavorsReservation", [])
                     for r in f["resources"] if r["name"] == resource and r["total"] != "0"), "0")

    def check(self):
        """It is the same one that was begun there, it never stopped, and nothing is elsewhere."""
        assert self.job()["metadata"]["uid"] == self.uid, "the job was made anew"
        assert self.fed.ran_on("elastic") == [self.where], self.fed.ran_on("elastic")
        assert self.fed.observers[self.where].runs(objects.NAMESPACE, "elastic") == 1, "it was stopped"
        for name, worker in self.fed.workers.items():
            if name != self.where:
                assert not worker.api.list("jobs", objects.NAMESPACE), f"{name} has a job"

    def play(self):
        self.scale(4)
        self.wait_size(4)
        self.scale(1)
        self.wait_size(1)
        self.scale(3)
        self.wait_size(3)


@scenario
def elastic_job_of_a_fleet(env):
    """A job grows and shrinks on the worker that runs it, while the hub's manager dies; what its worker
    has no room for waits, and the job goes on."""
    fed = env.federate(workers=("h100", "cpu"))
    growing = Growing(fed)
    growing.play()
    fed.hub.kill_manager()
    growing.scale(2)
    fed.hub.restart_manager()
    growing.wait_size(2)
    growing.scale(12)  # more than the 80 CPUs of the larger worker
    fed.wait_for("the larger slice waits for the worker", lambda: len(
        growing.worker.api.list("workloads", objects.NAMESPACE)) == 2)
    assert growing.job()["spec"]["parallelism"] == 2
    growing.scale(5)
    growing.wait_size(5)
    fed.wait_for("one slice is left there", lambda: len(
        growing.worker.api.list("workloads", objects.NAMESPACE)) == 1)
    fed.hub.kubectl.run("delete", "job", "elastic", "-n", objects.NAMESPACE)
    fed.wait_workers_empty(60)


@interop
def elastic_job_on_upstream_workers(env):
    """Upstream's workers let it grow and shrink without a stop."""
    Growing(env.federate(workers=("h100", "cpu"), upstream=("h100", "cpu"))).play()


@interop
def elastic_job_of_upstream_hub(env):
    """Our workers let an upstream hub's job grow and shrink without a stop."""
    Growing(env.federate(workers=("h100", "cpu"), upstream=("hub",))).play()
