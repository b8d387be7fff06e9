#pragma once

#include "lib/base/log.h"

#include <string>

namespace regatta::manager {

/// The command line of `regatta placement`.
struct PlacementOptions {
  std::string kubeconfig;        ///< empty: $KUBECONFIG, else the service account of the Pod
  std::string system_namespace;  ///< of the hub's manager; empty: that of this Pod, or kueue-system
  bool leader_elect = true;
  std::string lease = "regatta-placement";
  std::string probe_address;  ///< "0": none
  bool every_workload = true;
  int in_flight_max = 50;
  int at_once = 20;
  /// As `regatta manager` reads it; what it says of ManagedClusters and of the kinds of jobs
  /// counts. Empty: no workers are made.
  std::string config_file;
  bool core_dumps = false;  ///< memory may be dumped, and read by a debugger
  LogFormat log_format = LogFormat::json;
  LogLevel log_level = LogLevel::info;
};

/// Lets Placements nominate workers on a hub that another program manages, until SIGINT or SIGTERM.
/// The exit code: 0 after an orderly shutdown, 1 when it cannot start or lost its leadership.
int run_placement(PlacementOptions options);

}  // namespace regatta::manager
