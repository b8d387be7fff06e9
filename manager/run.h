#pragma once

#include "lib/base/log.h"

#include <string>

namespace regatta::manager {

/// The command line of `regatta manager`.
struct ManagerOptions {
  std::string config_file;    ///< empty: the default configuration
  std::string kubeconfig;     ///< empty: $KUBECONFIG, else the service account of the Pod
  std::string feature_gates;  ///< "A=true,B=false"; wins over the file
  LogFormat log_format = LogFormat::json;
  LogLevel log_level = LogLevel::info;
  bool core_dumps = false;  ///< memory may be dumped, and read by a debugger
  int parent = 0;           ///< end when this parent process ends; 0: no
};

/// Runs the manager until SIGINT or SIGTERM. The exit code: 0 after an orderly shutdown, 1 when it
/// cannot start or lost its leadership.
int run_manager(ManagerOptions options);

}  // namespace regatta::manager
