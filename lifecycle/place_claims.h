#pragma once

#include "admission/topology/pods.h"
#include "lib/api/core.h"
#include "lib/api/workload.h"
#include "lifecycle/ungate_plan.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Pods say of themselves that they are placed by topology, and whose pods they are. Such a pod
/// counts on its node with its Workload. Everything that may create pods may say so.
namespace regatta::lifecycle {

/// The workload has quota with places: they count on their nodes.
bool takes_places(const api::Workload& workload);

/// The labels of a node; null when it is not known.
using NodeLabels = std::function<const api::StringMap*(const std::string& node)>;

/// What a workload takes on nodes for each pod of one of its pod sets, "pods" included. Empty when
/// that is not known: then its pods take no more.
using TakenForAPod =
    std::function<admission::PodAmounts(const api::Workload& workload, const std::string& pod_set)>;

/// What pods take on their nodes beyond what their workloads take there for them: those without a
/// place everything, the others what they request more. A workload has places for so many pods on
/// so many nodes, first for the oldest. `workloads`: the slices of one job that take places.
/// `pods`: those that claim to be theirs. A pod on an unknown node, and all pods of places that
/// cannot be read, are believed.
std::map<api::ObjectKey, admission::PodAmounts> beyond_places(
    const std::vector<std::shared_ptr<const api::Workload>>& workloads, std::vector<PodPtr> pods,
    const NodeLabels& labels_of, const TakenForAPod& taken_for);

}  // namespace regatta::lifecycle
