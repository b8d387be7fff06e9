#pragma once

#include "lib/base/log.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::lab {

/// `regatta-lab apiserver`.
struct ApiServerOptions {
  std::string folder;       ///< certificates and kubeconfigs
  std::uint16_t port = 0;   ///< 0: any free one
  std::string data_folder;  ///< objects survive restarts in it; empty: in memory only
  std::string fleet = "none";
  bool pods = true;
  bool crds = false;        ///< install Kueue's CRDs before serving
  bool controllers = true;  ///< garbage collection, namespaces, and the fleet
  int crd_delay_ms = 0;     ///< apiserver::ServerOptions::definition_delay
  std::string faults;       ///< JSON, as /_regatta/faults takes it; empty: none
  int parent = 0;           ///< end with this parent process; 0: no
  LogFormat log_format = LogFormat::console;
  LogLevel log_level = LogLevel::info;
};
int run_api_server(ApiServerOptions options);

/// Becomes another program, which ends with `parent`. Returns only when that fails.
int run_with_parent(int parent, const std::vector<std::string>& argv);

/// `regatta-lab nodes`: the same controllers for any API server.
struct NodesOptions {
  std::string kubeconfig;
  std::string fleet = "none";
  bool pods = true;
  int parent = 0;
  LogFormat log_format = LogFormat::console;
  LogLevel log_level = LogLevel::info;
};
int run_nodes(NodesOptions options);

}  // namespace regatta::lab
