#pragma once

#include "lib/api/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::api {

/// How many pods of that pod set are reclaimable: 0 when `all` says nothing of it.
inline std::int32_t reclaimable_count(const std::vector<ReclaimablePod>& all,
                                      const std::string& pod_set) {
  for (const ReclaimablePod& one : all) {
    if (one.name == pod_set) return one.count;
  }
  return 0;
}

}  // namespace regatta::api
