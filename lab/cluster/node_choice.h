#pragma once

#include "lib/api/core.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::lab {

using NodePtr = std::shared_ptr<const api::Node>;
using PodPtr = std::shared_ptr<const api::Pod>;

/// Whether pods can run on the node at all: it exists and is ready.
bool is_ready(const api::Node& node);

/// Whether the pod may go there: the node is ready and schedulable, has the labels that the pod
/// selects, and no taint that the pod does not tolerate.
bool suits(const api::Node& node, const api::PodSpec& pod);

/// Whether the node has room for the pod besides the pods that run there. Resources that the node
/// does not name do not count.
bool has_room(const api::Node& node, const api::PodSpec& pod, const std::vector<PodPtr>& there);

struct NodeChoice {
  /// The pods of a node, by its name; those that ended do not count.
  std::function<std::vector<PodPtr>(const std::string& node)> pods_on;
  /// Whether a full node is acceptable when there is no other.
  bool overfill = false;
  /// The index of the first node to check, so that pods spread.
  std::size_t start = 0;
};

/// The name of a node for the pod, or empty.
std::string choose_node(const std::vector<NodePtr>& nodes, const api::PodSpec& pod,
                        const NodeChoice& choice);

}  // namespace regatta::lab
