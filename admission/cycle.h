#pragma once

/// One scheduling cycle: take the heads, nominate, order, process, requeue.
///
/// Every active ClusterQueue sends its first workload, its head. Each head gets flavors based on
/// the state at the start of the cycle. Then the heads are processed in order: a head that still
/// fits is admitted, and its usage counts for the next ones. At most one workload per ClusterQueue
/// is admitted in a cycle.
///
/// The cycle works on the live quota tree under a trial that is rolled back (quota.h); then the
/// admitted workloads are recorded in State as assumed. A cycle costs what its heads touch, however
/// many workloads wait behind them.

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
  std::int64_t generation = 0;  ///< of the Workload that was decided on
  std::string cluster_queue;
  api::Admission admission;
  std::vector<std::string> checks;  ///< admission checks its flavors require, sorted
  api::ObjectKey replaces;          ///< workload that is finished once this is written; empty: none
  std::string considered;           ///< see Assignment::considered()
  std::uint64_t decision = 0;       ///< about places: see State::settle_places()
};

/// A head that got no reservation: what to write to QuotaReserved=False.
struct PendingWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string cluster_queue;
  std::string reason;
  std::string message;
  bool immediate = false;  ///< it is already back in the heap
  bool gated = false;      ///< it would preempt, but one of its gates is closed
};

/// The workload for which victims are preempted.
struct PreemptingWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string path;  ///< of its ClusterQueue in the quota tree
};

/// A workload that is preempted. Its reservation stays until its job has stopped.
struct PreemptedWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string_view reason;                              ///< of the Preempted condition
  std::string_view human_reason;                        ///< for preemption_message()
  std::shared_ptr<const PreemptingWorkload> preemptor;  ///< shared by all its victims
  std::string preemptee_path;
};

/// A workload that is evicted without preemption: a node it runs on is lost, and its pods there fit
/// nowhere else.
struct EvictedWorkload {
  api::ObjectKey key;
  std::string uid;
  std::string reason;
  std::string message;
  std::vector<std::string> lost;  ///< the nodes without a replacement; one that is back ends that
  std::uint64_t decision = 0;     ///< see State::settle_places()
};

/// A head that was nominated again because another head had taken its targets.
struct Recomputed {
  enum class Outcome : std::uint8_t { new_targets, deferred_fit, skipped };
  std::string cluster_queue;
  Outcome outcome = Outcome::skipped;
};

struct CycleResult {
  bool ran = false;  ///< false: no workload waited
  std::uint64_t cycle = 0;
  std::vector<AdmittedWorkload> admitted;    ///< in the order decided
  std::vector<PendingWorkload> pending;      ///< by key
  std::vector<PreemptedWorkload> preempted;  ///< in the order decided
  /// A head fits, but must wait until all pods of admitted workloads are ready. Cycles are useless
  /// before that.
  bool blocked = false;
  /// Workloads that keep their reservation: status.admission with (new) places for their pods.
  /// Write only the places and clear status.unhealthyNodes; Admitted follows from the workload's
  /// own checks.
  std::vector<AdmittedWorkload> placed;
  std::vector<EvictedWorkload> evicted;
  /// Workloads with a reservation for whose pods there is no place yet; they are tried again.
  std::vector<PendingWorkload> unplaced;
  /// ClusterQueues whose head had targets and was skipped: other heads of this cycle took the
  /// targets, or the quota that they would have freed.
  std::vector<std::string> skipped_preemptors;
  std::vector<Recomputed> recomputed;
  /// Whether a workload got quota or places, or was evicted.
  bool settled() const { return !admitted.empty() || !placed.empty() || !evicted.empty(); }
  /// Whether another cycle at once may do more.
  bool progressed() const { return settled() || !preempted.empty(); }
};

CycleResult run_cycle(State& state, TimePoint now);

/// Message of the Preempted and Evicted conditions. `job_uid` is that of the preemptor's job, if
/// known. "Preempted to accommodate a workload (UID: …, JobUID: …) due to …; preemptor path: …; …".
std::string preemption_message(const PreemptedWorkload& preempted, const std::string& job_uid);

/// The message of QuotaReserved=True.
std::string quota_reserved_message(const std::string& cluster_queue);

}  // namespace regatta::admission
