#pragma once

#include "lab/kinds/raced_kind.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::bench {

inline constexpr const char* job_namespace = "bench";

/// A MultiKueueConfig lists no more workers, so a larger fleet has several, each with a check and
/// queues of its own.
inline constexpr int group_size = 20;
/// How many such groups a fleet has.
int groups_of(int workers);
/// Of the LocalQueue, the ClusterQueue, the check and the config of that group, from 0.
std::string group_name(int group);

/// The namespaces of the jobs and of the manager, and a flavor.
std::vector<Json> ground_objects();
/// The queues of a group for `slots` jobs at a time. With `checked` the ClusterQueue has the check
/// of the group.
std::vector<Json> queue_objects(int group, int slots, bool checked);

/// MultiKueueClusters with these names, whose kubeconfigs are in Secrets.
std::vector<Json> cluster_objects(const std::vector<std::string>& workers);

/// MultiKueueClusters with these names, whose kubeconfigs are in Secrets, and the config and the
/// check of the group that they are. The check names that dispatcher, unless it is empty.
std::vector<Json> fleet_objects(int group, const std::vector<std::string>& workers,
                                const std::string& dispatcher);

/// Of a group that is raced.
inline constexpr int group_pods = 16;

/// The objects of a job in that LocalQueue that runs for `run_seconds`.
std::vector<Json> raced_job(const lab::RacedKind& kind, const std::string& name,
                            const std::string& queue, double run_seconds);

Json kubeconfig_secret(const std::string& worker, const std::string& kubeconfig);

}  // namespace regatta::bench
