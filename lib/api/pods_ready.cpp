#include "lib/api/pods_ready.h"

#include "lib/api/names.h"

namespace regatta::api {

PodsReadiness next_readiness(const Workload& workload, bool ready) {
  const Condition* said = find_condition(workload.status.conditions, conditions::pods_ready);
  const bool failed_before =
      said && (said->reason == reasons::wait_for_recovery || said->reason == reasons::recovered);
  if (ready) return failed_before ? PodsReadiness::recovered : PodsReadiness::started;
  const bool was_ready = said && said->status == ConditionStatus::True;
  return was_ready || failed_before ? PodsReadiness::wait_for_recovery
                                    : PodsReadiness::wait_for_start;
}

bool set_pods_ready(WorkloadStatus* status, std::int64_t generation, PodsReadiness readiness,
                    TimePoint now) {
  Condition condition;
  condition.type = std::string(conditions::pods_ready);
  condition.status = ConditionStatus::False;
  condition.observed_generation = generation;
  switch (readiness) {
    case PodsReadiness::wait_for_start:
      condition.reason = reasons::wait_for_start;
      condition.message = "Not all pods are ready or succeeded";
      break;
    case PodsReadiness::wait_for_recovery:
      condition.reason = reasons::wait_for_recovery;
      condition.message = "At least one pod has failed, waiting for recovery";
      break;
    case PodsReadiness::started:
    case PodsReadiness::recovered:
      condition.status = ConditionStatus::True;
      condition.reason =
          readiness == PodsReadiness::started ? reasons::started : reasons::recovered;
      condition.message = "All pods reached readiness and the workload is running";
      break;
  }
  const Condition* said = find_condition(status->conditions, conditions::pods_ready);
  if (said && said->status == condition.status && said->reason == condition.reason) return false;
  return set_condition(&status->conditions, std::move(condition), now);
}

}  // namespace regatta::api
