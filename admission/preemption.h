#pragma once

/// Who must go so that a workload fits: classical preemption over the Cohort tree, and the fair
/// sharing kind. Both only suppose: the snapshot is left as it was.

#include "admission/fair_share.h"
#include "admission/flavor_assigner.h"
#include "admission/snapshot.h"

#include <string>
#include <vector>

namespace regatta::admission {

enum class PreemptionReason : std::uint8_t {
  in_cluster_queue,
  in_cohort_reclamation,
  in_cohort_fair_sharing,
  in_cohort_reclaim_while_borrowing,
};
std::string_view name_of(PreemptionReason reason);
/// As the message says it: "reclamation within the cohort".
std::string_view human_text(PreemptionReason reason);

struct Target {
  WorkloadId id = no_id;
  PreemptionReason reason = PreemptionReason::in_cluster_queue;
  friend bool operator==(const Target&, const Target&) = default;
};

/// Somebody who wants to preempt, and for what.
struct Preemptor {
  WorkloadId id = no_id;
  QueueId queue = no_id;
  std::vector<FrId> frs;        ///< that need preemption, sorted
  std::vector<FrAmount> usage;  ///< all it wants
};

/// Victims in the order chosen; empty: preemption cannot help.
std::vector<Target> find_targets(Snapshot& snapshot, const Preemptor& preemptor, TimePoint now);

/// Answers the flavor search for one workload.
class SimulatedPreemption final : public PreemptionOracle {
 public:
  SimulatedPreemption(Snapshot& snapshot, WorkloadId id, QueueId queue, TimePoint now)
      : snapshot_(snapshot), id_(id), queue_(queue), now_(now) {}
  Answer simulate(FrId fr, Amount value) override;

 private:
  Snapshot& snapshot_;
  WorkloadId id_;
  QueueId queue_;
  TimePoint now_;
};

// Parts, for both kinds of preemption.

std::vector<Target> find_classical_targets(Snapshot& snapshot, const Preemptor& preemptor,
                                           TimePoint now);
std::vector<Target> find_fair_targets(Snapshot& snapshot, const Preemptor& preemptor,
                                      TimePoint now);
/// Whether the workload's reservation counts for one of `frs`.
bool uses_any(const WorkloadEntry& workload, const std::vector<FrId>& frs);
bool within_queue_policy_allows(const QueueInfo& queue, const WorkloadEntry& preemptor,
                                const WorkloadEntry& candidate);
bool reclaim_policy_allows(const QueueInfo& queue, const WorkloadEntry& preemptor,
                           const WorkloadEntry& candidate);
/// Whom to take first: already leaving, other ClusterQueues, lower priority, admitted later, UID.
bool victim_before(const Snapshot& snapshot, QueueId own, WorkloadId a, WorkloadId b);
bool fits(const Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing);
/// Puts back, last chosen first, everybody who turned out not to be needed.
void fill_back(Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing,
               std::vector<Target>* targets);

}  // namespace regatta::admission
