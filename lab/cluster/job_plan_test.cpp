#include "lab/cluster/job_plan.h"

#include "lab/cluster/job_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace regatta::lab {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const TimePoint t0 = *parse_rfc3339("2026-01-01T00:00:00Z");

api::Job job_of(std::int32_t completions, std::int32_t parallelism) {
  api::Job job;
  job.metadata.name = "j";
  job.metadata.ns = "n";
  job.spec.completions = completions;
  job.spec.parallelism = parallelism;
  job.spec.backoff_limit = 2;
  return job;
}

PodView pod(std::string name, PodView::Phase phase, TimePoint started = t0) {
  PodView out;
  out.name = std::move(name);
  out.phase = phase;
  out.started = started;
  return out;
}

constexpr auto running = PodView::Phase::running;
constexpr auto succeeded = PodView::Phase::succeeded;
constexpr auto failed = PodView::Phase::failed;

manifest::Behaviour ten_seconds() {
  manifest::Behaviour how;
  how.run = 10s;
  return how;
}

std::vector<std::string> types(const JobActions& actions) {
  std::vector<std::string> out;
  if (!actions.status) return out;
  for (const api::StatusCondition& one : actions.status->conditions) {
    out.push_back(one.type + (one.status == api::ConditionStatus::True ? "" : "=False"));
  }
  return out;
}

void apply(api::Job* job, const JobActions& actions) {
  if (actions.status) job->status = *actions.status;
}

TEST(JobPlan, StartsAsManyPodsAsItMayAndReportsThem) {
  const JobActions actions = plan_job(job_of(5, 3), {}, ten_seconds(), t0);
  EXPECT_THAT(actions.create, SizeIs(3));
  ASSERT_TRUE(actions.status);
  EXPECT_EQ(actions.status->start_time, t0);
  EXPECT_EQ(actions.status->active, 3);
  EXPECT_EQ(actions.status->ready, 3);
  EXPECT_EQ(actions.status->terminating, 0);
  EXPECT_EQ(actions.again, t0 + 10s);
}

TEST(JobPlan, WritesNothingWhileNothingChanges) {
  api::Job job = job_of(1, 1);
  apply(&job, plan_job(job, {}, ten_seconds(), t0));
  const JobActions later = plan_job(job, {pod("a", running)}, ten_seconds(), t0 + 5s);
  EXPECT_FALSE(later.status);
  EXPECT_THAT(later.create, IsEmpty());
  EXPECT_EQ(later.again, t0 + 10s);
}

TEST(JobPlan, FinishesPodsAndThenTheJobInOneWrite) {
  api::Job job = job_of(1, 1);
  apply(&job, plan_job(job, {}, ten_seconds(), t0));
  const JobActions end = plan_job(job, {pod("a", running)}, ten_seconds(), t0 + 10s);
  ASSERT_THAT(end.finish, SizeIs(1));
  EXPECT_TRUE(end.finish[0].succeeded);
  EXPECT_THAT(types(end), ElementsAre("SuccessCriteriaMet", "Complete"));
  EXPECT_EQ(end.status->succeeded, 1);
  EXPECT_EQ(end.status->active, 0);
  EXPECT_EQ(end.status->completion_time, t0 + 10s);
}

TEST(JobPlan, ReplacesFailedPodsUntilTheBackoffLimit) {
  manifest::Behaviour how = ten_seconds();
  how.failures = std::numeric_limits<std::int64_t>::max();
  api::Job job = job_of(1, 1);
  std::vector<PodView> pods = {pod("a", failed), pod("b", failed), pod("c", running)};
  job.status.start_time = t0;
  JobActions actions = plan_job(job, {pods[0], pods[1]}, how, t0 + 20s);
  EXPECT_THAT(actions.create, SizeIs(1));
  apply(&job, actions);
  actions = plan_job(job, pods, how, t0 + 30s);
  EXPECT_FALSE(actions.finish[0].succeeded);
  EXPECT_THAT(types(actions), ElementsAre("FailureTarget", "Failed"));
  EXPECT_EQ(actions.status->conditions[1].reason, "BackoffLimitExceeded");
  EXPECT_EQ(actions.status->failed, 3);
}

TEST(JobPlan, FailsTheFirstFewPodsWhenAsked) {
  manifest::Behaviour how = ten_seconds();
  how.failures = 1;
  api::Job job = job_of(1, 1);
  EXPECT_FALSE(plan_job(job, {pod("a", running)}, how, t0 + 10s).finish[0].succeeded);
  job.status.failed = 1;
  EXPECT_TRUE(
      plan_job(job, {pod("a", failed), pod("b", running)}, how, t0 + 10s).finish[0].succeeded);
}

TEST(JobPlan, SuspensionEndsPodsOverTheirShareOfTheGracePeriod) {
  manifest::Behaviour how = ten_seconds();
  how.termination = 6s;
  api::Job job = job_of(2, 2);
  apply(&job, plan_job(job, {}, how, t0));
  job.spec.suspend = true;
  PodView a = pod("a", running);
  PodView b = pod("b", running);
  JobActions actions = plan_job(job, {a, b}, how, t0 + 2s);
  EXPECT_THAT(actions.end, ElementsAre("a", "b"));
  EXPECT_THAT(actions.ended, IsEmpty());
  EXPECT_EQ(actions.status->terminating, 2);
  EXPECT_EQ(actions.status->active, 0);
  EXPECT_FALSE(actions.status->start_time);
  EXPECT_EQ(actions.status->conditions[0].reason, "JobSuspended");
  apply(&job, actions);
  a.end_request = b.end_request = t0 + 2s;
  EXPECT_FALSE(plan_job(job, {a, b}, how, t0 + 5s).status);
  actions = plan_job(job, {a, b}, how, t0 + 8s);
  EXPECT_THAT(actions.ended, ElementsAre("a", "b"));
  EXPECT_EQ(actions.status->terminating, 0);

  apply(&job, actions);
  job.spec.suspend = false;
  actions = plan_job(job, {}, how, t0 + 20s);
  EXPECT_THAT(types(actions), ElementsAre("Suspended=False"));
  EXPECT_EQ(actions.status->start_time, t0 + 20s);
  EXPECT_THAT(actions.create, SizeIs(2));
}

TEST(JobPlan, TheDeadlineEndsTheJobOnceItsPodsAreGone) {
  manifest::Behaviour how = ten_seconds();
  how.termination = 3s;
  api::Job job = job_of(1, 1);
  job.spec.active_deadline_seconds = 4;
  apply(&job, plan_job(job, {}, how, t0));
  PodView a = pod("a", running);
  EXPECT_EQ(plan_job(job, {a}, how, t0 + 1s).again, t0 + 4s);
  JobActions actions = plan_job(job, {a}, how, t0 + 4s);
  EXPECT_THAT(types(actions), ElementsAre("FailureTarget"));
  EXPECT_EQ(actions.status->conditions[0].reason, "DeadlineExceeded");
  apply(&job, actions);
  a.end_request = t0 + 4s;
  actions = plan_job(job, {a}, how, t0 + 7s);
  EXPECT_THAT(types(actions), ElementsAre("FailureTarget", "Failed"));
}

TEST(JobPlan, IndexedJobsFillTheLowestFreeIndex) {
  api::Job job = job_of(4, 2);
  job.spec.completion_mode = "Indexed";
  PodView zero = pod("a", succeeded);
  zero.index = 0;
  PodView two = pod("b", running);
  two.index = 2;
  const JobActions actions = plan_job(job, {zero, two}, ten_seconds(), t0 + 1s);
  EXPECT_THAT(actions.create, ElementsAre(std::optional<std::int32_t>(1)));
  EXPECT_EQ(actions.status->completed_indexes, "0");
  EXPECT_EQ(format_indexes({0, 1, 2, 5, 7, 8}), "0-2,5,7,8");
}

TEST(JobPlan, TheTtlRemovesAFinishedJob) {
  api::Job job = job_of(1, 1);
  succeed_status(&job.status, true, t0);
  EXPECT_FALSE(plan_job(job, {}, ten_seconds(), t0 + 1h).remove);
  job.spec.ttl_seconds_after_finished = 60;
  EXPECT_EQ(plan_job(job, {}, ten_seconds(), t0 + 1s).again, t0 + 60s);
  EXPECT_TRUE(plan_job(job, {}, ten_seconds(), t0 + 60s).remove);
}

TEST(JobPlanWithoutPods, TwoWritesAreEnoughForOneWave) {
  api::Job job = job_of(3, 3);
  JobActions actions = plan_job_without_pods(job, ten_seconds(), t0);
  EXPECT_EQ(actions.status->active, 3);
  EXPECT_EQ(actions.again, t0 + 10s);
  apply(&job, actions);
  EXPECT_FALSE(plan_job_without_pods(job, ten_seconds(), t0 + 9s).status);
  actions = plan_job_without_pods(job, ten_seconds(), t0 + 10s);
  EXPECT_THAT(types(actions), ElementsAre("SuccessCriteriaMet", "Complete"));
  EXPECT_EQ(actions.status->succeeded, 3);
}

TEST(JobPlanWithoutPods, LateWakeUpsCatchUpAndFailuresCount) {
  api::Job job = job_of(4, 2);
  manifest::Behaviour how = ten_seconds();
  apply(&job, plan_job_without_pods(job, how, t0));
  apply(&job, plan_job_without_pods(job, how, t0 + 10s));
  EXPECT_EQ(job.status.succeeded, 2);
  EXPECT_EQ(job.status.active, 2);
  apply(&job, plan_job_without_pods(job, how, t0 + 25s));
  EXPECT_TRUE(is_finished(job.status));

  api::Job bad = job_of(1, 1);
  how.failures = 100;
  apply(&bad, plan_job_without_pods(bad, how, t0));
  apply(&bad, plan_job_without_pods(bad, how, t0 + 100s));
  EXPECT_TRUE(api::is_true(bad.status.conditions, "Failed"));
  EXPECT_EQ(bad.status.failed, 3);
}

TEST(JobPlanWithoutPods, SuspensionIsReportedOnceItEverRan) {
  manifest::Behaviour how = ten_seconds();
  how.termination = 6s;
  api::Job job = job_of(2, 2);
  job.spec.suspend = true;
  EXPECT_FALSE(plan_job_without_pods(job, how, t0).status);
  job.spec.suspend = false;
  apply(&job, plan_job_without_pods(job, how, t0));
  job.spec.suspend = true;
  JobActions actions = plan_job_without_pods(job, how, t0 + 1s);
  EXPECT_EQ(actions.status->terminating, 2);
  EXPECT_EQ(actions.again, t0 + 7s);
  apply(&job, actions);
  actions = plan_job_without_pods(job, how, t0 + 7s);
  EXPECT_EQ(actions.status->terminating, 0);
}

TEST(JobPlanWithoutPods, EndsThoughTheStartTimeWasTakenAwayWithTheSuspension) {
  api::Job job = job_of(2, 2);
  apply(&job, plan_job_without_pods(job, ten_seconds(), t0));
  job.spec.suspend = true;
  job.status.start_time.reset();
  const JobActions actions = plan_job_without_pods(job, ten_seconds(), t0 + 1s);
  ASSERT_TRUE(actions.status);
  EXPECT_EQ(actions.status->active, 0);
  EXPECT_TRUE(api::is_true(actions.status->conditions, "Suspended"));
}

TEST(JobPlan, DeletedJobsAreLeftAlone) {
  api::Job job = job_of(1, 1);
  job.metadata.deletion_timestamp = t0;
  EXPECT_FALSE(plan_job(job, {}, ten_seconds(), t0).status);
  EXPECT_FALSE(plan_job_without_pods(job, ten_seconds(), t0).status);
}

TEST(JobPlan, PodsThatWaitAreActiveButNotReady) {
  PodView gated = pod("g", PodView::Phase::pending);
  gated.waits = true;
  const JobActions actions =
      plan_job(job_of(2, 2), {gated, pod("r", running)}, ten_seconds(), t0 + 1s);
  EXPECT_THAT(actions.start, IsEmpty());
  ASSERT_TRUE(actions.status);
  EXPECT_EQ(actions.status->active, 2);
  EXPECT_EQ(actions.status->ready, 1);
}

TEST(JobPlan, PodsBehindAGateAreCreatedButNotReady) {
  api::Job job = job_of(2, 2);
  job.spec.pod_template = *api::PodTemplate::from(
      api::RawJson(R"({"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}]}})"));
  const JobActions actions = plan_job(job, {}, ten_seconds(), t0);
  EXPECT_THAT(actions.create, SizeIs(2));
  EXPECT_EQ(actions.status->active, 2);
  EXPECT_EQ(actions.status->ready, 0);
}

TEST(JobPlan, PodsOfALostNodeAreReplacedAndCountForNothing) {
  PodView lost = pod("l", running);
  lost.lost = true;
  const JobActions actions =
      plan_job(job_of(2, 2), {lost, pod("r", running)}, ten_seconds(), t0 + 1s);
  EXPECT_THAT(actions.ended, ElementsAre("l"));
  EXPECT_THAT(actions.create, SizeIs(1));
  EXPECT_EQ(actions.status->failed, 0);
}

}  // namespace
}  // namespace regatta::lab
