#pragma once

#include "lib/base/sanitized.h"

#include <cstdint>

/// For tests only.
namespace regatta {

/// How many of `count` random inputs a test tries: a quarter where each takes so much longer.
constexpr std::uint64_t tries(std::uint64_t count) {
  return sanitized ? count / 4 : count;
}

}  // namespace regatta
