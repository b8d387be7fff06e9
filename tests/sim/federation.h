#pragma once

#include "dispatch/plan.h"
#include "tests/sim/cluster.h"
#include "tests/sim/scenario.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// A whole federation in one process and virtual time: hubs and their workers, each with its API
/// server, its managers (which can crash and come back at any moment), garbage collection and
/// simulated nodes. Every request between them passes a seeded fault injector. Invariants are
/// checked against the history of everything that happened.
namespace regatta::simtest {

using Planner = std::function<dispatch::Plan(const dispatch::GroupView&, TimePoint,
                                             const dispatch::PlanConfig&)>;

struct SimOptions : ScenarioOptions {
  /// Unset: what follows from the configuration.
  std::optional<Duration> give_up;

  // Tests break the implementation with these.
  Planner planner = dispatch::plan;
  std::function<void(ManagerPlan*, bool hub)> manager;
  Tampering tampering;

  bool keep_history = true;
  std::string log_of;  ///< the managers of that cluster write their log into the history
  /// Of a large fleet: called every few seconds of virtual time; may be null.
  std::function<void(Duration time, int jobs_ended)> on_progress;
  /// Looks at the hub every so many steps; may be null.
  std::function<void(SimCluster& hub, TimePoint now)> on_look;
  std::uint64_t steps_between_looks = 100;
};

struct SimResult {
  std::vector<std::string> violations;  ///< of invariants; empty: all held
  std::string history;                  ///< every change of a Workload or Job on any cluster
  std::string troubles;                 ///< the kinds that the world had
  Duration took{0};                     ///< virtual time
  Duration bound{0};                    ///< that everything had to end
  int finished = 0;                     ///< jobs of hubs
  int removed = 0;                      ///< of those, what users have removed
  int pods = 0;                         ///< that ran on workers
  int crashes = 0;
  int partitions = 0;
  std::map<std::string, int> deeds;  ///< how often each of all_deeds() was done
  std::uint64_t steps = 0;
};

/// Runs one history. Same options, same history.
SimResult run_federation(const SimOptions& options);

}  // namespace regatta::simtest
