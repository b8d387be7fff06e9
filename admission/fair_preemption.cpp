#include "admission/preemption.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace regatta::admission {
namespace {

/// Possible victims of one ClusterQueue, in order: put aside earlier, or read when they are needed.
class Supply {
 public:
  Supply(NodeId queue, VictimStream evicted, VictimStream others)
      : queue_(queue), evicted_(evicted), others_(others) {}
  explicit Supply(NodeId queue) : queue_(queue) {}

  NodeId queue() const { return queue_; }
  bool empty() const { return at_ == aside_.size() && evicted_.empty() && others_.empty(); }
  const VictimKey& front() const {
    if (at_ < aside_.size()) return *aside_[at_];
    return evicted_.empty() ? others_.front() : evicted_.front();
  }
  const VictimKey& pop() {
    const VictimKey& victim = front();
    if (at_ < aside_.size()) {
      ++at_;
    } else {
      (evicted_.empty() ? others_ : evicted_).advance();
    }
    return victim;
  }
  void put_aside(const VictimKey& victim) { aside_.push_back(&victim); }

 private:
  NodeId queue_;
  VictimStream evicted_;
  VictimStream others_;
  std::vector<const VictimKey*> aside_;
  std::size_t at_ = 0;
};

using Supplies = std::vector<Supply>;

/// Finds the ClusterQueue that should give the next victim: it walks down from the root, always
/// into the child with the highest share among those that have victims. A share is computed once,
/// and again only after usage below has changed.
class QueueOrder {
 public:
  QueueOrder(Trial& trial, const Preemptor& preemptor, Supplies supplies)
      : trial_(trial),
        own_(trial.access().queue(preemptor.queue).node),
        supplies_(std::move(supplies)) {
    std::sort(supplies_.begin(), supplies_.end(),
              [](const Supply& a, const Supply& b) { return a.queue() < b.queue(); });
  }

  /// The remaining victims of the ClusterQueue that should give next; null when there is none.
  /// Until the next call, only that ClusterQueue may give a victim or be dropped.
  Supply* next() {
    const NodeId root = trial_.forest().node(own_).root;
    if (root == own_) {
      Supply* own = supply_of(own_);
      return own == nullptr || own->empty() ? nullptr : own;
    }
    while (!root_pruned_) {
      if (Supply* found = descend(root); found != nullptr) return found;
    }
    return nullptr;
  }

  /// Excludes the ClusterQueue that next() returned last.
  void drop(const Supply& last) {
    const NodeId parent = trial_.forest().node(last.queue()).parent;
    if (parent == no_node) return;
    auto& heap = level(parent).queues;
    std::pop_heap(heap.begin(), heap.end(), Later{*this});
    heap.pop_back();
  }
  /// To be called when the usage of the ClusterQueue has changed.
  void changed(NodeId queue) {
    const QuotaForest& forest = trial_.forest();
    for (NodeId id = queue; forest.node(id).parent != no_node; id = forest.node(id).parent) {
      const auto it = levels_.find(forest.node(id).parent);
      if (it == levels_.end()) continue;
      for (Child& child : it->second.cohorts) child.known = child.known && child.id != id;
    }
  }

 private:
  struct Child {
    NodeId id = no_node;
    Supply* supply = nullptr;  ///< null for a Cohort
    Share share;
    bool known = false;
  };
  /// Orders a heap: the child that gives first is in front.
  struct Later {
    const QueueOrder& order;
    bool operator()(const Child& a, const Child& b) const {
      const int by_share = compare(a.share, b.share);
      return by_share == 0 ? order.gives_before(b, a) : by_share < 0;
    }
  };
  /// Children of a Cohort that may have victims.
  struct Level {
    std::vector<Child> queues;   ///< a heap, except that the front may have an outdated share
    std::vector<Child> cohorts;  ///< by name
  };

  Supply* supply_of(NodeId queue) {
    const auto it = std::lower_bound(supplies_.begin(), supplies_.end(), queue,
                                     [](const Supply& a, NodeId b) { return a.queue() < b; });
    return it == supplies_.end() || it->queue() != queue ? nullptr : &*it;
  }

  Level& level(NodeId cohort) {
    const auto [it, added] = levels_.try_emplace(cohort);
    if (added) fill(cohort, &it->second);
    return it->second;
  }

  void fill(NodeId cohort, Level* level) {
    const QuotaForest& forest = trial_.forest();
    const auto add = [&](NodeId id) {
      if (!forest.node(id).is_queue) {
        level->cohorts.push_back({id, nullptr, {}, false});
      } else if (Child child{id, supply_of(id), {}, false}; look_at(&child)) {
        level->queues.push_back(child);
      }
    };
    for (const NodeId id : forest.node(cohort).over) add(id);
    NodeId on_path = own_;  // the preemptor's branch takes part even if it does not borrow
    while (on_path != no_node && forest.node(on_path).parent != cohort) {
      on_path = forest.node(on_path).parent;
    }
    if (on_path != no_node && forest.node(on_path).cells_over == 0) add(on_path);
    std::make_heap(level->queues.begin(), level->queues.end(), Later{*this});
    std::sort(level->cohorts.begin(), level->cohorts.end(), [&](const Child& a, const Child& b) {
      return forest.node(a.id).name < forest.node(b.id).name;
    });
  }

  /// Whether the child still takes part.
  bool look_at(Child* child) const {
    const QuotaForest& forest = trial_.forest();
    const bool is_queue = forest.node(child->id).is_queue;
    if (is_queue && (child->supply == nullptr || child->supply->empty())) return false;
    if (!child->known) child->share = share_of(forest, trial_.access().names(), child->id);
    child->known = true;
    return child->share.borrowing || forest.is_ancestor(child->id, own_);
  }

  bool gives_before(const Child& a, const Child& b) const {
    const VictimKey& left = a.supply->front();
    const VictimKey& right = b.supply->front();
    const bool one_own = (a.id == own_) != (b.id == own_);
    if (left.held.evicted == right.held.evicted && one_own) return b.id == own_;
    return victim_before(trial_.access().workloads(), left, right);
  }

  Child* best_queue(Level* level) const {
    auto& heap = level->queues;
    while (!heap.empty() && !heap.front().known) {
      std::pop_heap(heap.begin(), heap.end(), Later{*this});
      if (look_at(&heap.back())) {
        std::push_heap(heap.begin(), heap.end(), Later{*this});
      } else {
        heap.pop_back();
      }
    }
    return heap.empty() ? nullptr : &heap.front();
  }

  const Child* best_cohort(Level* level) const {
    std::erase_if(level->cohorts, [&](Child& child) { return !look_at(&child); });
    const Child* best = nullptr;
    for (const Child& child : level->cohorts) {
      if (best == nullptr || compare(child.share, best->share) >= 0) best = &child;
    }
    return best;
  }

  /// Descends into the best child; null when a Cohort on the way turned out to have no victims
  /// left.
  Supply* descend(NodeId cohort) {
    Level& here = level(cohort);
    Child* queue = best_queue(&here);
    const Child* below = best_cohort(&here);
    if (queue == nullptr && below == nullptr) {
      prune(cohort);
      return nullptr;
    }
    const bool down =
        queue == nullptr || (below != nullptr && compare(below->share, queue->share) >= 0);
    if (down) return descend(below->id);
    queue->known = false;  // its usage is about to change
    return queue->supply;
  }

  void prune(NodeId cohort) {
    const NodeId parent = trial_.forest().node(cohort).parent;
    if (parent == no_node) {
      root_pruned_ = true;
      return;
    }
    std::erase_if(level(parent).cohorts, [&](const Child& child) { return child.id == cohort; });
  }

  Trial& trial_;
  NodeId own_;
  Supplies supplies_;  ///< by ClusterQueue
  std::map<NodeId, Level> levels_;
  bool root_pruned_ = false;
};

class Fair {
 public:
  Fair(Trial& trial, const Preemptor& preemptor)
      : trial_(trial),
        preemptor_(preemptor),
        queue_(trial.access().queue(preemptor.queue)),
        own_(VictimRule::within_queue(queue_, trial.access().workloads()[preemptor.id])),
        reclaim_(VictimRule::reclaim(queue_, trial.access().workloads()[preemptor.id])) {}

  std::vector<Target> find() {
    Supplies supplies = collect();
    if (supplies.empty()) return {};
    const auto& strategies = trial_.access().config().fair_sharing->strategies;
    trial_.add_usage(queue_.node, preemptor_.usage);
    within_nominal_ = trial_.access().config().fair_sharing_preempt_within_nominal &&
                      std::all_of(preemptor_.frs.begin(), preemptor_.frs.end(), [&](FrId fr) {
                        return !trial_.forest().borrowing_with(queue_.node, fr, 0);
                      });
    bool fit = first_pass(std::move(supplies), strategies.front());
    if (!fit && strategies.size() > 1) fit = second_pass();
    trial_.remove_usage(queue_.node, preemptor_.usage);
    if (!fit) return {};
    fill_back(trial_, preemptor_, true, &targets_);
    return std::move(targets_);
  }

 private:
  Supplies collect() {
    Supplies supplies;
    const QuotaForest& forest = trial_.forest();
    if (!own_.allows_none()) add_queue(queue_, own_, &supplies);
    const NodeId root = forest.node(queue_.node).root;
    if (!reclaim_.allows_none() && root != queue_.node) collect_below(root, &supplies);
    return supplies;
  }

  void add_queue(const QueueInfo& queue, const VictimRule& rule, Supplies* supplies) {
    const auto [evicted, others, by_priority] = trial_.access().victims_in(queue.id);
    const CycleAccess& access = trial_.access();
    Supply supply(queue.node, VictimStream(access, preemptor_, rule, evicted, by_priority),
                  VictimStream(access, preemptor_, rule, others, by_priority));
    if (!supply.empty()) supplies->push_back(std::move(supply));
  }

  /// Collects ClusterQueues that borrow, below Cohorts that borrow or are above the preemptor. No
  /// other ClusterQueue gives victims.
  void collect_below(NodeId cohort, Supplies* supplies) {
    const QuotaForest& forest = trial_.forest();
    for (const NodeId child : forest.node(cohort).over) {
      if (child == queue_.node) continue;
      if (!forest.node(child).is_queue) {
        collect_below(child, supplies);
        continue;
      }
      const QueueInfo& queue = trial_.access().queue(trial_.access().queue_of_node(child));
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

  /// The children of the lowest common ancestor that lead to the preemptor and to the target: their
  /// shares are compared.
  std::pair<NodeId, NodeId> competitors(NodeId target) const {
    const QuotaForest& forest = trial_.forest();
    NodeId mine = queue_.node;
    while (!forest.is_ancestor(forest.node(mine).parent, target)) mine = forest.node(mine).parent;
    const NodeId common = forest.node(mine).parent;
    while (forest.node(target).parent != common) target = forest.node(target).parent;
    return {mine, target};
  }

  double share(NodeId id) const {
    return share_of(trial_.forest(), trial_.access().names(), id).value();
  }

  void take(NodeId from, const VictimKey& victim, PreemptionReason reason, QueueOrder* order) {
    trial_.remove(victim.id, victim.held);
    targets_.push_back({victim.id, reason, victim.held});
    order->changed(from);
  }

  bool fits_now() {
    trial_.remove_usage(queue_.node, preemptor_.usage);
    const bool fit = fits(trial_, preemptor_, true);
    trial_.add_usage(queue_.node, preemptor_.usage);
    return fit;
  }

  bool first_pass(Supplies supplies, PreemptionStrategy strategy) {
    QueueOrder order(trial_, preemptor_, std::move(supplies));
    for (Supply* from = order.next(); from != nullptr; from = order.next()) {
      const NodeId node = from->queue();
      if (node == queue_.node || within_nominal_) {
        const auto reason = node == queue_.node ? PreemptionReason::in_cluster_queue
                                                : PreemptionReason::in_cohort_reclamation;
        take(node, from->pop(), reason, &order);
        if (fits_now()) return true;
        continue;
      }
      if (give_fairly(from, strategy, &order) && fits_now()) return true;
    }
    return false;
  }

  /// Takes the next victim of the ClusterQueue that the strategy allows. Candidates that are passed
  /// over are kept for the second pass.
  bool give_fairly(Supply* from, PreemptionStrategy strategy, QueueOrder* order) {
    const auto [mine, theirs] = competitors(from->queue());
    const double preemptor_share = share(mine);
    const double old_share = share(theirs);
    const double infinity = std::numeric_limits<double>::infinity();
    const bool never = preemptor_share == infinity && old_share != infinity;
    while (!from->empty()) {
      const VictimKey& victim = from->pop();
      bool allowed = !never;
      if (allowed && strategy == PreemptionStrategy::LessThanOrEqualToFinalShare) {
        const Trial::Nested nested(trial_);
        trial_.remove(victim.id, victim.held);
        allowed = preemptor_share <= share(theirs);
      } else if (allowed) {
        allowed = preemptor_share < old_share;
      }
      if (allowed) {
        take(from->queue(), victim, PreemptionReason::in_cohort_fair_sharing, order);
        return true;
      }
      passed_over_.emplace_back(from->queue(), &victim);
    }
    return false;
  }

  bool second_pass() {
    std::map<NodeId, Supply> passed_over;
    for (const auto& [node, victim] : passed_over_) {
      passed_over.try_emplace(node, node).first->second.put_aside(*victim);
    }
    Supplies supplies;
    for (auto& [node, supply] : passed_over) supplies.push_back(std::move(supply));
    QueueOrder order(trial_, preemptor_, std::move(supplies));
    for (Supply* from = order.next(); from != nullptr; from = order.next()) {
      const VictimKey& victim = from->pop();
      const auto [mine, theirs] = competitors(from->queue());
      if (share(mine) < share(theirs)) {
        take(from->queue(), victim, PreemptionReason::in_cohort_fair_sharing, &order);
        if (fits_now()) return true;
      }
      order.drop(*from);
    }
    return false;
  }

  Trial& trial_;
  const Preemptor& preemptor_;
  const QueueInfo& queue_;
  VictimRule own_;
  VictimRule reclaim_;
  bool within_nominal_ = false;
  std::vector<Target> targets_;
  /// Candidates that the first pass did not take, with their ClusterQueues.
  std::vector<std::pair<NodeId, const VictimKey*>> passed_over_;
};

}  // namespace

std::vector<Target> find_fair_targets(Trial& trial, const Preemptor& preemptor, TimePoint) {
  return Fair(trial, preemptor).find();
}

}  // namespace regatta::admission
