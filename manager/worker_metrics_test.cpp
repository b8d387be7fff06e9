#include "manager/worker_metrics.h"

#include "lib/api/names.h"

#include <gtest/gtest.h>

#include <prometheus/text_serializer.h>
#include <sstream>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

/// Plays the writes of one Workload, and requests to workers.
class WorkerSteps : public testing::Test {
 protected:
  using Change = std::function<void(api::Workload&)>;

  static void set(api::Workload& w, std::string_view type, bool value) {
    const auto status = value ? api::ConditionStatus::True : api::ConditionStatus::False;
    api::set_condition(&w.status.conditions, {std::string(type), status, 0, {}, "r", ""}, {});
  }
  static void reserve(api::Workload& w) {
    set(w, api::conditions::quota_reserved, true);
    w.status.admission_checks.resize(1);
  }
  void step(const Change& change, Duration later = 1s) {
    now_ += later;
    const api::Workload before = workload_;
    change(workload_);
    metrics_.workload_changed(key_, &before, &workload_, now_);
  }
  void nominate(std::vector<std::string> names) {
    step([&](api::Workload& w) { w.status.nominated_cluster_names = names; });
  }
  void win(const std::string& name) {
    step([&](api::Workload& w) { w.status.cluster_name = name; });
  }
  void request(std::string_view verb, unsigned status) {
    metrics_.request("east", {verb, "workloads", "", status, 10ms});
  }
  /// The value of that sample; -1 when there is none.
  double value(const std::string& name, const std::string& cluster = "east",
               const std::string& after = "") {
    const std::string sample = "regatta_worker_" + name + "{cluster=\"" + cluster +
                               "\",replica_role=\"leader\"" + after + "} ";
    std::istringstream lines(prometheus::TextSerializer().Serialize(registry_.Collect()));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(sample)) return std::stod(line.substr(sample.size()));
    }
    return -1;
  }
  double waits(const std::string& step_name, const std::string& cluster = "east") {
    return value(step_name + "_wait_time_seconds_count", cluster);
  }

  prometheus::Registry registry_;
  const std::string role_ = "leader";
  WorkerMetrics metrics_{registry_, role_};
  api::ObjectKey key_{"ns", "w"};
  api::Workload workload_;
  SteadyPoint now_;
};

TEST_F(WorkerSteps, are_counted_once_whatever_is_written_besides) {
  const Change nothing = [](api::Workload&) {};
  step(reserve);
  nominate({"east"});
  step(nothing);
  nominate({"east", "west"});
  win("east");
  step(nothing);
  EXPECT_EQ(waits("nomination"), 1);
  EXPECT_EQ(waits("nomination", "west"), 1);
  EXPECT_EQ(waits("admission"), 1);
  EXPECT_EQ(value("admission_wait_time_seconds_sum"), 4);
  metrics_.job_runs(key_, now_ + 5s);
  metrics_.job_runs(key_, now_ + 6s);
  EXPECT_EQ(waits("start"), 1);
  EXPECT_TRUE(metrics_.idle());
}

TEST_F(WorkerSteps, are_not_counted_when_the_reservation_was_not_seen) {
  reserve(workload_);
  nominate({"east"});
  win("east");
  metrics_.job_runs(key_, now_);
  EXPECT_EQ(waits("nomination"), -1) << "since when it waits is not known";
  EXPECT_EQ(waits("admission"), -1);
  EXPECT_EQ(waits("start"), -1);
}

TEST_F(WorkerSteps, are_of_workloads_that_go_to_workers) {
  step([](api::Workload& w) { set(w, api::conditions::quota_reserved, true); });
  EXPECT_TRUE(metrics_.idle()) << "without a check it stays here";
  metrics_.job_runs(key_, now_);
  EXPECT_EQ(waits("start", ""), -1);
}

TEST_F(WorkerSteps, end_with_the_workload) {
  step(reserve);
  EXPECT_FALSE(metrics_.idle());
  metrics_.job_runs(key_, now_);
  EXPECT_FALSE(metrics_.idle()) << "no worker has won: it is not the start that is measured";
  step([](api::Workload& w) { set(w, api::conditions::finished, true); });
  EXPECT_TRUE(metrics_.idle());

  step([](api::Workload& w) {
    set(w, api::conditions::finished, false);
    set(w, api::conditions::quota_reserved, false);
  });
  step(reserve);
  step([](api::Workload& w) { set(w, api::conditions::quota_reserved, false); });
  EXPECT_TRUE(metrics_.idle());
  step(reserve);
  metrics_.workload_changed(key_, &workload_, nullptr, now_);
  EXPECT_TRUE(metrics_.idle());
}

TEST_F(WorkerSteps, requests_are_told_apart_by_their_answers) {
  const std::string deletions = ",verb=\"delete\"";
  request("delete", 404);
  EXPECT_EQ(value("removed_objects_total", "east", ",resource=\"workloads\""), -1)
      << "it was gone already";
  request("delete", 200);
  request("get", 400);
  EXPECT_EQ(value("removed_objects_total", "east", ",resource=\"workloads\""), 1);
  EXPECT_EQ(value("request_duration_seconds_count", "east", deletions), 2);
  const std::string text = prometheus::TextSerializer().Serialize(registry_.Collect());
  EXPECT_NE(text.find("code=\"4xx\",replica_role=\"leader\",verb=\"get\"} 1"), std::string::npos)
      << text;
}

TEST_F(WorkerSteps, a_worker_of_the_same_name_starts_from_nothing) {
  request("get", 200);
  metrics_.forget("east");
  EXPECT_EQ(value("request_duration_seconds_count", "east", ",verb=\"get\""), -1);
  request("get", 200);
  EXPECT_EQ(value("request_duration_seconds_count", "east", ",verb=\"get\""), 1);
}

}  // namespace
}  // namespace regatta::manager
