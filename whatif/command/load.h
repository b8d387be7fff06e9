#pragma once

#include "whatif/engine/input.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// The flags of one simulation, as written.
struct SimulationOptions {
  std::string name;
  std::vector<std::string> paths;  ///< manifests of the hub, or the only cluster
  /// Kinds of which `paths` have no object come from here: see inherit().
  std::vector<std::string> base_paths;
  /// Objects that exist before those of any path, in the form a cluster has them.
  std::vector<Object> given;
  std::vector<std::string> workers;  ///< "NAME=PATH"; one name may come several times
  std::string events;                ///< a file, or empty
  std::string until = "24h";
  std::string step;         ///< empty: one that fits `until`
  std::string start;        ///< RFC 3339; empty: simulation_start
  std::string run = "10m";  ///< of jobs without an annotation
  std::string dispatcher;   ///< its short name; empty: that of the manager's configuration
  // From the manager's configuration.
  admission::Config admission;
  dispatch::PlanConfig dispatch;
  lifecycle::LifecycleConfig lifecycle;
  jobs::JobConfig jobs;
};

/// The default start of a simulation, so that reports of different days can be compared.
constexpr const char* simulation_start = "2026-01-01T00:00:00Z";

/// What `dispatcher` may be.
const std::vector<std::string>& dispatcher_names();

struct LoadedSimulation {
  /// Unset when there are errors.
  std::optional<SimulationInput> input;
  std::vector<std::string> errors;  ///< of the input
  std::vector<std::string> misuse;  ///< of the flags
  /// What is allowed but probably a mistake: references to missing objects, repeated objects.
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  ///< "left out: 3 ConfigMap (v1)"
};

/// Another configuration for the same work: `own`, and every kind of `base` of which `own` has no
/// object. Cohorts belong to ClusterQueues: with own ClusterQueues the Cohorts of `base` are left
/// out.
std::vector<Object> inherit(std::vector<Object> base, std::vector<Object> own);

LoadedSimulation load_simulation(const SimulationOptions& options);

}  // namespace regatta::whatif
