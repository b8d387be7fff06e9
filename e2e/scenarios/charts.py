"""Clusters that are installed with helm only."""
import json

from harness import objects
from harness.api import is_true
from harness.federation import holding, report
from harness.helm import CHART, MANAGER, RELEASE, WORKER_CHART, Helm
from harness.suite import scenario
from harness.waiting import wait_for

NS = objects.NAMESPACE


class Installed:
    """A hub and one worker of the charts, with managers as the Deployments would run them."""

    def __init__(self, env, **worker_values):
        self.hub, self.worker = env.cluster("hub"), env.cluster("a100", "a100")
        self.helm, self.helm_there = Helm(self.hub), Helm(self.worker)
        for helm, example in ((self.helm, "hub/queues.yaml"), (self.helm_there, "workers/a100.yaml")):
            helm.install(RELEASE, CHART, helm.manager_values(), "--create-namespace")
            helm.cluster.wait_crds()
            helm.cluster.kubectl.run("apply", "-f", f"{env.suite.root}/examples/{example}")
            helm.start_manager()
        self.register(env, worker_values)

    def register(self, env, worker_values):
        """What the notes of the worker's chart say."""
        values = {"token": {"create": True}, **worker_values}
        self.helm_there.install("hub", WORKER_CHART, values)
        token = self.worker.token_for(objects.SYSTEM, "multikueue-sa")
        secret = objects.kubeconfig_secret("a100", self.worker.kubeconfig_with_token(token))
        self.hub.kubectl.apply(secret)
        self.hub.kubectl.run("apply", "-f", f"{env.suite.root}/examples/hub/multikueue.yaml")
        patch = json.dumps({"spec": {"clusters": ["a100"]}})
        self.hub.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p", patch)
        for kind, name in (("multikueueclusters", "a100"), ("clusterqueues", "fleet")):
            self.wait_for(f"{kind} {name} is Active", lambda: holding(
                self.hub.api.get(kind, name), "Active", "True"))

    def wait_for(self, what, check, timeout=60):
        def processes():
            self.hub.check()
            self.worker.check()
        return wait_for(what, check, timeout, processes)

    def wait_running(self, name):
        def running():
            job = self.worker.api.find("jobs", name, NS) or {}
            return job.get("status", {}).get("active") or report(job.get("status"))
        self.wait_for(f"{name} runs on the worker", running)

    def wait_complete(self, name):
        self.wait_for(f"{name} is Complete on the hub", lambda: is_true(
            job := self.hub.api.get("jobs", name, NS), "Complete") or report(job.get("status")))

    def check_permissions(self):
        for helm, account in ((self.helm, MANAGER), (self.helm_there, MANAGER),
                              (self.helm_there, "multikueue-sa")):
            refused = helm.refused(account)
            assert not refused, f"{helm.cluster.name} refuses {account}: {refused}"


@scenario
def helm_installs_a_hub_and_a_worker(env):
    """A Job is dispatched between clusters that the charts made, and every request is permitted."""
    fleet = Installed(env, namespaces=[NS])
    fleet.hub.kubectl.create(objects.job("trained", seconds=1))
    fleet.wait_complete("trained")
    # A deletion, and a Job that is evicted while it runs.
    fleet.hub.kubectl.create(objects.job("long", seconds=600))
    fleet.wait_running("long")
    fleet.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p",
                          '{"spec":{"stopPolicy":"HoldAndDrain"}}')
    fleet.wait_for("the worker's job is gone", lambda: not fleet.worker.api.find("jobs", "long", NS))
    fleet.hub.kubectl.run("patch", "clusterqueue", "fleet", "--type=merge", "-p",
                          '{"spec":{"stopPolicy":"None"}}')
    fleet.wait_running("long")
    fleet.hub.kubectl.run("delete", "job", "long", "-n", NS, "--wait=false")
    fleet.wait_for("nothing of it is left", lambda: not fleet.worker.api.list("workloads", NS))
    fleet.check_permissions()


@scenario
def helm_upgrades_rolls_back_and_uninstalls(env):
    """A release changes, goes back, goes, and comes again while a Job runs: the Job does not notice,
    and its objects stay."""
    fleet = Installed(env)
    helm, hub = fleet.helm, fleet.hub
    hub.kubectl.create(objects.job("steady", seconds=600))
    fleet.wait_running("steady")
    started = fleet.worker.api.get("jobs", "steady", NS)["metadata"]["uid"]
    pods = lambda: helm.deployment()["spec"]["template"]["metadata"]["annotations"]

    before, first = helm.installed_config(), pods()
    values = helm.manager_values(multiKueue={"gcInterval": "3s"})
    helm.upgrade(RELEASE, CHART, {**values, "controllerManager": {"replicas": 2}})
    assert "3s" in helm.installed_config() and pods() != first
    assert helm.deployment()["spec"]["replicas"] == 2
    assert hub.stop_manager() == 0
    helm.start_manager()

    helm.run("rollback", RELEASE, "1")
    assert helm.installed_config() == before and pods() == first
    assert helm.deployment()["spec"]["replicas"] == 1
    assert hub.stop_manager() == 0
    helm.start_manager()

    assert hub.stop_manager() == 0
    helm.run("uninstall", RELEASE)
    assert not hub.api.find("configmaps", f"{RELEASE}-manager-config", objects.SYSTEM)
    assert not hub.api.find("serviceaccounts", MANAGER, objects.SYSTEM)
    assert hub.kubectl.try_run("get", "clusterrole", f"{RELEASE}-manager-role").code != 0
    assert len(hub.api.list("workloads", NS)) == 1, "the Workload went with the release"

    helm.install(RELEASE, CHART, helm.manager_values())
    helm.start_manager()
    hub.kubectl.create(objects.job("after", seconds=1))
    fleet.wait_complete("after")
    steady = fleet.worker.api.get("jobs", "steady", NS)
    assert steady["metadata"]["uid"] == started and steady["status"].get("active"), steady["status"]
    helm.run("uninstall", RELEASE)
    assert hub.stop_manager() in (0, 1)
