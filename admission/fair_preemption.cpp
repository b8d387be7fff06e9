#include "admission/preemption.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace regatta::admission {
namespace {

/// Possible victims of one ClusterQueue, in order: read as they are needed, or put aside before.
class Supply {
 public:
  Supply() = default;
  Supply(VictimStream evicted, VictimStream others) : streams_({evicted, others}) {}

  bool empty() const {
    return at_ == aside_.size() &&
           std::all_of(streams_.begin(), streams_.end(), [](const auto& s) { return s.empty(); });
  }
  const VictimKey& front() const {
    if (at_ < aside_.size()) return *aside_[at_];
    return streams_.front().empty() ? streams_.back().front() : streams_.front().front();
  }
  const VictimKey& pop() {
    const VictimKey& victim = front();
    if (at_ < aside_.size()) {
      ++at_;
    } else {
      (streams_.front().empty() ? streams_.back() : streams_.front()).advance();
    }
    return victim;
  }
  void put_aside(const VictimKey& victim) { aside_.push_back(&victim); }

 private:
  std::vector<VictimStream> streams_;
  std::vector<const VictimKey*> aside_;
  std::size_t at_ = 0;
};

using Supplies = std::unordered_map<NodeId, Supply>;  ///< by ClusterQueue; never iterated

/// Walks to the ClusterQueue that should give next: down from the root, always into the child with
/// the highest share, leaving out whoever has nothing to give. Shares are computed once and again
/// only when usage below has changed.
class QueueOrder {
 public:
  QueueOrder(Snapshot& snapshot, const Preemptor& preemptor, Supplies supplies)
      : snapshot_(snapshot),
        own_(snapshot.state().queue(preemptor.queue).node),
        supplies_(std::move(supplies)) {}

  /// no_node when nobody is left.
  NodeId next() {
    const NodeId root = snapshot_.forest().node(own_).root;
    if (root == own_) return has_candidates(own_) ? own_ : no_node;
    while (!root_pruned_) {
      const NodeId found = descend(root);
      if (found != no_node) return found;
    }
    return no_node;
  }

  bool has_candidates(NodeId queue) const {
    const auto it = supplies_.find(queue);
    return it != supplies_.end() && !it->second.empty();
  }
  const VictimKey& pop(NodeId queue) { return supplies_.at(queue).pop(); }
  void drop(NodeId queue) {
    const NodeId parent = snapshot_.forest().node(queue).parent;
    if (parent == no_node) return;
    std::erase_if(level(parent).queues, [&](const Child& child) { return child.id == queue; });
  }
  /// The usage of the ClusterQueue has changed.
  void changed(NodeId queue) {
    const QuotaForest& forest = snapshot_.forest();
    for (NodeId id = queue; forest.node(id).parent != no_node; id = forest.node(id).parent) {
      const auto it = levels_.find(forest.node(id).parent);
      if (it == levels_.end()) continue;
      for (auto* children : {&it->second.queues, &it->second.cohorts}) {
        for (Child& child : *children) child.known = child.known && child.id != id;
      }
    }
  }

 private:
  struct Child {
    NodeId id = no_node;
    const Supply* supply = nullptr;  ///< a ClusterQueue's
    Share share;
    bool known = false;
  };
  /// Children of a Cohort that may have something to give, by name.
  struct Level {
    std::vector<Child> queues;
    std::vector<Child> cohorts;
  };

  bool before(NodeId a, NodeId b) const {
    return snapshot_.forest().node(a).name < snapshot_.forest().node(b).name;
  }

  Level& level(NodeId cohort) {
    const auto [it, added] = levels_.try_emplace(cohort);
    if (!added) return it->second;
    const QuotaForest& forest = snapshot_.forest();
    NodeId on_path = own_;  // the preemptor's side takes part whether it borrows or not
    while (on_path != no_node && forest.node(on_path).parent != cohort) {
      on_path = forest.node(on_path).parent;
    }
    std::vector<NodeId> ids = forest.node(cohort).over;
    const bool missing = on_path != no_node && forest.node(on_path).cells_over == 0;
    if (missing) ids.push_back(on_path);
    std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) { return before(a, b); });
    for (const NodeId id : ids) {
      if (!forest.node(id).is_queue) {
        it->second.cohorts.push_back({id, nullptr, {}, false});
      } else if (const auto supply = supplies_.find(id); supply != supplies_.end()) {
        it->second.queues.push_back({id, &supply->second, {}, false});
      }
    }
    return it->second;
  }

  void look_at(Child* child) {
    if (child->known) return;
    child->share = share_of(snapshot_.forest(), snapshot_.state().names(), child->id);
    child->known = true;
  }

  const Child* best_queue(Level* level) {
    std::erase_if(level->queues, [&](Child& child) {
      if (child.supply->empty()) return true;
      look_at(&child);
      return !child.share.borrowing && child.id != own_;
    });
    const Child* best = nullptr;
    for (const Child& child : level->queues) {
      const int order = best == nullptr ? 1 : compare(child.share, best->share);
      if (order > 0 || (order == 0 && gives_before(child, *best))) best = &child;
    }
    return best;
  }

  bool gives_before(const Child& a, const Child& b) const {
    const VictimKey& left = a.supply->front();
    const VictimKey& right = b.supply->front();
    const bool one_own = (a.id == own_) != (b.id == own_);
    if (left.held.evicted == right.held.evicted && one_own) return b.id == own_;
    return victim_before(snapshot_.state().workloads(), left, right);
  }

  const Child* best_cohort(Level* level) {
    std::erase_if(level->cohorts, [&](Child& child) {
      look_at(&child);
      return !child.share.borrowing && !snapshot_.forest().is_ancestor(child.id, own_);
    });
    const Child* best = nullptr;
    for (const Child& child : level->cohorts) {
      if (best == nullptr || compare(child.share, best->share) >= 0) best = &child;
    }
    return best;
  }

  /// Into the best child; no_node when a Cohort on the way turned out to have nobody left.
  NodeId descend(NodeId cohort) {
    Level& here = level(cohort);
    const Child* queue = best_queue(&here);
    const Child* below = best_cohort(&here);
    if (queue == nullptr && below == nullptr) {
      prune(cohort);
      return no_node;
    }
    const bool down =
        queue == nullptr || (below != nullptr && compare(below->share, queue->share) >= 0);
    return down ? descend(below->id) : queue->id;
  }

  void prune(NodeId cohort) {
    const NodeId parent = snapshot_.forest().node(cohort).parent;
    if (parent == no_node) {
      root_pruned_ = true;
      return;
    }
    std::erase_if(level(parent).cohorts, [&](const Child& child) { return child.id == cohort; });
  }

  Snapshot& snapshot_;
  NodeId own_;
  Supplies supplies_;
  std::map<NodeId, Level> levels_;
  bool root_pruned_ = false;
};

class Fair {
 public:
  Fair(Snapshot& snapshot, const Preemptor& preemptor)
      : snapshot_(snapshot),
        preemptor_(preemptor),
        queue_(snapshot.state().queue(preemptor.queue)),
        own_(VictimRule::within_queue(queue_, snapshot.state().workloads()[preemptor.id])),
        reclaim_(VictimRule::reclaim(queue_, snapshot.state().workloads()[preemptor.id])) {}

  std::vector<Target> find() {
    Supplies supplies = collect();
    if (supplies.empty()) return {};
    const auto& strategies = snapshot_.state().config().fair_sharing->strategies;
    snapshot_.add_usage(queue_.node, preemptor_.usage);
    within_nominal_ = snapshot_.state().config().fair_sharing_preempt_within_nominal &&
                      std::all_of(preemptor_.frs.begin(), preemptor_.frs.end(), [&](FrId fr) {
                        return !snapshot_.forest().borrowing_with(queue_.node, fr, 0);
                      });
    Supplies retry;
    bool fit = first_pass(std::move(supplies), strategies.front(), &retry);
    if (!fit && strategies.size() > 1) fit = second_pass(std::move(retry));
    snapshot_.remove_usage(queue_.node, preemptor_.usage);
    if (!fit) return {};
    fill_back(snapshot_, preemptor_, true, &targets_);
    return std::move(targets_);
  }

 private:
  Supplies collect() {
    Supplies supplies;
    const QuotaForest& forest = snapshot_.forest();
    if (!own_.nobody()) add_queue(queue_, own_, &supplies);
    const NodeId root = forest.node(queue_.node).root;
    if (!reclaim_.nobody() && root != queue_.node) collect_below(root, &supplies);
    return supplies;
  }

  void add_queue(const QueueInfo& queue, const VictimRule& rule, Supplies* supplies) {
    const auto [evicted, others, by_priority] = snapshot_.state().victims_in(queue.id);
    const State& state = snapshot_.state();
    Supply supply(VictimStream(state, preemptor_, rule, evicted, by_priority),
                  VictimStream(state, preemptor_, rule, others, by_priority));
    if (!supply.empty()) supplies->emplace(queue.node, std::move(supply));
  }

  /// ClusterQueues that borrow below Cohorts that do, or that are above the preemptor: the others
  /// are never asked to give.
  void collect_below(NodeId cohort, Supplies* supplies) {
    const QuotaForest& forest = snapshot_.forest();
    for (const NodeId child : forest.node(cohort).over) {
      if (child == queue_.node) continue;
      if (!forest.node(child).is_queue) {
        collect_below(child, supplies);
        continue;
      }
      const QueueInfo& queue = snapshot_.state().queue(snapshot_.state().queue_of_node(child));
      const bool borrowing =
          std::any_of(preemptor_.frs.begin(), preemptor_.frs.end(),
                      [&](FrId fr) { return forest.borrowing_with(child, fr, 0); });
      if (borrowing && queue.active) add_queue(queue, reclaim_, supplies);
    }
    for (const NodeId child : forest.node(cohort).child_cohorts) {
      const bool listed = forest.node(child).cells_over > 0;
      if (!listed && forest.is_ancestor(child, queue_.node)) collect_below(child, supplies);
    }
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

  void take(NodeId from, const VictimKey& victim, PreemptionReason reason, QueueOrder* order) {
    snapshot_.remove(victim.id, victim.held);
    targets_.push_back({victim.id, reason, victim.held});
    order->changed(from);
  }

  bool fits_now() {
    snapshot_.remove_usage(queue_.node, preemptor_.usage);
    const bool fit = fits(snapshot_, preemptor_, true);
    snapshot_.add_usage(queue_.node, preemptor_.usage);
    return fit;
  }

  bool first_pass(Supplies supplies, PreemptionStrategy strategy, Supplies* retry) {
    QueueOrder order(snapshot_, preemptor_, std::move(supplies));
    for (NodeId node = order.next(); node != no_node; node = order.next()) {
      if (node == queue_.node || within_nominal_) {
        const auto reason = node == queue_.node ? PreemptionReason::in_cluster_queue
                                                : PreemptionReason::in_cohort_reclamation;
        take(node, order.pop(node), reason, &order);
        if (fits_now()) return true;
        continue;
      }
      if (give_fairly(node, strategy, &order, retry) && fits_now()) return true;
    }
    return false;
  }

  /// The next of that ClusterQueue whom the strategy lets go; those passed over are put aside.
  bool give_fairly(NodeId node, PreemptionStrategy strategy, QueueOrder* order, Supplies* retry) {
    const auto [mine, theirs] = competitors(node);
    const double preemptor_share = share(mine);
    const double old_share = share(theirs);
    const double infinity = std::numeric_limits<double>::infinity();
    const bool never = preemptor_share == infinity && old_share != infinity;
    while (order->has_candidates(node)) {
      const VictimKey& victim = order->pop(node);
      bool allowed = !never;
      if (allowed && strategy == PreemptionStrategy::LessThanOrEqualToFinalShare) {
        snapshot_.remove(victim.id, victim.held);
        allowed = preemptor_share <= share(theirs);
        snapshot_.restore(victim.id, victim.held);
      } else if (allowed) {
        allowed = preemptor_share < old_share;
      }
      if (allowed) {
        take(node, victim, PreemptionReason::in_cohort_fair_sharing, order);
        return true;
      }
      (*retry)[node].put_aside(victim);
    }
    return false;
  }

  bool second_pass(Supplies supplies) {
    QueueOrder order(snapshot_, preemptor_, std::move(supplies));
    for (NodeId node = order.next(); node != no_node; node = order.next()) {
      const VictimKey& victim = order.pop(node);
      const auto [mine, theirs] = competitors(node);
      if (share(mine) < share(theirs)) {
        take(node, victim, PreemptionReason::in_cohort_fair_sharing, &order);
        if (fits_now()) return true;
      }
      order.drop(node);
    }
    return false;
  }

  Snapshot& snapshot_;
  const Preemptor& preemptor_;
  const QueueInfo& queue_;
  VictimRule own_;
  VictimRule reclaim_;
  bool within_nominal_ = false;
  std::vector<Target> targets_;
};

}  // namespace

std::vector<Target> find_fair_targets(Snapshot& snapshot, const Preemptor& preemptor, TimePoint) {
  return Fair(snapshot, preemptor).find();
}

}  // namespace regatta::admission
