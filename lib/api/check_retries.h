#pragma once

#include "lib/api/workload.h"

#include <algorithm>
#include <cstdint>

namespace regatta::api {

/// Leaves room to count one more retry.
constexpr std::int32_t retries_max = INT32_MAX - 1;

/// How often in a row the check said Retry. Any client can write the number, so it is kept in
/// bounds.
inline std::int32_t retries_of(const AdmissionCheckState& check) {
  return std::clamp(check.retry_count.value_or(0), 0, retries_max);
}

}  // namespace regatta::api
