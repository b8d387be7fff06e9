#pragma once

/// Parts of explain(): every flavor that a workload could get, and the workloads that hold what it
/// lacks.

#include "admission/entry.h"
#include "admission/explain.h"

#include <vector>

namespace regatta::admission {

/// The functions below change `trial` and roll it back.
struct ExplainContext {
  Trial& trial;
  WorkloadId id = no_id;
  const QueueInfo& queue;
  TimePoint now{};

  const WorkloadEntry& workload() const { return trial.access().workloads()[id]; }
};

/// Tries each pod set with each flavor, as the flavor search does when it is pinned to that flavor.
/// `found` is what a cycle would do. The workload must have no ScanProgress.
std::vector<PodSetTry> try_flavors(const ExplainContext& context, const Assignment& found);

Holder holder_of(const CycleAccess& access, WorkloadId id, std::optional<FlavorId> flavor);

/// An amount that has to become available.
struct Demand {
  FrId fr = 0;
  Amount value = 0;
};

/// How many workloads hold some of what is short, and how many of them may be preempted.
PreemptionChances chances_of(const ExplainContext& context, std::span<const Demand> demands);

/// Workloads of the tree whose end makes all demands met. None of them is needless.
std::vector<WorkloadId> enough_when_gone(const ExplainContext& context,
                                         std::span<const Demand> demands);

/// The first label of the flavor that the pods do not accept, and what they ask for; empty if none:
/// "its nodes have pool=cpu, the pods ask for pool=gpu".
std::string affinity_mismatch(const api::StringMap& labels, const PodSetShape& pod_set);

}  // namespace regatta::admission
