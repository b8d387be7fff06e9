#pragma once

#include "lib/api/meta.h"

#include <cstdint>
#include <string>
#include <vector>

/// autoscaling.x-k8s.io/v1, the API of the cluster autoscaler: the fields that Regatta writes or
/// reads.
namespace regatta::api {

struct ProvisioningRequestPodSet {
  std::string pod_template;  ///< podTemplateRef.name
  std::int32_t count = 0;
  friend bool operator==(const ProvisioningRequestPodSet&,
                         const ProvisioningRequestPodSet&) = default;
};

struct ProvisioningRequestSpec {
  std::vector<ProvisioningRequestPodSet> pod_sets;
  std::string provisioning_class_name;
  StringMap parameters;
  friend bool operator==(const ProvisioningRequestSpec&, const ProvisioningRequestSpec&) = default;
};

struct ProvisioningRequestStatus {
  Conditions conditions;
  StringMap provisioning_class_details;
  friend bool operator==(const ProvisioningRequestStatus&,
                         const ProvisioningRequestStatus&) = default;
};

struct ProvisioningRequest {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ProvisioningRequestSpec spec;
  ProvisioningRequestStatus status;
  friend bool operator==(const ProvisioningRequest&, const ProvisioningRequest&) = default;
};

/// A stored core/v1 PodTemplate: only its metadata, which says which object owns it.
struct StoredPodTemplate {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  friend bool operator==(const StoredPodTemplate&, const StoredPodTemplate&) = default;
};

/// Condition types of a ProvisioningRequest, and annotations of pods that use one.
namespace provisioning {
constexpr std::string_view accepted = "Accepted";
constexpr std::string_view provisioned = "Provisioned";
constexpr std::string_view failed = "Failed";
constexpr std::string_view booking_expired = "BookingExpired";
constexpr std::string_view capacity_revoked = "CapacityRevoked";
constexpr std::string_view consume_annotation = "autoscaling.x-k8s.io/consume-provisioning-request";
constexpr std::string_view class_annotation = "autoscaling.x-k8s.io/provisioning-class-name";
}  // namespace provisioning

}  // namespace regatta::api
