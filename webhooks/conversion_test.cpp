#include "webhooks/conversion.h"

#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::webhooks {
namespace {

Json convert(const std::string& wanted, std::string_view objects) {
  const Json review{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "ConversionReview"},
      {"request",
       {{"uid", "u"}, {"desiredAPIVersion", wanted}, {"objects", parse_json(objects).value()}}}};
  return convert_review(dump_json(review), {}).review;
}

std::string message(const std::string& wanted, std::string_view objects) {
  const Json review = convert(wanted, objects);
  EXPECT_TRUE(review["response"]["convertedObjects"].is_null());
  return text_at(review, {"response", "result", "message"});
}

constexpr auto v1 = "kueue.x-k8s.io/v1beta1";
constexpr auto v2 = "kueue.x-k8s.io/v1beta2";

TEST(Conversion, objects_keep_their_order_and_lose_what_their_type_does_not_have) {
  EXPECT_EQ(dump_json(convert(v2, R"([
      {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort","metadata":{"name":"b"},
       "spec":{"parentName":"p","unknown":1,"fairSharing":{"weight":0.5}}},
      {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"name":"a"},
       "status":{"flavorUsage":null,"flavors":[{"name":"f"}]}}])")),
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{)"
            R"("convertedObjects":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort",)"
            R"("metadata":{"name":"b"},"spec":{"fairSharing":{"weight":"500m"},"parentName":"p"},)"
            R"("status":{}},{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",)"
            R"("metadata":{"name":"a"},"spec":{},"status":{"admittedWorkloads":0,)"
            R"("pendingWorkloads":0,"reservingWorkloads":0}}],)"
            R"("result":{"metadata":{},"status":"Success"},"uid":"u"}})");
}

TEST(Conversion, one_object_that_cannot_be_converted_fails_the_review) {
  EXPECT_EQ(message(v2, R"([{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort"},
                            {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort"}])"),
            "conversion is not allowed between same type *v1beta2.Cohort");
  EXPECT_EQ(message(v2, R"([{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Topology"}])"),
            "*v1beta1.Topology is not convertible to *v1beta2.Topology");
  EXPECT_EQ(message(v2, R"([{"apiVersion":"kueue.x-k8s.io/v1","kind":"Cohort"}])"),
            "no kind \"Cohort\" is registered for version \"kueue.x-k8s.io/v1\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(message("v1", R"([{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort"}])"),
            "no kind \"Cohort\" is registered for version \"v1\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(message(v2, R"([{"apiVersion":"kueue.x-k8s.io/v1beta1"}])"),
            "Object 'Kind' is missing in '{\"apiVersion\":\"kueue.x-k8s.io/v1beta1\"}'");
  EXPECT_EQ(message(v1, R"([{"kind":"Cohort"}])"),
            "Object 'apiVersion' is missing in '{\"kind\":\"Cohort\"}'");
  EXPECT_EQ(message(v2, R"([{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort","spec":[]}])"),
            "spec: expected an object");
}

/// A Workload that has so many domains in a few bytes.
std::string workload_of_domains(int domains) {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","status":{"admission":{
      "podSetAssignments":[{"topologyAssignment":{"levels":["h"],"slices":[{"domainCount":)" +
         std::to_string(domains) +
         R"(,"podCounts":{"universal":1},"valuesPerLevel":[{"universal":"x"}]}]}}]}}})";
}

TEST(Conversion, domains_of_the_older_version_are_limited_for_all_objects_of_a_review_together) {
  const std::string few = workload_of_domains(3);
  const Json review = convert(v1, "[" + few + "," + few + "]");
  EXPECT_EQ(text_at(review, {"response", "result", "status"}), "Success");
  EXPECT_EQ(review["response"]["convertedObjects"].size(), 2u);
  // Each of the three may be converted by itself.
  const std::string many = workload_of_domains(300);
  const std::string three = "[" + many + "," + many + "," + many + "]";
  EXPECT_EQ(text_at(convert(v1, "[" + many + "]"), {"response", "result", "status"}), "Success");
  EXPECT_EQ(text_at(convert(v1, three), {"response", "result", "status"}), "Failure");
  EXPECT_NE(message(v1, three).find(" domains in v1beta1, in all objects of one request together"),
            std::string::npos);
}

TEST(Conversion, a_short_review_has_no_more_domains_than_bytes) {
  const std::string answer = message(v1, "[" + workload_of_domains(200'000) + "]");
  EXPECT_EQ(answer.find("topologyAssignment: more than "), 0u) << answer;
}

TEST(Conversion, a_body_that_is_no_review_gets_no_answer) {
  for (const char* body : {"", "{", "[]", "{}", R"({"request":null})", R"({"request":{"uid":1}})",
                           R"({"request":{"objects":{}}})"}) {
    const ConversionAnswer answer = convert_review(body, {});
    EXPECT_EQ(answer.http_status, 400) << body;
    EXPECT_TRUE(answer.review.is_null()) << body;
  }
}

TEST(Conversion, a_cluster_without_a_source_has_an_empty_kubeconfig_in_the_older_version) {
  const Json review = convert(
      v1, R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster","spec":{}}])");
  EXPECT_EQ(review["response"]["convertedObjects"][0]["spec"],
            Json::parse(R"({"kubeConfig":{"location":"","locationType":""}})"));
}

}  // namespace
}  // namespace regatta::webhooks
