#pragma once

#include "lib/api/workload.h"
#include "lifecycle/ungate_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::lifecycle {

/// The name all slices of an elastic job, and its pods, carry: that of the first one. Empty for
/// other workloads.
std::string slice_name(const api::Workload& workload);

/// Admitted, and neither over nor on its way out: its counts are what may run.
bool grants_pods(const api::Workload& workload);

/// While one slice takes over from another both may grant pods: the newer one counts. Null: none.
std::shared_ptr<const api::Workload> newest_grant(
    const std::vector<std::shared_ptr<const api::Workload>>& slices);

/// The pods of a slice that may go: as many of each pod set as it has quota for beyond those that
/// went, the oldest first. `pods`: those of all its job's slices.
std::vector<PodPtr> pods_to_release(const api::Workload& workload, const std::vector<PodPtr>& pods);

}  // namespace regatta::lifecycle
