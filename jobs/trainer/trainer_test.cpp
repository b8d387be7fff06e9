#include "jobs/plan.h"
#include "jobs/trainer/kind.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

Json runtime_json(const char* more = "{}") {
  Json json = Json::parse(R"({
    "metadata": {"name": "torch"},
    "spec": {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": [
      {"name": "Dataset", "template": {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "dataset"}},
        "spec": {"template": {"spec": {"containers": [{"name": "d", "image": "init"}]}}}}},
      {"name": "node", "template": {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": {"spec": {"containers": [
          {"name": "node", "image": "torch", "env": [{"name": "A", "value": "0"}],
           "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}}}]}}}})");
  json.merge_patch(Json::parse(more));
  return json;
}

Json job_json(const char* more = "{}") {
  Json json = Json::parse(R"({
    "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
    "metadata": {"name": "t", "namespace": "team", "uid": "u"},
    "spec": {"suspend": true, "runtimeRef": {"name": "torch"}}})");
  json.merge_patch(Json::parse(more));
  return json;
}

JobPtr job_of(const Json& json, const Json& runtime = runtime_json()) {
  return train_job_kind()->decode(json, nullptr).value()->with_runtime(runtime);
}

std::string sets_of(const GenericJob& job) {
  std::string text;
  for (const api::PodSet& set : job.pod_sets({}).value()) {
    text += set.name + " " + std::to_string(set.count) + "; ";
  }
  return text;
}

TEST(TrainJob, the_job_says_how_many_nodes_there_are_and_else_its_runtime) {
  EXPECT_EQ(sets_of(*job_of(job_json())), "dataset 1; node 2; ");
  EXPECT_EQ(sets_of(*job_of(job_json(R"({"spec": {"trainer": {"numNodes": 5}}})"))),
            "dataset 1; node 5; ");
}

TEST(TrainJob, with_mpi_the_nodes_have_a_name_and_the_launcher_may_be_one) {
  const auto mpi = [](bool launcher_is_node) {
    Json runtime = runtime_json();
    Json& spec = runtime["spec"];
    spec["mlPolicy"] = Json{{"mpi", {{"runLauncherAsNode", launcher_is_node}}}};
    Json& jobs = spec["template"]["spec"]["replicatedJobs"];
    jobs[0]["name"] = "launcher";
    jobs[0]["template"].erase("metadata");
    jobs[1]["template"].erase("metadata");
    jobs[1]["replicas"] = 1;
    return runtime;
  };
  const Json four = job_json(R"({"spec": {"trainer": {"numNodes": 4}}})");
  EXPECT_EQ(sets_of(*job_of(four, mpi(false))), "launcher 1; node 4; ");
  EXPECT_EQ(sets_of(*job_of(four, mpi(true))), "launcher 1; node 3; ");
}

TEST(TrainJob, the_container_of_the_nodes_is_as_the_job_says) {
  const JobPtr job = job_of(job_json(R"({"spec": {
      "trainer": {"image": "mine", "args": ["x"], "resourcesPerNode": {"requests": {"cpu": "9"}},
                  "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
      "runtimePatches": [
        {"manager": "example.com/me", "trainingRuntimeSpec": {"template": {"spec": {
          "replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {
            "nodeSelector": {"disk": "ssd"}}}}}}]}}}},
        {"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": {"template": {"spec": {
          "replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {
            "nodeSelector": {"pool": "spot"}}}}}}]}}}}]}})"));
  const auto sets = job->pod_sets({}).value();
  EXPECT_EQ(sets[0].pod_template.json()["spec"]["containers"][0]["image"], "init");
  EXPECT_EQ(sets[1].pod_template.json()["spec"], Json::parse(R"({
      "nodeSelector": {"disk": "ssd"},
      "containers": [{"name": "node", "image": "mine", "args": ["x"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"requests": {"cpu": "9", "memory": "1Gi"}}}]})"));
}

TEST(TrainJob, a_start_patches_the_runtime_under_its_own_manager_and_a_stop_takes_that_back) {
  Json json = job_json(R"({"spec": {"runtimePatches": [
      {"manager": "example.com/me", "trainingRuntimeSpec": {"template": {"spec": {}}}}]}})");
  json.merge_patch(job_of(json)->webhook_patch());
  EXPECT_TRUE(job_of(json)->webhook_patch().empty()) << "it has its place already";
  const Json before = json;
  JobView view;
  view.job = job_of(json);
  const api::Workload workload = build_workload(view).value();
  std::vector<PodSetInfo> infos(2);
  infos[1].node_selector["pool"] = "spot";
  json.merge_patch(job_of(json)->start_patch(infos).value());
  EXPECT_EQ(json["spec"]["suspend"], false);
  const Json& patches = json["spec"]["runtimePatches"];
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(patches[0], before["spec"]["runtimePatches"][0]);
  const Json& node = patches[1]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][1];
  EXPECT_EQ(node["name"], "node");
  EXPECT_EQ(node["template"]["spec"]["template"]["spec"]["nodeSelector"]["pool"], "spot");
  EXPECT_TRUE(job_of(json)->equivalent(workload, &infos));

  json["status"] = Json::parse(R"({"jobsStatus": [{"name": "node", "active": 1}]})");
  const auto first = job_of(json)->next_stop_step(&workload, false);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->last) << "the trainer refuses the rest while pods run";
  json.merge_patch(first->patch);
  EXPECT_TRUE(job_of(json)->stopping());
  EXPECT_FALSE(job_of(json)->suspended());
  EXPECT_FALSE(job_of(json)->next_stop_step(&workload, false));
  json["status"]["jobsStatus"][0]["active"] = 0;
  const auto second = job_of(json)->next_stop_step(&workload, false);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->last);
  json.merge_patch(second->patch);
  EXPECT_TRUE(job_of(json)->suspended());
  EXPECT_EQ(json["spec"], before["spec"]);
}

TEST(TrainJob, a_copy_for_a_worker_has_the_patches_of_users_only) {
  const Json json = job_json(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue",
      "runtimePatches": [{"manager": "example.com/me"}, {"manager": "kueue.x-k8s.io/manager"}]}})");
  api::Workload workload;
  workload.metadata.name = "w";
  const Json copy = train_job_kind()->decode(json, nullptr).value()->remote_job(workload, "o");
  EXPECT_EQ(copy["spec"]["runtimePatches"], Json::parse(R"([{"manager": "example.com/me"}])"));
  EXPECT_FALSE(copy["spec"].contains("managedBy"));
}

TEST(TrainJob, it_refers_to_a_runtime_of_its_cluster_or_its_namespace) {
  const auto ref = [](const char* given) {
    const Json more{{"spec", {{"runtimeRef", Json::parse(given)}}}};
    const auto job = train_job_kind()->decode(job_json(more.dump().c_str()), nullptr).value();
    const auto found = job->runtime();
    return found ? (*found)->str() : found.error().what();
  };
  EXPECT_EQ(ref("{}"), "clustertrainingruntimes.trainer.kubeflow.org/torch");
  EXPECT_EQ(ref(R"({"kind": "TrainingRuntime"})"),
            "trainingruntimes.trainer.kubeflow.org/team/torch");
  EXPECT_EQ(ref(R"({"kind": "Other"})"), "unsupported runtime: Other.trainer.kubeflow.org");
}

TEST(TrainJob, it_is_what_its_status_says) {
  struct Case {
    const char* status;
    const char* wanted;
  };
  const Case cases[] = {
      {R"({})", ""},
      {R"({"jobsStatus": [{"name": "dataset", "succeeded": 1}, {"name": "node", "active": 1}]})",
       "active dataset 1;"},
      {R"({"jobsStatus": [{"name": "dataset", "succeeded": 1},
                          {"name": "node", "active": 1, "ready": 1}]})",
       "active ready dataset 1;"},
      {R"({"jobsStatus": [{"name": "node", "succeeded": 1}]})", " node 2;"},
      {R"({"conditions": [{"type": "Failed", "status": "True", "message": "bad"},
                          {"type": "Complete", "status": "False"}]})",
       " failed(bad)"},
      {R"({"conditions": [{"type": "Complete", "status": "True", "message": "done"}]})",
       " succeeded(done)"},
  };
  for (const Case& one : cases) {
    Json json = job_json();
    json["status"] = Json::parse(one.status);
    const JobPtr job = job_of(json);
    std::string got = job->active() ? "active" : "";
    if (job->pods_ready()) got += " ready";
    for (const auto& pods : job->reclaimable_pods()) {
      got += " " + pods.name + " " + std::to_string(pods.count) + ";";
    }
    if (const auto end = job->finished()) {
      got += std::string(end->success ? " succeeded(" : " failed(") + end->message + ")";
    }
    EXPECT_EQ(got, one.wanted) << one.status;
  }
}

TEST(TrainJob, without_its_runtime_a_job_keeps_its_workload_and_waits) {
  JobView view;
  view.job = job_of(job_json());
  view.managed = true;
  api::Workload made = build_workload(view).value();
  made.status.conditions.push_back(
      {std::string(api::conditions::quota_reserved), api::ConditionStatus::True});
  made.status.conditions.push_back(
      {std::string(api::conditions::admitted), api::ConditionStatus::True});
  made.status.admission.emplace().cluster_queue = "cq";
  view.owned = {std::make_shared<const api::Workload>(made)};
  view.infos.resize(2);
  EXPECT_EQ(describe(plan_job(view)), "start job (Admitted by clusterQueue cq)");
  view.job = train_job_kind()->decode(job_json(), nullptr).value();
  view.without_runtime = true;
  view.invalid = Error(Errc::not_found, "runtime 'torch' not found");
  EXPECT_EQ(describe(plan_job(view)), "");
  view.owned.clear();
  EXPECT_EQ(describe(plan_job(view)), "complain ErrWorkloadCompose (runtime 'torch' not found)");
}

}  // namespace
}  // namespace regatta::jobs
