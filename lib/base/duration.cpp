#include "lib/base/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace regatta {
namespace {

using namespace std::chrono_literals;

constexpr std::array<TimeUnit, 8> go_units{{{"ns", 1ns},
                                            {"us", 1us},
                                            {"\u00b5s", 1us},
                                            {"\u03bcs", 1us},
                                            {"ms", 1ms},
                                            {"s", 1s},
                                            {"m", 1min},
                                            {"h", 1h}}};
constexpr long double nanoseconds_max = 9.2e18L;

}  // namespace

std::optional<std::chrono::nanoseconds> parse_amounts(std::string_view text,
                                                      std::span<const TimeUnit> units) {
  if (text.empty()) return std::nullopt;
  long double total = 0;
  while (!text.empty()) {
    const std::string number(text.substr(0, text.find_first_not_of("0123456789.")));
    char* end = nullptr;
    const long double amount = std::strtold(number.c_str(), &end);
    if (end == number.c_str() || *end != '\0') return std::nullopt;
    text.remove_prefix(number.size());
    const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [name](const TimeUnit& one) { return one.name == name; });
    if (unit == units.end()) return std::nullopt;
    text.remove_prefix(name.size());
    total += amount * static_cast<long double>(unit->length.count());
  }
  if (total > nanoseconds_max) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(total));
}

std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  const auto length = parse_amounts(text, go_units);
  if (!length || !negative) return length;
  return -*length;
}

/// `value` of units of `unit` nanoseconds each, with the fraction that is left.
static std::string with_fraction(std::uint64_t value, std::uint64_t unit) {
  std::string out = std::to_string(value / unit);
  if (value % unit == 0) return out;
  std::string fraction = std::to_string(unit + value % unit).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return out + "." + fraction;
}

std::string format_go_duration(std::chrono::nanoseconds duration) {
  constexpr std::uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms, m = 60 * s, h = 60 * m;
  const bool negative = duration.count() < 0;
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t ns = negative ? 0 - count : count;
  std::string out = negative ? "-" : "";
  if (ns == 0) return "0s";
  if (ns < us) return out + std::to_string(ns) + "ns";
  if (ns < ms) return out + with_fraction(ns, us) + "\u00b5s";
  if (ns < s) return out + with_fraction(ns, ms) + "ms";
  if (ns >= h) out += std::to_string(ns / h) + "h";
  if (ns >= m) out += std::to_string(ns % h / m) + "m";
  return out + with_fraction(ns % m, s) + "s";
}

}  // namespace regatta
