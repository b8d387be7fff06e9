#include "lab/apiserver/patch/field_set.h"

#include "lab/apiserver/patch/test_support.h"

#include <gtest/gtest.h>

namespace regatta::apiserver {
namespace {

using testing::json_of;

FieldSet set_of(std::string_view text) {
  Result<FieldSet> set = decode_field_set(json_of(text));
  EXPECT_TRUE(set) << text;
  return set ? *set : FieldSet{};
}

std::string text_of(const FieldSet& set) {
  return dump_json(encode_field_set(set));
}

TEST(FieldSet, EncodesMembersWithChildrenWithADot) {
  FieldSet set;
  set.insert({"f:spec", "f:parts", "k:{\"name\":\"a\"}"});
  set.insert({"f:spec", "f:parts", "k:{\"name\":\"a\"}", "f:name"});
  EXPECT_EQ(text_of(set), R"({"f:spec":{"f:parts":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}})");
  EXPECT_EQ(set_of(text_of(set)), set);
}

TEST(FieldSet, WritesPathsAsConflictMessagesShowThem) {
  FieldSet set = set_of(
      R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:x":{}}},
          "f:tags":{"v:\"t\"":{}},"f:list":{"i:3":{}}}})");
  std::vector<std::string> expected = {".spec.list[3]", ".spec.ports[port=80,protocol=\"TCP\"].x",
                                       ".spec.tags[=\"t\"]"};
  EXPECT_EQ(path_strings(set), expected);
}

TEST(FieldSet, RefusesWhatIsNoSet) {
  for (const char* text :
       {R"({"spec":{}})", R"({"f:a":1})", R"({"k:x":{}})", R"([])", R"({"v:{":{}})"}) {
    EXPECT_FALSE(decode_field_set(json_of(text))) << text;
  }
}

struct Algebra {
  const char* name;
  const char* a;
  const char* b;
  const char* united;
  const char* intersection;
  const char* difference;
  const char* recursive;
};

TEST(FieldSet, HasTheAlgebraOfSets) {
  const Algebra cases[] = {
      {"disjoint", R"({"f:a":{}})", R"({"f:b":{}})", R"({"f:a":{},"f:b":{}})", "{}",
       R"({"f:a":{}})", R"({"f:a":{}})"},
      {"a parent does not stand for its children", R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{}})",
       R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})", "{}"},
      {"children do not take their parent", R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{"f:x":{}}})",
       R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{}})", R"({"f:a":{}})"},
  };
  for (const Algebra& c : cases) {
    FieldSet a = set_of(c.a), b = set_of(c.b);
    EXPECT_EQ(text_of(united(a, b)), c.united) << c.name;
    EXPECT_EQ(text_of(intersection(a, b)), c.intersection) << c.name;
    EXPECT_EQ(text_of(difference(a, b)), c.difference) << c.name;
    EXPECT_EQ(text_of(recursive_difference(a, b)), c.recursive) << c.name;
    Json encoded = json_of(c.a);
    subtract_encoded(&encoded, b);
    EXPECT_EQ(encoded, json_of(c.difference)) << c.name << ", in place";
    encoded = json_of(c.a);
    unite_encoded(&encoded, b);
    EXPECT_EQ(encoded, json_of(c.united)) << c.name << ", in place";
  }
}

}  // namespace
}  // namespace regatta::apiserver
