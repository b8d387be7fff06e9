#pragma once

#include <map>
#include <string>

namespace regatta::webhooks {

/// The feature gates that change what webhooks do.
struct Gates {
  bool partial_admission = true;
  bool elastic_jobs = true;  ///< ElasticJobsViaWorkloadSlices
  bool topology_aware_scheduling = true;
  bool admission_gated_by = true;
  bool priority_boost = false;
  bool concurrent_admission = false;
  bool reject_invalid_on_flavors = false;  ///< RejectUpdatesToCQWithInvalidOnFlavors
  bool resources_are_non_negative = true;  ///< WorkloadValidateResourcesAreNonNegative
  bool pod_set_metadata = true;            ///< WorkloadValidationForPodSetMetadata
  bool slice_size = true;                  ///< TASValidateWorkloadSliceSize
  bool hostname_prefixes = true;           ///< TASAssignmentsEncodingByHostnamePrefix
};

/// The defaults with these gates set; names of other gates are passed over.
Gates gates_of(const std::map<std::string, bool>& names);

}  // namespace regatta::webhooks
