#include "lab/apiserver/openapi/openapi.h"

#include "lab/terms.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::Pair;

class StoppedClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(std::chrono::seconds(86400)); }
  SteadyPoint steady() const override { return SteadyPoint(std::chrono::seconds(1)); }
  Task<> sleep_until(SteadyPoint) override { co_return; }
};

class OpenApiTest : public ::testing::Test {
 protected:
  OpenApiTest() {
    ResourceType job;
    job.group = "batch";
    job.version = "v1";
    job.kind = "Job";
    job.plural = "jobs";
    job.subresources = {{.name = "status", .verbs = status_verbs()}};
    job.schema = SchemaPtr(SchemaPtr(), builtin_schema("batch", "v1", "Job"));
    registry.add(job);
    ResourceType widget;
    widget.group = "example.dev";
    widget.version = "v1";
    widget.kind = "Widget";
    widget.plural = "widgets";
    widget.custom = true;
    widget.schema = *parse_schema(Json::parse(R"({"type": "object", "properties": {
      "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}})"));
    registry.add(widget);
  }

  Json document(const std::string& path) {
    return Json::parse(openapi.answer({.path = path}).body);
  }

  Registry registry;
  StoppedClock clock;
  OpenApi openapi{registry, clock};
};

TEST_F(OpenApiTest, TheIndexNamesDocumentsWithTheirHash) {
  const auto answer = openapi.answer({.path = "/openapi/v3"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, Contains(Pair("Content-Type", "text/plain; charset=utf-8")));
  EXPECT_THAT(answer.headers, Contains(Pair("Last-Modified", "Fri, 02 Jan 1970 00:00:00 GMT")));
  const auto paths = Json::parse(answer.body)["paths"];
  EXPECT_EQ(paths.size(), 2u);
  const auto url = paths["apis/batch/v1"]["serverRelativeURL"].get<std::string>();
  EXPECT_EQ(url.find("/openapi/v3/apis/batch/v1?hash="), 0u);
  const auto hash = url.substr(url.find('=') + 1);
  const auto found = openapi.answer({.path = "/openapi/v3/apis/batch/v1", .hash = hash});
  EXPECT_EQ(found.status, 200);
  EXPECT_THAT(found.headers, Contains(Pair("Etag", "\"" + hash + "\"")));
  EXPECT_THAT(found.headers, Contains(Pair("Cache-Control", "public, immutable")));
}

TEST_F(OpenApiTest, WhatDidNotChangeIsNotSentAgain) {
  EXPECT_EQ(
      openapi.answer({.path = "/openapi/v3", .if_modified_since = "Fri, 02 Jan 1970 00:00:00 GMT"})
          .status,
      304);
  const auto first = openapi.answer({.path = "/openapi/v3/apis/batch/v1"});
  EXPECT_THAT(first.headers, Contains(Pair("Cache-Control", "no-cache, private")));
  EXPECT_EQ(openapi
                .answer({.path = "/openapi/v3/apis/batch/v1",
                         .if_none_match = first.headers.front().second})
                .status,
            304);
}

TEST_F(OpenApiTest, AnOldHashIsRedirectedAnUnknownPathIsNotFound) {
  const auto old = openapi.answer({.path = "/openapi/v3/apis/batch/v1", .hash = "0000"});
  EXPECT_EQ(old.status, 301);
  EXPECT_THAT(old.headers,
              Contains(Pair("Location", testing::StartsWith("/openapi/v3/apis/batch/v1?hash="))));
  EXPECT_EQ(openapi.answer({.path = "/openapi/v3/apis/nosuch/v1"}).status, 404);
}

TEST_F(OpenApiTest, DocumentsFollowTheRegistry) {
  openapi.answer({.path = "/openapi/v3"});
  registry.remove("example.dev", "v1", "widgets");
  EXPECT_EQ(openapi.answer({.path = "/openapi/v3/apis/example.dev/v1"}).status, 404);
}

TEST_F(OpenApiTest, AChangeWithinTheSameSecondIsSeen) {
  const auto last_modified = [](const OpenApiAnswer& answer) {
    for (const auto& [name, value] : answer.headers) {
      if (name == "Last-Modified") return value;
    }
    return std::string();
  };
  const auto before = openapi.answer({.path = "/openapi/v3"});
  registry.remove("example.dev", "v1", "widgets");
  const auto after =
      openapi.answer({.path = "/openapi/v3", .if_modified_since = last_modified(before)});
  EXPECT_EQ(after.status, 200);
  EXPECT_NE(after.body, before.body);
}

TEST_F(OpenApiTest, ClientsLearnThatFieldsAreValidated) {
  for (const std::string path :
       {"batch/v1/namespaces/{namespace}/jobs", "example.dev/v1/namespaces/{namespace}/widgets"}) {
    const auto group_version = path.substr(0, path.find("/namespaces"));
    const auto json = document("/openapi/v3/apis/" + group_version);
    const auto& patch = json["paths"]["/apis/" + path + "/{name}"]["patch"];
    EXPECT_EQ(patch["x-kubernetes-group-version-kind"]["version"], "v1");
    EXPECT_TRUE(std::any_of(patch["parameters"].begin(), patch["parameters"].end(),
                            [](const Json& one) { return one["name"] == "fieldValidation"; }));
  }
}

TEST_F(OpenApiTest, EveryReferenceLeadsToASchema) {
  const auto json = document("/openapi/v3/apis/batch/v1");
  const auto& schemas = json["components"]["schemas"];
  EXPECT_TRUE(schemas.contains("io.k8s.api.core.v1.Container"));
  EXPECT_EQ(schemas["io.k8s.api.batch.v1.JobSpec"]["properties"]["suspend"]["type"], "boolean");
  const auto flat = json.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!path.ends_with("/$ref")) continue;
    const auto name = value.get<std::string>().substr(21);
    EXPECT_TRUE(schemas.contains(name)) << path << " " << name;
  }
}

TEST_F(OpenApiTest, CustomResourcesGetTheirIdentityAndMetadata) {
  const auto schemas = document("/openapi/v3/apis/example.dev/v1")["components"]["schemas"];
  const auto& widget = schemas["dev.example.v1.Widget"];
  EXPECT_EQ(widget["x-kubernetes-group-version-kind"][0]["kind"], "Widget");
  EXPECT_EQ(widget["properties"]["spec"]["properties"]["size"]["type"], "integer");
  EXPECT_TRUE(schemas.contains("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  EXPECT_TRUE(schemas.contains("dev.example.v1.WidgetList"));
}

TEST_F(OpenApiTest, VersionTwoIsThereForOlderClients) {
  const auto json = openapi.answer({.path = "/openapi/v2", .accept = "application/json"});
  EXPECT_EQ(Json::parse(json.body)["swagger"], "2.0");
  const auto protobuf =
      openapi.answer({.path = "/openapi/v2",
                      .accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"});
  EXPECT_THAT(
      protobuf.headers,
      Contains(Pair("Content-Type", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")));
  EXPECT_EQ(protobuf.body.substr(0, 5),
            "\x0a\x03"
            "2.0");
  EXPECT_EQ(openapi.answer({.path = "/openapi/v2", .accept = "text/html"}).status, 406);
}

}  // namespace
}  // namespace regatta::apiserver
