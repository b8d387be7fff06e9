#include "admission/preemption.h"

#include <algorithm>
#include <array>

namespace regatta::admission {
namespace {

enum class Variant : std::uint8_t {
  within_queue,
  hierarchical,
  reclaim_without_borrowing,
  reclaim_while_borrowing,
};

/// Possible victims in one ClusterQueue.
struct Source {
  VictimStream stream;
  NodeId node = no_node;    ///< of the ClusterQueue
  NodeId common = no_node;  ///< lowest node above both queues; no_node in the preemptor's own queue
};

/// Sources of victims that are evicted already, and of others.
struct Sources {
  std::vector<Source> evicted;
  std::vector<Source> others;
  bool empty() const { return evicted.empty() && others.empty(); }
};

enum class List : std::uint8_t {
  hierarchy,  ///< reclaimed for a Cohort that is within its quota
  priority,   ///< in other ClusterQueues, without such a Cohort
  same,       ///< in the preemptor's own ClusterQueue
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
  Classical(Trial& trial, const Preemptor& preemptor)
      : trial_(trial),
        preemptor_(preemptor),
        queue_(trial.access().queue(preemptor.queue)),
        workload_(trial.access().workloads()[preemptor.id]),
        own_(VictimRule::within_queue(queue_, trial.access().workloads()[preemptor.id])),
        reclaim_(VictimRule::reclaim(queue_, trial.access().workloads()[preemptor.id])) {}

  std::vector<Target> find() {
    collect();
    for (const bool borrow : attempts()) {
      std::vector<Target> targets = attempt(borrow);
      if (!targets.empty()) return targets;
    }
    return {};
  }

 private:
  bool borrowing_forbidden() const {
    return queue_.spec.preemption.borrow_within_cohort.policy == api::BorrowPolicy::Never;
  }

  Sources& sources(List list) { return sources_.at(static_cast<std::size_t>(list)); }

  void collect() {
    if (!own_.allows_none()) add_queue(queue_, no_node, List::same, own_);
    const QuotaForest& forest = trial_.forest();
    NodeId root = forest.node(queue_.node).parent;
    if (root == no_node || reclaim_.allows_none()) return;
    std::vector<FrAmount> rest;
    bool advantage = forest.fits_in_quota(queue_.node, preemptor_.usage, &rest);
    NodeId previous = queue_.node;
    for (; root != no_node; root = forest.node(root).parent) {
      collect_below(root, previous, root, advantage ? List::hierarchy : List::priority);
      advantage = forest.fits_in_quota(root, rest, &rest) || advantage;
      previous = root;
    }
  }

  void add_queue(const QueueInfo& queue, NodeId common, List list, const VictimRule& rule) {
    const auto [evicted, others, by_priority] = trial_.access().victims_in(queue.id);
    const CycleAccess& access = trial_.access();
    if (VictimStream stream(access, preemptor_, rule, evicted, by_priority); !stream.empty()) {
      sources(list).evicted.push_back({stream, queue.node, common});
    }
    if (VictimStream stream(access, preemptor_, rule, others, by_priority); !stream.empty()) {
      sources(list).others.push_back({stream, queue.node, common});
    }
  }

  void collect_below(NodeId id, NodeId skip, NodeId common, List list) {
    const QuotaForest& forest = trial_.forest();
    for (const NodeId child : forest.node(id).over) {
      if (child == skip || forest.within_nominal(child, preemptor_.frs)) continue;
      if (!forest.node(child).is_queue) {
        collect_below(child, skip, common, list);
        continue;
      }
      const QueueInfo& other = trial_.access().queue(trial_.access().queue_of_node(child));
      if (!other.active) continue;  // its usage counts, but its workloads cannot be preempted
      add_queue(other, common, list, reclaim_);
    }
  }

  Variant variant_of(List list, std::int64_t priority) const {
    if (list == List::same) return Variant::within_queue;
    if (list == List::hierarchy) return Variant::hierarchical;
    if (borrowing_forbidden()) return Variant::reclaim_without_borrowing;
    const auto& threshold = queue_.spec.preemption.borrow_within_cohort.max_priority_threshold;
    const bool above = priority >= workload_.priority || (threshold && priority > *threshold);
    return above ? Variant::reclaim_without_borrowing : Variant::reclaim_while_borrowing;
  }

  std::vector<bool> attempts() {
    const bool no_others = sources(List::hierarchy).empty() && sources(List::priority).empty();
    const QuotaForest& forest = trial_.forest();
    const bool at_nominal = std::any_of(preemptor_.frs.begin(), preemptor_.frs.end(), [&](FrId fr) {
      return forest.usage(queue_.node, fr) >= forest.nominal(queue_.node, fr);
    });
    if (no_others || (borrowing_forbidden() && at_nominal)) return {true};
    if (borrowing_forbidden() && sources(List::hierarchy).empty()) return {false, true};
    return {true, false};
  }

  /// Usage falls as victims are chosen, so a source that was over its quota may be within it by
  /// now, and remains so.
  bool still_over_quota(const Source& source) const {
    if (source.common == no_node) return true;
    const QuotaForest& forest = trial_.forest();
    for (NodeId id = source.node; id != source.common; id = forest.node(id).parent) {
      if (forest.within_nominal(id, preemptor_.frs)) return false;
    }
    return true;
  }

  std::vector<Target> attempt(bool borrow) {
    const Trial::Nested nested(trial_);
    std::vector<Target> targets;
    bool fit = false;
    for (auto section : {&Sources::evicted, &Sources::others}) {
      for (const List list : {List::hierarchy, List::priority, List::same}) {
        if (borrow && list == List::priority && borrowing_forbidden()) continue;
        fit = fit || take_from(sources(list).*section, list, borrow, &targets);
      }
    }
    if (!fit) return {};
    fill_back(trial_, preemptor_, borrow, &targets);
    return targets;
  }

  /// Merges the sources, best victim first, until the preemptor fits.
  bool take_from(std::vector<Source> sources, List list, bool borrow,
                 std::vector<Target>* targets) {
    const WorkloadTable& table = trial_.access().workloads();
    const auto later = [&](const Source* a, const Source* b) {
      return victim_before(table, b->stream.front(), a->stream.front());
    };
    std::vector<Source*> heap;
    heap.reserve(sources.size());
    for (Source& source : sources) heap.push_back(&source);
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      Source& source = *heap.back();
      const VictimKey& victim = source.stream.front();
      const Variant variant = variant_of(list, victim.priority);
      const bool spared = borrow && variant == Variant::reclaim_without_borrowing;
      if ((spared && source.stream.by_priority()) || !still_over_quota(source)) {
        heap.pop_back();
        continue;
      }
      if (!spared) {
        trial_.remove(victim.id, victim.held);
        targets->push_back({victim.id, reason_of(variant), victim.held});
        if (fits(trial_, preemptor_, borrow)) return true;
      }
      source.stream.advance();
      if (source.stream.empty()) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
    return false;
  }

  Trial& trial_;
  const Preemptor& preemptor_;
  const QueueInfo& queue_;
  const WorkloadEntry& workload_;
  VictimRule own_;
  VictimRule reclaim_;
  std::array<Sources, 3> sources_;  ///< by List
};

}  // namespace

std::vector<Target> find_classical_targets(Trial& trial, const Preemptor& preemptor, TimePoint) {
  return Classical(trial, preemptor).find();
}

}  // namespace regatta::admission
