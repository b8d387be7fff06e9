#include "placement/claims.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

const api::ObjectKey one("ns", "one"), two("ns", "two"), nobody("ns", "nobody");
const api::ObjectKey asked_queue("ns", "main"), other_queue("ns", "other");

Amounts cpu(std::int64_t amount) {
  return {{"cpu", amount}};
}

/// `one` and `two` may use `w`, and ask for 1 and 2 cpu.
Claims both() {
  Claims claims;
  claims.claim(one, asked_queue, {"w"}, cpu(1));
  claims.claim(two, asked_queue, {"w"}, cpu(2));
  return claims;
}

TEST(ClaimsOfWorkloads, AreSummedByWorkerAndQueue) {
  Claims claims = both();
  claims.claim({"ns", "three"}, other_queue, {"w", "v"}, cpu(4));
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(3));
  EXPECT_EQ(claims.ahead("w", other_queue, nobody), cpu(4));
  EXPECT_EQ(claims.ahead("v", asked_queue, nobody), Amounts());
  const auto queues = [&](const char* cluster) {
    std::vector<api::ObjectKey> all;
    claims.for_each_queue(cluster, [&](const api::ObjectKey& queue) { all.push_back(queue); });
    return all;
  };
  EXPECT_EQ(queues("w"), (std::vector{asked_queue, other_queue}));
  EXPECT_EQ(queues("v"), std::vector{other_queue});
  EXPECT_EQ(claims.workloads("w", nobody), 3);
}

TEST(ClaimsOfWorkloads, LeaveTheWorkloadItselfOut) {
  const Claims claims = both();
  EXPECT_EQ(claims.ahead("w", asked_queue, one), cpu(2));
  EXPECT_EQ(claims.workloads("w", one), 1);
}

TEST(ClaimsOfWorkloads, MoveWithTheNominations) {
  Claims claims = both();
  claims.claim(two, asked_queue, {"v"}, cpu(2));
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(1));
  EXPECT_EQ(claims.ahead("v", asked_queue, nobody), cpu(2));
  claims.release(two);
  EXPECT_EQ(claims.ahead("v", asked_queue, nobody), Amounts());
  EXPECT_EQ(claims.workloads("v", nobody), 0);
}

TEST(ClaimsOfWorkloads, EndWhenTheQueueShowsThem) {
  Claims claims = both();
  claims.reserved(one, "w", "cq", "100");
  claims.told("w", "cq", "99");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(3)) << "an older usage";
  EXPECT_FALSE(claims.shown("w", one));
  claims.told("w", "other", "101");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(3)) << "of another queue";
  claims.told("w", "cq", "1000");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(2));
  EXPECT_TRUE(claims.shown("w", one));
  EXPECT_EQ(claims.ahead("w", asked_queue, one), cpu(2)) << "it has none to leave out";
  EXPECT_EQ(claims.workloads("w", nobody), 2);
}

TEST(ClaimsOfWorkloads, OfCopiesThatWaitDoNotCount) {
  Claims claims = both();
  claims.waits(one, "w");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(2));
  claims.reserved(one, "w", "cq", "100");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(3));
}

TEST(ClaimsOfWorkloads, KeepWhatIsKnownOfTheirCopies) {
  Claims claims = both();
  claims.reserved(one, "w", "cq", "100");
  claims.told("w", "cq", "101");
  claims.claim(one, asked_queue, {"w"}, cpu(1));
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(2));
  claims.reserved(one, "w", "cq", "200");
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(2)) << "a later version of the same copy";
}

TEST(ClaimsOfWorkloads, ThatWereNeverMadeChangeNothing) {
  Claims claims = both();
  claims.reserved(nobody, "w", "cq", "1");
  claims.waits(one, "v");
  claims.told("v", "cq", "2");
  claims.release(nobody);
  EXPECT_EQ(claims.ahead("w", asked_queue, nobody), cpu(3));
}

}  // namespace
}  // namespace regatta::placement
