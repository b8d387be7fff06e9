#pragma once

#include "lib/api/workload.h"
#include "lifecycle/ungate_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::lifecycle {

/// The name that all slices of an elastic job and its pods carry: that of the first slice. Empty
/// for other workloads.
std::string slice_name(const api::Workload& workload);

/// Admitted, not finished and not evicted: its counts are what may run.
bool grants_pods(const api::Workload& workload);

/// While one slice takes over from another both may grant pods: then the newer one counts. Null
/// when no slice does.
std::shared_ptr<const api::Workload> newest_grant(
    const std::vector<std::shared_ptr<const api::Workload>>& slices);

/// The pods of a slice whose gates may be opened: of each pod set as many as the slice has quota
/// for beyond those that were released, the oldest first. `pods`: those of all slices of the job.
std::vector<PodPtr> pods_to_release(const api::Workload& workload, const std::vector<PodPtr>& pods);

}  // namespace regatta::lifecycle
