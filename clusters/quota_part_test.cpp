#include "clusters/quota_part.h"

#include "lib/api/codec.h"
#include "lib/api/kueue.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::clusters {
namespace {

Json admitted() {
  return Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team", "uid": "u", "resourceVersion": "7"},
    "spec": {"queueName": "default", "priority": 5, "podSets": [
      {"name": "main", "count": 2, "template": {"spec": {"containers": [{"name": "c"}]}}}]},
    "status": {
      "admission": {"clusterQueue": "cq", "podSetAssignments": [
        {"name": "main", "count": 2, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "2"}}]},
      "conditions": [
        {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
}

/// The part of `admitted()` with the value at that place exchanged.
Result<jobs::WorkloadPtr> part(const char* place, const Json& value,
                               const api::Workload* stored = nullptr) {
  Json whole = admitted();
  whole[Json::json_pointer(place)] = value;
  EXPECT_TRUE(stored || !api::from_json<api::Workload>(whole)) << "it must not be readable";
  return part_with_quota(whole, stored);
}

const Json odd_condition = {{"type", "Future"}, {"status", "Perhaps"}};

Json too_many_pod_sets() {
  Json out = Json::array();
  for (std::size_t i = 0; i <= api::pod_sets_max; ++i) {
    out.push_back({{"name", std::to_string(i)}, {"count", 1}});
  }
  return out;
}

TEST(QuotaPart, WhateverCannotBeReadTheQuotaIsKept) {
  const std::pair<const char*, Json> odd[] = {
      {"/status/conditions/1", odd_condition},
      {"/status/conditions/0/status", "Perhaps"},
      {"/status/conditions/0/lastTransitionTime", "soon"},
      {"/status/admissionChecks", Json::array({{{"name", "a"}, {"state", "Perhaps"}}})},
      {"/status/requeueState", "later"},
      {"/spec/active", "perhaps"},
      {"/spec/podSets/0/count", "many"},
      {"/spec/podSets", too_many_pod_sets()},
  };
  for (const auto& [place, value] : odd) {
    SCOPED_TRACE(place);
    const auto kept = part(place, value);
    ASSERT_TRUE(kept) << kept.error().what();
    const api::Workload& workload = **kept;
    EXPECT_EQ(workload.metadata.resource_version, "1");
    EXPECT_EQ(workload.spec.priority, 5);
    ASSERT_TRUE(workload.status.admission);
    EXPECT_EQ(workload.status.admission->pod_set_assignments.at(0).resource_usage.size(), 1u);
    EXPECT_TRUE(api::is_true(workload.status.conditions, "QuotaReserved"));
  }
}

TEST(QuotaPart, WhatHoldsNoneLeavesNone) {
  Json whole = admitted();
  whole["status"]["conditions"][1] = odd_condition;
  whole["status"]["conditions"][0]["status"] = "False";
  EXPECT_EQ(part_with_quota(whole, nullptr).error().code(), Errc::not_found);
  whole["status"]["conditions"][0] = {{"type", "Finished"},
                                      {"status", "True"},
                                      {"reason", "Succeeded"},
                                      {"message", ""},
                                      {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
  EXPECT_EQ(part_with_quota(whole, nullptr).error().code(), Errc::not_found);
  whole = admitted();
  whole["status"].erase("admission");
  EXPECT_EQ(part_with_quota(whole, nullptr).error().code(), Errc::not_found);
}

TEST(QuotaPart, AnOlderVersionStaysOnlyIfItHoldsQuota) {
  const auto holding = api::from_json<api::Workload>(admitted());
  ASSERT_TRUE(holding);
  EXPECT_EQ(part("/status/conditions/1", odd_condition, &*holding).error().code(), Errc::not_found);
  api::Workload pending = *holding;
  pending.status = {};
  EXPECT_TRUE(part("/status/conditions/1", odd_condition, &pending));
}

TEST(QuotaPart, OfAnOlderVersionTheQuotaIsThatOfThePresentOne) {
  auto holding = api::from_json<api::Workload>(admitted());
  ASSERT_TRUE(holding);
  holding->status.reclaimable_pods = {{"main", 1}};
  holding->status.cluster_name = "east";
  const auto of = [&](const char* place, const Json& value) {
    const auto kept = part(place, value, &*holding);
    EXPECT_TRUE(kept) << kept.error().what();
    return kept ? **kept : api::Workload();
  };
  // The API server went back to a state in which no pod had ended.
  const api::Workload restored = of("/status/conditions/1", odd_condition);
  EXPECT_EQ(restored.status.reclaimable_pods.size(), 0u);
  EXPECT_EQ(restored.status.cluster_name, "east") << "all else is kept";
  EXPECT_EQ(restored.metadata.resource_version, "1");
  holding->status.reclaimable_pods = {};
  holding->status.admission->pod_set_assignments[0].count = 1;
  holding->spec.pod_sets[0].count = 1;
  const api::Workload larger = of("/status/conditions/1", odd_condition);
  EXPECT_EQ(larger.status.admission->pod_set_assignments[0].count, 2);
  EXPECT_EQ(larger.spec.pod_sets[0].count, 2);
  // Of a field that cannot be read the older version tells.
  EXPECT_EQ(of("/spec/podSets/0/count", "many").spec.pod_sets[0].count, 1);
  EXPECT_EQ(part("/status/admission", "all", &*holding).error().code(), Errc::not_found);
}

}  // namespace
}  // namespace regatta::clusters
