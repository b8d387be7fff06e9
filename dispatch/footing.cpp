#include "dispatch/footing.h"

#include "lib/api/names.h"

namespace regatta::dispatch {

Footing footing_of(const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  Footing footing;
  footing.uid = workload.metadata.uid;
  footing.deleting = workload.metadata.deleting();
  footing.evicted = api::is_true(status.conditions, api::conditions::evicted);
  footing.finished = api::is_true(status.conditions, api::conditions::finished);
  const api::Condition* quota =
      api::find_condition(status.conditions, api::conditions::quota_reserved);
  if (quota && quota->status == api::ConditionStatus::True) {
    footing.reserved = true;
    footing.reserved_at = quota->last_transition_time;
  }
  footing.cluster_name = status.cluster_name.value_or("");
  for (const api::AdmissionCheckState& check : status.admission_checks) {
    footing.checks.emplace_back(check.name, check.state);
  }
  return footing;
}

}  // namespace regatta::dispatch
