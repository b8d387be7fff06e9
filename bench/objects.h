#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::bench {

inline constexpr const char* job_namespace = "bench";
inline constexpr const char* local_queue = "bench";
inline constexpr const char* cluster_queue = "bench";

/// Namespaces, a flavor, and one queue for `slots` Jobs at a time. With a `check` the ClusterQueue
/// has that admission check.
std::vector<Json> queue_objects(int slots, const std::string& check = "");

/// MultiKueueClusters with these names, whose kubeconfigs are in Secrets, and the objects for a
/// race over them. The check names that dispatcher, unless it is empty.
std::vector<Json> fleet_objects(const std::vector<std::string>& workers,
                                const std::string& dispatcher);
inline constexpr const char* race_check = "race";

Json kubeconfig_secret(const std::string& worker, const std::string& kubeconfig);

}  // namespace regatta::bench
