#pragma once

#include "lib/api/names.h"
#include "lib/api/workload.h"

namespace regatta::api {

/// Whether the quota of the admission is taken from its ClusterQueue.
inline bool holds_quota(const Workload& workload) {
  const WorkloadStatus& status = workload.status;
  return is_true(status.conditions, conditions::quota_reserved) && status.admission &&
         !is_true(status.conditions, conditions::finished);
}

}  // namespace regatta::api
