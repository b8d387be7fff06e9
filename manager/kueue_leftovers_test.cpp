#include "manager/kueue_leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool none(std::string_view) {
  return false;
}

TEST(KueueLeftovers, AreTheWebhooksThatKueuesServiceAnswers) {
  const Json list = Json::parse(R"({"items": [
    {"metadata": {"name": "kueue-mutating-webhook-configuration"}, "webhooks": [
      {"name": "mjob.kb.io", "clientConfig": {"service":
        {"name": "kueue-webhook-service", "path": "/mutate-batch-v1-job"}}},
      {"name": "mpod.kb.io", "clientConfig": {"service": {"name": "kueue-webhook-service"}}}]},
    {"metadata": {"name": "policies"}, "webhooks": [
      {"name": "check.example.dev", "clientConfig": {"url": "https://example.dev"}},
      {"name": "other.example.dev", "clientConfig": {"service": {"name": "policies"}}}]}]})");
  EXPECT_THAT(webhooks_of_kueue(list, none),
              ElementsAre("kueue-mutating-webhook-configuration: mjob.kb.io, mpod.kb.io"));
  const auto jobs = [](std::string_view path) { return path == "/mutate-batch-v1-job"; };
  EXPECT_THAT(webhooks_of_kueue(list, jobs),
              ElementsAre("kueue-mutating-webhook-configuration: mpod.kb.io"));
}

TEST(KueueLeftovers, AreNotFoundInWhatIsNoList) {
  for (const char* text : {"{}", "[]", "null", R"({"items": 5})", R"({"items": [1, {}]})",
                           R"({"items": [{"metadata": {}, "webhooks": [7]}]})"}) {
    EXPECT_THAT(webhooks_of_kueue(Json::parse(text), none), IsEmpty()) << text;
    EXPECT_FALSE(converted_by_kueue(Json::parse(text), none)) << text;
  }
}

TEST(KueueLeftovers, AreTheDefinitionsThatKueueConverts) {
  Json definition = Json::parse(R"({"spec": {"conversion": {"strategy": "Webhook", "webhook":
    {"clientConfig": {"service": {"name": "kueue-webhook-service", "path": "/convert"}}}}}})");
  EXPECT_TRUE(converted_by_kueue(definition, none));
  EXPECT_FALSE(converted_by_kueue(definition, [](auto path) { return path == "/convert"; }));
  definition["spec"]["conversion"]["strategy"] = "None";
  EXPECT_FALSE(converted_by_kueue(definition, none));
}

}  // namespace
}  // namespace regatta::manager
