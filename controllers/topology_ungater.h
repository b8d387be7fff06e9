#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/ungate_plan.h"

#include <functional>

namespace regatta::controllers {

/// A pod that was ungated, for metrics.
struct UngateSeen {
  std::string cluster_queue;
  bool is_group = false;
  Duration since_admission{0};
};

struct TopologyUngaterConfig {
  int workers = 10;
  /// Pods of a job are created one by one. Those that are created within this time are handled
  /// together.
  Duration batch{1000};
  std::function<void(const UngateSeen&)> on_ungated;  ///< may be null
};

/// Sends the pods of admitted workloads to the places their admission gives them.
///
/// The patch of a pod names its resourceVersion in the store, and the answer is in the store before
/// the workload is handled again. So no pod is sent twice, and no place is given to two pods.
class TopologyUngater {
 public:
  TopologyUngater(clusters::LocalCluster& cluster, TaskScope& scope,
                  TopologyUngaterConfig config = {});
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  Task<Status> ungate(lifecycle::Ungate ungate, std::shared_ptr<const api::Workload> workload);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  TopologyUngaterConfig config_;
  Log log_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::controllers
