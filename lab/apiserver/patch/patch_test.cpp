#include "lab/apiserver/patch/patch_object.h"
#include "lab/apiserver/patch/test_support.h"

#include <gtest/gtest.h>

namespace regatta::apiserver {
namespace {

using testing::config_map_writer;
using testing::json_of;

struct JsonPatchCase {
  const char* name;
  const char* document;
  const char* patch;
  const char* result;  ///< null: refused with 422
};

TEST(JsonPatch, FollowsTheRfcAndKubernetes) {
  const JsonPatchCase cases[] = {
      {"adds a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
       R"({"a":1,"b":2})"},
      {"adds an item", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
       R"({"a":[1,2,3]})"},
      {"appends", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {"replaces an item", R"({"a":[1]})", R"([{"op":"replace","path":"/a/0","value":2}])",
       R"({"a":[2]})"},
      {"replace of a missing member adds it", R"({"a":{}})",
       R"([{"op":"replace","path":"/a/b","value":2}])", R"({"a":{"b":2}})"},
      {"removes", R"({"a":1,"b":[1,2]})",
       R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/b/0"}])", R"({"b":[2]})"},
      {"moves", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
      {"copies", R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":1,"b":1})"},
      {"unescapes", R"({"a/b":1,"~1":2})",
       R"([{"op":"remove","path":"/a~1b"},{"op":"test","path":"/~01","value":2}])", R"({"~1":2})"},
      {"a missing member is null", R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])",
       R"({"a":1})"},
      {"a failing test", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", nullptr},
      {"removing what is not there", R"({"a":1})", R"([{"op":"remove","path":"/b"}])", nullptr},
      {"a missing parent", R"({"a":1})", R"([{"op":"add","path":"/b/c","value":1}])", nullptr},
      {"an unknown operation", R"({"a":1})", R"([{"op":"frob","path":"/a"}])", nullptr},
      {"an index beyond the end", R"({"a":[]})", R"([{"op":"add","path":"/a/1","value":1}])",
       nullptr},
      {"an operation without value means null", R"({"a":1})", R"([{"op":"add","path":"/b"}])",
       R"({"a":1,"b":null})"},
      {"a copy of a missing member is null", R"({"a":1})",
       R"([{"op":"copy","from":"/c","path":"/b"}])", R"({"a":1,"b":null})"},
      {"what stands before the first slash does not count", R"({"a":1})",
       R"([{"op":"add","path":"x/b","value":2}])", R"({"a":1,"b":2})"},
      {"replaces everything", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])",
       R"({"b":2})"},
      {"nothing is no patch", R"({"a":1})", "null", R"({"a":1})"},
      {"adding in place of everything", R"({"a":1})", R"([{"op":"add","path":"","value":{}}])",
       nullptr},
      {"moving what is not there", R"({"a":1})", R"([{"op":"move","from":"/c","path":"/b"}])",
       nullptr},
      {"an operation that is null", R"({"a":1})", "[null]", nullptr},
  };
  for (const JsonPatchCase& c : cases) {
    PatchAnswer<Json> result = json_patch(json_of(c.document), json_of(c.patch));
    if (c.result) {
      ASSERT_TRUE(result) << c.name;
      EXPECT_EQ(*result, json_of(c.result)) << c.name;
    } else {
      ASSERT_FALSE(result) << c.name;
      EXPECT_EQ(result.error(), rejected_patch()) << c.name;
    }
  }
}

TEST(JsonPatch, OperationsOfTheWrongTypesAreMalformed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"op":"add"})", "object into Go value of type []handlers.jsonPatchOp"},
      {R"(["x"])", "string into Go value of type handlers.jsonPatchOp"},
      {R"([{"op":1}])", "number into Go struct field jsonPatchOp.op of type string"}};
  for (const auto& [patch, why] : cases) {
    PatchAnswer<Json> result = json_patch(json_of("{}"), json_of(patch));
    ASSERT_FALSE(result) << patch;
    EXPECT_EQ(result.error(),
              bad_patch("error decoding patch: json: cannot unmarshal " + std::string(why)));
  }
  EXPECT_EQ(json_patch_unknown_fields(json_of(R"([{"op":"add","path":"/a","foo":1}])")),
            std::vector<std::string>{"json patch unknown field \"[0].foo\""});
}

TEST(JsonPatch, HasALimitOfOperations) {
  Json operations = Json::array();
  for (std::size_t i = 0; i <= json_patch_operations_max; ++i) {
    operations.push_back({{"op", "test"}, {"path", ""}, {"value", 1}});
  }
  PatchAnswer<Json> result = json_patch(1, operations);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, 413);
}

TEST(JsonPatch, CopiesDoNotGrowWithoutLimit) {
  Json operations = Json::array();
  for (int i = 0; i < 64; ++i) {
    operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/-"}});
  }
  EXPECT_FALSE(json_patch(json_of(R"({"a":["0123456789"]})"), operations));
}

TEST(MergePatch, MergesRemovesAndReplaces) {
  Json target = json_of(R"({"a":{"b":1,"c":2},"d":[1]})");
  merge_patch(&target, json_of(R"({"a":{"b":null,"x":{"y":null,"z":1}},"d":[2],"e":null})"));
  EXPECT_EQ(target, json_of(R"({"a":{"c":2,"x":{"z":1}},"d":[2]})"));
}

Json live_config_map() {
  return json_of(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u",
    "managedFields":[{"manager":"c","operation":"Update","apiVersion":"v1",
      "time":"1970-01-01T00:00:01Z","fieldsType":"FieldsV1",
      "fieldsV1":{"f:data":{".":{},"f:q":{}}}}]},"data":{"q":"1"}})");
}

PatchRequest request_of(PatchType type, std::string_view body) {
  PatchRequest request;
  request.type = type;
  request.body = body;
  request.writer = config_map_writer("tester");
  request.kind = "ConfigMap";
  return request;
}

PatchFailure refusal(const PatchRequest& request) {
  Json live = live_config_map();
  PatchAnswer<Patched> patched = patch_object(request, &live);
  return patched ? PatchFailure{} : patched.error();
}

TEST(PatchObject, SaysWhatIsMalformed) {
  struct Case {
    PatchType type;
    const char* body;
    const char* message;
  };
  const Case cases[] = {
      {PatchType::merge, "[1]",
       "error decoding patch: json: cannot unmarshal array into Go value of type "
       "map[string]interface {}"},
      {PatchType::merge, R"({"data":)", "error decoding patch: unexpected end of JSON input"},
      {PatchType::json, R"({"op":"add"})",
       "error decoding patch: json: cannot unmarshal object into Go value of type "
       "[]handlers.jsonPatchOp"},
      {PatchType::strategic, R"([{"a":1}])",
       "json: cannot unmarshal array into Go value of type map[string]interface {}"},
  };
  for (const Case& c : cases) {
    PatchFailure failure = refusal(request_of(c.type, c.body));
    EXPECT_EQ(failure.code, 400);
    EXPECT_EQ(failure.reason, "BadRequest");
    EXPECT_EQ(failure.message, c.message);
  }
}

TEST(PatchObject, APatchThatChangesNothingIsTheObjectItself) {
  Json live = live_config_map();
  for (const char* body : {"{}", R"({"data":{"zzz":null}})", R"({"data":{"q":"1"}})"}) {
    PatchAnswer<Patched> patched = patch_object(request_of(PatchType::merge, body), &live);
    ASSERT_TRUE(patched) << body;
    EXPECT_EQ(patched->object, live) << body;
  }
}

TEST(PatchObject, OwnershipFollowsThePatch) {
  Json live = live_config_map();
  PatchAnswer<Patched> patched =
      patch_object(request_of(PatchType::merge, R"({"data":{"n":"3"}})"), &live);
  ASSERT_TRUE(patched);
  EXPECT_EQ(testing::fields_of(patched->object, "tester"), json_of(R"({"f:data":{"f:n":{}}})"));
}

TEST(PatchObject, UnknownFieldsAreWarningsOrA422) {
  Json live = live_config_map();
  PatchRequest request =
      request_of(PatchType::merge, R"({"dataa":{"x":"y"},"data":{"k":"1","k":"2"}})");
  PatchAnswer<Patched> patched = patch_object(request, &live);
  ASSERT_TRUE(patched);
  std::vector<std::string> expected = {"duplicate field \"data.k\"", "unknown field \"dataa\""};
  EXPECT_EQ(patched->warnings, expected);
  request.validation = FieldValidation::ignore;
  EXPECT_TRUE(patch_object(request, &live)->warnings.empty());
  request.validation = FieldValidation::strict;
  PatchFailure failure = refusal(request);
  EXPECT_EQ(failure.code, 422);
  EXPECT_EQ(failure.reason, "Invalid");
  EXPECT_TRUE(failure.message.starts_with(
      " \"\" is invalid: patch: Invalid value: \"{\\\"apiVersion\\\":\\\"v1\\\","))
      << failure.message;
  EXPECT_TRUE(failure.message.ends_with(
      "\": strict decoding error: duplicate field \"data.k\", unknown field \"dataa\""))
      << failure.message;
  ASSERT_EQ(failure.causes.size(), 1U);
  EXPECT_EQ(failure.causes[0].reason, "FieldValueInvalid");
  EXPECT_EQ(failure.causes[0].field, "patch");
}

TEST(PatchObject, AResultOfAnotherKindIsReadAsThatKind) {
  PatchFailure secret = refusal(request_of(PatchType::merge, R"({"kind":"Secret"})"));
  EXPECT_TRUE(secret.message.ends_with(": illegal base64 data at input byte 0")) << secret.message;
  PatchFailure other = refusal(request_of(PatchType::merge, R"({"kind":"Secret","data":null})"));
  EXPECT_TRUE(
      other.message.ends_with(": converting (v1.Secret) to (core.ConfigMap): unknown conversion"))
      << other.message;
}

TEST(PatchObject, AResultThatCannotBeDecodedIsA422) {
  PatchFailure failure = refusal(request_of(PatchType::merge, R"({"data":{"k":{"x":1}}})"));
  EXPECT_EQ(failure.code, 422);
  EXPECT_TRUE(failure.message.ends_with(
      ": json: cannot unmarshal object into Go struct field ConfigMap.data of type string"))
      << failure.message;
  EXPECT_EQ(refusal(request_of(PatchType::merge, R"({"kind":"Nope"})")).code, 422);
  EXPECT_EQ(refusal(request_of(PatchType::json, R"([{"op":"replace","path":"","value":1}])")).code,
            422);
}

TEST(PatchObject, AppliesFromTextOrADecodedBody) {
  std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"k":"1"}})";
  PatchAnswer<Patched> created = patch_object(request_of(PatchType::apply, body), nullptr);
  ASSERT_TRUE(created);
  Json decoded = json_of(body);
  PatchRequest request = request_of(PatchType::apply, "");
  request.applied = &decoded;
  EXPECT_EQ(patch_object(request, nullptr)->object, created->object);
  EXPECT_EQ(patch_object(request, &created->object)->object, created->object);
}

}  // namespace
}  // namespace regatta::apiserver
