#include "jobs/kubeflow/kind.h"
#include "jobs/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

const JobKind& kind_named(std::string_view name) {
  for (const auto& kind : kubeflow_kinds()) {
    if (kind->resource().kind == name) return *kind;
  }
  throw std::runtime_error("no such kind");
}

Json pytorch_json() {
  return Json::parse(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
    "metadata": {"name": "p", "namespace": "team", "uid": "u"},
    "spec": {
      "runPolicy": {"suspend": true, "ttlSecondsAfterFinished": 5, "cleanPodPolicy": "None"},
      "pytorchReplicaSpecs": {
        "Worker": {"replicas": 3, "template": {"spec":
          {"priorityClassName": "of-pods", "containers": [{"name": "c", "image": "i"}]}}},
        "Master": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}}})");
}

JobPtr pytorch(const Json& patch = Json::object()) {
  Json json = pytorch_json();
  json.merge_patch(patch);
  return kind_named("PyTorchJob").decode(json, nullptr).value();
}
JobPtr pytorch(const char* patch) {
  return pytorch(Json::parse(patch));
}

api::Workload workload_of(const JobPtr& job) {
  JobView view;
  view.job = job;
  view.managed = true;
  return build_workload(view).value();
}

std::string sets_of(const GenericJob& job) {
  std::string text;
  const auto sets = job.pod_sets({});
  if (!sets) return sets.error().what();
  for (const api::PodSet& set : *sets) text += set.name + " " + std::to_string(set.count) + "; ";
  return text;
}

TEST(Kubeflow, pod_sets_are_in_the_order_of_the_kind) {
  EXPECT_EQ(sets_of(*pytorch()), "master 1; worker 3; ");
  const Json pods = Json::parse(R"({"replicas": 2, "template": {"spec": {"containers": []}}})");
  const Json tf{{"metadata", {{"name", "t"}}},
                {"spec",
                 {{"tfReplicaSpecs",
                   {{"Evaluator", pods},
                    {"Worker", pods},
                    {"PS", pods},
                    {"Master", pods},
                    {"Chief", pods},
                    {"Other", pods}}}}}};
  EXPECT_EQ(sets_of(**kind_named("TFJob").decode(tf, nullptr)),
            "chief 2; master 2; ps 2; worker 2; evaluator 2; ");
}

TEST(Kubeflow, the_priority_class_of_the_job_comes_first) {
  EXPECT_EQ(pytorch()->pod_priority_class(), "of-pods");
  EXPECT_EQ(pytorch(R"({"spec": {"runPolicy": {"schedulingPolicy": {"priorityClass": "x"}}}})")
                ->pod_priority_class(),
            "x");
}

TEST(Kubeflow, a_stop_restores_what_the_start_added) {
  const JobPtr job = pytorch();
  const api::Workload workload = workload_of(job);
  PodSetInfo master, worker;
  master.labels["l"] = "1";
  worker.node_selector["pool"] = "b";
  Json json = pytorch_json();
  json.merge_patch(job->start_patch({master, worker}).value());
  EXPECT_EQ(json["spec"]["runPolicy"]["suspend"], false);
  EXPECT_EQ(json["spec"]["runPolicy"]["cleanPodPolicy"], "None");
  const JobPtr running = kind_named("PyTorchJob").decode(json, nullptr).value();
  const std::vector<PodSetInfo> infos = {master, worker};
  EXPECT_TRUE(running->equivalent(workload, &infos));
  json.merge_patch(running->next_stop_step(&workload, false)->patch);
  const JobPtr stopped = kind_named("PyTorchJob").decode(json, nullptr).value();
  EXPECT_TRUE(stopped->suspended());
  const Json& specs = json["spec"]["pytorchReplicaSpecs"];
  EXPECT_FALSE(specs["Worker"]["template"]["spec"].contains("nodeSelector"));
  EXPECT_FALSE(specs["Master"]["template"]["metadata"].contains("labels"));
}

TEST(Kubeflow, a_job_is_what_its_status_says) {
  const JobPtr runs = pytorch(R"({"status": {"replicaStatuses": {"Worker": {"active": 1}},
    "conditions": [{"type": "Running", "status": "True"}]}})");
  EXPECT_TRUE(runs->active());
  EXPECT_TRUE(runs->pods_ready());
  EXPECT_FALSE(runs->finished());
  const JobPtr ended = pytorch(R"({"status": {"conditions": [
    {"type": "Running", "status": "False"},
    {"type": "Succeeded", "status": "False", "message": "not yet"},
    {"type": "Failed", "status": "True", "message": "no"}]}})");
  EXPECT_FALSE(ended->active());
  EXPECT_FALSE(ended->pods_ready());
  EXPECT_EQ(ended->finished()->message, "no");
  EXPECT_FALSE(ended->finished()->success);
}

TEST(Kubeflow, its_copy_on_a_worker_has_nothing_of_the_hub) {
  const JobPtr job =
      pytorch(R"({"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}})");
  EXPECT_EQ(job->not_managed_reason(), "");
  const Json copy = job->remote_job(workload_of(job), "hub");
  EXPECT_EQ(copy["spec"]["runPolicy"],
            Json::parse(R"({"suspend": true, "cleanPodPolicy": "None"})"));
}

TEST(Kubeflow, its_status_comes_home_and_ends_there) {
  const JobPtr theirs = pytorch(R"({"status": {
    "replicaStatuses": {"Worker": {"active": 2, "failed": 0}},
    "conditions": [{"type": "Running", "status": "True", "message": ""}]}})");
  Json json = pytorch_json();
  json.merge_patch(pytorch()->status_patch(*theirs));
  EXPECT_EQ(json["status"], Json::parse(R"({"replicaStatuses": {"Worker": {"active": 2}},
    "conditions": [{"type": "Running", "status": "True"}]})"));
  const JobPtr here = kind_named("PyTorchJob").decode(json, nullptr).value();
  EXPECT_EQ(here->status_patch(*theirs), Json::object());
  json.merge_patch(here->release_patch());
  const JobPtr released = kind_named("PyTorchJob").decode(json, nullptr).value();
  EXPECT_FALSE(released->active());
  json.merge_patch(released->final_patch(true, "over", TimePoint()));
  EXPECT_EQ(kind_named("PyTorchJob").decode(json, nullptr).value()->finished()->message, "over");
}

}  // namespace
}  // namespace regatta::jobs
