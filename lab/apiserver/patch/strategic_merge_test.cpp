#include "lab/apiserver/patch/strategic_merge.h"

#include "lab/apiserver/patch/test_support.h"

#include <gtest/gtest.h>

namespace regatta::apiserver {
namespace {

using testing::json_of;

/// The patches are for the spec of a pod template, which has every kind of list.
struct Case {
  const char* name;
  const char* original;
  const char* patch;
  const char* result;
};

const Schema* pod_spec() {
  return builtin_type("io.k8s.api.core.v1.PodSpec");
}

constexpr const char* two = R"({"containers":[{"name":"c1","image":"i1",
  "env":[{"name":"A","value":"1"}]},{"name":"c2","image":"i2","args":["x","y"]}]})";

TEST(StrategicMerge, MergesListsAsTheSchemaSays) {
  const Case cases[] = {
      {"by key", two, R"({"containers":[{"name":"c1","image":"n"}]})",
       R"({"containers":[{"name":"c1","image":"n","env":[{"name":"A","value":"1"}]},
           {"name":"c2","image":"i2","args":["x","y"]}]})"},
      {"new items come first", two, R"({"containers":[{"name":"c3"}]})",
       R"({"containers":[{"name":"c3"},{"name":"c1","image":"i1","env":[{"name":"A","value":"1"}]},
           {"name":"c2","image":"i2","args":["x","y"]}]})"},
      {"below items too", two, R"({"containers":[{"name":"c1","env":[{"name":"B","value":"2"}]}]})",
       R"({"containers":[{"name":"c1","image":"i1","env":[{"name":"B","value":"2"},
           {"name":"A","value":"1"}]},{"name":"c2","image":"i2","args":["x","y"]}]})"},
      {"lists without strategy are replaced", two, R"({"containers":[{"name":"c2","args":["z"]}]})",
       R"({"containers":[{"name":"c1","image":"i1","env":[{"name":"A","value":"1"}]},
           {"name":"c2","image":"i2","args":["z"]}]})"},
      {"$patch delete", two, R"({"containers":[{"name":"c1","$patch":"delete"}]})",
       R"({"containers":[{"name":"c2","image":"i2","args":["x","y"]}]})"},
      {"$patch replace of a list", two,
       R"({"containers":[{"$patch":"replace"},{"name":"only","image":null}]})",
       R"({"containers":[{"name":"only"}]})"},
      {"$patch replace of a map", R"({"nodeSelector":{"a":"1"}})",
       R"({"nodeSelector":{"$patch":"replace","only":"1"}})", R"({"nodeSelector":{"only":"1"}})"},
      {"$patch delete of a map", R"({"nodeSelector":{"a":"1"}})",
       R"({"nodeSelector":{"$patch":"delete"}})", R"({"nodeSelector":{}})"},
      {"$setElementOrder", two,
       R"({"$setElementOrder/containers":[{"name":"c2"},{"name":"c1"}],
           "containers":[{"name":"c2","image":"n"},{"name":"c1"}]})",
       R"({"containers":[{"name":"c2","image":"n","args":["x","y"]},
           {"name":"c1","image":"i1","env":[{"name":"A","value":"1"}]}]})"},
      {"$setElementOrder alone", two,
       R"({"$setElementOrder/containers":[{"name":"c2"},{"name":"c1"}]})",
       R"({"containers":[{"name":"c2","image":"i2","args":["x","y"]},
           {"name":"c1","image":"i1","env":[{"name":"A","value":"1"}]}]})"},
      {"null removes, also what is not there", R"({"nodeSelector":{"a":"1"},"hostname":"h"})",
       R"({"nodeSelector":{"a":null,"b":null},"hostname":null})", R"({"nodeSelector":{}})"},
      {"a missing map with a directive stays missing", "{}",
       R"({"nodeSelector":{"$patch":"replace","only":"1"}})", "{}"},
      {"a missing list is taken without its directives", "{}",
       R"({"containers":[{"name":"a"},{"name":"b","$patch":"delete"}]})",
       R"({"containers":[{"name":"a"}]})"},
  };
  for (const Case& c : cases) {
    PatchAnswer<Json> result = strategic_merge(json_of(c.original), json_of(c.patch), pod_spec());
    ASSERT_TRUE(result) << c.name << ": " << result.error().message;
    EXPECT_EQ(*result, json_of(c.result)) << c.name;
  }
}

TEST(StrategicMerge, MergesFinalizersAsASet) {
  const Schema* meta = object_meta_schema();
  Json original = json_of(R"({"finalizers":["a","b"]})");
  EXPECT_EQ(*strategic_merge(original, json_of(R"({"finalizers":["c"]})"), meta),
            json_of(R"({"finalizers":["c","a","b"]})"));
  EXPECT_EQ(
      *strategic_merge(original, json_of(R"({"$deleteFromPrimitiveList/finalizers":["b"]})"), meta),
      json_of(R"({"finalizers":["a"]})"));
  EXPECT_EQ(
      *strategic_merge(json_of(R"({"ownerReferences":[{"uid":"u","name":"o"}]})"),
                       json_of(R"({"ownerReferences":[{"$patch":"delete","uid":"u"}]})"), meta),
      json_of(R"({"ownerReferences":[]})"));
}

TEST(StrategicMerge, RetainsKeys) {
  const Schema* spec = builtin_type("io.k8s.api.apps.v1.DeploymentSpec");
  Json original =
      json_of(R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}})");
  EXPECT_EQ(
      *strategic_merge(original,
                       json_of(R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})"), spec),
      json_of(R"({"strategy":{"type":"Recreate"}})"));
}

TEST(StrategicMerge, RefusalsAreThoseOfKubernetes) {
  struct Refusal {
    const char* patch;
    int code;
    const char* message;
  };
  const Refusal cases[] = {
      {R"({"containers":[{"image":"nokey"}]})", 500,
       "map: map[image:nokey] does not contain declared merge key: name"},
      {R"({"$patch":"frob"})", 500, "unknown patch type: frob in map: map[$patch:frob]"},
      {R"({"containers":["x"]})", 400, "invalid JSON document"},
      {R"({"$setElementOrder/containers":1})", 400, "invalid patch format of setElementOrder list"},
      {R"({"nodeSelector":{"$retainKeys":1}})", 400, "invalid patch format of retainKeys"},
  };
  for (const Refusal& c : cases) {
    Json original = json_of(two);
    original["nodeSelector"] = Json::object();
    PatchAnswer<Json> result = strategic_merge(original, json_of(c.patch), pod_spec());
    ASSERT_FALSE(result) << c.patch;
    EXPECT_EQ(result.error().code, c.code) << c.patch;
    EXPECT_EQ(result.error().message, c.message);
  }
}

}  // namespace
}  // namespace regatta::apiserver
