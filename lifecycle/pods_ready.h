#pragma once

#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Workloads whose pods do not become ready in time give their quota back: the decisions of
/// waitForPodsReady, pure.
namespace regatta::lifecycle {

struct PodsReadyPolicy {
  Duration timeout = std::chrono::minutes(30);
  std::optional<Duration> recovery_timeout;  ///< unset: no limit for pods that failed
  std::optional<std::int64_t> backoff_limit_count;
  std::int64_t backoff_base_seconds = 60;
  std::int64_t backoff_max_seconds = 3600;
};

/// Why an admitted workload is not ready, and when that has lasted too long.
struct NotReady {
  std::string_view cause;  ///< WaitForStart or WaitForRecovery
  TimePoint deadline;
  Duration limit{0};  ///< how long that may last
};

/// Unset for a workload that is ready, not admitted, or has no time limit.
std::optional<NotReady> not_ready(const api::WorkloadStatus& status, const PodsReadyPolicy& policy);

/// Whether the workload has no more tries.
bool tries_used_up(const api::WorkloadStatus& status, const PodsReadyPolicy& policy);

/// One more try, after base * 2^(tries - 1) seconds, never beyond the maximum. `jitter` in [0, 1)
/// adds up to a ten-thousandth. `before`: what is known about the tries so far.
api::RequeueState back_off(const std::optional<api::RequeueState>& before,
                           const PodsReadyPolicy& policy, double jitter, TimePoint now);

}  // namespace regatta::lifecycle
