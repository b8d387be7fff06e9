#include "lib/api/field_lister.h"
#include "lib/api/multikueue.h"
#include "lib/api/resource_flavor.h"

namespace regatta::api {

template <>
struct EnumText<LocationType> {
  static constexpr std::string_view texts[] = {"Secret", "Path"};
};
template <>
struct EnumText<QuotaManagement> {
  static constexpr std::string_view texts[] = {"Manual", "Automated"};
};

template <class V, Is<ResourceFlavorSpec> T>
void fields(V& v, T& o) {
  v("nodeLabels", o.node_labels);
  v("nodeTaints", o.node_taints);
  v("tolerations", o.tolerations);
  v("topologyName", o.topology_name);
}

template <class V, Is<ResourceFlavor> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
}

namespace {

struct TopologyLevel {
  std::string node_label;
};

}  // namespace

template <class V, Is<TopologyLevel> T>
void fields(V& v, T& o) {
  v("nodeLabel", o.node_label);
}

template <class V, Is<TopologySpec> T>
void fields(V& v, T& o) {
  std::vector<TopologyLevel> levels;
  if constexpr (std::same_as<V, FieldReader>) {
    v("levels", levels);
    for (TopologyLevel& level : levels) o.levels.push_back(std::move(level.node_label));
  } else {
    for (const std::string& label : o.levels) levels.push_back({label});
    v("levels", levels);
  }
}

template <class V, Is<Topology> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
}

template <class V, Is<WorkloadPriorityClass> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("value", o.value);
  v("description", o.description);
}

template <class V, Is<AdmissionCheckParameters> T>
void fields(V& v, T& o) {
  v("apiGroup", o.api_group);
  v("kind", o.kind);
  v("name", o.name);
}

template <class V, Is<AdmissionCheckSpec> T>
void fields(V& v, T& o) {
  v("controllerName", o.controller_name);
  v("parameters", o.parameters);
}

template <class V, Is<ConditionsStatus> T>
void fields(V& v, T& o) {
  v("conditions", o.conditions);
}

template <class V, Is<AdmissionCheck> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<KubeConfigSource> T>
void fields(V& v, T& o) {
  v("location", o.location);
  v("locationType", o.location_type);
}

template <class V, Is<ClusterProfileReference> T>
void fields(V& v, T& o) {
  v("name", o.name);
}

template <class V, Is<ClusterSource> T>
void fields(V& v, T& o) {
  v("kubeConfig", o.kube_config);
  v("clusterProfileRef", o.cluster_profile_ref);
}

template <class V, Is<MultiKueueClusterSpec> T>
void fields(V& v, T& o) {
  v("clusterSource", o.cluster_source);
}

template <class V, Is<MultiKueueCluster> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<MultiKueueConfigSpec> T>
void fields(V& v, T& o) {
  v("clusters", o.clusters);
  v("quotaManagement", o.quota_management);
}

template <class V, Is<MultiKueueConfig> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
}

template <class V, Is<ProvisioningRequestRetryStrategy> T>
void fields(V& v, T& o) {
  v("backoffLimitCount", o.backoff_limit_count);
  v("backoffBaseSeconds", o.backoff_base_seconds);
  v("backoffMaxSeconds", o.backoff_max_seconds);
}

template <class V, Is<NodeSelectorUpdate> T>
void fields(V& v, T& o) {
  v("key", o.key);
  v("valueFromProvisioningClassDetail", o.value_from_provisioning_class_detail);
}

template <class V, Is<ProvisioningRequestConfigSpec> T>
void fields(V& v, T& o) {
  v("provisioningClassName", o.provisioning_class_name);
  v("parameters", o.parameters);
  v("managedResources", o.managed_resources);
  v("retryStrategy", o.retry_strategy);
  v.inside("podSetUpdates",
           [&](auto& updates) { updates("nodeSelector", o.node_selector_updates); });
  v("podSetMergePolicy", o.pod_set_merge_policy);
}

template <class V, Is<ProvisioningRequestConfig> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
}

REGATTA_API_CODEC(ResourceFlavor);
template std::vector<std::string> field_paths<ResourceFlavor>();
REGATTA_API_CODEC(Topology);
template std::vector<std::string> field_paths<Topology>();
REGATTA_API_CODEC(WorkloadPriorityClass);
template std::vector<std::string> field_paths<WorkloadPriorityClass>();
REGATTA_API_CODEC(AdmissionCheck);
template std::vector<std::string> field_paths<AdmissionCheck>();
REGATTA_API_CODEC(MultiKueueCluster);
template std::vector<std::string> field_paths<MultiKueueCluster>();
REGATTA_API_CODEC(MultiKueueConfig);
template std::vector<std::string> field_paths<MultiKueueConfig>();
REGATTA_API_CODEC(ProvisioningRequestConfig);
template std::vector<std::string> field_paths<ProvisioningRequestConfig>();

}  // namespace regatta::api
