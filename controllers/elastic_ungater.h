#pragma once

#include "clusters/local_cluster.h"
#include "controllers/ungate_plan.h"
#include "lib/runtime/work_queue.h"

namespace regatta::controllers {

/// The name all slices of an elastic job, and its pods, carry: that of the first one. Empty for
/// other workloads.
std::string slice_name(const api::Workload& workload);

/// Admitted, and neither over nor on its way out: its counts are what may run.
bool grants_pods(const api::Workload& workload);

/// While one slice takes over from another both may grant pods: the newer one counts. Null: none.
std::shared_ptr<const api::Workload> newest_grant(
    const std::vector<std::shared_ptr<const api::Workload>>& slices);

/// The pods of a slice that may go: as many of each pod set as it has quota for beyond those that
/// went, the oldest first. `pods`: those of all its job's slices.
std::vector<PodPtr> pods_to_release(const api::Workload& workload, const std::vector<PodPtr>& pods);

/// Opens the gate of pods of elastic jobs up to the count that has quota. Pods are only watched
/// once there is such a job.
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
  Log log_;
  kube::Informer<api::Pod> pods_;
  WorkQueue<api::ObjectKey> queue_;  ///< namespace and name of the first slice
  bool needed_ = false;
  Wakeup wake_;
};

}  // namespace regatta::controllers
