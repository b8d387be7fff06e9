#pragma once

#include "clusters/fleet.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::controllers {

/// The LocalQueues of a hub by the ClusterQueue to which they lead; those that are being deleted
/// lead nowhere.
std::map<std::string, std::vector<api::ObjectKey>> ways_by_queue(const clusters::LocalCluster& hub);

/// The ClusterQueues of a worker to which its LocalQueues of those names lead, each once.
std::vector<std::shared_ptr<const api::ClusterQueue>> queues_behind(
    const clusters::RemoteQueues& worker, const std::vector<api::ObjectKey>& ways);

}  // namespace regatta::controllers
