#include "lab/conformance/compare.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

Json json_of(std::string_view text) {
  return parse_json(text).value();
}

Differences differences(std::string_view scenario, std::string_view got) {
  Json outcome = Json::object();
  outcome["expect"] = json_of(got);
  return compare(json_of(scenario), outcome);
}

TEST(Compare, errors_have_no_order_and_texts_count_as_messages) {
  const std::string_view scenario = R"({"area":"webhooks","op":"validateCreate","expect":{
    "allowed":false,"errors":[
      {"field":"a","type":"T","detail":"x","message":"a: 1: x"},
      {"field":"b","type":"T","message":"b: T"}]}})";
  const Differences found = differences(scenario, R"({"allowed":false,"errors":[
      {"field":"b","type":"T","message":"b: T"},
      {"field":"a","type":"T","detail":"x","message":"a: 2: x"}]})");
  EXPECT_TRUE(found.decisions.empty());
  EXPECT_EQ(found.message_count, 2);
  ASSERT_EQ(found.messages.size(), 1u);
  EXPECT_EQ(found.messages[0], "error\n  expected: a: 1: x\n  got:      a: 2: x");
}

TEST(Compare, another_decision_field_type_or_detail_is_a_difference) {
  const std::string_view scenario = R"({"area":"webhooks","op":"validateCreate","expect":{
    "allowed":false,"errors":[{"field":"a","type":"T","detail":"x","message":"m"}]}})";
  EXPECT_EQ(differences(scenario, R"({"allowed":true,"errors":[]})").decisions.size(), 2u);
  for (const char* error : {R"({"field":"b","type":"T","detail":"x","message":"m"})",
                            R"({"field":"a","type":"U","detail":"x","message":"m"})",
                            R"({"field":"a","type":"T","detail":"y","message":"m"})"}) {
    const std::string got = R"({"allowed":false,"errors":[)" + std::string(error) + "]}";
    EXPECT_EQ(differences(scenario, got).decisions.size(), 1u) << error;
  }
}

TEST(Compare, addresses_and_skipped_rules_do_not_count) {
  const std::string_view scenario = R"({"area":"webhooks","op":"validateCreate","expect":{
    "allowed":false,"errors":[
      {"field":"<nil>","type":"T","detail":"some validation rules were not checked","message":"m"},
      {"field":"a","type":"T","detail":"is not a multiple of <pointer>",
       "message":"a: is not a multiple of <pointer>"}]}})";
  const Differences found = differences(scenario, R"({"allowed":false,"errors":[
      {"field":"a","type":"T","detail":"is not a multiple of 3",
       "message":"a: is not a multiple of 3"}]})");
  EXPECT_TRUE(found.decisions.empty());
  EXPECT_TRUE(found.messages.empty());
}

TEST(Compare, any_of_several_right_outcomes_is_right) {
  const std::string_view scenario = R"({"area":"webhooks","op":"validateCreate","expect":{
    "allowed":false,
    "errorsAnyOf":[[{"field":"a","type":"T","message":"a"}],
      [{"field":"b","type":"T","message":"b"}]],
    "responseAnyOf":[{"status":{"message":"a"}},{"status":{"message":"b"}}]}})";
  const auto got = [](const std::string& name) {
    return R"({"allowed":false,"errors":[{"field":")" + name + R"(","type":"T","message":")" +
           name + R"("}],"response":{"status":{"message":")" + name + "\"}}}";
  };
  EXPECT_TRUE(differences(scenario, got("b")).decisions.empty());
  EXPECT_TRUE(differences(scenario, got("b")).messages.empty());
  EXPECT_FALSE(differences(scenario, got("c")).decisions.empty());
}

TEST(Compare, what_is_empty_and_was_not_given_does_not_count_in_defaults) {
  const std::string_view scenario = R"({"area":"webhooks","op":"default",
    "object":{"spec":{"name":""}},
    "expect":{"allowed":true,"patched":true,"status":{"code":200},
      "object":{"spec":{"name":"","on":true},"status":{"count":0,"list":[]}}}})";
  const auto found = [&](const char* object) {
    return differences(scenario,
                       R"({"allowed":true,"patched":true,"status":{"code":200},"object":)" +
                           std::string(object) + "}")
        .decisions.size();
  };
  EXPECT_EQ(found(R"({"spec":{"name":"","on":true}})"), 0u);
  EXPECT_EQ(found(R"({"spec":{"on":true}})"), 1u) << "given, and lost";
  EXPECT_EQ(found(R"({"spec":{"name":""}})"), 1u);
}

TEST(Compare, converted_objects_are_equal_besides_nulls) {
  const std::string_view scenario = R"({"area":"conversion","expect":{"httpStatus":200,"review":{
    "response":{"result":{"status":"Success"},"convertedObjects":[{"a":1,"b":null}]}}}})";
  const auto found = [&](const char* objects) {
    return differences(scenario, R"({"httpStatus":200,"review":{"response":{"result":{
      "status":"Success"},"convertedObjects":)" +
                                     std::string(objects) + "}}}")
        .decisions.size();
  };
  EXPECT_EQ(found(R"([{"a":1}])"), 0u);
  EXPECT_EQ(found(R"([{"a":1,"c":0}])"), 1u);
  EXPECT_EQ(found("[]"), 1u);
}

TEST(Compare, reviews_compare_what_a_patch_makes_of_the_object) {
  const std::string_view scenario = R"({"area":"webhooks","op":"review",
    "body":{"request":{"object":{"a":[]}}},
    "expect":{"httpStatus":200,"body":{"kind":"K","response":{"uid":"u","allowed":true,
      "status":{"code":200},"patchDecoded":[
        {"op":"replace","path":"/a","value":["x"]},{"op":"add","path":"/b","value":0}]}}}})";
  const auto found = [&](const char* patch) {
    return differences(scenario, R"({"httpStatus":200,"body":{"kind":"K","response":{"uid":"u",
      "allowed":true,"status":{"code":200},"patchDecoded":)" +
                                     std::string(patch) + "}}}")
        .decisions.size();
  };
  EXPECT_EQ(found(R"([{"op":"add","path":"/a/0","value":"x"}])"), 0u);
  EXPECT_EQ(found(R"([{"op":"add","path":"/a/0","value":"y"}])"), 1u);
}

}  // namespace
}  // namespace regatta::lab
