#include "jobs/plan.h"
#include "jobs/ray/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

JobPtr decoded(std::string_view name, const Json& json) {
  for (const auto& kind : ray_kinds()) {
    if (kind->resource().kind == name) return kind->decode(json, nullptr).value();
  }
  throw std::runtime_error("no such kind");
}

Json cluster_json() {
  return Json::parse(R"({
    "headGroupSpec": {"template": {"spec": {"containers": [
      {"name": "h", "image": "ray", "resources": {"requests": {"cpu": "100m"}}}]}}},
    "workerGroupSpecs": [
      {"groupName": "GPU", "replicas": 3, "numOfHosts": 2,
       "template": {"spec": {"containers": [{"name": "w", "image": "ray"}]}}},
      {"groupName": "cpu",
       "template": {"spec": {"containers": [{"name": "w", "image": "ray"}]}}}]})");
}

Json job_json(const char* more = "{}") {
  Json json{{"metadata", {{"name", "r"}, {"namespace", "team"}, {"uid", "u"}}},
            {"spec",
             {{"suspend", true},
              {"shutdownAfterJobFinishes", true},
              {"submissionMode", "HTTPMode"},
              {"rayClusterSpec", cluster_json()}}}};
  json.merge_patch(Json::parse(more));
  return json;
}
JobPtr ray_job(const char* more = "{}") {
  return decoded("RayJob", job_json(more));
}

std::string sets_of(const GenericJob& job) {
  std::string text;
  const auto sets = job.pod_sets({});
  if (!sets) return sets.error().what();
  for (const api::PodSet& set : *sets) {
    text += set.name + " " + std::to_string(set.count) + ":";
    const Json pods = set.pod_template.json();
    for (const Json& one : pods["spec"]["containers"]) {
      text += " " + one["name"].get<std::string>();
      if (one.contains("resources") && one["resources"].contains("requests")) {
        text += one["resources"]["requests"].dump();
      }
    }
    text += "; ";
  }
  return text;
}

std::string complaints(const JobPtr& job, bool elastic = true) {
  api::ErrorList errors;
  job->check({{}, elastic}, &errors);
  return api::to_text(errors.take());
}

TEST(Ray, a_group_has_as_many_pods_as_replicas_times_hosts) {
  EXPECT_EQ(sets_of(*ray_job()), R"(head 1: h{"cpu":"100m"}; gpu 6: w; cpu 1: w; )");
}

TEST(Ray, the_head_has_what_kuberay_adds_to_it) {
  EXPECT_EQ(sets_of(*ray_job(R"({"spec": {"submissionMode": "SidecarMode",
                                          "rayClusterSpec": {"workerGroupSpecs": []}}})")),
            R"(head 1: h{"cpu":"100m"} ray-job-submitter{"cpu":"500m","memory":"200Mi"}; )");
  EXPECT_EQ(sets_of(*ray_job(R"({"spec": {"rayClusterSpec": {"enableInTreeAutoscaling": true,
      "workerGroupSpecs": [], "gcsFaultToleranceOptions": {}}}})")),
            R"(head 1: h{"cpu":"200m","memory":"256Mi"} )"
            R"(autoscaler{"cpu":"500m","memory":"512Mi"}; )");
}

TEST(Ray, a_submitter_without_a_template_gets_one_when_it_starts) {
  Json json = job_json(R"({"spec": {"submissionMode": null}})");
  const JobPtr job = decoded("RayJob", json);
  ASSERT_EQ(job->pod_counts().size(), 4U);
  PodSetInfo info;
  info.node_selector["pool"] = "a";
  JobView view;
  view.job = job;
  const api::Workload workload = build_workload(view).value();
  json.merge_patch(job->start_patch({info, info, info, info}).value());
  EXPECT_FALSE(json["spec"].contains("suspend"));
  const Json& submitter = json["spec"]["submitterPodTemplate"]["spec"];
  EXPECT_EQ(submitter["containers"][0]["image"], "ray");
  EXPECT_EQ(submitter["nodeSelector"]["pool"], "a");
  const JobPtr running = decoded("RayJob", json);
  const std::vector<PodSetInfo> infos(4, info);
  EXPECT_TRUE(running->equivalent(workload, &infos));
  json.merge_patch(running->next_stop_step(&workload, false)->patch);
  EXPECT_TRUE(decoded("RayJob", json)->equivalent(workload, nullptr));
  EXPECT_TRUE(decoded("RayJob", json)->suspended());
}

TEST(Ray, a_job_is_what_its_status_says) {
  EXPECT_FALSE(ray_job()->active());
  const JobPtr runs = ray_job(R"({"status": {"jobDeploymentStatus": "Running",
    "rayClusterName": "rc", "rayClusterStatus": {"state": "ready", "desiredCPU": "0"}}})");
  EXPECT_TRUE(runs->active());
  EXPECT_TRUE(runs->pods_ready());
  EXPECT_EQ(runs->pod_selector(), "ray.io/cluster=rc");
  EXPECT_FALSE(ray_job()->status_patch(*runs)["status"]["rayClusterStatus"].contains("desiredCPU"));
  const JobPtr ended = ray_job(R"({"status": {"jobDeploymentStatus": "Complete",
    "jobStatus": "STOPPED", "message": "m"}})");
  EXPECT_FALSE(ended->finished()->success);
  EXPECT_EQ(ended->finished()->message, "m");
  EXPECT_EQ(ended->release_patch(), Json::object());
  Json json = job_json();
  json.merge_patch(runs->final_patch(true, "done", TimePoint()));
  EXPECT_TRUE(decoded("RayJob", json)->finished()->success);
}

TEST(Ray, a_job_that_kuberay_refuses_has_failed_unless_it_has_a_cluster) {
  const JobPtr refused = ray_job(R"({"status": {"jobDeploymentStatus": "ValidationFailed",
    "reason": "ValidationFailed", "message": "no head"}})");
  ASSERT_TRUE(refused->finished());
  EXPECT_FALSE(refused->finished()->success);
  EXPECT_EQ(refused->finished()->message, "no head");
  EXPECT_FALSE(refused->active()) << "it would never stop";
  EXPECT_TRUE(ray_job()->status_patch(*refused).contains("status")) << "the hub learns of it";
  const JobPtr later = ray_job(R"({"status": {"jobDeploymentStatus": "ValidationFailed",
    "rayClusterName": "rc"}})");
  EXPECT_FALSE(later->finished());
  EXPECT_TRUE(later->active()) << "its cluster may run";
}

TEST(Ray, a_worker_keeps_a_job_that_has_ended_as_long_as_its_user_does) {
  const auto copy = [](const char* spec) {
    JobView view;
    view.job = ray_job((R"({"spec": )" + std::string(spec) + "}").c_str());
    return view.job->remote_job(build_workload(view).value(), "hub")["spec"];
  };
  EXPECT_FALSE(copy("{}").contains("ttlSecondsAfterFinished"));
  EXPECT_EQ(copy(R"({"ttlSecondsAfterFinished": 600})")["ttlSecondsAfterFinished"], 600);
  const auto strategy = [&](const char* given) {
    return copy((R"({"deletionStrategy": )" + std::string(given) + "}").c_str())
        .value("deletionStrategy", Json())
        .dump();
  };
  EXPECT_EQ(strategy(R"({"onSuccess": {"policy": "DeleteSelf"},
                         "onFailure": {"policy": "DeleteWorkers"}})"),
            R"({"onFailure":{"policy":"DeleteWorkers"},"onSuccess":{"policy":"DeleteCluster"}})");
  EXPECT_EQ(
      strategy(R"({"deletionRules": [{"policy": "DeleteSelf"}, {"policy": "DeleteCluster"}]})"),
      R"({"deletionRules":[{"policy":"DeleteCluster"}]})");
  EXPECT_EQ(strategy(R"({"deletionRules": [{"policy": "DeleteSelf"}]})"), "null");
}

TEST(Ray, a_cluster_has_no_end) {
  Json json{{"metadata", {{"name", "c"}, {"uid", "u"}}},
            {"spec", cluster_json()},
            {"status", {{"state", "ready"}}}};
  const JobPtr cluster = decoded("RayCluster", json);
  EXPECT_TRUE(cluster->active() && cluster->pods_ready());
  EXPECT_FALSE(cluster->finished());
  json.merge_patch(cluster->final_patch(true, "", TimePoint()));
  EXPECT_FALSE(decoded("RayCluster", json)->active());
}

TEST(Ray, a_service_is_suspended_in_its_cluster) {
  Json json{{"metadata", {{"name", "s"}, {"uid", "u"}}},
            {"spec", {{"rayClusterConfig", cluster_json()}}}};
  const JobPtr service = decoded("RayService", json);
  EXPECT_FALSE(service->suspended());
  json.merge_patch(service->suspend_patch());
  EXPECT_EQ(json["spec"]["rayClusterConfig"]["suspend"], true);
  json["status"] = Json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}],
    "activeServiceStatus": {"rayClusterName": "rc"}})");
  const JobPtr ready = decoded("RayService", json);
  EXPECT_TRUE(ready->active());
  EXPECT_EQ(ready->pod_selector(), "ray.io/cluster=rc");
  EXPECT_FALSE(ready->passed_over());
}

TEST(Ray, workers_of_the_copy_follow_by_the_names_of_their_groups) {
  const auto cluster = [](const char* groups) {
    return decoded("RayCluster", Json{{"apiVersion", "ray.io/v1"},
                                      {"kind", "RayCluster"},
                                      {"metadata", {{"name", "c"}, {"namespace", "ns"}}},
                                      {"spec", {{"workerGroupSpecs", Json::parse(groups)}}}});
  };
  const JobPtr hub = cluster(R"([{"groupName": "a", "replicas": 3, "template": {"x": "hub"}},
                                 {"groupName": "b", "numOfHosts": 2, "template": {}},
                                 {"groupName": "c", "replicas": 9, "template": {}}])");
  const JobPtr copy = cluster(R"([{"groupName": "b", "replicas": 1, "template": {}},
                                  {"groupName": "a", "replicas": 1, "template": {"x": "own"}}])");
  const Json patch = hub->resize_patch(*copy);
  EXPECT_EQ(patch, Json::parse(R"({"spec": {"workerGroupSpecs": [
                     {"groupName": "b", "numOfHosts": 2, "template": {}},
                     {"groupName": "a", "replicas": 3, "template": {"x": "own"}}]}})"));
  EXPECT_EQ(hub->resize_patch(*hub), Json::object());
}

TEST(Ray, a_job_that_uses_a_cluster_of_others_is_left_alone) {
  const JobPtr job =
      ray_job(R"({"spec": {"clusterSelector": {"ray.io/cluster": "c"}, "rayClusterSpec": null}})");
  EXPECT_TRUE(job->passed_over());
  EXPECT_EQ(complaints(job), "");
  EXPECT_FALSE(ray_job()->passed_over());
}

TEST(Ray, a_cluster_is_checked_up_to_the_first_pods_that_cannot_be_read) {
  const char* unread = R"({"podset-unconstrained-topology": "maybe"})";
  const char* wrong = R"({"podset-required-topology": "_"})";
  const auto wrong_fields = [](std::string_view kind, std::string_view at, const char* head,
                               const char* workers) {
    Json cluster = cluster_json();
    const auto annotate = [](Json* holder, const char* annotations) {
      const Json all = Json::parse(annotations);
      for (const auto& [name, value] : all.items()) {
        (*holder)["template"]["metadata"]["annotations"]["kueue.x-k8s.io/" + name] = value;
      }
    };
    annotate(&cluster["headGroupSpec"], head);
    annotate(&cluster["workerGroupSpecs"][0], workers);
    Json json{{"metadata", {{"name", "c"}, {"uid", "u"}}}};
    json[Json::json_pointer(std::string(at))] = cluster;
    if (kind == "RayJob") json["spec"]["shutdownAfterJobFinishes"] = true;
    api::ErrorList errors;
    decoded(kind, json)->check({}, &errors);
    std::string out;
    for (const api::FieldError& error : errors.take()) {
      out += error.field.find("headGroup") == std::string::npos ? "workers " : "head ";
    }
    return out;
  };
  EXPECT_EQ(wrong_fields("RayCluster", "/spec", unread, unread), "head ");
  EXPECT_EQ(wrong_fields("RayCluster", "/spec", wrong, unread), "head workers ");
  EXPECT_EQ(wrong_fields("RayCluster", "/spec", wrong, wrong), "head workers ");
  EXPECT_EQ(wrong_fields("RayJob", "/spec/rayClusterSpec", unread, unread), "head workers ");
}

constexpr const char* elastic_job = R"({
    "metadata": {"generation": 3, "labels": {"kueue.x-k8s.io/queue-name": "q"},
                 "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
    "spec": {"rayClusterSpec": {"enableInTreeAutoscaling": true}},
    "status": {"rayClusterName": "rc"}})";
/// The RayCluster that it made.
Json made_cluster() {
  return Json::parse(R"({"metadata": {"name": "rc", "generation": 7},
    "spec": {"workerGroupSpecs": [{"groupName": "GPU", "replicas": 5, "numOfHosts": 2},
                                  {"groupName": "cpu"}, {"groupName": "other", "replicas": 9}]}})");
}

TEST(Ray, an_elastic_job_has_the_size_that_its_cluster_has) {
  const JobPtr job = ray_job(elastic_job);
  const auto ref = job->runtime().value();
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->str(), "rayclusters.ray.io/team/rc");
  EXPECT_TRUE(ref->resizes);
  EXPECT_FALSE(ray_job()->runtime().value());
  EXPECT_FALSE(ray_job(R"({"status": {"rayClusterName": "rc"}})")->runtime().value());
  EXPECT_EQ(sets_of(*job->with_runtime(made_cluster())),
            R"(head 1: h{"cpu":"100m"} autoscaler{"cpu":"500m","memory":"512Mi"}; gpu 10: w; )"
            R"(cpu 1: w; )");
  Json fixed = job_json(elastic_job);
  fixed["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = false;
  EXPECT_EQ(decoded("RayJob", fixed)->with_runtime(made_cluster())->pod_counts(),
            (std::vector<std::int32_t>{1, 6, 1}))
      << "Ray does not change it";
}

TEST(Ray, the_size_of_an_elastic_job_is_noted_and_named) {
  const auto note = [](const JobPtr& job) { return job->size_patch().dump(); };
  const JobPtr job = ray_job(elastic_job);
  EXPECT_EQ(
      note(job),
      R"({"metadata":{"annotations":{"kueue.x-k8s.io/raycluster-generation":""},"uid":"u"}})");
  EXPECT_EQ(job->size_version(), "3");
  const JobPtr sized = job->with_runtime(made_cluster());
  EXPECT_EQ(
      note(sized),
      R"({"metadata":{"annotations":{"kueue.x-k8s.io/raycluster-generation":"7"},"uid":"u"}})");
  EXPECT_EQ(sized->size_version(), "3_7");
  Json json = job_json(elastic_job);
  json.merge_patch(sized->size_patch());
  const JobPtr noted = decoded("RayJob", json);
  EXPECT_EQ(note(noted), "{}") << "the cluster is not known now";
  EXPECT_EQ(noted->size_version(), "3_7");
  EXPECT_EQ(note(noted->with_runtime(made_cluster())), "{}");
}

TEST(Ray, the_plan_notes_the_size_first_and_names_the_slice_by_it) {
  JobView view;
  view.managed = true;
  view.job = ray_job(elastic_job)->with_runtime(made_cluster());
  EXPECT_EQ(describe(plan_job(view)), "note size of job");
  const std::string name = build_workload(view)->metadata.name;
  view.job = ray_job(elastic_job);
  EXPECT_NE(build_workload(view)->metadata.name, name);
  view.policy.elastic = false;
  EXPECT_EQ(describe(plan_job(view)).substr(0, 15), "create workload");
}

TEST(Ray, a_cluster_that_was_made_anew_gets_a_slice_of_another_name) {
  JobView view;
  view.job = ray_job(elastic_job)->with_runtime(made_cluster());
  const api::Workload first = build_workload(view).value();
  EXPECT_EQ(build_workload(view)->metadata.name, first.metadata.name);
  view.owned = {std::make_shared<const api::Workload>(first)};
  EXPECT_NE(build_workload(view)->metadata.name, first.metadata.name);
}

TEST(Ray, pods_of_what_may_grow_wait_behind_gates_from_the_start) {
  const Json gates = Json::parse(R"([{"name": "kueue.x-k8s.io/elastic-job"}])");
  const char* elastic = R"({"kueue.x-k8s.io/elastic-job": "true"})";
  Json json{{"metadata", {{"name", "c"}, {"uid", "u"}, {"annotations", Json::parse(elastic)}}},
            {"spec", cluster_json()}};
  EXPECT_NE(complaints(decoded("RayCluster", json)), "");
  json.merge_patch(decoded("RayCluster", json)->elastic_patch());
  EXPECT_EQ(complaints(decoded("RayCluster", json)), "");
  EXPECT_EQ(decoded("RayCluster", json)->elastic_patch(), Json::object());
  json["spec"] = {{"rayClusterConfig", cluster_json()}};
  json.merge_patch(decoded("RayService", json)->elastic_patch());
  const Json& config = json["spec"]["rayClusterConfig"];
  EXPECT_EQ(config["headGroupSpec"]["template"]["spec"]["schedulingGates"], gates);
  EXPECT_EQ(config["workerGroupSpecs"][1]["template"]["spec"]["schedulingGates"], gates);
  EXPECT_EQ(config["workerGroupSpecs"][0]["replicas"], 3) << "the rest stays";
}

TEST(Ray, webhooks_refuse_what_cannot_be_queued) {
  EXPECT_EQ(complaints(ray_job()), "");
  EXPECT_EQ(complaints(ray_job(R"({"spec": {"rayClusterSpec": null}})")),
            "spec.rayClusterSpec: Required value: rayClusterSpec is required for Kueue-managed "
            "jobs that don't use clusterSelector");
  EXPECT_EQ(complaints(ray_job(R"({"spec": {"shutdownAfterJobFinishes": false}})")),
            "spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed job should "
            "delete the cluster after finishing");
  const char* scaled = R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
                           "spec": {"rayClusterSpec": {"enableInTreeAutoscaling": true}}})";
  EXPECT_EQ(complaints(ray_job(scaled)), "");
  EXPECT_EQ(complaints(ray_job(scaled), false),
            "spec.rayClusterSpec.enableInTreeAutoscaling: Invalid value: true: a kueue managed "
            "job should only use autoscaling when workload slicing is enabled");
  EXPECT_EQ(complaints(ray_job(R"({"spec": {"rayClusterSpec": {"workerGroupSpecs": [
                               {"groupName": "head", "template": {}}]}}})")),
            "spec.rayClusterSpec.workerGroupSpecs[0].groupName: Forbidden: \"head\" is reserved "
            "for the head group");
}

}  // namespace
}  // namespace regatta::jobs
