"""The kinds of jobs that have a field `suspend`: what a job of each looks like, and what its operator
writes into its status. No operator runs; scenarios write in its place."""
import copy
import dataclasses
import os
import pathlib

from . import objects
from .suite import Skip

SINCE = "2026-01-01T00:00:00Z"
IMAGE = "registry.example/work:1"


OWN_CRDS = pathlib.Path(__file__).parent / "crds"


def crd_file(name):
    """The CRDs of other projects are large: REGATTA_THIRD_PARTY_CRDS names the folder that has them."""
    if (OWN_CRDS / name).exists():
        return OWN_CRDS / name
    folder = os.environ.get("REGATTA_THIRD_PARTY_CRDS", "")
    found = sorted(pathlib.Path(folder).rglob(name)) if folder else []
    if not found:
        raise Skip(f"{name} is not in REGATTA_THIRD_PARTY_CRDS")
    return found[0]


def pod_spec(container="main", restart=None, port=None):
    """The spec of a pod that asks for one core. CRDs have a default for the protocol of a port."""
    spec = {"nodeSelector": {"disk": "fast"},
            "tolerations": [{"key": "example.dev/busy", "operator": "Exists"}],
            "containers": [{
                "name": container, "image": IMAGE, "command": ["work"],
                "env": [{"name": "RANK", "value": "0"}],
                "ports": [port or {"containerPort": 8080}],
                "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}]}
    return {**spec, **({"restartPolicy": restart} if restart else {})}


def pod_template(*args, **options):
    return {"metadata": {"labels": {"example.dev/team": "blue"}}, "spec": pod_spec(*args, **options)}


def condition(kind, status="True", message="the operator says so"):
    return {"type": kind, "status": status, "reason": "Said", "message": message,
            "lastTransitionTime": SINCE}


@dataclasses.dataclass(frozen=True, eq=False)
class Kind:
    """`pods`: (name of a pod set, how many pods, where in the job the labels of nodes for them are).
    `running`, `stopped`, `done`, `failed`: the status that its operator writes. `done` is None where
    jobs have no end. `shown`: what the hub's job must have of `running`, where it is not the whole.
    `left`: what a job that was stopped keeps of its start; `dispatched`: MultiKueue runs the kind.
    `child`: the kind of the jobs by which its operator runs it, where these are of such a kind.
    `description`: what the Configuration says of a kind that Regatta does not have."""
    name: str
    api: str
    plural: str
    spec: dict
    pods: tuple
    running: dict
    stopped: dict
    done: dict = None
    failed: dict = None
    suspend: tuple = ("spec", "suspend")
    managed_by: tuple = ("spec", "managedBy")
    crds: tuple = ()
    runtime: dict = None
    left: tuple = ()
    dispatched: bool = True
    child: "Kind" = None
    description: dict = None

    @property
    def group(self):
        return self.api.split("/")[0]

    @property
    def framework(self):
        return f"{self.group}/{self.name.lower()}"

    @property
    def crd_files(self):
        return self.crds or (f"{self.group}_{self.plural}.yaml",)

    @property
    def cores(self):
        """What a job asks for."""
        return sum(count for _, count, _ in self.pods)

    def job(self, name, queue=None, suspend=None, managed_by=None, labels=None):
        labels = {**({objects.QUEUE_LABEL: queue} if queue else {}), **(labels or {})}
        made = {"apiVersion": self.api, "kind": self.name,
                "metadata": {"name": name, "namespace": objects.NAMESPACE, "labels": labels},
                "spec": copy.deepcopy(self.spec)}
        if suspend is not None:
            put(made, self.suspend, suspend)
        if managed_by:
            put(made, self.managed_by, managed_by)
        return made

    def child_of(self, job):
        made = self.child.job(f"{job['metadata']['name']}-of-{self.name.lower()}")
        made["metadata"]["ownerReferences"] = [{
            "apiVersion": self.api, "kind": self.name, "controller": True, "blockOwnerDeletion": True,
            **{field: job["metadata"][field] for field in ("name", "uid")}}]
        return made

    def path(self, name=None):
        """Of the URL."""
        tail = f"/{name}" if name else ""
        return f"/apis/{self.api}/namespaces/{objects.NAMESPACE}/{self.plural}{tail}"


def integrations(wanted):
    """The section of a Configuration for these kinds."""
    described = [kind.description for kind in wanted if kind.description]
    return {"frameworks": ["batch/job", *[kind.framework for kind in wanted]],
            **({"describedKinds": described} if described else {})}


def at(value, path):
    """What is there; None when there is nothing."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def put(value, path, new):
    for step in path[:-1]:
        value = value.setdefault(step, {})
    value[path[-1]] = new


def ends_as(status, done):
    """Whether the status tells the same end; others may have written it in other words."""
    types = [c["type"] for c in status.get("conditions", []) if c["status"] == "True"]
    return all(c["type"] in types or c["status"] != "True" for c in done.get("conditions", [])) and all(
        status.get(field) == value for field, value in done.items()
        if field not in ("conditions", "message"))


# --- JobSet and TrainJob

JOB = Kind("Job", "batch/v1", "jobs", spec={"template": pod_template(restart="Never")},
           pods=(("main", 1, ("spec", "template", "spec", "nodeSelector")),), running={}, stopped={})


def replicated(name, active=0, ready=0):
    return {"name": name, "active": active, "ready": ready, "succeeded": 0, "failed": 0,
            "suspended": 0 if active else 1}


def jobset_role(name, replicas, pods):
    return {"name": name, "replicas": replicas, "template": {"spec": {
        "parallelism": pods, "completions": pods, "template": pod_template(restart="Never")}}}


def below_role(i):
    return ("spec", "replicatedJobs", i, "template", "spec", "template", "spec", "nodeSelector")


JOBSET = Kind(
    "JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets",
    spec={"replicatedJobs": [jobset_role("lead", 1, 1), jobset_role("crew", 2, 2)]},
    pods=(("lead", 1, below_role(0)), ("crew", 4, below_role(1))),
    running={"restarts": 0, "replicatedJobsStatus": [replicated("lead", 1, 1), replicated("crew", 2, 2)]},
    stopped={"restarts": 0, "conditions": [condition("Suspended")],
             "replicatedJobsStatus": [replicated("lead"), replicated("crew")]},
    done={"terminalState": "Completed", "conditions": [condition("Completed")]},
    failed={"terminalState": "Failed", "conditions": [condition("Failed")]},
    child=JOB)

TORCH = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
    "spec": {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": [{
        "name": "node", "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": pod_template("node")}}}]}}}}

# What the webhook adds to a TrainJob, and a stop leaves.
PATCHES = [{"manager": "kueue.x-k8s.io/manager",
            "trainingRuntimeSpec": {"template": {"spec": {}}}}]

TRAINJOB = Kind(
    "TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs",
    crds=("trainer.kubeflow.org_trainjobs.yaml", "trainer.kubeflow.org_trainingruntimes.yaml",
          "trainer.kubeflow.org_clustertrainingruntimes.yaml"),
    runtime=TORCH,
    spec={"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 3, "image": "registry.example/work:2"}},
    pods=(("node", 3, ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template", "spec",
                       "replicatedJobs", 0, "template", "spec", "template", "spec", "nodeSelector")),),
    running={"jobsStatus": [replicated("node", 1, 1)]},
    stopped={"jobsStatus": [replicated("node")], "conditions": [condition("Suspended")]},
    done={"conditions": [condition("Complete")]},
    failed={"conditions": [condition("Failed")]})


# --- Ray


def ray_cluster(**more):
    return {"rayVersion": "2.52.0",
            "headGroupSpec": {"rayStartParams": {"dashboard-host": "0.0.0.0"},
                              "template": pod_template("ray-head")},
            "workerGroupSpecs": [{
                "groupName": "small", "replicas": 2, "minReplicas": 0, "maxReplicas": 5,
                "rayStartParams": {}, "template": pod_template("ray-worker")}], **more}


def ray_pods(*cluster):
    """`cluster`: where the description of a cluster is in the job."""
    below = ("template", "spec", "nodeSelector")
    return (("head", 1, (*cluster, "headGroupSpec", *below)),
            ("small", 2, (*cluster, "workerGroupSpecs", 0, *below)))


RAY_OF_JOB = {"rayClusterName": "cluster-x", "rayClusterStatus": {"state": "ready"}}

RAYCLUSTER = Kind(
    "RayCluster", "ray.io/v1", "rayclusters", spec=ray_cluster(), pods=ray_pods("spec"),
    running={"state": "ready", "readyWorkerReplicas": 2, "desiredWorkerReplicas": 2},
    stopped={"state": "suspended"})

RAY = (
    RAYCLUSTER,
    Kind("RayJob", "ray.io/v1", "rayjobs",
         spec={"entrypoint": "python work.py", "shutdownAfterJobFinishes": True,
               "rayClusterSpec": ray_cluster(),
               "submitterPodTemplate": pod_template("submit", restart="Never")},
         pods=(*ray_pods("spec", "rayClusterSpec"),
               ("submitter", 1, ("spec", "submitterPodTemplate", "spec", "nodeSelector"))),
         running={"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", **RAY_OF_JOB},
         stopped={"jobDeploymentStatus": "Suspended", "jobStatus": ""},
         done={"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED",
               "message": "the operator says so"},
         failed={"jobDeploymentStatus": "Failed", "jobStatus": "FAILED",
                 "message": "the operator says so"},
         child=RAYCLUSTER),
    Kind("RayService", "ray.io/v1", "rayservices",
         spec={"serveConfigV2": "applications: []", "rayClusterConfig": ray_cluster()},
         pods=ray_pods("spec", "rayClusterConfig"),
         suspend=("spec", "rayClusterConfig", "suspend"),
         running={"conditions": [condition("Ready")], "serviceStatus": "Running",
                  "activeServiceStatus": {"rayClusterName": "cluster-y"}},
         stopped={"conditions": [condition("Ready", "False")]},
         child=RAYCLUSTER),
)


# --- Kubeflow


def trainer(name, plural, holder, container, roles, api="kubeflow.org/v1"):
    """`roles`: (name, replicas) in the order of the pod sets."""
    specs = {role: {"replicas": count, "restartPolicy": "Never", "template": pod_template(container)}
             for role, count in roles}
    counts = {role: {"active": count} for role, count in roles}
    says = lambda kind: {"conditions": [condition(kind)]}
    return Kind(
        name, api, plural, spec={holder: specs, "runPolicy": {"cleanPodPolicy": "Running"}},
        pods=tuple((role.lower(), count, ("spec", holder, role, "template", "spec", "nodeSelector"))
                   for role, count in roles),
        suspend=("spec", "runPolicy", "suspend"), managed_by=("spec", "runPolicy", "managedBy"),
        running={**says("Running"), "replicaStatuses": counts, "startTime": SINCE},
        stopped={**says("Suspended"), "replicaStatuses": {role: {} for role, _ in roles}},
        done=says("Succeeded"), failed=says("Failed"))


KUBEFLOW = (
    trainer("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", "pytorch",
            (("Master", 1), ("Worker", 2))),
    trainer("TFJob", "tfjobs", "tfReplicaSpecs", "tensorflow",
            (("Chief", 1), ("PS", 1), ("Worker", 2), ("Evaluator", 1))),
    trainer("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost",
            (("Master", 1), ("Worker", 2))),
    trainer("PaddleJob", "paddlejobs", "paddleReplicaSpecs", "paddle",
            (("Master", 1), ("Worker", 2))),
    trainer("JAXJob", "jaxjobs", "jaxReplicaSpecs", "jax", (("Worker", 2),)),
)

MPIJOB = trainer("MPIJob", "mpijobs", "mpiReplicaSpecs", "mpi", (("Launcher", 1), ("Worker", 2)),
                 api="kubeflow.org/v2beta1")


# --- AppWrapper and SparkApplication


HTTP = {"containerPort": 8080, "protocol": "TCP"}  # the CRD does not look into what is wrapped


def wrapped(status):
    return [condition(kind, status) for kind in ("QuotaReserved", "ResourcesDeployed", "PodsReady")]


APPWRAPPER = Kind(
    "AppWrapper", "workload.codeflare.dev/v1beta2", "appwrappers",
    spec={"components": [
        {"template": {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "part"},
            "spec": {"parallelism": 2, "completions": 2,
                     "template": pod_template(restart="Never", port=HTTP)}},
         "podSets": [{"replicas": 2, "path": "template.spec.template"}]},
        {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"},
                      "spec": pod_spec(restart="Never", port=HTTP)}}]},
    pods=(("-0", 2, ("spec", "components", 0, "podSetInfos", 0, "nodeSelector")),
          ("-1", 1, ("spec", "components", 1, "podSetInfos", 0, "nodeSelector"))),
    running={"phase": "Running", "conditions": wrapped("True")},
    stopped={"phase": "Suspended", "conditions": wrapped("False")},
    done={"phase": "Succeeded", "conditions": wrapped("False")},
    failed={"phase": "Failed", "conditions": wrapped("False")},
    child=JOB)


def spark_role(**more):
    return {"coreRequest": "1", "memory": "64m", "nodeSelector": {"disk": "fast"}, **more}


def spark_state(state, **more):
    return {"applicationState": {"state": state, "errorMessage": "the operator says so"},
            "driverInfo": {}, **more}


SPARK = Kind(
    "SparkApplication", "sparkoperator.k8s.io/v1beta2", "sparkapplications",
    spec={"type": "Python", "mode": "cluster", "sparkVersion": "3.5.0", "image": IMAGE,
          "mainApplicationFile": "local:///work.py",
          "driver": spark_role(serviceAccount="spark"), "executor": spark_role(instances=2)},
    pods=(("driver", 1, ("spec", "driver", "nodeSelector")),
          ("executor", 2, ("spec", "executor", "nodeSelector"))),
    running=spark_state("RUNNING", executorState={"exec-1": "RUNNING", "exec-2": "RUNNING"}),
    stopped=spark_state("SUSPENDED"), done=spark_state("COMPLETED"), failed=spark_state("FAILED"),
    left=(("spec", "driver", "template"), ("spec", "executor", "template")),
    dispatched=False)

# --- A kind that Regatta does not have


PIPELINE = Kind(
    "Pipeline", "flows.example.com/v1", "pipelines",
    spec={"driver": {"template": pod_template()},
          "workers": {"replicas": 2, "template": pod_template()}},
    pods=(("driver", 1, ("spec", "driver", "template", "spec", "nodeSelector")),
          ("workers", 2, ("spec", "workers", "template", "spec", "nodeSelector"))),
    running={"phase": "Running", "active": 3, "ready": 3},
    stopped={"phase": "Suspended", "active": 0, "ready": 0},
    done={"phase": "Succeeded", "active": 0},
    failed={"phase": "Failed", "active": 0, "message": "the operator says so"},
    description={
        "apiVersion": "flows.example.com/v1", "kind": "Pipeline", "resource": "pipelines",
        "podSets": [{"name": "driver", "template": "/spec/driver/template"},
                    {"name": "workers", "template": "/spec/workers/template",
                     "count": "/spec/workers/replicas"}],
        "managedBy": "/spec/managedBy",
        "status": {
            "active": "has(object.status.active) && object.status.active > 0",
            "finished": "has(object.status.phase) && object.status.phase in ['Succeeded', 'Failed']",
            "success": "object.status.phase == 'Succeeded'",
            "message": "object.status.?message.orValue('')",
            "podsReady": "has(object.status.ready) && object.status.ready == 3"},
        "finalStatus": {"succeeded": {"phase": "Succeeded", "active": 0},
                        "failed": {"phase": "Failed", "active": 0}}})

# The MPI operator and the training operator have versions of one API group.
TRAINING = (*KUBEFLOW, TRAINJOB)
DIVERSE = (JOBSET, *RAY, MPIJOB, APPWRAPPER, SPARK)
