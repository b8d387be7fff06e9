#include "jobs/plan.h"
#include "jobs/spark/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

Json app_json(const char* more = "{}") {
  Json json = Json::parse(R"({
    "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
    "metadata": {"name": "s", "namespace": "team", "uid": "u"},
    "spec": {"suspend": true, "mode": "cluster",
      "driver": {"cores": 1, "memory": "512m", "labels": {"own": "1"}},
      "executor": {"cores": 2, "memory": "2G", "instances": 3}}})");
  json.merge_patch(Json::parse(more));
  return json;
}
JobPtr app(const Json& json) {
  return spark_application_kind()->decode(json, nullptr).value();
}

Json pods_of(const char* more, const char* role) {
  const auto sets = app(app_json(more))->pod_sets({}).value();
  for (const api::PodSet& set : sets) {
    if (set.name == role) return set.pod_template.json();
  }
  return {};
}

TEST(Spark, driver_and_executors_are_pod_sets) {
  const auto sets = app(app_json())->pod_sets({}).value();
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].name + std::to_string(sets[0].count), "driver1");
  EXPECT_EQ(sets[1].name + std::to_string(sets[1].count), "executor3");
  EXPECT_EQ(pods_of(R"({"spec": {"executor": {"template": {
                "metadata": {"labels": {"t": "1"}},
                "spec": {"containers": [{"name": "x", "image": "ignored"}]}}}}})",
                    "executor"),
            Json::parse(R"({"metadata": {"labels": {"t": "1"}},
      "spec": {"containers": [{"name": "spark-kubernetes-executor",
                               "resources": {"requests": {"memory": "2Gi"}}}]}})"));
}

TEST(Spark, memory_is_written_as_spark_writes_it) {
  const std::pair<const char*, const char*> cases[] = {
      {"3000m", "3000Mi"}, {"1024k", "1Mi"}, {"4g", "4Gi"},  {"2GB", "2Gi"},
      {"1t", "1Ti"},       {"700", "700Mi"}, {"3Gi", "3Gi"},
  };
  for (const auto& [given, wanted] : cases) {
    const Json more{{"spec", {{"driver", {{"memory", given}}}}}};
    const Json pods = pods_of(more.dump().c_str(), "driver");
    EXPECT_EQ(pods["spec"]["containers"][0]["resources"]["requests"]["memory"], wanted) << given;
  }
  const auto wrong = app(app_json(R"({"spec": {"driver": {"memory": "lots"}}})"))->pod_sets({});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), Errc::invalid);
}

TEST(Spark, only_what_is_requested_in_so_many_words_counts) {
  const Json pods = pods_of(R"({"spec": {"executor": {"coreRequest": "0.5", "coreLimit": "2",
      "memoryLimit": "3g", "memoryOverhead": "1g", "gpu": {"name": "nvidia.com/gpu",
      "quantity": 2}}}})",
                            "executor");
  EXPECT_EQ(pods["spec"]["containers"][0]["resources"], Json::parse(R"({
      "requests": {"cpu": "500m", "memory": "2Gi"},
      "limits": {"cpu": "2", "memory": "3Gi", "nvidia.com/gpu": "2"}})"));
}

TEST(Spark, what_an_admission_adds_stands_beside_the_templates_and_goes_again) {
  Json json = app_json(R"({"spec": {"driver": {
      "template": {"spec": {"containers": [{"name": "spark-kubernetes-driver"}],
                            "nodeSelector": {"pool": "mine"}}}}}})");
  const Json before = json;
  JobView view;
  view.job = app(json);
  const api::Workload workload = build_workload(view).value();
  std::vector<PodSetInfo> infos(2);
  for (PodSetInfo& info : infos) {
    info.node_selector["pool"] = "spot";
    info.labels["podset"] = "p";
    info.scheduling_gates = {"gate"};
  }
  json.merge_patch(app(json)->start_patch(infos).value());
  const Json& driver = json["spec"]["driver"];
  EXPECT_EQ(driver["nodeSelector"], Json({{"pool", "spot"}}));
  EXPECT_EQ(driver["labels"], Json({{"own", "1"}, {"podset", "p"}}));
  EXPECT_EQ(driver["template"]["spec"]["nodeSelector"], Json({{"pool", "mine"}}));
  EXPECT_EQ(driver["template"]["spec"]["schedulingGates"], Json::array({{{"name", "gate"}}}));
  // A template that holds nothing but the gate is complete, for the API server.
  EXPECT_EQ(json["spec"]["executor"]["template"]["spec"]["containers"][0]["name"],
            "spark-kubernetes-executor");
  const JobPtr running = app(json);
  EXPECT_FALSE(running->suspended());
  EXPECT_TRUE(running->equivalent(workload, &infos));
  json.merge_patch(running->next_stop_step(&workload, false)->patch);
  EXPECT_EQ(json["spec"]["executor"]["template"],
            Json::parse(R"({"spec": {"containers": [{"name": "spark-kubernetes-executor"}]}})"));
  json["spec"]["executor"].erase("template");
  EXPECT_EQ(json["spec"], before["spec"]);
}

TEST(Spark, a_selector_of_its_own_that_differs_cannot_be_started) {
  const JobPtr job = app(app_json(R"({"spec": {"driver": {"nodeSelector": {"pool": "mine"}}}})"));
  std::vector<PodSetInfo> infos(2);
  infos[0].node_selector["pool"] = "spot";
  EXPECT_FALSE(job->start_patch(infos));
}

TEST(Spark, it_is_what_its_status_says) {
  struct Case {
    const char* status;
    const char* wanted;
  };
  const Case cases[] = {
      {R"({})", ""},
      {R"({"applicationState": {"state": "SUBMITTED"}})", "active"},
      {R"({"applicationState": {"state": "RUNNING"},
           "executorState": {"a": "RUNNING", "b": "COMPLETED", "c": "PENDING"}})",
       "active"},
      {R"({"applicationState": {"state": "RUNNING"},
           "executorState": {"a": "RUNNING", "b": "COMPLETED", "c": "RUNNING"}})",
       "active ready"},
      {R"({"applicationState": {"state": "SUSPENDING"}})", "active"},
      {R"({"applicationState": {"state": "COMPLETED"}})", " succeeded()"},
      {R"({"applicationState": {"state": "FAILED", "errorMessage": "died"}})", " failed(died)"},
      {R"({"applicationState": {"state": "FAILING"}})", "active"},
      {R"({"applicationState": {"state": "PENDING_RERUN"}})", ""},
      {R"({"applicationState": {"state": "SUSPENDED"}})", ""},
      {R"({"applicationState": {"state": "SUBMISSION_FAILED", "errorMessage": "no"}})", ""},
  };
  for (const Case& one : cases) {
    Json json = app_json();
    json["status"] = Json::parse(one.status);
    const JobPtr job = app(json);
    std::string got = job->active() ? "active" : "";
    if (job->pods_ready()) got += " ready";
    if (const auto end = job->finished()) {
      got += std::string(end->success ? " succeeded(" : " failed(") + end->message + ")";
    }
    EXPECT_EQ(got, one.wanted) << one.status;
  }
}

TEST(Spark, only_cluster_mode_and_a_fixed_size_are_managed) {
  const auto complaints = [](const char* more, bool elastic = true) {
    api::ErrorList errors;
    app(app_json(more))->check({{}, elastic}, &errors);
    return api::to_text(errors.take());
  };
  EXPECT_EQ(complaints("{}"), "");
  EXPECT_EQ(complaints(R"({"spec": {"mode": "client"}})"),
            "spec.mode: Invalid value: \"client\": only Cluster mode is supported for a kueue "
            "managed job");
  const char* dynamic = R"({"spec": {"dynamicAllocation": {"enabled": true}}})";
  EXPECT_TRUE(complaints(dynamic).starts_with("spec.dynamicAllocation.enabled: Invalid value"));
  const char* elastic = R"({"spec": {"dynamicAllocation": {"enabled": true}},
      "metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}})";
  EXPECT_EQ(complaints(elastic), "");
  EXPECT_NE(complaints(elastic, false), "");
}

TEST(Spark, multikueue_does_not_run_it) {
  EXPECT_FALSE(spark_application_kind()->dispatched());
  const JobPtr job = app(app_json());
  EXPECT_FALSE(job->managed_by());
  EXPECT_EQ(job->not_managed_reason(), "SparkApplication cannot name MultiKueue as its manager");
}

}  // namespace
}  // namespace regatta::jobs
