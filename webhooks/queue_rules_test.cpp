#include "webhooks/testing.h"

#include <gtest/gtest.h>

namespace regatta::webhooks {
namespace {

Json queue() {
  return json_of(R"({"metadata":{"name":"cq"},"spec":{"cohortName":"c","resourceGroups":[
    {"coveredResources":["cpu"],"flavors":[{"name":"a","resources":[
      {"name":"cpu","nominalQuota":"4"}]}]},
    {"coveredResources":["gpu"],"flavors":[{"name":"g","resources":[
      {"name":"gpu","nominalQuota":8}]}]}]}})");
}

/// The queue with this in place of the quota of its cpu.
Json with_quota(std::string_view quota) {
  Json out = queue();
  out["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] = json_of(quota);
  return out;
}

TEST(ClusterQueueRules, a_sound_queue_is_allowed) {
  EXPECT_EQ(create("ClusterQueue", queue()), "allowed");
}

struct QuotaCase {
  std::string_view name, quota, wanted;
};

TEST(ClusterQueueRules, quotas_are_checked_field_by_field) {
  const std::string at = "spec.resourceGroups[0].flavors[0].resources[0].";
  const QuotaCase cases[] = {
      {"negative", R"({"name":"cpu","nominalQuota":"-1"})",
       "nominalQuota: Invalid value: \"-1\": must be greater than or equal to 0"},
      {"lends more than it has", R"({"name":"cpu","nominalQuota":"4","lendingLimit":"4001m"})",
       "lendingLimit: Invalid value: \"4001m\": must be less than or equal to the nominalQuota"},
      {"another resource", R"({"name":"memory","nominalQuota":"4"})",
       "name: Invalid value: \"memory\": must match the name in coveredResources"},
  };
  for (const QuotaCase& c : cases) {
    EXPECT_EQ(create("ClusterQueue", with_quota(c.quota)), at + std::string(c.wanted)) << c.name;
  }
}

TEST(ClusterQueueRules, limits_need_a_cohort) {
  Json alone = with_quota(R"({"name":"cpu","nominalQuota":"4","borrowingLimit":"1"})");
  EXPECT_EQ(create("ClusterQueue", alone), "allowed");
  alone["spec"].erase("cohortName");
  EXPECT_EQ(create("ClusterQueue", alone),
            "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"1\": "
            "must be nil when cohort is empty");
}

TEST(ClusterQueueRules, resources_and_flavors_are_in_one_group_only) {
  Json twice = queue();
  twice["spec"]["resourceGroups"][1] = twice["spec"]["resourceGroups"][0];
  EXPECT_EQ(create("ClusterQueue", twice),
            "[spec.resourceGroups[1].coveredResources[0]: Duplicate value: \"cpu\", "
            "spec.resourceGroups[1].flavors[0].name: Duplicate value: \"a\"]");
}

TEST(ClusterQueueRules, names_of_resources_are_label_keys) {
  Json bad = queue();
  bad["spec"]["resourceGroups"][1]["coveredResources"][0] = "a/b/c";
  bad["spec"]["resourceGroups"][1]["flavors"][0]["resources"][0]["name"] = "a/b/c";
  EXPECT_EQ(create("ClusterQueue", bad).substr(0, 90),
            "spec.resourceGroups[1].coveredResources[0]: Invalid value: \"a/b/c\": a valid label "
            "key must");
}

TEST(ClusterQueueRules, sizes_have_limits) {
  Json many = queue();
  Json& covered = many["spec"]["resourceGroups"][1]["coveredResources"];
  for (int i = 0; i < 254; ++i) covered.push_back("r" + std::to_string(i));
  EXPECT_EQ(create("ClusterQueue", many), "allowed") << "256 resources";
  covered.push_back("one-more");
  EXPECT_EQ(create("ClusterQueue", many),
            "spec.resourceGroups: Invalid value: 257: total number of covered resources across all "
            "resourceGroups must be ≤ 256, got 257");
}

TEST(ClusterQueueRules, weights_that_would_vanish_are_refused) {
  const auto weight = [](std::string_view value) {
    return create("ClusterQueue", with(queue(), R"({"spec":{"fairSharing":{"weight":")" +
                                                    std::string(value) + "\"}}}"));
  };
  EXPECT_EQ(weight("0"), "allowed");
  EXPECT_EQ(weight("2n"), "allowed");
  EXPECT_EQ(weight("1n"),
            "spec.fairSharing: Invalid value: \"1n\": When not 0, weight must be > 10e-9");
  EXPECT_EQ(weight("-1"),
            "spec.fairSharing: Invalid value: \"-1\": must be greater than or equal to 0");
}

struct ChangeCase {
  std::string_view name, change, wanted;
};

TEST(ClusterQueueRules, policies_that_contradict_each_other_are_refused) {
  const ChangeCase cases[] = {
      {"borrowing by preemption without reclaiming",
       R"({"spec":{"preemption":{"reclaimWithinCohort":"Never",
           "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":3}}}})",
       "spec.preemption: Invalid value: {\"reclaimWithinCohort\":\"Never\",\"borrowWithinCohort\":"
       "{\"policy\":\"LowerPriority\",\"maxPriorityThreshold\":3}}: reclaimWithinCohort=Never and "
       "borrowWithinCohort.Policy!=Never"},
      {"a preference without a choice",
       R"({"spec":{"flavorFungibility":{"whenCanBorrow":"TryNextFlavor",
           "preference":"BorrowingOverPreemption"}}})",
       "spec.flavorFungibility.preference: Invalid value: \"BorrowingOverPreemption\": preference "
       "\"BorrowingOverPreemption\" requires both whenCanBorrow and whenCanPreempt to be "
       "TryNextFlavor"},
      {"a selector with an unknown operator",
       R"({"spec":{"namespaceSelector":{"matchExpressions":[{"key":"k","operator":"Like"}]}}})",
       "spec.namespaceSelector.matchExpressions[0].operator: Invalid value: \"Like\": not a valid "
       "selector operator"},
      {"a check on an unknown flavor",
       R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[
           {"name":"c","onFlavors":["a","z"]}]}}})",
       "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Unsupported value: \"z\": "
       "supported values: \"a\", \"g\""},
  };
  for (const ChangeCase& c : cases) {
    EXPECT_EQ(create("ClusterQueue", with(queue(), c.change)), c.wanted) << c.name;
  }
}

TEST(ClusterQueueRules, a_refusal_has_a_limit_however_many_flavors_are_unknown) {
  Json bad = queue();
  Json& flavors = bad["spec"]["resourceGroups"][0]["flavors"];
  Json check = {{"name", "c"}, {"onFlavors", Json(Json::value_t::array)}};
  for (int i = 0; i < 5'000; ++i) {
    flavors.push_back({{"name", "a" + std::to_string(i)}});
    check["onFlavors"].push_back("no" + std::to_string(i));
  }
  bad["spec"]["admissionChecksStrategy"]["admissionChecks"].push_back(check);
  const std::string told = create("ClusterQueue", bad);
  EXPECT_NE(
      told.find("onFlavors[90]: Unsupported value: \"no90\": supported values: \"a\", \"a0\""),
      told.npos);
  EXPECT_NE(told.find(" and 4982 more, "), told.npos);
  EXPECT_TRUE(told.ends_with(", more errors were left out]"));
  EXPECT_LT(told.size(), 100'000u);
}

TEST(ClusterQueueRules, unknown_flavors_of_checks_may_stay_while_the_flavors_stay) {
  const Json before = with(queue(), R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[
    {"name":"c","onFlavors":["z","y"]}]}}})");
  const Json stopped = with(before, R"({"spec":{"stopPolicy":"Hold"}})");
  EXPECT_EQ(update("ClusterQueue", before, stopped), "allowed");
  Gates strict;
  strict.reject_invalid_on_flavors = true;
  EXPECT_NE(update("ClusterQueue", before, stopped, strict), "allowed");
  const Json reordered = with(before, R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[
    {"name":"c","onFlavors":["y","z"]}]}}})");
  EXPECT_EQ(update("ClusterQueue", before, reordered), "allowed");
  Json renamed = stopped;
  renamed["spec"]["resourceGroups"][1]["flavors"][0]["name"] = "h";
  EXPECT_NE(update("ClusterQueue", before, renamed), "allowed");
}

TEST(ClusterQueueRules, a_policy_of_concurrent_admission_stays_as_it_is) {
  const Json before =
      with(queue(), R"({"spec":{"concurrentAdmissionPolicy":{"migration":{"mode":"A"}}}})");
  EXPECT_EQ(update("ClusterQueue", before, before), "allowed");
  EXPECT_EQ(update("ClusterQueue", before, queue()),
            "spec.concurrentAdmissionPolicy: Invalid value: null: field is immutable");
}

TEST(ClusterQueueRules, concurrent_admission_needs_one_group_and_a_known_flavor) {
  Gates gates;
  gates.concurrent_admission = true;
  const Json bad = with(queue(), R"({"spec":{"queueingStrategy":"StrictFIFO",
    "concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors",
      "constraints":{"lastAcceptableFlavorName":"z"}}}}})");
  EXPECT_EQ(create("ClusterQueue", bad), "allowed") << "the gate is off";
  EXPECT_EQ(
      create("ClusterQueue", bad, gates),
      "[spec.resourceGroups: Invalid value: 2: must have exactly one ResourceGroup when "
      "ConcurrentAdmissionPolicy is defined, "
      "spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName: Invalid "
      "value: \"z\": must be one of the flavors defined in the ClusterQueue: [a g], "
      "spec.queueingStrategy: Invalid value: \"StrictFIFO\": StrictFIFO queueing strategy "
      "cannot be used when ConcurrentAdmissionPolicy is defined]");
}

TEST(CohortRules, a_cohort_may_lend_more_than_it_owns_and_limits_need_a_parent) {
  const Json lender = json_of(R"({"spec":{"parentName":"p","resourceGroups":[{"coveredResources":
    ["cpu"],"flavors":[{"name":"a","resources":[{"name":"cpu","nominalQuota":"0",
      "lendingLimit":"5"}]}]}]}})");
  EXPECT_EQ(create("Cohort", lender), "allowed");
  EXPECT_EQ(create("Cohort", with(lender, R"({"spec":{"parentName":null}})")),
            "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"5\": "
            "must be nil when parent is empty");
}

TEST(ResourceFlavorRules, labels_taints_and_tolerations_are_well_formed) {
  EXPECT_EQ(create("ResourceFlavor", json_of(R"({"spec":{"nodeLabels":{"a":"b"},"nodeTaints":[
              {"key":"k","effect":"NoSchedule"},{"key":"k","effect":"NoExecute"}]}})")),
            "allowed");
  EXPECT_EQ(
      create("ResourceFlavor", json_of(R"({"spec":{"nodeTaints":[
              {"key":"k","value":"v","effect":"NoSchedule"},
              {"key":"k","effect":"NoSchedule"}]}})")),
      "spec.nodeTaints[1]: Duplicate value: {\"key\":\"k\",\"effect\":\"NoSchedule\"}: taints "
      "must be unique by key and effect pair");
  EXPECT_EQ(create("ResourceFlavor", json_of(R"({"spec":{"tolerations":[{},{"key":"-"}]}})"))
                .substr(0, 49),
            "spec.tolerations[1].key: Invalid value: \"-\": name");
}

}  // namespace
}  // namespace regatta::webhooks
