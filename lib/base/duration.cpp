#include "lib/base/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
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

}  // namespace regatta
