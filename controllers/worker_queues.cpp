#include "controllers/worker_queues.h"

#include <set>
#include <utility>

namespace regatta::controllers {

std::map<std::string, std::vector<api::ObjectKey>> ways_by_queue(
    const clusters::LocalCluster& hub) {
  std::map<std::string, std::vector<api::ObjectKey>> ways;
  for (const auto& one : hub.local_queues.list()) {
    if (!one->metadata.deleting()) ways[one->spec.cluster_queue].push_back(one->metadata.key());
  }
  return ways;
}

std::vector<std::shared_ptr<const api::ClusterQueue>> queues_behind(
    const clusters::RemoteQueues& worker, const std::vector<api::ObjectKey>& ways) {
  std::vector<std::shared_ptr<const api::ClusterQueue>> out;
  std::set<std::string> counted;
  for (const api::ObjectKey& key : ways) {
    const auto way = worker.local_queues.get(key);
    if (!way || !counted.insert(way->spec.cluster_queue).second) continue;
    auto found = worker.cluster_queues.get(api::ObjectKey(way->spec.cluster_queue));
    if (found) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace regatta::controllers
