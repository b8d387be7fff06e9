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

VictimRule VictimRule::within_queue(const QueueInfo& queue, const WorkloadEntry& preemptor) {
  VictimRule rule;
  rule.order_time_ = preemptor.order_time;
  switch (queue.spec.preemption.within_cluster_queue) {
    case api::WithinQueuePolicy::Never:
      rule.nobody_ = true;
      rule.most_ = INT64_MIN;
      break;
    case api::WithinQueuePolicy::LowerPriority:
      rule.most_ = preemptor.priority - 1;
      break;
    case api::WithinQueuePolicy::LowerOrNewerEqualPriority:
      rule.most_ = preemptor.priority;
      rule.newer_ = true;
      break;
  }
  return rule;
}

VictimRule VictimRule::reclaim(const QueueInfo& queue, const WorkloadEntry& preemptor) {
  VictimRule rule;
  switch (queue.spec.preemption.reclaim_within_cohort) {
    case api::ReclaimPolicy::Never:
      rule.nobody_ = true;
      rule.most_ = INT64_MIN;
      break;
    case api::ReclaimPolicy::LowerPriority:
      rule.most_ = preemptor.priority - 1;
      break;
    case api::ReclaimPolicy::Any:
      break;
  }
  return rule;
}

void VictimStream::settle() {
  for (; at_ < keys_.size(); ++at_) {
    const VictimKey& key = keys_[at_];
    if (by_priority_ && rule_->stops_at(key.priority)) {
      at_ = keys_.size();
      return;
    }
    const WorkloadEntry& candidate = (*table_)[key.id];
    if (candidate.reservation->away || !uses_any(candidate, *frs_)) continue;
    if (rule_->allows(candidate)) return;
  }
}

namespace {

bool places_fit(Snapshot& snapshot, const Preemptor& preemptor) {
  if (preemptor.topology == nullptr || preemptor.topology->empty()) return true;
  TopologySearch search;
  search.least_free_first = snapshot.state().config().topology_mixed_profile;
  return !find_places(snapshot.topologies(), *preemptor.topology, search).failure;
}

}  // namespace

bool fits(Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing) {
  const QuotaForest& forest = snapshot.forest();
  const NodeId node = snapshot.state().queue(preemptor.queue).node;
  const auto has_quota = [&](const FrAmount& want) {
    if (!allow_borrowing && forest.borrowing_with(node, want.fr, want.amount)) return false;
    return want.amount <= forest.available(node, want.fr);
  };
  return std::all_of(preemptor.usage.begin(), preemptor.usage.end(), has_quota) &&
         places_fit(snapshot, preemptor);
}

void fill_back(Snapshot& snapshot, const Preemptor& preemptor, bool allow_borrowing,
               std::vector<Target>* targets) {
  for (std::size_t i = targets->size(); i-- > 0;) {
    if (i + 1 == targets->size()) continue;  // the last one chosen made it fit
    const WorkloadId id = (*targets)[i].id;
    bool needless = false;
    {
      const Snapshot::Trial trial(snapshot);
      snapshot.restore(id);
      needless = fits(snapshot, preemptor, allow_borrowing);
    }
    if (!needless) continue;
    snapshot.restore(id);
    (*targets)[i] = targets->back();
    targets->pop_back();
  }
}

std::vector<Target> find_targets(Snapshot& snapshot, const Preemptor& preemptor, TimePoint now) {
  const Snapshot::Trial trial(snapshot);
  return snapshot.state().config().fair_sharing ? find_fair_targets(snapshot, preemptor, now)
                                                : find_classical_targets(snapshot, preemptor, now);
}

std::vector<Target> SimulatedPreemption::targets(const Preemptor& preemptor) {
  for (const Found& found : found_) {
    if (found.preemptor == preemptor) return found.targets;
  }
  return find_targets(snapshot_, preemptor, now_);
}

PreemptionOracle::Answer SimulatedPreemption::simulate(FrId fr, Amount value) {
  const NodeId node = snapshot_.state().queue(queue_).node;
  Found& found = found_.emplace_back();
  found.preemptor = {id_, queue_, {fr}, {{fr, value}}, nullptr};
  found.targets = find_targets(snapshot_, found.preemptor, now_);
  const Snapshot::Trial trial(snapshot_);
  bool own = false;
  std::vector<FrAmount> usage;  // of targets in a row that are in one ClusterQueue
  for (std::size_t i = 0; i < found.targets.size(); ++i) {
    const Reservation& held = *snapshot_.state().workloads()[found.targets[i].id].reservation;
    own = own || held.queue == queue_;
    for (const FrAmount& used : held.usage) add_amount(&usage, used.fr, used.amount);
    const bool last = i + 1 == found.targets.size();
    if (!last &&
        snapshot_.state().workloads()[found.targets[i + 1].id].reservation->queue == held.queue) {
      continue;
    }
    snapshot_.remove_usage(snapshot_.state().queue(held.queue).node, usage);
    usage.clear();
  }
  const int height = snapshot_.forest().lowest_fitting_subtree(node, fr, value).height;
  if (found.targets.empty()) return {Mode::no_candidates, height};
  return {own ? Mode::preempt : Mode::reclaim, height};
}

}  // namespace regatta::admission
