#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/multikueue_check.h"
#include "placement/nominate.h"

#include <map>
#include <string>
#include <vector>

namespace regatta::controllers {

/// Keeps the Active condition of the AdmissionChecks that MultiKueue controls.
class MultiKueueCheckController {
 public:
  /// `dispatcher` is that of the configuration.
  MultiKueueCheckController(clusters::LocalCluster& local, TaskScope& scope,
                            placement::Dispatcher dispatcher);
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(std::string name);
  lifecycle::CheckView view(const api::AdmissionCheck& check) const;
  void enqueue_all();

  clusters::LocalCluster& local_;
  TaskScope& scope_;
  placement::Dispatcher dispatcher_;
  Log log_;
  std::map<std::string, SteadyPoint> written_;  ///< checks of many workers: when last
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::controllers
