#include "manager/lifecycle_metrics.h"

#include "lib/api/names.h"

#include <gtest/gtest.h>

#include <prometheus/text_serializer.h>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{1'800'000'000s};

void put(api::Workload* w, std::string_view type, bool value, const char* reason, TimePoint at) {
  api::set_condition(&w->status.conditions,
                     {std::string(type),
                      value ? api::ConditionStatus::True : api::ConditionStatus::False,
                      0,
                      {},
                      reason,
                      ""},
                     at);
}

/// Plays the life of a Workload, one write after the other.
struct Life {
  Life() {
    workload.metadata.creation_timestamp = start;
    workload.spec.priority_class_ref = {{"kueue.x-k8s.io", "WorkloadPriorityClass", "high"}};
  }
  void step(const std::function<void(api::Workload&)>& change) {
    const api::Workload before = workload;
    change(workload);
    metrics.changed(before, workload);
  }
  void admit(TimePoint reserved, TimePoint admitted) {
    step([&](api::Workload& w) {
      w.status.admission.emplace().cluster_queue = "cq";
      w.status.admission_checks = {{"check"}};
      put(&w, "QuotaReserved", true, "QuotaReserved", reserved);
      put(&w, "Evicted", false, "QuotaReserved", reserved);
    });
    step([&](api::Workload& w) { put(&w, "Admitted", true, "Admitted", admitted); });
  }
  void evict(const char* reason, const char* cause, int count, TimePoint at) {
    step([&](api::Workload& w) {
      put(&w, "Evicted", true, reason, at);
      w.status.evictions = {{reason, cause, count}};
    });
  }
  void give_back(TimePoint at) {
    step([&](api::Workload& w) {
      w.status.admission.reset();
      put(&w, "QuotaReserved", false, "PendingEvaluation", at);
      put(&w, "Admitted", false, "NoReservation", at);
      put(&w, "PodsReady", false, "WaitForStart", at);
      put(&w, "Requeued", true, "Preempted", at);
    });
  }
  std::string value(const std::string& series) const {
    const std::string text = prometheus::TextSerializer().Serialize(registry.Collect());
    const auto at = text.find("\n" + series + " ");
    if (at == std::string::npos) return "absent";
    const auto from = at + series.size() + 2;
    return text.substr(from, text.find('\n', from) - from);
  }
  static std::string all(const std::string& name, const std::string& more = "",
                         const std::string& tail = "") {
    return name + "{cluster_queue=\"cq\"," + more + "replica_role=\"leader\"" + tail + "}";
  }
  api::Workload workload;
  prometheus::Registry registry;
  LifecycleMetrics metrics{registry, "leader"};
};

const std::string high = "priority_class=\"high\",";

TEST(LifecycleMetrics, ALifeIsMeasured) {
  Life life;
  life.admit(start + 10s, start + 25s);
  EXPECT_EQ(life.value(Life::all("kueue_admission_checks_wait_time_seconds_sum", high)), "15");
  life.step([](api::Workload& w) { put(&w, "PodsReady", true, "Started", start + 30s); });
  EXPECT_EQ(life.value(Life::all("kueue_ready_wait_time_seconds_sum", high)), "30");
  EXPECT_EQ(life.value(Life::all("kueue_admitted_until_ready_wait_time_seconds_sum", high)), "5");
  life.evict("Preempted", "", 1, start + 100s);
  const std::string why = "reason=\"Preempted\",";
  const std::string none = ",underlying_cause=\"\"";
  EXPECT_EQ(life.value(Life::all("kueue_pods_ready_to_evicted_time_seconds_sum", why, none)), "70");
  EXPECT_EQ(life.value(Life::all("kueue_evicted_workloads_total", high + why, none)), "1");
  EXPECT_EQ(life.value(Life::all("kueue_evicted_workloads_once_total", high + why, none)), "1");
  life.give_back(start + 130s);
  EXPECT_EQ(life.value(Life::all("kueue_workload_eviction_latency_seconds_sum", why)), "30");
  // The second time.
  life.workload.status.accumulated_past_execution_time_seconds = 105;
  life.admit(start + 200s, start + 200s);
  life.evict("Preempted", "", 2, start + 210s);
  EXPECT_EQ(life.value(Life::all("kueue_evicted_workloads_total", high + why, none)), "2");
  EXPECT_EQ(life.value(Life::all("kueue_evicted_workloads_once_total", high + why, none)), "1");
  life.give_back(start + 211s);
  life.admit(start + 300s, start + 300s);
  life.step([](api::Workload& w) { put(&w, "PodsReady", true, "Started", start + 301s); });
  EXPECT_EQ(life.value(Life::all("kueue_ready_wait_time_seconds_sum", high)), "201")
      << "the first time, and since it was back in the queue for the first time";
  life.step([](api::Workload& w) { put(&w, "Finished", true, "Succeeded", start + 360s); });
  EXPECT_EQ(life.value(Life::all("kueue_execution_time_seconds_sum", high)), "165");
}

TEST(LifecycleMetrics, ACauseIsALabelAndARecoveryIsNoStart) {
  Life life;
  life.admit(start, start);
  life.step([](api::Workload& w) { put(&w, "PodsReady", true, "Recovered", start + 30s); });
  EXPECT_EQ(life.value(Life::all("kueue_ready_wait_time_seconds_sum", high)), "absent");
  life.evict("PodsReadyTimeout", "WaitForRecovery", 1, start + 60s);
  EXPECT_EQ(
      life.value(Life::all("kueue_evicted_workloads_total", high + "reason=\"PodsReadyTimeout\",",
                           ",underlying_cause=\"WaitForRecovery\"")),
      "1");
  life.metrics.preempted("urgent", "InClusterQueue");
  EXPECT_EQ(life.value("kueue_preempted_workloads_total{preempting_cluster_queue=\"urgent\",reason="
                       "\"InClusterQueue\",replica_role=\"leader\"}"),
            "1");
}

}  // namespace
}  // namespace regatta::manager
