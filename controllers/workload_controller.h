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
  /// A bypassed workload is told so when it has waited this long. One is told in each interval,
  /// because most have their turn before and the message is not urgent.
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
  /// Whether the workload may be told now that it is bypassed. Otherwise it is looked at again
  /// later.
  bool may_tell_bypassed(const api::Workload& workload, TimePoint now);
  Task<Status> write_status(api::ObjectKey key, lifecycle::LifecycleView seen, TimePoint now);
  Task<Status> release(jobs::WorkloadPtr workload);
  Task<Status> finish_replaced(jobs::WorkloadPtr slice);
  /// The new value of the workload's WorkloadPriorityClass, if that value changed.
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
  SteadyPoint began_{};  ///< when it started
  Rng& rng_;
  Trickle trickle_;
  std::set<api::ObjectKey> repriced_;  ///< workloads of a class with a new value
  Log log_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::controllers
