#pragma once

#include "admission/quota.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <vector>

namespace regatta::admission {

/// Nodes of the quota tree where quota may have become free, and when the parked workloads of their
/// trees are reactivated. Requests for one node are batched; the earliest time counts.
class Reactivations {
 public:
  void request(NodeId node, TimePoint when) {
    const auto [it, added] = due_.try_emplace(node, when);
    if (!added) it->second = std::min(it->second, when);
  }
  /// To be called when the node is removed, because its id may be reused.
  void forget(NodeId node) { due_.erase(node); }

  std::optional<TimePoint> next() const {
    std::optional<TimePoint> next;
    for (const auto& [node, due] : due_) {
      if (!next || due < *next) next = due;
    }
    return next;
  }
  /// Takes the nodes that are due, in order of their ids.
  std::vector<NodeId> take_due(TimePoint now) {
    std::vector<NodeId> nodes;
    for (auto it = due_.begin(); it != due_.end();) {
      if (it->second > now) {
        ++it;
        continue;
      }
      nodes.push_back(it->first);
      it = due_.erase(it);
    }
    return nodes;
  }

 private:
  std::map<NodeId, TimePoint> due_;
};

}  // namespace regatta::admission
