#pragma once

/// Parts of explain(): every flavor a workload could get, and who holds what it lacks.

#include "admission/entry.h"
#include "admission/explain.h"

#include <vector>

namespace regatta::admission {

/// Everything below supposes on `trial` and takes it back.
struct ExplainContext {
  Trial& trial;
  WorkloadId id = no_id;
  const QueueInfo& queue;
  TimePoint now{};

  const WorkloadEntry& workload() const { return trial.access().workloads()[id]; }
};

/// Each pod set with each flavor, as the flavor search sees it when it must take that one. `found`
/// is what a cycle would do. The workload must have no ScanProgress.
std::vector<PodSetTry> try_flavors(const ExplainContext& context, const Assignment& found);

Holder holder_of(const CycleAccess& access, WorkloadId id, std::optional<FlavorId> flavor);

/// An amount that has to become available.
struct Demand {
  FrId fr = 0;
  Amount value = 0;
};

/// Who holds some of what is short, and how many of them may be preempted.
PreemptionChances chances_of(const ExplainContext& context, std::span<const Demand> demands);

/// Workloads of the tree after whose end all demands are met, none of them needless.
std::vector<WorkloadId> enough_when_gone(const ExplainContext& context,
                                         std::span<const Demand> demands);

/// Which labels of the flavor are not those that the pods ask for: "pool=cpu, not gpu".
std::string affinity_mismatch(const api::StringMap& labels, const PodSetShape& pod_set);

}  // namespace regatta::admission
