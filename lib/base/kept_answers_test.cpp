#include "lib/base/kept_answers.h"

#include <gtest/gtest.h>

namespace regatta {
namespace {

using namespace std::chrono_literals;

TEST(KeptAnswers, AnAnswerIsKeptForItsTime) {
  KeptAnswers<bool> answers(10);
  const SteadyPoint begin{};
  EXPECT_EQ(answers.find("a", begin), nullptr);
  answers.put("a", true, begin, 10s);
  ASSERT_NE(answers.find("a", begin + 9s), nullptr);
  EXPECT_TRUE(*answers.find("a", begin + 9s));
  EXPECT_EQ(answers.find("a", begin + 10s), nullptr);
}

TEST(KeptAnswers, ALaterAnswerReplacesAnEarlierOne) {
  KeptAnswers<bool> answers(10);
  const SteadyPoint begin{};
  answers.put("a", true, begin, 10s);
  answers.put("a", false, begin + 5s, 10s);
  answers.put("b", true, begin + 11s, 10s);
  ASSERT_NE(answers.find("a", begin + 12s), nullptr);
  EXPECT_FALSE(*answers.find("a", begin + 12s));
}

TEST(KeptAnswers, TheirNumberIsBounded) {
  KeptAnswers<bool> answers(3);
  const SteadyPoint begin{};
  for (int i = 0; i < 100; ++i) answers.put(std::to_string(i), true, begin, 10s);
  EXPECT_LE(answers.size(), 3u);
  EXPECT_EQ(answers.find("0", begin), nullptr);
  EXPECT_NE(answers.find("99", begin), nullptr);
  answers.put("later", true, begin + 20s, 10s);
  EXPECT_EQ(answers.size(), 1u);
}

}  // namespace
}  // namespace regatta
