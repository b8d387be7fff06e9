#include "lib/base/base64.h"
#include "webhooks/testing.h"

#include <gtest/gtest.h>

namespace regatta::webhooks {
namespace {

std::string ask(Handler handler, const std::string& kind, std::string_view body) {
  return dump_json(review_body({handler, kind}, body, {}));
}

std::string patch_of(const Json& answer) {
  return base64_decode(text_at(answer, {"response", "patch"})).value();
}

TEST(Review, paths_are_those_of_the_webhook_configurations) {
  EXPECT_EQ(endpoint_at("/mutate-kueue-x-k8s-io-v1beta2-workload")->kind, "Workload");
  EXPECT_EQ(endpoint_at("/validate-kueue-x-k8s-io-v1beta2-cohort")->handler, Handler::validating);
  EXPECT_FALSE(endpoint_at("/mutate-kueue-x-k8s-io-v1beta2-cohort")) << "cohorts have no defaults";
  EXPECT_FALSE(endpoint_at("/validate-kueue-x-k8s-io-v1beta2-localqueue"));
  EXPECT_FALSE(endpoint_at("/validate-kueue-x-k8s-io-v1beta1-workload"));
}

TEST(Review, an_answer_has_the_version_and_the_uid_of_its_review) {
  EXPECT_EQ(ask(Handler::validating, "Cohort",
                R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
                  "uid":"u1","operation":"CREATE","object":{"metadata":{"name":"c"}}}})"),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{)"
            R"("allowed":true,"status":{"code":200,"metadata":{}},"uid":"u1"}})");
}

TEST(Review, a_refusal_is_forbidden_with_all_errors) {
  const Json answer = review_body({Handler::validating, "Cohort"},
                                  R"({"request":{"uid":"u","operation":"CREATE","object":{
                                    "spec":{"fairSharing":{"weight":-1}}}}})",
                                  {});
  EXPECT_EQ(dump_json(answer["response"]),
            R"({"allowed":false,"status":{"code":403,"message":"spec.fairSharing: Invalid value: )"
            R"(\"-1\": must be greater than or equal to 0","metadata":{},"reason":"Forbidden"},)"
            R"("uid":"u"})");
}

TEST(Review, warnings_are_told_whatever_the_verdict) {
  const auto answer = [](int code) {
    Verdict verdict;
    verdict.code = code;
    verdict.warnings = {"mind the gap"};
    return answer_to(read_review(R"({"request":{"uid":"u"}})").value(), verdict)["response"];
  };
  EXPECT_EQ(answer(200)["warnings"], Json::parse(R"(["mind the gap"])"));
  EXPECT_EQ(answer(403)["warnings"], Json::parse(R"(["mind the gap"])"));
}

TEST(Review, a_patch_holds_what_the_default_changed_and_nothing_else) {
  const auto patch = [](std::string_view metadata) {
    const std::string body = R"({"request":{"operation":"CREATE","object":{"kind":"ClusterQueue",)"
                             R"("spec":{"unknown":1})" +
                             std::string(metadata) + "}}}";
    return patch_of(review_body({Handler::mutating, "ClusterQueue"}, body, {}));
  };
  EXPECT_EQ(
      patch(R"(,"metadata":{"name":"q"})"),
      R"([{"op":"add","path":"/metadata/finalizers","value":["kueue.x-k8s.io/resource-in-use"]}])");
  EXPECT_EQ(
      patch(R"(,"metadata":{"finalizers":["a/b"]})"),
      R"([{"op":"add","path":"/metadata/finalizers/1","value":"kueue.x-k8s.io/resource-in-use"}])");
  EXPECT_EQ(
      patch(R"(,"metadata":{"finalizers":null})"),
      R"([{"op":"replace","path":"/metadata/finalizers","value":["kueue.x-k8s.io/resource-in-use"]}])");
  EXPECT_EQ(
      patch(""),
      R"([{"op":"add","path":"/metadata","value":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}}])");
}

TEST(Review, an_object_that_has_its_defaults_gets_no_patch) {
  const Json answer =
      review_body({Handler::mutating, "ResourceFlavor"},
                  R"({"request":{"operation":"CREATE","object":{"metadata":{"finalizers":[
        "kueue.x-k8s.io/resource-in-use"]}}}})",
                  {});
  EXPECT_FALSE(answer["response"].contains("patch"));
  EXPECT_FALSE(answer["response"].contains("patchType"));
}

TEST(Review, minimal_counts_go_when_partial_admission_is_off) {
  ReviewRequest request{"u", "CREATE", json_of(R"({"spec":{"podSets":[{"name":"a","minCount":1},
    {"name":"b"},{"name":"c","minCount":null},{"name":"d","minCount":2}]}})"),
                        Json()};
  EXPECT_TRUE(review({Handler::mutating, "Workload"}, request, {}).patch.empty());
  Gates gates;
  gates.partial_admission = false;
  EXPECT_EQ(dump_json(review({Handler::mutating, "Workload"}, request, gates).patch),
            R"([{"op":"remove","path":"/spec/podSets/0/minCount"},)"
            R"({"op":"remove","path":"/spec/podSets/3/minCount"}])");
}

struct UnreadableCase {
  std::string_view name, body, wanted;
};

TEST(Review, what_cannot_be_read_is_a_bad_request) {
  const UnreadableCase cases[] = {
      {"an empty body", "", "unknown operation \"\""},
      {"no request", "{}", "unknown operation \"\""},
      {"an operation that does not exist", R"({"request":{"operation":"BREW"}})",
       "unknown operation \"BREW\""},
      {"no object", R"({"request":{"operation":"CREATE"}})", "there is no content to decode"},
      {"no old object", R"({"request":{"operation":"UPDATE","object":{}}})",
       "there is no content to decode"},
      {"another version",
       R"({"request":{"operation":"CREATE","object":{"apiVersion":"kueue.x-k8s.io/v1beta1"}}})",
       "unable to decode kueue.x-k8s.io/v1beta1, Kind=ClusterQueue into *v1beta2.ClusterQueue"},
      {"another kind", R"({"request":{"operation":"CREATE","object":{"kind":"Cohort"}}})",
       "unable to decode kueue.x-k8s.io/v1beta2, Kind=Cohort into *v1beta2.ClusterQueue"},
      {"a member of the wrong type",
       R"({"request":{"operation":"CREATE","object":{"spec":{"cohortName":1}}}})",
       "spec.cohortName: expected a string"},
      {"a list", "[]", "an AdmissionReview must be a JSON object"},
      {"a uid that is no text", R"({"request":{"uid":1}})", "request.uid: expected a string"},
  };
  for (const UnreadableCase& c : cases) {
    const Json answer = review_body({Handler::validating, "ClusterQueue"}, c.body, {});
    EXPECT_EQ(answer["response"]["status"]["code"], 400) << c.name;
    EXPECT_EQ(text_at(answer["response"]["status"], "message"), c.wanted) << c.name;
    EXPECT_FALSE(answer["response"]["status"].contains("reason")) << c.name;
  }
  EXPECT_EQ(review_body({Handler::validating, "Cohort"}, "{", {})["response"]["status"]["code"],
            400);
}

TEST(Review, deletions_and_connections_are_allowed) {
  EXPECT_EQ(
      review({Handler::validating, "Cohort"}, {"u", "DELETE", Json(), Json::object()}, {}).code,
      200);
  EXPECT_EQ(review({Handler::validating, "Cohort"}, {"u", "CONNECT", Json(), Json()}, {}).code,
            200);
  EXPECT_EQ(review({Handler::mutating, "Workload"}, {"u", "DELETE", Json(), Json()}, {}).code, 200);
}

TEST(Review, manifests_get_defaults_and_rules_of_creation) {
  Json object = json_of(R"({"kind":"ClusterQueue","metadata":{"name":"q"},"spec":{}})");
  EXPECT_TRUE(apply_on_create(&object, {}).empty());
  EXPECT_EQ(object["metadata"]["finalizers"][0], "kueue.x-k8s.io/resource-in-use");
  object["spec"] = json_of(R"({"fairSharing":{"weight":"-1"}})");
  EXPECT_EQ(apply_on_create(&object, {}).size(), 1u);
  Json other = json_of(R"({"kind":"Topology","spec":1})");
  EXPECT_TRUE(apply_on_create(&other, {}).empty());
}

}  // namespace
}  // namespace regatta::webhooks
