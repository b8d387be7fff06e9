#include "admission/topology/replacement.h"
#include "admission/topology/testing/hosts.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::block;
using testing::host;
using testing::Hosts;
using testing::rack;

using Request = api::PodSetTopologyRequest;

Request required(const char* level) {
  Request out;
  out.required = level;
  return out;
}
Request preferred(const char* level) {
  Request out;
  out.preferred = level;
  return out;
}
Request unconstrained() {
  Request out;
  out.unconstrained = true;
  return out;
}
Request sliced(Request out, const char* level, int size) {
  out.pod_set_slice_required_topology = level;
  out.pod_set_slice_size = size;
  return out;
}
Request grouped(Request out) {
  out.pod_set_group_name = "group";
  return out;
}
Request layered(Request out, std::vector<api::PodSetTopologyConstraint> layers) {
  out.slice_constraints = std::move(layers);
  return out;
}

/// b1: r1 (n1: 4 cpus, n2: 2), r2 (n3: 3, n4: 3); b2: r1 (n5: 8), r2 (n6: 1, n7: 1, n8: 1).
struct Cluster : Hosts {
  explicit Cluster(std::vector<std::string> levels = {block, rack, host}) : Hosts(levels) {
    add(node("b1", "r1", "n1", 4));
    add(node("b1", "r1", "n2", 2));
    add(node("b1", "r2", "n3", 3));
    add(node("b1", "r2", "n4", 3));
    add(node("b2", "r1", "n5", 8));
    add(node("b2", "r2", "n6", 1));
    add(node("b2", "r2", "n7", 1));
    add(node("b2", "r2", "n8", 1));
  }

  PodSetShape shape(int count, std::optional<Request> topology, int cpus = 1,
                    const api::PodSpec& more = {}) {
    PodSetShape out;
    out.name = "main";
    out.count = count;
    out.topology = std::move(topology);
    if (out.topology) out.group = out.topology->pod_set_group_name.value_or("");
    out.pods = pods(cpus, more);
    return out;
  }
};

struct Case {
  std::string name;
  int count = 1;
  std::optional<Request> topology;
  std::string expected;
};

class Placements : public ::testing::TestWithParam<Case> {};

TEST_P(Placements, GoWhereTheRequestSays) {
  const Case& given = GetParam();
  Cluster cluster;
  EXPECT_EQ(cluster.place({cluster.shape(given.count, given.topology)}), given.expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, Placements,
    ::testing::Values(
        Case{"a_required_host_is_the_tightest", 3, required(host), "n3:3"},
        Case{"equal_hosts_by_their_path", 1, required(host), "n6:1"},
        Case{"a_required_rack_is_the_tightest", 3, required(rack), "n6:1 n7:1 n8:1"},
        Case{"within_a_rack_few_hosts", 6, required(rack), "n1:4 n2:2"},
        Case{"a_required_rack_never_spreads", 9, required(rack),
             "topology \"topo\" allows to fit only 8 out of 9 pod(s)"},
        Case{"a_preferred_rack_goes_up_to_a_block", 9, preferred(rack), "n5:8 n6:1"},
        Case{"a_preferred_host_goes_up_to_a_rack", 5, preferred(host), "n5:5"},
        Case{"nothing_holds_it_so_blocks_are_taken", 13, preferred(rack), "n1:4 n2:1 n5:8"},
        Case{"more_than_there_is", 24, preferred(block),
             "topology \"topo\" allows to fit only 23 out of 24 pod(s)"},
        Case{"unconstrained_takes_the_fullest_that_is_enough", 2, unconstrained(), "n2:2"},
        Case{"unconstrained_fills_from_the_fullest", 9, unconstrained(),
             "n2:2 n3:3 n4:1 n6:1 n7:1 n8:1"},
        Case{"no_request_is_unconstrained", 2, std::nullopt, "n2:2"},
        Case{"slices_stay_in_racks", 6, sliced(required(block), rack, 3), "n5:6"},
        Case{"slices_alone_may_spread", 9, sliced(Request{}, rack, 3), "n5:6 n6:1 n7:1 n8:1"},
        Case{"slices_that_do_not_fit", 12, sliced(required(rack), host, 4),
             "topology \"topo\" allows to fit only 2 out of 3 slice(s)"},
        Case{"an_incomplete_slice_has_the_room_of_a_whole_one", 5, sliced(required(block), host, 3),
             "n5:5"},
        Case{"layers_keep_together_level_by_level", 8,
             layered(required(block), {{rack, 4}, {host, 2}}), "n5:8"},
        Case{"layers_that_do_not_fit", 12, layered(required(block), {{rack, 4}, {host, 2}}),
             "topology \"topo\" doesn't allow to fit; 2/3 slice(s) fit on level "
             "cloud.example/rack; 5/6 slice(s) fit on level kubernetes.io/hostname"},
        Case{"layers_over_several_racks", 8, layered(required(block), {{rack, 2}, {host, 2}}),
             "n5:8"},
        Case{"an_unknown_level", 1, required("zone"), "no requested topology level: zone"},
        Case{"slices_above_the_pod_set", 2, sliced(required(host), rack, 2),
             "podset slice topology cloud.example/rack is above the podset topology "
             "kubernetes.io/hostname"},
        Case{"layers_that_do_not_divide", 4, layered(required(block), {{rack, 4}, {host, 3}}),
             "additional slice layer size 3 must evenly divide parent layer size 4"}),
    [](const auto& info) { return info.param.name; });

TEST(Placement, WithoutTheMixedProfileUnconstrainedTakesTheEmptiest) {
  Cluster cluster;
  cluster.least_free_first = false;
  EXPECT_EQ(cluster.place({cluster.shape(9, unconstrained())}), "n5:8 n6:1");
}

TEST(Placement, LeavesThatAreNoHostsHaveAllTheirNodesTogether) {
  Cluster cluster({block, rack});
  EXPECT_EQ(cluster.place({cluster.shape(7, required(rack))}), "r1:7");
  const auto found = cluster.find({cluster.shape(6, required(rack))});
  ASSERT_EQ(found.pod_sets.size(), 1U);
  const auto& places = found.pod_sets.front().places;
  EXPECT_EQ(cluster.topologies().values(places.places.front().place),
            (std::vector<std::string>{"b1", "r1"}));
}

TEST(Placement, ALeaderGoesFirstAndSharesTheDomain) {
  Cluster cluster;
  const PodSetShape leader = cluster.shape(1, grouped(required(rack)), 2);
  const PodSetShape workers = cluster.shape(4, grouped(required(rack)));
  EXPECT_EQ(cluster.place({leader, workers}), "n1:2 n2:2 | n1:1");
}

TEST(Placement, PodSetsLeaveRoomForEachOther) {
  Cluster cluster;
  const PodSetShape first = cluster.shape(8, required(host));
  EXPECT_EQ(cluster.place({first, cluster.shape(4, required(host))}), "n5:8 | n1:4");
  EXPECT_EQ(cluster.place({first, first}),
            "topology \"topo\" allows to fit only 4 out of 8 pod(s). Total nodes: 8; excluded: "
            "resource \"cpu\": 1");
  EXPECT_EQ(cluster.place({first}), "n5:8") << "what was assumed is taken back";
}

TEST(Placement, PodsThatAreThereTakeRoom) {
  Cluster cluster;
  api::Pod pod;
  pod.metadata.name = "daemon";
  pod.spec.node_name = "n5";
  pod.spec.containers.emplace_back().resources.requests["cpu"] = api::Quantity(5);
  cluster.topologies().upsert(pod);
  EXPECT_EQ(cluster.place({cluster.shape(4, required(host))}), "n1:4");
  EXPECT_EQ(cluster.place({cluster.shape(4, required(rack))}), "n1:4");
  pod.status.phase = "Succeeded";
  EXPECT_EQ(cluster.topologies().upsert(pod), std::vector<FlavorId>{cluster.flavor()});
  EXPECT_EQ(cluster.place({cluster.shape(8, required(host))}), "n5:8");
}

TEST(Placement, WhatPodsAskForAndNoNodeOffersTakesNoMemory) {
  Cluster s;
  s.topologies().settle();
  const std::size_t columns = s.topologies().tree(s.flavor())->live.free.size();
  api::Pod greedy;
  greedy.metadata.ns = "default";
  greedy.metadata.name = "greedy";
  greedy.spec.node_name = "n5";
  auto& requests = greedy.spec.containers.emplace_back().resources.requests;
  requests["cpu"] = api::Quantity(3);
  for (int i = 0; i < 1000; ++i) {
    requests["example.com/made-up-" + std::to_string(i)] = api::Quantity(1);
  }
  s.topologies().upsert(greedy);
  EXPECT_EQ(s.place({s.shape(5, required(host))}), "n5:5");
  EXPECT_EQ(s.topologies().tree(s.flavor())->live.free.size(), columns);
  // A node that comes to offer it counts what is taken there already.
  api::Node offering = Hosts::node("b2", "r1", "n5", 8);
  offering.status.allocatable["example.com/made-up-7"] = api::Quantity(2);
  s.add(offering);
  s.topologies().settle();
  EXPECT_EQ(s.topologies().tree(s.flavor())->live.free.size(), columns + 1);
  api::PodSpec wants;
  wants.containers.emplace_back().resources.requests["example.com/made-up-7"] = api::Quantity(1);
  EXPECT_EQ(s.place({s.shape(1, required(host), 1, wants)}), "n5:1");
  EXPECT_NE(s.place({s.shape(2, required(host), 1, wants)}), "n5:2");
}

TEST(Placement, AnEmptyClusterIsImaginedWithoutItsWorkloads) {
  Cluster cluster;
  const PodSetShape shape = cluster.shape(8, required(host));
  const auto found = cluster.find({shape});
  cluster.topologies().add(found.pod_sets.front().places);
  EXPECT_NE(cluster.place({shape}), "n5:8");
  EXPECT_EQ(cluster.place({shape}, true), "n5:8");
  cluster.topologies().remove(found.pod_sets.front().places);
  EXPECT_EQ(cluster.place({shape}), "n5:8");
}

TEST(Placement, NodesThatDoNotSuitAreCounted) {
  Cluster cluster;
  api::Node tainted = Hosts::node("b1", "r1", "n1", 4);
  tainted.spec.taints = {{"gpu", "yes", "NoSchedule", {}}};
  cluster.add(tainted);
  api::Node labelled = Hosts::node("b1", "r1", "n2", 2);
  labelled.metadata.labels["disk"] = "ssd";
  cluster.add(labelled);
  api::Node gone = Hosts::node("b2", "r1", "n5", 8);
  gone.spec.unschedulable = true;
  cluster.add(gone);
  api::PodSpec on_ssd;
  on_ssd.node_selector = {{"disk", "ssd"}};
  EXPECT_EQ(cluster.place({cluster.shape(2, required(host), 1, on_ssd)}), "n2:2");
  EXPECT_EQ(cluster.place({cluster.shape(3, required(host), 1, on_ssd)}),
            "topology \"topo\" allows to fit only 2 out of 3 pod(s). Total nodes: 7; excluded: "
            "nodeSelector: 5, taint \"gpu=yes:NoSchedule\": 1");
  api::PodSpec tolerant;
  tolerant.tolerations = {{"gpu", "Exists", "", "", {}}};
  EXPECT_EQ(cluster.place({cluster.shape(4, required(host), 1, tolerant)}), "n1:4");
}

TEST(Placement, FlavorsOverTheSameHostsShareThem) {
  Cluster cluster;
  auto& topologies = cluster.topologies();
  const PodSetShape shape = cluster.shape(8, required(host));
  PodPlaces other = cluster.find({shape}).pod_sets.front().places;
  other.flavor = cluster.flavor() + 1;
  topologies.add(other);
  EXPECT_EQ(cluster.place({cluster.shape(4, required(host))}), "n1:4");
}

struct LossCase {
  std::string name;
  Request topology;
  std::string before;
  std::string lost;
  std::string expected;
  int given_back = 0;
};

class Losses : public ::testing::TestWithParam<LossCase> {};

PodPlaces at(Cluster* cluster, const PodSetShape& shape, std::string text) {
  PodPlaces out{cluster->flavor(),
                shape.pods,
                cluster->topologies().assignment_levels(cluster->flavor()),
                {}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string name = text.substr(0, text.find(':'));
    const int count = std::stoi(text.substr(text.find(':') + 1));
    out.places.push_back({cluster->topologies().place(cluster->flavor(), true, {name}), count});
    text.erase(0, std::min(end + 1, text.size()));
  }
  return out;
}

TEST_P(Losses, MoveOnlyThePodsOfTheLostHost) {
  const LossCase& given = GetParam();
  Cluster cluster;
  cluster.topologies().settle();
  PodSetShape shape = cluster.shape(0, given.topology);
  const PodPlaces before = at(&cluster, shape, given.before);
  for (const PlacedPods& placed : before.places) shape.count += placed.count;
  cluster.topologies().add(before);
  cluster.topologies().erase_node(given.lost);
  cluster.topologies().settle();
  const LostPlaces lost{{given.lost}, shape.count - given.given_back};
  const Replacement replaced =
      replace_places(cluster.topologies(), cluster.request(shape), before, lost, true);
  EXPECT_EQ(replaced.places ? cluster.str(*replaced.places) : replaced.failure, given.expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, Losses,
    ::testing::Values(
        LossCase{"stays_in_the_required_rack", required(rack), "n6:1 n7:1", "n6", "n7:1 n8:1"},
        LossCase{"not_at_all_when_the_rack_is_full", required(rack), "n1:4 n2:2", "n2",
                 "topology \"topo\" doesn't allow to fit any of 2 pod(s). Total nodes: 7; "
                 "excluded: resource \"cpu\": 1, topologyDomain: 6"},
        LossCase{"a_preference_may_move_on", preferred(rack), "n1:4 n2:2", "n2", "n1:4 n6:1 n7:1"},
        LossCase{"all_of_it_was_there", required(host), "n3:3", "n3", "n4:3"},
        LossCase{"pods_join_those_that_are_there", required(rack), "n3:1 n4:2", "n4", "n3:3"},
        LossCase{"a_broken_slice_is_mended_in_its_rack", sliced(required(block), rack, 3),
                 "n3:2 n4:1", "n4", "n3:3"},
        LossCase{"what_was_given_back_needs_no_place", required(rack), "n1:4 n2:2", "n2", "n1:4",
                 2},
        LossCase{"what_remains_has_the_places_of_what_was_given_back", required(rack), "n1:4 n2:2",
                 "n2", "n1:4", 4},
        LossCase{"one_place_is_missing", preferred(rack), "n1:4 n2:2", "n2", "n1:4 n6:1", 1},
        LossCase{"nothing_remains", required(host), "n3:3", "n3", "n3:3", 3},
        LossCase{"slices_stay_whole", sliced(required(block), rack, 3), "n3:2 n4:1", "n4", "n3:3",
                 1}),
    [](const auto& info) { return info.param.name; });

TEST(Loss, OfMoreHostsThanIsKnownIsNotMended) {
  Cluster cluster;
  cluster.topologies().settle();
  PodSetShape shape = cluster.shape(3, required(rack));
  const PodPlaces before = at(&cluster, shape, "n6:1 n7:1 n8:1");
  cluster.topologies().erase_node("n6");
  cluster.topologies().erase_node("n7");
  cluster.topologies().settle();
  const Replacement replaced =
      replace_places(cluster.topologies(), cluster.request(shape), before, {{"n6"}, 3}, true);
  EXPECT_EQ(replaced.failure,
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it "
            "contains the stale domain n7");
  // Unless that is what was given back.
  const Replacement one =
      replace_places(cluster.topologies(), cluster.request(shape), before, {{"n6"}, 1}, true);
  ASSERT_TRUE(one.places) << one.failure;
  EXPECT_EQ(cluster.str(*one.places), "n8:1");
}

/// A tree knows only the resources of its own nodes, but pods may request other ones.
TEST(Trees, HaveNoneOfAResourceThatOnlyAnotherFlavorKnows) {
  Hosts hosts;
  api::ResourceFlavorSpec spec;
  spec.topology_name = "topo";
  spec.node_labels = {{"gpus", "yes"}};
  Names& names = hosts.names();
  const FlavorId second = names.flavors.intern("with-gpus");
  hosts.topologies().set_flavor(second, spec);
  spec.node_labels = {{"gpus", "no"}};
  hosts.topologies().set_flavor(hosts.flavor(), spec);
  api::Node plain = Hosts::node("b1", "r1", "n1", 4);
  plain.metadata.labels["gpus"] = "no";
  api::Node node = Hosts::node("b1", "r1", "n2", 4);
  node.metadata.labels["gpus"] = "yes";
  node.status.allocatable["example.com/gpu"] = api::Quantity(2);
  hosts.add(plain);
  hosts.add(node);
  api::PodSpec wants;
  wants.overhead["example.com/gpu"] = api::Quantity(1);
  PodSetShape shape;
  shape.count = 1;
  shape.pods = hosts.pods(1, wants);
  shape.topology = required(host);
  EXPECT_EQ(hosts.place({shape}),
            "topology \"topo\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: "
            "resource \"example.com/gpu\": 1");
}

}  // namespace
}  // namespace regatta::admission
