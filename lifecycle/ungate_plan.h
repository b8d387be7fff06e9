#pragma once

#include "lib/api/core.h"
#include "lib/api/workload.h"

#include <memory>
#include <vector>

namespace regatta::lifecycle {

using PodPtr = std::shared_ptr<const api::Pod>;

/// A pod that may go, and the node labels that say where.
struct Ungate {
  PodPtr pod;
  api::StringMap node_selector;
};

/// Admitted with places for its pods, and neither over nor on its way out.
bool has_places(const api::Workload& workload);

/// Which of the workload's pods that wait behind the topology gate go where. `pods`: those of it
/// that have not ended.
///
/// When every pod of a pod set has a number, and those that went already went where their number
/// says, pod r goes to the r-th place; otherwise places are filled one after another, counting who
/// is there. Pods whose place is on a node known to be lost wait for another one.
///
/// `invalid` when the admission, or a pod's offset, cannot be read.
Result<std::vector<Ungate>> plan_ungating(const api::Workload& workload,
                                          const std::vector<PodPtr>& pods);

}  // namespace regatta::lifecycle
