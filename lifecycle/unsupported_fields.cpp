#include "lifecycle/unsupported_fields.h"

namespace regatta::lifecycle {

std::string in_vain(const api::ClusterQueueSpec& spec) {
  if (!spec.concurrent_admission_policy) return {};
  return "spec.concurrentAdmissionPolicy has no effect: concurrent admission is not supported, "
         "workloads get the first flavor that fits";
}

std::string in_vain(const api::MultiKueueConfigSpec& spec) {
  if (spec.quota_management != api::QuotaManagement::Automated) return {};
  return "spec.quotaManagement Automated has no effect without the feature gate "
         "MultiKueueManagerQuotaAutomation: set it, or set the quotas of the ClusterQueues that "
         "use "
         "this config yourself";
}

}  // namespace regatta::lifecycle
