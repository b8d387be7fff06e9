"""Placements, their decisions and the checks that name them change, fail and go while jobs wait."""
import datetime
import json
import os

import yaml

from harness import objects
from harness.api import condition
from harness.federation import report
from harness.suite import ROOT, scenario
from harness.waiting import wait_for

from .placement import (API, BY_ANOTHER, DISPATCHER, OCM, decide, define, make_check,
                        make_placement, use_for_queue)

CHECK = "open-cluster-management.io/placement"


def wait_nominated(fed, name, *clusters):
    def nominated():
        seen = fed.workload_of(name)["status"].get("nominatedClusterNames")
        return seen == list(clusters) or report(seen)
    fed.wait_for(f"{name} is nominated for {clusters}", nominated, 30)


def wait_told(fed, name, text):
    """Until an Event of the job's Workload says why there is no nomination."""
    def told():
        workload = fed.workload_of(name)["metadata"]["name"]
        said = [e["message"] for e in fed.hub.api.list("events", objects.NAMESPACE)
                if e["reason"] == "NotNominated" and e["involvedObject"]["name"] == workload]
        return any(text in message for message in said) or report(said)
    fed.wait_for(f"{name} is told that {text}", told, 30)


def nothing_to_choose(env, take_away, why, give_back):
    """A job runs and one is nominated when the Placement has no clusters any more: both keep what
    they have. A job that comes then waits, until there are clusters again."""
    fed = env.federate(workers=("cpu", "h100"), hub_config=DISPATCHER)
    define(fed)
    make_placement(fed, "best", objects.NAMESPACE)
    use_for_queue(fed, "best")
    decide(fed, "best", objects.NAMESPACE, "cpu")
    fed.submit(objects.job("runs", seconds=3600))
    assert fed.wait_running("runs") == "cpu"
    fed.submit(objects.job("waits", gpus=2))
    wait_nominated(fed, "waits", "cpu")
    take_away(fed)
    fed.submit(objects.job("late"))
    wait_told(fed, "late", why)
    assert not fed.workload_of("late")["status"].get("nominatedClusterNames")
    wait_nominated(fed, "waits", "cpu")
    give_back(fed)
    fed.wait_complete(["waits", "late"])
    assert (fed.winner_of("waits"), fed.winner_of("late")) == ("h100", "h100")
    assert fed.wait_running("runs") == "cpu"
    fed.check_ran_once(["runs", "waits", "late"])
    fed.hub.kubectl.run("delete", "job", "runs", "-n", objects.NAMESPACE)
    fed.wait_workers_empty()


@scenario
def placement_empties(env):
    """An empty decision after a full one stops nothing, and starts nothing."""
    nothing_to_choose(env,
                      lambda fed: decide(fed, "best", objects.NAMESPACE),
                      "Placement team-research/best has chosen no cluster",
                      lambda fed: decide(fed, "best", objects.NAMESPACE, "h100"))


@scenario
def placement_goes(env):
    """A Placement that is deleted while jobs run stops nothing; its decision does not count, even
    while it stays behind."""
    def again(fed):
        fed.hub.kubectl.run("delete", f"placementdecisions.{API.split('/')[0]}", "best-decision-1",
                            "-n", objects.NAMESPACE)
        make_placement(fed, "best", objects.NAMESPACE)
        decide(fed, "best", objects.NAMESPACE, "h100")
    nothing_to_choose(env,
                      lambda fed: fed.hub.kubectl.run("delete", f"placements.{API.split('/')[0]}",
                                                      "best", "-n", objects.NAMESPACE),
                      "Placement team-research/best does not exist", again)


def list_checks(fed, *names):
    """The checks of the hub's ClusterQueue."""
    checks = {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": n} for n in names]}}}
    fed.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p", json.dumps(checks))


def add_check(fed, name, placement):
    fed.hub.kubectl.apply({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": CHECK,
                 "parameters": {"apiGroup": API.split("/")[0], "kind": "Placement",
                                "name": placement}}})


def wait_active(fed, kind, name, reason, status="True"):
    def active():
        seen = condition(fed.hub.api.get(kind, name), "Active")
        return bool(seen and (seen["status"], seen["reason"]) == (status, reason)) or report(seen)
    fed.wait_for(f"{name} is {reason}", active, 30)


@scenario
def placement_check_renamed(env):
    """The check is deleted while jobs wait, and made anew under another name for the same
    Placement. Meanwhile no worker is asked that the Placement did not choose."""
    fed = env.federate()
    define(fed)
    make_check(fed, "gpus")
    list_checks(fed, "multikueue", "placement")
    decide(fed, "gpus", objects.SYSTEM, "cpu")
    wait_active(fed, "admissionchecks", "placement", "Active")
    # Several, because a free choice would be a100 for some of them.
    follow = fed.submit(*[objects.job(f"follows-{i}", gpus=1) for i in range(3)])
    for name in follow:
        wait_nominated(fed, name, "cpu")
    # It stays for as long as a ClusterQueue lists it.
    fed.hub.kubectl.run("delete", "admissioncheck", "placement", "--wait=false")
    list_checks(fed, "multikueue", "chosen")
    wait_active(fed, "clusterqueues", "fleet", "AdmissionCheckNotFound", "False")
    fed.wait_for("the check is gone", lambda: not fed.hub.api.find("admissionchecks", "placement"))
    late = fed.submit(*[objects.job(f"late-{i}", gpus=1) for i in range(3)])
    for name in follow:
        fed.wait_for(f"{name} has another check", lambda: states(fed, name) == {
            "multikueue": "Pending", "chosen": "Pending"}, 30)
    decide(fed, "gpus", objects.SYSTEM, "h100")
    add_check(fed, "chosen", "gpus")
    fed.wait_complete(follow + late)
    assert {fed.winner_of(name) for name in follow + late} == {"h100"}
    assert not fed.observers["a100"].jobs_seen(), "a100 was never chosen"
    fed.wait_workers_empty()


@scenario
def placement_checks_share(env):
    """Two checks name one Placement: a job needs both, and either goes without the other."""
    fed = env.federate(workers=("cpu", "h100"))
    define(fed)
    make_check(fed, "gpus")
    add_check(fed, "second", "gpus")
    list_checks(fed, "multikueue", "placement", "second")
    for name in ("placement", "second"):
        wait_active(fed, "admissionchecks", name, "NoClustersAvailable", "False")
    fed.submit(objects.job("both"))
    decide(fed, "gpus", objects.SYSTEM, "h100")
    for name in ("placement", "second"):
        wait_active(fed, "admissionchecks", name, "Active")
    fed.wait_complete(["both"])
    assert states(fed, "both") == dict.fromkeys(("multikueue", "placement", "second"), "Ready")
    list_checks(fed, "multikueue", "second")
    fed.hub.kubectl.run("delete", "admissioncheck", "placement")
    decide(fed, "gpus", objects.SYSTEM, "cpu")
    fed.submit(objects.job("one"))
    fed.wait_complete(["one"])
    assert (fed.winner_of("both"), fed.winner_of("one")) == ("h100", "cpu")
    wait_active(fed, "admissionchecks", "second", "Active")
    assert fed.hub.api.get("multikueueconfigs", "fleet")["spec"]["clusters"] == ["cpu", "h100"]


def states(fed, name):
    """The states of the checks of a job's Workload."""
    checks = (fed.workload_of(name) or {}).get("status", {}).get("admissionChecks", [])
    return {check["name"]: check["state"] for check in checks}


ACCOUNT = "placement-reader"


def account_rules():
    """The rules of the ClusterRole in the examples."""
    with open(os.path.join(ROOT, "examples/rbac/placement.yaml"), encoding="utf-8") as f:
        return next(o for o in yaml.safe_load_all(f) if o["kind"] == "ClusterRole")["rules"]


def grant(fed, rules):
    rbac = "rbac.authorization.k8s.io"
    fed.hub.kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": ACCOUNT, "namespace": objects.SYSTEM}},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": ACCOUNT},
         "rules": rules},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": ACCOUNT},
         "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": ACCOUNT},
         "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": objects.SYSTEM}]})


@scenario
def placement_unreadable(env):
    """While Placements cannot be read, what they decided before counts; a later decision is followed
    once they can be read again."""
    fed = env.federate(workers=("cpu", "h100"), hub_config=BY_ANOTHER)
    hub = fed.hub
    define(fed)
    make_placement(fed, "best", objects.NAMESPACE)
    use_for_queue(fed, "best")
    decide(fed, "best", objects.NAMESPACE, "cpu")
    rules = account_rules()
    grant(fed, rules)
    path = os.path.join(hub.folder, "placement.kubeconfig")
    with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
        json.dump(hub.kubeconfig_with_token(hub.token_for(objects.SYSTEM, ACCOUNT)), out)
    hub.start_program("placement", "--kubeconfig", path, "--namespace", objects.SYSTEM,
                      "--leader-elect=false", "--health-probe-bind-address=0",
                      component="placement")
    fed.submit(objects.job("first"))
    fed.wait_complete(["first"])
    grant(fed, [rule for rule in rules if API.split("/")[0] not in rule["apiGroups"]])
    # Watches that are open stay; a server that starts anew has none, and refuses to list.
    hub.kill_server()
    hub.restart_server()
    decide(fed, "best", objects.NAMESPACE, "h100")
    fed.submit(objects.job("known"), objects.job("follows", gpus=2))
    fed.wait_complete(["first", "known"])
    wait_nominated(fed, "follows", "cpu")
    grant(fed, rules)
    fed.wait_complete(["follows"], 90)
    winners = [fed.winner_of(name) for name in ("first", "known", "follows")]
    assert winners == ["cpu", "cpu", "h100"], winners


# --- more clusters than a workload may have, on a hub that the scenario plays

ROUND = 300  # seconds after which the next clusters have their turn
LIMIT = 20  # of the CRDs


def ago(seconds):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def set_status(hub, path, status):
    hub.api.request("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")


def make_workload(hub, name, seconds):
    """A Workload that got its quota so many seconds ago, and waits for a worker."""
    where = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{objects.NAMESPACE}/workloads"
    hub.kubectl.apply({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": name, "namespace": objects.NAMESPACE},
        "spec": {"queueName": "default", "podSets": [{"name": "main", "count": 1, "template": {
            "spec": {"restartPolicy": "Never",
                     "containers": [{"name": "main", "image": "registry.example/work:1"}]}}}]}})
    set_status(hub, f"{where}/{name}", {
        "admission": {"clusterQueue": "fleet",
                      "podSetAssignments": [{"name": "main", "count": 1}]},
        "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
                        "message": "", "lastTransitionTime": ago(seconds)}],
        "admissionChecks": [{"name": "multikueue", "state": "Pending", "message": "",
                             "lastTransitionTime": ago(seconds)}]})


def decide_in_groups(hub, namespace, name, groups):
    """A decision of several groups, in parts that are numbered on. `groups`: (name, clusters)."""
    labels = "cluster.open-cluster-management.io/"
    for index, (group, clusters) in enumerate(groups):
        part = f"{name}-decision-{index + 1}"
        hub.kubectl.apply({
            "apiVersion": API, "kind": "PlacementDecision",
            "metadata": {"name": part, "namespace": namespace, "labels": {
                f"{labels}placement": name, f"{labels}decision-group-index": str(index),
                f"{labels}decision-group-name": group}}})
        set_status(hub, f"{OCM}/{namespace}/placementdecisions/{part}",
                   {"decisions": [{"clusterName": c, "reason": ""} for c in clusters]})
    set_status(hub, f"{OCM}/{namespace}/placements/{name}",
               {"numberOfSelectedClusters": sum(len(clusters) for _, clusters in groups)})


def big_fleet(env, clusters):
    """A hub without a manager whose MultiKueueClusters are all Active, and LIMIT of them listed."""
    hub = env.cluster("hub")
    hub.kubectl.apply(objects.namespace(objects.SYSTEM))
    hub.install_crds()
    for example in ("hub/queues.yaml", "hub/multikueue.yaml", "placement/ocm.yaml"):
        hub.kubectl.run("apply", "-f", os.path.join(ROOT, "examples", example))
    hub.wait_kinds()
    hub.kubectl.apply(*[{
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster",
        "metadata": {"name": name},
        "spec": {"clusterSource": {"kubeConfig": {"locationType": "Secret", "location": name}}},
    } for name in clusters])
    for name in clusters:
        set_status(hub, f"/apis/kueue.x-k8s.io/v1beta2/multikueueclusters/{name}", {
            "conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "",
                            "lastTransitionTime": ago(0)}]})
    return hub


@scenario
def placement_of_many(env):
    """A Placement that chose more clusters than the API allows: those of the MultiKueueConfig are
    nominated in the order of its groups, a few at a time, and the next ones when it is their turn."""
    clusters = [f"w{i:02}" for i in range(LIMIT + 5)]
    hub = big_fleet(env, clusters)
    several = lambda names: json.dumps({"spec": {"clusters": names}})
    patch = ("patch", "multikueueconfig", "fleet", "--type=merge", "-p")
    refused = hub.kubectl.try_run(*patch, several(clusters))
    assert refused.code != 0 and str(LIMIT) in refused.text, refused.text
    listed = clusters[5:]
    hub.kubectl.run(*patch, several(listed))

    hub.kubectl.apply({"apiVersion": API, "kind": "Placement", "spec": {},
                       "metadata": {"name": "many", "namespace": objects.NAMESPACE}})
    hub.kubectl.run("annotate", "localqueue", "default", "-n", objects.NAMESPACE,
                    "multikueue.regatta.dev/placement=many")
    backwards = clusters[::-1]
    decide_in_groups(hub, objects.NAMESPACE, "many",
                     [("zone-z", backwards[15:]), ("zone-a", backwards[:15])])
    best = [name for name in backwards[15:] + backwards[:15] if name in listed]

    def start(*flags):
        hub.start_program("placement", "--kubeconfig", hub.kubeconfig(), "--namespace",
                          objects.SYSTEM, "--leader-elect=false", "--health-probe-bind-address=0",
                          *flags, component="placement")

    def wait_for_clusters(name, wanted, timeout=30):
        def nominated():
            seen = hub.api.get("workloads", name, objects.NAMESPACE)["status"].get(
                "nominatedClusterNames")
            return seen == wanted or report(seen)
        wait_for(f"{name} is nominated for {wanted}", nominated, timeout, hub.check)

    start()
    make_workload(hub, "all", 0)
    wait_for_clusters("all", best)
    assert hub.processes.pop("placement").stop() == 0

    start("--at-once=8")
    make_workload(hub, "new", 0)
    wait_for_clusters("new", best[:8])
    make_workload(hub, "older", 2 * ROUND)
    wait_for_clusters("older", best[16:])
    make_workload(hub, "round-again", 3 * ROUND)
    wait_for_clusters("round-again", best[:8])
    make_workload(hub, "turns", ROUND - 12)
    wait_for_clusters("turns", best[:8], 10)
    wait_for_clusters("turns", best[8:16])
