#include "admission/usage_history.h"

#include "admission/cycle.h"
#include "admission/testing/objects.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::local_queue_yaml;
using testing::queue_yaml;
using testing::start;
using testing::workload_yaml;

constexpr Billionths unit = 1'000'000'000;

api::Quantity quantity(const char* text) {
  return *api::Quantity::parse(text);
}

AdmissionFairSharingConfig hours(double half_life, double sampling) {
  AdmissionFairSharingConfig config;
  config.usage_half_life = std::chrono::hours(1) * half_life;
  config.usage_sampling_interval = std::chrono::hours(1) * sampling;
  return config;
}

TEST(UsageHistory, QuantitiesAreExactBillionths) {
  for (const char* text : {"0", "1", "1500m", "1Gi", "2500u", "7n", "12345678901234n"}) {
    const api::Quantity given = quantity(text);
    EXPECT_EQ(to_quantity(to_billionths(given)), given) << text;
  }
  EXPECT_EQ(to_billionths(quantity("1Gi")), unit * 1073741824);
}

TEST(UsageHistory, WeightsAreThoseOfTheCanonicalQuantity) {
  EXPECT_EQ(approximate(quantity("3")), 3.0);
  EXPECT_EQ(approximate(quantity("700m")), 700 * 1e-3);
  EXPECT_EQ(approximate(quantity("0.7")), 700 * 1e-3);
  EXPECT_EQ(approximate(quantity("15u")), 15 * 1e-6);
}

TEST(UsageHistory, HalfOfThePastIsReplacedInAHalfLife) {
  EXPECT_EQ(replaced_share(300, 0), 0.0);
  EXPECT_EQ(replaced_share(3600, 3600), 0.5);
  EXPECT_EQ(replaced_share(7200, 3600), 0.75);
  EXPECT_EQ(replaced_share(300, 604800), 1.0 - std::pow(0.5, 300.0 / 604800.0));
}

TEST(UsageHistory, FactorsApplyByTheirShortestTextRoundedDown) {
  EXPECT_EQ(scaled(unit, 0.1), 100'000'000);
  EXPECT_EQ(scaled(3, 0.5), 1);
  EXPECT_EQ(scaled(-3, 0.5), -1);
  EXPECT_EQ(scaled(10 * unit, 1.0 / 3.0), 3'333'333'333);
  EXPECT_EQ(scaled(unit * 1073741824 * 1024, 0.5), unit * 536870912 * 1024);
  EXPECT_EQ(scaled(unit, 0.00034376), 343'760);
  EXPECT_EQ(scaled(7, 1e-300), 0);
}

TEST(UsageHistory, ConsumptionMovesTowardsUse) {
  const Consumption consumed{{"cpu", 8 * unit}};
  const Consumption usage{{"cpu", 2 * unit}, {"gpu", unit}};
  const Consumption after = decayed(consumed, usage, 3600, 3600);
  EXPECT_EQ(after.at("cpu"), 5 * unit);
  EXPECT_EQ(after.at("gpu"), unit / 2);
  EXPECT_EQ(decayed(consumed, usage, 0, 3600).at("cpu"), 8 * unit);
  EXPECT_EQ(decayed(consumed, usage, -1e9, 60).at("cpu"), 8 * unit) << "sampled in the future";
}

TEST(UsageHistory, AnEntryCostsWhatOneSampleOfItWould) {
  const Consumption penalty = entry_penalty({{"cpu", 4 * unit}}, hours(1, 1));
  EXPECT_EQ(penalty.at("cpu"), 2 * unit);
  EXPECT_EQ(entry_penalty({{"cpu", 4 * unit}}, hours(0, 1)).at("cpu"), 0);
}

TEST(UsageHistory, UsageIsWeightedByResourceAndQueue) {
  const Consumption consumed{{"cpu", 3 * unit}, {"memory", 5}};
  const Consumption penalty{{"cpu", unit}};
  const std::map<std::string, double> weights{{"cpu", 2.5}};
  EXPECT_EQ(weighted_usage(consumed, penalty, 1, weights), 2.5 * (4e9 * 1e-9) + 5 * 1e-9);
  EXPECT_EQ(weighted_usage(consumed, penalty, 3, weights), (2.5 * (4e9 * 1e-9) + 5 * 1e-9) / 3);
  EXPECT_EQ(weighted_usage({}, {}, 1, weights), 0);
  EXPECT_TRUE(std::isinf(weighted_usage({}, {}, 0, weights)));
}

constexpr const char* by_usage =
    R"(  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}
)";

/// Two LocalQueues of one ClusterQueue of `cpus`.
class SharedQueue : public ::testing::Test {
 protected:
  void begin(int cpus, const std::string& more = "", double half_life = 1) {
    Config config;
    config.admission_fair_sharing = hours(half_life, 0.5);
    config.reactivation_delay = std::chrono::milliseconds(0);
    loaded_ =
        std::make_unique<Loaded>(queue_yaml("cq", cpus, by_usage + more) +
                                     local_queue_yaml("cq", "a") + local_queue_yaml("cq", "b"),
                                 config);
  }

  /// Runs one cycle and reads its admissions back; returns their names. `pods_done` is how many
  /// pods of each are reclaimable by then.
  std::string admit(int pods_done = 0) {
    now_ += std::chrono::seconds(1);
    loaded_->state.flush(now_);
    std::string names;
    for (const AdmittedWorkload& decision : run_cycle(loaded_->state, now_).admitted) {
      api::Workload& workload = loaded_->workloads.at(decision.key);
      workload.status.admission = decision.admission;
      if (pods_done > 0) workload.status.reclaimable_pods = {{"main", pods_done}};
      for (const auto type : {api::conditions::quota_reserved, api::conditions::admitted}) {
        api::Condition condition;
        condition.type = type;
        condition.status = api::ConditionStatus::True;
        api::set_condition(&workload.status.conditions, condition, now_);
      }
      loaded_->state.upsert(workload, now_);
      names += decision.key.name;
    }
    return names;
  }

  std::map<std::string, api::Quantity> consumed(const char* queue) {
    const auto sharing = loaded_->state.reader().status(api::ObjectKey("dev", queue)).fair_sharing;
    if (!sharing) return {};
    return sharing->admission_fair_sharing_status->consumed_resources;
  }

  std::unique_ptr<Loaded> loaded_;
  TimePoint now_ = start;
};

TEST_F(SharedQueue, TheLocalQueueThatUsedLessGoesFirstWhateverThePriority) {
  begin(10);
  loaded_->load(workload_yaml("a1", "a", 1, 5) + workload_yaml("a2", "a", 1, 5) +
                workload_yaml("a3", "a", 1, 5) + workload_yaml("b1", "b", 2) +
                workload_yaml("b2", "b", 1));
  EXPECT_EQ(admit(), "a1") << "no LocalQueue used anything: priority decides";
  EXPECT_EQ(admit(), "b1");
  EXPECT_EQ(admit(), "a2") << "b asked for more at once";
  EXPECT_EQ(admit(), "b2") << "what runs counts too, and a's did so at its last admission";
  EXPECT_EQ(admit(), "a3");
}

TEST_F(SharedQueue, WithoutTheScopePriorityDecides) {
  begin(10);
  loaded_->load(queue_yaml("cq", 10) + workload_yaml("a1", "a", 1, 5) +
                workload_yaml("a2", "a", 1, 5) + workload_yaml("b1", "b", 1));
  EXPECT_EQ(admit(), "a1");
  EXPECT_EQ(admit(), "a2");
}

TEST_F(SharedQueue, WithoutTheScopeUsageIsRecordedToo) {
  begin(10);
  loaded_->load(queue_yaml("cq", 10) + workload_yaml("a1", "a", 4));
  EXPECT_EQ(consumed("a").at("cpu"), api::Quantity(0));
  EXPECT_EQ(admit(), "a1");
  loaded_->state.sample_usage(now_ + std::chrono::hours(1));
  EXPECT_GT(consumed("a").at("cpu"), api::Quantity(2));
}

TEST_F(SharedQueue, SamplesDecayAndAreInTheStatus) {
  begin(10);
  loaded_->load(workload_yaml("a1", "a", 4));
  EXPECT_EQ(admit(), "a1");
  loaded_->state.take_changes();
  loaded_->state.sample_usage(now_ + std::chrono::hours(1));
  // What was settled at the admission, one second after the beginning, is halved. Half of what is
  // in use is added.
  const Billionths penalty = scaled(4 * unit, 1.0 - std::pow(0.5, 0.5));
  const Billionths settled = scaled(4 * unit, 1.0 - std::pow(0.5, 1.0 / 3600)) + penalty;
  EXPECT_EQ(consumed("a").at("cpu"), to_quantity(scaled(settled, 0.5) + 2 * unit));
  EXPECT_EQ(consumed("b"), (std::map<std::string, api::Quantity>{{"cpu", api::Quantity(0)}}));
  const Changes changes = loaded_->state.take_changes();
  EXPECT_EQ(changes.local_queues, std::set<api::ObjectKey>{api::ObjectKey("dev", "a")})
      << "an unused LocalQueue needs no new status";
}

TEST_F(SharedQueue, AnAdmissionThatDidNotHappenCostsNothing) {
  begin(10);
  loaded_->load(workload_yaml("a1", "a", 4));
  ASSERT_EQ(run_cycle(loaded_->state, now_).admitted.size(), 1U);
  loaded_->state.forget({"dev", "a1"}, "uid-a1", now_);
  loaded_->load(workload_yaml("b1", "b", 1) + workload_yaml("b2", "b", 1));
  EXPECT_EQ(admit(), "a1");
  EXPECT_EQ(admit(), "b1");
}

TEST_F(SharedQueue, WhatWasChargedIsTakenBackWhateverTheWorkloadAsksForByThen) {
  begin(10);
  loaded_->load(workload_yaml("a1", "a", 4));
  EXPECT_EQ(admit(1), "a1");
  loaded_->state.erase_workload({"dev", "a1"}, now_);
  loaded_->load(workload_yaml("b1", "b", 4));
  EXPECT_EQ(admit(), "b1");
  loaded_->state.erase_workload({"dev", "b1"}, now_);
  now_ += std::chrono::hours(1000);
  loaded_->state.sample_usage(now_);
  loaded_->load(workload_yaml("a2", "a", 1, 5) + workload_yaml("b2", "b", 1));
  EXPECT_EQ(admit(), "a2") << "both used nothing of late: priority decides";
}

TEST_F(SharedQueue, ALocalQueueThatIsMadeAnewUsedNothing) {
  begin(10);
  loaded_->load(workload_yaml("a1", "a", 4));
  EXPECT_EQ(admit(), "a1");
  loaded_->state.erase_workload({"dev", "a1"}, now_);
  loaded_->state.erase_local_queue({"dev", "a"});
  loaded_->load(local_queue_yaml("cq", "a") + workload_yaml("a2", "a", 1, 5) +
                workload_yaml("b1", "b", 1));
  EXPECT_EQ(admit(), "a2") << "neither used anything: priority decides";
}

TEST_F(SharedQueue, WhatTheStatusRemembersCountsAfterARestart) {
  begin(10);
  loaded_->load(R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {namespace: dev, name: c}
spec: {clusterQueue: cq}
status: {fairSharing: {weightedShare: 0, admissionFairSharingStatus: {
  consumedResources: {cpu: "3"}, lastUpdate: "2025-12-18T00:00:00Z"}}}
)" + workload_yaml("c1", "c", 1, 9) +
                workload_yaml("b1", "b", 1));
  EXPECT_EQ(admit(), "b1");
  EXPECT_EQ(consumed("c").at("cpu"), quantity("3"));
}

TEST_F(SharedQueue, TheLocalQueueThatUsedMoreIsPreemptedFirst) {
  begin(4, "  preemption: {withinClusterQueue: LowerPriority}\n");
  loaded_->load(workload_yaml("a1", "a", 1) + workload_yaml("a2", "a", 1, 1) +
                workload_yaml("b1", "b", 2, 0));
  while (!admit().empty()) {
  }
  loaded_->load(workload_yaml("z", "b", 1, 5));
  now_ += std::chrono::seconds(1);
  const CycleResult result = run_cycle(loaded_->state, now_);
  ASSERT_EQ(result.preempted.size(), 1U);
  EXPECT_EQ(result.preempted[0].key.name, "a1") << "of equal usage the lowest priority";
}

}  // namespace
}  // namespace regatta::admission
