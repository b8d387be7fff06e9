#include "lifecycle/pods_ready.h"

#include "lib/api/names.h"

#include <algorithm>
#include <cmath>

namespace regatta::lifecycle {
namespace {

constexpr double jitter_part = 1e-4;

std::int64_t tries(const std::optional<api::RequeueState>& state) {
  return state ? state->count.value_or(0) : 0;
}

}  // namespace

std::optional<NotReady> not_ready(const api::WorkloadStatus& status,
                                  const PodsReadyPolicy& policy) {
  const api::Conditions& conditions = status.conditions;
  const api::Condition* admitted = api::find_condition(conditions, api::conditions::admitted);
  if (!admitted || admitted->status != api::ConditionStatus::True) return {};
  const api::Condition* ready = api::find_condition(conditions, api::conditions::pods_ready);
  if (ready && ready->status == api::ConditionStatus::True) return {};
  if (ready && ready->reason == api::reasons::wait_for_recovery) {
    if (!policy.recovery_timeout) return {};
    return NotReady{api::reasons::wait_for_recovery,
                    ready->last_transition_time + *policy.recovery_timeout,
                    *policy.recovery_timeout};
  }
  return NotReady{api::reasons::wait_for_start, admitted->last_transition_time + policy.timeout,
                  policy.timeout};
}

bool tries_used_up(const api::WorkloadStatus& status, const PodsReadyPolicy& policy) {
  return policy.backoff_limit_count &&
         tries(status.requeue_state) + 1 > *policy.backoff_limit_count;
}

api::RequeueState back_off(const std::optional<api::RequeueState>& before,
                           const PodsReadyPolicy& policy, double jitter, TimePoint now) {
  const std::int64_t count = tries(before) + 1;
  const double wanted = static_cast<double>(policy.backoff_base_seconds) *
                        std::exp2(static_cast<double>(count - 1)) * (1 + jitter * jitter_part);
  const double wait = std::min(wanted, static_cast<double>(policy.backoff_max_seconds));
  api::RequeueState state = before.value_or(api::RequeueState());
  state.count = static_cast<std::int32_t>(std::min<std::int64_t>(count, INT32_MAX));
  const TimePoint at = std::chrono::floor<std::chrono::seconds>(
      now + Duration(static_cast<std::int64_t>(wait * 1000)));
  // An admission check may have asked for a later time.
  if (!state.requeue_at || *state.requeue_at < at) state.requeue_at = at;
  return state;
}

}  // namespace regatta::lifecycle
