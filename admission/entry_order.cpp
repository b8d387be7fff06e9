#include "admission/entry.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regatta::admission {
namespace {

/// Highest priority, then first in line; the rest only so that ties do not depend on anything else.
bool earlier(const State& state, const Entry& a, const Entry& b, bool by_priority) {
  const WorkloadEntry& left = state.workloads()[a.id];
  const WorkloadEntry& right = state.workloads()[b.id];
  if (by_priority && left.priority != right.priority) return left.priority > right.priority;
  if (left.order_time != right.order_time) return left.order_time < right.order_time;
  if (left.uid != right.uid) return left.uid < right.uid;
  return left.key < right.key;
}

/// Who of one tree goes next: in every Cohort, the child that borrows least with its candidate.
class Tournament {
 public:
  Tournament(Snapshot& snapshot, std::map<NodeId, Entry*> contenders)
      : snapshot_(snapshot), contenders_(std::move(contenders)) {
    for (const auto& [node, entry] : contenders_) prepare(node, *entry);
  }

  Entry* winner(NodeId cohort) {
    const QuotaForest& forest = snapshot_.forest();
    Entry* best = nullptr;
    const auto challenge = [&](Entry* candidate) {
      if (candidate == nullptr) return;
      if (best == nullptr || less(cohort, *candidate, *best)) best = candidate;
    };
    for (const NodeId child : forest.node(cohort).child_cohorts) challenge(winner(child));
    for (const NodeId child : forest.node(cohort).child_queues) {
      const auto it = contenders_.find(child);
      if (it != contenders_.end()) challenge(it->second);
    }
    return best;
  }

 private:
  struct Standing {
    Share share;
    bool borrows = false;  ///< on something the workload asks for
  };

  /// What the shares on the way up would be with the workload.
  void prepare(NodeId queue, const Entry& entry) {
    const Snapshot::Trial trial(snapshot_);
    const QuotaForest& forest = snapshot_.forest();
    snapshot_.add_usage(queue, entry.assignment.usage);
    for (NodeId id = queue; forest.node(id).parent != no_node; id = forest.node(id).parent) {
      Standing& standing = standings_[{forest.node(id).parent, entry.id}];
      standing.share = share_of(forest, snapshot_.state().names(), id);
      for (const FrAmount& want : entry.assignment.usage) {
        const std::uint32_t index = forest.find(id, want.fr);
        if (want.amount <= 0 || index == no_cell) continue;
        const Cell& cell = forest.cell(id, index);
        standing.borrows = standing.borrows || cell.usage > cell.subtree;
      }
    }
  }

  bool less(NodeId cohort, const Entry& a, const Entry& b) const {
    const Standing& left = standings_.at({cohort, a.id});
    const Standing& right = standings_.at({cohort, b.id});
    const Config& config = snapshot_.state().config();
    if (config.fair_sharing_prioritize_non_borrowing && left.borrows != right.borrows) {
      return right.borrows;
    }
    if (const int order = compare(left.share, right.share); order != 0) return order < 0;
    return earlier(snapshot_.state(), a, b, config.priority_sorting_within_cohort);
  }

  Snapshot& snapshot_;
  std::map<NodeId, Entry*> contenders_;
  std::map<std::pair<NodeId, WorkloadId>, Standing> standings_;
};

}  // namespace

EntryOrder::EntryOrder(Snapshot& snapshot, std::vector<Entry>* entries)
    : snapshot_(snapshot), entries_(*entries) {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].status == Entry::Status::nominated) left_.push_back(i);
  }
  if (!snapshot_.state().config().fair_sharing) sort_classical();
}

void EntryOrder::sort_classical() {
  const State& state = snapshot_.state();
  const bool by_priority = state.config().priority_sorting_within_cohort;
  std::sort(left_.begin(), left_.end(), [&](std::size_t b, std::size_t a) {
    const int left = entries_[a].assignment.borrowing;
    const int right = entries_[b].assignment.borrowing;
    if (left != right) return left < right;
    return earlier(state, entries_[a], entries_[b], by_priority);
  });
}

Entry* EntryOrder::next() {
  if (left_.empty()) return nullptr;
  if (snapshot_.state().config().fair_sharing) return next_fair();
  const std::size_t index = left_.back();
  left_.pop_back();
  return &entries_[index];
}

Entry* EntryOrder::next_fair() {
  const QuotaForest& forest = snapshot_.forest();
  const auto node_of = [&](std::size_t index) {
    return snapshot_.state().queue(entries_[index].queue).node;
  };
  const NodeId first = node_of(left_.back());
  const NodeId root = forest.node(first).root;
  Entry* winner = &entries_[left_.back()];
  if (root != first) {
    std::map<NodeId, Entry*> contenders;
    for (const std::size_t index : left_) {
      const NodeId node = node_of(index);
      if (forest.node(node).root == root) contenders[node] = &entries_[index];
    }
    winner = Tournament(snapshot_, std::move(contenders)).winner(root);
  }
  const auto is_winner = [&](std::size_t index) { return &entries_[index] == winner; };
  left_.erase(std::find_if(left_.begin(), left_.end(), is_winner));
  return winner;
}

}  // namespace regatta::admission
