#include "lib/kube/outline.h"

#include <gtest/gtest.h>

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
