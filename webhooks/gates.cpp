#include "webhooks/gates.h"

#include <array>
#include <string_view>
#include <utility>

namespace regatta::webhooks {

Gates gates_of(const std::map<std::string, bool>& names) {
  using Member = bool Gates::*;
  constexpr std::array<std::pair<std::string_view, Member>, 11> known{{
      {"PartialAdmission", &Gates::partial_admission},
      {"ElasticJobsViaWorkloadSlices", &Gates::elastic_jobs},
      {"TopologyAwareScheduling", &Gates::topology_aware_scheduling},
      {"AdmissionGatedBy", &Gates::admission_gated_by},
      {"PriorityBoost", &Gates::priority_boost},
      {"ConcurrentAdmission", &Gates::concurrent_admission},
      {"RejectUpdatesToCQWithInvalidOnFlavors", &Gates::reject_invalid_on_flavors},
      {"WorkloadValidateResourcesAreNonNegative", &Gates::resources_are_non_negative},
      {"WorkloadValidationForPodSetMetadata", &Gates::pod_set_metadata},
      {"TASValidateWorkloadSliceSize", &Gates::slice_size},
      {"TASAssignmentsEncodingByHostnamePrefix", &Gates::hostname_prefixes},
  }};
  Gates gates;
  for (const auto& [name, gate] : known) {
    const auto found = names.find(std::string(name));
    if (found != names.end()) gates.*gate = found->second;
  }
  return gates;
}

}  // namespace regatta::webhooks
