#include "admission/leaving.h"

namespace regatta::admission {

Leaving::~Leaving() {
  CycleAccess& access = trial_.access();
  for (const auto& [id, queue] : asked_) access.take_back_ask(id, queue);
}

void Leaving::add(std::span<const Target> targets) {
  CycleAccess& access = trial_.access();
  for (std::size_t end = 0; end < targets.size();) {
    const std::size_t begin = end;
    const QueueId in = targets[begin].held.queue;
    const QueueInfo& queue = access.queue(in);
    std::vector<FrAmount> usage;
    for (; end < targets.size() && targets[end].held.queue == in; ++end) {
      access.ask(targets[end].id);
      asked_.emplace_back(targets[end].id, in);
      for (const FrAmount& used : targets[end].held.usage) {
        add_amount(&usage, used.fr, used.amount);
      }
    }
    access.skip_asked(in);
    const NodeId root = trial_.forest().node(queue.node).root;
    Tree& tree = trees_[root];
    if (!tree.in_order && !tree.gone) go(root, nullptr);
    if (tree.gone) trial_.remove_usage(queue.node, usage);
    std::vector<FrAmount>& total = tree.usage[queue.node];
    for (const FrAmount& used : usage) add_amount(&total, used.fr, used.amount);
  }
}

void Leaving::show(NodeId root, bool here) {
  CycleAccess& access = trial_.access();
  if (!trees_.contains(root)) return;
  for (const auto& [id, in] : asked_) {
    if (trial_.forest().node(access.queue(in).node).root != root) continue;
    if (here) {
      access.take_back_ask(id, in);
    } else {
      access.ask(id);
      access.skip_asked(in);
    }
  }
}

void Leaving::take_off(const Tree& tree) {
  for (const auto& [queue, usage] : tree.usage) trial_.remove_usage(queue, usage);
}

void Leaving::go(NodeId root, std::optional<Trial::Nested>* nested) {
  const auto it = trees_.find(root);
  if (it == trees_.end() || it->second.gone) return;
  Tree& tree = it->second;
  if (tree.in_order) {
    nested->emplace(trial_);
  } else {
    tree.gone = true;
  }
  take_off(tree);
}

void Leaving::bring_back(NodeId root) {
  const auto it = trees_.find(root);
  if (it == trees_.end() || !it->second.gone) return;
  for (const auto& [queue, usage] : it->second.usage) trial_.add_usage(queue, usage);
  it->second.gone = false;
}

Amount Leaving::missing(NodeId queue, FrId fr) const {
  const auto tree = trees_.find(trial_.forest().node(queue).root);
  if (tree == trees_.end() || !tree->second.gone) return 0;
  const auto usage = tree->second.usage.find(queue);
  if (usage == tree->second.usage.end()) return 0;
  for (const FrAmount& held : usage->second) {
    if (held.fr == fr) return held.amount;
  }
  return 0;
}

void Leaving::lower_own_usage(NodeId queue, FrId fr, Amount by) {
  const NodeId root = trial_.forest().node(queue).root;
  bring_back(root);
  trees_[root].in_order = true;
  trial_.access().forest().lower_own_usage(queue, fr, by);
}

}  // namespace regatta::admission
