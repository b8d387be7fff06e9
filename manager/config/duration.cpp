#include "manager/config/duration.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace regatta::manager {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 8> units_in_ms{{{"ns", 1e-6},
                                                                          {"us", 1e-3},
                                                                          {"\u00b5s", 1e-3},
                                                                          {"\u03bcs", 1e-3},
                                                                          {"ms", 1},
                                                                          {"s", 1e3},
                                                                          {"m", 6e4},
                                                                          {"h", 3.6e6}}};
constexpr double ms_max = 9.2e12;  ///< the range of Go's 64-bit nanoseconds

Error malformed(std::string_view text) {
  return Error(Errc::invalid,
               "\"" + std::string(text) + "\" is not a duration such as \"15m\" or \"1h30m\"");
}

/// The longest unit the text starts with.
const std::pair<std::string_view, double>* unit_at(std::string_view text) {
  const std::pair<std::string_view, double>* best = nullptr;
  for (const auto& unit : units_in_ms) {
    if (text.starts_with(unit.first) && (!best || unit.first.size() > best->first.size())) {
      best = &unit;
    }
  }
  return best;
}

}  // namespace

Result<Duration> parse_go_duration(std::string_view text) {
  const std::string_view whole = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration(0);
  if (text.empty()) return malformed(whole);
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string number(text.substr(0, digits));
    char* end = nullptr;
    const double amount = std::strtod(number.c_str(), &end);
    if (number.empty() || number == "." || *end != '\0') return malformed(whole);
    text.remove_prefix(digits);
    const auto* unit = unit_at(text);
    if (!unit) return malformed(whole);
    text.remove_prefix(unit->first.size());
    total += amount * unit->second;
  }
  if (total > ms_max) return malformed(whole);
  const auto ms = static_cast<Duration::rep>(total + 1e-9);
  return Duration(negative ? -ms : ms);
}

std::string format_go_duration(Duration duration) {
  if (duration.count() == 0) return "0s";
  std::string text = duration.count() < 0 ? "-" : "";
  const auto ms = std::abs(duration.count());
  if (ms < 1000) return text + std::to_string(ms) + "ms";
  if (ms >= 3600000) text += std::to_string(ms / 3600000) + "h";
  if (ms >= 60000) text += std::to_string(ms / 60000 % 60) + "m";
  std::string seconds = std::to_string(ms / 1000 % 60);
  if (ms % 1000 != 0) {
    std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    seconds += "." + fraction;
  }
  return text + seconds + "s";
}

}  // namespace regatta::manager
