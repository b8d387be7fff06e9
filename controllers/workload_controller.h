#pragma once

#include "clusters/local_cluster.h"
#include "controllers/scheduler.h"
#include "controllers/trickle.h"
#include "lib/base/rng.h"
#include "lib/runtime/work_queue.h"
#include "lifecycle/lifecycle.h"

namespace regatta::controllers {

struct WorkloadControllerConfig {
  int workers = 10;
  lifecycle::LifecycleConfig lifecycle;
  /// A workload that was never looked at, because one like it did not fit, is told so when it has
  /// waited for so long, one each interval: most have their turn before, and nobody is in a hurry.
  Duration tell_bypassed_after = std::chrono::seconds(10);
  Duration tell_bypassed_interval{50};
};

/// Carries out settle() for each Workload: one status write at most per look.
class WorkloadController {
 public:
  WorkloadController(clusters::LocalCluster& cluster, Scheduler& scheduler, Rng& rng,
                     TaskScope& scope, WorkloadControllerConfig config = {});
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  lifecycle::LifecycleView view(const api::Workload& workload) const;
  /// Whether it is its turn to be told; else when to look again.
  bool may_tell_bypassed(const api::Workload& workload, TimePoint now);
  Task<Status> write_status(api::ObjectKey key, lifecycle::LifecycleView seen, TimePoint now);
  Task<Status> release(api::ObjectKey key);
  /// The new value of its WorkloadPriorityClass, after a change of that.
  std::optional<std::int32_t> new_priority(const api::Workload& workload) const;
  void tell(const api::Workload& workload, std::vector<lifecycle::Note> notes);
  void tell_cleared_gate(const api::Workload& before, const api::Workload& after);
  void watch_classes();
  void enqueue_queue(const api::ObjectKey& local_queue);

  clusters::LocalCluster& cluster_;
  Scheduler& scheduler_;
  TaskScope& scope_;
  WorkloadControllerConfig config_;
  bool started_ = false;
  Rng& rng_;
  Trickle trickle_;
  std::set<api::ObjectKey> repriced_;  ///< their class has a new value
  Log log_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::controllers
