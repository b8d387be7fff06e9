#pragma once

#include "lab/cluster/fleet.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"

#include <optional>
#include <string>

namespace regatta::lab {

struct ControllerOptions {
  std::optional<Fleet> fleet;  ///< simulated nodes, and jobs that run on them; unset: neither
  bool pods = true;            ///< Jobs have Pod objects
};

struct ControllersDeps {
  kube::Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

/// The controllers that make an API server a cluster: garbage collection of owners, namespaces, and
/// with a fleet nodes, running Jobs and the operators of other kinds. Runs until cancelled.
Task<> run_cluster_controllers(ControllersDeps deps, ControllerOptions options);

/// The fleet called `what`: one of the examples ("a100", "h100", "cpu"), "none", what parse_fleet()
/// reads ("4xH100,2xCPU"), or a YAML file with a list of groups (name, count, cpu, memoryGiB, gpus,
/// gpuProduct, labels).
Result<std::optional<Fleet>> find_fleet(const std::string& what);

}  // namespace regatta::lab
