/// Cycles with topologies on random worlds: pods fit on their nodes after every decision. Inputs
/// are random; the seed is printed with every failure, and REGATTA_SEED=<n> runs that one alone.

#include "admission/testing/random_world.h"
#include "admission/topology/assignment.h"
#include "admission/topology/testing/hosts.h"
#include "lib/base/testing.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::block;
using testing::Draw;
using testing::draw_inputs;
using testing::host;
using testing::Hosts;
using testing::Inputs;
using testing::Player;
using testing::rack;

constexpr const char* pool = "pool";

std::vector<api::Node> draw_nodes(Rng* rng) {
  std::vector<api::Node> nodes;
  const auto count = rng->between(4, 10);
  for (std::int64_t i = 0; i < count; ++i) {
    nodes.push_back(Hosts::node("b" + std::to_string(i / 4), "r" + std::to_string(i / 2),
                                "n" + std::to_string(i), static_cast<int>(rng->between(1, 4))));
    nodes.back().metadata.labels[pool] = rng->chance(0.5) ? "red" : "blue";
  }
  return nodes;
}

void draw_requests(Rng* rng, Inputs* inputs) {
  const char* levels[] = {block, rack, host};
  for (api::Workload& workload : inputs->workloads) {
    for (api::PodSet& pod_set : workload.spec.pod_sets) {
      api::PodSetTopologyRequest request;
      const char* level = levels[rng->between(0, 2)];
      const auto kind = rng->between(0, 3);
      if (kind == 0) request.required = level;
      if (kind == 1) request.preferred = level;
      if (kind == 2) request.unconstrained = true;
      if (kind < 3) pod_set.topology_request = request;
    }
  }
}

Inputs draw_world(std::uint64_t seed, Rng* rng) {
  Draw draw;
  draw.fair_sharing = seed % 2 == 1;
  draw.unlimited = false;
  draw.resources = 1;
  draw.queues = 3 + static_cast<int>(seed % 4);
  Inputs inputs = draw_inputs(rng, draw);
  draw_requests(rng, &inputs);
  for (api::ResourceFlavor& flavor : inputs.flavors) {
    flavor.spec.node_labels[pool] = flavor.metadata.name;
    flavor.spec.topology_name = "topo";
  }
  return inputs;
}

void furnish(Player* player, const std::vector<api::Node>& nodes) {
  api::Topology topology;
  topology.metadata.name = "topo";
  topology.spec.levels = {block, rack, host};
  player->state().upsert(topology);
  for (const api::Node& node : nodes) player->state().upsert(node, player->now());
}

/// CPUs used on each node, in thousandths. Preempted workloads do not count: a cycle gives their
/// room away at once.
std::map<std::string, std::int64_t> use_of_nodes(const Player& player) {
  std::map<std::string, std::int64_t> used;
  for (const auto& [key, workload] : player.workloads()) {
    const auto& status = workload.status;
    if (!status.admission || api::is_true(status.conditions, "Evicted")) continue;
    for (const api::PodSetAssignment& assigned : status.admission->pod_set_assignments) {
      const auto cpu = assigned.resource_usage.find("cpu");
      const std::int32_t count = assigned.count.value_or(0);
      if (count == 0) continue;
      EXPECT_TRUE(assigned.topology_assignment) << key.str() << " was placed nowhere";
      if (!assigned.topology_assignment) continue;
      const auto domains = expand(*assigned.topology_assignment);
      EXPECT_TRUE(domains) << key.str();
      if (!domains) continue;
      EXPECT_EQ(domains->pods(), count) << key.str();
      const std::int64_t all = cpu == assigned.resource_usage.end() ? 0 : cpu->second.milli_value();
      for (const TopologyDomain& domain : domains->domains) {
        used[domain.values.back()] += all / count * domain.count;
      }
    }
  }
  return used;
}

TEST(TopologyCycles, NodesAreNeverOvercommitted) {
  std::size_t admitted = 0;
  std::size_t preempted = 0;
  for (const std::uint64_t seed : testing::seeds(100)) {
    SCOPED_TRACE("REGATTA_SEED=" + std::to_string(seed));
    Rng rng(seed);
    const std::vector<api::Node> nodes = draw_nodes(&rng);
    Player player(draw_world(seed, &rng), seed);
    furnish(&player, nodes);
    player.set_grace(static_cast<int>(seed % 3));
    for (int i = 0; i < 25; ++i) {
      const CycleResult result = player.cycle();
      admitted += result.admitted.size();
      preempted += result.preempted.size();
      std::map<std::string, std::int64_t> used = use_of_nodes(player);
      for (const api::Node& node : nodes) {
        EXPECT_LE(used[node.metadata.name], node.status.allocatable.at("cpu").milli_value())
            << node.metadata.name << ", cycle " << i;
      }
      if (HasFailure()) return;
      for (const api::ObjectKey& key : player.running()) {
        if (rng.chance(0.15)) player.finish(key);
      }
    }
  }
  if (testing::one_seed()) return;
  EXPECT_GT(admitted, tries(1000));
  EXPECT_GT(preempted, tries(20));
}

}  // namespace
}  // namespace regatta::admission
