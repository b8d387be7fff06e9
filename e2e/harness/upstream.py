"""Upstream Kueue's manager in the place of Regatta's, from the program `kueue` beside kube-apiserver.

It runs without webhooks and without its visibility API, so Jobs are created suspended and with
`managedBy`, as the scenarios do anyway."""
import json
import os
import subprocess

from .ports import free_port
from .process import Process

# Regatta clears with one merge patch what it nominated with another. Upstream applies, and an apply
# clears only what its field manager wrote. So upstream's hub needs a policy for nominations of others.
CLEARED = "clear-nominated-cluster-names"
NOMINATIONS_ARE_CLEARED = [
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
     "metadata": {"name": CLEARED},
     "spec": {
         "failurePolicy": "Fail", "reinvocationPolicy": "Never",
         "matchConstraints": {"resourceRules": [{
             "apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["*"], "operations": ["UPDATE"],
             "resources": ["workloads", "workloads/status"]}]},
         "matchConditions": [{"name": "won-but-nominated", "expression": (
             "has(object.status) && has(object.status.nominatedClusterNames) && "
             "has(object.status.clusterName) && object.status.clusterName != ''")}],
         "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": (
             '[JSONPatch{op: "remove", path: "/status/nominatedClusterNames"}]')}}]}},
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
     "metadata": {"name": CLEARED}, "spec": {"policyName": CLEARED}},
]

# In this mode the manager reads the certificate of its metrics server from a fixed place. It gets an
# /etc of its own, so that a scenario leaves nothing on the machine.
IN_OWN_ETC = """set -eu
mount -t tmpfs none /etc
mkdir -p /etc/kueue/metrics/certs
cp "$0/tls.crt" "$0/tls.key" /etc/kueue/metrics/certs
exec "$@"
"""


def missing(assets):
    """Why no scenario with upstream's manager can run; None when they can. `assets`: the folder of
    kube-apiserver, or None."""
    if not assets:
        return "it needs upstream's manager: KUBEBUILDER_ASSETS with etcd, kube-apiserver and kueue"
    if not os.access(os.path.join(assets, "kueue"), os.X_OK):
        return f"it needs upstream's manager: there is no program kueue in {assets}"
    return None


def manager(cluster, config):
    """The process of upstream's manager for a cluster; `config` is what Regatta's would get."""
    certificates = os.path.join(cluster.folder, "upstream-certs")
    os.makedirs(certificates, exist_ok=True)
    make_certificate(certificates)
    config = {**config, "internalCertManagement": {"enable": False},
              "webhook": {"host": "127.0.0.1", "port": free_port(), "certDir": certificates},
              "clientConnection": {"qps": 300, "burst": 500}}
    path = os.path.join(cluster.folder, "upstream.yaml")
    with open(path, "w") as f:
        json.dump(config, f, indent=2)
    private = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    argv = [*private, "sh", "-c", IN_OWN_ETC, certificates, os.path.join(cluster.suite.assets, "kueue"),
            "--config", path, "--kubeconfig", cluster.kubeconfig(),
            "--feature-gates=VisibilityOnDemand=false"]
    return Process(cluster.suite.guardian, f"{cluster.name} upstream manager", argv,
                   os.path.join(cluster.folder, "upstream.log"), {"KUBECONFIG": cluster.kubeconfig()})


def make_certificate(folder):
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", "tls.key", "-out", "tls.crt", "-days", "30", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl req: {done.stderr.strip()}")
