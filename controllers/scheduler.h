#pragma once

#include "admission/cycle.h"
#include "admission/state.h"
#include "clusters/local_cluster.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::controllers {

/// What came of a cycle, for metrics.
struct CycleSeen {
  bool success = false;  ///< somebody got quota, or other places
  Duration took{0};
  /// See admission::CycleResult.
  std::vector<std::string> skipped_preemptors{};
  std::vector<admission::Recomputed> recomputed{};
};

struct SchedulerConfig {
  admission::Config admission;
  /// waitForPodsReady is on: what gets quota waits for its pods from then on.
  bool wait_for_pods_ready = false;
  /// Why a workload still waits is written when it has waited for so long; most have their turn
  /// before.
  Duration explain_after{1000};
  /// The clusters a fresh reservation that needs this check is nominated for at once; may be null.
  std::function<std::vector<std::string>(const std::string& check)> first_nomination;
  std::function<void(const CycleSeen&)> on_cycle;                        ///< may be null
  std::function<void(const api::Workload&, bool admitted)> on_reserved;  ///< may be null
  /// A victim was asked to go; may be null.
  std::function<void(const admission::PreemptedWorkload&)> on_preempted;
};

/// Feeds admission::State from the informers, runs a cycle whenever somebody waits, and writes what
/// it decided. A cycle never waits for the API: writes are in flight together, and a reservation
/// whose write fails is taken back.
class Scheduler {
 public:
  Scheduler(clusters::LocalCluster& cluster, TaskScope& scope, SchedulerConfig config);

  /// Starts scheduling. The informers must have synced.
  void start();

  /// What admission knows now; valid until the next event.
  admission::StatusReader reader() { return state_.reader(); }
  /// Queues and cohorts whose status may have changed since the last call.
  admission::Changes take_changes() { return state_.take_changes(); }
  /// With admission fair sharing: what LocalQueues used decays, as their statuses then say.
  void sample_usage() { state_.sample_usage(cluster_.clock.now()); }
  /// Called, on the control thread, when take_changes() may have something.
  void on_changes(std::function<void()> handler) {
    changes_handlers_.push_back(std::move(handler));
  }
  bool idle() const;

 private:
  Task<> run();
  Task<> write_pending_conditions();
  Task<> wait_for_work();
  /// Whether a cycle could decide anything now.
  bool has_work() const;
  /// Whether that is more than what is being written already.
  bool apply(const admission::CycleResult& result, TimePoint now);
  Task<> reserve(admission::AdmittedWorkload admitted);
  /// Returns when the store has what the API has of that Workload.
  Task<> find_out(api::ObjectKey key);
  Task<> preempt(admission::PreemptedWorkload preempted);
  Task<> finish_replaced(admission::AdmittedWorkload admitted);  // scheduler_slices.cpp
  Task<Status> write_pending(api::ObjectKey key);
  void watch_objects();
  void watch_pod_defaults();
  void read_again(const std::vector<api::ObjectKey>& workloads);
  // scheduler_places.cpp
  void watch_places();
  void apply_places(const admission::CycleResult& result);
  Task<> place(admission::AdmittedWorkload placed);
  Task<> evict_unplaced(admission::EvictedWorkload evicted);
  void changed();
  void note(const api::ObjectKey& key, bool warning, std::string reason, std::string message);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  SchedulerConfig config_;
  Log log_;
  admission::State state_;
  std::map<api::ObjectKey, admission::PendingWorkload> pending_;
  WorkQueue<api::ObjectKey> unwritten_;  ///< workloads in pending_ whose condition is due
  std::vector<std::function<void()>> changes_handlers_;
  int writing_ = 0;
  std::set<api::ObjectKey> preempting_;  ///< victims whose eviction is being written
  bool started_ = false;
  std::uint64_t events_ = 0;
  bool blocked_ = false;  ///< by pods that are not ready
  Wakeup work_;
};

}  // namespace regatta::controllers
