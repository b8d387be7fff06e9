#pragma once

#include "clusters/connector.h"
#include "kubeconfig/endpoint.h"
#include "lab/apiserver/server.h"
#include "lab/cluster/garbage_collector.h"
#include "lab/cluster/job_controller.h"
#include "lib/kube/client.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/sim/world.h"
#include "manager/core.h"
#include "tests/sim/cluster.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A whole federation in one process and virtual time: a hub and its workers, each with its API
/// server, its manager (which can crash and come back at any moment), garbage collection and
/// simulated nodes. Every request between them passes a seeded fault injector. Invariants are
/// checked after every step.
namespace regatta::simtest {

using Planner = std::function<dispatch::Plan(const dispatch::GroupView&, TimePoint,
                                             const dispatch::PlanConfig&)>;

struct SimOptions {
  std::uint64_t seed = 1;
  int jobs = 10;
  int workers = 3;
  std::string dispatcher;  ///< empty: drawn from the seed
  bool faults = true;
  Duration faults_end = std::chrono::seconds(90);
  Duration give_up = std::chrono::minutes(40);
  Planner planner = dispatch::plan;  ///< tests use broken ones
  bool keep_history = true;
  /// Looks at the hub every so many steps; may be null.
  std::function<void(SimCluster& hub, TimePoint now)> on_look;
  std::uint64_t steps_between_looks = 100;
};

struct SimResult {
  std::vector<std::string> violations;  ///< of invariants; empty: all held
  std::string history;                  ///< every change of a Workload or Job on any cluster
  Duration took{0};                     ///< virtual time
  int finished = 0;
  int crashes = 0;
  int partitions = 0;
  std::uint64_t steps = 0;
};

/// Runs one history. Same options, same history.
SimResult run_federation(const SimOptions& options);

}  // namespace regatta::simtest
