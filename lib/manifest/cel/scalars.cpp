#include "lib/base/duration.h"
#include "lib/manifest/cel/value.h"
#include "lib/manifest/schema/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

// Text forms of timestamps, durations and quantities.

namespace regatta::manifest::cel {
namespace {

constexpr std::int64_t second = 1'000'000'000;

int digits(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// The nanoseconds of ".5", ".000000001".
std::int64_t fraction(std::string_view text) {
  std::string padded(text.substr(0, 9));
  padded.resize(9, '0');
  std::int64_t out = 0;
  std::from_chars(padded.data(), padded.data() + padded.size(), out);
  return out;
}

/// The factor that a quantity's suffix stands for; nothing for any other text.
std::optional<long double> suffix(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, long double>, 16> suffixes = {{
      {"", 1.0L},
      {"n", 1e-9L},
      {"u", 1e-6L},
      {"m", 1e-3L},
      {"k", 1e3L},
      {"M", 1e6L},
      {"G", 1e9L},
      {"T", 1e12L},
      {"P", 1e15L},
      {"E", 1e18L},
      {"Ki", 0x1p10L},
      {"Mi", 0x1p20L},
      {"Gi", 0x1p30L},
      {"Ti", 0x1p40L},
      {"Pi", 0x1p50L},
      {"Ei", 0x1p60L},
  }};
  const auto at = std::find_if(suffixes.begin(), suffixes.end(),
                               [&](const auto& one) { return one.first == text; });
  if (at != suffixes.end()) return at->second;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  auto exponent = text.substr(1);
  if (exponent[0] == '+') exponent.remove_prefix(1);
  int power = 0;
  const auto [end, failed] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (failed != std::errc() || end != exponent.data() + exponent.size()) return std::nullopt;
  return std::pow(10.0L, static_cast<long double>(std::clamp(power, -400, 400)));
}

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  if (!has_format(text, "date-time")) return std::nullopt;
  using namespace std::chrono;
  const auto day = sys_days(year(digits(text.substr(0, 4))) /
                            month(static_cast<unsigned>(digits(text.substr(5, 2)))) /
                            std::chrono::day(static_cast<unsigned>(digits(text.substr(8, 2)))));
  auto seconds = day.time_since_epoch().count() * std::int64_t{86400} +
                 digits(text.substr(11, 2)) * 3600 + digits(text.substr(14, 2)) * 60 +
                 digits(text.substr(17, 2));
  text.remove_prefix(19);
  std::int64_t nanoseconds = 0;
  if (text.front() == '.') {
    const auto end = text.find_first_not_of("0123456789", 1);
    nanoseconds = fraction(text.substr(1, end - 1));
    text.remove_prefix(end);
  }
  if (text.size() == 6) {
    const auto offset = digits(text.substr(1, 2)) * 3600 + digits(text.substr(4, 2)) * 60;
    seconds -= text[0] == '-' ? -offset : offset;
  }
  constexpr std::int64_t limit = INT64_MAX / second - 1;
  if (seconds > limit || seconds < -limit) return std::nullopt;
  return Timestamp{seconds * second + nanoseconds};
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto length = parse_go_duration(text);
  if (!length) return std::nullopt;
  return Duration{length->count()};
}

std::optional<QuantityValue> parse_quantity(std::string_view text) {
  const auto unsigned_part = text.substr(!text.empty() && (text[0] == '-' || text[0] == '+'));
  const auto unit = std::min(unsigned_part.find_first_not_of("0123456789."), unsigned_part.size());
  const auto number = unsigned_part.substr(0, unit);
  if (number.empty() || number == "." || std::count(number.begin(), number.end(), '.') > 1) {
    return std::nullopt;
  }
  const auto scale = suffix(unsigned_part.substr(unit));
  if (!scale) return std::nullopt;
  const auto magnitude = std::strtold(std::string(number).c_str(), nullptr) * *scale;
  const auto units = text[0] == '-' ? -magnitude : magnitude;
  QuantityValue out{.units = units};
  if (magnitude > 9e18L) return out;
  out.whole = static_cast<std::int64_t>(std::floor(units));
  // Amounts below a billionth are rounded up, as Kubernetes does.
  out.nanos = static_cast<std::int64_t>(
      std::ceil((units - static_cast<long double>(out.whole)) * 1e9L - 1e-6L));
  if (out.nanos >= second) {
    ++out.whole;
    out.nanos -= second;
  }
  return out;
}

std::string format_timestamp(Timestamp time) {
  using namespace std::chrono;
  const auto at = sys_time<nanoseconds>(nanoseconds(time.nanoseconds));
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(at - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string out = text.data();
  if (const auto rest = (at - floor<seconds>(at)).count(); rest != 0) {
    std::snprintf(text.data(), text.size(), ".%09lld", static_cast<long long>(rest));
    out += text.data();
    out.erase(out.find_last_not_of('0') + 1);
  }
  return out + "Z";
}

std::string format_duration(Duration duration) {
  std::array<char, 64> text{};
  const auto count = duration.nanoseconds;
  std::snprintf(text.data(), text.size(), "%lld.%09lld", static_cast<long long>(count / second),
                static_cast<long long>(std::abs(count % second)));
  std::string out = text.data();
  if (count < 0 && count > -second) out.insert(0, "-");
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out + "s";
}

}  // namespace regatta::manifest::cel
