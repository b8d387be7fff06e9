#pragma once

#include "whatif/engine/input.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// What a command line says about one simulation, as it was written.
struct SimulationOptions {
  std::string name;
  std::vector<std::string> paths;  ///< manifests of the hub, or the only cluster
  /// Kinds that `paths` have nothing of come from here: see inherit().
  std::vector<std::string> base_paths;
  /// Objects that are there before those of any path, as a cluster has them.
  std::vector<Object> given;
  std::vector<std::string> workers;  ///< "NAME=PATH"; one name may come several times
  std::string events;                ///< a file, or empty
  std::string until = "24h";
  std::string step;         ///< empty: one that suits `until`
  std::string start;        ///< RFC 3339; empty: simulation_start
  std::string run = "10m";  ///< of jobs that say nothing
  std::string dispatcher = "all-at-once";
  // Of the manager's configuration.
  admission::Config admission;
  dispatch::DispatchConfig dispatch;
  lifecycle::LifecycleConfig lifecycle;
};

/// When a simulation begins unless told otherwise: reports of different days compare.
constexpr const char* simulation_start = "2026-01-01T00:00:00Z";

struct LoadedSimulation {
  /// Absent when there are errors.
  std::optional<SimulationInput> input;
  std::vector<std::string> errors;  ///< of the input
  std::vector<std::string> misuse;  ///< of the flags
  /// What is allowed and hardly meant: references to nothing, objects that come twice.
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  ///< "left out: 3 ConfigMap (v1)"
};

/// Another configuration for the same work: `own`, and of `base` every kind that `own` has nothing
/// of. Cohorts go with ClusterQueues: who brings his own queues brings his own Cohorts, or none.
std::vector<Object> inherit(std::vector<Object> base, std::vector<Object> own);

LoadedSimulation load_simulation(const SimulationOptions& options);

}  // namespace regatta::whatif
