"""The manifests of examples/kinds, applied as they are."""
import pathlib

from harness import kinds, objects
from harness.federation import holding
from harness.suite import scenario
from scenarios.kinds import OneCluster
from scenarios.pods import LWS, Site, queue_of

NS = objects.NAMESPACE
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "kinds"
QUEUE = "user-queue"


def apply(jobs, name):
    """Returns the names of what was made."""
    done = jobs.cluster.kubectl.run("apply", "-n", NS, "-f", EXAMPLES / f"{name}.yaml", "-o", "name")
    return [line.split("/")[1] for line in done.out.split()]


def are_admitted(env, wanted):
    jobs = OneCluster(env, wanted)
    jobs.cluster.kubectl.apply(*queue_of(QUEUE, 100))
    names = {kind: apply(jobs, kind.name.lower())[-1] for kind in (*wanted, kinds.JOB)}
    for kind, name in names.items():
        jobs.wait_for(f"{kind.name} {name} is admitted",
                      lambda: jobs.holding(kind, name, "Admitted", "True"))


@scenario
def examples_of_kinds(env):
    """An example of each kind gets a Workload, which is admitted."""
    are_admitted(env, kinds.DIVERSE)


@scenario
def examples_of_training_kinds(env):
    """The same with the kinds of the training operator and of the trainer."""
    are_admitted(env, kinds.TRAINING)


@scenario
def examples_of_pods(env):
    """Pods of a group may start; what acts through its Pods gets Workloads, or hands its queue on."""
    site = Site(env, ("pod", "statefulset", "deployment", f"{LWS}/leaderworkerset"), {QUEUE: 100},
                [kinds.crd_file(f"{LWS}_leaderworkersets.yaml")])
    pods = apply(site, "pod-group")

    def started():
        found = [p for p in site.api.list("pods", NS) if p["metadata"]["name"] in pods]
        return len(found) == 2 and not any(p["spec"].get("schedulingGates") for p in found)
    site.wait_for("both Pods may start", started)
    web = apply(site, "deployment")[0]
    told = site.cluster.kubectl.run("get", "-n", NS, "deployment", web, "-o",
                                    "jsonpath={.spec.template.metadata.labels}").out
    assert QUEUE in told, told
    for kind, count in (("StatefulSet", 1), ("LeaderWorkerSet", 2)):
        name = apply(site, kind.lower())[0]

        def admitted():
            owned = [w for w in site.api.list("workloads", NS) if any(
                (o["kind"], o["name"]) == (kind, name)
                for o in w["metadata"].get("ownerReferences", []))]
            return len(owned) == count and all(holding(w, "Admitted", "True") for w in owned)
        site.wait_for(f"the Workloads of {kind} {name} are admitted", admitted)
