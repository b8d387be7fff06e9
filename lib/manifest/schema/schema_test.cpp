#include "lib/manifest/schema/schema.h"

#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Json parts = Json::parse(R"({
  "type": "object", "properties": {
    "spec": {"type": "object", "required": ["size"], "properties": {
      "size": {"type": "integer", "format": "int32", "minimum": 1},
      "color": {"type": "string", "default": "red", "enum": ["red", "blue"]},
      "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
      "limits": {"type": "object", "additionalProperties": {"type": "string"}},
      "name": {"type": "string"},
      "parts": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {
                  "name": {"type": "string"}, "count": {"type": "integer", "default": 1},
                  "note": {"type": "string", "nullable": true}}}}}}}})");

SchemaPtr widget() {
  return *parse_schema(parts);
}

TEST(Schema, ReadsWhatItWrites) {
  const auto schema = widget();
  EXPECT_EQ(schema_to_json(*schema), parts);
  EXPECT_TRUE(schema->defaults_below);
  EXPECT_FALSE(schema->rules_below);
}

TEST(Schema, SaysWhereItCannotBeRead) {
  const auto bad = parse_schema(
      {{"type", "object"}, {"properties", {{"a", {{"type", "string"}, {"pattern", "("}}}}}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().what(), HasSubstr("properties[a].pattern: "));
  EXPECT_FALSE(parse_schema({{"type", "text"}}));
  EXPECT_FALSE(parse_schema(Json::array()));
}

TEST(Prune, RemovesAndReportsWhatIsUnknown) {
  Json object = Json::parse(R"({"apiVersion": "example.dev/v1", "kind": "Widget", "extra": {},
    "metadata": {"name": "w", "bogus": 1},
    "spec": {"size": 3, "nosuch": 1, "free": {"any": [1]}, "limits": {"cpu": "1"},
             "parts": [{"name": "a", "odd": 1}]}})");
  const auto before = object;
  const auto schema = widget();
  const std::vector<std::string> wanted = {"metadata.bogus", "extra", "spec.nosuch",
                                           "spec.parts[0].odd"};
  EXPECT_EQ(unknown_fields(object, *schema), wanted);
  EXPECT_EQ(object, before);
  std::vector<std::string> unknown;
  prune(object, *schema, &unknown);
  EXPECT_EQ(unknown, wanted);
  EXPECT_EQ(object, Json::parse(R"({"apiVersion": "example.dev/v1", "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"size": 3, "free": {"any": [1]}, "limits": {"cpu": "1"},
             "parts": [{"name": "a"}]}})"));
}

TEST(Prune, KeepsTheIdentityOfEmbeddedResources) {
  const auto schema = *parse_schema(Json::parse(R"({"type": "object", "properties": {
    "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                 "properties": {"spec": {"type": "object"}}}}})"));
  Json object = {{"template",
                  {{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"spec", Json::object()},
                   {"metadata", {{"name", "p"}, {"odd", 1}}},
                   {"status", 1}}}};
  prune(object, *schema);
  EXPECT_EQ(object["template"].dump(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}})");
}

TEST(Defaults, AreFilledInAndNullsDropped) {
  Json object = Json::parse(R"({"spec": {"size": 3, "name": null,
    "parts": [{"name": "a", "note": null}, {"name": "b", "count": null}]}})");
  const auto schema = widget();
  set_schema_defaults(object, *schema);
  const auto wanted = Json::parse(R"({"spec": {"size": 3, "color": "red",
    "parts": [{"name": "a", "note": null, "count": 1}, {"name": "b", "count": 1}]}})");
  EXPECT_EQ(object, wanted);
  set_schema_defaults(object, *schema);
  EXPECT_EQ(object, wanted);
}

TEST(Defaults, OfAnObjectAreFilledInFurther) {
  const auto schema = *parse_schema(Json::parse(R"({"type": "object", "properties": {
    "a": {"type": "object", "default": {}, "properties": {
      "b": {"type": "string", "default": "x"}}}}})"));
  Json object = Json::object();
  set_schema_defaults(object, *schema);
  EXPECT_EQ(object, Json::parse(R"({"a": {"b": "x"}})"));
}

TEST(DuplicateFields, AreFoundInTheText) {
  EXPECT_THAT(duplicate_fields(R"({"data": {"a": "1", "a": "2"}, "l": [{}, {"x": 1, "x": 2}]})"),
              ElementsAre("data.a", "l[1].x"));
  EXPECT_THAT(duplicate_fields(R"({"a": {"x": 1}, "b": {"x": 1}})"), ElementsAre());
  EXPECT_THAT(duplicate_fields("{"), ElementsAre());
}

TEST(Builtin, PodsHaveTheirListTypes) {
  const auto* pod = builtin_schema("", "v1", "Pod");
  ASSERT_TRUE(pod);
  const auto* spec = pod->member("spec");
  ASSERT_TRUE(spec);
  const auto* ports = spec->member("containers")->items->member("ports");
  ASSERT_TRUE(ports);
  EXPECT_EQ(spec->member("topologySpreadConstraints")->patch_merge_key, "topologyKey");
  EXPECT_EQ(ports->list_type, ListType::map);
  EXPECT_THAT(ports->list_map_keys, ElementsAre("containerPort", "protocol"));
  EXPECT_EQ(ports->patch_strategy, "merge");
  EXPECT_EQ(ports->patch_merge_key, "containerPort");
  EXPECT_EQ(*ports->items->member("protocol")->default_value, "TCP");
  EXPECT_EQ(spec->member("volumes")->patch_strategy, "merge,retainKeys");
  EXPECT_EQ(spec->member("nodeSelector")->map_type, MapType::atomic);
  EXPECT_THAT(spec->required, ElementsAre("containers"));
  EXPECT_EQ(pod->member("metadata")->member("ownerReferences")->patch_merge_key, "uid");
}

TEST(Builtin, MarkedReferencesAreComplete) {
  const auto* strategy =
      builtin_schema("apps", "v1", "Deployment")->member("spec")->member("strategy");
  EXPECT_EQ(strategy->patch_strategy, "retainKeys");
  EXPECT_TRUE(strategy->member("rollingUpdate")->member("maxSurge"));
}

TEST(Builtin, RecursiveTypesReferToThemselves) {
  const auto* schema =
      builtin_type("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->member("properties")->additional_properties.get(), schema);
}

TEST(Builtin, StrictValidationFindsWhatDoesNotExist) {
  const auto object = Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "a", "nosuchmeta": 1}, "dataa": {"k": "v"}, "Data": {}})");
  EXPECT_THAT(unknown_fields(object, *builtin_schema("", "v1", "ConfigMap")),
              ElementsAre("metadata.nosuchmeta", "Data", "dataa"));
  const auto job = Json::parse(R"({"spec": {"template": {"spec": {"containers": [
    {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}, "bogus": {}}]}}}})");
  EXPECT_THAT(unknown_fields(job, *builtin_schema("batch", "v1", "Job")),
              ElementsAre("spec.template.spec.containers[0].bogus"));
}

TEST(Builtin, EveryKindHasItsIdentity) {
  for (const auto& [name, type] : builtin_types()) {
    for (const auto& kind : type->group_version_kinds) {
      EXPECT_EQ(builtin_schema(kind.group, kind.version, kind.kind), type.get()) << name;
      EXPECT_TRUE(type->member("metadata")) << name;
    }
  }
}

}  // namespace
}  // namespace regatta::manifest
