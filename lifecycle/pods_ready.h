#pragma once

#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Workloads whose pods do not become ready in time give their quota to somebody else: the
/// decisions of waitForPodsReady, pure.
namespace regatta::lifecycle {

struct PodsReadyPolicy {
  Duration timeout = std::chrono::minutes(30);
  std::optional<Duration> recovery_timeout;  ///< none: pods that failed may take for ever
  std::optional<std::int64_t> backoff_limit_count;
  std::int64_t backoff_base_seconds = 60;
  std::int64_t backoff_max_seconds = 3600;
};

/// Why an admitted workload is not ready, and when that has lasted too long.
struct NotReady {
  std::string_view cause;  ///< WaitForStart or WaitForRecovery
  TimePoint deadline;
};

/// Nothing for one that is ready, not admitted, or may take for ever.
std::optional<NotReady> not_ready(const api::Workload& workload, const PodsReadyPolicy& policy);

/// Whether one more try would be one too many.
bool tries_used_up(const api::Workload& workload, const PodsReadyPolicy& policy);

/// One more try, after base * 2^(tries - 1) seconds, and up to a ten-thousandth more as `jitter` in
/// [0, 1) says, but never beyond the maximum.
void back_off(api::Workload* workload, const PodsReadyPolicy& policy, double jitter, TimePoint now);

/// PodsReady=False of a workload that begins to wait for its pods; whether anything changed.
bool expect_pods(api::Workload* workload, TimePoint now);

}  // namespace regatta::lifecycle
