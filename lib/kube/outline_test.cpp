#include "lib/kube/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace regatta::kube {
namespace {

constexpr std::string_view pod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":)"
    R"("7","labels":{"name":"}\"]"},"managedFields":[{"manager":"x{","fieldsV1":{"f:a":{}}}]},)"
    R"("spec":{"resourceVersion":"9"}})";

TEST(Outline, NamesAnObjectWithoutReadingItAll) {
  const auto outline = outline_of(pod);
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->name, "a");
  EXPECT_EQ(outline->ns, "n");
  EXPECT_EQ(outline->resource_version, "7");
  EXPECT_EQ(outline->managed_fields,
            R"(,"managedFields":[{"manager":"x{","fieldsV1":{"f:a":{}}}])");
}

TEST(Outline, OfAnEventHasItsType) {
  const std::string line = R"({"type":"MODIFIED","object":)" + std::string(pod) + "}";
  const auto outline = outline_of_event(line);
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->type, "MODIFIED");
  EXPECT_EQ(outline->object.name, "a");
}

TEST(Outline, ManagedFieldsAreCutOutWhereverTheyStandButFirst) {
  EXPECT_EQ(without_managed_fields(
                R"({"metadata":{"resourceVersion":"1","managedFields":[],"uid":"u"},"a":1})"),
            R"({"metadata":{"resourceVersion":"1","uid":"u"},"a":1})");
  EXPECT_EQ(
      without_managed_fields(R"({"metadata": {"resourceVersion": "1", "managedFields": 3} })"),
      R"({"metadata": {"resourceVersion": "1"} })");
  const std::string first = R"({"metadata":{"managedFields":[],"resourceVersion":"1"}})";
  EXPECT_EQ(without_managed_fields(first), first);
}

std::string spec_of(const std::string& text) {
  const auto outline = outline_of(text);
  if (!outline) return "no outline";
  const auto spec = spec_after(*outline);
  if (!spec) return "no spec";
  return std::string(spec->whole) + " " + std::string(spec->value);
}

TEST(Outline, FindsTheSpecBehindTheMetadata) {
  EXPECT_EQ(outline_of(pod)->api_version, "v1");
  EXPECT_EQ(spec_of(std::string(pod)),
            R"(,"spec":{"resourceVersion":"9"} {"resourceVersion":"9"})");
  const std::string begin = R"({"metadata":{"resourceVersion":"1"})";
  EXPECT_EQ(outline_of(begin + "}")->api_version, "");
  EXPECT_EQ(spec_of(begin + R"( , "spec" : [1] , "a":1})"), R"( , "spec" : [1] [1])");
  EXPECT_EQ(spec_of(begin + R"(,"spec":{"a":"}"},"status":{}})"), R"(,"spec":{"a":"}"} {"a":"}"})");
  for (const char* without : {"}", R"(,"a":1,"spec":{}})", R"(,"spec":)", R"(,"spec":{)", ""}) {
    EXPECT_EQ(spec_of(begin + without), "no spec") << without;
  }
}

struct TakenApart {
  std::vector<std::string> items;
  std::string metadata, error;
};

TakenApart take_apart(std::string_view list, std::size_t items_max = 9) {
  TakenApart out;
  const auto done = for_each_item(list, [&](std::string_view item) -> Status {
    if (out.items.size() == items_max) return Error(Errc::too_large, "enough");
    out.items.emplace_back(item);
    return ok();
  });
  if (done) out.metadata = done->metadata;
  if (!done) out.error = done.error().what();
  return out;
}

TEST(OutlineOfAList, HandsOverItemsInTheirOrder) {
  const TakenApart found = take_apart(
      R"({"kind":"L", "metadata": {"resourceVersion":"7"},"items": [ {"a":"]},{"} , [1,[2]],"x",3 ]})");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.metadata, R"({"resourceVersion":"7"})");
  EXPECT_THAT(found.items, testing::ElementsAre(R"({"a":"]},{"})", "[1,[2]]", R"("x")", "3 "));
}

TEST(OutlineOfAList, FindsOneItemAtATime) {
  // Nothing behind an item is read yet.
  ListItems items(R"({"metadata":{},"items":[{"a":1},[2] nonsense)");
  EXPECT_EQ(**items.next(), R"({"a":1})");
  EXPECT_EQ(**items.next(), "[2]");
  EXPECT_EQ(items.next().error().code(), Errc::invalid);
}

TEST(OutlineOfAList, TakesTheMembersInAnyOrder) {
  const TakenApart found = take_apart("{\"items\":[1],\r\n\"metadata\":{}}\n");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.items.size(), 1u);
  EXPECT_EQ(found.metadata, "{}");
}

TEST(OutlineOfAList, MayHaveNoItems) {
  for (const char* text : {R"({"metadata":{}})", R"({"metadata":{},"items":null})",
                           R"({"items":[ ],"metadata":{}})"}) {
    const TakenApart found = take_apart(text);
    EXPECT_EQ(found.error, "") << text;
    EXPECT_TRUE(found.items.empty()) << text;
  }
}

TEST(OutlineOfAList, EndsWithTheFirstErrorOfTheVisit) {
  const TakenApart found = take_apart(R"({"metadata":{},"items":[1,2,3,)", 2);
  EXPECT_EQ(found.error, "enough");
  EXPECT_EQ(found.items.size(), 2u);
}

TEST(OutlineOfAList, RefusesWhatIsNoList) {
  for (const char* text :
       {"{}", "[]", "null", R"({"items":[]})", R"({"metadata":{},"items":{}})",
        R"({"metadata":{},"items":[1],"items":[2]})", R"({"metadata":{},"it\u0065ms":[]})"}) {
    EXPECT_EQ(take_apart(text).error, "it is no list") << text;
  }
  EXPECT_EQ(take_apart(R"({"metadata":{},"items":[1,]})").error,
            "invalid character ']' looking for beginning of value");
  EXPECT_EQ(take_apart(R"({"metadata":{},"items":[1)").error, "unexpected end of JSON input");
  EXPECT_EQ(take_apart(R"({"metadata":{}} x)").error,
            "invalid character 'x' after top-level value");
  EXPECT_EQ(take_apart("").error, "unexpected end of JSON input");
}

TEST(Outline, IsNothingForWhatServersDoNotWrite) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"metadata":{}})", R"({"metadata":[]})",
        R"({"metadata":{"name":1}})", R"({"metadata":{"n\u0061me":"a"}})",
        R"({"metadata":{"name":"\u0061"}})", R"({"a":"b)",
        R"({"metadata":{"name":"a","resourceVersion":"1")", R"({"a":1 "metadata":{}})"}) {
    EXPECT_FALSE(outline_of(text)) << text;
  }
  EXPECT_FALSE(outline_of_event(R"({"object":{},"type":"ADDED"})"));
}

}  // namespace
}  // namespace regatta::kube
