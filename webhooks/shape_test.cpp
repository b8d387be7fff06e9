#include "webhooks/shape.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::webhooks {
namespace {

std::string text_as(const std::string& type, std::string_view json) {
  const auto read = read_shaped(parse_json(json).value(), shape_type(type));
  return read ? shaped_text(&*read, shape_type(type)) : "error: " + read.error().what();
}

bool same(const std::string& type, std::string_view a, std::string_view b) {
  const ShapeType shape = shape_type(type);
  const Json one = read_shaped(parse_json(a).value(), shape).value();
  const Json other = read_shaped(parse_json(b).value(), shape).value();
  return same_shaped(&one, &other, shape);
}

TEST(Shape, text_has_the_order_of_the_type_and_leaves_out_what_is_empty) {
  EXPECT_EQ(
      text_as("PodSet", R"({"count":4,"name":"a","minCount":0,"strange":1,
              "template":{"metadata":null,"spec":{"containers":[
                {"image":"i","name":"c","args":[],"resources":{"requests":{"cpu":"1000m"}}}]}}})"),
      R"({"name":"a","template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i",)"
      R"("resources":{"requests":{"cpu":"1"}}}]}},"count":4,"minCount":0})");
}

TEST(Shape, text_fills_in_what_must_not_be_left_out) {
  EXPECT_EQ(text_as("Admission", "{}"), R"({"clusterQueue":"","podSetAssignments":null})");
  EXPECT_EQ(text_as("Condition", R"({"type":"T"})"),
            R"({"type":"T","status":"","lastTransitionTime":null,"reason":"","message":""})");
  EXPECT_EQ(text_as("MultiKueueCluster", R"({"spec":{"clusterSource":{}}})"),
            R"({"metadata":{},"status":{}})");
  EXPECT_EQ(shaped_text(nullptr, shape_type("*Admission")), "null");
  EXPECT_EQ(text_as("[]PodSetUpdate", "[]"), "[]");
}

TEST(Shape, scalars_are_canonical) {
  EXPECT_EQ(text_as("ResourceQuota", R"({"name":"cpu","nominalQuota":0.5})"),
            R"({"name":"cpu","nominalQuota":"500m"})");
  EXPECT_EQ(text_as("RequeueState", R"({"requeueAt":"2026-01-01T02:00:00.5+02:00"})"),
            R"({"requeueAt":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(text_as("ContainerPort", R"({"containerPort":80,"name":"<x>"})"),
            R"({"name":"\u003cx\u003e","containerPort":80})");
}

TEST(Shape, values_of_another_type_are_refused_with_their_path) {
  EXPECT_EQ(text_as("PodSet", R"({"count":"4"})"), "error: count: expected a 32 bit number");
  EXPECT_EQ(text_as("PodSet", R"({"count":2147483648})"), "error: count: expected a 32 bit number");
  EXPECT_EQ(text_as("PodSet", R"({"count":1.5})"), "error: count: expected a 32 bit number");
  EXPECT_EQ(
      text_as("ClusterQueue", R"({"spec":{"resourceGroups":[{"coveredResources":["a",1]}]}})"),
      "error: spec.resourceGroups[0].coveredResources[1]: expected a string");
  EXPECT_EQ(text_as("Workload", R"({"metadata":{"labels":{"a":true}}})"),
            "error: metadata.labels[a]: expected a string");
  EXPECT_EQ(text_as("RequeueState", R"({"requeueAt":"yesterday"})"),
            "error: requeueAt: expected a time");
  EXPECT_EQ(text_as("Workload", "[]"), "error: the object: expected an object");
}

TEST(Shape, comparison_goes_by_meaning) {
  EXPECT_TRUE(same("PodSet", R"({"name":"a"})", R"({"name":"a","count":0,"template":{}})"));
  EXPECT_FALSE(same("PodSet", R"({"minCount":0})", "{}"));
  EXPECT_TRUE(same("Container", R"({"args":[],"resources":{"limits":{"cpu":"1"}}})",
                   R"({"resources":{"limits":{"cpu":"1000m"}}})"));
  EXPECT_FALSE(same("Container", R"({"args":["a"]})", R"({"args":["b"]})"));
  EXPECT_FALSE(same("Container", R"({"args":["a"]})", R"({"args":["a","b"]})"));
  EXPECT_FALSE(same("*FairSharing", "{}", "null"));
  EXPECT_FALSE(same("{}string", R"({"a":"1"})", R"({"b":"1"})"));
}

TEST(Shape, durations_and_numbers_are_written_canonically) {
  EXPECT_EQ(text_as("config.AdmissionFairSharing",
                    R"({"usageHalfLifeTime":"90s","resourceWeights":{"cpu":2.5}})"),
            R"({"usageHalfLifeTime":"1m30s","usageSamplingInterval":"0s",)"
            R"("resourceWeights":{"cpu":2.5}})");
  EXPECT_EQ(text_as("config.ClientConnection", R"({"qps":3.14159265})"), R"({"qps":3.1415927})");
  EXPECT_EQ(text_as("config.AdmissionFairSharing", R"({"usageHalfLifeTime":null})"),
            "error: usageHalfLifeTime: expected a duration such as \"15m\" or \"1h30m\"");
}

TEST(Shape, members_that_a_type_does_not_have_are_found) {
  const Json value = parse_json(R"({"spec":{"x":1,"podSets":[{"name":"a"},{"nam":"b"}]},
                                    "metadata":{"labels":{"any":"thing"}}})")
                         .value();
  std::vector<std::string> paths;
  for (const UnknownMember& one : unknown_members(value, shape_type("Workload"))) {
    paths.push_back(one.path + " " + one.name);
    EXPECT_FALSE(one.known.empty());
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"spec.podSets[1].nam nam", "spec.x x"}));
}

}  // namespace
}  // namespace regatta::webhooks
