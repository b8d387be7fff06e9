#include "jobs/described/description.h"

#include "jobs/integrations/described.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

Json pipeline() {
  return Json::parse(R"json({
    "apiVersion": "flows.example.com/v1", "kind": "Pipeline", "resource": "pipelines",
    "podSets": [{"name": "driver", "template": "/spec/driver/template"},
                {"name": "workers", "template": "/spec/roles/0/template",
                 "count": "/spec/roles/0/replicas"}],
    "managedBy": "/spec/managedBy",
    "status": {"finished": "has(object.status.phase)", "success": "object.status.phase == 'Done'"}
})json");
}

/// What is wrong, one error a line.
std::string errors_of(const std::vector<Json>& all) {
  std::string out;
  for (const api::FieldError& error : described_kinds(all).errors) {
    out += (out.empty() ? "" : "\n") + error.text();
  }
  return out;
}
std::string errors_with(const char* patch) {
  Json given = pipeline();
  given.merge_patch(Json::parse(patch));
  const std::string all = errors_of({given});
  const std::string at = "integrations.describedKinds[0].";
  return all.starts_with(at) ? all.substr(at.size()) : all;
}

TEST(KindDescription, says_how_the_kind_is_called_and_found) {
  const DescribedKinds read = described_kinds({pipeline()});
  ASSERT_EQ(read.kinds.size(), 1U) << errors_of({pipeline()});
  const JobKind& kind = *read.kinds[0];
  EXPECT_EQ(kind.framework(), "flows.example.com/pipeline");
  EXPECT_EQ(kind.resource().path("team", "p"),
            "/apis/flows.example.com/v1/namespaces/team/pipelines/p");
  EXPECT_EQ(kind.resource().kind, "Pipeline");
  EXPECT_TRUE(kind.dispatched());
  Json given = pipeline();
  given.erase("managedBy");
  EXPECT_FALSE(described_kinds({given}).kinds.at(0)->dispatched());
}

TEST(KindDescription, fields_are_shown_as_messages_show_them) {
  EXPECT_EQ(field_of(Json::json_pointer("/spec/roles/0/template")), "spec.roles[0].template");
}

struct Mistake {
  const char* name;
  const char* patch;
  const char* want;
  friend void PrintTo(const Mistake& m, std::ostream* out) { *out << m.name; }
};
class DescriptionMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(DescriptionMistakes, are_told_at_their_place) {
  EXPECT_EQ(errors_with(GetParam().patch), GetParam().want);
}

const Mistake mistakes[] = {
    {"none", "{}", ""},
    {"no_version", R"({"apiVersion": "flows.example.com"})",
     "apiVersion: Invalid value: \"flows.example.com\": must be a group with a dot and a version: "
     "'example.com/v1'"},
    {"group_without_dot", R"({"apiVersion": "flows/v1"})",
     "apiVersion: Invalid value: \"flows/v1\": must be a group with a dot and a version: "
     "'example.com/v1'"},
    {"no_names", R"({"apiVersion": null, "kind": null, "resource": null})",
     "apiVersion: Required value\n"
     "integrations.describedKinds[0].kind: Required value\n"
     "integrations.describedKinds[0].resource: Required value"},
    {"kind_in_lower_case", R"({"kind": "pipeline"})",
     "kind: Invalid value: \"pipeline\": must be the name of a kind: 'Pipeline'"},
    {"resource_in_upper_case", R"({"resource": "Pipelines"})",
     "resource: Invalid value: \"Pipelines\": must be the name of a resource: 'pipelines'"},
    {"built_in", R"({"apiVersion": "ray.io/v1", "kind": "RayJob", "resource": "rayjobs"})",
     "kind: Invalid value: \"RayJob.ray.io\": conflicts with a built-in integration"},
    {"no_pod_sets", R"({"podSets": []})", "podSets: Required value"},
    {"too_many_pod_sets", R"({"podSets": [{}, {}, {}, {}, {}, {}, {}, {}, {}]})",
     "podSets: Too many: 9: must have at most 8 items"},
    {"pod_set_without_anything", R"({"podSets": [{}]})",
     "podSets[0].name: Required value\n"
     "integrations.describedKinds[0].podSets[0].template: Required value"},
    {"template_that_is_no_pointer", R"({"podSets": [{"name": "a", "template": "spec.template"}]})",
     "podSets[0].template: Invalid value: \"spec.template\": must be a JSON pointer below /spec, "
     "of at most 256 bytes"},
    {"template_outside_the_spec", R"({"podSets": [{"name": "a", "template": "/status/template"}]})",
     "podSets[0].template: Invalid value: \"/status/template\": must be a JSON pointer below "
     "/spec, of at most 256 bytes"},
    {"pointer_with_a_bad_escape", R"({"podSets": [{"name": "a", "template": "/spec/a~2"}]})",
     "podSets[0].template: Invalid value: \"/spec/a~2\": must be a JSON pointer, in which '~' is "
     "written as '~0' and '/' as '~1'"},
    {"pointer_with_an_empty_part", R"({"podSets": [{"name": "a", "template": "/spec//a"}]})",
     "podSets[0].template: Invalid value: \"/spec//a\": must not have empty parts"},
    {"index_that_is_too_long", R"({"podSets": [{"name": "a", "template": "/spec/1000"}]})",
     "podSets[0].template: Invalid value: \"/spec/1000\": must have plain indices of lists, below "
     "1000"},
    {"index_with_a_zero_before", R"({"podSets": [{"name": "a", "template": "/spec/01"}]})",
     "podSets[0].template: Invalid value: \"/spec/01\": must have plain indices of lists, below "
     "1000"},
    {"two_pod_sets_of_one_name",
     R"({"podSets": [{"name": "a", "template": "/spec/a"}, {"name": "a", "template": "/spec/b"}]})",
     "podSets[1].name: Duplicate value: \"a\""},
    {"template_in_a_template",
     R"({"podSets": [{"name": "a", "template": "/spec/a"}, {"name": "b", "template": "/spec/a/b"}]})",
     "podSets[1].template: Invalid value: \"/spec/a/b\": must be apart from "
     "integrations.describedKinds[0].podSets[0].template"},
    {"suspend_in_a_template", R"({"suspend": "/spec/driver/template/suspend"})",
     "suspend: Invalid value: \"/spec/driver/template/suspend\": must be apart from "
     "integrations.describedKinds[0].podSets[0].template"},
    {"suspend_in_a_list", R"({"suspend": "/spec/roles/0/suspend"})",
     "suspend: Invalid value: \"/spec/roles/0/suspend\": must not lead through a list"},
    {"manager_where_suspend_is", R"({"managedBy": "/spec/suspend"})",
     "managedBy: Invalid value: \"/spec/suspend\": must be apart from "
     "integrations.describedKinds[0].suspend"},
    {"remote_status_of_the_spec", R"({"remoteStatus": "/spec"})",
     "remoteStatus: Invalid value: \"/spec\": must be a JSON pointer to or below /status, of at "
     "most 256 bytes"},
    {"final_status_that_is_a_text", R"({"finalStatus": {"failed": "Failed"}})",
     "finalStatus.failed: Invalid value: \"\\\"Failed\\\"\": must be an object"},
    {"negative_count", R"({"podSets": [{"name": "a", "template": "/spec/a", "count": -1}]})",
     "podSets[0].count: Invalid value: \"-1\": must be a number of pods, a JSON pointer below "
     "/spec or CEL"},
    {"count_of_the_status",
     R"({"podSets": [{"name": "a", "template": "/spec/a", "count": "/status/replicas"}]})",
     "podSets[0].count: Invalid value: \"/status/replicas\": must be a JSON pointer below /spec, "
     "of at most 256 bytes"},
    {"count_that_is_a_text",
     R"({"podSets": [{"name": "a", "template": "/spec/a", "count": "'a'"}]})",
     "podSets[0].count: Invalid value: \"'a'\": must evaluate to int, not string"},
    {"no_end", R"({"status": {"finished": null, "success": null}})",
     "status.finished: Required value\n"
     "integrations.describedKinds[0].status.success: Required value"},
    {"expression_of_another_variable", R"({"status": {"active": "self.x"}})",
     "status.active: Invalid value: \"self.x\": ERROR: <input>:1:1: undeclared reference to 'self' "
     "(in container '')\n | self.x\n | ^"},
    {"expression_of_another_type", R"({"status": {"message": "1 + 1"}})",
     "status.message: Invalid value: \"1 + 1\": must evaluate to string, not int"},
};
INSTANTIATE_TEST_SUITE_P(Table, DescriptionMistakes, ::testing::ValuesIn(mistakes),
                         [](const auto& info) { return info.param.name; });

TEST(KindDescription, expressions_have_a_limited_length) {
  Json given = pipeline();
  given["status"]["finished"] = "true" + std::string(5000, ' ');
  EXPECT_NE(errors_of({given}).find("has more than 4096 bytes"), std::string::npos);
}

TEST(KindDescription, a_kind_is_described_once_and_kinds_are_counted) {
  Json other = pipeline();
  other["apiVersion"] = "flows.example.com/v2";
  EXPECT_EQ(errors_of({pipeline(), other}),
            "integrations.describedKinds[1].kind: Duplicate value: \"Pipeline.flows.example.com\"");
  EXPECT_EQ(errors_of(std::vector<Json>(17, pipeline())),
            "integrations.describedKinds: Too many: 17: must have at most 16 items");
}

}  // namespace
}  // namespace regatta::jobs
