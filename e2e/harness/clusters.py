"""One cluster: an API server, simulated nodes, and a manager. Either the embedded server or
etcd and kube-apiserver; scenarios cannot tell which."""
import base64
import collections
import json
import os
import secrets
import shutil
import urllib.request

from . import upstream
from .api import KUEUE, Api, Credentials, is_true
from .kubectl import Kubectl
from .pki import make_pki
from .ports import free_port
from .process import Process
from .waiting import NotYet, ProcessDied, wait_for

UPSTREAM = "upstream"  # the component that is upstream's manager
READS = ["get", "list", "watch"]
# A kube-apiserver tells of its writes only.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
         "rules": [{"level": "None", "verbs": READS},
                   {"level": "None", "resources": [{"group": "coordination.k8s.io"}]},
                   {"level": "None", "nonResourceURLs": ["*"]},
                   {"level": "Metadata"}]}


class Cluster:
    """`suite` is the Suite (paths, guardian); `fleet` names the simulated nodes."""

    def __init__(self, suite, folder, name, fleet):
        self.suite, self.name, self.fleet = suite, name, fleet
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.port, self.health_port, self.metrics_port = free_port(), free_port(), free_port()
        self.processes = {}  # the processes that should run now, by component
        self.kubectl = self.api = None
        self._kinds = set()  # the plurals of Kueue's kinds, once their CRDs are installed

    # --- for the two kinds of server

    def start_server(self):
        raise NotImplementedError

    def kill_server(self):
        """kill -9 of the API server."""
        raise NotImplementedError

    def restart_server(self):
        raise NotImplementedError

    data = None     # the folder in which the server keeps its objects, below the cluster's
    serving = ()    # the components that serve them, in the order in which they start

    def writes_of(self, user):
        """How many writes that user has asked the server for since it started, by verb, resource
        and subresource; those into Leases apart."""
        raise NotImplementedError

    # --- for scenarios

    def kubeconfig(self):
        return os.path.join(self.folder, "admin.kubeconfig")

    def manager_kubeconfig(self, component="manager"):
        """The file that the manager of that name gets; others may reach the server another way."""
        return self.kubeconfig()

    def kubeconfig_through(self, port, name):
        """A file like kubeconfig(), whose requests go to another port of this machine."""
        config = self.kubectl.run("config", "view", "--raw", "-o", "json").json()
        for entry in config["clusters"]:
            entry["cluster"]["server"] = f"https://127.0.0.1:{port}"
        path = os.path.join(self.folder, f"{name}.kubeconfig")
        with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
            json.dump(config, out)
        return path

    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def install_crds(self):
        """Applies Kueue's CRDs from the chart's folder, as a user does."""
        folder = os.path.join(self.suite.root, "charts/regatta/files/crds")
        self.kubectl.run("create", "-f", folder, timeout=120)
        self.wait_crds()

    def wait_crds(self):
        """Returns when the kinds of the chart's CRDs are served."""
        folder = os.path.join(self.suite.root, "charts/regatta/files/crds")
        self._kinds = {name.split("_")[1].removesuffix(".yaml") for name in os.listdir(folder)}
        self.wait_kinds()

    def define(self, *files):
        """Applies files with CRDs. They may be too large for an annotation."""
        self.kubectl.run("apply", "--server-side", *[f"-f={file}" for file in files], timeout=120)
        self.wait_kinds()

    def start_manager(self, **changes):
        """`changes` are merged into the configuration, section by section."""
        config = manager_config(self, changes)
        path = os.path.join(self.folder, "manager.yaml")
        with open(path, "w") as f:
            json.dump(config, f, indent=2)
        argv = [self.suite.binary, "manager", "--kubeconfig", self.manager_kubeconfig(),
                "--config", path, "--zap-log-level", self.suite.log_level]
        self._start("manager", argv)

    def start_program(self, *args, component="manager"):
        """The program with arguments of the scenario's, as the manager."""
        self._start(component, [self.suite.binary, *args])

    def start_other(self, component, argv, env=None):
        """A program of another project."""
        self._start(component, argv, env)

    def start_upstream(self, **changes):
        """Upstream's manager in the place of Regatta's, with the same configuration."""
        process = upstream.manager(self, manager_config(self, changes))
        self.processes[UPSTREAM] = process.start()

    def start_replica(self, name, kubeconfig, **changes):
        """One more manager, on ports of its own; wait_manager() is about the last one."""
        self.health_port, self.metrics_port = free_port(), free_port()
        path = os.path.join(self.folder, f"{name}.yaml")
        with open(path, "w") as f:
            json.dump(manager_config(self, changes), f, indent=2)
        self._start(name, [self.suite.binary, "manager", "--kubeconfig", kubeconfig, "--config",
                           path, "--zap-log-level", self.suite.log_level])
        return self.processes[name]

    def restart_manager(self):
        component, process = self._last_manager
        self.processes[component] = process.start()

    def kill_manager(self):
        self._take_manager().kill()

    def stop_manager(self):
        """Returns its exit code."""
        process = self._take_manager()
        return process.stop(60) if self._last_manager[0] == UPSTREAM else process.stop()

    def wait_manager(self):
        self.wait_ready("manager", self.health_port)

    def wait_ready(self, component, port):
        """Returns when the probe for readiness on that port succeeds."""
        wait_for(f"{component} of {self.name} is ready", lambda: ready(port), 60, self.check)

    def save(self):
        """Makes a copy of what the server holds, which is down for a moment."""
        self._while_down(lambda data, copy: shutil.copytree(data, copy))

    def go_back(self):
        """The server is restored from the copy of save(): its versions go back, too."""
        def restore(data, copy):
            shutil.rmtree(data)
            shutil.copytree(copy, data)
        self._while_down(restore)

    def check(self):
        """Raises when a process ended that should run."""
        for component, process in list(self.processes.items()):
            code = process.exit_code()
            if code is not None:
                tail = "\n    ".join(process.tail(12))
                raise ProcessDied(f"{self.name}: {component} ended with {code}; {process.log}:\n    {tail}")

    def stop(self):
        """Returns which of our own processes did not end as they should."""
        complaints = []
        for component in reversed(list(self.processes)):
            process = self.processes.pop(component)
            if not process.running():
                continue
            foreign = (UPSTREAM, "etcd", *(["apiserver"] if self.suite.assets else []))
            if component in foreign:
                process.kill()
                continue
            try:
                code = process.stop()
                if code != 0:
                    complaints.append(f"{self.name}: {component} exits {code} on SIGTERM")
            except RuntimeError as e:
                complaints.append(str(e))
        return complaints

    def token_for(self, namespace, account):
        """A token of a service account, from `kubectl create token`."""
        return self.kubectl.run("create", "token", account, "-n", namespace,
                                "--duration=2h").out.strip()

    def certificate(self):
        """The authority's, as PEM."""
        with open(os.path.join(self.folder, "ca.crt"), "rb") as f:
            return f.read()

    def ca_data(self):
        return base64.b64encode(self.certificate()).decode()

    def kubeconfig_with_token(self, token, url=None):
        return {
            "apiVersion": "v1", "kind": "Config", "current-context": "worker", "preferences": {},
            "clusters": [{"name": "worker", "cluster": {
                "server": url or self.url(), "certificate-authority-data": self.ca_data()}}],
            "users": [{"name": "hub", "user": {"token": token}}],
            "contexts": [{"name": "worker", "context": {"cluster": "worker", "user": "hub"}}],
        }

    # --- inside

    def _start(self, component, argv, env=None):
        log = os.path.join(self.folder, f"{component}.log")
        process = Process(self.suite.guardian, f"{self.name} {component}", argv, log, env)
        self.processes[component] = process.start()

    def _take_manager(self):
        component = UPSTREAM if UPSTREAM in self.processes else "manager"
        self._last_manager = component, self.processes.pop(component)
        return self._last_manager[1]

    def _start_nodes(self):
        self._start("nodes", [self.suite.lab, "nodes", "--kubeconfig", self.kubeconfig(),
                              "--fleet", self.fleet])

    def _connect(self):
        home = os.path.join(self.folder, "home")
        self.kubectl = Kubectl(self.suite.kubectl, self.kubeconfig(), home)
        config = self.kubectl.run("config", "view", "--raw", "-o", "json").json()
        self.api = Api(Credentials(config, self.folder))

    def _wait_served(self):
        def ready():
            code, text = self.api.raw("GET", "/readyz")
            if code != 200:
                raise RuntimeError(f"/readyz answers {code}: {text[:200]}")
            return self.api.find("namespaces", "default")
        wait_for(f"API server of {self.name} is ready", ready, 60, self.check)

    def wait_kinds(self):
        """Waits until the server answers for everything that CRDs define."""
        # Not `kubectl wait`: it gives up on a CRD whose conditions are null, as they are at first
        # on a kube-apiserver. Discovery, which kubectl reads, may follow later still; and requests
        # for the new kinds are refused (429) while their storage starts, also after a restart.
        def served():
            crds = self.api.list("customresourcedefinitions")
            if early := [c["metadata"]["name"] for c in crds if not is_true(c, "Established")]:
                raise NotYet(f"{early} are not Established")
            if self._kinds:
                found = self.api.request("GET", KUEUE)["resources"]
                missing = self._kinds - {resource["name"] for resource in found}
                if missing:
                    raise NotYet(f"{sorted(missing)} are missing")
            for spec in (crd["spec"] for crd in crds):
                version = next(v["name"] for v in spec["versions"] if v["storage"])
                self.api.request("GET", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
            return True
        wait_for(f"{self.name} serves what the CRDs define", served, 60, self.check)

    def _while_down(self, change):
        """What runs beside the server in place of a cluster's own controllers ends with it."""
        down = [(name, self.processes.pop(name)) for name in (*self.serving, "nodes")
                if name in self.processes]
        for _, process in reversed(down):
            process.kill()
        change(os.path.join(self.folder, self.data), os.path.join(self.folder, "backup"))
        for name, process in down:
            self.processes[name] = process.start()
            if name == "apiserver":
                self._wait_served()
                self.wait_kinds()

    def _manager_ready(self):
        return ready(self.health_port)


class EmbeddedCluster(Cluster):
    data, serving = "data", ("apiserver",)
    faults = None  # faults on purpose from the start
    apart = False  # nodes and collectors in a process of their own, as a real server needs it

    def start_server(self):
        argv = [self.suite.lab, "apiserver", "--dir", self.folder, "--port", self.port,
                "--data-dir", os.path.join(self.folder, "data"), "--fleet", self.fleet,
                "--crd-delay-ms", 200]
        if self.faults:
            argv += ["--faults", json.dumps(self.faults)]
        if self.apart:
            argv.append("--no-controllers")
        self._start("apiserver", argv)
        wait_for(f"kubeconfig of {self.name}", lambda: os.path.exists(self.kubeconfig()), 30,
                 self.check)
        self._connect()
        self._wait_served()
        if self.apart:
            self._start_nodes()

    def kill_server(self):
        self._server = self.processes.pop("apiserver")
        self._server.kill()

    def restart_server(self):
        self.processes["apiserver"] = self._server.start()
        self._wait_served()

    def writes_of(self, user):
        seen = self.api.request("GET", "/_regatta/requests")["requests"]
        counts = collections.Counter()
        for r in seen:
            if r["user"] == user and r["resource"] != "leases" and r["verb"] not in READS:
                counts[r["verb"], r["resource"], r["subresource"]] += r["count"]
        return dict(counts)


class RealCluster(Cluster):
    """etcd and kube-apiserver of KUBEBUILDER_ASSETS. `regatta-lab nodes` runs the Jobs."""
    data, serving = "etcd", ("etcd", "apiserver")

    def start_server(self):
        make_pki(self.folder)
        token = secrets.token_hex(16)
        with open(os.path.join(self.folder, "tokens.csv"), "w",
                  opener=lambda p, f: os.open(p, f, 0o600)) as out:
            out.write(f'{token},admin,admin,"system:masters"\n')
        with open(self.kubeconfig(), "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
            json.dump(self.kubeconfig_with_token(token), out)
        with open(os.path.join(self.folder, "audit.yaml"), "w") as out:
            json.dump(AUDIT, out)
        client, peer = free_port(), free_port()
        urls = [f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"]
        self._start("etcd", [
            os.path.join(self.suite.assets, "etcd"), "--data-dir", os.path.join(self.folder, "etcd"),
            "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0],
            "--listen-peer-urls", urls[1], "--unsafe-no-fsync", "--log-level=error"])
        self._start("apiserver", self._apiserver_argv(urls[0]))
        self._connect()
        self._wait_served()
        self._start_nodes()

    def kill_server(self):
        self._server = self.processes.pop("apiserver")
        self._server.kill()

    def restart_server(self):
        self.processes["apiserver"] = self._server.start()
        self._wait_served()
        self.wait_kinds()

    def writes_of(self, user):
        counts = collections.Counter()
        with open(os.path.join(self.folder, "audit.log")) as log:
            # The last line may be half written.
            events = [json.loads(line) for line in log if line.endswith("\n")]
        for event in events:
            if event["user"]["username"] == user:
                of = event["objectRef"]
                counts[event["verb"], of["resource"], of.get("subresource", "")] += 1
        return dict(counts)

    def _apiserver_argv(self, etcd):
        file = lambda name: os.path.join(self.folder, name)
        return [
            os.path.join(self.suite.assets, "kube-apiserver"), f"--etcd-servers={etcd}",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--tls-cert-file={file('server.crt')}", f"--tls-private-key-file={file('server.key')}",
            f"--client-ca-file={file('ca.crt')}", f"--token-auth-file={file('tokens.csv')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={file('sa.pub')}",
            f"--service-account-signing-key-file={file('sa.key')}",
            "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC",
            "--enable-aggregator-routing=true",
            f"--requestheader-client-ca-file={file('front-proxy-ca.crt')}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={file('front-proxy.crt')}",
            f"--proxy-client-key-file={file('front-proxy.key')}",
            "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
            f"--audit-policy-file={file('audit.yaml')}", f"--audit-log-path={file('audit.log')}"]


def ready(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
        return answer.status == 200


def manager_config(cluster, changes):
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
        "namespace": "kueue-system",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{cluster.health_port}"},
        "metrics": {"bindAddress": f"127.0.0.1:{cluster.metrics_port}"},
        "leaderElection": {"leaderElect": False},
        "integrations": {"frameworks": ["batch/job"]},
        # Orphans are collected often, so that a scenario sees it.
        "multiKueue": {"gcInterval": "2s"},
    }
    for section, values in changes.items():
        config[section] = {**config.get(section, {}), **values}
    return config
