#include "jobs/appwrapper/kind.h"
#include "jobs/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

Json wrapper_json() {
  return Json::parse(R"({
    "apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper",
    "metadata": {"name": "a", "namespace": "team", "uid": "u"},
    "spec": {"suspend": true, "components": [
      {"template": {"apiVersion": "v1", "kind": "ConfigMap"}},
      {"template": {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 4,
        "completions": 2, "template": {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}}}},
      {"podSets": [{"path": "template.spec.lead", "replicas": 1},
                   {"path": "template.spec.crew", "replicas": 3}],
       "template": {"apiVersion": "example.dev/v1", "kind": "Crew", "spec": {
         "lead": {"spec": {"containers": [{"name": "c", "image": "i"}]}},
         "crew": {"spec": {"containers": [{"name": "c", "image": "host:5000/i"}]}}}}}]}})");
}

JobPtr wrapper(const Json& json) {
  return appwrapper_kind()->decode(json, nullptr).value();
}

TEST(AppWrapper, each_pod_template_of_its_components_is_a_pod_set) {
  const auto sets = wrapper(wrapper_json())->pod_sets({});
  ASSERT_TRUE(sets) << sets.error().what();
  std::string text;
  for (const api::PodSet& set : *sets) {
    const Json pods = set.pod_template.json();
    text += set.name + " " + std::to_string(set.count) + " " +
            pods["spec"]["containers"][0]["imagePullPolicy"].get<std::string>() + "; ";
  }
  EXPECT_EQ(text, "a-0 2 IfNotPresent; a-1 1 Always; a-2 3 Always; ");
}

TEST(AppWrapper, what_an_admission_adds_stands_beside_the_template) {
  Json json = wrapper_json();
  const JobPtr job = wrapper(json);
  JobView view;
  view.job = job;
  const api::Workload workload = build_workload(view).value();
  std::vector<PodSetInfo> infos(3);
  for (std::size_t i = 0; i < 3; ++i) infos[i].node_selector["pool"] = std::to_string(i);
  json.merge_patch(job->start_patch(infos).value());
  EXPECT_FALSE(json["spec"].contains("suspend"));
  const Json& components = json["spec"]["components"];
  EXPECT_FALSE(components[0].contains("podSetInfos"));
  EXPECT_EQ(components[1]["podSetInfos"], Json::parse(R"([{"nodeSelector": {"pool": "0"}}])"));
  EXPECT_EQ(components[2]["podSetInfos"].size(), 2U);
  EXPECT_EQ(components[2]["podSetInfos"][1]["nodeSelector"]["pool"], "2");
  const JobPtr running = wrapper(json);
  EXPECT_TRUE(running->equivalent(workload, &infos));
  json.merge_patch(running->next_stop_step(&workload, false)->patch);
  EXPECT_EQ(json["spec"], wrapper_json()["spec"]);
}

TEST(AppWrapper, it_is_what_its_status_says) {
  Json json = wrapper_json();
  json["status"] = Json::parse(R"({"phase": "Running", "conditions": [
    {"type": "ResourcesDeployed", "status": "True"}, {"type": "PodsReady", "status": "True"}]})");
  const JobPtr running = wrapper(json);
  EXPECT_TRUE(running->active() && running->pods_ready());
  json.merge_patch(running->release_patch());
  EXPECT_FALSE(wrapper(json)->active());
  EXPECT_FALSE(wrapper(json)->finished());
  json.merge_patch(wrapper(json)->final_patch(false, "", TimePoint()));
  EXPECT_FALSE(wrapper(json)->finished()->success);
}

}  // namespace
}  // namespace regatta::jobs
