"""Objects that the scenarios create."""
import base64
import json

NAMESPACE = "team-research"
SYSTEM = "kueue-system"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
ORIGIN_LABEL = "kueue.x-k8s.io/multikueue-origin"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"


def job(name, seconds=1, cpu="1", memory="1Gi", gpus=0, parallelism=1, managed_by=MULTIKUEUE,
        queue="default", namespace=NAMESPACE, suspend=True, annotations=None, labels=None):
    """A Job for the hub. `managed_by`: spec.managedBy; None for the cluster's own Job controller."""
    requests = {"cpu": cpu, "memory": memory}
    resources = {"requests": requests}
    if gpus:
        requests["nvidia.com/gpu"] = str(gpus)
        resources["limits"] = {"nvidia.com/gpu": str(gpus)}
    made = {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {**({QUEUE_LABEL: queue} if queue else {}), **(labels or {})},
            "annotations": {"sandbox.regatta.dev/run-seconds": str(seconds), **(annotations or {})}},
        "spec": {
            "suspend": suspend, "parallelism": parallelism, "completions": parallelism,
            "template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 2,
                "containers": [{"name": "main", "image": "registry.example/work:1",
                                "resources": resources}]}}}}
    if managed_by:
        made["spec"]["managedBy"] = managed_by
    return made


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def kubeconfig_secret(cluster, config):
    """The Secret that a MultiKueueCluster names; `config` is text or an object."""
    text = config if isinstance(config, str) else json.dumps(config)
    return {"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": f"{cluster}-kubeconfig", "namespace": SYSTEM},
            "data": {"kubeconfig": base64.b64encode(text.encode()).decode()}}


# The permissions of a hub on a worker: enough, and not more.
HUB_RULES = [
    {"apiGroups": ["batch"], "resources": ["jobs"],
     "verbs": ["create", "delete", "get", "list", "watch", "patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["get"]},
    {"apiGroups": ["flows.example.com", "jobset.x-k8s.io", "kubeflow.org", "ray.io",
                   "trainer.kubeflow.org", "workload.codeflare.dev"],
     "resources": ["*"], "verbs": ["create", "delete", "get", "list", "watch"]},
    {"apiGroups": ["", "apps"], "resources": ["pods", "statefulsets"],
     "verbs": ["create", "delete", "get", "list", "watch"]},
    {"apiGroups": ["leaderworkerset.x-k8s.io"], "resources": ["leaderworkersets"],
     "verbs": ["create", "delete", "get", "list", "watch", "patch"]},
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"],
     "verbs": ["create", "delete", "get", "list", "watch", "update", "patch"]},
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads/status"],
     "verbs": ["get", "patch", "update"]},
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["clusterqueues", "localqueues", "cohorts"],
     "verbs": ["get", "list", "watch"]},
]


def user_of(account):
    """The user that a server sees behind a service account of the managers' namespace."""
    return f"system:serviceaccount:{SYSTEM}:{account}"


def hub_account(name="multikueue-sa"):
    """A service account on a worker with the permissions that a hub needs."""
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": name, "namespace": SYSTEM}},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": name},
         "rules": HUB_RULES},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
         "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
         "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}]},
    ]
