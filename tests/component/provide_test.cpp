// What jobs of the hub need on a worker, and the worker lacks.
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class ProvidedNeeds : public Federation {
 protected:
  static constexpr const char* everything = "namespaces,localqueues,workloadpriorityclasses";

  void start(std::vector<std::string> names) {
    start_all(std::move(names));
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {env: prod}}");
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: team}
spec: {clusterQueue: cq}
)");
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
)");
  }
  void ask(const std::string& worker, const std::string& words) {
    const Json patch{{"metadata", {{"annotations", {{"multikueue.regatta.dev/provide", words}}}}}};
    ASSERT_TRUE(
        cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey(worker), patch.dump()));
  }
  bool has_queue(const std::string& name) {
    return worker(name).get<api::LocalQueue>({"team", "main"}).has_value();
  }
  std::string lacking(const std::string& name) {
    const auto cluster = cluster_.get<api::MultiKueueCluster>(api::ObjectKey(name));
    return condition(cluster->status.conditions, "NeedsLacking");
  }
};

TEST_F(ProvidedNeeds, AJobInANewNamespaceRunsWhereTheyAreAskedFor) {
  start({"east", "west"});
  settle(10s);
  EXPECT_FALSE(has_queue("east")) << "nothing is provided unasked";
  std::string yaml = remote_job_yaml("j");
  const std::string before = "namespace: default";
  yaml.replace(yaml.find(before), before.size(), "namespace: team");
  yaml.replace(yaml.find("labels: {"), 9, "labels: {kueue.x-k8s.io/priority-class: high, ");
  apply(yaml);
  settle(10s);
  EXPECT_FALSE(worker("east").get<api::Job>({"team", "j"}));
  ask("east", everything);
  until(
      "it runs there",
      [&] {
        const auto job = worker("east").get<api::Job>({"team", "j"});
        return job && job->status.active == 1;
      },
      3min);
  EXPECT_FALSE(has_queue("west"));
  const auto space = worker("east").get<api::Namespace>(api::ObjectKey("team"));
  EXPECT_EQ(space->metadata.label("env"), "prod");
  EXPECT_EQ(space->metadata.label("kueue.x-k8s.io/multikueue-origin"), "multikueue");
  EXPECT_EQ(worker("east").get<api::WorkloadPriorityClass>(api::ObjectKey("high"))->value, 100);
  EXPECT_EQ(lacking("east"), "");
  EXPECT_THAT(events("MultiKueueCluster"), Contains(HasSubstr("LocalQueue team/main")));
}

TEST_F(ProvidedNeeds, OnlyQueuesThatLeadThereAndTheirNamespaces) {
  start({"east"});
  std::string local = hub_queue_yaml;
  local.replace(local.find("name: cq"), 8, "name: at-home");
  local.erase(local.find("  admissionChecksStrategy"));
  apply(local);
  apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: stays}");
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: stays}
spec: {clusterQueue: at-home}
)");
  ask("east", everything);
  until("the queue is there", [&] { return has_queue("east"); });
  settle(10s);
  EXPECT_FALSE(worker("east").get<api::Namespace>(api::ObjectKey("stays")));
  EXPECT_EQ(lacking("east"), "") << "nor is that queue's own one missed";
}

TEST_F(ProvidedNeeds, WhatIsNewOnTheHubAndWhatWasDeletedThereComes) {
  start({"east"});
  ask("east", everything);
  until("the queue is there", [&] { return has_queue("east"); });
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: low}
value: 1
)");
  until("the class is there", [&] {
    return worker("east").get<api::WorkloadPriorityClass>(api::ObjectKey("low")).has_value();
  });
  ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("low"),
                             R"({"value": 2})"));
  until("its value follows", [&] {
    return worker("east").get<api::WorkloadPriorityClass>(api::ObjectKey("low"))->value == 2;
  });
  ASSERT_TRUE(worker("east").remove(api::LocalQueue::resource, {"team", "main"}));
  until("the queue is there again", [&] { return has_queue("east"); }, 6min);
  ASSERT_TRUE(cluster_.remove(api::LocalQueue::resource, {"team", "main"}));
  settle(10min);
  EXPECT_TRUE(has_queue("east")) << "nothing is removed";
}

TEST_F(ProvidedNeeds, WhatCannotBeProvidedIsTold) {
  start({"east"});
  ASSERT_TRUE(worker("east").apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 7
)"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: default}
spec: {clusterQueue: hub-only}
)");
  std::string queue = hub_queue_yaml;
  queue.replace(queue.find("name: cq"), 8, "name: hub-only");
  apply(queue);
  ask("east", std::string(everything) + ",quotas");
  until("it is told", [&] { return lacking("east").starts_with("True NotProvided"); });
  settle(5s);
  EXPECT_THAT(lacking("east"),
              AllOf(HasSubstr("\"quotas\" in multikueue.regatta.dev/provide"),
                    HasSubstr("LocalQueue default/other has nowhere to lead to"),
                    HasSubstr("WorkloadPriorityClass high has the value 7 there")));
  EXPECT_TRUE(has_queue("east")) << "the rest is there";
  EXPECT_EQ(worker("east").get<api::WorkloadPriorityClass>(api::ObjectKey("high"))->value, 7);
  ask("east", "");
  until("it is no longer told", [&] { return lacking("east").starts_with("False Resolved"); });
}

TEST_F(ProvidedNeeds, AWorkerThatDoesNotAnswerDelaysNoOther) {
  start({"east", "west"});
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.target.find("/namespaces?") != std::string::npos;
  };
  network_.faults("east").hang_before = 1;
  ask("east", everything);
  settle();
  ask("west", everything);
  until("west has them", [&] { return has_queue("west"); }, 5s);
  EXPECT_FALSE(has_queue("east"));
}

TEST_F(ProvidedNeeds, AWorkerThatComesLateGetsThem) {
  start({"east"});
  network_.faults("east").partitioned = true;
  settle(2min);
  ask("east", everything);
  settle(1min);
  EXPECT_FALSE(has_queue("east"));
  network_.faults("east").partitioned = false;
  until("the queue is there", [&] { return has_queue("east"); }, 3min);
}

}  // namespace
}  // namespace regatta::test_support
