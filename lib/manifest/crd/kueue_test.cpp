#include "lib/api/convert.h"
#include "lib/api/yaml.h"
#include "lib/manifest/crd/definition.h"
#include "lib/manifest/crd/definition_checks.h"
#include "lib/manifest/crd/testing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

// The definitions under charts/regatta/files/crds, which Regatta installs wherever it runs.

namespace regatta::manifest {
namespace {

std::map<std::string, Json> definitions() {
  std::map<std::string, Json> out;
  for (const auto& file : std::filesystem::directory_iterator("charts/regatta/files/crds")) {
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    auto json = api::parse_yaml(text.str());
    if (!json || !json->is_object()) {
      ADD_FAILURE() << file.path();
      continue;
    }
    auto kind = (*json)["spec"]["names"]["kind"].get<std::string>();
    out.emplace(std::move(kind), std::move(*json));
  }
  return out;
}

const Strategy& strategy(const std::string& kind, const std::string& version = "v1beta2") {
  static const auto types = [] {
    std::map<std::string, ResourceType> out;
    for (const auto& [name, definition] : definitions()) {
      auto made = resource_types(definition, api::convert);
      if (!made) {
        ADD_FAILURE() << name << ": " << made.error().what();
        continue;
      }
      for (auto& type : *made) out.emplace(name + "/" + type.version, std::move(type));
    }
    return out;
  }();
  return *types.at(kind + "/" + version).strategy;
}

TEST(KueueDefinitions, AreAllValid) {
  const auto all = definitions();
  EXPECT_EQ(all.size(), 11u);
  for (const auto& [kind, definition] : all) {
    EXPECT_EQ(describe(check_definition(definition)), "") << kind;
    const auto types = resource_types(definition, api::convert);
    ASSERT_TRUE(types) << kind << ": " << types.error().what();
    for (const auto& type : *types) {
      EXPECT_EQ(type.version != type.storage_version, type.to_stored != nullptr) << kind;
    }
  }
}

Json object(const std::string& kind, const std::string& body) {
  auto out = Json::parse(body);
  out["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  out["kind"] = kind;
  out["metadata"]["name"] = "x";
  strategy(kind).set_defaults(out);
  return out;
}

TEST(KueueDefinitions, only_a_schema_with_rules_says_that_rules_were_not_checked) {
  EXPECT_EQ(
      describe(
          strategy("WorkloadPriorityClass").validate_create(object("WorkloadPriorityClass", "{}"))),
      "[Required] value: Required value");
  EXPECT_EQ(describe(strategy("MultiKueueCluster")
                         .validate_create(object("MultiKueueCluster", R"({"spec": {}})"))),
            "[Required] spec.clusterSource: Required value\nrules not checked");
}

TEST(KueueDefinitions, a_rule_that_cannot_be_evaluated_shows_the_type_of_its_value) {
  EXPECT_EQ(describe(strategy("ResourceFlavor")
                         .validate_create(
                             object("ResourceFlavor", R"({"spec": {"topologyName": "t"}})"))),
            "spec: Invalid value: \"object\": no such key: nodeLabels evaluating rule: at least "
            "one nodeLabel is required when topology is set");
}

struct Case {
  const char* name;
  const char* kind;
  const char* body;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class KueueCreate : public ::testing::TestWithParam<Case> {};

TEST_P(KueueCreate, Answers) {
  const auto& param = GetParam();
  EXPECT_EQ(describe(strategy(param.kind).validate_create(object(param.kind, param.body))),
            param.want);
}

#define POD_SET(more)                     \
  R"({"name": "main", "count": 1, )" more \
  R"("template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}})"

INSTANTIATE_TEST_SUITE_P(
    , KueueCreate,
    ::testing::Values(
        Case{"cluster_queue", "ClusterQueue",
             R"({"spec": {"namespaceSelector": {}, "resourceGroups": [
               {"coveredResources": ["cpu"], "flavors": [{"name": "rf",
                "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}})",
             ""},
        Case{"borrowing_limit_without_cohort", "ClusterQueue",
             R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
               {"name": "rf", "resources": [
                 {"name": "cpu", "nominalQuota": "4", "borrowingLimit": 0}]}]}]}})",
             "spec: Invalid value: borrowingLimit must be nil when cohort is empty"},
        Case{"borrowing_limit_in_a_cohort", "ClusterQueue",
             R"({"spec": {"cohortName": "co", "resourceGroups": [{"coveredResources": ["cpu"],
               "flavors": [{"name": "rf", "resources": [
                 {"name": "cpu", "nominalQuota": "4", "borrowingLimit": 0}]}]}]}})",
             ""},
        Case{
            "flavors_and_resources_do_not_align", "ClusterQueue",
            R"({"spec": {"resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
               {"name": "rf", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}})",
            "spec.resourceGroups[0]: Invalid value: flavors must have the same number of resources "
            "as the coveredResources"},
        Case{"preference_of_fungibility", "ClusterQueue",
             R"({"spec": {"flavorFungibility": {"preference": "BorrowingOverPreemption"}}})",
             "spec.flavorFungibility: Invalid value: preference can only be set when both "
             "whenCanBorrow and whenCanPreempt are TryNextFlavor"},
        Case{"reclaim_never_and_borrow", "ClusterQueue",
             R"({"spec": {"preemption": {"reclaimWithinCohort": "Never",
               "borrowWithinCohort": {"policy": "LowerPriority"}}}})",
             "spec.preemption: Invalid value: reclaimWithinCohort=Never and "
             "borrowWithinCohort.Policy!=Never"},
        Case{"clusters_are_unique", "MultiKueueConfig", R"({"spec": {"clusters": ["a", "a"]}})",
             "spec.clusters: Invalid value: must be unique"},
        Case{"clusters_differ", "MultiKueueConfig", R"({"spec": {"clusters": ["a", "b"]}})", ""},
        Case{"cluster_without_source", "MultiKueueCluster", R"({"spec": {"clusterSource": {}}})",
             "spec.clusterSource: Invalid value: exactly one of the fields in [kubeConfig "
             "clusterProfileRef] must be set"},
        Case{"cluster_with_kubeconfig", "MultiKueueCluster",
             R"({"spec": {"clusterSource": {"kubeConfig": {"location": "s",
               "locationType": "Secret"}}}})",
             ""},
        Case{"flavor_with_topology_but_no_label", "ResourceFlavor",
             R"({"spec": {"topologyName": "t", "nodeLabels": {}}})",
             "spec: Invalid value: at least one nodeLabel is required when topology is set"},
        Case{"flavor_with_odd_taint", "ResourceFlavor",
             R"({"spec": {"nodeTaints": [{"key": "k", "effect": "Odd"}]}})",
             "spec.nodeTaints: Invalid value: supported taint effect values: 'NoSchedule', "
             "'PreferNoSchedule', 'NoExecute'"},
        Case{"flavor_with_toleration_of_everything", "ResourceFlavor",
             R"({"spec": {"tolerations": [{"operator": "Exists"}]}})", ""},
        Case{"topology_repeats_a_level", "Topology",
             R"({"spec": {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "a"}]}})",
             "spec.levels: Invalid value: must be unique"},
        Case{"hostname_is_the_lowest_level", "Topology",
             R"({"spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"},
               {"nodeLabel": "a"}]}})",
             "spec.levels: Invalid value: the kubernetes.io/hostname label can only be used at the "
             "lowest level of topology"},
        Case{"workload", "Workload", R"({"spec": {"podSets": [)" POD_SET("") "]}}", ""},
        Case{"workload_min_count", "Workload",
             R"({"spec": {"podSets": [)" POD_SET(R"("minCount": 2, )") "]}}",
             "spec.podSets[0]: Invalid value: minCount should be positive and less or equal to "
             "count"},
        Case{"workload_class_without_priority", "Workload",
             R"({"spec": {"priorityClassRef": {"group": "scheduling.k8s.io",
               "kind": "PriorityClass", "name": "p"}, "podSets": [)" POD_SET("") "]}}",
             "spec: Invalid value: priority should not be nil when priorityClassRef is set"},
        Case{"workload_class_of_another_kind", "Workload",
             R"({"spec": {"priority": 1, "priorityClassRef": {"group": "scheduling.k8s.io",
               "kind": "WorkloadPriorityClass", "name": "p"}, "podSets": [)" POD_SET("") "]}}",
             "spec.priorityClassRef: Invalid value: only the PriorityClass kind is allowed for the "
             "scheduling.k8s.io group"}),
    [](const auto& info) { return std::string(info.param.name); });

Json reserved_workload() {
  return object("Workload", R"({"spec": {"queueName": "lq", "podSets": [)" POD_SET("") R"(]},
    "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main"}]},
      "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
        "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
}

TEST(KueueUpdate, QueueNameIsFixedWhileQuotaIsReserved) {
  const auto old = reserved_workload();
  auto moved = old;
  moved["spec"]["queueName"] = "other";
  EXPECT_EQ(describe(strategy("Workload").validate_update(moved, old)),
            "<nil>: Invalid value: queueName is immutable while workload quota reserved");
  auto stopped = old;
  stopped["spec"]["active"] = false;
  EXPECT_EQ(describe(strategy("Workload").validate_update(stopped, old)), "");
}

TEST(KueueUpdate, AssignmentsMatchThePodSets) {
  const auto old = reserved_workload();
  auto now = old;
  now["status"]["admission"]["podSetAssignments"].push_back({{"name", "other"}});
  EXPECT_EQ(describe(strategy("Workload").validate_status_update(now, old)),
            "<nil>: Invalid value: podSetAssignments must have the same number of podSets as the "
            "spec");
}

TEST(KueueUpdate, ClusterNameIsFixedOnceSet) {
  auto old = reserved_workload();
  old["status"]["clusterName"] = "w1";
  auto now = old;
  now["status"]["clusterName"] = "w2";
  EXPECT_EQ(describe(strategy("Workload").validate_status_update(now, old)),
            "status: Invalid value: clusterName is immutable once set");
  now["status"]["clusterName"] = "w1";
  now["status"]["nominatedClusterNames"] = {"w1", "w2"};
  EXPECT_EQ(describe(strategy("Workload").validate_status_update(now, old)),
            "status: Invalid value: clusterName and nominatedClusterNames are mutually exclusive");
}

TEST(KueueUpdate, QueuesAndChecksKeepTheirTargets) {
  const auto queue = object("LocalQueue", R"({"spec": {"clusterQueue": "cq"}})");
  auto moved = queue;
  moved["spec"]["clusterQueue"] = "other";
  EXPECT_EQ(describe(strategy("LocalQueue").validate_update(moved, queue)),
            "spec.clusterQueue: Invalid value: \"other\": field is immutable");
  const auto check = object("AdmissionCheck", R"({"spec": {"controllerName": "a"}})");
  auto changed = check;
  changed["spec"]["controllerName"] = "x";
  EXPECT_EQ(describe(strategy("AdmissionCheck").validate_update(changed, check)),
            "spec.controllerName: Invalid value: \"x\": field is immutable");
}

TEST(KueueDefaults, AreThoseOfTheDefinitions) {
  const auto queue = object("ClusterQueue", R"({"spec": {}})");
  EXPECT_EQ(queue["spec"]["queueingStrategy"], "BestEffortFIFO");
  EXPECT_EQ(queue["spec"]["stopPolicy"], "None");
  EXPECT_EQ(queue["spec"]["flavorFungibility"]["whenCanBorrow"], "MayStopSearch");
  EXPECT_EQ(queue["spec"]["preemption"]["reclaimWithinCohort"], "Never");
  EXPECT_EQ(reserved_workload()["spec"]["active"], true);
}

TEST(KueueWorkload, OneWithAsManyPodSetsAsAllowedIsAccepted) {
  auto body = Json::parse(R"({"spec": {"podSets": []}})");
  for (int i = 0; i < 8; ++i) {
    auto pod_set = Json::parse(POD_SET(""));
    pod_set["name"] = "set-" + std::to_string(i);
    auto& container = pod_set["template"]["spec"]["containers"][0];
    container["resources"]["requests"] = {{"cpu", "100m"}, {"memory", "32Mi"}};
    for (int e = 0; e < 5; ++e) {
      container["env"].push_back({{"name", "VARIABLE_" + std::to_string(e)}, {"value", "value"}});
    }
    body["spec"]["podSets"].push_back(std::move(pod_set));
  }
  const auto workload = object("Workload", body.dump());
  auto copy = workload;
  strategy("Workload").set_defaults(copy);
  EXPECT_TRUE(strategy("Workload").validate_create(copy).empty());
}

}  // namespace
}  // namespace regatta::manifest
