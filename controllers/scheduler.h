#pragma once

#include "admission/cycle.h"
#include "admission/state.h"
#include "clusters/local_cluster.h"
#include "controllers/place_claims.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::controllers {

/// It is that Workload, has quota, and keeps it: it has not ended, nor is it about to give it back.
/// What a cycle decided about the holder of a reservation is written only while that is so.
bool holds_its_quota(const api::Workload& workload, const std::string& uid);

/// The result of a cycle, for metrics.
struct CycleSeen {
  bool success = false;  ///< a workload got quota, or other places
  Duration took{0};
  /// See admission::CycleResult.
  std::vector<std::string> skipped_preemptors{};
  std::vector<admission::Recomputed> recomputed{};
};

struct SchedulerConfig {
  admission::Config admission;
  /// waitForPodsReady is on: a workload waits for its pods from the moment at which it gets quota.
  bool wait_for_pods_ready = false;
  /// A workload that has waited this long is told why it still waits; most have their turn before.
  Duration explain_after{1000};
  /// Adds the clusters that are nominated at once to the status of a new reservation; may be null.
  std::function<void(const api::Workload&, api::WorkloadStatus* reserved)> nominate_first;
  std::function<void(const CycleSeen&)> on_cycle;                        ///< may be null
  std::function<void(const api::Workload&, bool admitted)> on_reserved;  ///< may be null
  /// Called when a victim is preempted; may be null.
  std::function<void(const admission::PreemptedWorkload&)> on_preempted;
};

/// Feeds admission::State from the informers, runs a cycle whenever a workload waits, and writes
/// the decisions. A cycle never waits for the API: writes are in flight together, and a reservation
/// is taken back when its write fails.
class Scheduler {
 public:
  Scheduler(clusters::LocalCluster& cluster, TaskScope& scope, SchedulerConfig config);

  /// Starts scheduling. The informers must have synced.
  void start();

  /// What admission knows now; valid until the next event.
  admission::StatusReader reader() { return state_.reader(); }
  /// Queues and cohorts that may have another status since the last call.
  admission::Changes take_changes() { return state_.take_changes(); }
  /// With admission fair sharing: the recorded use of LocalQueues decays, and so does their status.
  void sample_usage() { state_.sample_usage(cluster_.clock.now()); }
  /// Called, on the control thread, when take_changes() may have something.
  void on_changes(std::function<void()> handler) {
    changes_handlers_.push_back(std::move(handler));
  }
  bool idle() const;

 private:
  using WorkloadPtr = std::shared_ptr<const api::Workload>;
  struct PlacesDecided {
    api::ObjectKey key;
    std::string uid;
    std::uint64_t decision = 0;
    bool done = false;       ///< there was something to write
    const char* event = "";  ///< the reason of the event about a write that fails
  };

  Task<> run();
  Task<> write_pending_conditions();
  Task<> wait_for_work();
  /// Whether a cycle could decide anything now.
  bool has_work() const;
  /// Whether the result has decisions that are not being written already.
  bool apply(const admission::CycleResult& result, TimePoint now);
  Task<> reserve(admission::AdmittedWorkload admitted);
  /// Writes, and returns when it is known whether the write has happened: what it takes must not go
  /// to another workload before. `wanted` leaves in `version` the resourceVersion of what it was
  /// asked about. All three must outlive the task.
  Task<Status> write_until_known(const api::ObjectKey& key,
                                 const clusters::Wanted<api::WorkloadStatus>& wanted,
                                 const std::string& version);
  /// Returns when the store has the Workload as the API has it.
  Task<> find_out(api::ObjectKey key);
  Task<> preempt(admission::PreemptedWorkload preempted);
  // scheduler_failures.cpp. `version` is the resourceVersion of what a write was decided on.
  /// The Workload is still the one that an unanswered write was decided on.
  bool may_come_late(const api::ObjectKey& key, const std::string& version) const;
  /// The reservation is not written: a Workload whose write may fail again has its next turn later.
  Task<> give_back(admission::AdmittedWorkload admitted, std::string version, Status written);
  /// The preemption is not written: the victim keeps its quota, and is not asked for it at once.
  Task<> spare(admission::PreemptedWorkload preempted, std::string version, Error failed);
  /// Counts the failure, and brings the store up to date if it may lag behind. Returns how long the
  /// next write for that Workload has to wait.
  Task<Duration> pause_after(api::ObjectKey key, std::string uid, std::string version, Error failed,
                             std::string event);
  /// Sleeps that long, and on while the Workload cannot be decoded.
  Task<> sit_out(api::ObjectKey key, Duration pause);
  Task<Status> write_pending(api::ObjectKey key);
  void watch_objects();
  void upsert(const api::Workload& workload);
  void watch_pod_defaults();
  void read_again(const std::vector<api::ObjectKey>& workloads);
  // scheduler_places.cpp
  void watch_places();
  /// Tells the state of a pod: one whose claim to be placed is wrong is like any other.
  void count(const api::Pod& pod);
  void apply_places(const admission::CycleResult& result);
  /// `decided_on` is the Workload that the cycle knew.
  Task<> place(admission::AdmittedWorkload placed, WorkloadPtr decided_on);
  Task<> evict_unplaced(admission::EvictedWorkload evicted);
  /// What was decided about places is written or not. A write that may fail again is decided on
  /// later.
  Task<> settle(PlacesDecided decided, std::string version, Status written);
  void changed();
  void note(const api::ObjectKey& key, bool warning, std::string reason, std::string message);

  clusters::LocalCluster& cluster_;
  TaskScope& scope_;
  SchedulerConfig config_;
  Log log_;
  admission::State state_;
  PlaceClaims claims_;
  std::map<api::ObjectKey, admission::PendingWorkload> pending_;
  WorkQueue<api::ObjectKey> unwritten_;  ///< workloads in pending_ whose condition is due
  std::vector<std::function<void()>> changes_handlers_;
  int writing_ = 0;
  // By UID: a Workload may be made again under the same name while a write is in flight.
  std::set<std::string> preempting_;  ///< victims with an eviction in flight, or that are spared
  /// Workloads with a reservation in flight, and whether a preemptor waits for its end.
  std::map<std::string, bool> reserving_;
  std::map<std::string, int> failures_;  ///< writes for a Workload that failed in a row
  bool started_ = false;
  std::uint64_t events_ = 0;
  bool blocked_ = false;  ///< admission waits for pods to be ready
  Wakeup work_;
};

}  // namespace regatta::controllers
