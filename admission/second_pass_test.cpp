#include "admission/cycle.h"
#include "admission/testing/objects.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::start;

std::string node_yaml(const std::string& name, int cpus) {
  return R"(---
apiVersion: v1
kind: Node
metadata: {name: )" +
         name + ", labels: {pool: tas, kubernetes.io/hostname: " + name + R"(}}
status:
  allocatable: {cpu: ")" +
         std::to_string(cpus) + R"(", pods: "110"}
  conditions: [{type: Ready, status: "True"}]
)";
}

std::string cluster_yaml(const std::string& checks = "") {
  return R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: hosts}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
spec: {nodeLabels: {pool: tas}, topologyName: hosts}
)" + node_yaml("n1", 2) +
         node_yaml("n2", 2) + testing::queue_yaml("cq", 10, checks) +
         testing::local_queue_yaml("cq");
}

/// A workload with a reservation, and these lines in its status and in its assignment.
std::string reserved_yaml(const std::string& status, const std::string& assignment) {
  return R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: dev}
spec:
  queueName: cq
  podSets:
  - {name: main, count: 2, topologyRequest: {required: kubernetes.io/hostname},
     template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}}
status:
  admission:
    clusterQueue: cq
    podSetAssignments:
    - {name: main, count: 2, flavors: {cpu: default}, resourceUsage: {cpu: "2"}, )" +
         assignment + "}\n" + status;
}

constexpr const char* on_n1 =
    "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 1, "
    "valuesPerLevel: [{universal: n1}], podCounts: {universal: 2}}]}";

constexpr const char* admitted_lost_n1 = R"(  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Admitted, status: "True", reason: Admitted, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}
  unhealthyNodes: [{name: n1}]
)";

std::string hosts_of(const AdmittedWorkload& placed) {
  std::string text;
  const auto& assignment = placed.admission.pod_set_assignments.front();
  for (const auto& domain : expand(*assignment.topology_assignment).value().domains) {
    text += domain.values.back() + ":" + std::to_string(domain.count) + " ";
  }
  return text + assignment.delayed_topology_request;
}

TEST(SecondPass, PodsOfALostNodeMoveAfterASecond) {
  Loaded world(cluster_yaml() + reserved_yaml(admitted_lost_n1, on_n1));
  world.state.erase_node("n1", start);
  EXPECT_FALSE(run_cycle(world.state, start).ran);
  ASSERT_EQ(world.state.next_flush(), start + std::chrono::seconds(1));
  world.state.flush(start + std::chrono::seconds(1));
  ASSERT_TRUE(world.state.has_heads());
  const CycleResult result = run_cycle(world.state, start + std::chrono::seconds(1));
  ASSERT_EQ(result.placed.size(), 1U);
  EXPECT_EQ(hosts_of(result.placed.front()), "n2:2 ");
  EXPECT_FALSE(world.state.has_heads());
}

TEST(SecondPass, WithoutARoomElsewhereTheWorkloadIsEvicted) {
  Loaded world(cluster_yaml() + reserved_yaml(admitted_lost_n1, on_n1));
  world.state.erase_node("n1", start);
  world.state.erase_node("n2", start);
  world.state.flush(start + std::chrono::seconds(1));
  const CycleResult result = run_cycle(world.state, start + std::chrono::seconds(1));
  ASSERT_EQ(result.evicted.size(), 1U);
  EXPECT_EQ(result.evicted.front().reason, api::reasons::node_failures);
  EXPECT_EQ(result.evicted.front().message,
            "Workload was evicted as there was no replacement for unhealthy node(s): n1");
  EXPECT_EQ(result.evicted.front().lost, std::vector<std::string>{"n1"});
}

TEST(SecondPass, OrItIsTriedAgainWithDoublingDelays) {
  Config config;
  config.topology_replace_or_evict = false;
  Loaded world(cluster_yaml() + reserved_yaml(admitted_lost_n1, on_n1), config);
  world.state.erase_node("n1", start);
  world.state.erase_node("n2", start);
  TimePoint now = start;
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    now += std::chrono::seconds(seconds);
    world.state.flush(now - std::chrono::milliseconds(1));
    EXPECT_FALSE(world.state.has_heads());
    world.state.flush(now);
    const CycleResult result = run_cycle(world.state, now);
    ASSERT_EQ(result.unplaced.size(), 1U);
    EXPECT_FALSE(result.progressed());
  }
  world.load(node_yaml("n3", 4));
  now += std::chrono::seconds(30);
  world.state.flush(now);
  EXPECT_EQ(hosts_of(run_cycle(world.state, now).placed.at(0)), "n3:2 ");
}

constexpr const char* on_both =
    "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 2, "
    "valuesPerLevel: [{individual: {roots: [n1, n2]}}], podCounts: {universal: 1}}]}";

/// Two pods on two hosts, of which n1 is lost; so many pods were given back.
std::string spread_yaml(int given_back) {
  std::string yaml = reserved_yaml(admitted_lost_n1, on_both);
  const std::string wanted = "required: kubernetes.io/hostname";
  yaml.replace(yaml.find(wanted), wanted.size(), "unconstrained: true");
  return yaml + "  reclaimablePods: [{name: main, count: " + std::to_string(given_back) + "}]\n";
}

CycleResult place_soon(Loaded* world) {
  world->state.flush(start + std::chrono::seconds(1));
  return run_cycle(world->state, start + std::chrono::seconds(1));
}

TEST(SecondPass, WhatWasGivenBackNeedsNoOtherPlace) {
  Loaded world(cluster_yaml() + spread_yaml(1));
  world.state.erase_node("n1", start);
  world.load(node_yaml("n2", 1));  // it has no room for one more
  const CycleResult result = place_soon(&world);
  ASSERT_EQ(result.placed.size(), 1U);
  EXPECT_EQ(hosts_of(result.placed.front()), "n2:1 ");
}

TEST(SecondPass, OfWhatHasEndedNothingMoves) {
  Loaded world(cluster_yaml() + spread_yaml(2));
  world.state.erase_node("n1", start);
  const CycleResult result = place_soon(&world);
  ASSERT_EQ(result.placed.size(), 1U);
  EXPECT_EQ(hosts_of(result.placed.front()), "n2:1 ");
}

TEST(SecondPass, WhatIsLeftGetsAPlaceOnlyWhereItHasNone) {
  // One of two pods that were both on the lost host has ended.
  Loaded world(cluster_yaml() + reserved_yaml(admitted_lost_n1, on_n1) +
               "  reclaimablePods: [{name: main, count: 1}]\n");
  world.state.erase_node("n1", start);
  const CycleResult result = place_soon(&world);
  ASSERT_EQ(result.placed.size(), 1U);
  EXPECT_EQ(hosts_of(result.placed.front()), "n2:1 ");
}

std::string pending_yaml(int pods, const std::string& level) {
  return R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: dev}
spec:
  queueName: cq
  podSets:
  - {name: main, count: )" +
         std::to_string(pods) + ", topologyRequest: {required: " + level + R"(},
     template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}}
)";
}

/// A workload whose `pods` pods of one CPU need one host.
std::string other_yaml(const std::string& name, int pods) {
  std::string yaml = pending_yaml(pods, "kubernetes.io/hostname");
  return yaml.replace(yaml.find("name: w,"), 8, "name: " + name + ",");
}

TEST(SecondPass, PlacesStayTakenUntilTheirWriteIsSettled) {
  const std::string lost = reserved_yaml(admitted_lost_n1, on_n1);
  Loaded world(cluster_yaml() + lost);
  world.state.erase_node("n1", start);
  const CycleResult first = place_soon(&world);
  ASSERT_EQ(first.placed.size(), 1U);
  // Something else of the workload changes while the write is under way.
  world.load(lost);
  world.load(other_yaml("other", 1));
  TimePoint now = start + std::chrono::seconds(40);
  world.state.flush(now);
  const CycleResult second = run_cycle(world.state, now);
  EXPECT_TRUE(second.placed.empty()) << "it is decided";
  EXPECT_TRUE(second.admitted.empty()) << "the places are taken";

  // The write is refused, and will be again: others may have the places, and nothing is decided.
  const api::Workload& w = world.workload("w");
  world.state.give_up_places(w, first.placed.front().decision, now);
  now += std::chrono::seconds(40);
  world.state.flush(now);
  const CycleResult third = run_cycle(world.state, now);
  EXPECT_TRUE(third.placed.empty());
  EXPECT_TRUE(third.evicted.empty());
  ASSERT_EQ(third.admitted.size(), 1U);

  // Then it is decided on anew, and there is too little room.
  world.state.settle_places(w, first.placed.front().decision + 1, now);
  world.state.flush(now + std::chrono::seconds(2));
  EXPECT_FALSE(world.state.places_due()) << "another decision";
  world.state.settle_places(w, first.placed.front().decision, now);
  now += std::chrono::seconds(2);
  world.state.flush(now);
  const CycleResult fourth = run_cycle(world.state, now);
  ASSERT_EQ(fourth.evicted.size(), 1U);
  // The eviction is under way, and is not decided again.
  world.load(lost);
  world.state.flush(now + std::chrono::seconds(40));
  EXPECT_FALSE(world.state.places_due());
  world.state.settle_places(w, fourth.evicted.front().decision, now);
  world.state.flush(now + std::chrono::seconds(40));
  EXPECT_TRUE(world.state.places_due());
}

TEST(SecondPass, PlacesThatAreWrittenCanBeLostAgain) {
  Loaded world(cluster_yaml() + reserved_yaml(admitted_lost_n1, on_n1));
  world.state.erase_node("n1", start);
  const CycleResult first = place_soon(&world);
  ASSERT_EQ(first.placed.size(), 1U);
  std::string moved = reserved_yaml(admitted_lost_n1, on_n1);
  for (std::size_t at = 0; (at = moved.find("n1", at)) != std::string::npos;) {
    moved.replace(at, 2, "n2");
  }
  world.load(moved);
  world.state.settle_places(world.workload("w"), first.placed.front().decision, start);
  world.state.erase_node("n2", start);
  world.load(node_yaml("n3", 2));
  world.state.flush(start + std::chrono::seconds(5));
  const CycleResult second = run_cycle(world.state, start + std::chrono::seconds(5));
  ASSERT_EQ(second.placed.size(), 1U);
  EXPECT_EQ(hosts_of(second.placed.front()), "n3:2 ");
}

TEST(SecondPass, PlacesStayTakenWhileTheClusterQueueIsGone) {
  std::string gone = reserved_yaml(admitted_lost_n1, on_n1);
  gone.replace(gone.find("clusterQueue: cq"), 16, "clusterQueue: gone");
  Loaded world(cluster_yaml() + gone);
  const auto admitted = [&](const std::string& name, int minute) {
    world.load(other_yaml(name, 2));
    return run_cycle(world.state, start + std::chrono::minutes(minute)).admitted.size();
  };
  EXPECT_EQ(admitted("first", 1), 1U);
  EXPECT_EQ(admitted("second", 2), 0U) << "n1 is taken";
  // It comes, goes and comes again.
  world.load(testing::queue_yaml("gone", 10));
  world.state.erase_cluster_queue("gone", start);
  world.load(testing::queue_yaml("gone", 10));
  EXPECT_EQ(admitted("third", 3), 0U);
  world.state.erase_cluster_queue("gone", start);
  world.state.erase_workload({"dev", "w"}, start);
  world.state.request_reactivation("cq", start);
  world.state.flush(start + std::chrono::minutes(4));
  EXPECT_EQ(admitted("fourth", 4), 1U) << "and is given back";
  EXPECT_EQ(admitted("fifth", 5), 0U) << "once";
}

constexpr const char* provisioning = R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: check}
spec: {controllerName: kueue.x-k8s.io/provisioning-request}
status: {conditions: [{type: Active, status: "True", reason: Active, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}]}
)";

std::string check_yaml(const std::string& state) {
  return R"(  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}
  admissionChecks: [{name: check, state: )" +
         state + R"(, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}]
)";
}

TEST(SecondPass, PlacesWaitForTheMachinesOfAProvisioningRequest) {
  Loaded world(provisioning +
               cluster_yaml("  admissionChecksStrategy: {admissionChecks: [{name: check}]}\n"));
  world.load(pending_yaml(2, "kubernetes.io/hostname"));
  const CycleResult first = run_cycle(world.state, start);
  ASSERT_EQ(first.admitted.size(), 1U);
  const auto& assignment = first.admitted.front().admission.pod_set_assignments.front();
  EXPECT_EQ(assignment.delayed_topology_request, "Pending");
  EXPECT_FALSE(assignment.topology_assignment);

  const std::string pending = "delayedTopologyRequest: Pending";
  world.load(reserved_yaml(check_yaml("Pending"), pending));
  world.state.flush(start + std::chrono::seconds(5));
  EXPECT_FALSE(world.state.has_heads());
  world.load(reserved_yaml(check_yaml("Ready"), pending));
  world.state.flush(start + std::chrono::seconds(6));
  EXPECT_EQ(hosts_of(run_cycle(world.state, start + std::chrono::seconds(6)).placed.at(0)),
            "n1:2 Ready");
}

TEST(SecondPass, PlacesWaitForNoCheckThatTheClusterQueueAsksForNoMore) {
  const std::string checks = "  admissionChecksStrategy: {admissionChecks: [{name: check}]}\n";
  const std::string reserved = check_yaml("");
  const std::string without = reserved.substr(0, reserved.find("  admissionChecks"));
  Loaded world(provisioning + cluster_yaml(checks) +
               reserved_yaml(without, "delayedTopologyRequest: Pending"));
  world.state.flush(start + std::chrono::seconds(5));
  EXPECT_FALSE(world.state.has_heads()) << "the check is not in its status yet";
  world.load(testing::queue_yaml("cq", 10));
  world.load(reserved_yaml(without, "delayedTopologyRequest: Pending"));
  world.state.flush(start + std::chrono::seconds(6));
  EXPECT_EQ(hosts_of(run_cycle(world.state, start + std::chrono::seconds(6)).placed.at(0)),
            "n1:2 Ready");
}

TEST(SecondPass, AHubLeavesPlacesToItsWorkersAndNeedsNoTopology) {
  std::string check = provisioning;
  check.replace(check.find("provisioning-request"), 20, "multikueue");
  Loaded world(check +
               cluster_yaml("  admissionChecksStrategy: {admissionChecks: [{name: check}]}\n"));
  world.state.erase_topology("hosts");
  EXPECT_TRUE(world.state.reader().activity("cq").active);
  world.load(pending_yaml(5, "example.com/rack"));
  const CycleResult result = run_cycle(world.state, start);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(result.admitted.front().admission.pod_set_assignments.front().delayed_topology_request,
            "Pending");
}

TEST(SecondPass, WithoutItsTopologyAClusterQueueIsInactive) {
  Loaded world(cluster_yaml());
  EXPECT_TRUE(world.state.reader().activity("cq").active);
  world.state.erase_topology("hosts");
  EXPECT_EQ(world.state.reader().activity("cq"),
            (Activity{false, std::string(api::reasons::topology_not_found),
                      "Can't admit new workloads: there is no Topology \"hosts\" for TAS flavor "
                      "\"default\"."}));
}

}  // namespace
}  // namespace regatta::admission
