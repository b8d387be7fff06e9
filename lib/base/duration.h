#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regatta {

/// A unit of time as text names it.
struct TimeUnit {
  std::string_view name;
  std::chrono::nanoseconds length;
};

/// The sum of amounts that each have a unit, "1h30m" or "1.5h", without sign, to the nearest
/// nanosecond. nullopt when the text is anything else, or the sum is beyond 64 bits.
std::optional<std::chrono::nanoseconds> parse_amounts(std::string_view text,
                                                      std::span<const TimeUnit> units);

/// A duration as Go reads it: amounts of h, m, s, ms, us and ns, with a sign or none, or "0".
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text);
/// As Go writes it: "1h30m0s", "1.5s", "250ms", "0s".
std::string format_go_duration(std::chrono::nanoseconds duration);

}  // namespace regatta
