#include "jobs/integrations/external.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

std::shared_ptr<const JobKind> pipelines() {
  return external_kind("Pipeline.v1alpha1.flows.example.com", true).value();
}

Json pipeline_json(const char* more = "{}") {
  Json json = Json::parse(R"({
    "metadata": {"name": "p", "namespace": "team", "uid": "u", "finalizers": ["f"]},
    "data": "not copied",
    "spec": {"managedBy": "kueue.x-k8s.io/multikueue", "nested": {"managedBy": "keep"}}})");
  json.merge_patch(Json::parse(more));
  return json;
}
JobPtr pipeline(const Json& json) {
  return pipelines()->decode(json, nullptr).value();
}

TEST(ExternalKind, a_name_says_kind_version_and_group) {
  const auto kind = pipelines();
  const api::ResourceInfo& resource = kind->resource();
  EXPECT_EQ(resource.group, "flows.example.com");
  EXPECT_EQ(resource.version, "v1alpha1");
  EXPECT_EQ(resource.kind, "Pipeline");
  EXPECT_EQ(resource.plural, "pipelines");
  const auto policies = external_kind("Policy.v1.a", true).value();
  const auto processes = external_kind("Process.v1.a", true).value();
  EXPECT_EQ(policies->resource().plural, "policies");
  EXPECT_EQ(processes->resource().plural, "processes");
  for (const char* wrong : {"", "Pipeline", "Pipeline.v1"}) {
    EXPECT_FALSE(external_kind(wrong, true)) << wrong;
  }
}

TEST(ExternalKind, its_job_goes_to_a_worker_as_it_is) {
  api::Workload workload;
  workload.metadata.name = "w";
  EXPECT_EQ(pipeline(pipeline_json())->remote_job(workload, "hub"), Json::parse(R"({
    "apiVersion": "flows.example.com/v1alpha1", "kind": "Pipeline",
    "metadata": {"name": "p", "namespace": "team",
                 "labels": {"kueue.x-k8s.io/multikueue-origin": "hub"},
                 "annotations": {"kueue.x-k8s.io/prebuilt-workload-name": "w"}},
    "spec": {"nested": {"managedBy": "keep"}}})"));
}

TEST(ExternalKind, only_what_names_multikueue_is_sent) {
  EXPECT_EQ(pipeline(pipeline_json())->not_managed_reason(), "");
  EXPECT_EQ(pipeline(pipeline_json(R"({"spec": {"managedBy": "other"}})"))->not_managed_reason(),
            "Expecting .spec.managedBy to be \"kueue.x-k8s.io/multikueue\" not \"other\"");
  EXPECT_TRUE(pipeline(pipeline_json())->passed_over()) << "its own controller manages it";
}

TEST(ExternalKind, the_whole_status_comes_home) {
  Json local = pipeline_json(R"({"status": {"phase": "Old", "gone": 1}})");
  const JobPtr remote = pipeline(pipeline_json(R"({"status": {"phase": "R", "list": [1]}})"));
  local.merge_patch(pipeline(local)->status_patch(*remote));
  EXPECT_EQ(local["status"], Json::parse(R"({"phase": "R", "list": [1]})"));
  EXPECT_TRUE(pipeline(local)->status_patch(*remote).empty());
  EXPECT_TRUE(pipeline(local)->status_patch(*pipeline(pipeline_json())).empty());
}

}  // namespace
}  // namespace regatta::jobs
