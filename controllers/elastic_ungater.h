#pragma once

#include "clusters/local_cluster.h"
#include "lib/runtime/work_queue.h"

namespace regatta::controllers {

/// Opens the gates of pods of elastic jobs, up to the count that has quota. Pods are watched only
/// once there is an elastic job.
class ElasticUngater {
 public:
  ElasticUngater(clusters::LocalCluster& cluster, kube::InformerDeps deps, TaskScope& scope);
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> run();
  Task<> work();
  Task<Status> reconcile(api::ObjectKey slice);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  kube::Client& client_;  ///< writes what only this controller follows: pods of elastic jobs
  Log log_;
  kube::Informer<api::Pod> pods_;
  WorkQueue<api::ObjectKey> queue_;  ///< namespace and name of the first slice
  bool needed_ = false;
  Wakeup wake_;
};

}  // namespace regatta::controllers
