#include "placement/ledger.h"

#include "lib/base/joined.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using namespace std::chrono_literals;

const SteadyPoint asked_first{};

api::ObjectKey key(const std::string& name) {
  return {"default", name};
}

Ledger two_at_once() {
  return Ledger(LedgerConfig{2, 60s});
}

TEST(Ledger, FillsAClusterUntilWorkloadsAreAdmittedThere) {
  Ledger ledger = two_at_once();
  ledger.record(key("a"), {"w1", "w2"}, asked_first);
  EXPECT_EQ(joined(ledger.full()), "");
  ledger.record(key("b"), {"w1"}, asked_first);
  EXPECT_EQ(joined(ledger.full()), "w1");
  EXPECT_EQ(joined(ledger.release(key("a"))), "w1, w2");
  EXPECT_EQ(joined(ledger.full()), "");
  EXPECT_EQ(joined(ledger.release(key("a"))), "");
  EXPECT_EQ(ledger.in_flight("w1"), 1U);
  EXPECT_EQ(ledger.in_flight("w2"), 0U);
}

TEST(Ledger, CountsAWorkloadOnceHoweverOftenItIsNominated) {
  Ledger ledger = two_at_once();
  ledger.record(key("a"), {"w1"}, asked_first);
  ledger.record(key("a"), {"w1"}, asked_first + 30s);
  EXPECT_EQ(ledger.in_flight("w1"), 1U);
  // Nor does a second nomination make it count for longer.
  EXPECT_EQ(joined(ledger.expire(asked_first + 60s)), "w1");
  EXPECT_EQ(ledger.in_flight("w1"), 0U);
}

TEST(Ledger, FollowsAWorkloadToOtherClusters) {
  Ledger ledger = two_at_once();
  ledger.record(key("a"), {"w1"}, asked_first);
  ledger.record(key("a"), {"w2"}, asked_first + 1s);
  EXPECT_EQ(ledger.in_flight("w1"), 0U);
  EXPECT_EQ(ledger.in_flight("w2"), 1U);
}

TEST(Ledger, ForgetsNominationsThatScoresKnowOf) {
  Ledger ledger = two_at_once();
  ledger.record(key("a"), {"w1"}, asked_first);
  ledger.record(key("b"), {"w1"}, asked_first + 10s);
  EXPECT_EQ(ledger.next_room(asked_first + 20s), Duration(40s));
  EXPECT_EQ(joined(ledger.expire(asked_first + 59s)), "");
  EXPECT_EQ(joined(ledger.full()), "w1");
  EXPECT_EQ(joined(ledger.expire(asked_first + 60s)), "w1");
  EXPECT_EQ(joined(ledger.full()), "");
  EXPECT_EQ(ledger.next_room(asked_first + 60s), Duration(10s));
  EXPECT_EQ(joined(ledger.expire(asked_first + 70s)), "w1");
  EXPECT_EQ(ledger.next_room(asked_first + 70s), std::nullopt);
}

TEST(Ledger, WakesWorkloadsInTheOrderInWhichTheyBeganToWait) {
  Ledger ledger = two_at_once();
  for (const char* name : {"c", "a", "c", "b"}) ledger.wait(key(name), {"w1", "w2"});
  (void)ledger.release(key("a"));
  EXPECT_EQ(ledger.next_waiting("w1"), key("c"));
  EXPECT_EQ(ledger.next_waiting("w2"), key("b"));
  EXPECT_EQ(ledger.next_waiting("w1"), std::nullopt);
  EXPECT_EQ(ledger.next_waiting("w2"), std::nullopt);
}

}  // namespace
}  // namespace regatta::placement
