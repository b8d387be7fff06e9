#include "lib/api/batch.h"
#include "lib/api/kueue.h"

namespace regatta::api {
namespace {

constexpr ResourceInfo kueue(std::string_view kind, std::string_view plural, bool namespaced) {
  return {"kueue.x-k8s.io", "v1beta2", kind, plural, namespaced};
}

}  // namespace

constinit const ResourceInfo Workload::resource = kueue("Workload", "workloads", true);
constinit const ResourceInfo LocalQueue::resource = kueue("LocalQueue", "localqueues", true);
constinit const ResourceInfo ClusterQueue::resource = kueue("ClusterQueue", "clusterqueues", false);
constinit const ResourceInfo Cohort::resource = kueue("Cohort", "cohorts", false);
constinit const ResourceInfo ResourceFlavor::resource =
    kueue("ResourceFlavor", "resourceflavors", false);
constinit const ResourceInfo Topology::resource = kueue("Topology", "topologies", false);
constinit const ResourceInfo WorkloadPriorityClass::resource =
    kueue("WorkloadPriorityClass", "workloadpriorityclasses", false);
constinit const ResourceInfo AdmissionCheck::resource =
    kueue("AdmissionCheck", "admissionchecks", false);
constinit const ResourceInfo MultiKueueCluster::resource =
    kueue("MultiKueueCluster", "multikueueclusters", false);
constinit const ResourceInfo MultiKueueConfig::resource =
    kueue("MultiKueueConfig", "multikueueconfigs", false);
constinit const ResourceInfo ProvisioningRequestConfig::resource =
    kueue("ProvisioningRequestConfig", "provisioningrequestconfigs", false);

constinit const ResourceInfo Job::resource = {"batch", "v1", "Job", "jobs", true};
constinit const ResourceInfo Namespace::resource = {"", "v1", "Namespace", "namespaces", false};
constinit const ResourceInfo Node::resource = {"", "v1", "Node", "nodes", false};
constinit const ResourceInfo Pod::resource = {"", "v1", "Pod", "pods", true};
constinit const ResourceInfo Secret::resource = {"", "v1", "Secret", "secrets", true};
constinit const ResourceInfo ConfigMap::resource = {"", "v1", "ConfigMap", "configmaps", true};
constinit const ResourceInfo ServiceAccount::resource = {"", "v1", "ServiceAccount",
                                                         "serviceaccounts", true};
constinit const ResourceInfo CoreEvent::resource = {"", "v1", "Event", "events", true};
constinit const ResourceInfo Event::resource = {"events.k8s.io", "v1", "Event", "events", true};
constinit const ResourceInfo LimitRange::resource = {"", "v1", "LimitRange", "limitranges", true};
constinit const ResourceInfo PriorityClass::resource = {"scheduling.k8s.io", "v1", "PriorityClass",
                                                        "priorityclasses", false};
constinit const ResourceInfo RuntimeClass::resource = {"node.k8s.io", "v1", "RuntimeClass",
                                                       "runtimeclasses", false};
constinit const ResourceInfo Lease::resource = {"coordination.k8s.io", "v1", "Lease", "leases",
                                                true};
constinit const ResourceInfo CustomResourceDefinition::resource = {
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false};

}  // namespace regatta::api
