#pragma once

#include "lib/api/core.h"
#include "lib/api/workload.h"

#include <memory>
#include <vector>

namespace regatta::lifecycle {

using PodPtr = std::shared_ptr<const api::Pod>;

/// A pod whose gate may be opened, and the node labels of its place.
struct Ungate {
  PodPtr pod;
  api::StringMap node_selector;
};

/// Admitted with places for its pods, not finished and not evicted.
bool has_places(const api::Workload& workload);

/// Decides where the workload's pods go that wait behind the topology gate. `pods`: those of the
/// workload that have not ended.
///
/// When every pod of a pod set has a number, and the pods that were sent already are where their
/// number says, pod r goes to the r-th place. Otherwise places are filled one after another, and
/// the pods that are there count. Pods whose place is on a node known to be lost wait for another
/// place.
///
/// `invalid` when the admission, or a pod's offset, cannot be read.
Result<std::vector<Ungate>> plan_ungating(const api::Workload& workload,
                                          const std::vector<PodPtr>& pods);

}  // namespace regatta::lifecycle
