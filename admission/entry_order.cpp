#include "admission/entry.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

namespace regatta::admission {
namespace {

/// Orders by priority if asked for, then by queue time. UID and key only break ties.
bool earlier(const CycleAccess& access, const Entry& a, const Entry& b, bool by_priority) {
  const WorkloadEntry& left = access.workloads()[a.id];
  const WorkloadEntry& right = access.workloads()[b.id];
  if (by_priority && left.priority != right.priority) return left.priority > right.priority;
  if (left.order_time != right.order_time) return left.order_time < right.order_time;
  if (left.uid != right.uid) return left.uid < right.uid;
  return left.key < right.key;
}

}  // namespace

/// Picks the next entry of one tree: in every Cohort, the child with the lowest share including its
/// candidate wins. Standings are kept from one pick to the next: what a winner takes changes only
/// the shares of the Cohorts above it, hence only the standings of contenders below the same
/// Cohorts.
class Tournament {
 public:
  Tournament(Trial& trial, Leaving& leaving) : trial_(trial), leaving_(leaving) {}

  void add(NodeId queue, Entry* entry) {
    Contender& contender = contenders_.emplace(queue, Contender{entry, queue, {}}).first->second;
    const NodeId parent = trial_.forest().node(queue).parent;
    if (parent == no_node) return;
    children_[parent].push_back({queue, &contender});
    for (NodeId id = parent; trial_.forest().node(id).parent != no_node;) {
      const NodeId above = trial_.forest().node(id).parent;
      auto& known = children_[above];
      const bool is_known = std::any_of(known.begin(), known.end(),
                                        [id](const Child& child) { return child.node == id; });
      if (!is_known) known.push_back({id, nullptr});
      id = above;
    }
  }

  bool empty() const { return contenders_.empty(); }

  Entry* next() {
    const QuotaForest& forest = trial_.forest();
    if (last_ != no_node) forget_standings_near(last_);
    const NodeId first = contenders_.begin()->first;
    const Contender* won = winner(forest.node(first).root);
    if (won == nullptr) won = &contenders_.begin()->second;  // a ClusterQueue without a Cohort
    last_ = won->queue;
    Entry* entry = won->entry;
    if (const NodeId parent = forest.node(last_).parent; parent != no_node) {
      std::erase_if(children_[parent], [this](const Child& child) { return child.node == last_; });
    }
    contenders_.erase(last_);
    return entry;
  }

 private:
  struct Standing {
    NodeId cohort = no_node;  ///< in which it is compared
    Share share;
    bool borrows = false;  ///< something that the workload asks for
  };
  struct Contender {
    Entry* entry = nullptr;
    NodeId queue = no_node;
    std::vector<Standing> standings;  ///< from the ClusterQueue upwards; empty: not known
  };
  struct Child {
    NodeId node = no_node;
    Contender* queue = nullptr;  ///< null: a Cohort
  };

  const Contender* winner(NodeId cohort) {
    const auto children = children_.find(cohort);
    if (children == children_.end()) return nullptr;
    const Contender* best = nullptr;
    for (const Child& child : children->second) {
      if (child.queue && child.queue->standings.empty()) prepare(child.queue);
      const Contender* candidate = child.queue ? child.queue : winner(child.node);
      if (candidate == nullptr) continue;
      if (best == nullptr || less(cohort, *candidate, *best)) best = candidate;
    }
    return best;
  }

  /// Computes the shares from the ClusterQueue upwards as if the workload had its usage.
  void prepare(Contender* contender) {
    leaving_.bring_back(trial_.forest().node(contender->queue).root);
    const Trial::Nested nested(trial_);
    const QuotaForest& forest = trial_.forest();
    const auto& usage = contender->entry->assignment.usage;
    trial_.add_usage(contender->queue, usage);
    for (NodeId id = contender->queue; forest.node(id).parent != no_node;
         id = forest.node(id).parent) {
      Standing& standing = contender->standings.emplace_back();
      standing.cohort = forest.node(id).parent;
      standing.share = share_of(forest, trial_.access().names(), id);
      for (const FrAmount& want : usage) {
        const std::uint32_t index = forest.find(id, want.fr);
        if (want.amount <= 0 || index == no_cell) continue;
        const Cell& cell = forest.cell(id, index);
        standing.borrows = standing.borrows || cell.usage > cell.subtree;
      }
    }
  }

  void forget_standings_near(NodeId changed) {
    const QuotaForest& forest = trial_.forest();
    // The Cohort just below the root, on the way up: no standing outside of it changes.
    NodeId below_root = changed;
    while (forest.node(below_root).parent != forest.node(changed).root &&
           forest.node(below_root).parent != no_node) {
      below_root = forest.node(below_root).parent;
    }
    if (below_root == changed) return;
    for (auto& [queue, contender] : contenders_) {
      if (forest.is_ancestor(below_root, queue)) contender.standings.clear();
    }
  }

  static const Standing& standing_in(NodeId cohort, const Contender& contender) {
    const auto& all = contender.standings;
    return *std::find_if(all.begin(), all.end(),
                         [&](const Standing& standing) { return standing.cohort == cohort; });
  }

  bool less(NodeId cohort, const Contender& a, const Contender& b) const {
    const Standing& left = standing_in(cohort, a);
    const Standing& right = standing_in(cohort, b);
    const Config& config = trial_.access().config();
    if (config.fair_sharing_prioritize_non_borrowing && left.borrows != right.borrows) {
      return right.borrows;
    }
    if (const int order = compare(left.share, right.share); order != 0) return order < 0;
    return earlier(trial_.access(), *a.entry, *b.entry, config.priority_sorting_within_cohort);
  }

  Trial& trial_;
  Leaving& leaving_;
  std::map<NodeId, Contender> contenders_;
  /// ClusterQueues with a contender, and Cohorts above one.
  std::unordered_map<NodeId, std::vector<Child>> children_;
  NodeId last_ = no_node;
};

EntryOrder::EntryOrder(Trial& trial, Leaving* leaving, std::vector<Entry>* entries)
    : trial_(trial), leaving_(*leaving), entries_(*entries) {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].status == Entry::Status::nominated) left_.push_back(i);
  }
  if (trial_.access().config().fair_sharing) {
    draw_tournaments();
  } else {
    sort_classical();
  }
}

EntryOrder::~EntryOrder() = default;

/// Makes a tournament for each tree, in the order of their first heads.
void EntryOrder::draw_tournaments() {
  const QuotaForest& forest = trial_.forest();
  std::unordered_map<NodeId, Tournament*> by_root;
  for (std::size_t i = left_.size(); i-- > 0;) {
    Entry& entry = entries_[left_[i]];
    const NodeId node = trial_.access().queue(entry.queue).node;
    Tournament*& tournament = by_root[forest.node(node).root];
    if (tournament == nullptr) {
      tournament = tournaments_.emplace_back(std::make_unique<Tournament>(trial_, leaving_)).get();
    }
    tournament->add(node, &entry);
  }
}

void EntryOrder::sort_classical() {
  const CycleAccess& access = trial_.access();
  const bool by_priority = access.config().priority_sorting_within_cohort;
  std::sort(left_.begin(), left_.end(), [&](std::size_t b, std::size_t a) {
    const int left = entries_[a].assignment.borrowing;
    const int right = entries_[b].assignment.borrowing;
    if (left != right) return left < right;
    return earlier(access, entries_[a], entries_[b], by_priority);
  });
}

Entry* EntryOrder::next() {
  if (trial_.access().config().fair_sharing) {
    while (at_ < tournaments_.size() && tournaments_[at_]->empty()) ++at_;
    return at_ < tournaments_.size() ? tournaments_[at_]->next() : nullptr;
  }
  if (left_.empty()) return nullptr;
  const std::size_t index = left_.back();
  left_.pop_back();
  return &entries_[index];
}

}  // namespace regatta::admission
