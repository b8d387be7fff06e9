#include "admission/quota.h"

#include "lib/base/rng.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

constexpr FrId cpu = 0;

TEST(Amount, SaturatesAndKnowsUnlimited) {
  EXPECT_EQ(plus(unlimited, -5), unlimited);
  EXPECT_EQ(minus(unlimited, unlimited), 0);
  EXPECT_EQ(minus(5, unlimited), std::numeric_limits<Amount>::min());
  EXPECT_EQ(minus(0, std::numeric_limits<Amount>::min()), unlimited);
  EXPECT_EQ(plus(unlimited - 1, 10), unlimited);
  EXPECT_EQ(times(unlimited / 2, 3), unlimited - 1);
}

TEST(Amount, IsWrittenAsKubernetesDoes) {
  const struct {
    const char* resource;
    Amount value;
    const char* text;
  } cases[] = {{"cpu", 3300, "3300m"},
               {"cpu", 4000, "4"},
               {"cpu", 0, "0"},
               {"cpu", 2000000, "2k"},
               {"memory", 512, "512"},
               {"memory", Amount{3} << 30U, "3Gi"},
               {"memory", (Amount{1} << 30U) + 1024, "1048577Ki"},
               {"memory", 1500, "1500"},
               {"pods", 2000, "2k"},
               {"example.com/gpu", 7, "7"},
               {"hugepages-2Mi", 2048, "2Ki"}};
  for (const auto& c : cases) EXPECT_EQ(format_amount(c.resource, c.value), c.text) << c.resource;
}

/// root (nominal 10) -> east (nominal 4) -> queues; root -> west queue.
struct Tree {
  Tree() {
    forest.set_quotas(root, {{cpu, 10, {}, {}}});
    forest.set_quotas(east, {{cpu, 4, {}, {}}});
    forest.set_parent(east, root);
    forest.set_parent(a, east);
    forest.set_parent(b, east);
    forest.set_parent(west, root);
    forest.set_quotas(west, {{cpu, 0, {}, {}}});
  }
  void quota(NodeId queue, Quota quota) {
    forest.set_quotas(queue, {quota});
    forest.settle();
  }
  void use(NodeId queue, Amount amount) {
    forest.add_usage(queue, std::vector{FrAmount{cpu, amount}});
  }

  QuotaForest forest;
  NodeId root = forest.add_node("root", false);
  NodeId east = forest.add_node("east", false);
  NodeId a = forest.add_node("a", true);
  NodeId b = forest.add_node("b", true);
  NodeId west = forest.add_node("west", true);
};

TEST(Quota, AddsUpTowardsTheRoot) {
  Tree tree;
  tree.quota(tree.a, {cpu, 5, {}, {}});
  tree.quota(tree.b, {cpu, 3, {}, 1});
  EXPECT_EQ(tree.forest.potential_available(tree.a, cpu), 20) << "10 + 4 + 5 + what b lends";
  EXPECT_EQ(tree.forest.potential_available(tree.b, cpu), 22) << "b keeps 2 more to itself";
  EXPECT_EQ(tree.forest.available(tree.west, cpu), 20) << "none of its own";
}

TEST(Quota, UsesItsOwnBeforeItBorrows) {
  Tree tree;
  tree.quota(tree.b, {cpu, 3, {}, 1});
  tree.use(tree.b, 2);
  EXPECT_EQ(tree.forest.usage(tree.east, cpu), 0)
      << "b keeps it to itself, so east does not use it";
  tree.use(tree.b, 3);
  EXPECT_EQ(tree.forest.usage(tree.east, cpu), 3);
  EXPECT_TRUE(tree.forest.borrowing_with(tree.b, cpu, 0));
  EXPECT_FALSE(tree.forest.borrowing_with(tree.east, cpu, 0));
}

TEST(Quota, BorrowsUpToItsLimit) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, 3, {}});
  EXPECT_EQ(tree.forest.potential_available(tree.a, cpu), 5);
  tree.use(tree.a, 4);
  EXPECT_EQ(tree.forest.available(tree.a, cpu), 1);
}

TEST(Quota, OveradmissionLeavesNothingAvailable) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.use(tree.a, 20);
  EXPECT_EQ(tree.forest.available(tree.a, cpu), 0);
  EXPECT_EQ(tree.forest.available(tree.west, cpu), 0);
  tree.forest.remove_usage(tree.a, std::vector{FrAmount{cpu, 5}});
  EXPECT_EQ(tree.forest.available(tree.west, cpu), 1);
}

TEST(Quota, FindsTheLowestSubtreeThatCanLend) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  EXPECT_EQ(tree.forest.lowest_fitting_subtree(tree.a, cpu, 2).height, 0);
  EXPECT_EQ(tree.forest.lowest_fitting_subtree(tree.a, cpu, 6).height, 1);
  EXPECT_TRUE(tree.forest.lowest_fitting_subtree(tree.a, cpu, 6).may_reclaim);
  EXPECT_EQ(tree.forest.lowest_fitting_subtree(tree.a, cpu, 7).height, 2);
  EXPECT_FALSE(tree.forest.lowest_fitting_subtree(tree.a, cpu, 7).may_reclaim);
}

TEST(Quota, AQueueAloneIgnoresLimits) {
  QuotaForest forest;
  const NodeId queue = forest.add_node("alone", true);
  forest.set_quotas(queue, {{cpu, 4, 1, 1}});
  forest.settle();
  EXPECT_EQ(forest.available(queue, cpu), 4);
  EXPECT_EQ(forest.potential_available(queue, cpu), 4);
}

TEST(Quota, CircleOfCohortsIsMarkedAndHealed) {
  Tree tree;
  tree.forest.set_parent(tree.root, tree.east);
  tree.forest.settle();
  EXPECT_TRUE(tree.forest.node(tree.west).cyclic);
  EXPECT_TRUE(tree.forest.queues_of_tree(tree.west).empty());
  EXPECT_TRUE(tree.forest.ancestors(tree.west).empty());
  tree.forest.set_parent(tree.root, no_node);
  tree.forest.settle();
  EXPECT_FALSE(tree.forest.node(tree.west).cyclic);
  EXPECT_EQ(tree.forest.ancestors(tree.a), (std::vector{tree.east, tree.root}));
  EXPECT_EQ(tree.forest.available(tree.west, cpu), 14);
}

/// Cohorts one below another, and a queue below the last of them.
struct Chain {
  explicit Chain(std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      cohorts.push_back(forest.add_node("c" + std::to_string(i), false));
      if (i > 0) forest.set_parent(cohorts[i], cohorts[i - 1]);
    }
    forest.set_parent(queue, cohorts.back());
    forest.set_quotas(queue, {{cpu, 5, {}, {}}});
    forest.settle();
  }

  QuotaForest forest;
  NodeId queue = forest.add_node("q", true);
  std::vector<NodeId> cohorts;
};

TEST(Quota, AHundredCohortsMayStandInARow) {
  Chain chain(cohorts_in_a_row_max);
  EXPECT_FALSE(chain.forest.node(chain.queue).cyclic);
  EXPECT_EQ(chain.forest.ancestors(chain.queue).size(), cohorts_in_a_row_max);
  EXPECT_EQ(chain.forest.available(chain.queue, cpu), 5);
  EXPECT_EQ(chain.forest.potential_available(chain.cohorts[0], cpu), 5);
}

TEST(Quota, ATreeWithMoreCohortsInARowCountsAsACircleUntilItIsCut) {
  Chain chain(cohorts_in_a_row_max + 1);
  const NodeId beside = chain.forest.add_node("beside", true);
  chain.forest.set_parent(beside, chain.cohorts[0]);
  chain.forest.settle();
  for (const NodeId id : {chain.cohorts[0], chain.cohorts.back(), chain.queue, beside}) {
    EXPECT_TRUE(chain.forest.node(id).cyclic) << chain.forest.node(id).name;
  }
  EXPECT_FALSE(chain.forest.leads_into_circle(chain.queue));
  EXPECT_TRUE(chain.forest.queues_of_tree(beside).empty());
  chain.forest.set_parent(chain.cohorts[1], no_node);
  chain.forest.settle();
  for (const NodeId id : {chain.cohorts[0], chain.cohorts.back(), chain.queue, beside}) {
    EXPECT_FALSE(chain.forest.node(id).cyclic) << chain.forest.node(id).name;
  }
  EXPECT_EQ(chain.forest.node(chain.queue).root, chain.cohorts[1]);
}

TEST(Quota, AChainOfAnyLengthEndsNoProcess) {
  Chain chain(100'000);
  EXPECT_TRUE(chain.forest.node(chain.queue).cyclic);
  chain.forest.add_usage(chain.queue, std::vector{FrAmount{cpu, 7}});
  EXPECT_EQ(chain.forest.usage(chain.queue, cpu), 7);
  EXPECT_EQ(chain.forest.available(chain.queue, cpu), 0);
}

TEST(Quota, ChildrenAreInTheOrderOfTheirNamesWheneverTheyCome) {
  Tree tree;
  const NodeId ab = tree.forest.add_node("ab", true);
  const NodeId aa = tree.forest.add_node("aa", true);
  tree.forest.set_parent(ab, tree.east);
  tree.forest.set_parent(aa, tree.east);
  tree.forest.settle();
  EXPECT_EQ(tree.forest.node(tree.east).child_queues, (std::vector{tree.a, aa, ab, tree.b}));
  tree.forest.set_parent(tree.a, tree.root);
  tree.forest.settle();
  EXPECT_EQ(tree.forest.node(tree.east).child_queues, (std::vector{aa, ab, tree.b}));
  EXPECT_EQ(tree.forest.node(tree.root).child_queues, (std::vector{tree.a, tree.west}));
}

TEST(Quota, UsageOfManyQueuesIsSummedOnce) {
  Tree tree;
  tree.forest.settle();
  const std::uint64_t before = tree.forest.node(tree.root).generation;
  const std::vector<QuotaForest::QueueUsage> usages = {
      {tree.a, {{6, 1}, {7, 3}}}, {tree.b, {{7, 2}, {7, 2}}}, {tree.west, {{cpu, 4}, {8, 1}}}};
  tree.forest.add_usages(usages);
  EXPECT_EQ(tree.forest.node(tree.root).generation, before + 1);
  EXPECT_EQ(tree.forest.usage(tree.b, 7), 4);
  EXPECT_EQ(tree.forest.usage(tree.east, 7), 7);
  EXPECT_EQ(tree.forest.usage(tree.root, 7), 7);
  EXPECT_EQ(tree.forest.usage(tree.root, cpu), 4);
  EXPECT_EQ(tree.forest.available(tree.west, cpu), 10) << "14, of which it borrows 4";
}

TEST(Quota, UsageOfSomethingWithoutQuotaIsCounted) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.forest.add_usage(tree.a, std::vector{FrAmount{7, 3}});
  tree.forest.settle();
  EXPECT_EQ(tree.forest.usage(tree.root, 7), 3);
  EXPECT_EQ(tree.forest.available(tree.west, 7), 0);
}

TEST(Quota, ATrialLeavesNoTraceOfUsageWithoutQuota) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  const std::size_t mark = tree.forest.begin_trial();
  tree.forest.add_usage(tree.a, std::vector{FrAmount{7, 3}});
  EXPECT_EQ(tree.forest.usage(tree.root, 7), 3);
  tree.forest.roll_back(mark);
  EXPECT_EQ(tree.forest.usage(tree.a, 7), 0);
  EXPECT_EQ(tree.forest.usage(tree.root, 7), 0);
}

TEST(Quota, UsageBelowACircleOfCohortsComesAndGoes) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.use(tree.a, 5);  // more than it owns
  tree.forest.set_parent(tree.root, tree.east);
  tree.forest.set_parent(tree.a, tree.root);
  tree.forest.settle();
  tree.forest.remove_usage(tree.a, std::vector{FrAmount{cpu, 5}});
  tree.use(tree.a, 3);
  EXPECT_EQ(tree.forest.usage(tree.a, cpu), 3);
  tree.forest.set_parent(tree.root, no_node);
  tree.forest.settle();
  EXPECT_EQ(tree.forest.usage(tree.root, cpu), 3);
  EXPECT_EQ(tree.forest.node(tree.root).over, std::vector{tree.a});
}

TEST(Quota, NegativeAmountsAndSumsWithoutRoomAreNoBugs) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.use(tree.a, -3);
  EXPECT_EQ(tree.forest.usage(tree.a, cpu), -3);
  Tree other;
  other.quota(other.a, {cpu, 2, {}, {}});
  other.use(other.a, unlimited - 1);
  other.use(other.a, 5);
  for (const Amount amount : {unlimited - 1, Amount{5}}) {
    other.forest.remove_usage(other.a, std::vector{FrAmount{cpu, amount}});
  }
}

TEST(QuotaDeathTest, AClusterQueueCannotGiveBackMoreThanItUses) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.use(tree.a, 2);
  const std::vector<FrAmount> more{{cpu, 3}};
  EXPECT_DEATH(tree.forest.remove_usage(tree.a, more), "a gives back more than it uses");
}

TEST(QuotaDeathTest, TrialsEndInTheOppositeOrder) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  const std::size_t outer = tree.forest.begin_trial();
  tree.use(tree.a, 1);
  const std::size_t inner = tree.forest.begin_trial();
  EXPECT_DEATH(tree.forest.roll_back(outer), "before one that began within it");
  tree.forest.roll_back(inner);
  tree.forest.roll_back(outer);
  EXPECT_DEATH(tree.forest.roll_back(outer), "never began");
}

TEST(QuotaDeathTest, WhatHasUsageOrMembersIsNotRemoved) {
  Tree tree;
  tree.quota(tree.a, {cpu, 2, {}, {}});
  tree.use(tree.a, 1);
  EXPECT_DEATH(tree.forest.remove_node(tree.a), "a is removed and has usage");
  EXPECT_DEATH(tree.forest.remove_node(tree.east), "east is removed and has members");
}

/// A random tree of cohorts with random queues, for properties.
struct RandomForest {
  explicit RandomForest(std::uint64_t seed) : rng(seed) {
    for (int i = 0; i < 5; ++i) {
      const NodeId cohort = forest.add_node("cohort" + std::to_string(i), false);
      if (i > 0)
        forest.set_parent(cohort, cohorts[static_cast<std::size_t>(rng.between(0, i - 1))]);
      if (rng.chance(0.5)) forest.set_quotas(cohort, quotas());
      cohorts.push_back(cohort);
    }
    for (int i = 0; i < 8; ++i) {
      const NodeId queue = forest.add_node("queue" + std::to_string(i), true);
      forest.set_parent(queue, cohorts[static_cast<std::size_t>(rng.between(0, 4))]);
      forest.set_quotas(queue, quotas());
      queues.push_back(queue);
    }
    forest.settle();
  }
  std::vector<Quota> quotas() {
    std::vector<Quota> list;
    for (FrId fr = 0; fr < 2; ++fr) {
      Quota quota{fr, rng.between(0, 20), {}, {}};
      if (rng.chance(0.4)) quota.borrowing_limit = rng.between(0, 15);
      if (rng.chance(0.4)) quota.lending_limit = rng.between(0, quota.nominal);
      list.push_back(quota);
    }
    return list;
  }
  void check_sums() const {
    for (const NodeId id : cohorts) {
      for (const Cell& cell : forest.node(id).cells) {
        Amount usage = 0;
        Amount quota = cell.nominal;
        const auto add = [&](NodeId child) {
          const std::uint32_t index = forest.find(child, cell.fr);
          if (index == no_cell) return;
          const Cell& below = forest.cell(child, index);
          usage += std::max<Amount>(0, below.usage - below.local_quota());
          quota += below.subtree - below.local_quota();
        };
        for (const NodeId child : forest.node(id).child_cohorts) add(child);
        for (const NodeId child : forest.node(id).child_queues) add(child);
        ASSERT_EQ(cell.usage, usage) << forest.node(id).name;
        ASSERT_EQ(cell.subtree, quota) << forest.node(id).name;
      }
    }
  }
  Rng rng;
  QuotaForest forest;
  std::vector<NodeId> cohorts;
  std::vector<NodeId> queues;
};

class QuotaProperties : public ::testing::TestWithParam<int> {};

TEST_P(QuotaProperties, ChildrenSumToParentsAndUsageStaysWithinTheTree) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  RandomForest random(static_cast<std::uint64_t>(GetParam()));
  std::vector<std::pair<NodeId, FrAmount>> held;
  for (int step = 0; step < 200; ++step) {
    const NodeId queue = random.queues[static_cast<std::size_t>(random.rng.between(0, 7))];
    const FrAmount want{static_cast<FrId>(random.rng.between(0, 1)), random.rng.between(1, 8)};
    if (want.amount <= random.forest.available(queue, want.fr)) {
      random.forest.add_usage(queue, {&want, 1});
      held.emplace_back(queue, want);
      ASSERT_LE(random.forest.usage(queue, want.fr),
                random.forest.potential_available(queue, want.fr));
    } else if (!held.empty()) {
      random.forest.remove_usage(held.back().first, {&held.back().second, 1});
      held.pop_back();
    }
    random.check_sums();
    const NodeId root = random.cohorts.front();
    for (const Cell& cell : random.forest.node(root).cells) ASSERT_LE(cell.usage, cell.subtree);
  }
}

TEST_P(QuotaProperties, RollingBackATrialLeavesNoTrace) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  RandomForest random(static_cast<std::uint64_t>(GetParam()));
  const auto usages = [&] {
    std::vector<Amount> all;
    for (const auto& ids : {random.cohorts, random.queues}) {
      for (const NodeId id : ids) {
        for (const Cell& cell : random.forest.node(id).cells) all.push_back(cell.usage);
      }
    }
    return all;
  };
  const auto change = [&] {
    const NodeId queue = random.queues[static_cast<std::size_t>(random.rng.between(0, 7))];
    const FrAmount some{static_cast<FrId>(random.rng.between(0, 1)), random.rng.between(1, 30)};
    random.forest.add_usage(queue, {&some, 1});
  };
  for (int i = 0; i < 5; ++i) change();
  const auto before = usages();
  const std::size_t outer = random.forest.begin_trial();
  for (int i = 0; i < 10; ++i) change();
  const auto between = usages();
  const std::size_t inner = random.forest.begin_trial();
  for (int i = 0; i < 10; ++i) change();
  random.forest.lower_own_usage(random.queues[0], 0, 3);
  change();
  random.forest.roll_back(inner);
  EXPECT_EQ(usages(), between);
  random.forest.roll_back(outer);
  EXPECT_EQ(usages(), before);
}

INSTANTIATE_TEST_SUITE_P(Seeds, QuotaProperties, ::testing::Range(1, 41));

}  // namespace
}  // namespace regatta::admission
