#include "admission/preemption.h"

#include <algorithm>

namespace regatta::admission {
namespace {

enum class Variant : std::uint8_t {
  within_queue,
  hierarchical,
  reclaim_without_borrowing,
  reclaim_while_borrowing,
};

struct Candidate {
  WorkloadId id = no_id;
  NodeId node = no_node;    ///< of its ClusterQueue
  NodeId common = no_node;  ///< lowest node above both queues; no_node in the preemptor's own queue
  Variant variant = Variant::within_queue;
};

PreemptionReason reason_of(Variant variant) {
  switch (variant) {
    case Variant::within_queue:
      return PreemptionReason::in_cluster_queue;
    case Variant::hierarchical:
    case Variant::reclaim_without_borrowing:
      return PreemptionReason::in_cohort_reclamation;
    case Variant::reclaim_while_borrowing:
      return PreemptionReason::in_cohort_reclaim_while_borrowing;
  }
  return PreemptionReason::in_cluster_queue;
}

class Classical {
 public:
  Classical(Snapshot& snapshot, const Preemptor& preemptor)
      : snapshot_(snapshot),
        preemptor_(preemptor),
        queue_(snapshot.state().queue(preemptor.queue)),
        workload_(snapshot.state().workloads()[preemptor.id]) {}

  std::vector<Target> find() {
    collect();
    for (auto* list : {&hierarchy_, &priority_, &same_}) sort(list);
    std::vector<Candidate> order;
    for (const bool evicted : {true, false}) {
      for (const auto* list : {&hierarchy_, &priority_, &same_}) {
        for (const Candidate& candidate : *list) {
          if (entry(candidate).reservation->evicted == evicted) order.push_back(candidate);
        }
      }
    }
    for (const bool borrow : attempts()) {
      std::vector<Target> targets = attempt(order, borrow);
      if (!targets.empty()) return targets;
    }
    return {};
  }

 private:
  const WorkloadEntry& entry(const Candidate& candidate) const {
    return snapshot_.state().workloads()[candidate.id];
  }

  bool borrowing_forbidden() const {
    return queue_.spec.preemption.borrow_within_cohort.policy == api::BorrowPolicy::Never;
  }

  void sort(std::vector<Candidate>* list) const {
    std::sort(list->begin(), list->end(), [&](const Candidate& a, const Candidate& b) {
      return victim_before(snapshot_, preemptor_.queue, a.id, b.id);
    });
  }

  void collect() {
    if (queue_.spec.preemption.within_cluster_queue != api::WithinQueuePolicy::Never) {
      for (const WorkloadId id : queue_.reserved) {
        const WorkloadEntry& candidate = snapshot_.state().workloads()[id];
        if (snapshot_.removed(id) || !uses_any(candidate, preemptor_.frs)) continue;
        if (!within_queue_policy_allows(queue_, workload_, candidate)) continue;
        same_.push_back({id, queue_.node, no_node, Variant::within_queue});
      }
    }
    const QuotaForest& forest = snapshot_.forest();
    NodeId root = forest.node(queue_.node).parent;
    if (root == no_node ||
        queue_.spec.preemption.reclaim_within_cohort == api::ReclaimPolicy::Never) {
      return;
    }
    std::vector<FrAmount> rest;
    bool advantage = forest.fits_in_quota(queue_.node, preemptor_.usage, &rest);
    NodeId previous = queue_.node;
    for (; root != no_node; root = forest.node(root).parent) {
      collect_below(root, previous, root, advantage, advantage ? &hierarchy_ : &priority_);
      advantage = forest.fits_in_quota(root, rest, &rest) || advantage;
      previous = root;
    }
  }

  void collect_below(NodeId id, NodeId skip, NodeId common, bool advantage,
                     std::vector<Candidate>* list) {
    const QuotaForest& forest = snapshot_.forest();
    for (const NodeId child : forest.node(id).child_cohorts) {
      if (child == skip || forest.within_nominal(child, preemptor_.frs)) continue;
      collect_below(child, skip, common, advantage, list);
    }
    for (const NodeId child : forest.node(id).child_queues) {
      if (child == skip || forest.within_nominal(child, preemptor_.frs)) continue;
      const QueueInfo& other = snapshot_.state().queue(snapshot_.state().queue_of_node(child));
      if (!other.active) continue;  // its usage counts, its workloads are out of reach
      for (const WorkloadId victim : other.reserved) {
        const WorkloadEntry& candidate = snapshot_.state().workloads()[victim];
        if (snapshot_.removed(victim) || !uses_any(candidate, preemptor_.frs)) continue;
        if (!reclaim_policy_allows(queue_, workload_, candidate)) continue;
        list->push_back({victim, child, common, variant_of(candidate, advantage)});
      }
    }
  }

  Variant variant_of(const WorkloadEntry& candidate, bool advantage) const {
    if (advantage) return Variant::hierarchical;
    if (borrowing_forbidden()) return Variant::reclaim_without_borrowing;
    const auto& threshold = queue_.spec.preemption.borrow_within_cohort.max_priority_threshold;
    const bool above =
        candidate.priority >= workload_.priority || (threshold && candidate.priority > *threshold);
    return above ? Variant::reclaim_without_borrowing : Variant::reclaim_while_borrowing;
  }

  std::vector<bool> attempts() const {
    const bool no_others = hierarchy_.empty() && priority_.empty();
    const QuotaForest& forest = snapshot_.forest();
    const bool at_nominal = std::any_of(preemptor_.frs.begin(), preemptor_.frs.end(), [&](FrId fr) {
      return forest.usage(queue_.node, fr) >= forest.nominal(queue_.node, fr);
    });
    if (no_others || (borrowing_forbidden() && at_nominal)) return {true};
    if (borrowing_forbidden() && hierarchy_.empty()) return {false, true};
    return {true, false};
  }

  /// Usage drops as victims are chosen: who was over quota may no longer be.
  bool still_eligible(const Candidate& candidate, bool borrow) const {
    if (borrow && candidate.variant == Variant::reclaim_without_borrowing) return false;
    if (candidate.common == no_node) return true;
    const QuotaForest& forest = snapshot_.forest();
    for (NodeId id = candidate.node; id != candidate.common; id = forest.node(id).parent) {
      if (forest.within_nominal(id, preemptor_.frs)) return false;
    }
    return true;
  }

  std::vector<Target> attempt(const std::vector<Candidate>& order, bool borrow) {
    const Snapshot::Trial trial(snapshot_);
    std::vector<Target> targets;
    for (const Candidate& candidate : order) {
      if (!still_eligible(candidate, borrow)) continue;
      snapshot_.remove(candidate.id);
      targets.push_back({candidate.id, reason_of(candidate.variant)});
      if (!fits(snapshot_, preemptor_, borrow)) continue;
      fill_back(snapshot_, preemptor_, borrow, &targets);
      return targets;
    }
    return {};
  }

  Snapshot& snapshot_;
  const Preemptor& preemptor_;
  const QueueInfo& queue_;
  const WorkloadEntry& workload_;
  std::vector<Candidate> same_;
  std::vector<Candidate> hierarchy_;
  std::vector<Candidate> priority_;
};

}  // namespace

std::vector<Target> find_classical_targets(Snapshot& snapshot, const Preemptor& preemptor,
                                           TimePoint) {
  return Classical(snapshot, preemptor).find();
}

}  // namespace regatta::admission
