"""Jobs that grow and shrink while they run."""
import json
import os

from harness import objects
from harness.api import is_true
from harness.federation import report
from harness.suite import ROOT, scenario
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
