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

VictimRule VictimRule::within_queue(const QueueInfo& queue, const WorkloadEntry& preemptor) {
  VictimRule rule;
  rule.order_time_ = preemptor.order_time;
  switch (queue.spec.preemption.within_cluster_queue) {
    case api::WithinQueuePolicy::Never:
      rule.allows_none_ = true;
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
      rule.allows_none_ = true;
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

namespace {

/// True also when the amount is zero.
bool names_any(std::span<const FrAmount> usage, const std::vector<FrId>& frs) {
  return std::any_of(usage.begin(), usage.end(), [&](const FrAmount& used) {
    return std::binary_search(frs.begin(), frs.end(), used.fr);
  });
}

}  // namespace

void VictimStream::settle() {
  for (; !keys_.empty(); keys_ = keys_.subspan(1)) {
    const VictimKey& key = keys_.front();
    if (by_priority_ && rule_->stops_at(key.priority)) {
      keys_ = {};
      return;
    }
    if (key.id == replaced_ || access_->asked().contains(key.id)) continue;
    if (!names_any(key.held.usage, preemptor_->frs)) continue;
    if (rule_->allows(access_->workloads(), key)) return;
  }
}

void remove_usage(Trial& trial, std::span<const Target> targets) {
  std::vector<FrAmount> usage;  // of consecutive targets in one ClusterQueue
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Holding& held = targets[i].held;
    for (const FrAmount& used : held.usage) add_amount(&usage, used.fr, used.amount);
    if (i + 1 < targets.size() && targets[i + 1].held.queue == held.queue) continue;
    trial.remove_usage(trial.access().queue(held.queue).node, usage);
    usage.clear();
  }
}

namespace {

bool places_fit(Trial& trial, const Preemptor& preemptor) {
  if (preemptor.topology == nullptr || preemptor.topology->empty()) return true;
  TopologySearch search;
  search.least_free_first = trial.access().config().topology_mixed_profile;
  return !find_places(trial.topologies(), *preemptor.topology, search).failure;
}

}  // namespace

bool fits(Trial& trial, const Preemptor& preemptor, bool allow_borrowing) {
  const QuotaForest& forest = trial.forest();
  const NodeId node = trial.access().queue(preemptor.queue).node;
  const auto has_quota = [&](const FrAmount& want) {
    if (!allow_borrowing && forest.borrowing_with(node, want.fr, want.amount)) return false;
    return want.amount <= forest.available(node, want.fr);
  };
  return std::all_of(preemptor.usage.begin(), preemptor.usage.end(), has_quota) &&
         places_fit(trial, preemptor);
}

namespace {

bool at_least(std::span<const FrAmount> a, std::span<const FrAmount> b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const FrAmount& x, const FrAmount& y) { return x.fr == y.fr && x.amount >= y.amount; });
}

}  // namespace

void fill_back(Trial& trial, const Preemptor& preemptor, bool allow_borrowing,
               std::vector<Target>* targets) {
  // A target is needed if it holds at least as much as a needed target of the same ClusterQueue.
  Holding needed;
  const bool quota_decides = preemptor.topology == nullptr || preemptor.topology->empty();
  for (std::size_t i = targets->size(); i-- > 0;) {
    if (i + 1 == targets->size()) continue;  // the last one chosen is needed
    const Target& target = (*targets)[i];
    if (quota_decides && needed.queue == target.held.queue &&
        at_least(target.held.usage, needed.usage)) {
      continue;
    }
    bool needless = false;
    {
      const Trial::Nested nested(trial);
      trial.restore(target.id, target.held);
      needless = fits(trial, preemptor, allow_borrowing);
    }
    if (!needless) {
      needed = target.held;
      continue;
    }
    trial.restore(target.id, target.held);
    (*targets)[i] = targets->back();
    targets->pop_back();
  }
}

std::vector<Target> find_targets(Trial& trial, const Preemptor& preemptor, TimePoint now) {
  const Trial::Nested nested(trial);
  return trial.access().config().fair_sharing ? find_fair_targets(trial, preemptor, now)
                                              : find_classical_targets(trial, preemptor, now);
}

std::vector<Target> SimulatedPreemption::targets(const Preemptor& preemptor) {
  for (const Found& found : found_) {
    if (found.preemptor == preemptor) return found.targets;
  }
  return find_targets(trial_, preemptor, now_);
}

PreemptionOracle::Answer SimulatedPreemption::simulate(FrId fr, Amount value) {
  const NodeId node = trial_.access().queue(queue_).node;
  Found& found = found_.emplace_back();
  found.preemptor = {id_, queue_, {fr}, {{fr, value}}, nullptr};
  found.targets = find_targets(trial_, found.preemptor, now_);
  const Trial::Nested nested(trial_);
  remove_usage(trial_, found.targets);
  const int height = trial_.forest().lowest_fitting_subtree(node, fr, value).height;
  if (found.targets.empty()) return {Mode::no_candidates, height};
  const bool own = std::any_of(found.targets.begin(), found.targets.end(),
                               [&](const Target& one) { return one.held.queue == queue_; });
  return {own ? Mode::preempt : Mode::reclaim, height};
}

}  // namespace regatta::admission
