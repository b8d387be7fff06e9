#pragma once

#include "lib/api/cluster_queue.h"

#include <memory>
#include <prometheus/metric_family.h>
#include <string>
#include <vector>

namespace regatta::manager {

/// A ClusterQueue of a worker that admits workloads of a ClusterQueue of the hub.
struct QueueOnWorker {
  std::string cluster_queue;  ///< of the hub
  std::string cluster;
  std::shared_ptr<const api::ClusterQueue> there;
};

/// What the workers have for each ClusterQueue of the hub and what is used of it, flavors added up,
/// because workers name them as they like. The sum over `cluster` is that of the fleet. A queue of
/// a worker that serves two ClusterQueues of the hub counts for both.
std::vector<prometheus::MetricFamily> worker_gauges(const std::vector<QueueOnWorker>& queues,
                                                    const std::string& role);

}  // namespace regatta::manager
