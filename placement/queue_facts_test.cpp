#include "placement/queue_facts.h"

#include "lib/api/codec.h"
#include "lib/api/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::placement {
namespace {

template <class T>
std::shared_ptr<const T> made(const std::string& yaml) {
  const auto json = api::parse_yaml(yaml);
  if (!json) ADD_FAILURE() << json.error().what();
  auto object = api::from_json<T>(json ? *json : Json());
  if (!object) ADD_FAILURE() << object.error().what();
  return std::make_shared<const T>(object ? std::move(*object) : T());
}

/// A ClusterQueue with one flavor of cpu.
std::shared_ptr<const api::ClusterQueue> queue(const std::string& name, const std::string& quota,
                                               const std::string& used,
                                               const std::string& spec = "") {
  return made<api::ClusterQueue>("metadata: {name: " + name + "}\nspec:\n" + spec +
                                 "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors: "
                                 "[{name: f, resources: [{name: cpu, " +
                                 quota +
                                 "}]}]\nstatus:\n  flavorsReservation: [{name: f, resources: "
                                 "[{name: cpu, total: \"" +
                                 used + "\"}]}]\n");
}

const QuotaFacts& cpu(const std::map<std::string, QueueFacts>& all, const std::string& name) {
  return all.at(name).groups.at(0).at(0).resources.at("cpu");
}

TEST(QueueFactsOf, QuotaAndUsageAreCountedAsKueueDoes) {
  const auto all = queue_facts({{queue("a", "nominalQuota: \"4\"", "1500m")}, {}, {}, {}});
  const QuotaFacts& facts = cpu(all, "a");
  EXPECT_EQ(facts.nominal, 4000);
  EXPECT_EQ(facts.used, 1500);
  EXPECT_EQ(facts.borrowable, 0);
  EXPECT_EQ(facts.most, 4000);
}

TEST(QueueFactsOf, ACohortLendsWhatItsOtherQueuesLeave) {
  const std::string team = "  cohortName: team\n";
  const auto all = queue_facts(
      {{queue("a", "nominalQuota: \"4\"", "1", team), queue("b", "nominalQuota: \"6\"", "2", team)},
       {},
       {},
       {}});
  EXPECT_EQ(cpu(all, "a").borrowable, 4000);
  EXPECT_EQ(cpu(all, "a").most, 10000);
}

TEST(QueueFactsOf, LimitsOfBorrowingCount) {
  const std::string team = "  cohortName: team\n";
  const auto all =
      queue_facts({{queue("a", "nominalQuota: \"4\", borrowingLimit: \"1\"", "1", team),
                    queue("b", "nominalQuota: \"6\"", "2", team)},
                   {},
                   {},
                   {}});
  EXPECT_EQ(cpu(all, "a").borrowable, 1000);
  EXPECT_EQ(cpu(all, "a").most, 5000);
}

TEST(QueueFactsOf, CohortsHaveQuotaOfTheirOwn) {
  const auto cohort = made<api::Cohort>(
      "metadata: {name: team}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: "
      "[{name: f, resources: [{name: cpu, nominalQuota: \"3\"}]}]}]}");
  const auto all = queue_facts(
      {{queue("a", "nominalQuota: \"4\"", "0", "  cohortName: team\n")}, {cohort}, {}, {}});
  EXPECT_EQ(cpu(all, "a").borrowable, 3000);
}

TEST(QueueFactsOf, WhatOthersBorrowedIsNoRoomUntilItIsReclaimed) {
  const std::string team = "  cohortName: team\n";
  const std::string reclaims = team + "  preemption: {reclaimWithinCohort: Any}\n";
  for (const bool may : {false, true}) {
    const auto all = queue_facts({{queue("a", "nominalQuota: \"4\"", "0", may ? reclaims : team),
                                   queue("b", "nominalQuota: \"6\"", "9", team)},
                                  {},
                                  {},
                                  {}});
    EXPECT_EQ(cpu(all, "a").borrowable, -3000);
    const std::vector<Amounts> asked = {{{"cpu", 2000}}};
    EXPECT_EQ(room_in(all.at("a"), asked, 0, {}, {}), may ? RoomKind::preempts : RoomKind::full);
  }
}

TEST(QueueFactsOf, OnlyAQueueThatPreemptsMakesRoomOfOurWorkloads) {
  const std::vector<WorkerQueues::Held> held = {
      {"a", -1, "f", "cpu", 2000}, {"other", -1, "f", "cpu", 1000}, {"a", -1, "g", "cpu", 1000}};
  const std::string preempts = "  preemption: {withinClusterQueue: LowerPriority}\n";
  const auto without = queue_facts({{queue("a", "nominalQuota: \"4\"", "4")}, {}, held, {}});
  EXPECT_TRUE(cpu(without, "a").preemptable.empty());
  const auto with = queue_facts({{queue("a", "nominalQuota: \"4\"", "4", preempts)}, {}, held, {}});
  EXPECT_EQ(cpu(with, "a").preemptable, (std::map<std::int32_t, std::int64_t>{{-1, 2000}}));
}

TEST(QueueFactsOf, ACohortBelowTooManyOthersHasNoRoom) {
  std::vector<std::shared_ptr<const api::Cohort>> cohorts;
  for (int i = 0; i < 200; ++i) {
    api::Cohort cohort;
    cohort.metadata.name = "c" + std::to_string(i);
    if (i > 0) cohort.spec.parent_name = "c" + std::to_string(i - 1);
    cohorts.push_back(std::make_shared<const api::Cohort>(std::move(cohort)));
  }
  const auto all = queue_facts({{queue("a", "nominalQuota: \"4\"", "1", "  cohortName: c199\n"),
                                 queue("b", "nominalQuota: \"4\"", "1", "  cohortName: c0\n"),
                                 queue("c", "nominalQuota: \"4\"", "1")},
                                cohorts,
                                {},
                                {}});
  EXPECT_EQ(cpu(all, "a").most, 0);
  EXPECT_EQ(cpu(all, "b").most, 0) << "it is of the same tree";
  EXPECT_EQ(cpu(all, "c").most, 4000);
}

TEST(QueueFactsOf, WhatManyQueuesHoldIsCountedOnce) {
  const auto given =
      queue("q", "nominalQuota: \"1\"", "1",
            "  cohortName: team\n  preemption: {withinClusterQueue: LowerPriority}\n");
  WorkerQueues worker;
  for (int i = 0; i < 20'000; ++i) {
    api::ClusterQueue one = *given;
    one.metadata.name = "q" + std::to_string(i);
    one.status.flavors_reservation[0].name = "without-quota";
    worker.held.push_back({one.metadata.name, 0, "f", "cpu", 1000});
    worker.cluster_queues.push_back(std::make_shared<const api::ClusterQueue>(std::move(one)));
  }
  const auto all = queue_facts(worker);
  EXPECT_EQ(all.size(), 20'000u);
  EXPECT_EQ(cpu(all, "q7").most, 20'000'000);
  EXPECT_EQ(cpu(all, "q7").preemptable, (std::map<std::int32_t, std::int64_t>{{0, 1000}}));
}

TEST(QueueFactsOf, AmountsThatCannotBeAreNoOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto given =
      queue("a", "nominalQuota: \"4\"", "4", "  preemption: {withinClusterQueue: LowerPriority}\n");
  auto all = queue_facts(
      {{given},
       {},
       {{"a", -1, "f", "cpu", most}, {"a", -1, "f", "cpu", most}, {"a", -2, "f", "cpu", least}},
       {}});
  EXPECT_EQ(cpu(all, "a").preemptable, (std::map<std::int32_t, std::int64_t>{{-1, most}}));
  EXPECT_EQ(room_in(all.at("a"), {{{"cpu", 1000}}}, 0, {}, {}), RoomKind::preempts);
  give_back(&all.at("a"), "f", "cpu", least, -1);
  EXPECT_EQ(cpu(all, "a").preemptable.at(-1), most);
  give_back(&all.at("a"), "f", "cpu", most, -1);
  EXPECT_EQ(room_in(all.at("a"), {{{"cpu", 1000}}}, 0, {{"cpu", 1}}, {}), RoomKind::free);
}

TEST(QueueFactsOf, ANumberOfWaitingWorkloadsThatCannotBeIsNoOverflow) {
  const auto pending = [](const std::string& count) {
    const auto waits =
        made<api::ClusterQueue>("metadata: {name: a}\nstatus: {pendingWorkloads: " + count + "}");
    return queue_facts({{waits}, {}, {}, {{"a", {{7, 2}}}}}).at("a").pending;
  };
  EXPECT_EQ(pending("-2147483648"), (std::map<std::int32_t, int>{{7, 2}}));
  EXPECT_EQ(pending("2147483647"), (std::map<std::int32_t, int>{{0, 2147483645}, {7, 2}}));
}

TEST(QueueFactsOf, OthersThatWaitCountAsOfPriorityZero) {
  const auto waits = made<api::ClusterQueue>("metadata: {name: a}\nstatus: {pendingWorkloads: 5}");
  const auto all = queue_facts({{waits}, {}, {}, {{"a", {{7, 2}}}}});
  EXPECT_EQ(all.at("a").pending, (std::map<std::int32_t, int>{{0, 3}, {7, 2}}));
}

TEST(QueueFactsOf, AQueueThatAdmitsNothingSaysSo) {
  EXPECT_EQ(closed_because(*made<api::ClusterQueue>("metadata: {name: a}")), "");
  EXPECT_EQ(
      closed_because(*made<api::ClusterQueue>("metadata: {name: a}\nspec: {stopPolicy: Hold}")),
      "has stopped ClusterQueue a");
  EXPECT_EQ(closed_because(*made<api::ClusterQueue>(
                "metadata: {name: a}\nstatus: {conditions: [{type: Active, status: \"False\", "
                "reason: FlavorNotFound, message: m, "
                "lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}")),
            "has ClusterQueue a, which is not active");
  EXPECT_EQ(closed_because(*made<api::LocalQueue>(
                "metadata: {name: q, namespace: ns}\nspec: {stopPolicy: HoldAndDrain}")),
            "has stopped LocalQueue ns/q");
}

}  // namespace
}  // namespace regatta::placement
