#pragma once

#include "clusters/local_cluster.h"
#include "controllers/lifecycle.h"
#include "controllers/scheduler.h"
#include "lib/runtime/work_queue.h"

namespace regatta::controllers {

/// Carries out settle() for each Workload: one status write at most per look.
class WorkloadController {
 public:
  WorkloadController(clusters::LocalCluster& cluster, Scheduler& scheduler, TaskScope& scope,
                     int workers = 10);
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  LifecycleView view(const api::Workload& workload) const;
  void enqueue_queue(const api::ObjectKey& local_queue);

  clusters::LocalCluster& cluster_;
  Scheduler& scheduler_;
  TaskScope& scope_;
  int workers_;
  Log log_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::controllers
