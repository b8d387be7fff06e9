"""helm as a user runs it, and managers as the Deployment of the chart would start them."""
import json
import os
import shlex
import subprocess

import yaml

from . import objects
from .kubectl import KubectlFailed
from .ports import free_port, own_address
from .waiting import slowness

CHART, WORKER_CHART, PLACEMENT_CHART = "regatta", "regatta-worker", "regatta-placement"
RELEASE = "regatta"
MANAGER = f"{RELEASE}-controller-manager"
SERVERS = ("enableWebhooks", "enableConversion", "enableVisibility")
MOUNTED = "/etc/regatta/controller_manager_config.yaml"


class Helm:
    """The pinned helm for one cluster, and what is installed there."""

    def __init__(self, cluster):
        self.cluster, self.root = cluster, cluster.suite.root
        self.program = cluster.suite.pinned("helm")
        self.home = os.path.join(cluster.folder, "helm")
        os.makedirs(self.home, exist_ok=True)

    def run(self, *args, timeout=60):
        command = [self.program, *map(str, args), "--namespace", objects.SYSTEM,
                   "--kubeconfig", self.cluster.kubeconfig()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout * slowness(),
                              env={"HOME": self.home, "PATH": os.environ.get("PATH", "/usr/bin")})
        if done.returncode != 0:
            raise KubectlFailed(f"{shlex.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def install(self, release, chart, values=None, *args, verb="install"):
        path = os.path.join(self.home, f"{release}-values.json")
        with open(path, "w") as out:
            json.dump(values or {}, out)
        return self.run(verb, release, os.path.join(self.root, "charts", chart), "-f", path, *args)

    def upgrade(self, release, chart, values=None, *args):
        return self.install(release, chart, values, *args, verb="upgrade")

    def manager_values(self, **changes):
        """Values with a Configuration for this cluster's ports, and no server that the API server
        calls. `changes` are of its sections."""
        config = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.cluster.health_port}"},
            "metrics": {"bindAddress": f"127.0.0.1:{self.cluster.metrics_port}"},
            "namespace": objects.SYSTEM,
            "multiKueue": {"gcInterval": "2s"}, **changes}
        return {"managerConfig": {"controllerManagerConfigYaml": json.dumps(config)},
                **dict.fromkeys(SERVERS, False)}

    def served_values(self, **changes):
        """Values with every server on. route() leads the API server to them."""
        return {**self.manager_values(**changes), **dict.fromkeys(SERVERS, True)}

    def installed_config(self):
        """The Configuration in the cluster, as text."""
        found = self.cluster.api.get("configmaps", f"{RELEASE}-manager-config", objects.SYSTEM)
        return found["data"]["controller_manager_config.yaml"]

    def deployment(self, name=MANAGER):
        return self.cluster.kubectl.run("get", "deployment", name, "-n", objects.SYSTEM, "-o",
                                        "json").json()

    def start_manager(self, component="manager"):
        """What the Deployment runs: its arguments, its ConfigMap, its ServiceAccount. Returns the
        ports of its servers, which no other replica has."""
        folder, cluster = self.cluster.folder, self.cluster
        if component != "manager":
            cluster.health_port, cluster.metrics_port = free_port(), free_port()
        ports = {"webhook-service": free_port(), "visibility-server": free_port()}
        pod = self.deployment()["spec"]["template"]["spec"]
        container = pod["containers"][0]
        config = os.path.join(folder, f"{component}-installed.yaml")
        installed = yaml.load(self.installed_config(), yaml.CSafeLoader)
        installed["health"] = {"healthProbeBindAddress": f"127.0.0.1:{cluster.health_port}"}
        installed["metrics"] = {**installed.get("metrics", {}),
                                "bindAddress": f"127.0.0.1:{cluster.metrics_port}"}
        installed["webhook"] = {**installed.get("webhook", {}), "port": ports["webhook-service"]}
        installed["visibilityServer"] = {"bindPort": ports["visibility-server"]}
        with open(config, "w") as out:
            json.dump(installed, out)
        args = [*container["command"][1:], *container["args"]]
        args = [a.replace(MOUNTED, config) for a in args]
        cluster.start_program(*args, "--kubeconfig", self.account_kubeconfig(pod), component=component)
        cluster.wait_manager()
        return ports

    def start_placement(self):
        """What the Deployment of the chart for Placements runs: its arguments, its ConfigMap, its
        ServiceAccount."""
        pod = self.deployment(PLACEMENT_CHART)["spec"]["template"]["spec"]
        container, port = pod["containers"][0], free_port()
        probed = "--health-probe-bind-address="
        assert f"{probed}:8081" in container["args"], container["args"]
        args = [f"{probed}127.0.0.1:{port}" if a.startswith(probed) else a for a in container["args"]]
        for volume in pod.get("volumes", []):
            found = self.cluster.api.get("configmaps", volume["configMap"]["name"], objects.SYSTEM)
            for name, text in found["data"].items():
                with open(os.path.join(self.cluster.folder, name), "w") as out:
                    out.write(text)
        for mount in container.get("volumeMounts", []):
            args = [a.replace(mount["mountPath"], self.cluster.folder) for a in args]
        self.cluster.start_program(*container["command"][1:], *args, "--kubeconfig",
                                   self.account_kubeconfig(pod), component="placement")
        self.cluster.wait_ready("placement", port)

    def account_kubeconfig(self, pod):
        """A file for the ServiceAccount of a Deployment's Pods."""
        account = pod["serviceAccountName"]
        path = os.path.join(self.cluster.folder, f"{account}.kubeconfig")
        token = self.cluster.token_for(objects.SYSTEM, account)
        with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
            json.dump(self.cluster.kubeconfig_with_token(token), out)
        return path

    def route(self, *managers):
        """What the endpoints controller does: the Services of the chart lead to these managers."""
        for service in managers[0]:
            name = f"{RELEASE}-{service}"
            port = self.cluster.api.request(
                "GET", f"/api/v1/namespaces/{objects.SYSTEM}/services/{name}")["spec"]["ports"][0]
            path = f"/apis/discovery.k8s.io/v1/namespaces/{objects.SYSTEM}/endpointslices"
            kept = {f"{name}-{i}" for i in range(len(managers))}
            for i, ports in enumerate(managers):
                self.cluster.kubectl.apply({
                    "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                    "metadata": {"name": f"{name}-{i}", "namespace": objects.SYSTEM,
                                 "labels": {"kubernetes.io/service-name": name}},
                    "addressType": "IPv4",
                    "ports": [{"name": port.get("name", ""), "port": ports[service]}],
                    "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}]})
            for found in self.cluster.api.request("GET", path)["items"]:
                of = found["metadata"]["labels"].get("kubernetes.io/service-name")
                if of == name and found["metadata"]["name"] not in kept:
                    self.cluster.api.request("DELETE", f"{path}/{found['metadata']['name']}")

    def refused(self, account=MANAGER):
        """Requests of a ServiceAccount that were answered with 403, on embedded servers."""
        if self.cluster.suite.assets:
            return []
        user = objects.user_of(account)
        seen = self.cluster.api.request("GET", "/_regatta/requests")["requests"]
        assert any(r["user"] == user and r["code"] in (200, 201) for r in seen), \
            f"{user} asked nothing"
        return [r for r in seen if r["user"] == user and r["code"] == 403]
