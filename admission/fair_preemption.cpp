#include "admission/preemption.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace regatta::admission {
namespace {

using Candidates = std::map<NodeId, std::vector<WorkloadId>>;  ///< next one last

/// Walks to the ClusterQueue that should give next: down from the root, always into the child with
/// the highest share, leaving out whoever has nothing to give.
class QueueOrder {
 public:
  QueueOrder(Snapshot& snapshot, const Preemptor& preemptor, Candidates candidates)
      : snapshot_(snapshot),
        preemptor_(preemptor),
        own_(snapshot.state().queue(preemptor.queue).node),
        candidates_(std::move(candidates)) {}

  /// no_node when nobody is left.
  NodeId next() {
    const NodeId root = snapshot_.forest().node(own_).root;
    if (root == own_) return has_candidates(own_) ? own_ : no_node;
    while (!pruned_.contains(root)) {
      const NodeId found = descend(root);
      if (found != no_node) return found;
    }
    return no_node;
  }

  bool has_candidates(NodeId queue) const {
    const auto it = candidates_.find(queue);
    return it != candidates_.end() && !it->second.empty();
  }
  WorkloadId front(NodeId queue) const { return candidates_.at(queue).back(); }
  WorkloadId pop(NodeId queue) {
    const WorkloadId id = front(queue);
    candidates_.at(queue).pop_back();
    return id;
  }
  void drop(NodeId queue) { pruned_.insert(queue); }

 private:
  Share share(NodeId id) const {
    return share_of(snapshot_.forest(), snapshot_.state().names(), id);
  }

  NodeId descend(NodeId cohort) {
    const QuotaForest& forest = snapshot_.forest();
    NodeId best_queue = no_node;
    Share queue_share;
    for (const NodeId child : forest.node(cohort).child_queues) {
      if (pruned_.contains(child)) continue;
      const Share candidate = share(child);
      if (!has_candidates(child) || (!candidate.borrowing && child != own_)) {
        pruned_.insert(child);
        continue;
      }
      const int order = best_queue == no_node ? 1 : compare(candidate, queue_share);
      const bool first =
          order == 0 && victim_before(snapshot_, preemptor_.queue, front(child), front(best_queue));
      if (order < 0 || (order == 0 && !first)) continue;
      best_queue = child;
      queue_share = candidate;
    }
    NodeId best_cohort = no_node;
    Share cohort_share;
    for (const NodeId child : forest.node(cohort).child_cohorts) {
      if (pruned_.contains(child)) continue;
      const Share candidate = share(child);
      if (!candidate.borrowing && !forest.is_ancestor(child, own_)) {
        pruned_.insert(child);
        continue;
      }
      if (best_cohort != no_node && compare(candidate, cohort_share) < 0) continue;
      best_cohort = child;
      cohort_share = candidate;
    }
    if (best_queue == no_node && best_cohort == no_node) {
      pruned_.insert(cohort);
      return no_node;
    }
    if (best_queue == no_node) return descend(best_cohort);
    if (best_cohort == no_node) return best_queue;
    return compare(cohort_share, queue_share) >= 0 ? descend(best_cohort) : best_queue;
  }

  Snapshot& snapshot_;
  const Preemptor& preemptor_;
  NodeId own_;
  Candidates candidates_;
  std::set<NodeId> pruned_;
};

class Fair {
 public:
  Fair(Snapshot& snapshot, const Preemptor& preemptor)
      : snapshot_(snapshot),
        preemptor_(preemptor),
        queue_(snapshot.state().queue(preemptor.queue)),
        workload_(snapshot.state().workloads()[preemptor.id]) {}

  std::vector<Target> find() {
    Candidates candidates = collect();
    if (candidates.empty()) return {};
    const auto& strategies = snapshot_.state().config().fair_sharing->strategies;
    snapshot_.add_usage(queue_.node, preemptor_.usage);
    within_nominal_ = snapshot_.state().config().fair_sharing_preempt_within_nominal &&
                      std::all_of(preemptor_.frs.begin(), preemptor_.frs.end(), [&](FrId fr) {
                        return !snapshot_.forest().borrowing_with(queue_.node, fr, 0);
                      });
    Candidates retry;
    bool fit = first_pass(std::move(candidates), strategies.front(), &retry);
    if (!fit && strategies.size() > 1) {
      for (auto& [node, ids] : retry) std::reverse(ids.begin(), ids.end());
      fit = second_pass(std::move(retry));
    }
    snapshot_.remove_usage(queue_.node, preemptor_.usage);
    if (!fit) return {};
    fill_back(snapshot_, preemptor_, true, &targets_);
    return std::move(targets_);
  }

 private:
  Candidates collect() const {
    Candidates candidates;
    const State& state = snapshot_.state();
    const QuotaForest& forest = snapshot_.forest();
    for (const NodeId node : forest.queues_of_tree(queue_.node)) {
      const bool own = node == queue_.node;
      const QueueInfo& queue = state.queue(state.queue_of_node(node));
      const bool borrowing =
          std::any_of(preemptor_.frs.begin(), preemptor_.frs.end(),
                      [&](FrId fr) { return forest.borrowing_with(node, fr, 0); });
      if (!own && (!borrowing || !queue.active)) continue;
      std::vector<WorkloadId> ids;
      for (const WorkloadId id : queue.reserved) {
        const WorkloadEntry& candidate = state.workloads()[id];
        if (snapshot_.removed(id) || !uses_any(candidate, preemptor_.frs)) continue;
        const bool allowed = own ? within_queue_policy_allows(queue_, workload_, candidate)
                                 : reclaim_policy_allows(queue_, workload_, candidate);
        if (allowed) ids.push_back(id);
      }
      if (ids.empty()) continue;
      std::sort(ids.begin(), ids.end(), [&](WorkloadId a, WorkloadId b) {
        return victim_before(snapshot_, preemptor_.queue, b, a);
      });
      candidates.emplace(node, std::move(ids));
    }
    return candidates;
  }

  /// The children of the lowest node above both: what the preemptor and the target compete with.
  std::pair<NodeId, NodeId> competitors(NodeId target) const {
    const QuotaForest& forest = snapshot_.forest();
    NodeId mine = queue_.node;
    while (!forest.is_ancestor(forest.node(mine).parent, target)) mine = forest.node(mine).parent;
    const NodeId common = forest.node(mine).parent;
    while (forest.node(target).parent != common) target = forest.node(target).parent;
    return {mine, target};
  }

  double share(NodeId id) const {
    return share_of(snapshot_.forest(), snapshot_.state().names(), id).value();
  }

  void take(WorkloadId id, PreemptionReason reason) {
    snapshot_.remove(id);
    targets_.push_back({id, reason});
  }

  bool fits_now() {
    snapshot_.remove_usage(queue_.node, preemptor_.usage);
    const bool fit = fits(snapshot_, preemptor_, true);
    snapshot_.add_usage(queue_.node, preemptor_.usage);
    return fit;
  }

  bool first_pass(Candidates candidates, PreemptionStrategy strategy, Candidates* retry) {
    QueueOrder order(snapshot_, preemptor_, std::move(candidates));
    for (NodeId node = order.next(); node != no_node; node = order.next()) {
      if (node == queue_.node) {
        take(order.pop(node), PreemptionReason::in_cluster_queue);
        if (fits_now()) return true;
        continue;
      }
      if (within_nominal_) {
        take(order.pop(node), PreemptionReason::in_cohort_reclamation);
        if (fits_now()) return true;
        continue;
      }
      const auto [mine, theirs] = competitors(node);
      const double preemptor_share = share(mine);
      const double old_share = share(theirs);
      const double infinity = std::numeric_limits<double>::infinity();
      if (preemptor_share == infinity && old_share != infinity) {
        while (order.has_candidates(node)) (*retry)[node].push_back(order.pop(node));
        continue;
      }
      while (order.has_candidates(node)) {
        const WorkloadId id = order.pop(node);
        snapshot_.remove(id);
        const double new_share = share(theirs);
        snapshot_.restore(id);
        const bool allowed = strategy == PreemptionStrategy::LessThanOrEqualToFinalShare
                                 ? preemptor_share <= new_share
                                 : preemptor_share < old_share;
        if (!allowed) {
          (*retry)[node].push_back(id);
          continue;
        }
        take(id, PreemptionReason::in_cohort_fair_sharing);
        if (fits_now()) return true;
        break;
      }
    }
    return false;
  }

  bool second_pass(Candidates candidates) {
    QueueOrder order(snapshot_, preemptor_, std::move(candidates));
    for (NodeId node = order.next(); node != no_node; node = order.next()) {
      const WorkloadId id = order.pop(node);
      const auto [mine, theirs] = competitors(node);
      if (share(mine) < share(theirs)) {
        take(id, PreemptionReason::in_cohort_fair_sharing);
        if (fits_now()) return true;
      }
      order.drop(node);
    }
    return false;
  }

  Snapshot& snapshot_;
  const Preemptor& preemptor_;
  const QueueInfo& queue_;
  const WorkloadEntry& workload_;
  bool within_nominal_ = false;
  std::vector<Target> targets_;
};

}  // namespace

std::vector<Target> find_fair_targets(Snapshot& snapshot, const Preemptor& preemptor, TimePoint) {
  return Fair(snapshot, preemptor).find();
}

}  // namespace regatta::admission
