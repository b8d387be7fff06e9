#include "lib/base/check.h"

#include <gtest/gtest.h>

namespace regatta {
namespace {

TEST(Check, ThatFailsEndsTheProcessAndSaysWhatWhyAndWhere) {
  const int usage = 7;
  EXPECT_DEATH(REGATTA_CHECK(usage <= 5, "usage of queue " + std::string("a") + " is too high"),
               "regatta: internal error at check_test.cpp:[0-9]+: expected usage <= 5: usage of "
               "queue a is too high");
}

TEST(Check, ThatHoldsDoesNotEvaluateItsExplanation) {
  int evaluated = 0;
  const auto explain = [&] {
    ++evaluated;
    return std::string("never");
  };
  REGATTA_CHECK(true, explain());
  REGATTA_DEBUG_CHECK(true, explain());
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, OfDebugBuildsIsLeftOutOfReleaseBuilds) {
  int evaluated = 0;
  const auto holds = [&] { return ++evaluated > 0; };
  REGATTA_DEBUG_CHECK(holds(), "");
  (void)holds;
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
#endif
}

TEST(Check, IsOneStatement) {
  bool other = false;
  if (false)
    REGATTA_CHECK(true, "");
  else
    other = true;
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace regatta
