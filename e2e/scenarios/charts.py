"""Clusters that are installed with helm only."""
import base64
import json
import os
import re
import subprocess

import yaml

from harness import objects, solo
from harness.api import is_true
from harness.federation import holding, report
from harness.helm import CHART, MANAGER, RELEASE, WORKER_CHART, Helm
from harness.suite import scenario
from harness.waiting import wait_for

NS = objects.NAMESPACE


class Installed:
    """A hub and one worker of the charts, with managers as the Deployments would run them. `config`:
    sections of both Configurations; `definitions`: files with more CRDs."""

    def __init__(self, env, served=False, config=None, definitions=(), **worker_values):
        self.hub, self.worker = env.cluster("hub"), env.cluster("a100", "a100")
        self.helm, self.helm_there = Helm(self.hub), Helm(self.worker)
        for helm, example in ((self.helm, "hub/queues.yaml"), (self.helm_there, "workers/a100.yaml")):
            values = helm.served_values if served else helm.manager_values
            helm.install(RELEASE, CHART, values(**(config or {})), "--create-namespace")
            helm.cluster.wait_crds()
            if definitions:
                helm.cluster.define(*definitions)
            manager = helm.start_manager()
            if served:
                helm.route(manager)
            helm.cluster.kubectl.run("apply", "-f", f"{env.suite.root}/examples/{example}")
        self.register(env, worker_values)

    def register(self, env, worker_values):
        """Does what the notes of the worker's chart say."""
        notes = self.helm_there.install("hub", WORKER_CHART, worker_values).split("NOTES:")[1]
        there, here = re.search(r"\n1\..*?:\n(.*)\n2\..*?:\n(.*)\n3\.", notes, re.S).groups()
        there = there.replace("NAME=worker", "NAME=a100")
        self.shell(self.worker, there)
        self.shell(self.hub, "NAME=a100\n" + here)
        self.hub.kubectl.run("apply", "-f", f"{env.suite.root}/examples/hub/multikueue.yaml")
        patch = json.dumps({"spec": {"clusters": ["a100"]}})
        self.hub.kubectl.run("patch", "multikueueconfig", "fleet", "--type=merge", "-p", patch)
        self.wait_for("ClusterQueue fleet is Active", lambda: holding(
            self.hub.api.get("clusterqueues", "fleet"), "Active", "True"))

    def shell(self, cluster, commands):
        """Runs the lines in a folder that both clusters share, with `kubectl` for that one."""
        folder = os.path.join(os.path.dirname(cluster.folder), "notes")
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(folder, "kubectl")
        if not os.path.lexists(program):
            os.symlink(cluster.kubectl.program, program)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands], cwd=folder, capture_output=True, text=True,
            env={"PATH": f"{folder}:{os.environ['PATH']}", "HOME": cluster.kubectl.home,
                 "KUBECONFIG": cluster.kubeconfig()})
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"

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


CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")


def release_of_kueue(env, helm):
    """A chart as Kueue's is in one respect: its definitions are templates, with a webhook."""
    chart = os.path.join(helm.home, "kueue")
    os.makedirs(os.path.join(chart, "templates"))
    with open(os.path.join(chart, "Chart.yaml"), "w") as out:
        json.dump({"apiVersion": "v2", "name": "kueue", "version": "0.19.2"}, out)
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {
        "name": "kueue-webhook-service", "namespace": objects.SYSTEM, "path": "/convert"}}}
    folder = os.path.join(env.suite.root, "charts/regatta/files/crds")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as text:
            definition = yaml.load(text, yaml.CSafeLoader)
        if definition["spec"]["names"]["plural"] in CONVERTED:
            definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        with open(os.path.join(chart, "templates", name), "w") as out:
            json.dump(definition, out)
    return chart


def definitions(cluster):
    """{plural: (uid, strategy of conversion)}"""
    return {d["spec"]["names"]["plural"]: (d["metadata"]["uid"], d["spec"]["conversion"]["strategy"])
            for d in cluster.api.list("customresourcedefinitions")}


@scenario
def helm_turns_kueues_release_into_regattas(env):
    """`helm upgrade` of a release whose definitions are templates, as Kueue's are, and back: the
    definitions and what they define stay."""
    cluster = env.cluster("moved", fleet="cpu")
    helm = Helm(cluster)
    helm.run("install", "kueue", release_of_kueue(env, helm), "--create-namespace")
    cluster.wait_crds()
    cluster.kubectl.apply(objects.namespace(NS), solo.flavor(), *solo.cluster_queue("cq", 4))
    for plural in CONVERTED:  # as Kueue writes its certificate
        bundle = base64.b64encode(cluster.certificate()).decode()
        cluster.kubectl.run(
            "patch", "crd", f"{plural}.kueue.x-k8s.io", "--type=merge", "--field-manager=kueue", "-p",
            json.dumps({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}}))
    before, queue = definitions(cluster), cluster.api.get("clusterqueues", "cq")["metadata"]["uid"]

    # The name of the release, and so of the account, is Kueue's.
    values = {**helm.manager_values(), "fullnameOverride": RELEASE}
    helm.upgrade("kueue", CHART, values, "--server-side=false")
    cluster.wait_crds()
    assert definitions(cluster) == {k: (uid, "None") for k, (uid, _) in before.items()}
    helm.start_manager()
    cluster.kubectl.create(solo.job("moved", "cq", seconds=1))
    wait_for("the job is Complete", lambda: is_true(
        cluster.api.get("jobs", "moved", NS), "Complete"), 60, cluster.check)
    assert cluster.stop_manager() == 0
    assert not helm.refused()

    helm.run("rollback", "kueue", "1", "--server-side=false")
    cluster.wait_crds()  # a server that reads a changed definition refuses requests for a moment
    assert definitions(cluster) == before
    assert cluster.api.get("clusterqueues", "cq")["metadata"]["uid"] == queue
    assert len(cluster.api.list("workloads", NS)) == 1
