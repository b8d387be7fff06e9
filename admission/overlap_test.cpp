#include "admission/cycle.h"
#include "admission/testing/objects.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::start;

constexpr const char* reclaims = "  cohortName: pool\n  preemption: {reclaimWithinCohort: Any}\n";

/// `a` and `b` own two CPUs each; `greedy` owns none and uses them all.
std::string world() {
  return testing::queue_yaml("a", 2, reclaims) + testing::queue_yaml("b", 2, reclaims) +
         testing::queue_yaml("greedy", 0, "  cohortName: pool\n") + testing::local_queue_yaml("a") +
         testing::local_queue_yaml("b") + testing::local_queue_yaml("greedy");
}

std::string wanting() {
  return testing::workload_yaml("for-a", "a", 2) + testing::workload_yaml("for-b", "b", 2);
}

using Outcome = Recomputed::Outcome;

TEST(Overlap, APreemptorThatFitsWithoutTheSameVictimIsDeferred) {
  Loaded loaded(world() + testing::running_yaml("big", "greedy", 4) + wanting());
  const CycleResult result = run_cycle(loaded.state, start);
  EXPECT_EQ(result.preempted.size(), 1U);
  ASSERT_EQ(result.recomputed.size(), 1U);
  EXPECT_EQ(result.recomputed[0].cluster_queue, "b");
  EXPECT_EQ(result.recomputed[0].outcome, Outcome::deferred_fit);
  EXPECT_TRUE(result.skipped_preemptors.empty());
}

TEST(Overlap, APreemptorThatFindsAnotherVictimPreemptsIt) {
  Loaded loaded(world() + testing::running_yaml("one", "greedy", 2) +
                testing::running_yaml("two", "greedy", 2) + wanting());
  const CycleResult result = run_cycle(loaded.state, start);
  EXPECT_EQ(result.preempted.size(), 2U);
  ASSERT_EQ(result.recomputed.size(), 1U);
  EXPECT_EQ(result.recomputed[0].outcome, Outcome::new_targets);
}

TEST(Overlap, WithoutASecondLookThePreemptorIsPassedOver) {
  Config config;
  config.recompute_on_target_overlap = false;
  Loaded loaded(world() + testing::running_yaml("big", "greedy", 4) + wanting(), config);
  const CycleResult result = run_cycle(loaded.state, start);
  EXPECT_EQ(result.preempted.size(), 1U);
  EXPECT_TRUE(result.recomputed.empty());
  EXPECT_EQ(result.skipped_preemptors, std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace regatta::admission
