#include "admission/preemption.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {

std::string_view name_of(PreemptionReason reason) {
  switch (reason) {
    case PreemptionReason::in_cluster_queue:
      return api::reasons::in_cluster_queue;
    case PreemptionReason::in_cohort_reclamation:
      return api::reasons::in_cohort_reclamation;
    case PreemptionReason::in_cohort_fair_sharing:
      return api::reasons::in_cohort_fair_sharing;
    case PreemptionReason::in_cohort_reclaim_while_borrowing:
      return api::reasons::in_cohort_reclaim_while_borrowing;
  }
  return {};
}

std::string_view human_text(PreemptionReason reason) {
  switch (reason) {
    case PreemptionReason::in_cluster_queue:
      return "prioritization in the ClusterQueue";
    case PreemptionReason::in_cohort_reclamation:
      return "reclamation within the cohort";
    case PreemptionReason::in_cohort_fair_sharing:
      return "Fair Sharing within the cohort";
    case PreemptionReason::in_cohort_reclaim_while_borrowing:
      return "reclamation within the cohort while borrowing";
  }
  return {};
}

bool uses_any(const WorkloadEntry& workload, const std::vector<FrId>& frs) {
  const auto& usage = workload.reservation->usage;
  return std::any_of(usage.begin(), usage.end(), [&](const FrAmount& used) {
    return std::binary_search(frs.begin(), frs.end(), used.fr);  // also when it uses none of it
  });
}

bool within_queue_policy_allows(const QueueInfo& queue, const WorkloadEntry& preemptor,
                                const WorkloadEntry& candidate) {
  switch (queue.spec.preemption.within_cluster_queue) {
    case api::WithinQueuePolicy::Never:
      return false;
    case api::WithinQueuePolicy::LowerPriority:
      return preemptor.priority > candidate.priority;
    case api::WithinQueuePolicy::LowerOrNewerEqualPriority:
      return preemptor.priority > candidate.priority ||
             (preemptor.priority == candidate.priority &&
              preemptor.order_time < candidate.order_time);
  }
  return false;
}

bool reclaim_policy_allows(const QueueInfo& queue, const WorkloadEntry& preemptor,
                           const WorkloadEntry& candidate) {
  switch (queue.spec.preemption.reclaim_within_cohort) {
    case api::ReclaimPolicy::Never:
      return false;
    case api::ReclaimPolicy::LowerPriority:
      return preemptor.priority > candidate.priority;
    case api::ReclaimPolicy::Any:
      return true;
  }
  return false;
}

bool victim_before(const Snapshot& snapshot, QueueId own, WorkloadId a, WorkloadId b) {
  const WorkloadEntry& left = snapshot.state().workloads()[a];
  const WorkloadEntry& right = snapshot.state().workloads()[b];
  const Reservation& left_held = *left.reservation;
  const Reservation& right_held = *right.reservation;
  if (left_held.evicted != right_held.evicted) return left_held.evicted;
  const bool left_own = left_held.queue == own;
  const bool right_own = right_held.queue == own;
  if (left_own != right_own) return right_own;
  if (left.priority != right.priority) return left.priority < right.priority;
  if (left_held.reserved_at != right_held.reserved_at) {
    return left_held.reserved_at > right_held.reserved_at;
  }
  return left.uid < right.uid;
}

bool fits(const Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing) {
  const QuotaForest& forest = snapshot.forest();
  const NodeId node = snapshot.state().queue(preemptor.queue).node;
  return std::all_of(preemptor.usage.begin(), preemptor.usage.end(), [&](const FrAmount& want) {
    if (!allow_borrowing && forest.borrowing_with(node, want.fr, want.amount)) return false;
    return want.amount <= forest.available(node, want.fr);
  });
}

void fill_back(Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing,
               std::vector<Target>* targets) {
  for (std::size_t i = targets->size(); i-- > 0;) {
    if (i + 1 == targets->size()) continue;  // the last one chosen made it fit
    const WorkloadId id = (*targets)[i].id;
    snapshot.restore(id);
    if (fits(snapshot, preemptor, allow_borrowing)) {
      (*targets)[i] = targets->back();
      targets->pop_back();
    } else {
      snapshot.remove(id);
    }
  }
}

std::vector<Target> find_targets(Snapshot& snapshot, const Preemptor& preemptor, TimePoint now) {
  const Snapshot::Trial trial(snapshot);
  return snapshot.state().config().fair_sharing ? find_fair_targets(snapshot, preemptor, now)
                                                : find_classical_targets(snapshot, preemptor, now);
}

PreemptionOracle::Answer SimulatedPreemption::simulate(FrId fr, Amount value) {
  const Preemptor preemptor{id_, queue_, {fr}, {{fr, value}}};
  const NodeId node = snapshot_.state().queue(queue_).node;
  const std::vector<Target> targets = find_targets(snapshot_, preemptor, now_);
  const Snapshot::Trial trial(snapshot_);
  bool own = false;
  for (const Target& target : targets) {
    own = own || snapshot_.state().workloads()[target.id].reservation->queue == queue_;
    snapshot_.remove(target.id);
  }
  const int height = snapshot_.forest().lowest_fitting_subtree(node, fr, value).height;
  if (targets.empty()) return {Mode::no_candidates, height};
  return {own ? Mode::preempt : Mode::reclaim, height};
}

}  // namespace regatta::admission
