#include "lab/apiserver/patch/apply.h"

#include "lab/apiserver/patch/test_support.h"

#include <gtest/gtest.h>

namespace regatta::apiserver {
namespace {

using testing::at_second;
using testing::config_map_writer;
using testing::fields_of;
using testing::json_of;
using testing::widget_writer;

ApplyOptions config_map_apply(const char* manager, bool force = false) {
  return ApplyOptions{config_map_writer(manager), "", "ConfigMap", force};
}

Json config_map(const char* data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "a"}}},
          {"data", json_of(data)}};
}

Json applied_to(const Json& live, const Json& applied, const ApplyOptions& options) {
  PatchAnswer<Json> object = apply(live, applied, options);
  if (!object) {
    ADD_FAILURE() << object.error().message;
    return live;
  }
  (*object)["metadata"]["uid"] = "u";
  return *object;
}

PatchFailure refusal(const Json& live, const Json& applied, const ApplyOptions& options) {
  PatchAnswer<Json> object = apply(live, applied, options);
  return object ? PatchFailure{} : object.error();
}

/// a:{k1,k2} applied by m1.
Json two_keys() {
  return applied_to(Json::object(), config_map(R"({"k1":"1","k2":"1"})"), config_map_apply("m1"));
}

TEST(Apply, CreatesWithWhatIsStated) {
  Json live = two_keys();
  EXPECT_EQ(live["data"], json_of(R"({"k1":"1","k2":"1"})"));
  EXPECT_EQ(live["metadata"]["managedFields"],
            json_of(R"([{"manager":"m1","operation":"Apply","apiVersion":"v1",
              "time":"1970-01-01T00:00:01Z","fieldsType":"FieldsV1",
              "fieldsV1":{"f:data":{"f:k1":{},"f:k2":{}}}}])"));
}

TEST(Apply, TheSameAgainChangesNothing) {
  Json live = two_keys();
  ApplyOptions later = config_map_apply("m1");
  later.writer.now = at_second(9);
  EXPECT_EQ(applied_to(live, config_map(R"({"k1":"1","k2":"1"})"), later), live);
}

TEST(Apply, TheLiveValueIsCoOwnedWithoutConflictAndWithoutTime) {
  Json live = applied_to(two_keys(), config_map(R"({"k1":"1"})"), config_map_apply("m2"));
  EXPECT_EQ(fields_of(live, "m1"), json_of(R"({"f:data":{"f:k1":{},"f:k2":{}}})"));
  EXPECT_EQ(fields_of(live, "m2"), json_of(R"({"f:data":{"f:k1":{}}})"));
  EXPECT_EQ(live["metadata"]["managedFields"][0]["manager"], "m2");
  EXPECT_FALSE(live["metadata"]["managedFields"][0].contains("time"));
}

TEST(Apply, OtherValuesConflictOnePerField) {
  PatchFailure two =
      refusal(two_keys(), config_map(R"({"k1":"2","k2":"2","k3":"1"})"), config_map_apply("m2"));
  EXPECT_EQ(two.code, 409);
  EXPECT_EQ(two.reason, "Conflict");
  EXPECT_EQ(two.message,
            "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.k1\n- .data.k2");
  ASSERT_EQ(two.causes.size(), 2U);
  EXPECT_EQ(two.causes[0],
            (FieldError{"FieldManagerConflict", ".data.k1", "conflict with \"m1\""}));
  PatchFailure one = refusal(two_keys(), config_map(R"({"k1":"2"})"), config_map_apply("m2"));
  EXPECT_EQ(one.message, "Apply failed with 1 conflict: conflict with \"m1\": .data.k1");
}

TEST(Apply, AnUpdateManagerIsNamedWithItsVersion) {
  Json live = two_keys();
  Json edited = live;
  edited["data"]["k2"] = "9";
  track_write(&edited, live, config_map_writer("editor"));
  PatchFailure failure =
      refusal(edited, config_map(R"({"k1":"1","k2":"1"})"), config_map_apply("m1"));
  EXPECT_EQ(failure.message,
            "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.k2");
}

TEST(Apply, ForceTakesTheFieldsInDispute) {
  Json live = applied_to(two_keys(), config_map(R"({"k1":"2"})"), config_map_apply("m2", true));
  EXPECT_EQ(live["data"], json_of(R"({"k1":"2","k2":"1"})"));
  EXPECT_EQ(fields_of(live, "m1"), json_of(R"({"f:data":{"f:k2":{}}})"));
  EXPECT_EQ(fields_of(live, "m2"), json_of(R"({"f:data":{"f:k1":{}}})"));
}

TEST(Apply, WhatIsNoLongerStatedGoesUnlessAnotherManagerOwnsIt) {
  Json live = applied_to(two_keys(), config_map(R"({"k1":"1","k3":"1"})"), config_map_apply("m2"));
  live = applied_to(live, config_map("{}"), config_map_apply("m1"));
  EXPECT_EQ(live["data"], json_of(R"({"k1":"1","k3":"1"})"));
  EXPECT_EQ(fields_of(live, "m1"), json_of(R"({"f:data":{}})"));
  Json nothing = config_map("{}");
  nothing.erase("data");
  live = applied_to(live, nothing, config_map_apply("m1"));
  EXPECT_EQ(fields_of(live, "m1"), nullptr);
  live = applied_to(live, nothing, config_map_apply("m2"));
  EXPECT_FALSE(live.contains("data"));
}

TEST(Apply, TheFirstApplyToAnObjectWithoutOwnersSavesThemAsOne) {
  Json live = json_of(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u"},
    "data":{"k1":"1","k2":"1"}})");
  EXPECT_EQ(
      refusal(live, config_map(R"({"k1":"5"})"), config_map_apply("m")).message,
      "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.k1");
  live = applied_to(live, config_map(R"({"k1":"5"})"), config_map_apply("m", true));
  EXPECT_EQ(fields_of(live, "before-first-apply"), json_of(R"({"f:data":{".":{},"f:k2":{}}})"));
}

TEST(Apply, KubectlTakesOverItsClientSideFields) {
  Json live = config_map(R"({"a":"1"})");
  live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
      R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"},"metadata":{"name":"a"}})";
  track_write(&live, Json::object(), config_map_writer("kubectl-client-side-apply"));
  live["metadata"]["uid"] = "u";
  Json wanted = config_map(R"({"a":"2","b":"3"})");
  Json object = applied_to(live, wanted, config_map_apply("kubectl"));
  EXPECT_EQ(object["data"], wanted["data"]);
  EXPECT_EQ(fields_of(object, "kubectl"), json_of(R"({"f:data":{"f:a":{},"f:b":{}}})"));
  EXPECT_EQ(fields_of(object, "kubectl-client-side-apply"),
            json_of(R"({"f:data":{},"f:metadata":{"f:annotations":{".":{},
              "f:kubectl.kubernetes.io/last-applied-configuration":{}}}})"));
  EXPECT_EQ(object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
            dump_json(wanted) + "\n");
  EXPECT_EQ(refusal(live, wanted, config_map_apply("other")).code, 409);
}

ApplyOptions widget_apply(const char* manager, const char* subresource = "") {
  return ApplyOptions{widget_writer(manager, subresource), "example.dev", "Widget", false};
}

Json widget(const char* spec, const char* status = "null") {
  Json object = {
      {"apiVersion", "example.dev/v1"}, {"kind", "Widget"}, {"metadata", {{"name", "w"}}}};
  if (Json value = json_of(spec); !value.is_null()) object["spec"] = value;
  if (Json value = json_of(status); !value.is_null()) object["status"] = value;
  return object;
}

Json first_widget() {
  const char* spec =
      R"({"size":3,"parts":[{"name":"a","count":1},{"name":"b"}],"tags":["x","y"],"atomic":["1"]})";
  return applied_to(Json::object(), widget(spec), widget_apply("m1"));
}

TEST(Apply, ListsAreOwnedAsTheirTypeSays) {
  EXPECT_EQ(fields_of(first_widget(), "m1"),
            json_of(R"({"f:spec":{"f:atomic":{},"f:parts":{"k:{\"name\":\"a\"}":{".":{},
              "f:count":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}},"f:size":{},
              "f:tags":{"v:\"x\"":{},"v:\"y\"":{}}}})"));
  Json live = applied_to(first_widget(),
                         widget(R"({"parts":[{"name":"c","count":4}],"tags":["z"],"min":1})"),
                         widget_apply("m2"));
  EXPECT_EQ(live["spec"]["parts"],
            json_of(R"([{"count":1,"name":"a"},{"name":"b"},{"count":4,"name":"c"}])"));
  EXPECT_EQ(live["spec"]["tags"], json_of(R"(["x","y","z"])"));
  live = applied_to(
      live, widget(R"({"size":3,"parts":[{"name":"a","count":1}],"tags":["x"],"atomic":["1"]})"),
      widget_apply("m1"));
  EXPECT_EQ(live["spec"]["parts"], json_of(R"([{"count":1,"name":"a"},{"count":4,"name":"c"}])"));
  EXPECT_EQ(live["spec"]["tags"], json_of(R"(["x","z"])"));
}

TEST(Apply, ConflictsInListsNameTheElement) {
  EXPECT_EQ(
      refusal(first_widget(), widget(R"({"parts":[{"name":"a","count":9}]})"), widget_apply("m2"))
          .message,
      "Apply failed with 1 conflict: conflict with \"m1\": .spec.parts[name=\"a\"].count");
  EXPECT_EQ(refusal(first_widget(), widget(R"({"atomic":["2"]})"), widget_apply("m3")).message,
            "Apply failed with 1 conflict: conflict with \"m1\": .spec.atomic");
}

TEST(Apply, StatusIsOwnedBesideTheObjectAndIgnoresItsSpec) {
  const char* ready = R"({"phase":"New","conditions":[{"type":"Ready","status":"True"}]})";
  Json live =
      applied_to(first_widget(), widget(R"({"size":10})", ready), widget_apply("ctl", "status"));
  EXPECT_EQ(live["spec"]["size"], 3);
  EXPECT_EQ(fields_of(live, "ctl", "status"),
            json_of(R"({"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},
              "f:status":{},"f:type":{}}},"f:phase":{}}})"));
  EXPECT_EQ(refusal(live, widget("null", R"({"conditions":[{"type":"Ready","status":"False"}]})"),
                    widget_apply("ctl2", "status"))
                .message,
            "Apply failed with 1 conflict: conflict with \"ctl\" with subresource \"status\": "
            ".status.conditions[type=\"Ready\"].status");
  live = applied_to(live, widget("null", R"({"conditions":[{"type":"Synced","status":"True"}]})"),
                    widget_apply("ctl2", "status"));
  live = applied_to(live, widget("null"), widget_apply("ctl", "status"));
  EXPECT_EQ(live["status"], json_of(R"({"conditions":[{"status":"True","type":"Synced"}]})"));
}

TEST(Apply, MetadataIsTypedForCustomResourcesToo) {
  Json applied = widget("null");
  applied["metadata"]["labels"] = {{"l", "1"}};
  applied["metadata"]["finalizers"] = {"example.dev/x"};
  Json live = applied_to(first_widget(), applied, widget_apply("meta"));
  EXPECT_EQ(fields_of(live, "meta"),
            json_of(R"({"f:metadata":{"f:finalizers":{"v:\"example.dev/x\"":{}},
              "f:labels":{"f:l":{}}}})"));
  live = applied_to(live, widget("null"), widget_apply("meta"));
  EXPECT_FALSE(live["metadata"].contains("labels"));
  EXPECT_FALSE(live["metadata"].contains("finalizers"));
}

struct Untypable {
  const char* spec;
  const char* message;
};

TEST(Apply, WhatDoesNotFitTheSchemaIsAnErrorThatSaysWhere) {
  const Untypable cases[] = {
      {R"({"nosuch":1})", ".spec.nosuch: field not declared in schema"},
      {R"({"parts":"x"})", ".spec.parts: expected list, got &{x}"},
      {R"({"color":true})",
       ".spec.color: expected string, got &value.valueUnstructured{Value:true}"},
      {R"({"size":"x"})", ".spec.size: expected numeric (int or float), got string"},
      {R"({"parts":[{"name":"c"},{"name":"c"}]})",
       ".spec.parts: duplicate entries for key [name=\"c\"]"},
      {R"({"parts":[{"count":1}]})",
       ".spec.parts: element 0: associative list with keys has an element that omits key field "
       "\"name\" (and doesn't have default value)"},
      {R"({"nosuch":1,"parts":"x"})",
       "errors:\n  .spec.nosuch: field not declared in schema\n  .spec.parts: expected list, got "
       "&{x}"},
  };
  for (const Untypable& c : cases) {
    PatchFailure failure = refusal(first_widget(), widget(c.spec), widget_apply("m5"));
    EXPECT_EQ(failure.code, 500);
    EXPECT_EQ(failure.reason, "");
    EXPECT_EQ(failure.message,
              "failed to create typed patch object (/w; example.dev/v1, Kind=Widget): " +
                  std::string(c.message));
  }
}

TEST(Apply, RefusesOtherKindsAndOwners) {
  EXPECT_EQ(
      refusal(two_keys(), json_of(R"({"metadata":{"name":"a"}})"), config_map_apply("m")).message,
      "invalid object type: /, Kind=");
  Json other = config_map("{}");
  other["apiVersion"] = "apps/v1";
  EXPECT_EQ(refusal(two_keys(), other, config_map_apply("m")).message,
            "invalid object type: apps/v1, Kind=ConfigMap");
  Json owned = config_map("{}");
  owned["metadata"]["managedFields"] = json_of(R"([{"manager":"x"}])");
  EXPECT_EQ(refusal(two_keys(), owned, config_map_apply("m")).message,
            "metadata.managedFields must be nil");
}

TEST(Apply, KeysOfBuiltInListsHaveDefaults) {
  ApplyOptions options;
  options.writer.manager = "m1";
  options.writer.api_version = "apps/v1";
  options.writer.schema = builtin_schema("apps", "v1", "Deployment");
  options.group = "apps";
  options.kind = "Deployment";
  Json applied = json_of(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
    "spec":{"template":{"spec":{"containers":[{"name":"c1","ports":[{"containerPort":80}]}]}}}})");
  Json live = applied_to(Json::object(), applied, options);
  EXPECT_EQ(fields_of(live, "m1"), json_of(R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{
              "k:{\"name\":\"c1\"}":{".":{},"f:name":{},"f:ports":{
                "k:{\"containerPort\":80,\"protocol\":\"TCP\"}":
                  {".":{},"f:containerPort":{}}}}}}}}})"));
  Json nameless = applied;
  nameless["spec"]["template"]["spec"]["containers"] = json_of(R"([{"image":"x"}])");
  options.writer.manager = "m2";
  live = applied_to(live, nameless, options);
  EXPECT_EQ(live["spec"]["template"]["spec"]["containers"].size(), 2U);
}

}  // namespace
}  // namespace regatta::apiserver
