#include "lib/manifest/crd/definition.h"

#include "lib/manifest/crd/definition_checks.h"
#include "lib/manifest/crd/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Definition, AGoodOneIsAccepted) {
  EXPECT_EQ(describe(check_definition(widget_definition())), "");
}

TEST(Definition, TheNameIsMadeOfPluralAndGroup) {
  auto definition = widget_definition();
  definition["metadata"]["name"] = "wrong.example.dev";
  EXPECT_EQ(describe(check_definition_name(definition)),
            "metadata.name: Invalid value: \"wrong.example.dev\": must be "
            "spec.names.plural+\".\"+spec.group");
}

TEST(Definition, ThereIsOneStorageVersion) {
  auto definition = widget_definition();
  definition["spec"]["versions"][1]["storage"] = true;
  definition_strategy()->prepare_for_create(definition, TimePoint());
  EXPECT_EQ(describe(check_definition(definition)),
            "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":true,"
            "\"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":"
            "null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null},{\"Name\":"
            "\"v1beta1\",\"Served\":true,\"Storage\":true,\"Deprecated\":true,"
            "\"DeprecationWarning\":\"example.dev/v1beta1 Widget is deprecated; use v1\","
            "\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,"
            "\"SelectableFields\":null}]: must have exactly one version marked as storage version\n"
            "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version "
            "v1beta1");
}

Json& spec_schema(Json& definition) {
  return definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
}

TEST(Definition, SchemasAreStructural) {
  auto definition = widget_definition();
  spec_schema(definition)["properties"]["bad"] = {{"type", "array"}};
  EXPECT_EQ(describe(check_definition(definition)),
            "[Required] spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[bad]"
            ".items: Required value: must be specified\n"
            "spec.selectableFields: Invalid value: \"\": may only be set when "
            "validations.schema is included");
}

TEST(Definition, WhatASchemaMayNotSay) {
  const struct {
    const char* name;
    const char* schema;  ///< of spec
    const char* error;
  } cases[] = {
      {"an unknown type", R"({"type":"foo"})", "[spec].type: Unsupported value: \"foo\""},
      {"a pattern that does not compile", R"({"type":"string","pattern":"["})",
       "[spec].pattern: Invalid value: \"[\": must be a valid regular expression"},
      {"a default of another type", R"({"type":"string","default":5})",
       "[spec].default: Invalid value: \"integer\""},
      {"a default with unknown fields",
       R"({"type":"object","properties":{"a":{"type":"string"}},"default":{"b":"c"}})",
       "[spec].default: Invalid value: {\"b\":\"c\"}: must not have unknown fields"},
      {"a set of granular objects",
       R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}})",
       "[spec].items.x-kubernetes-map-type: Forbidden: must be atomic"},
      {"a list map without a key that is sure to be there",
       R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],
           "items":{"type":"object","properties":{"a":{"type":"string"}}}})",
       "[spec].items.properties[a].default: Required value: this property is in"},
      {"a list map by a field that items do not have",
       R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["b"],
           "items":{"type":"object","properties":{"a":{"type":"string"}}}})",
       "[spec].x-kubernetes-list-map-keys: Invalid value: [\"b\"]: entries must all be names"},
      {"types below anyOf", R"({"type":"string","anyOf":[{"type":"string"}]})",
       "[spec].anyOf[0].type: Forbidden: must be empty to be structural"},
      {"fields that only anyOf knows",
       R"({"type":"object","anyOf":[{"properties":{"x":{"pattern":"a"}}}]})",
       "[spec].properties[x]: Required value: because it is defined in "},
      {"an embedded resource without fields",
       R"({"type":"object","x-kubernetes-embedded-resource":true})",
       "[spec].properties: Required value: must not be empty"},
      {"a rule with an unknown reason",
       R"({"type":"string","x-kubernetes-validations":[{"rule":"true","reason":"Foo"}]})",
       "[spec].x-kubernetes-validations[0].reason: Unsupported value: \"Foo\""},
  };
  for (const auto& one : cases) {
    auto definition = widget_definition();
    definition["spec"]["versions"].erase(1);
    definition["spec"]["versions"][0].erase("selectableFields");
    spec_schema(definition) = Json::parse(one.schema);
    EXPECT_THAT(describe(check_definition(definition)),
                HasSubstr("spec.validation.openAPIV3Schema.properties" + std::string(one.error)))
        << one.name;
  }
}

TEST(Definition, WhatElseCanBeWrong) {
  const struct {
    const char* name;
    const char* patch;  ///< of the definition
    const char* error;
  } cases[] = {
      {"a kind with spaces", R"({"spec":{"names":{"kind":"a b"}}})",
       "spec.names.kind: Invalid value: \"a b\": may have mixed case, but should otherwise match"},
      {"a protected group", R"({"spec":{"group":"foo.k8s.io"}})",
       "metadata.annotations[api-approved.kubernetes.io]: Required value"},
      {"a webhook that is not told", R"({"spec":{"conversion":{"strategy":"Webhook"}}})",
       "spec.conversion.webhookClientConfig: Required value"},
      {"preserved unknown fields", R"({"spec":{"preserveUnknownFields":true}})",
       "spec.preserveUnknownFields: Invalid value: true: cannot set to true"},
  };
  for (const auto& one : cases) {
    auto definition = widget_definition();
    definition.merge_patch(Json::parse(one.patch));
    EXPECT_THAT(describe(check_definition(definition)), HasSubstr(one.error)) << one.name;
  }
}

TEST(Definition, ColumnsAndScaleAreCheckedOnceForAllVersionsThatAgree) {
  auto definition = widget_definition();
  for (auto& version : definition["spec"]["versions"]) {
    version["additionalPrinterColumns"] = Json::parse(R"([{"type":"foo","jsonPath":"x"}])");
    version["subresources"] = Json::parse(R"({"scale":{"specReplicasPath":".foo"}})");
  }
  const auto errors = describe(check_definition(definition));
  for (const char* error :
       {"spec.additionalPrinterColumns[0].name: Required value",
        "spec.additionalPrinterColumns[0].type: Invalid value: \"foo\": must be one of",
        "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\"",
        "spec.subresources.scale.specReplicasPath: Invalid value: \".foo\"",
        "spec.subresources.scale.statusReplicasPath: Required value"}) {
    EXPECT_THAT(errors, HasSubstr(error));
  }
}

TEST(Definition, SchemasAreRequired) {
  auto definition = widget_definition();
  definition["spec"]["versions"][0].erase("schema");
  EXPECT_THAT(describe(check_definition(definition)),
              HasSubstr("[Required] spec.versions[0].schema.openAPIV3Schema: Required value"));
}

TEST(Definition, RulesMustCompile) {
  auto definition = widget_definition();
  spec_schema(definition)["x-kubernetes-validations"] =
      Json::parse(R"([{"rule": "self.nosuch > 1"}])");
  EXPECT_THAT(
      describe(check_definition(definition)),
      HasSubstr("spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-"
                "validations[0].rule: Invalid value: {\"Rule\":\"self.nosuch \\u003e 1\","
                "\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
                "\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined "
                "field 'nosuch'\n | self.nosuch > 1\n | ....^"));
}

TEST(Definition, RulesAnswerTrueOrFalse) {
  auto definition = widget_definition();
  spec_schema(definition)["x-kubernetes-validations"] = Json::parse(R"([{"rule": "self.size"}])");
  EXPECT_THAT(describe(check_definition(definition)),
              HasSubstr("cel expression must evaluate to a bool"));
}

TEST(Definition, MessagesOfUnboundedCostAreRefusedOnceForAllVersions) {
  auto definition = widget_definition();
  const auto rules = Json::parse(
      R"x([{"rule": "self.size > 0", "messageExpression": "'size ' + string(self.size)"}])x");
  spec_schema(definition)["x-kubernetes-validations"] = rules;
  definition["spec"]["versions"][1]["schema"] = definition["spec"]["versions"][0]["schema"];
  const std::string hint =
      "exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, "
      "maxProperties, and maxLength where arrays, maps, and strings are declared)";
  const std::string path = "spec.validation.openAPIV3Schema";
  const auto message = path + ".properties[spec].x-kubernetes-validations[0].messageExpression";
  EXPECT_EQ(describe(check_definition(definition)),
            "[Forbidden] " + message + ": Forbidden: estimated messageExpression cost " + hint +
                "\n[Forbidden] " + message +
                ": Forbidden: contributed to estimated rule cost total exceeding cost limit for "
                "entire OpenAPIv3 schema\n[Forbidden] " +
                path +
                ": Forbidden: x-kubernetes-validations estimated rule cost total for entire "
                "OpenAPIv3 schema " +
                hint);
}

TEST(Definition, ItemsOfAtomicListsHaveNoOldSelf) {
  auto definition = widget_definition();
  auto& parts = spec_schema(definition)["properties"]["parts"];
  parts["x-kubernetes-list-type"] = "atomic";
  parts.erase("x-kubernetes-list-map-keys");
  EXPECT_THAT(describe(check_definition(definition)),
              HasSubstr("oldSelf cannot be used on the uncorrelatable portion"));
}

TEST(Definition, NamesHaveDefaults) {
  Json definition = {{"spec", {{"names", {{"kind", "Widget"}, {"plural", "widgets"}}}}}};
  definition_strategy()->set_defaults(definition);
  EXPECT_EQ(definition["spec"]["names"]["singular"], "widget");
  EXPECT_EQ(definition["spec"]["names"]["listKind"], "WidgetList");
  EXPECT_EQ(definition["spec"]["conversion"]["strategy"], "None");
}

std::string conditions_of(const Json& definition) {
  std::string out;
  for (const auto& condition : definition["status"]["conditions"]) {
    out += (out.empty() ? "" : ", ") + condition["type"].get<std::string>() + "=" +
           condition["status"].get<std::string>() + "/" + condition["reason"].get<std::string>();
  }
  return out;
}

TEST(Definition, IsEstablishedInTwoSteps) {
  auto definition = widget_definition();
  definition_strategy()->prepare_for_create(definition, TimePoint());
  EXPECT_EQ(definition["status"].dump(),
            "{\"acceptedNames\":{\"kind\":\"\",\"plural\":\"\"},\"conditions\":null,"
            "\"storedVersions\":[\"v1\"]}");
  EXPECT_TRUE(update_definition_status(definition, {}, TimePoint()));
  EXPECT_EQ(conditions_of(definition),
            "NamesAccepted=True/NoConflicts, Established=False/Installing");
  EXPECT_TRUE(update_definition_status(definition, {}, TimePoint()));
  EXPECT_EQ(conditions_of(definition),
            "NamesAccepted=True/NoConflicts, Established=True/InitialNamesAccepted");
  EXPECT_TRUE(is_established(definition));
  EXPECT_EQ(definition["status"]["acceptedNames"], definition["spec"]["names"]);
  EXPECT_FALSE(update_definition_status(definition, {definition}, TimePoint()));
}

TEST(Definition, ATakenNameIsRefused) {
  auto first = widget_definition();
  update_definition_status(first, {}, TimePoint());
  auto second = widget_definition();
  second["metadata"]["name"] = "gadgets.example.dev";
  second["spec"]["names"]["plural"] = "gadgets";
  second["spec"]["names"]["singular"] = "gadget";
  EXPECT_TRUE(update_definition_status(second, {first, second}, TimePoint()));
  EXPECT_EQ(conditions_of(second),
            "NamesAccepted=False/ListKindConflict, Established=False/NotAccepted");
  EXPECT_EQ(second["status"]["conditions"][0]["message"], "\"WidgetList\" is already in use");
  EXPECT_FALSE(is_established(second));
}

TEST(ResourceTypes, AreMadeOfEveryServedVersion) {
  const auto types = resource_types(widget_definition(), nullptr);
  ASSERT_TRUE(types);
  ASSERT_EQ(types->size(), 2u);
  const auto& type = types->front();
  EXPECT_EQ(type.group_resource(), "widgets.example.dev");
  EXPECT_EQ(type.storage_version_hash, "dGliDuVrUiQ=");
  EXPECT_THAT(type.short_names, ElementsAre("wg"));
  EXPECT_TRUE(type.has_status());
  EXPECT_EQ(type.subresource("scale")->kind, "Scale");
  EXPECT_TRUE(type.custom);
  EXPECT_EQ(type.deprecation_warning, "");
  EXPECT_EQ(types->back().deprecation_warning, "example.dev/v1beta1 Widget is deprecated; use v1");
  EXPECT_EQ(types->back().storage_version, "v1");
  EXPECT_FALSE(types->back().to_stored);
}

}  // namespace
}  // namespace regatta::manifest
