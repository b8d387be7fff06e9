#include "manager/metrics/workload_counts.h"

#include <gtest/gtest.h>

#include <memory>

namespace regatta::manager {
namespace {

std::string text(const WorkloadCounts& counts) {
  std::string out;
  for (const auto& [key, count] : counts.all()) {
    out += key.local_queue.str() + " " + key.reason + "/" + key.cause + " " +
           std::to_string(count) + "; ";
  }
  return out;
}

void put(api::Workload* w, const char* type, bool value, const char* reason) {
  api::set_condition(
      &w->status.conditions,
      {type, value ? api::ConditionStatus::True : api::ConditionStatus::False, 0, {}, reason, ""},
      TimePoint());
}

TEST(WorkloadCounts, FollowALife) {
  WorkloadCounts counts;
  api::Workload w;
  w.metadata.ns = "team";
  w.spec.queue_name = "main";
  counts.changed(nullptr, &w);
  const auto step = [&](auto change) {
    const auto before = std::make_unique<api::Workload>(w);
    change();
    counts.changed(before.get(), &w);
  };
  EXPECT_EQ(text(counts), "team/main NoReservation/PendingEvaluation 1; ");
  step([&] { put(&w, "QuotaReserved", false, "WaitingForQuota"); });
  EXPECT_EQ(text(counts), "team/main NoReservation/WaitingForQuota 1; ");
  step([&] { w.spec.queue_name = "other"; });
  EXPECT_EQ(text(counts), "team/other NoReservation/WaitingForQuota 1; ");
  step([&] {
    put(&w, "QuotaReserved", true, "QuotaReserved");
    put(&w, "Admitted", false, "UnsatisfiedAdmissionChecks");
  });
  EXPECT_EQ(text(counts), "team/other UnsatisfiedAdmissionChecks/ 1; ");
  step([&] { put(&w, "Admitted", true, "Admitted"); });
  EXPECT_EQ(text(counts), "");
  step([&] { put(&w, "Finished", true, "Succeeded"); });
  EXPECT_EQ(text(counts), "team/other Finished/ 1; ");
  counts.changed(&w, nullptr);
  EXPECT_EQ(text(counts), "");
}

}  // namespace
}  // namespace regatta::manager
