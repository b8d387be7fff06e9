#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace regatta::admission {

/// A quantity of one resource: thousandths for cpu, whole units for everything else.
using Amount = std::int64_t;

/// A quota without bound. Bounded amounts that are added or subtracted do not change it.
constexpr Amount unlimited = std::numeric_limits<Amount>::max();

/// Sum and difference that saturate instead of wrapping. Unlimited plus or minus a bounded amount
/// is unlimited; unlimited minus unlimited is zero; a bounded amount minus unlimited is the lowest.
inline Amount plus(Amount a, Amount b) {
  if (a == unlimited || b == unlimited) return unlimited;
  Amount sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? unlimited : std::numeric_limits<Amount>::min();
}

inline Amount minus(Amount a, Amount b) {
  if (a == unlimited) return b == unlimited ? 0 : unlimited;
  if (b == unlimited) return std::numeric_limits<Amount>::min();
  Amount difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a >= 0 ? unlimited : std::numeric_limits<Amount>::min();
}

/// Product of non-negative values, saturating.
Amount times(Amount a, std::int64_t factor);

/// The quantity in the canonical form of Kubernetes: "3300m" and "4" of cpu, "64Mi" of memory, "2k"
/// of pods.
std::string format_amount(std::string_view resource, Amount value);

}  // namespace regatta::admission
