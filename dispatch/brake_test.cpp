#include "dispatch/brake.h"

#include <gtest/gtest.h>

namespace regatta::dispatch {
namespace {

TEST(Brake, HoldsWhenMoreThanTheShareVanished) {
  const BrakeConfig config;
  EXPECT_FALSE(holds_removals({40, 20}, config, {})) << "half is not more than half";
  EXPECT_TRUE(holds_removals({40, 21}, config, {}));
  EXPECT_FALSE(holds_removals({9, 9}, config, {})) << "fewer than ten may go";
  EXPECT_TRUE(holds_removals({10, 10}, config, {}));
  EXPECT_FALSE(holds_removals({}, config, {}));
}

TEST(Brake, AShareOfOneNeverHolds) {
  EXPECT_FALSE(holds_removals({1000, 1000}, {.share = 1.0}, {}));
}

TEST(Brake, TheOperatorAllowsSoManyAndNoMore) {
  EXPECT_FALSE(holds_removals({40, 30}, {}, 30));
  EXPECT_TRUE(holds_removals({40, 31}, {}, 30));
}

TEST(Brake, OnlyANumberAllowsAnything) {
  EXPECT_EQ(allowed_removals("30"), 30u);
  for (const char* text : {"", "yes", "30 ", "-1", "3x", "99999999999999999999999"}) {
    EXPECT_EQ(allowed_removals(text), std::nullopt) << text;
  }
}

TEST(Brake, TheMessageSaysWhatToDo) {
  EXPECT_EQ(held_message({40, 30}),
            "30 of 40 workloads that run on this worker do not exist on the hub, which did not see "
            "their deletion. The hub may have lost its data or may have been restored from a "
            "backup, so they are not removed. To remove them, annotate this MultiKueueCluster with "
            "multikueue.regatta.dev/remove-vanished=30");
}

}  // namespace
}  // namespace regatta::dispatch
