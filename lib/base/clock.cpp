#include "lib/base/clock.h"

#include "lib/base/limited_text.h"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace regatta {
namespace {

/// Reads exactly `digits` decimal digits at `*at` and moves past them.
bool take_number(std::string_view text, std::size_t* at, std::size_t digits, int* out) {
  if (*at + digits > text.size()) return false;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text[*at + i];
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  *at += digits;
  *out = value;
  return true;
}

bool take_char(std::string_view text, std::size_t* at, std::string_view allowed) {
  if (*at >= text.size() || allowed.find(text[*at]) == std::string_view::npos) return false;
  ++*at;
  return true;
}

struct CivilTime {
  int year, month, day, hour, minute, second, millis;
};

CivilTime civil(TimePoint t) {
  const auto days = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss<Duration> time(t - days);
  return {int(date.year()),
          int(unsigned(date.month())),
          int(unsigned(date.day())),
          int(time.hours().count()),
          int(time.minutes().count()),
          int(time.seconds().count()),
          int(time.subseconds().count())};
}

/// CLOCK_BOOTTIME, for Asio's timers.
struct BootTime : SteadyTime {
  static time_point now() {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    const auto since = std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
    return time_point(std::chrono::duration_cast<Duration>(since));
  }
};

/// Asio sleeps on CLOCK_MONOTONIC, which stands still while the machine is suspended: so it looks
/// at the clock at least this often, once for all timers of the process.
struct ShortWaits {
  static constexpr Duration longest = std::chrono::seconds(1);
  static Duration to_wait_duration(Duration d) { return std::min(d, longest); }
  static Duration to_wait_duration(SteadyPoint t) { return to_wait_duration(t - BootTime::now()); }
};

using Timer = asio::basic_waitable_timer<BootTime, ShortWaits>;

}  // namespace

TimePoint SystemClock::now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

SteadyPoint SystemClock::steady() const {
  return BootTime::now();
}

SteadyPoint Clock::steady_at(TimePoint t) const {
  const TimePoint wall = now();
  const SteadyPoint here = steady();
  if (t <= wall) return here;
  return t - wall < SteadyPoint::max() - here ? here + (t - wall) : SteadyPoint::max();
}

Task<> Clock::wait_until(SteadyPoint t) {
  try {
    co_await sleep_until(t);
  } catch (const boost::system::system_error& ended) {
    if (ended.code() != asio::error::operation_aborted) throw;
  }
}

Task<> SystemClock::sleep_until(SteadyPoint t) {
  const auto executor = co_await asio::this_coro::executor;
  Timer timer(executor, t);
  co_await timer.async_wait(asio::use_awaitable);
}

Task<> SystemClock::wait_until(SteadyPoint t) {
  const auto executor = co_await asio::this_coro::executor;
  Timer timer(executor, t);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

std::string format_rfc3339(TimePoint t) {
  const CivilTime c = civil(t);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", c.year, c.month, c.day, c.hour,
                c.minute, c.second);
  return text;
}

std::string format_rfc3339_micro(TimePoint t) {
  const CivilTime c = civil(t);
  char text[48];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", c.year, c.month, c.day,
                c.hour, c.minute, c.second, c.millis * 1000);
  return text;
}

Result<TimePoint> parse_rfc3339(std::string_view text) {
  constexpr std::size_t shown_max = 64;
  const auto bad = [&] {
    return Error(Errc::invalid,
                 "not an RFC 3339 time: \"" +
                     limited_text(std::string(text.substr(0, shown_max + 1)), shown_max) + "\"");
  };
  std::size_t at = 0;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take_number(text, &at, 4, &year) || !take_char(text, &at, "-") ||
      !take_number(text, &at, 2, &month) || !take_char(text, &at, "-") ||
      !take_number(text, &at, 2, &day) || !take_char(text, &at, "Tt") ||
      !take_number(text, &at, 2, &hour) || !take_char(text, &at, ":") ||
      !take_number(text, &at, 2, &minute) || !take_char(text, &at, ":") ||
      !take_number(text, &at, 2, &second)) {
    return bad();
  }
  int millis = 0;
  if (take_char(text, &at, ".")) {
    int scale = 100;
    const std::size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      millis += (text[at++] - '0') * scale;
      scale /= 10;
    }
    if (at == start) return bad();
  }
  int offset_minutes = 0;
  if (!take_char(text, &at, "Zz")) {
    const bool west = at < text.size() && text[at] == '-';
    int hours = 0, minutes = 0;
    if (!take_char(text, &at, "+-") || !take_number(text, &at, 2, &hours) ||
        !take_char(text, &at, ":") || !take_number(text, &at, 2, &minutes)) {
      return bad();
    }
    offset_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  const auto date = std::chrono::year(year) / std::chrono::month(unsigned(month)) /
                    std::chrono::day(unsigned(day));
  if (at != text.size() || !date.ok() || hour > 23 || minute > 59 || second > 60) return bad();
  const auto since_midnight = std::chrono::hours(hour) + std::chrono::minutes(minute) +
                              std::chrono::seconds(second) + Duration(millis) -
                              std::chrono::minutes(offset_minutes);
  return TimePoint(std::chrono::sys_days(date).time_since_epoch() + since_midnight);
}

}  // namespace regatta
