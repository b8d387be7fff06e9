#pragma once

#include "lab/federation/state.h"
#include "lab/kinds/raced_kind.h"
#include "lib/base/json.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::lab {

/// The API allows so many workers in a MultiKueueConfig.
constexpr int workers_max = 20;

struct LayoutOptions {
  std::string folder;
  std::string binary;   ///< of the laboratory itself
  std::string manager;  ///< the regatta that manages each cluster
  std::string assets;   ///< folder of etcd and kube-apiserver; empty: the embedded API server
  int workers = 3;
  std::string dispatcher = "all-at-once";
  std::vector<std::string> kinds = {
      "job"};           ///< of jobs (lab/kinds), for which the clusters are made
  bool persist = true;  ///< embedded API servers keep their objects across restarts
  bool pods = true;
  int parent = 0;  ///< every process ends with this parent; 0: no
};

/// "a100", "h100", "cpu", then "a100-2" … The name's first part is the fleet.
std::vector<std::string> worker_names(int workers);

/// Every cluster and process of a sandbox, none of them started. `free_port` returns a different
/// port each time, 0 when there is none (`unavailable`). `invalid` for options that contradict each
/// other.
Result<SandboxState> lay_out(const LayoutOptions& options,
                             const std::function<std::uint16_t()>& free_port);

/// The dispatcher's name in the configuration file.
Result<std::string> dispatcher_name(const std::string& option);
/// The configuration file of one cluster's manager.
std::string manager_config(const ClusterState& cluster, const std::string& dispatcher,
                           const std::vector<const RacedKind*>& kinds);

/// The hub's objects for these workers, made from the examples for three: one MultiKueueCluster
/// each, all in the MultiKueueConfig, and as quota the sum of the workers' quotas. `worker_objects`
/// are the objects of each worker.
Result<std::vector<Json>> hub_objects(std::vector<Json> examples,
                                      const std::vector<std::string>& workers,
                                      const std::vector<std::vector<Json>>& worker_objects);

}  // namespace regatta::lab
