"""Workers that are made of the ManagedClusters of Open Cluster Management. The scenarios do what its
agents do on a worker: they make the account, apply the rights, and write the token."""
import base64
import json
import os
import subprocess

from harness import objects
from harness.federation import Federation, report
from harness.helm import PLACEMENT_CHART, Helm
from harness.kinds import crd_file
from harness.suite import interop, scenario

from .connections import check_untold

ACCOUNT, AGENT_NS = "multikueue", "open-cluster-management-agent-addon"
MANAGER = objects.user_of("regatta-manager")
CLUSTER_API = "cluster.open-cluster-management.io/v1"
PERMISSIONS = "/apis/rbac.open-cluster-management.io/v1alpha1/namespaces"


class Joining(Federation):
    """A hub that makes workers of ManagedClusters, and the workers' agents, which are the scenario."""

    def __init__(self, suite, folder, workers, hub_config, **options):
        super().__init__(suite, folder, workers=workers, connect=False, hub_config=hub_config,
                         definitions={"hub": [crd_file("managed_clusters.yaml")]}, **options)

    def prepare(self, cluster, example):
        if cluster is not self.hub:
            cluster.kubectl.apply(objects.namespace(AGENT_NS))
        super().prepare(cluster, example)

    def _set_up_hub(self):
        """No worker is registered."""
        self.hub.kubectl.apply(
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
             "metadata": {"name": "multikueue"},
             "spec": {"controllerName": objects.MULTIKUEUE, "parameters": {
                 "apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "fleet"}}},
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueConfig",
             "metadata": {"name": "fleet"}, "spec": {"clusters": list(self.workers)}})

    def join_all(self):
        """All workers and the hub itself. Returns the tokens by worker."""
        self.join("local-cluster", self.hub.url(), self.hub.ca_data())
        tokens = {}
        for name, worker in self.workers.items():
            self.join(name, worker.url(), worker.ca_data())
            permission, _ = self.requested(name)
            tokens[name] = [self.give_token(name)]
            assert not self.hub.api.find("multikueueclusters", name), "its rights are not applied"
            self.apply_rights(name, permission)
        self.wait_connected(self.workers, 90)
        self.wait_queue_active()
        return tokens

    def join(self, name, url, ca_data):
        self.hub.kubectl.apply(objects.namespace(name), {
            "apiVersion": CLUSTER_API, "kind": "ManagedCluster", "metadata": {"name": name},
            "spec": {"hubAcceptsClient": True, "managedClusterClientConfigs": [
                {"url": url, "caBundle": ca_data}]}})

    def requested(self, name):
        """The ClusterPermission and the ManagedServiceAccount, once the hub has asked for them."""
        def both():
            return [self.found(kind, name) for kind in ("clusterpermission",
                                                        "managedserviceaccount")]
        return self.wait_for(f"{name} is asked for", lambda: all(both()) and both(), 60)

    def found(self, kind, namespace, name=ACCOUNT):
        done = self.hub.kubectl.run("get", kind, name, "-n", namespace, "-o", "json",
                                    "--ignore-not-found")
        return done.json() if done.out.strip() else None

    def apply_rights(self, name, permission):
        """What the work agent does, and what the hub hears of it."""
        rbac = "rbac.authorization.k8s.io"
        self.workers[name].kubectl.apply(
            {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": ACCOUNT},
             "rules": permission["spec"]["clusterRole"]["rules"]},
            {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": ACCOUNT},
             "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": ACCOUNT},
             "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": AGENT_NS}]})
        said = {"type": "AppliedRBACManifestWork", "status": "True", "reason": "Applied",
                "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.hub.api.request("PATCH", f"{PERMISSIONS}/{name}/clusterpermissions/{ACCOUNT}/status",
                             {"status": {"conditions": [said]}}, "application/merge-patch+json")

    def give_token(self, name):
        """What the agent of managed-serviceaccount does. Returns the token."""
        worker = self.workers[name]
        worker.kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                              "metadata": {"name": ACCOUNT, "namespace": AGENT_NS}})
        token = worker.token_for(AGENT_NS, ACCOUNT)
        self.hub.kubectl.apply({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": ACCOUNT, "namespace": name, "labels": {
                "authentication.open-cluster-management.io/is-managed-serviceaccount": "true"}},
            "data": {"token": base64.b64encode(token.encode()).decode(), "ca.crt": worker.ca_data()}})
        return token

    def kubeconfig(self, name):
        secret = self.hub.api.find("secrets", f"multikueue-{name}", objects.SYSTEM)
        return base64.b64decode(secret["data"]["kubeconfig"]).decode() if secret else ""

    def wait_lacking(self, name, reason, status="True"):
        def told():
            member = self.hub.api.get("multikueueclusters", name)
            all_said = member.get("status", {}).get("conditions", [])
            said = next((c for c in all_said if c["type"] == "CredentialsLacking"), None)
            same = said and (said["reason"], said["status"]) == (reason, status)
            return bool(same) or report(all_said)
        self.wait_for(f"{name}: {reason}", told, 60)


class Managed(Joining):
    """Its manager asks OCM, with the rights of the examples and no more."""

    def __init__(self, suite, folder, workers):
        super().__init__(suite, folder, workers, {
            "metrics": {"secureServing": False},
            "multiKueue": {"gcInterval": "2s", "workerLostTimeout": "5s",
                           "managedClusters": {"accounts": "Request"}}})

    def prepare(self, cluster, example):
        if cluster is not self.hub:
            super().prepare(cluster, example)
            return
        cluster.install_crds()
        cluster.define(*self.definitions["hub"])
        cluster.kubectl.run("apply", "-f", self.example(example))
        cluster.kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {
            "name": "regatta-manager", "namespace": objects.SYSTEM}})
        for file in ("manager.yaml", "managed-clusters.yaml"):
            with open(self.example(f"rbac/{file}"), encoding="utf-8") as f:
                text = f.read().replace("kind: User\n    name: regatta-manager",
                                        f"kind: User\n    name: {MANAGER}")
            path = os.path.join(cluster.folder, file)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            cluster.kubectl.run("apply", "-f", path)
        path = os.path.join(cluster.folder, "limited.kubeconfig")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(cluster.kubeconfig_with_token(
                cluster.token_for(objects.SYSTEM, "regatta-manager")), f)
        cluster.start_replica("manager", path, **self.hub_config)
        cluster.wait_manager()


@scenario
def workers_of_managed_clusters(env):
    """Two ManagedClusters become workers and run Jobs; the token of one rotates while a Job runs, and
    goes away; the other one leaves; a cluster of another user's and the hub itself are left alone."""
    fed = env.federation = Managed(env.suite, env.folder, ("cpu", "h100"))
    fed.up()
    tokens = come_and_go(fed)
    check_untold(fed, [token for some in tokens.values() for token in some])


def come_and_go(fed):
    """All join and race; a token rotates, a worker leaves. Returns the tokens by worker."""
    tokens = fed.join_all()
    names = fed.submit(*[objects.job(f"race-{i}") for i in range(4)])
    fed.wait_complete(names)
    fed.check_ran_once(names)
    rotate_and_lose(fed, tokens["cpu"])
    leave(fed, "h100")
    assert not fed.found("managedserviceaccount", "local-cluster")
    assert not fed.hub.api.find("multikueueclusters", "local-cluster")
    return tokens


def join_by_placement(env, **options):
    """The hub's manager knows nothing of ManagedClusters; `regatta placement` of the chart does."""
    fed = env.federation = Joining(env.suite, env.folder, ("cpu", "h100"), {
        "multiKueue": {"gcInterval": "2s", "workerLostTimeout": "5s"}}, **options)
    fed.up()
    helm = Helm(fed.hub)
    helm.install("by-ocm", PLACEMENT_CHART,
                 {"managedClusters": {"enabled": True, "settings": {"accounts": "Request"}}})
    helm.start_placement()
    come_and_go(fed)
    assert not (refused := helm.refused(PLACEMENT_CHART)), refused


@scenario
def workers_of_managed_clusters_apart(env):
    """`regatta placement` makes workers of ManagedClusters on a hub whose manager does not."""
    join_by_placement(env)


@interop
def upstream_hub_with_managed_clusters(env):
    """The same on a hub of upstream's manager."""
    join_by_placement(env, upstream=("hub",))


def rotate_and_lose(fed, tokens):
    """A Job of `cpu` is not disturbed by a new token, nor by its Secret's absence."""
    fed.set_clusters(["cpu"])
    since = fed.active("cpu")["lastTransitionTime"]
    fed.submit(objects.job("long", seconds=15))
    assert fed.wait_running("long", 60) == "cpu"
    tokens.append(fed.give_token("cpu"))
    fed.wait_for("the new token is used", lambda: tokens[1] in fed.kubeconfig("cpu"), 30)
    assert tokens[0] not in fed.kubeconfig("cpu")
    fed.hub.kubectl.run("delete", "secret", ACCOUNT, "-n", "cpu")
    fed.wait_lacking("cpu", "TokenMissing")
    names = fed.submit(objects.job("meanwhile"))
    fed.wait_complete(["long", *names], 90)
    fed.check_ran_once(["long", *names])
    tokens.append(fed.give_token("cpu"))
    fed.wait_lacking("cpu", "Resolved", "False")
    assert fed.active("cpu")["status"] == "True", fed.active("cpu")
    assert fed.active("cpu")["lastTransitionTime"] == since, "the worker was lost meanwhile"


def leave(fed, name):
    """A ManagedCluster that is deleted while it runs a Job: the Job ends there first."""
    fed.set_clusters([name])
    fed.submit(objects.job("last", seconds=10))
    assert fed.wait_running("last", 60) == name
    fed.set_clusters(["cpu", name])
    fed.hub.kubectl.run("delete", "managedcluster", name)
    fed.wait_lacking(name, "WorkloadsRemain")
    fed.wait_complete(["last"], 60)
    fed.check_ran_once(["last"])

    def left():
        found = [fed.hub.api.find("multikueueclusters", name), fed.kubeconfig(name),
                 fed.found("clusterpermission", name), fed.found("managedserviceaccount", name)]
        return not any(found) or report(found)
    fed.wait_for("all that was made is removed", left, 60)
    fed.wait_complete(fed.submit(objects.job("after")))


@scenario
def placement_tells_what_is_wrong_with_its_file(env):
    """A configuration without managed clusters is refused; what has no effect in it is logged."""
    config, kubeconfig = (os.path.join(env.folder, name) for name in ("config.yaml", "kubeconfig"))
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration",
                   "queueVisibility": {}}, f)
    with open(kubeconfig, "w", encoding="utf-8") as f:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                   "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                   "contexts": [{"name": "c", "context": {"cluster": "c"}}]}, f)
    done = subprocess.run([env.suite.binary, "placement", "--kubeconfig", kubeconfig, "--config",
                           config], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done
    assert "config.yaml has no multiKueue.managedClusters" in done.stderr, done.stderr
    assert "queueVisibility has no effect" in done.stderr, done.stderr
