#include "lab/apiserver/patch/managed_fields.h"
#include "lab/apiserver/patch/test_support.h"

#include <gtest/gtest.h>

namespace regatta::apiserver {
namespace {

using testing::at_second;
using testing::config_map_writer;
using testing::fields_of;
using testing::json_of;
using testing::widget_writer;

Json live_object(Json object) {
  object["metadata"]["uid"] = "u";
  return object;
}

Json created_config_map() {
  Json object = json_of(R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  track_write(&object, blank_object("", "v1", "ConfigMap"), config_map_writer("creator"));
  return live_object(object);
}

TEST(TrackWrite, ACreateOwnsAllItSends) {
  Json object = created_config_map();
  Json expected = json_of(R"([{"manager":"creator","operation":"Update","apiVersion":"v1",
    "time":"1970-01-01T00:00:01Z","fieldsType":"FieldsV1",
    "fieldsV1":{"f:data":{".":{},"f:k":{}}}}])");
  EXPECT_EQ(object["metadata"]["managedFields"], expected);
}

TEST(TrackWrite, CustomResourcesOwnTheirSpecBuiltInTypesAlwaysHaveOne) {
  Json widget = json_of(R"({"metadata":{"name":"w","generateName":"g-"},"spec":{"size":3,
    "parts":[{"name":"a"}],"free":{"any":{"thing":[1]}}},"status":{"phase":"New"}})");
  track_write(&widget, Json::object(), widget_writer("c"));
  EXPECT_EQ(fields_of(widget, "c"), json_of(R"({"f:metadata":{"f:generateName":{}},"f:spec":{".":{},
              "f:free":{".":{},"f:any":{".":{},"f:thing":{}}},
              "f:parts":{".":{},"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:size":{}}})"));

  Writer writer;
  writer.manager = "c";
  writer.api_version = "apps/v1";
  writer.schema = builtin_schema("apps", "v1", "Deployment");
  writer.ignored = {"status"};
  Json deployment = json_of(R"({"metadata":{"name":"d"},"spec":{"replicas":1,
    "selector":{"matchLabels":{"a":"b"}},"strategy":{"type":"Recreate"},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c1",
      "ports":[{"containerPort":80,"protocol":"TCP"}],"args":["x"],"resources":{}}],
      "securityContext":{}}}},"status":{}})");
  track_write(&deployment, blank_object("apps", "v1", "Deployment"), writer);
  EXPECT_EQ(fields_of(deployment, "c"),
            json_of(R"({"f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{"f:type":{}},
              "f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{
                "f:containers":{"k:{\"name\":\"c1\"}":{".":{},"f:args":{},"f:name":{},
                  "f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":
                    {".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{}}},
                "f:securityContext":{}}}}})"));
}

TEST(TrackWrite, AnUpdateTakesWhatItChangesFromItsOwner) {
  Json live = created_config_map();
  Json object = live;
  object["data"]["k"] = "2";
  object["data"]["n"] = "2";
  Writer editor = config_map_writer("editor");
  editor.now = at_second(2);
  track_write(&object, live, editor);
  EXPECT_EQ(fields_of(object, "creator"), json_of(R"({"f:data":{}})"));
  EXPECT_EQ(fields_of(object, "editor"), json_of(R"({"f:data":{"f:k":{},"f:n":{}}})"));
}

TEST(TrackWrite, ANoOpMovesNothing) {
  Json live = created_config_map();
  Json object = live;
  Writer editor = config_map_writer("editor");
  editor.now = at_second(9);
  track_write(&object, live, editor);
  EXPECT_EQ(object, live);
}

TEST(TrackWrite, ARemovalIsForgottenByAllAndMovesNoTime) {
  Json live = created_config_map();
  Json object = live;
  object.erase("data");
  Writer editor = config_map_writer("editor");
  track_write(&object, live, editor);
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
}

TEST(TrackWrite, AStatusWriteHasAnEntryOfItsOwnAndOwnsNothingElse) {
  Json live = json_of(R"({"metadata":{"name":"w"},"spec":{"size":3}})");
  track_write(&live, Json::object(), widget_writer("c"));
  live = live_object(live);
  Json object = live;
  object["spec"]["size"] = 9;
  object["metadata"]["labels"]["l"] = "2";
  object["status"]["phase"] = "New";
  object["metadata"]["managedFields"] = Json::array();  // a subresource cannot reset them
  track_write(&object, live, widget_writer("c", "status"));
  EXPECT_EQ(fields_of(object, "c"), json_of(R"({"f:spec":{".":{},"f:size":{}}})"));
  EXPECT_EQ(fields_of(object, "c", "status"), json_of(R"({"f:status":{".":{},"f:phase":{}}})"));
}

TEST(TrackWrite, OwnersAreResetByAnEmptyListOrEntry) {
  Json live = created_config_map();
  for (const char* reset : {"[]", "[{}]"}) {
    Json object = live;
    object["metadata"]["managedFields"] = json_of(reset);
    object["data"]["k"] = "2";
    track_write(&object, live, config_map_writer("editor"));
    EXPECT_FALSE(object["metadata"].contains("managedFields")) << reset;
  }
}

TEST(TrackWrite, AnUpdateWithoutTheOwnersKeepsThem) {
  Json live = created_config_map();
  for (const char* sent : {"null", R"([{"manager":"x","operation":"Nonsense"}])"}) {
    Json object = live;
    object["metadata"]["managedFields"] = json_of(sent);
    track_write(&object, live, config_map_writer("editor"));
    EXPECT_EQ(object, live) << sent;
  }
}

TEST(TrackWrite, ObjectsWithoutOwnersGetNoneByAnUpdate) {
  Json live = json_of(R"({"metadata":{"name":"a","uid":"u"},"data":{"k":"1"}})");
  Json object = live;
  object["data"]["k"] = "2";
  track_write(&object, live, config_map_writer("editor"));
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
}

TEST(TrackWrite, TheEleventhUpdateManagerMergesTheTwoOldest) {
  Json live = created_config_map();
  for (int i = 0; i < 11; ++i) {
    Json object = live;
    object["data"]["k" + std::to_string(i)] = "x";
    Writer writer = config_map_writer("m" + std::to_string(i));
    writer.now = at_second(10 + i);
    track_write(&object, live, writer);
    live = object;
  }
  EXPECT_EQ(live["metadata"]["managedFields"].size(), 10U);
  EXPECT_EQ(fields_of(live, "ancient-changes"),
            json_of(R"({"f:data":{".":{},"f:k":{},"f:k0":{},"f:k1":{}}})"));
  EXPECT_EQ(live["metadata"]["managedFields"][0]["time"], "1970-01-01T00:00:11Z");
}

TEST(TrackWrite, AChangeOfTimesAloneIsNone) {
  Json live = created_config_map();
  Json object = live;
  object["metadata"]["managedFields"][0]["time"] = "1970-01-01T00:00:09Z";
  ignore_time_only_change(&object, live);
  EXPECT_EQ(object, live);
  object["metadata"]["managedFields"][0]["time"] = "1970-01-01T00:00:09Z";
  object["data"]["k"] = "2";
  Json changed = object;
  ignore_time_only_change(&object, live);
  EXPECT_EQ(object, changed);
}

TEST(TrackWrite, AScaleShowsAndTakesTheOwnerOfReplicas) {
  Json live = json_of(R"({"metadata":{"name":"w"},"spec":{"size":3,"replicas":1}})");
  track_write(&live, Json::object(), widget_writer("owner"));
  live = live_object(live);
  Json entries = managed_fields_of_scale(live, ".spec.replicas");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0]["fieldsV1"], json_of(R"({"f:spec":{"f:replicas":{}}})"));

  Json scale = {{"metadata", {{"name", "w"}, {"uid", "u"}, {"managedFields", entries}}},
                {"spec", {{"replicas", 1}}}};
  Json scaled = scale;
  scaled["spec"]["replicas"] = 4;
  Writer writer;
  writer.manager = "hpa";
  writer.api_version = "autoscaling/v1";
  writer.subresource = "scale";
  track_write(&scaled, scale, writer);
  Json object = live;
  object["spec"]["replicas"] = 4;
  merge_managed_fields_of_scale(&object, scaled["metadata"]["managedFields"], ".spec.replicas",
                                "example.dev/v1");
  EXPECT_EQ(fields_of(object, "owner"), json_of(R"({"f:spec":{".":{},"f:size":{}}})"));
  EXPECT_EQ(fields_of(object, "hpa", "scale"), json_of(R"({"f:spec":{"f:replicas":{}}})"));
}

TEST(TrackWrite, ManagersAreNamedAfterTheirAgent) {
  EXPECT_EQ(manager_of_user_agent("kubectl/v1.35 (linux/amd64)"), "kubectl");
  EXPECT_EQ(manager_of_user_agent("my-agent"), "my-agent");
  EXPECT_EQ(manager_of_user_agent(std::string(200, 'm')).size(), 128U);
}

}  // namespace
}  // namespace regatta::apiserver
