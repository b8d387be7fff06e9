#include "clusters/lean_objects.h"

#include "lib/api/codec.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::clusters {
namespace {

api::Pod pod(const char* text) {
  api::Pod read = api::decode<api::Pod>(text).value();
  keep_for_placement(&read);
  return read;
}

TEST(LeanObjects, APodThatIsNotPlacedIsWhatItRequestsOnItsNode) {
  const api::Pod kept = pod(R"({
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7",
                 "labels": {"app": "x"}, "annotations": {"big": "text"}},
    "spec": {"nodeName": "node-1", "overhead": {"cpu": "100m"}, "tolerations": [{"key": "k"}],
             "containers": [{"name": "a", "image": "i", "resources": {"requests": {"cpu": "1"}}},
                            {"name": "b", "resources": {"requests": {"cpu": "2"}}}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})");
  api::Pod wanted;
  wanted.metadata.name = "p";
  wanted.metadata.ns = "n";
  wanted.metadata.uid = "u";
  wanted.metadata.resource_version = "7";
  wanted.spec.node_name = "node-1";
  wanted.spec.containers.emplace_back();
  wanted.spec.containers[0].resources.requests["cpu"] = api::Quantity::parse("3100m").value();
  wanted.status.phase = "Running";
  EXPECT_EQ(api::pod_request_amounts(kept.spec), api::pod_request_amounts(wanted.spec));
  wanted.spec = kept.spec;
  EXPECT_EQ(kept, wanted);
  EXPECT_EQ(workload_of(kept), "");
}

TEST(LeanObjects, APodThatIsPlacedKeepsItsNumberItsGateAndItsPlace) {
  const api::Pod kept = pod(R"({
    "metadata": {"name": "p", "namespace": "n", "labels": {"idx": "3"},
                 "annotations": {"kueue.x-k8s.io/workload": "w", "other": "x",
                                 "kueue.x-k8s.io/podset-required-topology": "rack"}},
    "spec": {"nodeSelector": {"a": "b"},
             "schedulingGates": [{"name": "kueue.x-k8s.io/topology"}, {"name": "mine"}],
             "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]}})");
  EXPECT_EQ(workload_of(kept), "n/w");
  EXPECT_EQ(kept.metadata.labels, (api::StringMap{{"idx", "3"}}));
  EXPECT_EQ(kept.metadata.annotations.size(), 2u);
  EXPECT_EQ(kept.spec.node_selector, (api::StringMap{{"a", "b"}}));
  EXPECT_EQ(kept.spec.scheduling_gates,
            (std::vector<std::string>{"kueue.x-k8s.io/topology", "mine"}));
  EXPECT_TRUE(kept.spec.containers.empty()) << "it is on no node";
}

TEST(LeanObjects, APodThatIsPlacedKeepsItsRequestsOnceItIsOnANode) {
  const api::Pod kept = pod(R"({
    "metadata": {"name": "p", "namespace": "n",
                 "annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}},
    "spec": {"nodeName": "a", "containers": [
      {"name": "a", "resources": {"requests": {"cpu": "1"}}}]}})");
  EXPECT_EQ(api::pod_request_amounts(kept.spec).at("cpu"), 1000);
}

TEST(LeanObjects, APodThatANodeRunsKeepsItsWorkload) {
  const api::Pod kept = pod(R"({
    "metadata": {"name": "p", "namespace": "n",
                 "annotations": {"kueue.x-k8s.io/workload": "w", "other": "x",
                                 "kueue.x-k8s.io/workload-slice-name": "first"}},
    "spec": {"nodeName": "a", "containers": [{"name": "a"}]}})");
  EXPECT_EQ(workload_of(kept), "n/w");
  EXPECT_EQ(first_slice_of(kept), "n/first");
  EXPECT_EQ(kept.metadata.annotations.size(), 2u);
}

TEST(LeanObjects, ANodeKeepsWhatItOffers) {
  api::Node node = api::decode<api::Node>(R"({
    "metadata": {"name": "n", "labels": {"rack": "r1"}, "annotations": {"x": "y"}},
    "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"},
               "conditions": [{"type": "DiskPressure", "status": "False"},
                              {"type": "Ready", "status": "True", "message": "m"}]}})")
                       .value();
  keep_for_placement(&node);
  EXPECT_EQ(node.metadata.labels, (api::StringMap{{"rack", "r1"}}));
  EXPECT_TRUE(node.metadata.annotations.empty());
  EXPECT_TRUE(node.spec.unschedulable);
  EXPECT_EQ(node.spec.taints.size(), 1u);
  EXPECT_EQ(node.status.allocatable.size(), 1u);
  ASSERT_EQ(node.status.conditions.size(), 1u);
  EXPECT_TRUE(api::is_true(node.status.conditions, "Ready"));
}

}  // namespace
}  // namespace regatta::clusters
