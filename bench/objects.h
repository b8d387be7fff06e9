#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::bench {

inline constexpr const char* job_namespace = "bench";
inline constexpr const char* local_queue = "bench";
inline constexpr const char* cluster_queue = "bench";

/// Namespaces, a flavor, and one queue for `slots` Jobs at a time; with a `check` it has that
/// admission check.
std::vector<Json> queue_objects(int slots, const std::string& check = "");

/// MultiKueueClusters of these names, whose kubeconfigs are in Secrets, and what races over them.
std::vector<Json> fleet_objects(const std::vector<std::string>& workers);
inline constexpr const char* race_check = "race";

Json kubeconfig_secret(const std::string& worker, const std::string& kubeconfig);

/// A Job of one process that runs for `run_seconds` somewhere.
Json job(const std::string& name, double run_seconds);

}  // namespace regatta::bench
