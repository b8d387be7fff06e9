#include "lib/kube/owned_fields.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::kube {
namespace {

Json object(const char* fields) {
  Json out = Json::parse(R"({
    "metadata": {"name": "w", "labels": {"a": "b"}},
    "status": {
      "admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": 2}]},
      "clusterName": "w1",
      "nominatedClusterNames": ["w2", "w3"],
      "conditions": [{"type": "A", "status": "True", "reason": "R"},
                     {"type": "B", "status": "False", "reason": "S"}]
    }})");
  out["metadata"]["managedFields"] =
      Json::array({{{"manager", "other"},
                    {"operation", "Apply"},
                    {"subresource", "status"},
                    {"fieldsV1", {{"f:status", {{"f:clusterName", Json::object()}}}}}},
                   {{"manager", "kueue-admission"},
                    {"operation", "Update"},
                    {"subresource", "status"},
                    {"fieldsV1", {{"f:status", {{"f:clusterName", Json::object()}}}}}},
                   {{"manager", "kueue-admission"},
                    {"operation", "Apply"},
                    {"subresource", "status"},
                    {"fieldsV1", Json::parse(fields)}}});
  return out;
}

struct Case {
  const char* name;
  const char* fields;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

class AppliedPart : public ::testing::TestWithParam<Case> {};

TEST_P(AppliedPart, IsWhatTheManagerOwns) {
  EXPECT_EQ(applied_part(object(GetParam().fields), "kueue-admission", "status"),
            Json::parse(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, AppliedPart,
    ::testing::Values(Case{"a_leaf_is_taken_whole", R"({"f:status": {"f:admission": {}}})",
                           R"({"status": {"admission": {"clusterQueue": "cq",
                 "podSetAssignments": [{"name": "main", "count": 2}]}}})"},
                      Case{"of_an_object_the_members_that_are_owned",
                           R"({"f:status": {"f:admission": {".": {}, "f:clusterQueue": {}}}})",
                           R"({"status": {"admission": {"clusterQueue": "cq"}}})"},
                      Case{"of_a_list_the_items_with_their_keys",
                           R"({"f:status": {"f:conditions": {"k:{\"type\":\"B\"}":
                 {".": {}, "f:type": {}, "f:status": {}}}}})",
                           R"({"status": {"conditions": [{"type": "B", "status": "False"}]}})"},
                      Case{"of_a_set_its_values",
                           R"({"f:status": {"f:nominatedClusterNames": {"v:\"w3\"": {}}}})",
                           R"({"status": {"nominatedClusterNames": ["w3"]}})"},
                      Case{"what_is_gone_is_left_out",
                           R"({"f:status": {"f:requeueState": {"f:count": {}}}})",
                           R"({"status": {}})"}),
    [](const auto& tested) { return tested.param.name; });

TEST(AppliedPart, IsNullWhenTheManagerAppliedNothing) {
  const Json whole = object(R"({"f:status": {}})");
  EXPECT_TRUE(applied_part(whole, "kueue-admission", "").is_null());
  EXPECT_TRUE(applied_part(whole, "nobody", "status").is_null());
  EXPECT_TRUE(applied_part(Json::object(), "kueue-admission", "status").is_null());
  const Json odd = Json::parse(R"({"metadata": {"managedFields": [3, {"manager": 3},
      {"manager": "kueue-admission", "operation": [], "subresource": {}}]}})");
  EXPECT_TRUE(applied_part(odd, "kueue-admission", "status").is_null());
}

}  // namespace
}  // namespace regatta::kube
