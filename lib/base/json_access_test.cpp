#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta {
namespace {

const Json object = Json::parse(R"({"text": "x", "empty": "", "number": 3, "half": 1.5, "yes": true,
    "no": false, "null": null, "list": [1], "inner": {"text": "y", "inner": {"list": []}}})");

TEST(JsonAccess, FindsWhatIsThere) {
  EXPECT_EQ(*member(object, "number"), 3);
  EXPECT_EQ(*member(object, {"inner", "text"}), "y");
  EXPECT_EQ(at_or_null(object, "number"), 3);
  EXPECT_EQ(text_at(object, "text"), "x");
  EXPECT_EQ(text_at(object, {"inner", "text"}), "y");
  EXPECT_EQ(*string_at(object, "empty"), "");
  EXPECT_EQ(integer_at(object, "number"), 3);
  EXPECT_TRUE(true_at(object, "yes"));
  EXPECT_FALSE(true_at(object, "no"));
  EXPECT_EQ(object_at(object, "inner"), &object.at("inner"));
  EXPECT_EQ(list_at(object, "list"), &object.at("list"));
  EXPECT_EQ(list_or_empty(object, "list").size(), 1u);
  EXPECT_EQ(object_or_empty(object, {"inner", "inner"}).size(), 1u);
}

TEST(JsonAccess, NullIsAsGoodAsMissing) {
  EXPECT_EQ(member(object, "null"), nullptr);
  EXPECT_EQ(member(object, "missing"), nullptr);
  EXPECT_EQ(member(object, {"null", "text"}), nullptr);
  EXPECT_TRUE(at_or_null(object, "missing").is_null());
}

TEST(JsonAccess, AnotherTypeIsNothing) {
  EXPECT_EQ(text_at(object, "number"), "");
  EXPECT_EQ(text_at(object, {"text", "text"}), "");
  EXPECT_EQ(string_at(object, "number"), nullptr);
  EXPECT_EQ(integer_at(object, "half"), std::nullopt);
  EXPECT_EQ(integer_at(object, "text"), std::nullopt);
  EXPECT_FALSE(true_at(object, "text"));
  EXPECT_EQ(object_at(object, "list"), nullptr);
  EXPECT_EQ(list_at(object, "inner"), nullptr);
  EXPECT_EQ(list_or_empty(object, "text"), Json::array());
  EXPECT_EQ(object_or_empty(object, {"text"}), Json::object());
}

TEST(JsonAccess, OfNoObjectThereIsNothing) {
  for (const Json& value : {Json(), Json("text"), Json(3), Json::array({1})}) {
    EXPECT_EQ(member(value, "text"), nullptr);
    EXPECT_EQ(text_at(value, "text"), "");
    EXPECT_FALSE(true_at(value, "yes"));
  }
}

}  // namespace
}  // namespace regatta
