#include "admission/topology/testing/hosts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace regatta::admission {
namespace {

using testing::block;
using testing::host;
using testing::Hosts;
using testing::rack;

struct Job {
  PodSetShape shape;
  int cpus = 1;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

std::vector<api::Node> random_nodes(Random* random) {
  std::vector<api::Node> nodes;
  const int count = 3 + random->below(20);
  for (int i = 0; i < count; ++i) {
    nodes.push_back(Hosts::node("b" + std::to_string(random->below(3)),
                                "r" + std::to_string(random->below(3)), "n" + std::to_string(i),
                                1 + random->below(8), 2 + random->below(6)));
  }
  return nodes;
}

Job random_job(Random* random, Hosts* hosts) {
  Job job;
  job.cpus = 1 + random->below(3);
  job.shape.name = "main";
  job.shape.count = 1 + random->below(8);
  job.shape.pods = hosts->pods(job.cpus);
  const std::vector<const char*> levels{block, rack, host};
  api::PodSetTopologyRequest request;
  const int level = random->below(3);
  const int kind = random->below(4);
  if (kind == 0) request.required = levels[static_cast<std::size_t>(level)];
  if (kind == 1) request.preferred = levels[static_cast<std::size_t>(level)];
  if (kind == 2) request.unconstrained = true;
  if (kind < 2 && random->one_in(3)) {
    request.pod_set_slice_required_topology =
        levels[static_cast<std::size_t>(level + random->below(3 - level))];
    request.pod_set_slice_size = 1 + random->below(3);
  }
  if (kind < 3) job.shape.topology = request;
  return job;
}

struct Node {
  std::string rack_path;
  std::string block;
  int cpus = 0;
  int pods = 0;
};

/// Checks a placement using only the nodes and what is on them.
void check(const Job& job, const PodPlaces& places, const Topologies& topologies,
           std::map<std::string, Node>* nodes) {
  int total = 0;
  std::set<std::string> racks;
  std::set<std::string> blocks;
  std::map<std::string, int> by_rack;
  std::map<std::string, int> by_block;
  for (const PlacedPods& placed : places.places) {
    Node& node = nodes->at(topologies.values(placed.place).back());
    EXPECT_GT(placed.count, 0);
    total += placed.count;
    node.cpus -= placed.count * job.cpus;
    node.pods -= placed.count;
    EXPECT_GE(node.cpus, 0);
    EXPECT_GE(node.pods, 0);
    racks.insert(node.rack_path);
    blocks.insert(node.block);
    by_rack[node.rack_path] += placed.count;
    by_block[node.block] += placed.count;
  }
  EXPECT_EQ(total, job.shape.count);
  const auto& topology = job.shape.topology;
  if (!topology) return;
  if (topology->required == block) EXPECT_EQ(blocks.size(), 1U);
  if (topology->required == rack) EXPECT_EQ(racks.size(), 1U);
  if (topology->required == host) EXPECT_EQ(places.places.size(), 1U);
  if (!topology->pod_set_slice_size) return;
  const int size = *topology->pod_set_slice_size;
  const auto whole = [&](const auto& counts) {
    int broken = 0;
    for (const auto& [name, count] : counts) broken += count % size != 0 ? 1 : 0;
    EXPECT_LE(broken, job.shape.count % size != 0 ? 1 : 0);
  };
  if (topology->pod_set_slice_required_topology == rack) whole(by_rack);
  if (topology->pod_set_slice_required_topology == block) whole(by_block);
}

class TopologyProperties : public ::testing::TestWithParam<unsigned> {};

TEST_P(TopologyProperties, NodesAreNeverOvercommittedAndRequestsAreKept) {
  Random random(GetParam());
  const std::vector<api::Node> given = random_nodes(&random);
  Hosts hosts;
  hosts.least_free_first = !random.one_in(4);
  std::map<std::string, Node> nodes;
  for (const api::Node& node : given) {
    hosts.add(node);
    const auto& labels = node.metadata.labels;
    nodes[node.metadata.name] = {labels.at(block) + "/" + labels.at(rack), labels.at(block),
                                 static_cast<int>(node.status.allocatable.at("cpu").value()),
                                 static_cast<int>(node.status.allocatable.at("pods").value())};
  }
  std::vector<std::pair<Job, PodPlaces>> running;
  for (int i = 0; i < 60; ++i) {
    const Job job = random_job(&random, &hosts);
    const TopologyPlaces found = hosts.find({job.shape});
    if (!found.failure) {
      const PodPlaces& places = found.pod_sets.front().places;
      check(job, places, hosts.topologies(), &nodes);
      hosts.topologies().add(places);
      running.emplace_back(job, places);
    }
    if (running.empty() || !random.one_in(3)) continue;
    const auto at = running.begin() + random.below(static_cast<int>(running.size()));
    for (const PlacedPods& placed : at->second.places) {
      Node& node = nodes.at(hosts.topologies().values(placed.place).back());
      node.cpus += placed.count * at->first.cpus;
      node.pods += placed.count;
    }
    hosts.topologies().remove(at->second);
    running.erase(at);
  }
}

TEST_P(TopologyProperties, TheOrderOfNodesAndTheWayToAStateDoNotMatter) {
  Random random(GetParam());
  std::vector<api::Node> nodes = random_nodes(&random);
  Hosts one;
  Hosts other;
  for (const api::Node& node : nodes) one.add(node);
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937(GetParam()));
  for (const api::Node& node : nodes) other.add(node);
  other.topologies().settle();
  Random first(GetParam() + 1);
  Random second(GetParam() + 1);
  for (int i = 0; i < 40; ++i) {
    const Job job = random_job(&first, &one);
    const Job same = random_job(&second, &other);
    const TopologyPlaces found = one.find({job.shape});
    {
      // A trial that is rolled back, so that the other object's views differ in between.
      const std::size_t mark = other.topologies().begin_trial();
      const TopologyPlaces tried = other.find({same.shape});
      if (!tried.failure) other.topologies().add(tried.pod_sets.front().places);
      other.topologies().roll_back(mark);
    }
    const TopologyPlaces again = other.find({same.shape});
    ASSERT_EQ(one.place({job.shape}), other.place({same.shape}));
    if (found.failure) continue;
    one.topologies().add(found.pod_sets.front().places);
    other.topologies().add(again.pod_sets.front().places);
  }
}

TEST_P(TopologyProperties, ViewsThatFollowChangesCountLikeNewOnes) {
  Random random(GetParam());
  Hosts hosts;
  for (const api::Node& node : random_nodes(&random)) hosts.add(node);
  auto& topologies = hosts.topologies();
  topologies.settle();
  TopologyTree& tree = *topologies.tree(hosts.flavor());
  const PodProfilePtr pods = hosts.pods(1 + random.below(2));
  const PodProfilePtr leader = random.one_in(2) ? hosts.pods(1 + random.below(3)) : nullptr;
  SliceShape slices{1 + random.below(3), static_cast<std::size_t>(random.below(3)), {}};
  if (slices.size == 2 && slices.level < 2) slices.inner = {0, 0, 2};
  if (slices.size == 3 && slices.level == 0) slices.inner = {0, 3, 1};
  for (int i = 0; i < 40; ++i) {
    const Job job = random_job(&random, &hosts);
    const TopologyPlaces found = hosts.find({job.shape});
    if (!found.failure) topologies.add(found.pod_sets.front().places);
    const CapacityView& followed = topologies.view(tree, pods, leader, slices, false);
    CapacityView anew = followed;
    anew.start_over();
    anew.sync();
    for (std::size_t level = 0; level < 3; ++level) {
      ASSERT_EQ(followed.level(level).pods, anew.level(level).pods);
      ASSERT_EQ(followed.level(level).slices, anew.level(level).slices);
      ASSERT_EQ(followed.level(level).pods_with_leader, anew.level(level).pods_with_leader);
      ASSERT_EQ(followed.level(level).slices_with_leader, anew.level(level).slices_with_leader);
      ASSERT_EQ(followed.level(level).leaders, anew.level(level).leaders);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TopologyProperties, ::testing::Range(1U, 61U));

}  // namespace
}  // namespace regatta::admission
