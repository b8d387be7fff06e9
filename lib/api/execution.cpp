#include "lib/api/execution.h"

#include "lib/api/names.h"

#include <algorithm>
#include <limits>

namespace regatta::api {

namespace {

/// To be called before the Admitted condition becomes false.
void count_execution(WorkloadStatus& status, TimePoint now) {
  const Condition* admitted = find_condition(status.conditions, conditions::admitted);
  if (!admitted || admitted->status != ConditionStatus::True) return;
  const std::int64_t ran =
      std::chrono::duration_cast<std::chrono::seconds>(now - admitted->last_transition_time)
          .count();
  const std::int64_t past = status.accumulated_past_execution_time_seconds.value_or(0);
  status.accumulated_past_execution_time_seconds = static_cast<std::int32_t>(std::min<std::int64_t>(
      past + std::max<std::int64_t>(0, ran), std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

bool end_admission(WorkloadStatus* status, std::int64_t generation, TimePoint now) {
  const Condition* said = find_condition(status->conditions, conditions::admitted);
  // A newer generation in the same condition is not worth a write.
  if (said && said->status == ConditionStatus::False && said->reason == reasons::no_reservation) {
    return false;
  }
  count_execution(*status, now);
  return set_condition(&status->conditions,
                       {std::string(conditions::admitted),
                        ConditionStatus::False,
                        generation,
                        {},
                        std::string(reasons::no_reservation),
                        "The workload has no reservation"},
                       now);
}

std::optional<TimePoint> may_run_until(const WorkloadSpec& spec, const WorkloadStatus& status) {
  const auto& limit = spec.maximum_execution_time_seconds;
  const Condition* admitted = find_condition(status.conditions, conditions::admitted);
  if (!limit || !admitted || admitted->status != ConditionStatus::True) return std::nullopt;
  const std::chrono::seconds past(status.accumulated_past_execution_time_seconds.value_or(0));
  return admitted->last_transition_time + std::chrono::seconds(*limit) - past;
}

void inherit_execution(WorkloadStatus* status, const WorkloadStatus& replaced, TimePoint now) {
  WorkloadStatus counted = replaced;
  count_execution(counted, now);
  if (counted.accumulated_past_execution_time_seconds) {
    status->accumulated_past_execution_time_seconds =
        counted.accumulated_past_execution_time_seconds;
  }
}

}  // namespace regatta::api
