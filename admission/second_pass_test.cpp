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

constexpr const char* provisioning = R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: check}
spec: {controllerName: kueue.x-k8s.io/provisioning-request}
status: {conditions: [{type: Active, status: "True", reason: Active, message: "",
     lastTransitionTime: "2026-01-01T00:00:00Z"}]}
)";

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
