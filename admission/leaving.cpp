#include "admission/leaving.h"

namespace regatta::admission {

Leaving::~Leaving() {
  State& state = snapshot_.state();
  for (const WorkloadId id : asked_) {
    Reservation& held = *state.workloads()[id].reservation;
    held.asked = false;
    state.queue(held.queue).victims.forget_asked();
  }
}

void Leaving::add(WorkloadId id) {
  State& state = snapshot_.state();
  Reservation& held = *state.workloads()[id].reservation;
  if (held.asked) return;
  held.asked = true;
  asked_.push_back(id);
  QueueInfo& queue = state.queue(held.queue);
  if (last_queue_ != held.queue) {
    last_queue_ = held.queue;
    last_root_ = snapshot_.forest().node(queue.node).root;
    last_tree_ = &trees_[last_root_];
    last_usage_ = &last_tree_->usage[queue.node];
  }
  queue.victims.skip_asked(state.workloads());
  if (!last_tree_->in_order && !last_tree_->gone) go(last_root_, nullptr);
  for (const FrAmount& used : held.usage) add_amount(last_usage_, used.fr, used.amount);
  if (last_tree_->gone) snapshot_.remove_usage(queue.node, held.usage);
  snapshot_.hide(id);
}

void Leaving::show(NodeId root, bool here) {
  State& state = snapshot_.state();
  if (!trees_.contains(root)) return;
  for (const WorkloadId id : asked_) {
    Reservation& held = *state.workloads()[id].reservation;
    QueueInfo& queue = state.queue(held.queue);
    if (snapshot_.forest().node(queue.node).root != root) continue;
    held.asked = !here;
    snapshot_.hide(id);
    queue.victims.forget_asked();
    if (!here) queue.victims.skip_asked(state.workloads());
  }
}

void Leaving::take_off(const Tree& tree) {
  for (const auto& [queue, usage] : tree.usage) snapshot_.remove_usage(queue, usage);
}

void Leaving::go(NodeId root, std::optional<Snapshot::Trial>* trial) {
  const auto it = trees_.find(root);
  if (it == trees_.end() || it->second.gone) return;
  Tree& tree = it->second;
  if (tree.in_order) {
    trial->emplace(snapshot_);
  } else {
    tree.gone = true;
  }
  take_off(tree);
}

void Leaving::bring_back(NodeId root) {
  const auto it = trees_.find(root);
  if (it == trees_.end() || !it->second.gone) return;
  for (const auto& [queue, usage] : it->second.usage) snapshot_.add_usage(queue, usage);
  it->second.gone = false;
}

Amount Leaving::missing(NodeId queue, FrId fr) const {
  const auto tree = trees_.find(snapshot_.forest().node(queue).root);
  if (tree == trees_.end() || !tree->second.gone) return 0;
  const auto usage = tree->second.usage.find(queue);
  if (usage == tree->second.usage.end()) return 0;
  for (const FrAmount& held : usage->second) {
    if (held.fr == fr) return held.amount;
  }
  return 0;
}

void Leaving::lower_own_usage(NodeId queue, FrId fr, Amount by) {
  const NodeId root = snapshot_.forest().node(queue).root;
  bring_back(root);
  trees_[root].in_order = true;
  snapshot_.state().forest().lower_own_usage(queue, fr, by);
}

}  // namespace regatta::admission
