"""Placements of Open Cluster Management choose the workers; the scenarios write the decisions."""
import json
import os

from harness import objects
from harness.api import condition, is_true
from harness.federation import report
from harness.helm import PLACEMENT_CHART, Helm
from harness.kinds import crd_file
from harness.suite import ROOT, Skip, interop, scenario

DISPATCHER = {"multiKueue": {"gcInterval": "2s", "dispatcherName": "multikueue.regatta.dev/placement"}}
BY_ANOTHER = {"multiKueue": {"gcInterval": "2s", "dispatcherName": "example.com/by-placements"}}
OCM = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces"
API = "cluster.open-cluster-management.io/v1beta1"


def define(fed):
    fed.hub.kubectl.run("apply", "-f", os.path.join(ROOT, "examples/placement/ocm.yaml"))
    fed.hub.wait_kinds()


def make_placement(fed, name, namespace):
    fed.hub.kubectl.apply({"apiVersion": API, "kind": "Placement",
                           "metadata": {"name": name, "namespace": namespace}, "spec": {}})


def decide(fed, name, namespace, *clusters):
    """What OCM writes when a Placement has chosen these clusters."""
    decision = f"{name}-decision-1"
    fed.hub.kubectl.apply({
        "apiVersion": API, "kind": "PlacementDecision",
        "metadata": {"name": decision, "namespace": namespace,
                     "labels": {"cluster.open-cluster-management.io/placement": name,
                                "cluster.open-cluster-management.io/decision-group-index": "0"}}})
    for kind, one, status in (
            ("placementdecisions", decision,
             {"decisions": [{"clusterName": c, "reason": ""} for c in clusters]}),
            ("placements", name, {"numberOfSelectedClusters": len(clusters)})):
        fed.hub.api.request("PATCH", f"{OCM}/{namespace}/{kind}/{one}/status", {"status": status},
                            "application/merge-patch+json")


def use_for_queue(fed, name):
    fed.hub.kubectl.run("annotate", "localqueue", "default", "-n", objects.NAMESPACE,
                        f"multikueue.regatta.dev/placement={name}", "--overwrite")


def flips(fed):
    """What a running and a waiting job do when a decision of the scenario's changes."""
    define(fed)
    make_placement(fed, "best", objects.NAMESPACE)
    follow(fed, lambda cluster: decide(fed, "best", objects.NAMESPACE, cluster))


def follow(fed, choose):
    """A running job stays where it is when the decision of Placement `best` changes; a waiting one
    follows. `choose` makes the Placement decide for that cluster alone."""
    use_for_queue(fed, "best")
    fed.submit(objects.job("early", seconds=12))
    fed.wait_for("it has quota", lambda: is_true(fed.workload_of("early"), "QuotaReserved"), 30)
    assert not fed.workload_of("early")["status"].get("nominatedClusterNames")
    choose("cpu")
    fed.wait_winner("early", 60)
    fed.submit(objects.job("follows", gpus=2))

    def nominated(*clusters):
        seen = fed.workload_of("follows")["status"].get("nominatedClusterNames")
        return seen == list(clusters) or report(seen)
    fed.wait_for("it is nominated for cpu, which has no GPU", lambda: nominated("cpu"), 30)
    choose("h100")
    fed.wait_complete(["early", "follows"])
    assert fed.winner_of("early") == "cpu", fed.winner_of("early")
    assert fed.winner_of("follows") == "h100", fed.winner_of("follows")
    fed.wait_workers_empty()
    fed.check_ran_once(["early", "follows"])


@scenario
def placements_choose(env):
    """Jobs run where their queue's Placement decided, and follow it while they wait."""
    flips(env.federate(workers=("cpu", "h100"), hub_config=DISPATCHER))


def make_check(fed, name):
    """A Placement that has not decided, and the AdmissionCheck that names it."""
    make_placement(fed, name, objects.SYSTEM)
    fed.hub.kubectl.apply({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
        "metadata": {"name": "placement"},
        "spec": {"controllerName": "open-cluster-management.io/placement",
                 "parameters": {"apiGroup": "cluster.open-cluster-management.io",
                                "kind": "Placement", "name": name}}})


def check_follows(fed, name):
    """The check is active once its Placement has decided for h100."""
    def active(reason):
        seen = condition(fed.hub.api.get("admissionchecks", "placement"), "Active")
        return bool(seen and seen["reason"] == reason) or report(seen)
    fed.wait_for("the check has no clusters", lambda: active("NoClustersAvailable"), 60)
    decide(fed, name, objects.SYSTEM, "h100")
    fed.wait_for("the check is active", lambda: active("Active"), 30)


@scenario
def placement_check(env):
    """A ClusterQueue lists the check of OCM's add-on beside MultiKueue's, and dispatches."""
    fed = env.federate(workers=("cpu", "h100"))
    define(fed)
    make_check(fed, "gpus")
    both = {"spec": {"admissionChecksStrategy": {
        "admissionChecks": [{"name": "multikueue"}, {"name": "placement"}]}}}
    fed.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p", json.dumps(both))
    check_follows(fed, "gpus")
    fed.submit(objects.job("placed"))
    fed.wait_complete(["placed"])
    assert fed.winner_of("placed") == "h100", fed.winner_of("placed")
    assert not fed.observers["cpu"].jobs_seen(), "cpu was not chosen"


def start_placement(fed):
    fed.hub.start_program("placement", "--kubeconfig", fed.hub.kubeconfig(),
                          "--namespace", objects.SYSTEM, component="placement")


@scenario
def placement_apart(env):
    """`regatta placement` nominates on a hub whose manager leaves that to another program."""
    fed = env.federate(workers=("cpu", "h100"), hub_config=BY_ANOTHER)
    start_placement(fed)
    flips(fed)


def objects_in(cluster):
    """The names of all objects but Events: {"kind.group/name"}."""
    kinds = cluster.kubectl.run("api-resources", "--verbs=list", "-o", "name").out.split()
    kinds = sorted(kind for kind in kinds if kind.split(".")[0] != "events")
    listed = cluster.kubectl.run("get", ",".join(kinds), "-A", "-o", "name", "--ignore-not-found")
    return set(listed.out.split())


@scenario
def helm_installs_placement(env):
    """`regatta placement` as its chart installs it nominates with the rights of the chart alone. Its
    release goes without what users made."""
    fed = env.federate(workers=("cpu", "h100"), hub_config=BY_ANOTHER)
    hub = fed.hub
    helm = Helm(hub)
    define(fed)
    before = objects_in(hub)
    helm.install("by-ocm", PLACEMENT_CHART)
    installed = objects_in(hub) - before
    assert len(installed) == 7, installed  # six of the chart, and the release itself
    helm.start_placement()
    flips(fed)
    fed.wait_for("an Event says what was nominated", lambda: any(
        e["reason"] == "NominatedByPlacement" for e in hub.api.list("events", objects.NAMESPACE)))
    assert hub.stop_manager() == 0  # it would write the condition of the check, too
    make_check(fed, "gpus")
    check_follows(fed, "gpus")
    assert not (refused := helm.refused(PLACEMENT_CHART)), refused

    program = hub.processes.pop("placement")
    lease = hub.api.get("leases", PLACEMENT_CHART, objects.SYSTEM)
    assert lease["spec"]["holderIdentity"], lease
    assert program.stop() == 0
    lease = hub.api.get("leases", PLACEMENT_CHART, objects.SYSTEM)
    assert not lease["spec"].get("holderIdentity"), lease

    used = objects_in(hub)
    helm.run("uninstall", "by-ocm")
    left = objects_in(hub)
    assert used - left == installed, f"{used - left} went with the release"
    made = {name.split("/")[0].split(".")[0] for name in left - before}
    users = {"placement", "placementdecision", "admissioncheck", "job", "workload"}
    assert made == {*users, "lease"}, left - before


@interop
def placement_on_upstream_hub(env):
    """`regatta placement` nominates on a hub that upstream's manager runs, which clears what it
    nominated when a worker is chosen."""
    fed = env.federate(workers=("cpu", "h100"), upstream=("hub",), hub_config=DISPATCHER)
    start_placement(fed)
    flips(fed)


OCM_HUB = "open-cluster-management-hub"
OCM_CRDS = ("managedclusters", "managedclustersets", "managedclustersetbindings", "placements",
            "placementdecisions", "addonplacementscores")


def managed_cluster(name):
    return {"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": name,
                         "labels": {"cluster.open-cluster-management.io/clusterset": "fleet"}},
            "spec": {"hubAcceptsClient": True}}


def start_ocm(fed, program, crds):
    """OCM's placement controller, and the workers as ManagedClusters of one set."""
    hub = fed.hub
    hub.define(*crds)
    hub.kubectl.apply(objects.namespace(OCM_HUB))
    hub.start_other("ocm-placement", [program, "controller", f"--kubeconfig={hub.kubeconfig()}",
                                      f"--namespace={OCM_HUB}"],
                    {"POD_NAME": "placement", "POD_NAMESPACE": OCM_HUB})
    sets = "cluster.open-cluster-management.io/v1beta2"
    hub.kubectl.apply(
        *[managed_cluster(name) for name in fed.workers],
        {"apiVersion": sets, "kind": "ManagedClusterSet", "metadata": {"name": "fleet"}},
        {"apiVersion": sets, "kind": "ManagedClusterSetBinding",
         "metadata": {"name": "fleet", "namespace": objects.NAMESPACE},
         "spec": {"clusterSet": "fleet"}},
        {"apiVersion": API, "kind": "Placement",
         "metadata": {"name": "best", "namespace": objects.NAMESPACE},
         "spec": {"predicates": [{"requiredClusterSelector": {
             "labelSelector": {"matchLabels": {"chosen": "yes"}}}}]}})


@scenario
def placement_by_ocm(env):
    """OCM's own controller decides, by labels of ManagedClusters."""
    program = os.path.join(env.suite.assets or "", "ocm-placement")
    if not os.access(program, os.X_OK):
        raise Skip("it needs KUBEBUILDER_ASSETS with ocm-placement")
    crds = [crd_file(f"clusters.open-cluster-management.io_{name}.yaml") for name in OCM_CRDS]
    fed = env.federate(workers=("cpu", "h100"), hub_config=DISPATCHER)
    start_ocm(fed, program, crds)

    def choose(chosen):
        for name in fed.workers:
            label = "chosen=yes" if name == chosen else "chosen-"
            fed.hub.kubectl.run("label", "managedcluster", name, label, "--overwrite")
    follow(fed, choose)
