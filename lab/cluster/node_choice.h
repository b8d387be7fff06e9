#pragma once

#include "lib/api/core.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::lab {

using NodePtr = std::shared_ptr<const api::Node>;
using PodPtr = std::shared_ptr<const api::Pod>;

/// Whether pods can run on it at all: it is there and ready.
bool is_ready(const api::Node& node);

/// Whether the pod may go there: ready, open, with the labels it selects and no taint it minds.
bool suits(const api::Node& node, const api::PodSpec& pod);

/// Whether the node has what the pod requests besides what runs there. Resources that the node does
/// not name are not counted.
bool has_room(const api::Node& node, const api::PodSpec& pod, const std::vector<PodPtr>& there);

struct NodeChoice {
  /// The pods of a node, by its name; those that ended do not count.
  std::function<std::vector<PodPtr>(const std::string& node)> pods_on;
  /// Whether a full node will do when there is no other.
  bool overfill = false;
  /// Where to begin to look, so that pods spread.
  std::size_t start = 0;
};

/// The name of a node for the pod, or empty.
std::string choose_node(const std::vector<NodePtr>& nodes, const api::PodSpec& pod,
                        const NodeChoice& choice);

}  // namespace regatta::lab
