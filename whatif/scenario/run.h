#pragma once

#include "admission/cycle.h"
#include "whatif/scenario/scenario.h"

#include <map>
#include <string>
#include <vector>

namespace regatta::whatif {

/// The result of one step.
struct ObservedStep {
  admission::CycleResult decisions;
  std::vector<std::string> queued;        ///< "ns/name", sorted
  std::vector<std::string> inadmissible;  ///< sorted
  /// ClusterQueue -> "flavor/resource" -> quota reserved; without zeros and empty queues.
  std::map<std::string, std::map<std::string, api::Quantity>> usage;
  bool fair_sharing = false;
  /// With fair sharing: "ClusterQueue/x" and "Cohort/y" -> weighted share before rounding.
  std::map<std::string, double> shares;
};

/// Plays a scenario: objects, then for each step its events, at most one scheduling cycle, and what
/// the controllers would do before the next one (reservations are read back, preempted workloads
/// are released at once, reactivations happen). `invalid` when an event names an unknown workload.
Result<std::vector<ObservedStep>> run_scenario(const Scenario& scenario);

/// The step in the shape of a scenario file's `expect`.
Json to_json(const ObservedStep& step);
/// {"name": …, "steps": […]}
Json to_json(const std::string& name, const std::vector<ObservedStep>& steps);

}  // namespace regatta::whatif
