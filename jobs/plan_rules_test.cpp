#include "jobs/plan_rules.h"

#include "jobs/batch/kind.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};

Json job_json() {
  return Json::parse(R"({
    "apiVersion": "batch/v1", "kind": "Job",
    "metadata": {"name": "train", "namespace": "team", "uid": "u-1",
                 "labels": {"kueue.x-k8s.io/queue-name": "default", "team": "a"},
                 "annotations": {}},
    "spec": {"suspend": true, "parallelism": 2, "completions": 2,
             "template": {"spec": {"restartPolicy": "Never",
                                   "containers": [{"name": "c", "image": "i"}]}}},
    "status": {}})");
}
constexpr const char* running =
    R"({"spec": {"suspend": false}, "status": {"startTime": "2026-01-01T00:00:00Z", "active": 2,
        "ready": 1}})";
constexpr const char* ready =
    R"({"spec": {"suspend": false}, "status": {"startTime": "2026-01-01T00:00:00Z", "active": 2,
        "ready": 2}})";

JobView view_of(const std::string& merge_patch = "{}") {
  Json json = job_json();
  json.merge_patch(Json::parse(merge_patch));
  JobView view;
  view.job = generic(api::from_json<api::Job>(json).value());
  view.managed = true;
  view.queue_name = "default";
  view.now = now;
  view.policy.wait_for_pods_ready = true;
  return view;
}

void put(api::Workload* w, std::string_view type, bool value, const char* reason,
         TimePoint at = now - 1min) {
  api::set_condition(&w->status.conditions,
                     {std::string(type),
                      value ? api::ConditionStatus::True : api::ConditionStatus::False,
                      1,
                      {},
                      reason,
                      "m"},
                     at);
}

api::Workload pending() {
  return build_workload(view_of()).value();
}
api::Workload reserved() {
  api::Workload w = pending();
  put(&w, api::conditions::quota_reserved, true, "QuotaReserved");
  w.status.admission.emplace();
  return w;
}
api::Workload admitted(TimePoint at = now - 1min) {
  api::Workload w = reserved();
  put(&w, api::conditions::admitted, true, "Admitted", at);
  return w;
}

std::string plan(JobView view, api::Workload workload) {
  view.owned = {std::make_shared<const api::Workload>(std::move(workload))};
  return describe(plan_job(view));
}

TEST(FollowPods, ReadyPodsAreToldOnce) {
  EXPECT_EQ(plan(view_of(running), admitted()), "") << "not all are ready";
  EXPECT_EQ(plan(view_of(ready), admitted()), "pods ready: started");
  api::Workload w = admitted();
  api::set_pods_ready(&w.status, w.metadata.generation, api::PodsReadiness::started, now);
  EXPECT_EQ(plan(view_of(ready), w), "");
  EXPECT_EQ(plan(view_of(running), w), "pods ready: waiting for recovery");
  api::set_pods_ready(&w.status, w.metadata.generation, api::PodsReadiness::wait_for_recovery, now);
  EXPECT_EQ(plan(view_of(running), w), "");
  EXPECT_EQ(plan(view_of(ready), w), "pods ready: recovered");
}

TEST(FollowPods, AShortJobEndsWithoutThatWrite) {
  EXPECT_EQ(plan(view_of(ready), admitted(now)), "look again after 2000 ms");
  JobView hurry = view_of(ready);
  hurry.policy.pods_ready_after = Duration(0);
  EXPECT_EQ(plan(hurry, admitted(now)), "pods ready: started");
}

TEST(FollowPods, ThatNoneIsReadyComesWithTheQuota) {
  EXPECT_EQ(plan(view_of(), pending()), "");
  JobView view = view_of();
  view.policy.unready_with_quota = false;
  EXPECT_EQ(plan(view, pending()), "pods ready: waiting for start");
  api::Workload w = pending();
  api::set_pods_ready(&w.status, w.metadata.generation, api::PodsReadiness::wait_for_start, now);
  EXPECT_EQ(plan(view, w), "") << "it is said already";
  view = view_of(running);
  view.policy.unready_with_quota = false;
  EXPECT_EQ(plan(view, admitted()), "pods ready: waiting for start");
  view.policy.wait_for_pods_ready = false;
  EXPECT_EQ(plan(view, admitted()), "");
}

TEST(NoWorkload, WhyThereIsNoneIsToldByAnEvent) {
  JobView view = view_of();
  view.invalid = Error(Errc::invalid, "no such class");
  EXPECT_EQ(describe(plan_job(view)), "complain ErrWorkloadCompose (no such class)");
  view.policy.tell_obstacles = false;
  EXPECT_EQ(describe(plan_job(view)), "");
  EXPECT_EQ(waits_for(view, {}), "no such class") << "the log has it in any case";
  view.missing_workload_class = true;
  EXPECT_EQ(describe(plan_job(view)), "complain WorkloadPriorityClassNotFound (no such class)");
}

TEST(EndedJob, GivesBackTheQuotaOfTheSizeThatItHadBefore) {
  const char* const ended = R"({"spec": {"parallelism": 1}, "status": {"succeeded": 2,
      "conditions": [{"type": "Complete", "status": "True"}]}})";
  const std::string name = pending().metadata.name;
  api::Workload former = admitted();
  former.metadata.finalizers = {std::string(api::finalizers::resource_in_use)};
  EXPECT_EQ(plan(view_of(ended), former), "delete workload " + name);
  former.metadata.deletion_timestamp = now;
  EXPECT_EQ(plan(view_of(ended), former), "release workload " + name);
  former.metadata.finalizers.clear();
  EXPECT_EQ(plan(view_of(ended), former), "");
}

TEST(DeletedJob, GivesItsQuotaBackWhenNothingRuns) {
  const auto of = [](const char* status, bool finish = true) {
    JobView view = view_of(status);
    Json json = job_json();
    json.merge_patch(Json::parse(status));
    json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    view.job = generic(api::from_json<api::Job>(json).value());
    view.policy.finish_orphans = finish;
    return view;
  };
  const std::string name = pending().metadata.name;
  const std::string finish =
      "finish workload OwnerNotFound (The workload's owner no longer exists)";
  EXPECT_EQ(plan(of("{}"), pending()), finish);
  EXPECT_EQ(plan(of(R"({"spec": {"suspend": false}})"), admitted()), finish);
  EXPECT_EQ(plan(of(running), admitted()), "release workload " + name) << "its pods still run";
  EXPECT_EQ(plan(of("{}", false), pending()), "release workload " + name);
  api::Workload w = pending();
  put(&w, api::conditions::finished, true, "OwnerNotFound");
  EXPECT_EQ(plan(of("{}"), w), "release workload " + name);
  JobView hub = of("{}");
  hub.dispatched = true;
  EXPECT_EQ(plan(hub, admitted()), "release workload " + name);
  api::Workload evicted = admitted();
  evicted.metadata.finalizers.clear();
  EXPECT_EQ(plan(hub, evicted), "");
  put(&evicted, api::conditions::evicted, true, "Preempted");
  EXPECT_EQ(plan(hub, evicted), "drop reservation");
  hub.may_run_on_worker = true;
  EXPECT_EQ(plan(hub, evicted), "") << "it still runs there";
  EXPECT_EQ(plan(of(running, false), evicted), "stop job, more to come (m)");
}

TEST(DeletedJob, OfAHubTellsHowItEndedBeforeItGoes) {
  api::Workload w = admitted();
  w.metadata.owner_references = {{"batch/v1", "Job", "train", "u-1", true, true}};
  const auto of = [&w](const char* status) {
    JobView view = view_of(status);
    Json json = job_json();
    json.merge_patch(Json::parse(status));
    json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    view.job = generic(api::from_json<api::Job>(json).value());
    view.prebuilt = true;
    view.prebuilt_workload = std::make_shared<const api::Workload>(w);
    return view;
  };
  const char* ended = R"({"status": {"conditions": [
      {"type": "Complete", "status": "True", "message": "all done"}]}})";
  const std::string release = "release workload " + w.metadata.name;
  EXPECT_EQ(plan(of(ended), w), "finish workload Succeeded (all done)");
  EXPECT_EQ(plan(of("{}"), w), release) << "it has not ended";
  put(&w, api::conditions::finished, true, "Succeeded");
  EXPECT_EQ(plan(of(ended), w), release) << "once";
}

TEST(DeletedWorkload, IsReleasedWhenItsJobNoLongerRuns) {
  api::Workload w = pending();
  w.metadata.deletion_timestamp = now;
  EXPECT_EQ(plan(view_of(running), w), "stop job, more to come (Workload is deleted)");
  EXPECT_EQ(plan(view_of(R"({"status": {"active": 1}})"), w), "") << "its pods still end";
  EXPECT_EQ(plan(view_of(), w), "release workload " + w.metadata.name);
  const char* ended = R"({"status": {"active": 1, "conditions": [
      {"type": "Complete", "status": "True"}]}})";
  EXPECT_EQ(plan(view_of(ended), w), "release workload " + w.metadata.name) << "nor will run";
}

TEST(FollowPods, IsOffWithoutTheConfiguration) {
  JobView view = view_of(ready);
  view.policy.wait_for_pods_ready = false;
  EXPECT_EQ(plan(view, admitted()), "");
}

TEST(FollowPods, AnEvictionSaysNothingOfPodsUntilItIsOver) {
  api::Workload w = admitted();
  api::set_pods_ready(&w.status, w.metadata.generation, api::PodsReadiness::started, now);
  put(&w, api::conditions::evicted, true, "Preempted");
  JobView view = view_of(R"({"status": {"active": 1, "ready": 0}})");
  EXPECT_EQ(plan(view, w), "");
  w.status = drop_reservation(w, now);
  const auto* said = api::find_condition(w.status.conditions, api::conditions::pods_ready);
  EXPECT_EQ(said->reason, "WaitForStart");
  EXPECT_EQ(said->status, api::ConditionStatus::False);
}

TEST(FollowGate, TheJobsGateIsTheWorkloads) {
  const char* gated =
      R"({"metadata": {"annotations": {"kueue.x-k8s.io/admission-gated-by": "a.dev/b"}}})";
  EXPECT_EQ(
      build_workload(view_of(gated))->metadata.annotation("kueue.x-k8s.io/admission-gated-by"),
      "a.dev/b");
  EXPECT_EQ(plan(view_of(gated), pending()), "gate workload by \"a.dev/b\"");
  api::Workload w = build_workload(view_of(gated)).value();
  EXPECT_EQ(plan(view_of(gated), w), "");
  EXPECT_EQ(plan(view_of(), w), "gate workload by \"\"");
  EXPECT_EQ(plan(view_of(gated), reserved()), "") << "too late for a gate";
  JobView off = view_of(gated);
  off.policy.admission_gates = false;
  EXPECT_EQ(plan(off, pending()), "");
}

TEST(RetainDeactivated, OnlyWhatKueueDeactivatedGoesAndOnlyAfterItsPods) {
  JobView view = view_of();
  view.policy.retain_deactivated = 30min;
  api::Workload w = pending();
  w.spec.active = false;
  put(&w, api::conditions::evicted, true, "DeactivatedDueToRequeuingLimitExceeded", now - 10min);
  EXPECT_EQ(plan(view, w), "look again after 1200000 ms");
  view.now = now + 20min;
  EXPECT_EQ(plan(view, w), "delete job");
  JobView forever = view;
  forever.policy.retain_deactivated.reset();
  EXPECT_EQ(plan(forever, w), "");
  JobView stopping = view_of(R"({"status": {"terminating": 1}})");
  stopping.policy.retain_deactivated = 30min;
  stopping.now = now + 1h;
  EXPECT_EQ(plan(stopping, w), "");
  api::Workload by_user = w;
  put(&by_user, api::conditions::evicted, true, "Deactivated", now - 10min);
  EXPECT_EQ(plan(view, by_user), "");
  w.spec.active = true;
  EXPECT_EQ(plan(view, w), "") << "reactivated in time";
}

TEST(TellChecks, WhatIsWaitedForIsToldAtTheJob) {
  api::Workload w = reserved();
  w.status.admission_checks = {{"a", api::CheckState::Pending, {}, "provisioning"},
                               {"b", api::CheckState::Ready, {}, "done"},
                               {"c", api::CheckState::Pending, {}, "asked"}};
  EXPECT_EQ(plan(view_of(), w), "tell UpdatedAdmissionCheck (a: provisioning; c: asked)");
  EXPECT_EQ(plan(view_of(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}})"), w), "");
}

TEST(DefaultQueue, AJobWithoutAQueueIsTakenAndSuspendedInOneWrite) {
  JobView view = view_of(R"({"spec": {"suspend": false}})");
  view.managed = false;
  view.default_queue = "default";
  const auto actions = plan_job(view);
  ASSERT_EQ(describe(actions), "put job into the default queue");
  EXPECT_EQ(std::get<QueueJob>(actions[0]).patch, Json::parse(R"({
      "metadata": {"uid": "u-1", "labels": {"kueue.x-k8s.io/queue-name": "default"}},
      "spec": {"suspend": true}})"));
  // A job that runs is stopped like any other, in a later write.
  view.job = view_of(running).job;
  EXPECT_FALSE(std::get<QueueJob>(plan_job(view)[0]).patch.contains("spec"));
}

TEST(MaximumExecutionTime, ANewLimitOfASuspendedJobReachesItsWorkload) {
  const char* limited =
      R"({"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "60"}}})";
  EXPECT_EQ(build_workload(view_of(limited))->spec.maximum_execution_time_seconds, 60);
  JobView view = view_of(limited);
  EXPECT_EQ(plan(view, pending()), "update workload " + pending().metadata.name);
  Json json = Json::parse(limited);
  json.merge_patch(Json::parse(running));
  EXPECT_EQ(plan(view_of(json.dump()), admitted()), "") << "a running job keeps its limit";
}

TEST(MaximumExecutionTime, ALimitThatIsNoNumberIsRefusedAndChangesNoWorkload) {
  for (const char* text : {"soon", "0", "-5", "1h", "99999999999"}) {
    const std::string wrong =
        R"({"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": ")" +
        std::string(text) + "\"}}}";
    EXPECT_EQ(describe(plan_job(view_of(wrong))),
              "complain ErrWorkloadCompose "
              "(metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: must be a number above 0, "
              "got \"" +
                  std::string(text) + "\")");
    EXPECT_EQ(plan(view_of(wrong), pending()), "");
  }
}

TEST(FollowReclaimable, ItsGateKeepsTheQuotaOfPodsThatEnded) {
  JobView view = view_of(R"({"spec": {"suspend": false}, "status": {"active": 1, "ready": 1,
      "startTime": "2026-01-01T00:00:00Z", "succeeded": 1}})");
  view.policy.wait_for_pods_ready = false;
  EXPECT_EQ(plan(view, admitted()), "reclaimable 1");
  view.policy.reclaimable_pods = false;
  EXPECT_EQ(plan(view, admitted()), "");
}

TEST(FollowReclaimable, WhatTheJobNeedsAfterAllIsTakenBack) {
  JobView view = view_of(R"({"spec": {"suspend": false}, "status": {"active": 2, "ready": 2,
      "startTime": "2026-01-01T00:00:00Z"}})");
  view.policy.wait_for_pods_ready = false;
  api::Workload workload = admitted();
  workload.status.reclaimable_pods = {{"main", 1}};
  EXPECT_EQ(plan(view, workload), "reclaimable 0");
  workload.status.reclaimable_pods.clear();
  EXPECT_EQ(plan(view, workload), "");
}

TEST(FollowReclaimable, AJobWithMoreParallelismThanCompletionsNeedsAPodForEachCompletion) {
  const char* spec = R"({"spec": {"suspend": false, "parallelism": 5, "completions": 3},
      "status": {"active": 3, "startTime": "2026-01-01T00:00:00Z"}})";
  JobView view = view_of(spec);
  view.policy.wait_for_pods_ready = false;
  api::Workload workload = admitted();
  workload.spec = build_workload(view)->spec;
  EXPECT_EQ(plan(view, workload), "");
  JobView later = view_of(R"({"spec": {"suspend": false, "parallelism": 5, "completions": 3},
      "status": {"active": 2, "succeeded": 1, "startTime": "2026-01-01T00:00:00Z"}})");
  later.policy.wait_for_pods_ready = false;
  EXPECT_EQ(plan(later, workload), "reclaimable 1");
}

TEST(FollowReclaimable, WhileAnElasticJobChangesItsSizeItsWorkloadKeepsWhatTheJobNeeds) {
  JobView view = view_of(R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
      "spec": {"suspend": false, "parallelism": 4, "completions": 4}, "status": {"active": 1,
      "ready": 1, "startTime": "2026-01-01T00:00:00Z", "succeeded": 3}})");
  view.policy.wait_for_pods_ready = false;
  const auto reclaimable = [](const JobView& job, int pods, int before = 0) {
    const auto workload = std::make_shared<api::Workload>(admitted());
    workload->spec.pod_sets.front().count = pods;
    workload->status.admission->pod_set_assignments.emplace_back().count = 5;
    if (before > 0) workload->status.reclaimable_pods = {{"main", before}};
    const auto action = follow_reclaimable(job, workload);
    return action ? describe({*action}) : "";
  };
  EXPECT_EQ(reclaimable(view, 4), "reclaimable 3");
  EXPECT_EQ(reclaimable(view, 2), "reclaimable 1") << "one pod goes on";
  EXPECT_EQ(reclaimable(view, 1), "");
  JobView shrunk = view_of(R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
      "spec": {"suspend": false, "parallelism": 2, "completions": 9}, "status": {"active": 2,
      "ready": 2, "startTime": "2026-01-01T00:00:00Z", "succeeded": 7}})");
  EXPECT_EQ(reclaimable(shrunk, 5, 3), "") << "its Workload shrinks as well";
  EXPECT_EQ(reclaimable(shrunk, 2, 3), "reclaimable 0");
  EXPECT_EQ(reclaimable(shrunk, 5), "") << "or a user made the job smaller than it is to be";
}

TEST(FollowReclaimable, WhatWasGivenBackIsNotTakenForALargerSize) {
  JobView view = view_of(R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
      "spec": {"suspend": false, "parallelism": 6, "completions": 6}, "status": {"active": 4,
      "ready": 2, "startTime": "2026-01-01T00:00:00Z", "succeeded": 2}})");
  view.policy.wait_for_pods_ready = false;
  const auto slice = std::make_shared<api::Workload>(admitted());
  slice->spec.pod_sets.front().count = 4;
  slice->status.admission->pod_set_assignments.emplace_back().count = 4;
  slice->status.reclaimable_pods = {{"main", 2}};
  EXPECT_FALSE(follow_reclaimable(view, slice)) << "the larger slice is charged for them";
  slice->spec.pod_sets.front().count = 3;
  EXPECT_FALSE(follow_reclaimable(view, slice)) << "also when it has shrunk before";
}

TEST(FollowReclaimable, ThatPodsAreTakenBackKeepsNothingElseFromHappening) {
  JobView view = view_of(running);
  view.policy.wait_for_pods_ready = false;
  api::Workload workload = admitted();
  workload.status.reclaimable_pods = {{"main", 1}};
  EXPECT_EQ(plan(view, workload), "reclaimable 0");
  api::set_condition(&workload.status.conditions,
                     {"Evicted", api::ConditionStatus::True, 0, {}, "Preempted", "for another"},
                     TimePoint{});
  EXPECT_EQ(plan(view, workload).substr(0, 8), "stop job") << plan(view, workload);
}

TEST(BuildWorkload, LabelsAreCopiedWhereAskedFor) {
  JobView view = view_of();
  EXPECT_EQ(build_workload(view)->metadata.label("team"), "");
  view.policy.labels_to_copy = {"team", "absent"};
  EXPECT_EQ(build_workload(view)->metadata.label("team"), "a");
  EXPECT_FALSE(build_workload(view)->metadata.labels.contains("absent"));
}

}  // namespace
}  // namespace regatta::jobs
