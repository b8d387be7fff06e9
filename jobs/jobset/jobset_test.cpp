#include "jobs/jobset/kind.h"
#include "jobs/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using testing::ElementsAre;

Json jobset_json() {
  return Json::parse(R"({
    "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
    "metadata": {"name": "s", "namespace": "team", "uid": "u",
                 "labels": {"kueue.x-k8s.io/queue-name": "main"}},
    "spec": {"suspend": true, "ttlSecondsAfterFinished": 5, "replicatedJobs": [
      {"name": "Lead", "replicas": 1, "template": {"spec": {"template": {"spec":
        {"containers": [{"name": "c", "image": "i"}]}}}}},
      {"name": "crew", "replicas": 3, "template": {"spec": {"parallelism": 4, "completions": 2,
        "template": {"spec": {"priorityClassName": "p",
                              "containers": [{"name": "c", "image": "i"}]}}}}}]}})");
}

/// The spec without the empty metadata that a stop leaves in templates.
Json spec_in(const Json& object) {
  Json spec = object["spec"];
  for (Json& role : spec["replicatedJobs"]) {
    Json& pods = role["template"]["spec"]["template"];
    if (pods.contains("metadata") && pods["metadata"].empty()) pods.erase("metadata");
  }
  return spec;
}

JobPtr jobset(const char* patch = "{}") {
  Json json = jobset_json();
  json.merge_patch(Json::parse(patch));
  return jobset_kind()->decode(json, nullptr).value();
}

api::Workload workload_of(const JobPtr& job) {
  JobView view;
  view.job = job;
  view.managed = true;
  return build_workload(view).value();
}

std::vector<PodSetInfo> infos() {
  PodSetInfo lead, crew;
  lead.name = "lead";
  lead.node_selector["pool"] = "a";
  crew.name = "crew";
  crew.node_selector["pool"] = "b";
  return {lead, crew};
}

TEST(JobSet, has_a_pod_set_for_each_replicated_job) {
  const JobPtr job = jobset();
  EXPECT_THAT(job->pod_counts(), ElementsAre(1, 6)) << "as many pods as completions at most";
  const auto sets = job->pod_sets({});
  ASSERT_TRUE(sets) << sets.error().what();
  EXPECT_EQ((*sets)[0].name, "lead");
  EXPECT_EQ((*sets)[1].topology_request->sub_group_count, 3);
  EXPECT_EQ((*sets)[1].topology_request->sub_group_index_label, "jobset.sigs.k8s.io/job-index");
  EXPECT_EQ(job->pod_priority_class(), "p");
  EXPECT_TRUE(job->equivalent(workload_of(job), nullptr));
  EXPECT_FALSE(
      jobset(R"({"spec": {"replicatedJobs": []}})")->equivalent(workload_of(job), nullptr));
}

struct StatusCase {
  const char* name;
  const char* status;
  bool active;
  bool ready;
  std::string reclaimable;
  std::string end;
};

std::string text(const std::vector<api::ReclaimablePod>& pods) {
  std::string out;
  for (const auto& one : pods) out += one.name + " " + std::to_string(one.count) + ";";
  return out;
}

std::string text(const std::optional<Finished>& end) {
  return end ? (end->success ? "done: " : "failed: ") + end->message : "";
}

TEST(JobSet, is_what_its_status_says) {
  const StatusCase cases[] = {
      {"nothing_is_known", "{}", false, false, "", ""},
      {"pods_run",
       R"({"replicatedJobsStatus": [{"name": "Lead", "active": 1, "ready": 1},
                                    {"name": "crew", "active": 3, "ready": 2}]})",
       true, false, "", ""},
      {"pods_are_ready_or_have_ended",
       R"({"replicatedJobsStatus": [{"name": "Lead", "active": 1, "ready": 1},
                                    {"name": "crew", "active": 2, "ready": 2, "succeeded": 1}]})",
       true, true, "crew 2;", ""},
      {"more_jobs_ended_than_there_are",
       R"({"replicatedJobsStatus": [{"name": "crew", "succeeded": 4}]})", false, true, "", ""},
      {"it_completed", R"({"conditions": [{"type": "Completed", "status": "True",
                                           "message": "all done"}]})",
       false, false, "", "done: all done"},
      {"it_failed", R"({"conditions": [{"type": "Failed", "status": "True", "message": "no"}]})",
       false, false, "", "failed: no"},
      {"it_has_not_failed", R"({"conditions": [{"type": "Failed", "status": "False"}]})", false,
       false, "", ""},
  };
  for (const StatusCase& one : cases) {
    SCOPED_TRACE(one.name);
    const JobPtr job = jobset((R"({"status": )" + std::string(one.status) + "}").c_str());
    EXPECT_EQ(job->active(), one.active);
    EXPECT_EQ(job->pods_ready(), one.ready);
    EXPECT_EQ(text(job->reclaimable_pods()), one.reclaimable);
    EXPECT_EQ(text(job->finished()), one.end);
  }
}

TEST(JobSet, a_stop_restores_what_the_start_added) {
  Json json = jobset_json();
  const JobPtr job = jobset();
  const api::Workload workload = workload_of(job);
  json.merge_patch(job->start_patch(infos()).value());
  const JobPtr running = jobset_kind()->decode(json, nullptr).value();
  EXPECT_FALSE(running->suspended());
  const Json& crew = json["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"];
  EXPECT_EQ(crew["nodeSelector"]["pool"], "b");
  const auto filled = infos();
  EXPECT_TRUE(running->equivalent(workload, &filled));
  const auto step = running->next_stop_step(&workload, false);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->last);
  json.merge_patch(step->patch);
  EXPECT_EQ(spec_in(json), jobset_json()["spec"]);
  EXPECT_FALSE(jobset_kind()->decode(json, nullptr).value()->next_stop_step(&workload, false));
}

TEST(JobSet, an_admission_of_other_pod_sets_does_not_start_it) {
  EXPECT_FALSE(jobset()->start_patch({infos().front()}));
}

TEST(JobSet, multikueue_runs_those_that_name_it) {
  EXPECT_TRUE(jobset()->managed_by()->replaceable);
  EXPECT_TRUE(jobset(R"({"spec": {"managedBy": "jobset.sigs.k8s.io/jobset-controller"}})")
                  ->managed_by()
                  ->replaceable);
  EXPECT_FALSE(jobset(R"({"spec": {"managedBy": "example.com/x"}})")->managed_by()->replaceable);
  EXPECT_EQ(jobset()->not_managed_reason(),
            R"(Expecting spec.managedBy to be "kueue.x-k8s.io/multikueue" not "")");
  EXPECT_EQ(jobset(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}})")->not_managed_reason(),
            "");
}

TEST(JobSet, its_copy_on_a_worker_has_nothing_of_the_hub) {
  const JobPtr job = jobset(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}})");
  const api::Workload workload = workload_of(job);
  Json started = jobset_json();
  started.merge_patch(job->start_patch(infos()).value());
  const Json copy = jobset_kind()->decode(started, nullptr).value()->remote_job(workload, "hub");
  Json wanted = jobset_json()["spec"];
  wanted.erase("ttlSecondsAfterFinished");
  EXPECT_EQ(spec_in(copy), wanted);
  EXPECT_EQ(copy["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"], "hub");
  EXPECT_EQ(copy["metadata"]["annotations"]["kueue.x-k8s.io/prebuilt-workload-name"],
            workload.metadata.name);
  EXPECT_FALSE(copy["metadata"].contains("uid"));
}

TEST(JobSet, its_status_comes_home_and_ends_there) {
  const char* runs = R"({"status": {"replicatedJobsStatus":
    [{"name": "Lead", "active": 1, "ready": 1}]}})";
  const Json home = jobset()->status_patch(*jobset(runs));
  EXPECT_EQ(home["metadata"]["uid"], "u");
  EXPECT_EQ(home["status"], Json::parse(runs)["status"]);
  EXPECT_EQ(jobset(runs)->status_patch(*jobset(runs)), Json::object());

  Json json = jobset_json();
  json.merge_patch(Json::parse(runs));
  json.merge_patch(jobset(runs)->release_patch());
  const JobPtr released = jobset_kind()->decode(json, nullptr).value();
  EXPECT_FALSE(released->active());
  EXPECT_EQ(released->release_patch(), Json::object());
  json.merge_patch(released->final_patch(false, "lost", TimePoint()));
  const JobPtr ended = jobset_kind()->decode(json, nullptr).value();
  EXPECT_EQ(text(ended->finished()), "failed: lost");
  EXPECT_EQ(json["status"]["terminalState"], "Failed");
}

}  // namespace
}  // namespace regatta::jobs
