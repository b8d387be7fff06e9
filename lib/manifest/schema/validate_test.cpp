#include "lib/manifest/schema/validate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manifest {
namespace {

const char* const quantity_pattern =
    R"(^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$)";

SchemaPtr widget() {
  static const auto text = std::string(R"({"type": "object", "properties": {
    "spec": {"type": "object", "required": ["size"], "properties": {
      "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10},
      "color": {"type": "string", "enum": ["red", "green", "blue"]},
      "name": {"type": "string", "maxLength": 8, "pattern": "^[a-z]+$"},
      "paused": {"type": "boolean"},
      "replicas": {"type": "integer"},
      "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 0.5},
      "tags": {"type": "array", "minItems": 1, "maxItems": 3, "x-kubernetes-list-type": "set",
               "items": {"type": "string"}},
      "note": {"type": "string", "nullable": true, "minLength": 2},
      "since": {"type": "string", "format": "date-time"},
      "parts": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                  "name": {"type": "string", "maxLength": 4}}}},
      "any": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object",
              "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
      "limits": {"type": "object", "maxProperties": 2, "additionalProperties": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": true, "pattern": ")") +
                           quantity_pattern + R"("}}}}}})";
  static const auto schema = *parse_schema(Json::parse(text));
  return schema;
}

struct Case {
  const char* name;
  const char* spec;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class ValidateTable : public ::testing::TestWithParam<Case> {};

std::string describe(const FieldErrors& errors) {
  std::string out;
  for (const auto& error : errors) {
    if (!out.empty()) out += "\n";
    out += error.reason + " " + error.field + ": " + error.message;
  }
  return out;
}

TEST_P(ValidateTable, SaysWhatIsWrong) {
  FieldErrors errors;
  const Json object = {{"spec", Json::parse(GetParam().spec)}};
  validate_schema(object, nullptr, *widget(), "", errors);
  EXPECT_EQ(describe(errors), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    , ValidateTable,
    ::testing::Values(
        Case{"fine", R"({"size": 3, "color": "red", "tags": ["a"], "limits": {"cpu": 1}})", ""},
        Case{"whole_float_is_an_integer", R"({"size": 3.0})", ""},
        Case{"null_where_allowed", R"({"size": 3, "note": null})", ""},
        Case{"null_elsewhere", R"({"size": 3, "name": null})",
             "FieldValueTypeInvalid spec.name: Invalid value: \"null\": spec.name in body must be "
             "of type string: \"null\""},
        Case{"required", "{}", "FieldValueRequired spec.size: Required value"},
        Case{"text_for_integer", R"({"size": "three"})",
             "FieldValueTypeInvalid spec.size: Invalid value: \"string\": spec.size in body must "
             "be of type integer: \"string\""},
        Case{"fraction_for_integer", R"({"size": 1.5})",
             "FieldValueTypeInvalid spec.size: Invalid value: \"float64\": spec.size in body must "
             "be of type int32: \"float64\"\n"
             "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer "
             "with format int32 in spec.size"},
        Case{"overflow", R"({"size": 3000000000})",
             "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer "
             "with format int32 in spec.size\n"
             "FieldValueInvalid spec.size: Invalid value: 3000000000: spec.size in body should be "
             "less than or equal to 10"},
        Case{"minimum", R"({"size": 0})",
             "FieldValueInvalid spec.size: Invalid value: 0: spec.size in body should be greater "
             "than or equal to 1"},
        Case{"exclusive_minimum", R"({"size": 1, "ratio": 0})",
             "FieldValueInvalid spec.ratio: Invalid value: 0: spec.ratio in body should be "
             "greater than 0"},
        Case{"multiple", R"({"size": 1, "ratio": 0.7})",
             "FieldValueInvalid spec.ratio: Invalid value: 0.7: spec.ratio in body should be a "
             "multiple of 0.5"},
        Case{"enumeration", R"({"size": 3, "color": "pink"})",
             "FieldValueNotSupported spec.color: Unsupported value: \"pink\": supported values: "
             "\"red\", \"green\", \"blue\""},
        Case{"pattern", R"({"size": 3, "name": "ABC"})",
             "FieldValueInvalid spec.name: Invalid value: \"ABC\": spec.name in body should match "
             "'^[a-z]+$'"},
        Case{"too_long_hides_the_pattern", R"({"size": 3, "name": "ABCDEFGHIJ"})",
             "FieldValueTooLong spec.name: Too long: may not be more than 8 bytes"},
        Case{"too_short", R"({"size": 3, "note": "x"})",
             "FieldValueInvalid spec.note: Invalid value: \"x\": spec.note in body should be at "
             "least 2 chars long"},
        Case{"too_many_items", R"({"size": 3, "tags": ["a", "b", "c", "d"]})",
             "FieldValueTooMany spec.tags: Too many: 4: must have at most 3 items"},
        Case{"too_few_items", R"({"size": 3, "tags": []})",
             "FieldValueInvalid spec.tags: Invalid value: 0: spec.tags in body should have at "
             "least 1 items"},
        Case{"set_with_duplicates", R"({"size": 3, "tags": ["a", "a"]})",
             "FieldValueDuplicate spec.tags[1]: Duplicate value: \"a\""},
        Case{"map_list_with_duplicates", R"({"size": 3, "parts": [{"name": "a"}, {"name": "a"}]})",
             "FieldValueDuplicate spec.parts[1]: Duplicate value: {\"name\":\"a\"}"},
        Case{"map_list_without_key", R"({"size": 3, "parts": [{}]})",
             "FieldValueRequired spec.parts[0].name: Required value"},
        Case{"quantity", R"({"size": 3, "limits": {"cpu": "two"}})",
             "FieldValueInvalid spec.limits.cpu: Invalid value: \"two\": spec.limits.cpu in body "
             "should match "
             "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$'"},
        Case{"int_or_string_is_neither", R"({"size": 3, "limits": {"cpu": true}})",
             "FieldValueTypeInvalid spec.limits.cpu: Invalid value: \"boolean\": spec.limits.cpu "
             "in body must be of type integer,string: \"boolean\""},
        Case{"format", R"({"size": 3, "since": "yesterday"})",
             "FieldValueTypeInvalid spec.since: Invalid value: \"yesterday\": spec.since in body "
             "must be of type date-time: \"yesterday\""},
        Case{"any_of", R"({"size": 3, "any": {}})",
             "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.any\" must validate at least "
             "one schema (anyOf)"},
        Case{"wrong_shape", R"("x")",
             "FieldValueTypeInvalid spec: Invalid value: \"string\": spec in body must be of type "
             "object: \"string\""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Validate, WhatDidNotChangeIsAccepted) {
  const auto old = Json::parse(R"({"spec": {"size": 0, "name": "ABC",
                                            "parts": [{"name": "abcdef"}]}})");
  auto changed = old;
  changed["spec"]["name"] = "ABCD";
  changed["spec"]["parts"].insert(changed["spec"]["parts"].begin(), Json{{"name", "a"}});
  FieldErrors errors;
  validate_schema(changed, &old, *widget(), "", errors);
  EXPECT_EQ(describe(errors),
            "FieldValueInvalid spec.name: Invalid value: \"ABCD\": spec.name in body should match "
            "'^[a-z]+$'");
}

TEST(Validate, MessagesCountFromTheValueFieldsFromTheObject) {
  FieldErrors errors;
  validate_schema(Json::parse(R"({"size": 1, "since": "x"})"), nullptr, *widget()->member("spec"),
                  "spec", errors);
  EXPECT_EQ(describe(errors),
            "FieldValueTypeInvalid spec.since: Invalid value: \"x\": since in body must be of "
            "type date-time: \"x\"");
}

TEST(Validate, SomeErrorsMakeRulesMeaningless) {
  EXPECT_FALSE(blocks_rules({{"FieldValueInvalid", "a", ""}, {"FieldValueDuplicate", "b", ""}}));
  for (const auto* reason : {"FieldValueTypeInvalid", "FieldValueRequired", "FieldValueTooLong",
                             "FieldValueNotSupported", "FieldValueTooMany"}) {
    EXPECT_TRUE(blocks_rules({{reason, "a", ""}})) << reason;
  }
}

}  // namespace
}  // namespace regatta::manifest
