#include "placement/provide.h"

#include "lib/api/own_names.h"

#include <gmock/gmock.h>

namespace regatta::placement {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Provide : public testing::Test {
 protected:
  Provide() {
    hub_.namespaces["team"] =
        space("team", {{"env", "prod"}, {"kubernetes.io/metadata.name", "team"}});
    queue("team", "main", "cq");
    cls("high", 100);
    worker_.cluster_queues = {"cq"};
    asked_ = {true, true, true, "", {}};
  }
  static std::shared_ptr<const api::Namespace> space(const std::string& name,
                                                     api::StringMap labels) {
    api::Namespace made;
    made.metadata.name = name;
    made.metadata.labels = std::move(labels);
    return std::make_shared<const api::Namespace>(std::move(made));
  }
  void queue(const std::string& ns, const std::string& name, const std::string& cluster_queue) {
    api::LocalQueue made;
    made.metadata.ns = ns;
    made.metadata.name = name;
    made.spec.cluster_queue = cluster_queue;
    hub_.local_queues.push_back(std::make_shared<const api::LocalQueue>(std::move(made)));
  }
  void cls(const std::string& name, int value) {
    api::WorkloadPriorityClass made;
    made.metadata.name = name;
    made.value = value;
    hub_.priority_classes.push_back(
        std::make_shared<const api::WorkloadPriorityClass>(std::move(made)));
  }
  std::vector<std::string> steps() {
    plan_ = provide_plan(asked_, hub_, worker_, "hub-1");
    std::vector<std::string> out;
    for (const ProvideStep& step : plan_.steps) {
      out.push_back((step.patch ? "patch " : "create ") + step.str());
    }
    return out;
  }

  Provision asked_;
  HubNeeds hub_;
  WorkerHas worker_;
  ProvidePlan plan_;
};

TEST_F(Provide, CreatesWhatIsLackingInOrder) {
  EXPECT_THAT(steps(), ElementsAre("create Namespace team", "create LocalQueue team/main",
                                   "create WorkloadPriorityClass high"));
  EXPECT_THAT(plan_.obstacles, ElementsAre());
  EXPECT_EQ(plan_.steps[0].body["metadata"]["labels"],
            Json::parse(R"({"env": "prod", "kueue.x-k8s.io/multikueue-origin": "hub-1"})"));
  EXPECT_EQ(plan_.steps[1].body["spec"], Json::parse(R"({"clusterQueue": "cq"})"));
  EXPECT_EQ(plan_.steps[2].body["value"], 100);
}

TEST_F(Provide, NothingIsAskedForWithoutNeed) {
  worker_.namespaces = {"team"};
  worker_.local_queues = {{"team", "main"}};
  worker_.priority_classes["high"] = {100, false};
  EXPECT_THAT(steps(), ElementsAre());
  EXPECT_THAT(plan_.obstacles, ElementsAre());
}

TEST_F(Provide, OnlyWhatTheAnnotationNames) {
  asked_.namespaces = asked_.priority_classes = false;
  EXPECT_THAT(steps(), ElementsAre());
  EXPECT_THAT(plan_.obstacles, ElementsAre("LocalQueue team/main has no namespace there"));
  worker_.namespaces = {"team"};
  EXPECT_THAT(steps(), ElementsAre("create LocalQueue team/main"));
  asked_ = {true, false, false, "", {}};
  worker_.namespaces.clear();
  EXPECT_THAT(steps(), ElementsAre("create Namespace team"));
}

TEST_F(Provide, ALocalQueueLeadsToTheQueueOfTheNameOrToTheOneOfTheAnnotation) {
  worker_.cluster_queues = {"all", "other"};
  EXPECT_THAT(steps(), ElementsAre("create Namespace team", "create WorkloadPriorityClass high"));
  EXPECT_THAT(plan_.obstacles,
              ElementsAre("LocalQueue team/main has nowhere to lead to: there is no ClusterQueue "
                          "\"cq\", and no multikueue.regatta.dev/provide-cluster-queue"));
  asked_.cluster_queue = "all";
  EXPECT_THAT(steps(), testing::Contains("create LocalQueue team/main"));
  EXPECT_EQ(plan_.steps[1].body["spec"]["clusterQueue"], "all");
  asked_.cluster_queue = "none";
  steps();
  EXPECT_THAT(plan_.obstacles, ElementsAre(HasSubstr("\"cq\" nor \"none\"")));
}

TEST_F(Provide, WhatOthersHaveMadeStays) {
  worker_.priority_classes["high"] = {7, false, "u7"};
  worker_.namespaces = {"team"};
  worker_.local_queues = {{"team", "main"}};
  EXPECT_THAT(steps(), ElementsAre());
  EXPECT_THAT(plan_.obstacles, ElementsAre("WorkloadPriorityClass high has the value 7 there and "
                                           "100 on the hub; it was made by others and stays"));
  worker_.priority_classes["high"].ours = true;
  EXPECT_THAT(steps(), ElementsAre("patch WorkloadPriorityClass high"));
  EXPECT_EQ(plan_.steps[0].body, Json({{"metadata", {{"uid", "u7"}}}, {"value", 100}}));
}

TEST_F(Provide, ANamespaceThatIsDeletedOnTheHubGetsNothing) {
  hub_.namespaces.clear();
  EXPECT_THAT(steps(), ElementsAre("create WorkloadPriorityClass high"));
}

TEST(ProvisionOf, ReadsTheAnnotations) {
  const auto of = [](const char* text) {
    api::ObjectMeta cluster;
    cluster.annotations[std::string(api::annotations::provide)] = text;
    return provision_of(cluster);
  };
  EXPECT_FALSE(provision_of({}).any());
  EXPECT_FALSE(of("").any());
  const Provision some = of(" localqueues, namespaces,");
  EXPECT_TRUE(some.namespaces && some.local_queues && !some.priority_classes);
  EXPECT_THAT(some.unknown, ElementsAre());
  EXPECT_THAT(of("queues").unknown, ElementsAre("queues"));
  EXPECT_TRUE(of("workloadpriorityclasses").priority_classes);
}

}  // namespace
}  // namespace regatta::placement
