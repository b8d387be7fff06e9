#pragma once

#include "admission/quota.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <vector>

namespace regatta::admission {

/// Where quota may have become free: nodes whose trees have their parked workloads reactivated, and
/// when. Requests for one node are batched; the earliest counts.
class Reactivations {
 public:
  void request(NodeId node, TimePoint when) {
    const auto [it, added] = due_.try_emplace(node, when);
    if (!added) it->second = std::min(it->second, when);
  }
  /// The node goes; its id may come back as another's.
  void forget(NodeId node) { due_.erase(node); }

  std::optional<TimePoint> next() const {
    std::optional<TimePoint> next;
    for (const auto& [node, due] : due_) {
      if (!next || due < *next) next = due;
    }
    return next;
  }
  /// Those that are due, in order of their ids; they are no longer requested then.
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
