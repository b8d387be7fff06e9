#pragma once

#include "lib/base/error.h"
#include "lib/base/task.h"

#include <chrono>
#include <string>
#include <string_view>

namespace regatta {

using Duration = std::chrono::milliseconds;

/// Wall time, milliseconds since the Unix epoch. For times of the API only: what is written into
/// objects (timestamps, conditions, lastTransitionTime), what is read from them, and the `now` that
/// a pure decision compares with them. A wall clock steps: an operator sets it, or NTP does. So no
/// timer, deadline, backoff, token bucket, lease or belief is reckoned in it.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// The clock of SteadyPoint has no now(): the time comes from a Clock.
struct SteadyTime {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<SteadyTime, Duration>;
  static constexpr bool is_steady = true;
};
/// Time since some moment in the past, which cannot be set and never goes back. For
/// everything that waits or measures. It means nothing to another process, and `SteadyPoint{}` is
/// not long ago: the machine may just have started. Converts neither to a TimePoint nor from one.
using SteadyPoint = SteadyTime::time_point;

/// The only source of time. Real in the manager, virtual in tests and simulation.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The wall time, for the API.
  virtual TimePoint now() const = 0;
  /// The steady time, for deadlines and spans. It goes on while the machine is suspended, so that
  /// after a suspend a lease or a belief that has run out meanwhile is not believed.
  virtual SteadyPoint steady() const = 0;
  /// Returns at or after `t`; at once when `t` has passed. Throws operation_aborted if cancelled.
  virtual Task<> sleep_until(SteadyPoint t) = 0;
  /// The same, but a cancellation just ends it: for deadlines, nearly all of which are cancelled,
  /// since an exception costs more than the timer.
  virtual Task<> wait_until(SteadyPoint t);
  Task<> sleep_for(Duration d) { return sleep_until(steady() + d); }
  /// When the wall clock will show `t` unless it steps: for a timer that waits for a time of the
  /// API. When it ends, compare `t` with now() and wait again if need be.
  SteadyPoint steady_at(TimePoint t) const;
};

/// The machine's clock. The steady time is CLOCK_BOOTTIME; a timer whose time comes while the
/// machine is suspended ends at most a second after it resumes.
class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
  SteadyPoint steady() const override;
  Task<> sleep_until(SteadyPoint t) override;
  Task<> wait_until(SteadyPoint t) override;
};

/// RFC 3339 in UTC with seconds, as metav1.Time is written: "2026-01-02T03:04:05Z".
std::string format_rfc3339(TimePoint t);
/// RFC 3339 in UTC with six fractional digits, as metav1.MicroTime is written.
std::string format_rfc3339_micro(TimePoint t);
/// Reads any RFC 3339 time; digits past milliseconds are dropped.
Result<TimePoint> parse_rfc3339(std::string_view text);

}  // namespace regatta
