#pragma once

#include "lib/base/error.h"
#include "lib/base/task.h"

#include <chrono>
#include <string>
#include <string_view>

namespace regatta {

using Duration = std::chrono::milliseconds;
/// Wall time, milliseconds since the Unix epoch.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// The only source of time. Real in the manager, virtual in tests and simulation.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  /// Returns at or after `t`; at once when `t` has passed. Throws operation_aborted if cancelled.
  virtual Task<> sleep_until(TimePoint t) = 0;
  /// The same, but a cancellation just ends it: for deadlines, nearly all of which are cancelled,
  /// since an exception costs more than the timer.
  virtual Task<> wait_until(TimePoint t);
  Task<> sleep_for(Duration d) { return sleep_until(now() + d); }
};

/// The machine's clock.
class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
  Task<> sleep_until(TimePoint t) override;
  Task<> wait_until(TimePoint t) override;
};

/// RFC 3339 in UTC with seconds, as metav1.Time is written: "2026-01-02T03:04:05Z".
std::string format_rfc3339(TimePoint t);
/// RFC 3339 in UTC with six fractional digits, as metav1.MicroTime is written.
std::string format_rfc3339_micro(TimePoint t);
/// Reads any RFC 3339 time; digits past milliseconds are dropped.
Result<TimePoint> parse_rfc3339(std::string_view text);

}  // namespace regatta
