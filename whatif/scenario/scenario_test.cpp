#include "whatif/scenario/run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

Json small() {
  return *parse_json(R"({
    "name": "small", "family": "own", "seed": 1,
    "config": {"fairSharing": null, "featureGates": {}},
    "now": "2026-01-01T00:00:00Z",
    "objects": [
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
       "metadata": {"name": "w", "namespace": "ns", "uid": "1",
                    "creationTimestamp": "2025-12-31T00:00:00Z"},
       "spec": {"queueName": "lq", "podSets": [{"name": "main", "count": 2, "template": {"spec":
         {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}}}]}},
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
       "metadata": {"name": "lq", "namespace": "ns"}, "spec": {"clusterQueue": "cq"}},
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
       "metadata": {"name": "cq"},
       "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"],
         "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}},
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
       "metadata": {"name": "f"}},
      {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}
    ],
    "steps": [{}, {"events": [{"finish": "ns/w"}]}]
  })");
}

Json played(const Json& json) {
  const auto scenario = read_scenario(json);
  EXPECT_TRUE(scenario) << scenario.error().what();
  const auto steps = run_scenario(*scenario);
  EXPECT_TRUE(steps) << steps.error().what();
  return to_json(scenario->name, *steps);
}

TEST(Scenario, ObservesDecisionsInTheShapeOfTheFormat) {
  const Json out = played(small());
  EXPECT_EQ(out.at("name"), "small");
  EXPECT_EQ(out.at("steps").at(0), *parse_json(R"({
    "cycle": true,
    "admitted": {"ns/w": {"clusterQueue": "cq", "podSetAssignments": [
      {"name": "main", "count": 2, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "3"}}]}},
    "preempted": {}, "pending": {}, "queued": [], "inadmissible": [],
    "usage": {"cq": {"f/cpu": "3"}}})"));
  EXPECT_EQ(out.at("steps").at(1).at("usage"), Json::object());
  EXPECT_EQ(out.at("steps").at(1).at("cycle"), false);
}

TEST(Scenario, NeverReadsWhatAFileExpects) {
  Json lying = small();
  lying["steps"][0]["expect"] = {{"admitted", "nonsense"}, {"cycle", 17}};
  EXPECT_EQ(played(lying), played(small()));
}

TEST(Scenario, SharesAreThereWithFairSharingOnly) {
  Json fair = small();
  EXPECT_FALSE(played(fair).at("steps").at(0).contains("shares"));
  fair["config"]["fairSharing"] = Json::object();
  EXPECT_EQ(played(fair).at("steps").at(0).at("shares"), (Json{{"ClusterQueue/cq", "0"}}));
}

TEST(Scenario, SaysWhereAFileIsWrong) {
  struct Row {
    const char* patch;
    const char* error;
  };
  const Row rows[] = {
      {R"([{"op": "remove", "path": "/objects"}])", "objects: missing"},
      {R"([{"op": "add", "path": "/object", "value": []}])", "object: unknown field"},
      {R"([{"op": "add", "path": "/steps/1/event", "value": []}])",
       "steps[1].event: unknown field"},
      {R"([{"op": "replace", "path": "/steps/1/events/0",
            "value": {"priority": {"workload": "ns/w", "value": 1, "class": "x"}}}])",
       "steps[1].events[0].priority.class: unknown field"},
      {R"([{"op": "replace", "path": "/steps", "value": 3}])", "steps: expected a list"},
      {R"([{"op": "replace", "path": "/now", "value": "noon"}])",
       "now: expected a time like 2026-01-02T03:04:05Z"},
      {R"([{"op": "add", "path": "/config/speed", "value": 3}])", "config.speed: unknown field"},
      {R"([{"op": "add", "path": "/config/featureGates/PartialAdmision", "value": true}])",
       "config.featureGates.PartialAdmision: no such feature gate"},
      {R"([{"op": "add", "path": "/config/featureGates/PartialAdmission", "value": "no"}])",
       "config.featureGates.PartialAdmission: expected true or false"},
      {R"([{"op": "replace", "path": "/config/fairSharing",
            "value": {"preemptionStrategies": ["Always"]}}])",
       "config.fairSharing.preemptionStrategies: write LessThanOrEqualToFinalShare or "
       "LessThanInitialShare"},
      {R"([{"op": "replace", "path": "/objects/0/spec/podSets/0/count", "value": "two"}])",
       "objects[0].spec.podSets[0].count: expected an integer, got a string"},
      {R"([{"op": "remove", "path": "/objects/1/kind"}])", "objects[1].kind: missing"},
      {R"([{"op": "replace", "path": "/objects/1/kind", "value": "Pony"}])",
       "objects[1].kind: \"Pony\" has no effect in a scenario"},
      {R"([{"op": "replace", "path": "/steps/1/events/0", "value": {"explode": "ns/w"}}])",
       "steps[1].events[0]: unknown event \"explode\"; there are create, update, delete, finish, "
       "priority and reclaim"},
      {R"([{"op": "replace", "path": "/steps/1/events/0", "value": {"finish": 3}}])",
       "steps[1].events[0].finish: expected \"namespace/name\""},
      {R"([{"op": "replace", "path": "/steps/1/events/0",
            "value": {"priority": {"workload": "ns/w", "value": 4294967296}}}])",
       "steps[1].events[0].priority.value: does not fit 32 bits"},
      {R"([{"op": "replace", "path": "/steps/1/events/0",
            "value": {"reclaim": {"workload": "ns/w", "count": 1}}}])",
       "steps[1].events[0].reclaim.podSet: missing"},
  };
  for (const Row& row : rows) {
    const auto scenario = read_scenario(small().patch(*parse_json(row.patch)));
    ASSERT_FALSE(scenario) << row.error;
    EXPECT_EQ(scenario.error().what(), row.error);
  }
}

TEST(Scenario, AnEventOfAWorkloadThatIsNotThereIsAnError) {
  Json json = small();
  json["steps"][1]["events"][0]["finish"] = "ns/other";
  const auto steps = run_scenario(*read_scenario(json));
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().what(), "steps[1].events[0]: there is no Workload ns/other");
}

}  // namespace
}  // namespace regatta::whatif
