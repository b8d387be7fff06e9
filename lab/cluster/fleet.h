#pragma once

#include "lib/api/meta.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/kube/client.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::lab {

/// Equal nodes.
struct NodeGroup {
  std::string name;  ///< nodes are <name>-0, <name>-1 …
  int count = 1;
  std::int64_t cpu = 16;
  std::int64_t memory_gib = 64;
  std::int64_t gpus = 0;    ///< nvidia.com/gpu of each node
  std::string gpu_product;  ///< value of label nvidia.com/gpu.product; empty without GPUs
  api::StringMap labels;
};
using Fleet = std::vector<NodeGroup>;

/// Most nodes a fleet may have.
constexpr int fleet_nodes_max = 1000;

/// Reads "8xA100", "4xH100,2xCPU": so many GPUs of a model, eight to a node, or so many nodes
/// without GPUs.
Result<Fleet> parse_fleet(std::string_view text);

/// The places of simulated nodes, under the labels of Kueue's examples. Consecutive nodes of a
/// group share a rack, consecutive racks a block.
constexpr std::string_view block_label = "cloud.provider.com/topology-block";
constexpr std::string_view rack_label = "cloud.provider.com/topology-rack";
constexpr int nodes_per_rack = 4;
constexpr int racks_per_block = 4;

/// The Node objects, ready to run pods.
std::vector<Json> node_objects(const Fleet& fleet, TimePoint now);

/// Creates the missing nodes and makes them schedulable. Returns when all are there.
Task<Status> create_nodes(kube::Client& client, Fleet fleet, TimePoint now);

}  // namespace regatta::lab
