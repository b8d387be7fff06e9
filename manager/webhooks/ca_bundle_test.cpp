#include "manager/webhooks/ca_bundle.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

TEST(CaBundle, the_objects_of_a_service_have_upstreams_names) {
  std::vector<std::string> names;
  for (const BundleTarget& target : bundle_targets("own-webhook-service")) {
    names.push_back(target.name);
  }
  const std::vector<std::string> wanted{"own-validating-webhook-configuration",
                                        "own-mutating-webhook-configuration",
                                        "localqueues.kueue.x-k8s.io",
                                        "clusterqueues.kueue.x-k8s.io",
                                        "workloads.kueue.x-k8s.io",
                                        "cohorts.kueue.x-k8s.io",
                                        "multikueueclusters.kueue.x-k8s.io",
                                        "v1beta1.visibility.kueue.x-k8s.io",
                                        "v1beta2.visibility.kueue.x-k8s.io"};
  EXPECT_EQ(names, wanted);
  EXPECT_EQ(visibility_service("own-webhook-service"), "own-visibility-server");
  EXPECT_EQ(bundle_targets("hooks").front().name, "hooks-validating-webhook-configuration");
}

TEST(CaBundle, every_webhook_of_a_configuration_gets_it_once) {
  Json object = Json::parse(R"({"webhooks": [
    {"name": "a", "clientConfig": {"service": {"name": "s"}}},
    {"name": "b", "clientConfig": {"caBundle": "b2xk"}}, {"name": "c"}]})");
  EXPECT_TRUE(set_bundle(&object, "new"));
  EXPECT_EQ(object, Json::parse(R"({"webhooks": [
    {"name": "a", "clientConfig": {"service": {"name": "s"}, "caBundle": "bmV3"}},
    {"name": "b", "clientConfig": {"caBundle": "bmV3"}}, {"name": "c"}]})"));
  EXPECT_FALSE(set_bundle(&object, "new"));
}

TEST(CaBundle, an_api_service_checks_certificates_from_then_on) {
  Json remote = Json::parse(R"({"spec": {"groupPriorityMinimum": 100, "versionPriority": 100,
    "insecureSkipTLSVerify": true, "service": {"name": "s", "namespace": "n"}}})");
  EXPECT_TRUE(set_bundle(&remote, "new"));
  EXPECT_EQ(remote["spec"]["caBundle"], "bmV3");
  EXPECT_FALSE(remote["spec"].contains("insecureSkipTLSVerify"));
  EXPECT_FALSE(set_bundle(&remote, "new"));
  Json local = Json::parse(R"({"spec": {"groupPriorityMinimum": 100, "versionPriority": 100}})");
  EXPECT_FALSE(set_bundle(&local, "new"));
}

TEST(CaBundle, a_definition_gets_it_when_a_webhook_converts_it) {
  Json converted = Json::parse(R"({"spec": {"conversion": {"strategy": "Webhook", "webhook": {
    "clientConfig": {}, "conversionReviewVersions": ["v1"]}}}})");
  EXPECT_TRUE(set_bundle(&converted, "new"));
  EXPECT_EQ(converted.at(Json::json_pointer("/spec/conversion/webhook/clientConfig/caBundle")),
            "bmV3");
  EXPECT_FALSE(set_bundle(&converted, "new"));
  Json plain = Json::parse(R"({"spec": {"conversion": {"strategy": "None"}}})");
  const Json before = plain;
  EXPECT_FALSE(set_bundle(&plain, "new"));
  EXPECT_EQ(plain, before);
}

}  // namespace
}  // namespace regatta::manager
