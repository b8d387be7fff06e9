#include "jobs/batch/batch_job.h"
#include "jobs/batch/kind.h"
#include "jobs/naming.h"
#include "jobs/plan.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/base/merge_patch.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using namespace std::chrono_literals;

Json job_json() {
  return Json::parse(R"({
    "apiVersion": "batch/v1", "kind": "Job",
    "metadata": {"name": "train", "namespace": "team", "uid": "u-1", "resourceVersion": "7",
                 "labels": {"kueue.x-k8s.io/queue-name": "default"}},
    "spec": {"suspend": true, "parallelism": 3, "completions": 5, "futureField": {"kept": 1},
             "template": {
               "metadata": {"labels": {"app": "train", "job-name": "train",
                                       "batch.kubernetes.io/job-name": "train"}},
               "spec": {"restartPolicy": "Never", "nodeSelector": {"disk": "ssd"},
                        "containers": [{"name": "c", "image": "i",
                                        "resources": {"requests": {"cpu": "2"}}}]}}},
    "status": {}})");
}

std::shared_ptr<const api::Job> job_from(const Json& json) {
  return std::make_shared<const api::Job>(api::from_json<api::Job>(json).value());
}

std::shared_ptr<const api::Job> job_with(const char* merge_patch) {
  Json json = job_json();
  json.merge_patch(Json::parse(merge_patch));
  return job_from(json);
}

JobView view_of(std::shared_ptr<const api::Job> job) {
  JobView view;
  view.job = generic(*job);
  view.managed = true;
  view.queue_name = "default";
  return view;
}

PodSetInfo pod_set_info() {
  PodSetInfo info;
  info.name = "main";
  info.count = 3;
  info.labels["kueue.x-k8s.io/podset"] = "main";
  info.node_selector["gpu"] = "a100";
  return info;
}

enum class At { pending, reserved, admitted, evicted, finished };

/// The Workload of `job_json()` at a stage of its life.
api::Workload workload_at(At at) {
  api::Workload workload = build_workload(view_of(job_from(job_json()))).value();
  api::Conditions& conditions = workload.status.conditions;
  const auto add = [&](std::string_view type, const char* reason, const char* message) {
    api::set_condition(&conditions,
                       {std::string(type), api::ConditionStatus::True, 1, {}, reason, message}, {});
  };
  if (at != At::pending) {
    add(api::conditions::quota_reserved, "QuotaReserved", "Quota reserved");
    workload.status.admission.emplace();
    workload.status.admission->cluster_queue = "cq";
  }
  if (at == At::admitted || at == At::evicted || at == At::finished) {
    add(api::conditions::admitted, "Admitted", "The workload is admitted");
  }
  if (at == At::evicted) add(api::conditions::evicted, "Preempted", "made room");
  if (at == At::finished) add(api::conditions::finished, "Succeeded", "done");
  return workload;
}

JobView with_workload(std::shared_ptr<const api::Job> job, api::Workload workload) {
  JobView view = view_of(std::move(job));
  if (workload.status.admission) view.infos = {pod_set_info()};
  view.owned.push_back(std::make_shared<const api::Workload>(std::move(workload)));
  return view;
}

/// A job that names a Workload which a hub has sent, and which has no owner yet.
JobView beside_a_copy(const char* job, const std::string& hub_uid = {}) {
  JobView view = view_of(job_with(job));
  view.prebuilt = true;
  api::Workload copy = workload_at(At::admitted);
  copy.metadata.owner_references.clear();
  copy.metadata.labels["kueue.x-k8s.io/multikueue-origin"] = "hub";
  if (!hub_uid.empty()) copy.metadata.annotations["multikueue.regatta.dev/hub-uid"] = hub_uid;
  view.prebuilt_workload = std::make_shared<const api::Workload>(copy);
  view.infos = {pod_set_info()};
  return view;
}

const char* running = R"({"spec": {"suspend": false, "template": {
    "metadata": {"labels": {"kueue.x-k8s.io/podset": "main"}},
    "spec": {"nodeSelector": {"gpu": "a100"}}}},
    "status": {"active": 3, "startTime": "2026-01-01T00:00:00Z"}})";

TEST(WorkloadName, IsTheOneUpstreamGives) {
  // sha1("Job\nbatch\nsample-job\nabc") starts with the five digits below.
  EXPECT_EQ(workload_name("Job", "batch", "sample-job", "abc").substr(0, 15), "job-sample-job-");
  EXPECT_EQ(workload_name("Job", "batch", "sample-job", "abc").size(), 20u);
  EXPECT_NE(workload_name("Job", "batch", "a", "1"), workload_name("Job", "batch", "a", "2"));
  EXPECT_EQ(workload_name("Job", "batch", std::string(300, 'x'), "1").size(), 253u);
  const std::string brief = workload_name("Job", "batch", std::string(300, 'x'), "1", {}, true);
  EXPECT_EQ(brief.size(), 63u);
  EXPECT_EQ(brief.substr(57),
            workload_name("Job", "batch", std::string(300, 'x'), "1").substr(247));
}

struct PlanCase {
  const char* name;
  JobView given;
  std::string want;
  friend void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }
};

class JobPlans : public ::testing::TestWithParam<PlanCase> {};

TEST_P(JobPlans, OneStep) {
  EXPECT_EQ(describe(plan_job(GetParam().given)), GetParam().want);
}

const std::string name = workload_name("Job", "batch", "train", "u-1");

INSTANTIATE_TEST_SUITE_P(
    , JobPlans,
    ::testing::Values(
        PlanCase{"a_new_job_gets_a_workload", view_of(job_from(job_json())),
                 "create workload " + name},
        PlanCase{"an_unmanaged_job_is_left_alone",
                 [] {
                   JobView v = view_of(job_from(job_json()));
                   v.managed = false;
                   return v;
                 }(),
                 ""},
        PlanCase{"a_job_that_runs_without_a_workload_is_suspended_first",
                 view_of(job_with(R"({"spec": {"suspend": false}})")),
                 "stop job (Missing Workload; unable to restore pod templates)"},
        PlanCase{"its_workload_waits_until_nothing_runs",
                 view_of(job_with(R"({"status": {"active": 1}})")), ""},
        PlanCase{"a_dispatched_job_whose_workload_a_restored_hub_lacks_gets_one",
                 view_of(job_with(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"},
                                      "status": {"active": 1}})")),
                 "create workload " + name},
        PlanCase{"an_unknown_priority_class_is_complained_about",
                 [] {
                   JobView v = view_of(job_from(job_json()));
                   v.invalid = Error(Errc::invalid, "no such class");
                   return v;
                 }(),
                 "complain ErrWorkloadCompose (no such class)"},
        PlanCase{"a_waiting_workload_is_left_alone",
                 with_workload(job_from(job_json()), workload_at(At::pending)), ""},
        PlanCase{"a_reservation_alone_starts_nothing",
                 with_workload(job_from(job_json()), workload_at(At::reserved)), ""},
        PlanCase{"an_admitted_job_is_started",
                 with_workload(job_from(job_json()), workload_at(At::admitted)),
                 "start job (Admitted by clusterQueue cq)"},
        PlanCase{
            "an_admission_that_contradicts_the_job_fails_it",
            with_workload(
                job_with(R"({"spec": {"template": {"spec": {"nodeSelector": {"gpu": "x"}}}}})"),
                workload_at(At::admitted)),
            "finish workload FailedToStart (invalid admission check PodSetUpdate: conflict for "
            "nodeSelector: conflict for key=gpu, value1=x, value2=a100)"},
        PlanCase{"a_running_job_is_left_alone",
                 with_workload(job_with(running), workload_at(At::admitted)), ""},
        PlanCase{"a_job_that_lost_its_admission_is_stopped",
                 with_workload(job_with(running), workload_at(At::reserved)),
                 "stop job, more to come (Not admitted by cluster queue)"},
        PlanCase{"an_evicted_job_is_stopped",
                 with_workload(job_with(running), workload_at(At::evicted)),
                 "stop job, more to come (made room)"},
        PlanCase{"a_stopped_job_forgets_its_start_time",
                 with_workload(job_with(R"({"metadata": {"annotations": {
                                  "kueue.x-k8s.io/stopping": "true"}},
                                "status": {"startTime": "2026-01-01T00:00:00Z", "active": 3}})"),
                               workload_at(At::evicted)),
                 "stop job, more to come (made room)"},
        PlanCase{"a_stop_that_was_begun_goes_on_when_its_reason_is_gone",
                 with_workload(job_with(R"({"metadata": {"annotations": {
                                  "kueue.x-k8s.io/stopping": "true"}},
                                "status": {"startTime": "2026-01-01T00:00:00Z"}})"),
                               workload_at(At::admitted)),
                 "stop job, more to come (The stop was begun)"},
        PlanCase{"then_it_is_as_it_was",
                 with_workload(job_with(R"({"metadata": {"annotations": {
                                  "kueue.x-k8s.io/stopping": "true"}}})"),
                               workload_at(At::evicted)),
                 "stop job (made room)"},
        PlanCase{"quota_is_kept_while_pods_run",
                 with_workload(job_with(R"({"status": {"active": 1}})"), workload_at(At::evicted)),
                 ""},
        PlanCase{
            "quota_is_kept_while_pods_terminate",
            with_workload(job_with(R"({"status": {"terminating": 1}})"), workload_at(At::evicted)),
            ""},
        PlanCase{"quota_is_given_back_when_nothing_runs",
                 with_workload(job_from(job_json()), workload_at(At::evicted)), "drop reservation"},
        PlanCase{"quota_is_kept_while_a_worker_may_run_it_unseen",
                 [] {
                   JobView v = with_workload(job_from(job_json()), workload_at(At::evicted));
                   v.may_run_on_worker = true;
                   return v;
                 }(),
                 ""},
        PlanCase{"the_end_of_the_job_is_the_end_of_the_workload",
                 with_workload(job_with(R"({"spec": {"suspend": false}, "status": {"conditions": [
                              {"type": "Complete", "status": "True", "message": "all done"}]}})"),
                               workload_at(At::admitted)),
                 "finish workload Succeeded (all done)"},
        PlanCase{"a_failed_job_too",
                 with_workload(job_with(R"({"status": {"conditions": [
                                  {"type": "Failed", "status": "True", "message": "backoff"}]}})"),
                               workload_at(At::admitted)),
                 "finish workload Failed (backoff)"},
        PlanCase{"a_finished_workload_is_let_go",
                 with_workload(job_with(R"({"status": {"conditions": [
                                  {"type": "Complete", "status": "True"}]}})"),
                               workload_at(At::finished)),
                 "release workload " + name},
        PlanCase{
            "a_changed_count_updates_the_waiting_workload",
            with_workload(job_with(R"({"spec": {"parallelism": 4}})"), workload_at(At::pending)),
            "update workload " + name},
        PlanCase{"a_changed_container_updates_the_waiting_workload",
                 with_workload(job_with(R"({"spec": {"template": {"spec": {"containers": [
                                  {"name": "c", "image": "other"}]}}}})"),
                               workload_at(At::pending)),
                 "update workload " + name},
        PlanCase{"a_changed_queue_moves_the_waiting_workload",
                 [] {
                   JobView v = with_workload(job_from(job_json()), workload_at(At::pending));
                   v.queue_name = "other";
                   return v;
                 }(),
                 "update workload " + name},
        PlanCase{"pods_that_are_not_needed_again_are_reclaimed",
                 with_workload(job_with(R"({"spec": {"suspend": false},
                                            "status": {"active": 2, "succeeded": 3}})"),
                               workload_at(At::admitted)),
                 "reclaimable 1"},
        PlanCase{
            "what_is_done_is_not_asked_for_again_after_an_eviction",
            with_workload(job_with(R"({"status": {"succeeded": 3}})"), workload_at(At::pending)),
            "reclaimable 1"},
        PlanCase{"a_prebuilt_workload_that_is_not_there_yet_is_waited_for",
                 [] {
                   JobView v = view_of(job_from(job_json()));
                   v.prebuilt = true;
                   return v;
                 }(),
                 ""},
        PlanCase{"a_prebuilt_workload_without_owner_is_adopted",
                 [] {
                   JobView v = view_of(job_from(job_json()));
                   v.prebuilt = true;
                   api::Workload w = workload_at(At::admitted);
                   w.metadata.owner_references.clear();
                   v.prebuilt_workload = std::make_shared<const api::Workload>(w);
                   v.infos = {pod_set_info()};
                   return v;
                 }(),
                 "adopt workload " + name},
        PlanCase{"what_a_hub_has_sent_is_not_adopted_by_a_job_of_this_cluster",
                 beside_a_copy(R"({"spec": {"suspend": false}})"),
                 "stop job (The prebuilt workload belongs to another job)"},
        PlanCase{"but_by_the_job_that_the_hub_has_sent",
                 beside_a_copy(R"({"metadata": {
                     "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"},
                     "annotations": {"multikueue.regatta.dev/hub-uid": "h"}}})",
                               "h"),
                 "adopt workload " + name},
        PlanCase{"or_by_the_job_that_a_manager_of_the_hub_has_sent_which_puts_no_mark_on_it",
                 beside_a_copy(R"({"metadata": {
                     "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"}}})",
                               "h"),
                 "adopt workload " + name},
        PlanCase{"nor_by_one_of_another_hub_of_the_same_origin",
                 beside_a_copy(R"({"spec": {"suspend": false}, "metadata": {
                     "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"},
                     "annotations": {"multikueue.regatta.dev/hub-uid": "other"}}})",
                               "h"),
                 "stop job (The prebuilt workload belongs to another job)"},
        PlanCase{"a_prebuilt_workload_that_does_not_fit_is_out_of_sync",
                 [] {
                   JobView v = view_of(job_with(
                       R"({"spec": {"template": {"spec": {"containers": [{"name": "z"}]}}}})"));
                   v.prebuilt = true;
                   api::Workload w = workload_at(At::admitted);
                   v.prebuilt_workload = std::make_shared<const api::Workload>(w);
                   return v;
                 }(),
                 "finish workload OutOfSync (The prebuilt workload is out of sync with its user "
                 "job)"}),
    [](const auto& param) { return std::string(param.param.name); });

/// How many pods an indexed Job of 1000 at a time gives back.
std::int32_t reclaimed(std::int64_t completions, const std::string& completed,
                       const std::string& failed = "") {
  Json change = Json::parse(R"({"spec": {"completionMode": "Indexed", "parallelism": 1000}})");
  change["spec"]["completions"] = completions;
  change["status"] = {{"completedIndexes", completed}, {"failedIndexes", failed}};
  Json json = job_json();
  json.merge_patch(change);
  const auto pods = batch_job::reclaimable_pods(*job_from(json));
  return pods.empty() ? 0 : pods.front().count;
}

TEST(BatchJob, IndexesAreCountedWhateverTheStatusSays) {
  EXPECT_EQ(reclaimed(1000, "0,2-4"), 4);
  EXPECT_EQ(reclaimed(1000, "0-9", "10-11"), 12);
  EXPECT_EQ(reclaimed(1000, "5-9,0-3"), 5) << "indexes go up";
  EXPECT_EQ(reclaimed(1000, "0-9,0-9,5"), 10) << "said again";
  EXPECT_EQ(reclaimed(1000, "-2147483648-3"), 4) << "below zero there is none";
  EXPECT_EQ(reclaimed(2000, "990-2147483647"), 10);
  EXPECT_EQ(reclaimed(2147483647, "0-2147483647,0-2147483647", "0-2147483647"), 1000);
  EXPECT_EQ(reclaimed(1000, "x"), 0);
}

TEST(BatchJob, AWorkloadsTemplateLeavesOutTheControllersLabels) {
  const api::Workload workload = workload_at(At::pending);
  const auto& labels = workload.spec.pod_sets[0].pod_template.view().labels;
  EXPECT_EQ(labels, (api::StringMap{{"app", "train"}, {"batch.kubernetes.io/job-name", "train"}}));
  EXPECT_EQ(workload.spec.pod_sets[0].count, 3);
}

TEST(BatchJob, StartingAndStoppingRestoresTheTemplate) {
  const auto job = job_from(job_json());
  const api::Workload workload = workload_at(At::admitted);
  Json json = job_json();
  PodSetInfo info = pod_set_info();
  info.scheduling_gates = {"kueue.x-k8s.io/topology"};
  json.merge_patch(batch_job::start_patch(*job, info).value());
  json["status"] = {{"startTime", "2026-01-01T00:00:00Z"}, {"active", 3}};
  EXPECT_EQ(json["spec"]["template"]["spec"]["schedulingGates"],
            Json::parse(R"([{"name": "kueue.x-k8s.io/topology"}])"));
  EXPECT_EQ(json["spec"]["template"]["spec"]["nodeSelector"],
            Json::parse(R"({"disk": "ssd", "gpu": "a100"})"));
  int steps = 0;
  const auto stop = [&] {
    while (auto step = batch_job::next_stop_step(*job_from(json), &workload)) {
      json.merge_patch(step->patch);
      ASSERT_LT(++steps, 5);
    }
  };
  stop();
  EXPECT_EQ(steps, 2) << "the API keeps the template as it is while pods are active";
  EXPECT_FALSE(batch_job::suspended(*job_from(json)));
  json["status"]["active"] = 0;
  stop();
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(json["spec"], job_json()["spec"]);
  EXPECT_TRUE(json["metadata"]["annotations"].empty());
}

/// The Job after it started with as many pods as it has at least.
Json started_at_least() {
  Json json = job_json();
  json["metadata"]["annotations"] = {{"kueue.x-k8s.io/job-min-parallelism", "2"},
                                     {"kueue.x-k8s.io/job-completions-equal-parallelism", "true"}};
  json["spec"]["completionMode"] = "Indexed";
  json["spec"]["completions"] = 3;
  PodSetInfo info = pod_set_info();
  info.count = 2;
  json.merge_patch(batch_job::start_patch(*job_from(json), info).value());
  return json;
}

TEST(BatchJob, AJobThatStartedWithItsLeastPodsKeepsItsWorkload) {
  Json waiting = job_json();
  waiting["metadata"]["annotations"] = {{"kueue.x-k8s.io/job-min-parallelism", "2"}};
  const api::Workload workload = build_workload(view_of(job_from(waiting))).value();
  ASSERT_EQ(workload.spec.pod_sets[0].min_count, 2);
  PodSetInfo info = pod_set_info();
  info.count = 2;
  const std::vector<PodSetInfo> infos{info};
  EXPECT_TRUE(batch_job::equivalent(*job_from(started_at_least()), workload, &infos));
}

TEST(BatchJob, AStoppedJobGetsItsCompletionsBack) {
  Json json = started_at_least();
  EXPECT_EQ(json["spec"]["completions"], 2);
  api::Workload workload = workload_at(At::admitted);
  workload.spec.pod_sets[0].min_count = 2;
  while (auto step = batch_job::next_stop_step(*job_from(json), &workload)) {
    json.merge_patch(step->patch);
  }
  EXPECT_EQ(json["spec"]["parallelism"], 3);
  EXPECT_EQ(json["spec"]["completions"], 3);
}

TEST(BatchJob, AJobWithoutCompletionsGivesBackPodsThatSucceeded) {
  const auto job = job_with(R"({"spec": {"completions": null}, "status": {"succeeded": 1}})");
  const auto pods = batch_job::reclaimable_pods(*job);
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods.front().count, 1);
}

TEST(BatchJob, TheLastValueOfAVariableCounts) {
  const Json given = Json::parse(R"([{"name": "A", "value": "1"}, {"name": "B", "value": "2"},
                                     {"name": "A", "value": "3"}])");
  Json json = job_json();
  json["spec"]["template"]["spec"]["containers"][0]["env"] = given;
  const auto job = job_from(json);
  const api::Workload workload = build_workload(view_of(job)).value();
  EXPECT_EQ(workload.spec.pod_sets[0].pod_template.json()["spec"]["containers"][0]["env"],
            Json::parse(R"([{"name": "A", "value": "3"}, {"name": "B", "value": "2"}])"));
  EXPECT_TRUE(batch_job::equivalent(*job, workload, nullptr));
}

TEST(BatchJob, DefaultsOfTheDefinitionOfWorkloadsMakeNoDifference) {
  Json json = job_json();
  json["spec"]["template"]["spec"]["containers"][0].merge_patch(Json::parse(
      R"({"ports": [{"containerPort": 80}], "livenessProbe": {"grpc": {"port": 80}}})"));
  const auto job = job_from(json);
  const api::Workload made = build_workload(view_of(job)).value();
  const auto is_equivalent = [&](const char* protocol) {
    Json pods = made.spec.pod_sets[0].pod_template.json();
    Json& container = pods["spec"]["containers"][0];
    container["ports"][0]["protocol"] = protocol;
    container["livenessProbe"]["grpc"]["service"] = "";
    api::Workload stored = made;
    stored.spec.pod_sets[0].pod_template = api::PodTemplate::from(pods, "template").value();
    return batch_job::equivalent(*job, stored, nullptr);
  };
  EXPECT_TRUE(is_equivalent("TCP"));
  EXPECT_FALSE(is_equivalent("UDP"));
}

TEST(BatchJob, WhatAManagedJobMadeWaitsForItsMaker) {
  JobView view = view_of(job_with(R"({"spec": {"suspend": false}})"));
  view.managed = false;
  EXPECT_EQ(describe(plan_job(view)), "");
  view.held_by_maker = true;
  EXPECT_EQ(describe(plan_job(view)), "suspend job that a waiting job made");
  view.job = generic(*job_from(job_json()));
  EXPECT_EQ(describe(plan_job(view)), "");
}

TEST(BatchJob, ATemplateIsRestoredAtOnceWhereTheServerLetsIt) {
  const api::Workload workload = workload_at(At::admitted);
  Json json = job_json();
  json.merge_patch(batch_job::start_patch(*job_from(json), pod_set_info()).value());
  json["status"] = {{"active", 3}};
  while (auto step = batch_job::next_stop_step(*job_from(json), &workload, true)) {
    json.merge_patch(step->patch);
  }
  EXPECT_EQ(json["spec"], job_json()["spec"]);
}

TEST(BatchJob, ATopologyIsAskedForByAnnotation) {
  Json json = job_json();
  json["spec"]["template"]["metadata"]["annotations"] = {
      {"kueue.x-k8s.io/podset-required-topology", "cloud.com/rack"}};
  const auto sets = batch_job::pod_sets(*job_from(json));
  ASSERT_TRUE(sets) << sets.error().what();
  EXPECT_EQ(sets->front().topology_request->required, "cloud.com/rack");
  EXPECT_EQ(sets->front().topology_request->pod_index_label,
            "batch.kubernetes.io/job-completion-index");
  EXPECT_FALSE(batch_job::pod_sets(*job_from(json), {false, false})->front().topology_request);
  json["spec"]["template"]["metadata"]["annotations"] = {{"kueue.x-k8s.io/podset-slice-size", "2"}};
  const auto refused = batch_job::pod_sets(*job_from(json));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what().find("spec.template.metadata.annotations["
                                        "kueue.x-k8s.io/podset-slice-size]: Forbidden"),
            std::string::npos)
      << refused.error().what();
}

TEST(BatchJob, AJobThatNeverStartedIsStoppedInOneStep) {
  Json json = job_json();
  json["spec"]["suspend"] = false;
  const auto step = batch_job::next_stop_step(*job_from(json), nullptr);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->last);
}

// The API refuses to take the start time of an end, and another template.
TEST(BatchJob, OfAJobThatEndsAsItIsStoppedOnlyTheMarkGoes) {
  const api::Workload workload = workload_at(At::admitted);
  Json json = job_json();
  json.merge_patch(batch_job::start_patch(*job_from(json), pod_set_info()).value());
  json["status"] = {{"startTime", "2026-01-01T00:00:00Z"}};
  json.merge_patch(batch_job::next_stop_step(*job_from(json), &workload)->patch);
  json["status"]["conditions"] = {{{"type", "Complete"}, {"status", "True"}}};
  const auto step = batch_job::next_stop_step(*job_from(json), &workload);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->last);
  EXPECT_FALSE(step->patch.contains("status"));
  EXPECT_FALSE(step->patch.contains("spec"));
  json.merge_patch(step->patch);
  EXPECT_FALSE(batch_job::next_stop_step(*job_from(json), &workload));
}

TEST(BatchJob, ACopyForAWorkerLosesNothingAndKeepsTheHubsOwnThings) {
  Json json = job_json();
  json["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  json["spec"]["ttlSecondsAfterFinished"] = 5;
  json["spec"]["selector"] = {{"matchLabels", {{"batch.kubernetes.io/controller-uid", "u-1"}}}};
  const api::Workload workload = workload_at(At::admitted);
  json.merge_patch(batch_job::start_patch(*job_from(json), pod_set_info()).value());
  const Json copy = batch_job::remote_job(*job_from(json), workload, "hub-1");
  EXPECT_EQ(copy["metadata"], Json::parse(R"({"name": "train", "namespace": "team",
      "labels": {"kueue.x-k8s.io/queue-name": "default",
                 "kueue.x-k8s.io/multikueue-origin": "hub-1"},
      "annotations": {"kueue.x-k8s.io/prebuilt-workload-name": ")" +
                                          workload.metadata.name + R"("}})"));
  Json want = job_json()["spec"];
  want["template"]["metadata"]["labels"].erase("job-name");
  EXPECT_EQ(copy["spec"], want);
}

TEST(BatchJob, AWorkersCopyMatchesThePrebuiltWorkload) {
  const api::Workload workload = workload_at(At::admitted);
  Json copy = batch_job::remote_job(*job_from(job_json()), workload, "o");
  EXPECT_TRUE(batch_job::equivalent(*job_from(copy), workload, nullptr));
}

TEST(BatchJob, AStatusIsCopiedWhenTheHubsJobMayHaveIt) {
  const auto remote = job_with(running);
  EXPECT_TRUE(batch_job::status_patch(*job_from(job_json()), *remote).empty());
  const auto unsuspended = job_with(R"({"spec": {"suspend": false}})");
  EXPECT_EQ(batch_job::status_patch(*unsuspended, *remote),
            Json::parse(R"({"metadata": {"uid": "u-1"},
                            "status": {"active": 3, "startTime": "2026-01-01T00:00:00Z"}})"));
  EXPECT_TRUE(batch_job::status_patch(*remote, *remote).empty());
}

TEST(BatchJob, StatusPatchesApplyToNoOtherJobOfTheSameName) {
  const auto local = job_with(running);
  const auto ended = job_with(R"({"spec": {"suspend": false}, "status": {"succeeded": 3}})");
  for (const Json& patch :
       {batch_job::status_patch(*local, *ended), batch_job::release_patch(*local),
        batch_job::final_patch(*local, true, "done", TimePoint(1h))}) {
    EXPECT_EQ(patch["metadata"], Json({{"uid", local->metadata.uid}})) << patch;
    EXPECT_FALSE(patch["status"].empty());
  }
}

TEST(BatchJob, CountersNeverGoBack) {
  const auto local = job_with(R"({"spec": {"suspend": false}, "status": {"succeeded": 2}})");
  const auto remote =
      job_with(R"({"spec": {"suspend": false}, "status": {"succeeded": 1, "active": 2}})");
  EXPECT_EQ(batch_job::status_patch(*local, *remote)["status"], Json({{"active", 2}}));
}

TEST(BatchJob, AJobThatEndedBeforeTheHubSaysThatItStartedEndsAtItsStart) {
  // The worker's API server went back to an earlier run, which ended.
  const auto local = job_with(running);
  const auto ended = job_with(R"({"spec": {"suspend": false}, "status": {"succeeded": 3,
      "startTime": "2025-12-31T23:58:00Z", "completionTime": "2025-12-31T23:59:00Z"}})");
  EXPECT_EQ(batch_job::status_patch(*local, *ended)["status"]["completionTime"],
            "2026-01-01T00:00:00Z");
}

TEST(BatchJob, TheStartTimeStaysWhileTheHubsJobIsNotSuspended) {
  const auto local = job_with(running);
  const auto stopped = job_with(R"({"spec": {"suspend": true}})");
  EXPECT_EQ(batch_job::status_patch(*local, *stopped)["status"], Json({{"active", nullptr}}));
  const auto suspended = job_with(R"({"spec": {"suspend": true},
      "status": {"startTime": "2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(batch_job::status_patch(*suspended, *stopped)["status"],
            Json({{"startTime", nullptr}}));
}

TEST(DropReservation, RequeuesAPreemptedWorkloadAndNotOneWhoseCheckFailed) {
  api::Workload workload = workload_at(At::evicted);
  workload.status = drop_reservation(workload, TimePoint(1h));
  EXPECT_FALSE(workload.status.admission);
  EXPECT_TRUE(api::is_false(workload.status.conditions, "QuotaReserved"));
  EXPECT_TRUE(api::is_false(workload.status.conditions, "Admitted"));
  EXPECT_TRUE(api::is_true(workload.status.conditions, "Requeued"));
  workload = workload_at(At::evicted);
  api::set_condition(&workload.status.conditions,
                     {"Evicted", api::ConditionStatus::True, 1, {}, "AdmissionCheck", "x"}, {});
  workload.status = drop_reservation(workload, TimePoint(1h));
  EXPECT_TRUE(api::is_false(workload.status.conditions, "Requeued"));
}

}  // namespace
}  // namespace regatta::jobs
