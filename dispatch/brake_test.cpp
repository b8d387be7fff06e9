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

TEST(Brake, AWorkloadWasSentIfItHasARecordOrWasEvictedOrIsOver) {
  api::Workload workload;
  EXPECT_TRUE(never_sent(workload));
  const auto with_condition = [&](std::string_view type, api::ConditionStatus status) {
    api::Workload other = workload;
    api::Condition condition;
    condition.type = std::string(type);
    condition.status = status;
    other.status.conditions.push_back(condition);
    return other;
  };
  const auto told = [&](const char* reason) {
    api::Workload other = with_condition("Dispatched", api::ConditionStatus::False);
    other.status.conditions.back().reason = reason;
    return other;
  };
  EXPECT_FALSE(never_sent(with_condition("Finished", api::ConditionStatus::True)));
  EXPECT_FALSE(never_sent(with_condition("Evicted", api::ConditionStatus::False)));
  EXPECT_TRUE(never_sent(with_condition("QuotaReserved", api::ConditionStatus::True)));
  for (const char* reason : {"Racing", "NoWorkerConnected", "NoWorkerAccepts", "RemovalsHeld"}) {
    EXPECT_TRUE(never_sent(told(reason))) << reason;
  }
  for (const char* reason : {"Dispatched", "WorkerLost", "Preempted", "Inadmissible"}) {
    EXPECT_FALSE(never_sent(told(reason))) << reason;
  }
  api::Workload recorded = workload, evicted = workload, deleted = workload;
  recorded.status.cluster_name = "east";
  EXPECT_FALSE(never_sent(recorded));
  evicted.status.evictions.push_back({"Preempted", "", 1});
  EXPECT_FALSE(never_sent(evicted));
  deleted.metadata.deletion_timestamp = TimePoint{};
  EXPECT_FALSE(never_sent(deleted)) << "the user wants it";
}

TEST(Brake, TheMessageSaysWhatToDo) {
  EXPECT_EQ(held_message({40, 30}),
            "30 of 40 workloads that run on this worker do not exist on the hub, which did not see "
            "their deletion, or wait there as if they had never been sent. The hub may have lost "
            "its data or may have been restored from a backup, so they are not removed. To remove "
            "them, annotate this MultiKueueCluster with multikueue.regatta.dev/remove-vanished=30");
}

}  // namespace
}  // namespace regatta::dispatch
