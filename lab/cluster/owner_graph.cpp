#include "lab/cluster/owner_graph.h"

#include <algorithm>

namespace regatta::lab {

GraphNode graph_node(const api::ObjectMeta& meta, std::size_t resource) {
  GraphNode node;
  node.uid = meta.uid;
  node.resource = resource;
  node.key = meta.key();
  node.owners = meta.owner_references;
  node.deleting = meta.deleting();
  node.waits_for_dependents = node.deleting && meta.has_finalizer("foregroundDeletion");
  node.orphans_dependents = node.deleting && meta.has_finalizer("orphan");
  return node;
}

std::set<std::string> OwnerGraph::put(GraphNode node) {
  std::set<std::string> next = {node.uid};
  const auto before = nodes_.find(node.uid);
  if (before != nodes_.end()) {
    for (const auto& owner : before->second.owners) {
      dependents_[owner.uid].erase(node.uid);
      next.insert(owner.uid);
    }
  }
  for (const auto& owner : node.owners) dependents_[owner.uid].insert(node.uid);
  if (node.waits_for_dependents) {
    for (const std::string& uid : dependents(node.uid)) next.insert(uid);
  }
  std::string uid = node.uid;
  nodes_[std::move(uid)] = std::move(node);
  return next;
}

std::set<std::string> OwnerGraph::erase(const std::string& uid) {
  std::set<std::string> next = dependents(uid);
  const auto found = nodes_.find(uid);
  if (found == nodes_.end()) return next;
  for (const auto& owner : found->second.owners) {
    next.insert(owner.uid);
    const auto theirs = dependents_.find(owner.uid);
    if (theirs == dependents_.end()) continue;
    theirs->second.erase(uid);
    if (theirs->second.empty()) dependents_.erase(theirs);
  }
  nodes_.erase(found);
  return next;
}

const GraphNode* OwnerGraph::find(const std::string& uid) const {
  const auto found = nodes_.find(uid);
  return found == nodes_.end() ? nullptr : &found->second;
}

const std::set<std::string>& OwnerGraph::dependents(const std::string& uid) const {
  static const std::set<std::string> none;
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? none : found->second;
}

Collection plan_collection(const GraphNode& node, const std::vector<OwnerState>& owners,
                           std::size_t dependents, std::size_t blocking_dependents) {
  if (node.orphans_dependents) return Collection::orphan;
  if (node.waits_for_dependents) {
    return blocking_dependents == 0 ? Collection::release : Collection::end_dependents;
  }
  if (node.deleting || owners.empty()) return Collection::nothing;
  const auto is = [&](OwnerState state) {
    return std::find(owners.begin(), owners.end(), state) != owners.end();
  };
  const bool some_not_solid = is(OwnerState::waiting) || is(OwnerState::absent);
  if (is(OwnerState::solid)) {
    return some_not_solid ? Collection::drop_references : Collection::nothing;
  }
  if (is(OwnerState::waiting) && dependents > 0) return Collection::remove_foreground;
  return Collection::remove_background;
}

}  // namespace regatta::lab
