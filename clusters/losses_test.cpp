#include "clusters/losses.h"

#include <gtest/gtest.h>

namespace regatta::clusters {
namespace {

using namespace std::chrono_literals;

const TimePoint start{std::chrono::hours(1000)};

TEST(Losses, CountForWhatWasThereAlready) {
  Losses losses;
  EXPECT_EQ(losses.after(start), 0s);
  losses.add(start + 60s, 20s);
  losses.add(start + 100s, 10s);
  EXPECT_EQ(losses.after(start), 30s);
  EXPECT_EQ(losses.after(start + 50s), 20s) << "of the first, what came after that";
  EXPECT_EQ(losses.after(start + 60s), 10s);
  EXPECT_EQ(losses.after(start + 100s), 0s);
  EXPECT_EQ(losses.after(TimePoint::min()), 30s);
  losses.clear();
  EXPECT_EQ(losses.after(start), 0s);
}

TEST(Losses, AreKeptWithinALimit) {
  Losses losses;
  for (int i = 1; i <= 100; ++i) losses.add(start + i * 10s, 1s);
  EXPECT_EQ(losses.after(start), 10s + 31s) << "those that became one ended with the first";
  EXPECT_EQ(losses.after(start + 990s), 1s);
}

}  // namespace
}  // namespace regatta::clusters
