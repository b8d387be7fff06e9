#pragma once

#include "jobs/admission_info.h"
#include "lib/api/autoscaling.h"
#include "lib/api/kueue.h"
#include "lib/base/clock.h"

#include <memory>
#include <string>
#include <vector>

/// The admission check that asks the cluster autoscaler for nodes: a workload with quota gets a
/// ProvisioningRequest for each of its checks of this kind, and the check follows its fate.
///
///   reserved ─► request <workload>-<check>-1 ─► Provisioned ─► Ready, pods told to use it
///                  │                                │
///                  │                                └─► CapacityRevoked ─► Rejected
///                  └─► Failed (or the booking expired before the admission)
///                        ├─► Retry while attempts are left: evicted, quota back, request …-2
///                        └─► Rejected
///
/// Pure functions; ProvisioningCheckController carries out what they say.
namespace regatta::lifecycle {

/// What a check's message begins with while the next attempt cannot be created.
inline constexpr const char* creation_failed = "Error creating ";

using RequestPtr = std::shared_ptr<const api::ProvisioningRequest>;

struct ProvisioningCheck {
  std::string name;
  std::shared_ptr<const api::ProvisioningRequestConfig> config;  ///< null: it cannot be used
  bool config_unreadable = false;  ///< there is one that cannot be decoded
};

struct ProvisioningView {
  std::shared_ptr<const api::Workload> workload;  ///< never null
  std::vector<ProvisioningCheck> checks;          ///< the workload's checks of this kind, by name
  std::vector<RequestPtr> requests;               ///< those that the workload owns
  bool cleanup_on_eviction = true;
};

/// Pods of one template, which may stand for several pod sets.
struct ProvisionedPods {
  std::string template_name;
  std::vector<std::string> pod_sets;  ///< the template of the first one counts
  std::int32_t count = 0;
};

struct WantedRequest {
  std::string check;
  api::ProvisioningRequest request;
  std::vector<ProvisionedPods> pods;
};

struct ProvisioningPlan {
  std::vector<api::AdmissionCheckState> states;  ///< those that changed
  std::vector<std::string> notes;                ///< Events: AdmissionCheckUpdated
  std::vector<RequestPtr> remove;
  std::vector<WantedRequest> create;
  std::vector<RequestPtr> current;  ///< to become owners of their pod templates
};

/// `conflict` when the admission does not fit the pod sets.
Result<ProvisioningPlan> plan_provisioning(const ProvisioningView& view, TimePoint now);

/// The status with the changed states.
api::WorkloadStatus with_states(api::WorkloadStatus status,
                                const std::vector<api::AdmissionCheckState>& states);

/// A core/v1 PodTemplate with the pods of a pod set as its flavors would place them. The workload
/// owns it until its request exists. An error when a flavor is missing or contradicts it.
Result<Json> provisioning_pod_template(const api::Workload& workload, const ProvisionedPods& pods,
                                       const jobs::FlavorLookup& flavor);

/// The Active condition of a check. `found`: the config exists.
api::Condition provisioning_check_condition(const api::AdmissionCheck& check, bool served,
                                            bool found);
/// The name of the config to which the check refers. The error says what is wrong with the
/// reference.
Result<std::string> provisioning_config_name(const api::AdmissionCheckSpec& check);

/// "<workload>-<check>-<attempt>", cut to the length of an object's name.
std::string provisioning_request_name(const std::string& workload, const std::string& check,
                                      std::int32_t attempt);

}  // namespace regatta::lifecycle
