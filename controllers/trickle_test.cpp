#include "controllers/trickle.h"

#include <gtest/gtest.h>

namespace regatta::controllers {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};

TEST(Trickle, HandsOutOneTurnEachIntervalInTheOrderOfAsking) {
  Trickle trickle(50ms);
  const api::ObjectKey a("a"), b("b"), c("c");
  EXPECT_FALSE(trickle.wait(a, now));
  EXPECT_EQ(trickle.wait(b, now), 50ms);
  EXPECT_EQ(trickle.wait(c, now), 100ms);
  EXPECT_FALSE(trickle.wait(b, now + 50ms));
  EXPECT_FALSE(trickle.wait(c, now + 100ms));
  EXPECT_FALSE(trickle.wait(a, now + 150ms));
}

}  // namespace
}  // namespace regatta::controllers
