#include "lab/cluster/operated_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::lab {
namespace {

using namespace std::chrono_literals;
using Phase = OperatedPhase;

const TimePoint midnight = *parse_rfc3339("2026-01-01T00:00:00Z");

Json suspended_job(const OperatedKind& kind) {
  Json job = {{"metadata", {{"name", "j"}}}};
  job["spec"] = {
      {"replicatedJobs", Json::array({{{"name", "crew"}, {"replicas", 2}}})},
      {"pytorchReplicaSpecs", {{"Master", {{"replicas", 1}}}, {"Worker", {{"replicas", 2}}}}}};
  job[kind.suspend] = true;
  return job;
}

/// What the plan makes of the job; "" when it writes nothing.
std::string step(const OperatedKind& kind, Json* job, bool fails, Duration ran) {
  manifest::Behaviour how;
  how.run = 10s;
  how.failures = fails ? 1 : 0;
  OperatedStep step = plan_operated(kind, *job, how, ran, midnight);
  std::string out = step.again ? "again in " + std::to_string(step.again->count() / 1000) : "";
  if (!step.status) return out;
  (*job)["status"] = *step.status;
  return out + " writes" + (operated_ended(kind, *job) ? " the end" : "");
}

TEST(OperatedKinds, AJobOfEachKindIsSuspendedRunsAndEnds) {
  for (const OperatedKind& kind : operated_kinds()) {
    SCOPED_TRACE(kind.resource.kind);
    for (const bool fails : {false, true}) {
      Json job = suspended_job(kind);
      EXPECT_EQ(step(kind, &job, fails, 0s), " writes");
      EXPECT_EQ(step(kind, &job, fails, 0s), "") << "once";
      job[kind.suspend] = false;
      EXPECT_EQ(step(kind, &job, fails, 3s), "again in 7 writes");
      EXPECT_EQ(step(kind, &job, fails, 3s), "again in 7");
      EXPECT_EQ(step(kind, &job, fails, 10s), " writes the end");
      const Json end = job["status"];
      job[kind.suspend] = true;
      EXPECT_EQ(step(kind, &job, fails, 11s), "") << "it stays as it ended";
      EXPECT_EQ(end,
                operated_status(kind, job, fails ? Phase::failed : Phase::succeeded, midnight));
    }
  }
}

TEST(OperatedKinds, AJobThatIsStoppedHasNoPodsAndMayRunAgain) {
  for (const OperatedKind& kind : operated_kinds()) {
    SCOPED_TRACE(kind.resource.kind);
    Json job = suspended_job(kind);
    step(kind, &job, false, 0s);
    const Json before = job["status"];
    job[kind.suspend] = false;
    step(kind, &job, false, 0s);
    const Json running = job["status"];
    EXPECT_NE(before, running);
    job[kind.suspend] = true;
    step(kind, &job, false, 0s);
    EXPECT_NE(job["status"], running);
    EXPECT_EQ(job["status"].dump().find("\"active\":2"), std::string::npos);
    job[kind.suspend] = false;
    EXPECT_EQ(step(kind, &job, false, 0s), "again in 10 writes");
  }
}

TEST(OperatedKinds, AnOperatorRunsWhatIsItsOwn) {
  for (const OperatedKind& kind : operated_kinds()) {
    SCOPED_TRACE(kind.resource.kind);
    Json job = suspended_job(kind);
    EXPECT_TRUE(operated_here(kind, job));
    job[kind.managed_by] = "kueue.x-k8s.io/multikueue";
    EXPECT_FALSE(operated_here(kind, job));
    job[kind.managed_by] = kind.own_controller;
    EXPECT_TRUE(operated_here(kind, job));
  }
}

TEST(OperatedKinds, APodIsHeldByItsGatesRunsAndEnds) {
  const OperatedKind& pods = managed_pods();
  Json pod = {{"metadata", {{"name", "p"}}}, {"status", {{"phase", "Running"}}}};
  pod["spec"]["schedulingGates"] = *parse_json(R"([{"name": "kueue.x-k8s.io/admission"}])");
  EXPECT_EQ(step(pods, &pod, false, 0s), "") << "what is copied into a held Pod stays";
  pod["status"] = {{"phase", "Pending"}};
  pod["spec"].erase("schedulingGates");
  EXPECT_EQ(step(pods, &pod, false, 0s), "again in 10 writes");
  EXPECT_EQ(pod["status"]["phase"], "Running");
  EXPECT_EQ(step(pods, &pod, true, 10s), " writes the end");
  EXPECT_EQ(pod["status"]["phase"], "Failed");
}

TEST(OperatedKinds, APodOfAControllerIsLeftToIt) {
  Json pod = {{"metadata", {{"name", "p"}}}};
  EXPECT_TRUE(operated_here(managed_pods(), pod));
  pod["metadata"]["ownerReferences"] = *parse_json(R"([{"name": "w"}])");
  EXPECT_TRUE(operated_here(managed_pods(), pod));
  pod["metadata"]["ownerReferences"][0]["controller"] = true;
  EXPECT_FALSE(operated_here(managed_pods(), pod));
}

TEST(OperatedKinds, TheCountsAreThoseOfTheRoles) {
  const OperatedKind& jobset = *operated_kind("jobset.x-k8s.io", "JobSet");
  const Json sets = operated_status(jobset, suspended_job(jobset), Phase::running, midnight);
  EXPECT_EQ(sets["replicatedJobsStatus"].dump(),
            R"([{"active":2,"failed":0,"name":"crew","ready":2,"succeeded":0,"suspended":0}])");
  const OperatedKind& torch = *operated_kind("kubeflow.org", "PyTorchJob");
  const Json roles = operated_status(torch, suspended_job(torch), Phase::succeeded, midnight);
  EXPECT_EQ(roles["replicaStatuses"].dump(),
            R"({"Master":{"succeeded":1},"Worker":{"succeeded":2}})");
  EXPECT_EQ(operated_kind("batch", "Job"), nullptr);
}

}  // namespace
}  // namespace regatta::lab
