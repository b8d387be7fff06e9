"""The webhook server of a manager: real HTTPS, and certificates that change under way."""
import base64
import http.client
import json
import os
import socket
import ssl
import threading

from harness import objects
from harness.pki import openssl_in
from harness.ports import free_port
from harness.suite import scenario
from harness.waiting import slowness, wait_for

SERVICE = "kueue-webhook-service"
NAME = f"{SERVICE}.{objects.SYSTEM}.svc"
CONFIGURATION = "kueue-validating-webhook-configuration"
SECRET = {"apiVersion": "v1", "kind": "Secret",
          "metadata": {"name": "kueue-webhook-server-cert", "namespace": objects.SYSTEM}}


def configuration():
    """As an installation has it, for objects of which there are none here."""
    service = {"name": SERVICE, "namespace": objects.SYSTEM,
               "path": "/validate-kueue-x-k8s-io-v1beta2-cohort"}
    rule = {"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["v1beta2"],
            "operations": ["CREATE", "UPDATE"], "resources": ["cohorts"]}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": CONFIGURATION},
            "webhooks": [{"name": "vcohort.kb.io", "clientConfig": {"service": service},
                          "rules": [rule], "admissionReviewVersions": ["v1"],
                          "failurePolicy": "Ignore", "sideEffects": "None"}]}


class Caller:
    """Calls the webhooks as an API server does. `trust` returns the authorities, as PEM."""

    def __init__(self, port, trust, name=NAME, pair=None):
        self.port, self.trust, self.name, self.pair = port, trust, name, pair

    def connect(self):
        context = ssl.create_default_context(cadata=self.trust())
        if self.pair:
            context.load_cert_chain(*self.pair)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10 * slowness())
        connection = http.client.HTTPSConnection("127.0.0.1", self.port)
        connection.sock = context.wrap_socket(plain, server_hostname=self.name)
        return connection

    @staticmethod
    def post(connection, path, body):
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        return json.loads(answer.read())

    def review(self, connection, kind, handler, obj):
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "request": {"uid": "u-1", "operation": "CREATE", "object": obj}}
        found = self.post(connection, f"/{handler}-kueue-x-k8s-io-v1beta2-{kind}", body)["response"]
        assert found["uid"] == "u-1", found
        return found

    def allowed(self, connection):
        return self.review(connection, "cohort", "validate", {"metadata": {"name": "c"}})["allowed"]


class Calls(threading.Thread):
    """Calls all the time until stop(): one connection is kept, and each call opens another one."""

    def __init__(self, caller):
        super().__init__(daemon=True)
        self.caller, self.count, self.error = caller, 0, None
        self.certificates, self._stopped = set(), threading.Event()

    def run(self):
        try:
            kept = self.caller.connect()
            while not self._stopped.wait(0.05):
                fresh = self.caller.connect()
                self.certificates.add(fresh.sock.getpeercert(True))
                assert self.caller.allowed(fresh) and self.caller.allowed(kept)
                fresh.close()
                self.count += 1
        except Exception as e:
            self.error = e

    def stop(self):
        self._stopped.set()
        self.join()
        assert not self.error, f"after {self.count} calls: {self.error!r}"


def prepared(env):
    cluster = env.cluster("solo", "cpu")
    cluster.install_crds()
    cluster.kubectl.apply(objects.namespace(objects.SYSTEM), objects.namespace(objects.NAMESPACE))
    return cluster


def answers_of_every_kind(caller):
    connection = caller.connect()
    assert caller.allowed(connection)
    queue = {"metadata": {"name": "q"}, "spec": {}}
    defaulted = caller.review(connection, "clusterqueue", "mutate", queue)
    patch = json.loads(base64.b64decode(defaulted["patch"]))
    assert any("kueue.x-k8s.io/resource-in-use" in json.dumps(p) for p in patch), patch
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [
        {"name": "cpu", "nominalQuota": "-1"}]}]}]
    refused = caller.review(connection, "clusterqueue", "validate",
                            {"metadata": {"name": "q"}, "spec": {"resourceGroups": groups}})
    assert not refused["allowed"] and refused["status"]["code"] == 403, refused
    assert "nominalQuota" in refused["status"]["message"], refused
    job = objects.job("new", queue="main", managed_by=None, suspend=False)
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
              "request": {"uid": "u-3", "operation": "CREATE", "object": job}}
    defaulted = caller.post(connection, "/mutate-batch-v1-job", review)["response"]
    patch = json.loads(base64.b64decode(defaulted["patch"]))
    assert [(p["path"], p["value"]) for p in patch] == [("/spec/suspend", True)], patch
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue",
           "metadata": {"name": "q"}, "spec": {"cohort": "all"}}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
              "request": {"uid": "u-2", "desiredAPIVersion": "kueue.x-k8s.io/v1beta2",
                          "objects": [old]}}
    converted = caller.post(connection, "/convert", review)["response"]
    assert converted["result"]["status"] == "Success", converted
    assert converted["convertedObjects"][0]["spec"]["cohortName"] == "all", converted


@scenario
def webhooks_with_certificates_of_seconds(env):
    """Two replicas serve webhooks; their certificates last six seconds, and no call is refused."""
    cluster = prepared(env)
    cluster.kubectl.create(SECRET, configuration())
    life = f"{6 * slowness():g}s"
    changes = {"leaderElection": {"leaderElect": True}, "internalCertManagement": {"validFor": life}}
    callers = []

    def trust():
        found = cluster.api.request(
            "GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"
            + CONFIGURATION)
        return base64.b64decode(found["webhooks"][0]["clientConfig"]["caBundle"]).decode()

    for start in (cluster.start_manager,
                  lambda **more: cluster.start_replica("second", cluster.kubeconfig(), **more)):
        port = free_port()
        start(webhook={"port": port}, **changes)
        cluster.wait_manager()
        callers.append(Caller(port, trust))
    for caller in callers:
        answers_of_every_kind(caller)
    calls = [Calls(caller) for caller in callers]
    for one in calls:
        one.start()
    wait_for("each replica has served three certificates",
             lambda: all(len(c.certificates) >= 3 or c.error for c in calls), 40, cluster.check)
    calls[1].stop()
    assert cluster.processes.pop("second").stop() == 0
    calls[0].stop()
    seen = [len(c.certificates) for c in calls]
    print(f"    {calls[0].count} and {calls[1].count} calls, certificates seen: {seen}", flush=True)


def put_certificate(folder, serial, trusted):
    """As a mounted Secret changes: a link moves to a new folder. `trusted` gets it before."""
    version = os.path.join(folder, f"..{serial}")
    os.makedirs(version)
    run = openssl_in(version)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("req", "-x509", *key, "-keyout", "tls.key", "-out", "tls.crt", "-days", "2", "-subj",
        f"/CN=files-{serial}", "-addext", "subjectAltName=DNS:" + NAME)
    with open(os.path.join(version, "tls.crt")) as f:
        trusted.append(f.read())
    link = os.path.join(folder, "..data")
    os.symlink(os.path.basename(version), link + ".new")
    os.rename(link + ".new", link)
    for name in ("tls.crt", "tls.key"):
        if not os.path.islink(os.path.join(folder, name)):
            os.symlink(os.path.join("..data", name), os.path.join(folder, name))


@scenario
def webhooks_with_certificates_from_files(env):
    """Files of cert-manager are waited for, and read again while calls go on."""
    cluster = prepared(env)
    folder = os.path.join(cluster.folder, "certs")
    os.makedirs(folder)
    port, trusted = free_port(), []
    cluster.start_manager(internalCertManagement={"enable": False},
                          webhook={"port": port, "certDir": folder, "host": "127.0.0.1"})

    def page():
        connection = http.client.HTTPConnection("127.0.0.1", cluster.health_port, timeout=5)
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def waits():
        try:
            return "tls.crt" in page()[1]
        except OSError:
            return False

    wait_for("readiness waits for the files", waits, 20, cluster.check)
    put_certificate(folder, 1, trusted)
    cluster.wait_manager()
    caller = Caller(port, lambda: "".join(trusted))
    answers_of_every_kind(caller)
    calls = Calls(caller)
    calls.start()
    for serial in (2, 3):
        put_certificate(folder, serial, trusted)
        wait_for(f"certificate {serial} is served",
                 lambda: len(calls.certificates) >= serial or calls.error, 20, cluster.check)
    calls.stop()
    assert cluster.stop_manager() == 0


@scenario
def webhooks_that_ask_for_a_client_certificate(env):
    """With webhook.clientCAName a caller without a certificate gets nothing."""
    cluster = prepared(env)
    folder = os.path.join(cluster.folder, "certs")
    os.makedirs(folder)
    port, trusted = free_port(), []
    put_certificate(folder, 1, trusted)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl_in(folder)("req", "-x509", *key, "-keyout", "client.key", "-out", "clients.crt",
                       "-days", "2", "-subj", "/CN=api-server")
    cluster.start_manager(internalCertManagement={"enable": False},
                          webhook={"port": port, "certDir": folder, "clientCAName": "clients.crt"})
    cluster.wait_manager()
    pair = [os.path.join(folder, name) for name in ("clients.crt", "client.key")]
    answers_of_every_kind(Caller(port, lambda: trusted[0], pair=pair))
    try:
        stranger = Caller(port, lambda: trusted[0])
        raise AssertionError(f"a stranger is answered: {stranger.allowed(stranger.connect())}")
    except (ssl.SSLError, OSError, http.client.HTTPException):
        pass


@scenario
def webhooks_that_kueue_left_are_told(env):
    """Webhooks of an installation of Kueue that nothing answers any more: the manager's log names
    them, and goes on."""
    cluster = env.cluster()
    cluster.kubectl.apply(objects.namespace(objects.SYSTEM))
    cluster.install_crds()
    left = configuration()
    left["webhooks"][0]["clientConfig"]["service"]["path"] = "/validate-what-kueue-validated"
    cluster.kubectl.create(left)
    cluster.start_manager()
    cluster.wait_manager()

    def told():
        lines = cluster.processes["manager"].tail(200)
        return [line for line in lines
                if "webhooks of Kueue are installed" in line and CONFIGURATION in line]
    wait_for("the log names the webhooks", told, 30, cluster.check)
