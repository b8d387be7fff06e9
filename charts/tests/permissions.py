"""What the manager asks of API servers, by the places in the sources that send requests.

Each place is found by its text. A place that is not listed here fails the test, and so does an entry
whose place is gone: so the roles of the charts cannot have too little or too much for long.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ("clusters", "controllers", "manager", "visibility", "lib/kube")
# A call of a client, up to the end of its first argument.
CALL = re.compile(r"\b((?:deps_\.)?client_?|worker->client)(?:\.|->)"
                  r"(get|get_raw|get_path|list|list_raw|create|create_raw|update|update_raw|patch|patch_raw"
                  r"|apply|apply_raw|remove|remove_collection|watch|patch_status|patch_metadata"
                  r"|patch_object)(<[\w:]+>)?\(\s*([^,();]*(?:\([^()]*\))?)")
# What hands an informer of the own cluster to a helper that writes.
HELPER = re.compile(r"\b(write_status|write_object|keep_finalizer|write_queue)\((?:cluster_|local_|hub_)\.(\w+)")
INFORMER = re.compile(r"\bInformer<api::(\w+)>>? \w+;")

KUEUE = "kueue.x-k8s.io"
RESOURCES = {  # kind: group, plural
    "AdmissionCheck": (KUEUE, "admissionchecks"),
    "ClusterProfile": ("multicluster.x-k8s.io", "clusterprofiles"),
    "ClusterQueue": (KUEUE, "clusterqueues"),
    "ClusterPermission": ("rbac.open-cluster-management.io", "clusterpermissions"),
    "Cohort": (KUEUE, "cohorts"),
    "ConfigMap": ("", "configmaps"),
    "LimitRange": ("", "limitranges"),
    "LocalQueue": (KUEUE, "localqueues"),
    "ManagedCluster": ("cluster.open-cluster-management.io", "managedclusters"),
    "ManagedServiceAccount":
        ("authentication.open-cluster-management.io", "managedserviceaccounts"),
    "MultiKueueCluster": (KUEUE, "multikueueclusters"),
    "MultiKueueConfig": (KUEUE, "multikueueconfigs"),
    "Namespace": ("", "namespaces"),
    "Node": ("", "nodes"),
    "Placement": ("cluster.open-cluster-management.io", "placements"),
    "PlacementDecision": ("cluster.open-cluster-management.io", "placementdecisions"),
    "ProfilePlacementDecision": ("multicluster.x-k8s.io", "placementdecisions"),
    "Pod": ("", "pods"),
    "PriorityClass": ("scheduling.k8s.io", "priorityclasses"),
    "ProvisioningRequest": ("autoscaling.x-k8s.io", "provisioningrequests"),
    "ProvisioningRequestConfig": (KUEUE, "provisioningrequestconfigs"),
    "ResourceFlavor": (KUEUE, "resourceflavors"),
    "RuntimeClass": ("node.k8s.io", "runtimeclasses"),
    "Secret": ("", "secrets"),
    "StoredPodTemplate": ("", "podtemplates"),
    "Topology": (KUEUE, "topologies"),
    "Workload": (KUEUE, "workloads"),
    "WorkloadPriorityClass": (KUEUE, "workloadpriorityclasses"),
    "Job": ("batch", "jobs"),
    "Event": ("", "events"),
    "Lease": ("coordination.k8s.io", "leases"),
    "MutatingWebhookConfiguration":
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    "ValidatingWebhookConfiguration":
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "customresourcedefinitions"),
    "TokenReview": ("authentication.k8s.io", "tokenreviews"),
    "SubjectAccessReview": ("authorization.k8s.io", "subjectaccessreviews"),
    "APIService": ("apiregistration.k8s.io", "apiservices"),
}
# The informers of LocalCluster, by name.
STORES = {"checks": "AdmissionCheck", "cluster_queues": "ClusterQueue", "cohorts": "Cohort",
          "flavors": "ResourceFlavor", "local_queues": "LocalQueue",
          "multikueue_clusters": "MultiKueueCluster", "topologies": "Topology"}
HELPERS = {"write_status": "patch {}/status", "write_queue": "patch {}/status",
           "write_object": "patch {}", "keep_finalizer": "patch {}"}

# What a place asks of the manager's own cluster ("own") or of a worker: "verb Kind[/subresource]".
# Places of lib/kube that serve every kind ask for what their users list here.
NOTHING = ()
# Where API servers read the authority of the manager's certificates: with certificates of its own.
BUNDLES = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
           "CustomResourceDefinition", "APIService")
# What is made of a ManagedCluster.
MADE = ("ManagedServiceAccount", "ClusterPermission", "Secret", "MultiKueueCluster")
PLACES = {
    "clusters/local_cluster.cpp": {
        "patch_status std::move(before)": ("own", "patch Workload/status"),
        "patch_metadata std::move(before)": ("own", "patch Workload"),
        "patch_object std::move(before)": ("own", "patch Workload"),
        "get<api::Workload> key": ("own", "get Workload"),
        "get_raw api::Workload::resource": ("own", "get Workload"),
        "create std::move(workload)": ("own", "create Workload"),
        "remove<api::Workload> workload->metadata.key()": ("own", "delete Workload"),
        "patch_raw id.kind->resource()": ("own", "patch Job", "patch Job/status"),
        "get_raw id.kind->resource()": ("own", "get Job"),
        "remove job->kind()": ("own", "delete Job"),
        "patch<api::Pod> key": ("own", "patch Pod"),
        "get<api::Pod> std::move(key)": ("own", "get Pod"),
        "patch_raw api::Pod::resource": ("own", "patch Pod/status"),
    },
    "clusters/local_cluster.h": {  # templates; HELPER finds their users
        "patch_status std::move(before)": NOTHING,
        "patch_metadata std::move(before)": NOTHING,
        "patch_object std::move(before)": NOTHING,
        "patch<T> std::move(key)": NOTHING,
    },
    "clusters/remote_cluster.cpp": {
        "list_raw api::Workload::resource": ("worker", "list Workload"),
        "get_raw resource": ("worker", "get Workload", "get Job"),
    },
    "controllers/dispatcher_on_workers.cpp": {
        "remove object->kind()": ("worker", "delete Job"),
        "patch_raw api::Workload::resource": ("worker", "patch Workload"),
        "remove<api::Workload> key": ("worker", "delete Workload"),
        "create_raw api::Workload::resource": ("worker", "create Workload"),
        "patch<api::Workload> key": ("worker", "patch Workload"),
        "patch_status *copy": ("worker", "patch Workload/status"),
        "create_raw kind.resource()": ("worker", "create Job"),
        # Of kinds whose replicas follow from the hub.
        "patch_raw kind.resource()": ("worker", "patch Job"),
        "get_raw job.kind->resource()": ("worker", "get Job"),
    },
    "controllers/managed_cluster_controller.cpp": {
        "get<api::ManagedCluster> key": ("managed", "get ManagedCluster"),
        "create_raw *step->resource": ("managed", *[f"create {kind}" for kind in MADE]),
        "patch_raw *step->resource": ("managed", *[f"patch {kind}" for kind in MADE]),
        "remove *step->resource": ("managed", *[f"delete {kind}" for kind in MADE]),
    },
    "controllers/provide_controller.cpp": {
        "list_raw resource": ("provide", "list Namespace", "list LocalQueue", "list ClusterQueue",
                              "list WorkloadPriorityClass"),
        "patch_raw *step.resource": ("provide", "patch WorkloadPriorityClass"),
        "create_raw *step.resource": ("provide", "create Namespace", "create LocalQueue",
                                      "create WorkloadPriorityClass"),
    },
    "controllers/elastic_ungater.cpp": {
        "patch<api::Pod> key": ("own", "patch Pod"),
    },
    "controllers/placement_controller.cpp": {
        "get_path std::move(path)": NOTHING,  # discovery, which all users may read
    },
    "controllers/provisioning_check_controller.cpp": {
        'get_path "/apis/autoscaling.x-k8s.io/v1"': NOTHING,  # discovery, which all users may read
        "remove api::ProvisioningRequest::resource": ("own", "delete ProvisioningRequest"),
        "create std::move(wanted.request)": ("own", "create ProvisioningRequest"),
        "create_raw api::StoredPodTemplate::resource": ("own", "create StoredPodTemplate"),
        "patch_metadata std::move(before)": ("own", "patch StoredPodTemplate"),
    },
    "manager/webhooks/certificate_source.cpp": {
        "get_raw api::Secret::resource": ("own", "get Secret"),
        "update_raw api::Secret::resource": ("certificates", "update Secret"),
        "create_raw api::Secret::resource": NOTHING,  # the chart makes it
        "get_raw target.resource": ("certificates", *[f"get {kind}" for kind in BUNDLES]),
        "list_raw target.resource": ("certificates", *[f"list {kind}" for kind in BUNDLES]),
        "update_raw target.resource": ("certificates", *[f"update {kind}" for kind in BUNDLES]),
    },
    "manager/kueue_leftovers.cpp": {
        'get_path "/apis/admissionregistration.k8s.io/v1/" + std::string(kind)':
            ("own", "list MutatingWebhookConfiguration", "list ValidatingWebhookConfiguration"),
        'get_path "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"':
            ("own", "get CustomResourceDefinition"),
    },
    "visibility/server/server.cpp": {
        "get<api::ConfigMap> {\"kube-system\"": NOTHING,  # by a Role of Kubernetes' own
    },
    # Its identity is its own; the manager's role has all of it but what is said here.
    "manager/placement_hub.cpp": {
        "get_raw api::Workload::resource": ("own", "get Workload"),
        "patch_status std::move(*before)": ("own", "patch Workload/status"),
        "apply<api::Workload> key": ("own", "patch Workload/status"),
        "patch_status std::move(before)": ("own", "patch AdmissionCheck/status"),
        "patch_status std::move(told)": ("placement", "patch MultiKueueCluster/status"),
        "get<api::Namespace> api::ObjectKey(\"kube-system\")": ("placement", "get Namespace"),
    },
    "manager/metrics_guard.cpp": {
        "create_raw token_reviews": ("reviews", "create TokenReview"),
    },
    "visibility/server/permissions.cpp": {
        "create_raw reviews": ("reviews", "create SubjectAccessReview"),
    },
    "lib/kube/lease.cpp": {
        "patch_raw lease_resource": ("own", "patch Lease"),
        "create_raw lease_resource": ("own", "create Lease"),
        "get_raw lease_resource": ("own", "get Lease"),
        "watch lease_resource": ("own", "watch Lease"),
    },
    "lib/kube/events.cpp": {
        "patch_raw event_resource": ("own", "patch Event"),
        "create_raw event_resource": ("own", "create Event"),
    },
    "lib/kube/informer_core.cpp": {
        "list_raw resource_": NOTHING,
        "watch resource_": NOTHING,
    },
}
# Asked by no request: an owner reference that blocks deletion needs the right to update the owner's
# finalizers.
OWNERS = ("update Job/finalizers", "update Workload/finalizers",
          "update ProvisioningRequest/finalizers")
# The stores of jobs of every kind: on the own cluster and on workers.
JOB_STORES = ("list Job", "watch Job")


def permission(text):
    """(verb, group, resource) of "verb Kind[/subresource]"."""
    verb, _, named = text.partition(" ")
    kind, slash, subresource = named.partition("/")
    group, plural = RESOURCES[kind]
    return verb, group, plural + slash + subresource


def calls(text):
    """The places of a source that send requests, as PLACES names them."""
    text = re.sub(r"//[^\n]*", "", text)
    return [f"{m[2]}{m[3] or ''} {' '.join(m[4].split())}".strip() for m in CALL.finditer(text)]


def sources():
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            skipped = name.endswith("_test.cpp") or name.startswith("lib/kube/client.")
            if path.suffix in (".h", ".cpp") and not skipped:
                yield name, path.read_text()


def derived():
    """(permissions for "own", "certificates", "reviews", "managed", "placement", "provide" and
    "worker", what does not fit together)."""
    asked = {where: set() for where in ("own", "certificates", "reviews", "managed", "placement",
                                        "provide", "worker")}
    wrong, seen = [], set()
    add = lambda where, *texts: asked[where].update(permission(t) for t in texts)
    for name, text in sources():
        listed = PLACES.get(name, {})
        for place in calls(text):
            seen.add((name, place))
            if place not in listed:
                wrong.append(f"{name} sends a request that is not listed: {place}")
            elif listed[place]:
                add(*listed[place])
        where = "worker" if name.startswith("clusters/remote_") else "own"
        if name.startswith("controllers/managed_cluster_"):
            where = "managed"
        for kind in INFORMER.findall(text):
            add(where, f"list {kind}", f"watch {kind}")
        for helper, store in HELPER.findall(text):
            add("own", HELPERS[helper].format(STORES[store]))
    for name, listed in PLACES.items():
        wrong += [f"{name} no longer has: {p}" for p in listed if (name, p) not in seen]
    add("own", *OWNERS, *JOB_STORES)
    add("worker", *JOB_STORES)
    return asked, wrong


def granted(rules):
    """The permissions of a role's rules."""
    return {(verb, group, resource) for rule in rules for verb in rule["verbs"]
            for group in rule.get("apiGroups", []) for resource in rule.get("resources", [])}
