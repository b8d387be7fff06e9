"""Workers that a ClusterProfile describes, with credentials from plugins."""
import base64
import json
import os

from harness import objects
from harness.federation import Federation, report
from harness.pki import client_certificate
from harness.suite import scenario

from .connections import check_untold
from .registration import doctor

GROUP = "multicluster.x-k8s.io"
V1 = "client.authentication.k8s.io/v1"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": f"clusterprofiles.{GROUP}",
                 "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
    "spec": {"group": GROUP, "scope": "Namespaced",
             "names": {"kind": "ClusterProfile", "listKind": "ClusterProfileList",
                       "plural": "clusterprofiles", "singular": "clusterprofile"},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True,
                           "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {
                               "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class Profiled(Federation):
    """A hub that finds its workers by ClusterProfiles. The plugin of provider `secrets` is Regatta's;
    that of `faulty` does what its file says."""

    def __init__(self, suite, folder, workers):
        super().__init__(suite, folder, workers=workers, connect=False)
        self.plugin, self.asked = os.path.join(folder, "plugin"), os.path.join(folder, "asked")
        # The shell only notes that the plugin was asked.
        ask = f"echo >> {self.asked}; exec \"$0\" credentials secret --valid-for=15s \"$@\""
        providers = [
            self.provider("secrets", "/bin/sh", "-c", ask, suite.binary, "--kubeconfig",
                          self.hub.kubeconfig()),
            self.provider("faulty", "/bin/sh", self.plugin)]
        self.hub_config = {
            "featureGates": {"MultiKueueClusterProfile": True},
            "metrics": {"secureServing": False},
            "multiKueue": {"gcInterval": "2s", "clusterProfile": {"accessProviders": providers}}}

    @staticmethod
    def provider(name, command, *args):
        return {"name": name, "execConfig": {
            "apiVersion": V1, "command": command, "args": list(args), "interactiveMode": "Never",
            "provideClusterInfo": True}}

    def _set_up_hub(self):
        self.hub.kubectl.run("apply", "-f", self.example("hub/multikueue.yaml"))
        self.set_clusters(list(self.workers))
        for name in self.workers:
            self.hub.kubectl.apply({
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster",
                "metadata": {"name": name},
                "spec": {"clusterSource": {"clusterProfileRef": {"name": name}}}})

    def define_profiles(self):
        self.hub.kubectl.apply(DEFINITION)
        self.hub.wait_kinds()

    def describe(self, name, provider, server=None, **more):
        """The ClusterProfile of a worker. What is changed in it is another connection, without the
        pause that failures of the plugin have left."""
        worker = self.workers[name]
        self.hub.kubectl.apply({
            "apiVersion": f"{GROUP}/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": name, "namespace": objects.SYSTEM},
            "spec": {"displayName": name, "clusterManager": {"name": "tests"}}})
        extension = {"name": "client.authentication.k8s.io/exec",
                     "extension": {"secret": f"{name}-token", **more}}
        self.hub.api.request(
            "PATCH", f"/apis/{GROUP}/v1alpha1/namespaces/{objects.SYSTEM}/clusterprofiles/{name}/status",
            {"status": {"accessProviders": [{"name": provider, "cluster": {
                "server": server or worker.url(), "certificate-authority-data": worker.ca_data(),
                "extensions": [extension]}}]}}, "application/merge-patch+json")

    def keep_token(self, name, token):
        self.hub.kubectl.apply({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": f"{name}-token", "namespace": objects.SYSTEM, "annotations": {
                "multikueue.regatta.dev/server": self.workers[name].url()}},
            "data": {"token": base64.b64encode(token.encode()).decode()}})

    def times_asked(self):
        """How often the plugin for Secrets has run."""
        with open(self.asked) as f:
            return len(f.readlines())

    def script(self, text):
        with open(self.plugin + ".new", "w") as f:
            f.write(text)
        os.replace(self.plugin + ".new", self.plugin)

    def wait_inactive(self, worker, reason, message):
        return self.wait_for(f"{worker}: {message}", lambda: (a := self.active(worker))
                             .get("reason") == reason and message in a["message"] and a
                             or report(a), 150)


def profiled(env, *workers):
    env.federation = Profiled(env.suite, env.folder, workers)
    return env.federation.up()


@scenario
def cluster_profile(env):
    """A worker of a ClusterProfile, whose definition comes late, runs jobs; its token changes while
    they run, and the worker is never lost."""
    fed = profiled(env, "cpu")
    fed.wait_inactive("cpu", "BadClusterProfile", "does not serve clusterprofiles")
    fed.define_profiles()
    fed.describe("cpu", "secrets")
    fed.wait_inactive("cpu", "ClientConnectionFailed", "cpu-token")
    tokens = [fed.workers["cpu"].token_for(objects.SYSTEM, "multikueue-sa")]
    fed.keep_token("cpu", tokens[0])
    fed.wait_connected(["cpu"], 90)
    fed.wait_queue_active()
    since = fed.active("cpu")["lastTransitionTime"]
    names = fed.submit(*[objects.job(f"long-{i}", seconds=45) for i in range(2)])
    for name in names:
        fed.wait_running(name)
    # The old token is refused from here on.
    fed.workers["cpu"].kubectl.apply(*objects.hub_account("rotated"))
    tokens.append(fed.workers["cpu"].token_for(objects.SYSTEM, "rotated"))
    fed.keep_token("cpu", tokens[1])
    # The run that is under way may have read the old one, and requests use a new one when it has come.
    before = fed.times_asked()
    fed.wait_for("the plugin is asked again", lambda: fed.times_asked() >= before + 3, 90)
    fed.workers["cpu"].kubectl.run("delete", "serviceaccount,clusterrolebinding", "multikueue-sa",
                                   "-n", objects.SYSTEM)
    names += fed.submit(objects.job("late"))
    fed.wait_complete(names, 150)
    fed.wait_workers_empty()
    fed.check_ran_once(names)
    assert fed.active("cpu")["lastTransitionTime"] == since, "the worker was lost meanwhile"
    check_untold(fed, tokens)


@scenario
def credential_plugins_that_fail(env):
    """A plugin that hangs, fails, prints too much, answers in another version or gives what ends at
    once: each is its own condition, tells no secret, and another worker runs jobs meanwhile."""
    fed = profiled(env, "cpu", "a100")
    fed.define_profiles()
    fed.keep_token("cpu", fed.workers["cpu"].token_for(objects.SYSTEM, "multikueue-sa"))
    fed.describe("cpu", "secrets")
    for what, (text, message) in FAULTS.items():
        fed.script(text)
        fed.describe("a100", "faulty", fault=what)
        if what == "hangs":
            fed.wait_connected(["cpu"], 60)
            fed.wait_queue_active()
            fed.wait_complete(fed.submit(objects.job("unharmed")))
        active = fed.wait_inactive("a100", "ClientConnectionFailed", message)
        assert "/bin/sh" in active["message"] and "faulty" in active["message"], active
    token = fed.workers["a100"].token_for(objects.SYSTEM, "multikueue-sa")
    fed.script("echo '" + answer(token) + "'\n")
    fed.describe("a100", "faulty", fault="none")
    fed.wait_connected(["a100"])
    fed.wait_complete(fed.submit(objects.job("gpus", gpus=1)))
    check_untold(fed, [CANARY, token])


def try_examples(fed):
    """The examples are taken; their authority is a placeholder."""
    fed.hub.kubectl.run("apply", "-f", fed.example("cluster-profile.yaml"))
    fed.hub.kubectl.run("apply", "--server-side", "--subresource=status", "-f",
                        fed.example("cluster-profile-status.yaml"))
    fed.wait_inactive("east", "BadRestConfig", "certificate authority")
    fed.hub.kubectl.run("delete", "--wait=false", "-f", fed.example("cluster-profile.yaml"))


@scenario
def cluster_profile_with_a_certificate(env):
    """A plugin gives a client certificate, and jobs run with it. Until the profile is right, doctor
    says what is wrong."""
    fed = profiled(env, "cpu")

    def named(expected):
        _, found, _ = doctor(fed)
        assert any(f.startswith("cpu: ") and expected in f for f in found), found
    named("the hub does not serve clusterprofiles")
    fed.define_profiles()
    named(f"there is no ClusterProfile {objects.SYSTEM}/cpu")
    try_examples(fed)
    fed.describe("cpu", "faulty", server="http://127.0.0.1:1")
    named(f'ClusterProfile {objects.SYSTEM}/cpu: access provider "faulty": ')
    worker, user = fed.workers["cpu"], "certified-hub"
    certificate, key = client_certificate(worker.folder, user)
    made = objects.hub_account("certified")[1:]
    made[1]["subjects"] = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]
    worker.kubectl.apply(*made)
    printed = os.path.join(env.folder, "credential.json")
    with open(printed, "w", encoding="utf-8",
              opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        json.dump({"apiVersion": V1, "kind": "ExecCredential", "status": {
            "clientCertificateData": certificate, "clientKeyData": key}}, out)
    fed.script(f"cat {printed}\n")
    fed.describe("cpu", "faulty")
    fed.wait_connected(["cpu"], 90)
    fed.wait_queue_active()
    fed.wait_complete(fed.submit(objects.job("certified")))
    _, found, answer = doctor(fed)
    assert not [f for f in found if f.startswith("cpu: ")], found
    assert any("a plugin has the hub's credentials" in what for what in answer["unchecked"]), answer
    check_untold(fed, [key.splitlines()[1]])


CANARY = "canary-77e0"


def answer(token, version=V1, **status):
    return json.dumps({"apiVersion": version, "kind": "ExecCredential",
                       "status": {"token": token, **status}})


FAULTS = {
    "hangs": (f"echo {CANARY}\nsleep 1000 & sleep 1000\n", "it did not end within 20s"),
    "exits": (f"echo {CANARY}\necho no such account >&2\nexit 1\n",
              "it ended with exit code 1: no such account"),
    "floods": ("head -c 10485760 /dev/zero\n", "it printed more than 1048576 bytes"),
    "wrong version": (f"echo '{answer(CANARY, 'client.authentication.k8s.io/v1beta1')}'\n",
                      "it answered in client.authentication.k8s.io/v1beta1, but is configured for "
                      "client.authentication.k8s.io/v1"),
    "ends at once": (
        "end=$(date -u -d '+1 second' +%Y-%m-%dT%H:%M:%SZ)\n"
        "echo '" + answer(CANARY, expirationTimestamp="END") + "' | sed s/END/$end/\n",
        "expire"),
}
