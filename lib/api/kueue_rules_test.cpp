#include "lib/api/kueue_rules.h"

#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

Quantity amount(std::string_view text) {
  return Quantity::parse(text).value();
}

ClusterQueue queue() {
  return decode<ClusterQueue>(R"({"metadata":{"name":"cq"},"spec":{"cohortName":"c",
    "resourceGroups":[
      {"coveredResources":["cpu","memory"],"flavors":[
        {"name":"a","resources":[{"name":"cpu","nominalQuota":"4"},
                                 {"name":"memory","nominalQuota":"8Gi"}]}]},
      {"coveredResources":["nvidia.com/gpu"],"flavors":[
        {"name":"g","resources":[{"name":"nvidia.com/gpu","nominalQuota":8}]}]}]}})")
      .value();
}

Workload workload() {
  return decode<Workload>(R"({"spec":{"podSets":[{"name":"main","count":3,"template":{"spec":{
      "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]},
    "status":{"conditions":[{"type":"QuotaReserved","status":"True"}],
      "admission":{"clusterQueue":"cq","podSetAssignments":[
        {"name":"main","count":3,"resourceUsage":{"cpu":"3"}}]}}})")
      .value();
}

TEST(ClusterQueueRules, a_sound_queue_passes_and_gets_its_finalizer) {
  ClusterQueue cq = queue();
  EXPECT_EQ(validate(cq), FieldErrors());
  add_defaults(&cq);
  add_defaults(&cq);
  EXPECT_EQ(cq.metadata.finalizers,
            std::vector<std::string>{std::string(finalizers::resource_in_use)});
}

struct QueueCase {
  std::string_view name;
  void (*change)(ClusterQueue&);
  std::string_view wanted;
};

TEST(ClusterQueueRules, refuse_by_field) {
  const QueueCase cases[] = {
      {"resources out of order",
       [](ClusterQueue& cq) {
         auto& resources = cq.spec.resource_groups[0].flavors[0].resources;
         std::swap(resources[0].name, resources[1].name);
       },
       "[spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: \"memory\": must "
       "match the name in coveredResources, spec.resourceGroups[0].flavors[0].resources[1].name: "
       "Invalid value: \"cpu\": must match the name in coveredResources]"},
      {"a resource in two groups",
       [](ClusterQueue& cq) {
         cq.spec.resource_groups[1].covered_resources[0] = "cpu";
         cq.spec.resource_groups[1].flavors[0].resources[0].name = "cpu";
       },
       "spec.resourceGroups[1].coveredResources[0]: Duplicate value: \"cpu\""},
      {"a flavor in two groups",
       [](ClusterQueue& cq) { cq.spec.resource_groups[1].flavors[0].name = "a"; },
       "spec.resourceGroups[1].flavors[0].name: Duplicate value: \"a\""},
      {"negative quota",
       [](ClusterQueue& cq) {
         cq.spec.resource_groups[1].flavors[0].resources[0].nominal_quota = amount("-1");
       },
       "spec.resourceGroups[1].flavors[0].resources[0].nominalQuota: Invalid value: \"-1\": must "
       "be greater than or equal to 0"},
      {"lending more than the quota",
       [](ClusterQueue& cq) {
         cq.spec.resource_groups[1].flavors[0].resources[0].lending_limit = amount("9");
       },
       "spec.resourceGroups[1].flavors[0].resources[0].lendingLimit: Invalid value: \"9\": must be "
       "less than or equal to the nominalQuota"},
      {"limits without a cohort",
       [](ClusterQueue& cq) {
         cq.spec.cohort_name.clear();
         cq.spec.resource_groups[1].flavors[0].resources[0].borrowing_limit = amount("1");
       },
       "spec.resourceGroups[1].flavors[0].resources[0].borrowingLimit: Invalid value: \"1\": must "
       "be nil when cohort is empty"},
      {"a weight next to nothing",
       [](ClusterQueue& cq) { cq.spec.fair_sharing = FairSharing{amount("1n")}; },
       "spec.fairSharing.weight: Invalid value: \"1n\": When not 0, weight must be > 10e-9"},
      {"a check on an unknown flavor",
       [](ClusterQueue& cq) { cq.spec.admission_checks = {{"x", {"a", "b"}}}; },
       "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Not found: \"b\""},
      {"concurrent admission over two groups",
       [](ClusterQueue& cq) { cq.spec.concurrent_admission_policy.emplace(); },
       "spec.concurrentAdmissionPolicy: Forbidden: needs exactly one resource group"},
  };
  for (const QueueCase& one : cases) {
    ClusterQueue cq = queue();
    one.change(cq);
    EXPECT_EQ(to_text(validate(cq)), one.wanted) << one.name;
  }
}

TEST(ClusterQueueRules, a_check_that_lost_its_flavor_blocks_only_changes_of_the_checks) {
  ClusterQueue before = queue();
  before.spec.admission_checks = {{"x", {"gone"}}};
  ClusterQueue after = before;
  after.spec.stop_policy = StopPolicy::Hold;
  EXPECT_EQ(validate_update(before, after), FieldErrors());
  EXPECT_EQ(validate_update(before, after, {true, true}).size(), 1u);
  after.spec.admission_checks.push_back({"y", {}});
  EXPECT_EQ(validate_update(before, after).size(), 1u);
}

TEST(CohortRules, lend_more_than_they_own_but_only_to_a_parent) {
  Cohort cohort;
  cohort.spec.resource_groups = queue().spec.resource_groups;
  cohort.spec.resource_groups[1].flavors[0].resources[0].lending_limit = amount("100");
  EXPECT_EQ(to_text(validate(cohort)),
            "spec.resourceGroups[1].flavors[0].resources[0].lendingLimit: Invalid value: \"100\": "
            "must be nil when parent is empty");
  cohort.spec.parent_name = "root";
  EXPECT_EQ(validate(cohort), FieldErrors());
}

TEST(ResourceFlavorRules, taints_are_unique_by_key_and_effect) {
  ResourceFlavor flavor;
  flavor.spec.node_taints = {{"k", "v", "NoSchedule", {}}, {"k", "", "NoSchedule", {}}};
  EXPECT_EQ(
      to_text(validate(flavor)),
      "spec.nodeTaints[1]: Duplicate value: {\"key\":\"k\",\"effect\":\"NoSchedule\"}: taints "
      "must be unique by key and effect pair");
  flavor.spec.node_taints = {{"-", "", "Never", {}}};
  EXPECT_EQ(validate(flavor).size(), 2u);
}

TEST(WorkloadRules, refuse_by_field) {
  EXPECT_EQ(validate(workload()), FieldErrors());
  Workload wl = workload();
  wl.status.admission->pod_set_assignments[0].resource_usage["cpu"] = amount("2500m");
  EXPECT_EQ(
      to_text(validate(wl)),
      "status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: \"2500m\": is "
      "not a multiple of 3");
  wl = workload();
  wl.status.reclaimable_pods = {{"main", 4}, {"other", 1}};
  EXPECT_EQ(to_text(validate(wl)),
            "[status.reclaimablePods[0].count: Invalid value: 4: should be less or equal to 3, "
            "status.reclaimablePods[1].name: Not found: \"other\"]");
  wl = workload();
  wl.spec.pod_sets.push_back(wl.spec.pod_sets[0]);
  for (PodSet& set : wl.spec.pod_sets) set.min_count = 1;
  EXPECT_EQ(to_text(validate(wl)),
            "spec.podSets: Invalid value: 2: at most one podSet can use minCount");
  add_defaults(&wl, {false, false});
  EXPECT_EQ(validate(wl), FieldErrors());
  wl.spec.pod_sets[0].pod_template =
      PodTemplate::from(
          RawJson(R"({"spec":{"containers":[{"resources":{"requests":{"pods":"1"}}}]}})"))
          .value();
  EXPECT_EQ(to_text(validate(wl)),
            "spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: "
            "\"pods\": the key is reserved for internal kueue use");
}

TEST(WorkloadRules, what_holds_quota_keeps_its_shape) {
  const Workload before = workload();
  Workload after = before;
  after.spec.pod_sets[0].count = 2;
  EXPECT_EQ(to_text(validate_update(before, after)), "spec.podSets: Forbidden: field is immutable");
  after.metadata.annotations[std::string(annotations::elastic_job)] = "true";
  EXPECT_EQ(validate_update(before, after), FieldErrors());
  after = before;
  after.status.admission->cluster_queue = "other";
  EXPECT_EQ(to_text(validate_update(before, after)),
            "status.admission: Forbidden: field is immutable");
  after = before;
  after.status.admission->pod_set_assignments[0].delayed_topology_request = "Ready";
  EXPECT_EQ(validate_update(before, after), FieldErrors());
}

TEST(WorkloadRules, reclaimed_pods_stay_so_unless_an_elastic_job_shrinks) {
  Workload before = workload();
  before.status.admission->pod_set_assignments[0].count = 3;
  before.status.reclaimable_pods = {{"main", 2}};
  Workload after = before;
  after.status.reclaimable_pods = {{"main", 1}};
  EXPECT_EQ(to_text(validate_update(before, after)),
            "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2");
  after.status.reclaimable_pods.clear();
  EXPECT_EQ(to_text(validate_update(before, after)),
            "status.reclaimablePods[main]: Required value: cannot be removed");
  for (Workload* both : {&before, &after}) {
    both->metadata.annotations[std::string(annotations::elastic_job)] = "true";
  }
  EXPECT_EQ(validate_update(before, after).size(), 1u) << "it has all its pods";
  for (Workload* both : {&before, &after}) both->spec.pod_sets[0].count = 2;
  EXPECT_EQ(validate_update(before, after), FieldErrors());
}

TEST(WorkloadRules, the_cluster_must_have_been_nominated) {
  Workload before = workload(), after = before;
  after.status.cluster_name = "east";
  EXPECT_EQ(to_text(validate_update(before, after)),
            "status.clusterName: Invalid value: \"east\": when setting clusterName it must be one "
            "of the nominatedClusterNames");
  before.status.nominated_cluster_names = {"west", "east"};
  EXPECT_EQ(validate_update(before, after), FieldErrors());
}

}  // namespace
}  // namespace regatta::api
