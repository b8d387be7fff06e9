#include "lab/kinds/raced_kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

Json pods() {
  return *parse_json(R"({"spec": {"containers": [{"name": "main", "image": "i"}]}})");
}

Json made(const RacedKind& kind) {
  return kind.make({{"name", "j"}, {"namespace", "n"}}, pods(), 2).front();
}

TEST(RacedKinds, AreMadeSuspendedAndLeftToMultiKueue) {
  for (const std::string& name : raced_kind_names()) {
    const RacedKind& kind = **raced_kind(name);
    if (kind.group) continue;
    Json job = made(kind);
    EXPECT_EQ(kind.job_of(job), "j") << name;
    EXPECT_EQ(job["metadata"]["name"], "j") << name;
    EXPECT_EQ(job[kind.settings]["managedBy"], "kueue.x-k8s.io/multikueue") << name;
    EXPECT_FALSE(kind.is_started(job)) << name;
    EXPECT_FALSE(kind.is_complete(job)) << name;
    EXPECT_FALSE(kind.has_failed(job)) << name;
    EXPECT_NE(dump_json(job).find(R"("image":"i")"), std::string::npos) << name;
    job[kind.settings]["suspend"] = false;
    job["status"]["startTime"] = "2026-01-01T00:00:00Z";
    EXPECT_TRUE(kind.is_started(job)) << name;
  }
}

TEST(RacedKinds, AJobIsStartedWhenItsStatusSaysSo) {
  Json job = made(plain_jobs());
  job["spec"]["suspend"] = false;
  EXPECT_FALSE(plain_jobs().is_started(job));
}

TEST(RacedKinds, TheEndIsAConditionOrAField) {
  Json set = made(**raced_kind("jobset"));
  set["status"]["conditions"] = *parse_json(R"([{"type": "Completed", "status": "True"}])");
  EXPECT_TRUE((*raced_kind("jobset"))->is_complete(set));
  EXPECT_FALSE((*raced_kind("jobset"))->has_failed(set));
  Json ray = made(**raced_kind("rayjob"));
  ray["status"]["jobDeploymentStatus"] = "Failed";
  EXPECT_TRUE((*raced_kind("rayjob"))->has_failed(ray));
  EXPECT_FALSE((*raced_kind("rayjob"))->is_complete(ray));
}

TEST(RacedKinds, AGroupIsSeveralPodsThatAreHeld) {
  const RacedKind& kind = **raced_kind("pod-group");
  std::vector<Json> all = kind.make({{"name", "g"}, {"namespace", "n"}}, pods(), 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(kind.objects(3), 3);
  EXPECT_EQ(all[2]["metadata"]["name"], "g-2");
  EXPECT_EQ(all[2]["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"], "3");
  EXPECT_EQ(kind.job_of(all[2]), "g");
  EXPECT_EQ(all[2]["spec"]["schedulingGates"].size(), 1u);
  EXPECT_FALSE(kind.is_started(all[2]));
  all[2]["status"]["phase"] = "Running";
  EXPECT_TRUE(kind.is_started(all[2]));
  EXPECT_FALSE(kind.is_complete(all[2]));
  all[2]["status"]["phase"] = "Succeeded";
  EXPECT_TRUE(kind.is_complete(all[2]));
}

TEST(RacedKinds, AreNamedOnceEach) {
  const auto kinds = raced_kinds({"jobset", "job", "jobset"});
  ASSERT_TRUE(kinds);
  EXPECT_EQ(kinds->size(), 2u);
  const auto none = raced_kinds({"cronjob"});
  ASSERT_FALSE(none);
  EXPECT_EQ(std::string(none.error().what()),
            "there is no kind \"cronjob\" to race; there are job, jobset, pytorchjob, rayjob, "
            "appwrapper, pod-group");
  EXPECT_FALSE(raced_kinds({}));
}

}  // namespace
}  // namespace regatta::lab
