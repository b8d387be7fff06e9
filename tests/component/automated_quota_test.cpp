// Quotas of the hub that follow those of its workers.
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

class AutomatedQuotas : public Federation {
 protected:
  void start(std::vector<std::string> names, bool enabled = true) {
    manager::CoreConfig config;
    config.quota_automation = enabled;
    start_all(std::move(names), config);
  }
  void ask(const std::string& management = "Automated") {
    const std::string patch = R"({"spec": {"quotaManagement": ")" + management + R"("}})";
    ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"), patch));
    settle(5s);
  }
  static std::string quota_of(const std::string& cpus, const std::string& limits = "") {
    return R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{
        "name": "cpu-only", "resources": [{"name": "cpu", "nominalQuota": ")" +
           cpus + "\"" + limits + "}]}]}]}}";
  }
  void give(const std::string& worker, const std::string& cpus) {
    ASSERT_TRUE(workers_.at(worker).cluster->patch(api::ClusterQueue::resource,
                                                   api::ObjectKey("cq"), quota_of(cpus)));
  }
  std::string quota() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return placement::quota_text(queue->spec.resource_groups);
  }
  std::string told() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return condition(queue->status.conditions, "MultiKueueManagerQuotaAutomation");
  }
  /// `east` has three CPUs, and `west` four.
  void follow_two() {
    start({"east", "west"});
    give("east", "3");
    give("west", "4");
    ask();
    ASSERT_EQ(quota(), "cpu 7");
  }
  static constexpr const char* automated =
      "True QuotaAutomated: ClusterQueue quota is automatically managed based on MultiKueue "
      "workers.";
};

TEST_F(AutomatedQuotas, FollowWhatWorkersHave) {
  start({"east", "west"});
  give("east", "3");
  give("west", "4");
  settle(5s);
  EXPECT_EQ(quota(), "cpu 100") << "nobody asked";
  EXPECT_EQ(told(),
            "False NotRequested: MultiKueue manager quota automation has not been requested.");
  ask();
  EXPECT_EQ(quota(), "cpu 7");
  EXPECT_EQ(told(), automated);
  give("west", "10");
  settle(5s);
  EXPECT_EQ(quota(), "cpu 13");
  ASSERT_TRUE(workers_.at("east").cluster->remove(api::LocalQueue::resource, key("main")));
  settle(5s);
  EXPECT_EQ(quota(), "cpu 10") << "no way leads to that queue any more";
  ask("Manual");
  give("west", "1");
  settle(5s);
  EXPECT_EQ(quota(), "cpu 10") << "it stays as it was";
  EXPECT_EQ(told().substr(0, 18), "False NotRequested");
}

TEST_F(AutomatedQuotas, TwoWaysToOneQueueCountOnce) {
  start({"east"});
  const char* other = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: default}
spec: {clusterQueue: cq}
)";
  apply(other);
  ASSERT_TRUE(workers_.at("east").cluster->apply(other));
  give("east", "3");
  ask();
  EXPECT_EQ(quota(), "cpu 3");
}

TEST_F(AutomatedQuotas, AShortLossOfAWorkerTakesNothingAway) {
  follow_two();
  network_.faults("east").partitioned = true;
  settle(10min);
  EXPECT_EQ(quota(), "cpu 7");
  settle(10min);
  EXPECT_EQ(quota(), "cpu 4") << "it is given up";
  network_.faults("east").partitioned = false;
  settle(10min);
  EXPECT_EQ(quota(), "cpu 7");
}

TEST_F(AutomatedQuotas, OtherCredentialsOfAWorkerTakeNothingAway) {
  follow_two();
  settle(20min);
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, {"kueue-system", "east"}));
  settle(5s);
  EXPECT_EQ(quota(), "cpu 7") << "it has none for a moment";
  network_.faults("east").partitioned = true;
  apply(TestConnector::member_yaml("east"));
  settle(5min);
  EXPECT_EQ(quota(), "cpu 7") << "the new connection has heard nothing yet";
  settle(15min);
  EXPECT_EQ(quota(), "cpu 4") << "it is given up";
  network_.faults("east").partitioned = false;
  settle(10min);
  EXPECT_EQ(quota(), "cpu 7");
}

TEST_F(AutomatedQuotas, AManagerThatStartsWaitsForItsWorkers) {
  follow_two();
  manager_.reset();
  network_.faults("east").partitioned = true;
  manager::CoreConfig config;
  config.quota_automation = true;
  start_manager(std::move(config));
  settle(10min);
  EXPECT_EQ(quota(), "cpu 7");
  settle(10min);
  EXPECT_EQ(quota(), "cpu 4");
}

TEST_F(AutomatedQuotas, WhatCannotBeFollowedIsTold) {
  start({"east"});
  ask();
  ASSERT_TRUE(workers_.at("east").cluster->patch(
      api::ClusterQueue::resource, api::ObjectKey("cq"),
      R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [{
      "name": "cpu-only", "resources": [{"name": "cpu", "nominalQuota": "1"},
                                        {"name": "memory", "nominalQuota": "1Gi"}]}]}]}})"));
  settle(5s);
  EXPECT_EQ(told(),
            "False UnsupportedConfiguration: manager-side coveredResources is missing resources "
            "configured on workers: [memory]");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueConfig::resource, api::ObjectKey("all")));
  settle(5s);
  EXPECT_EQ(told(),
            "False UnsupportedConfiguration: The referenced MultiKueueConfig was not found.");
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec": {"admissionChecksStrategy": null}})"));
  settle(5s);
  EXPECT_EQ(told(), "");
}

TEST_F(AutomatedQuotas, WithoutTheGateNothingFollows) {
  start({"east"}, false);
  ask();
  EXPECT_EQ(quota(), "cpu 100");
  const auto said = events("MultiKueueConfig");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said.front().find("MultiKueueManagerQuotaAutomation"), std::string::npos);
}

}  // namespace
}  // namespace regatta::test_support
