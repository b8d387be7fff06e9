#include "lab/cluster/node_choice.h"

#include <gtest/gtest.h>

namespace regatta::lab {
namespace {

api::Quantity q(const char* text) {
  return api::Quantity::parse(text).value();
}

std::shared_ptr<api::Node> node(const std::string& name, const char* cpu = "4") {
  auto made = std::make_shared<api::Node>();
  made->metadata.name = name;
  made->metadata.labels["kubernetes.io/hostname"] = name;
  made->status.allocatable["cpu"] = q(cpu);
  api::StatusCondition ready;
  ready.type = "Ready";
  ready.status = api::ConditionStatus::True;
  made->status.conditions.push_back(ready);
  return made;
}

api::PodSpec spec(const char* cpu) {
  api::PodSpec made;
  made.containers.emplace_back();
  made.containers[0].resources.requests["cpu"] = q(cpu);
  return made;
}

PodPtr pod_with(const char* cpu, const char* phase = "Running") {
  auto made = std::make_shared<api::Pod>();
  made->spec = spec(cpu);
  made->status.phase = phase;
  return made;
}

TEST(NodeChoice, WhereAPodMayGo) {
  const auto good = node("a");
  api::PodSpec pod = spec("1");
  EXPECT_TRUE(suits(*good, pod));
  pod.node_selector["kubernetes.io/hostname"] = "b";
  EXPECT_FALSE(suits(*good, pod));
  pod.node_selector["kubernetes.io/hostname"] = "a";
  const auto closed = node("a");
  closed->spec.unschedulable = true;
  EXPECT_FALSE(suits(*closed, pod));
  const auto tainted = node("a");
  tainted->spec.taints.push_back({"k", "", "NoSchedule", {}});
  EXPECT_FALSE(suits(*tainted, pod));
  pod.tolerations.push_back({"k", "Exists", "", "", {}});
  EXPECT_TRUE(suits(*tainted, pod));
  const auto broken = node("a");
  broken->status.conditions[0].status = api::ConditionStatus::False;
  EXPECT_FALSE(suits(*broken, pod));
}

TEST(NodeChoice, RoomIsWhatOthersLeave) {
  const auto four = node("a");
  EXPECT_TRUE(has_room(*four, spec("2"), {pod_with("2")}));
  EXPECT_FALSE(has_room(*four, spec("2"), {pod_with("2"), pod_with("1")}));
  EXPECT_TRUE(has_room(*four, spec("2"), {pod_with("3", "Succeeded")}));
  four->status.allocatable["pods"] = q("1");
  EXPECT_FALSE(has_room(*four, spec("1"), {pod_with("1")}));
}

TEST(NodeChoice, AFullNodeIsLeftOutUnlessItWillDo) {
  const std::vector<NodePtr> nodes = {node("a"), node("b")};
  NodeChoice choice;
  choice.pods_on = [](const std::string& name) {
    return name == "a" ? std::vector<PodPtr>{pod_with("4")} : std::vector<PodPtr>();
  };
  EXPECT_EQ(choose_node(nodes, spec("1"), choice), "b");
  EXPECT_EQ(choose_node(nodes, spec("5"), choice), "");
  choice.overfill = true;
  EXPECT_EQ(choose_node(nodes, spec("5"), choice), "a");
  choice.start = 1;
  EXPECT_EQ(choose_node(nodes, spec("5"), choice), "b");
  EXPECT_EQ(choose_node({}, spec("1"), choice), "");
}

}  // namespace
}  // namespace regatta::lab
