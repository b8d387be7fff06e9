#pragma once

#include "lib/api/meta.h"
#include "lib/api/names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

struct AdmissionCheckParameters {
  std::string api_group;
  std::string kind;
  std::string name;
  friend bool operator==(const AdmissionCheckParameters&,
                         const AdmissionCheckParameters&) = default;
};

struct AdmissionCheckSpec {
  std::string controller_name;
  std::optional<AdmissionCheckParameters> parameters;
  friend bool operator==(const AdmissionCheckSpec&, const AdmissionCheckSpec&) = default;
};

struct ConditionsStatus {
  Conditions conditions;
  friend bool operator==(const ConditionsStatus&, const ConditionsStatus&) = default;
};

struct AdmissionCheck {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  AdmissionCheckSpec spec;
  ConditionsStatus status;
  friend bool operator==(const AdmissionCheck&, const AdmissionCheck&) = default;
};

/// Whether the check sends workloads to worker clusters.
inline bool is_multikueue(const AdmissionCheck& check) {
  return check.spec.controller_name == multikueue_controller_name;
}

enum class LocationType : std::uint8_t { Secret, Path };

struct KubeConfigSource {
  std::string location;
  LocationType location_type = LocationType::Secret;
  friend bool operator==(const KubeConfigSource&, const KubeConfigSource&) = default;
};

struct ClusterProfileReference {
  std::string name;
  friend bool operator==(const ClusterProfileReference&, const ClusterProfileReference&) = default;
};

/// Exactly one is set in an object the API server accepted.
struct ClusterSource {
  std::optional<KubeConfigSource> kube_config;
  std::optional<ClusterProfileReference> cluster_profile_ref;
  friend bool operator==(const ClusterSource&, const ClusterSource&) = default;
};

struct MultiKueueClusterSpec {
  ClusterSource cluster_source;
  friend bool operator==(const MultiKueueClusterSpec&, const MultiKueueClusterSpec&) = default;
};

struct MultiKueueCluster {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  MultiKueueClusterSpec spec;
  ConditionsStatus status;
  friend bool operator==(const MultiKueueCluster&, const MultiKueueCluster&) = default;
};

enum class QuotaManagement : std::uint8_t { Manual, Automated };

struct MultiKueueConfigSpec {
  std::vector<std::string> clusters;  ///< order matters to the incremental dispatcher
  std::optional<QuotaManagement> quota_management;
  friend bool operator==(const MultiKueueConfigSpec&, const MultiKueueConfigSpec&) = default;
};

struct MultiKueueConfig {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  MultiKueueConfigSpec spec;
  friend bool operator==(const MultiKueueConfig&, const MultiKueueConfig&) = default;
};

struct ProvisioningRequestRetryStrategy {
  std::int32_t backoff_limit_count = 3;
  std::int32_t backoff_base_seconds = 60;
  std::int32_t backoff_max_seconds = 1800;
  friend bool operator==(const ProvisioningRequestRetryStrategy&,
                         const ProvisioningRequestRetryStrategy&) = default;
};

struct NodeSelectorUpdate {
  std::string key;
  std::string value_from_provisioning_class_detail;
  friend bool operator==(const NodeSelectorUpdate&, const NodeSelectorUpdate&) = default;
};

struct ProvisioningRequestConfigSpec {
  std::string provisioning_class_name;
  StringMap parameters;
  std::vector<std::string> managed_resources;
  ProvisioningRequestRetryStrategy retry_strategy;
  std::vector<NodeSelectorUpdate> node_selector_updates;  ///< podSetUpdates.nodeSelector
  std::string pod_set_merge_policy;
  friend bool operator==(const ProvisioningRequestConfigSpec&,
                         const ProvisioningRequestConfigSpec&) = default;
};

struct ProvisioningRequestConfig {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ProvisioningRequestConfigSpec spec;
  friend bool operator==(const ProvisioningRequestConfig&,
                         const ProvisioningRequestConfig&) = default;
};

}  // namespace regatta::api
