#pragma once

#include "lib/api/cluster_queue.h"
#include "lib/api/pod.h"
#include "placement/room.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::placement {

/// What one worker's objects say about its queues, and what this hub knows besides.
struct WorkerQueues {
  std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues;
  std::vector<std::shared_ptr<const api::Cohort>> cohorts;
  /// What copies of this hub's workloads hold there, which may be preempted. Amounts that are not
  /// positive count for nothing, here and in give_back().
  struct Held {
    std::string cluster_queue;
    std::int32_t priority = 0;
    std::string flavor;
    std::string resource;
    std::int64_t amount = 0;
  };
  std::vector<Held> held;
  /// This hub's workloads that wait there, by ClusterQueue and priority.
  std::map<std::string, std::map<std::int32_t, int>> waiting;
};

/// The room of each ClusterQueue of a worker, by name. Usage is what the worker last wrote into the
/// statuses. What a queue may borrow, and the most that it can ever use, follow from the tree of
/// its cohort. Workloads that wait and are not this hub's count as if their priority were 0.
std::map<std::string, QueueFacts> queue_facts(const WorkerQueues& worker);

/// The queue as if a workload of that priority did not use that.
void give_back(QueueFacts* queue, const std::string& flavor, const std::string& resource,
               std::int64_t amount, std::int32_t priority);

/// Why a ClusterQueue admits nothing now, as a predicate of its worker; empty: it does.
std::string closed_because(const api::ClusterQueue& queue);
std::string closed_because(const api::LocalQueue& queue);

/// As Kueue counts.
Amounts amounts_of(const api::ResourceList& resources);
/// Adds `more` to `sum`, or takes it away again.
void add(Amounts* sum, const Amounts& more);
void subtract(Amounts* sum, const Amounts& less);

}  // namespace regatta::placement
