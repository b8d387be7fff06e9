#pragma once

#include "lib/api/core.h"
#include "lib/api/workload.h"
#include "lifecycle/ungate_plan.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// Pods say of themselves that they are placed by topology, and whose pods they are. Such a pod
/// counts on its node with its Workload. Everything that may create pods may say so.
namespace regatta::lifecycle {

/// The workload has quota with places: they count on their nodes.
bool takes_places(const api::Workload& workload);

/// The labels of a node; null when it is not known.
using NodeLabels = std::function<const api::StringMap*(const std::string& node)>;

/// The pods on nodes for which the workloads have no place: none on that node, or not so many.
/// The oldest pods have the places. `workloads`: the slices of one job that take places. `pods`:
/// those that claim to be theirs. A pod on an unknown node, and all pods of places that cannot be
/// read, are believed.
std::set<api::ObjectKey> beyond_places(
    const std::vector<std::shared_ptr<const api::Workload>>& workloads, std::vector<PodPtr> pods,
    const NodeLabels& labels_of);

}  // namespace regatta::lifecycle
