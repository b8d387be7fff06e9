#pragma once

/// One scheduling cycle: heads -> nominate -> order -> process -> requeue.
///
/// Every active ClusterQueue sends its first workload. Each gets flavors on the state as it is at
/// the start; then they are taken in order, and whoever still fits is admitted and counts for those
/// after it. At most one workload per ClusterQueue is admitted per cycle.
///
/// The cycle works on the live quota tree under a trial that is rolled back (quota.h); the admitted
/// are then recorded in State as assumed. It costs what its heads touch, whatever waits behind
/// them.

#include "admission/state.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

/// A workload that got a reservation. Write it (and Admitted=True when `checks` is empty), or
/// forget() it.
struct AdmittedWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string cluster_queue;
  api::Admission admission;
  std::vector<std::string> checks;  ///< admission checks its flavors require, sorted
  api::ObjectKey replaces;          ///< once it is written, this workload is finished; empty: none
  std::string considered;           ///< see Assignment::considered()
};

/// A head without a reservation: what to write to QuotaReserved=False.
struct PendingWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string cluster_queue;
  std::string reason;
  std::string message;
  bool immediate = false;  ///< it is back in the heap already
  bool gated = false;      ///< it would preempt, but one of its gates is closed
};

/// Who others must go for.
struct PreemptingWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string path;  ///< of its ClusterQueue in the Cohorts
};

/// A workload that must go. Its reservation stays until its job has stopped.
struct PreemptedWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string_view reason;                              ///< of the Preempted condition
  std::string_view human_reason;                        ///< as preemption_message() says it
  std::shared_ptr<const PreemptingWorkload> preemptor;  ///< shared by all its victims
  std::string preemptee_path;
};

/// A workload that must go though nobody preempts it: a node it runs on is lost and its pods there
/// fit nowhere else.
struct EvictedWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string reason;
  std::string message;
};

/// A head whose targets somebody else had taken was looked at again.
struct Recomputed {
  enum class Outcome : std::uint8_t { new_targets, deferred_fit, skipped };
  std::string cluster_queue;
  Outcome outcome = Outcome::skipped;
};

struct CycleResult {
  bool ran = false;  ///< false: nobody waited
  std::uint64_t cycle = 0;
  std::vector<AdmittedWorkload> admitted;    ///< in the order decided
  std::vector<PendingWorkload> pending;      ///< by key
  std::vector<PreemptedWorkload> preempted;  ///< in the order decided
  /// Somebody would fit, but must wait until all pods are ready: no cycle makes sense before that.
  bool blocked = false;
  /// Workloads that keep their reservation: status.admission with (new) places for their pods.
  /// Write it and clear status.unhealthyNodes; Admitted follows from the workload's own checks.
  std::vector<AdmittedWorkload> placed;
  std::vector<EvictedWorkload> evicted;
  /// Workloads with a reservation whose pods found no place yet; they are tried again.
  std::vector<PendingWorkload> unplaced;
  /// ClusterQueues whose head had targets and was passed over: others of this cycle took them, or
  /// what would have become free.
  std::vector<std::string> skipped_preemptors;
  std::vector<Recomputed> recomputed;
  /// Somebody got quota, or other places, or lost them for good.
  bool settled() const { return !admitted.empty() || !placed.empty() || !evicted.empty(); }
  /// Another cycle may do more at once: something was admitted or preempted.
  bool progressed() const { return settled() || !preempted.empty(); }
};

CycleResult run_cycle(State& state, TimePoint now);

/// Message of the Preempted and Evicted conditions. `job_uid` is the preemptor's, where known.
/// "Preempted to accommodate a workload (UID: …, JobUID: …) due to …; preemptor path: …; …".
std::string preemption_message(const PreemptedWorkload& preempted, const std::string& job_uid);

/// The message of QuotaReserved=True.
std::string quota_reserved_message(const std::string& cluster_queue);

}  // namespace regatta::admission
