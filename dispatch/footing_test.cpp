#include "dispatch/footing.h"

#include "lib/api/codec.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::dispatch {
namespace {

Json raced() {
  return Json::parse(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team", "uid": "u", "resourceVersion": "5"},
    "spec": {"podSets": []},
    "status": {"nominatedClusterNames": ["east"],
      "admissionChecks": [{"name": "mk", "state": "Pending", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}],
      "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
}

Footing after(const char* patch) {
  Json changed = raced();
  changed.merge_patch(Json::parse(patch));
  return footing_of(api::from_json<api::Workload>(changed).value());
}

TEST(Footing, IsLostWithEveryChangeThatMakesAPlanWrong) {
  const Footing planned = after("{}");
  EXPECT_TRUE(planned.reserved);
  for (const char* change : {
           R"({"metadata": {"uid": "another"}})",
           R"({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})",
           R"({"status": {"conditions": []}})",
           R"({"status": {"clusterName": "east"}})",
           R"({"status": {"admissionChecks": [{"name": "other", "state": "Pending"}]}})",
           R"({"status": {"admissionChecks": [{"name": "mk", "state": "Retry"}]}})",
           R"({"status": {"conditions": [{"type": "QuotaReserved", "status": "True",
             "reason": "QuotaReserved", "lastTransitionTime": "2026-01-01T00:00:09Z"}]}})",
           R"({"status": {"conditions": [{"type": "QuotaReserved", "status": "True",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}, {"type": "Evicted", "status": "True",
             "reason": "Preempted", "lastTransitionTime": "2026-01-01T00:00:09Z"}]}})",
           R"({"status": {"conditions": [{"type": "QuotaReserved", "status": "True",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}, {"type": "Finished", "status": "True",
             "reason": "Succeeded", "lastTransitionTime": "2026-01-01T00:00:09Z"}]}})",
       }) {
    EXPECT_NE(after(change), planned) << change;
  }
}

TEST(Footing, StaysWhereOtherThingsChange) {
  const Footing planned = after("{}");
  EXPECT_EQ(after(R"({"metadata": {"resourceVersion": "6", "labels": {"a": "b"}}})"), planned);
  EXPECT_EQ(after(R"({"status": {"nominatedClusterNames": ["west"]}})"), planned);
  EXPECT_EQ(after(R"({"status": {"admissionChecks": [{"name": "mk", "state": "Pending",
      "message": "another"}]}})"),
            planned);
}

}  // namespace
}  // namespace regatta::dispatch
