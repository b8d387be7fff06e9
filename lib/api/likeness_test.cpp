#include "lib/api/likeness.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

/// The size of the differences of `text` from `base`; checks that they restore the text.
std::optional<std::size_t> left_of(std::string_view text, std::string_view base) {
  const auto differing = differences(base, text);
  if (!differing) return std::nullopt;
  EXPECT_EQ(text_from(base, *differing), text);
  return differing->size();
}

const std::string base =
    R"({"selector":{"uid":"1111-1111"},"labels":{"job-name":"race-1","uid":"1111-1111"},)"
    R"("containers":[{"name":"main","image":"registry.example/train:1","args":["--epochs","3"]}]})";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

TEST(Likeness, equal_texts_differ_by_nothing) {
  EXPECT_EQ(left_of(base, base), 0u);
  EXPECT_EQ(left_of("", ""), 0u);
}

TEST(Likeness, strings_of_any_length_may_differ) {
  for (const char* uid : {"2222-2222", "2", "", "33333333-333333333", "1111-111", "a\\nb"}) {
    const auto left = left_of(replaced(base, "1111-1111", uid), base);
    ASSERT_TRUE(left) << uid;
    EXPECT_LT(*left, base.size() / 2) << uid;
  }
}

TEST(Likeness, what_stands_between_strings_may_differ) {
  EXPECT_TRUE(
      left_of(R"({"priority":12,"queueName":"one-of-the-queues-with-a-long-name","more":true})",
              R"({"priority":0,"queueName":"one-of-the-queues-with-a-long-name","more":false})"));
  EXPECT_TRUE(left_of(R"({"queueName":"one-of-the-queues-with-a-long-name","n":10})",
                      R"({"queueName":"one-of-the-queues-with-a-long-name","n":1})"));
}

TEST(Likeness, texts_of_different_shape_are_not_alike) {
  EXPECT_FALSE(differences(base, replaced(base, R"(,"3")", R"(,"3","4")")));
  EXPECT_FALSE(differences(base, replaced(base, R"(,"3")", "")));
  EXPECT_FALSE(differences("", base));
  EXPECT_FALSE(differences(base, ""));
}

TEST(Likeness, what_saves_nothing_is_not_kept_as_differences) {
  EXPECT_FALSE(differences(R"({"a":"b"})", R"({"a":"c"})"));
}

}  // namespace
}  // namespace regatta::api
