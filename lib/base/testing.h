#pragma once

#include <cstdint>

/// For tests only.
namespace regatta {

/// The build checks memory or undefined behaviour, which makes it some twenty times slower.
#ifdef REGATTA_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// How many of `count` random inputs a test tries: a quarter where each takes so much longer.
constexpr std::uint64_t tries(std::uint64_t count) {
  return sanitized ? count / 4 : count;
}

}  // namespace regatta
