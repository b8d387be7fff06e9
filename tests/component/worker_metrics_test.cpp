#include "manager/metrics.h"
#include "manager/metrics/catalogue.h"
#include "tests/component/federation.h"

#include <set>
#include <sstream>

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::Not;

class WorkerSeries : public Federation {
 protected:
  void start(std::vector<std::string> names, bool quota_automation = false) {
    for (const std::string& name : names) add_worker(name);
    configure_hub();
    manager::CoreConfig config;
    config.quota_automation = quota_automation;
    metrics_.hook_into(&config);
    manager_.emplace(cluster_, network_, std::move(config));
    metrics_.follow(manager_->core());
    until("the manager has synced", [&] { return manager_->started(); });
    for (const std::string& name : names) start_worker(name);
    until("every worker is active", [&] {
      return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return member_condition(name) == "True Active: Connected";
      });
    });
    settle();
  }
  void run_one(const std::string& name) {
    apply(remote_job_yaml(name));
    until("finished", [&] { return condition_of(name, "Finished") != ""; });
    settle();
  }
  /// The value of the sample that begins so; -1 when there is none.
  double value(const std::string& sample) {
    std::istringstream lines(metrics_.text());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(sample + " ")) return std::stod(line.substr(sample.size() + 1));
    }
    return -1;
  }
  static std::string of(const std::string& name, const std::string& cluster,
                        const std::string& before = "", const std::string& after = "") {
    return "regatta_worker_" + name + "{cluster=\"" + cluster + "\"," + before +
           "replica_role=\"standalone\"" + after + "}";
  }

  manager::Metrics metrics_{{"standalone", true, {}}, "1.2.3"};
};

TEST_F(WorkerSeries, tell_how_long_each_step_of_a_workload_takes) {
  start({"east", "west"});
  run_one("j");
  const std::string winner = *workload_of("j")->status.cluster_name;
  const std::string other = winner == "east" ? "west" : "east";
  for (const std::string& name : {winner, other}) {
    EXPECT_EQ(value(of("nomination_wait_time_seconds_count", name)), 1) << name;
    EXPECT_EQ(value(of("removed_objects_total", name, "", ",resource=\"workloads\"")), 1) << name;
  }
  for (const char* step : {"admission", "start"}) {
    const std::string series = std::string(step) + "_wait_time_seconds";
    EXPECT_EQ(value(of(series + "_count", winner)), 1) << series;
    EXPECT_EQ(value(of(series + "_count", other)), -1) << series;
    EXPECT_LT(value(of(series + "_sum", winner)), 10) << series;
  }
  EXPECT_EQ(value(of("removed_objects_total", winner, "", ",resource=\"jobs\"")), 1);
  EXPECT_EQ(value(of("rejections_total", winner)), -1);
}

TEST_F(WorkerSeries, count_requests_and_why_they_were_refused) {
  start({"east"});
  ASSERT_TRUE(workers_.at("east").cluster->remove(
      api::ResourceInfo{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                        "customresourcedefinitions", false},
      api::ObjectKey("workloads.kueue.x-k8s.io")));
  apply(remote_job_yaml("j"));
  world_.run_for(30s);
  const double refused =
      value(of("rejections_total", "east", "reason=\"NotFound\",", ",resource=\"workloads\""));
  EXPECT_GE(refused, 1);
  EXPECT_GE(value("regatta_worker_requests_total{cluster=\"east\",code=\"4xx\",replica_role="
                  "\"standalone\",verb=\"create\"}"),
            refused);
  EXPECT_GE(value(of("request_duration_seconds_count", "east", "", ",verb=\"list\"")), 1);
}

TEST_F(WorkerSeries, tell_whether_a_worker_is_there_and_how_old_the_news_are) {
  start({"east"});
  EXPECT_EQ(value(of("connected", "east")), 1);
  world_.run_for(10s);
  const double age = value(of("cache_age_seconds", "east"));
  EXPECT_GE(age, 9);
  network_.faults("east").partitioned = true;
  world_.run_for(10min);
  EXPECT_EQ(value(of("connected", "east")), 0);
  EXPECT_GE(value(of("cache_age_seconds", "east")), 590);
}

TEST_F(WorkerSeries, tell_what_workers_have_for_each_queue_of_the_hub) {
  start({"east", "west"}, true);
  const auto of_queue = [&](const std::string& name, const std::string& cluster) {
    return value("regatta_worker_queue_" + name + "{cluster=\"" + cluster +
                 "\",cluster_queue=\"cq\",replica_role=\"standalone\"" +
                 (name == "pending_workloads" ? "}" : ",resource=\"cpu\"}"));
  };
  EXPECT_EQ(of_queue("nominal_quota", "east"), -1) << "nothing follows the queues of workers";
  ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"),
                             R"({"spec": {"quotaManagement": "Automated"}})"));
  settle(5s);
  EXPECT_EQ(of_queue("pending_workloads", "east"), 0);
  const double quota = of_queue("nominal_quota", "east");
  EXPECT_GE(quota, 1);
  apply(remote_job_yaml("j"));
  until("dispatched", [&] { return workload_of("j") && workload_of("j")->status.cluster_name; });
  const std::string winner = *workload_of("j")->status.cluster_name;
  until("the worker has written its status",
        [&] { return of_queue("resource_reservation", winner) > 0; });
  EXPECT_EQ(of_queue("nominal_quota", "east"), quota);
  network_.faults("east").partitioned = true;
  world_.run_for(10min);
  EXPECT_EQ(of_queue("nominal_quota", "east"), -1) << "what it has now is not known";
  EXPECT_EQ(of_queue("nominal_quota", "west"), quota);
}

TEST_F(WorkerSeries, end_with_the_worker) {
  start({"east", "west"});
  run_one("j");
  EXPECT_THAT(metrics_.text(), HasSubstr("cluster=\"east\""));
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey("east")));
  settle();
  world_.run_for(1min);
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("cluster=\"east\"")));
  EXPECT_THAT(metrics_.text(), HasSubstr("cluster=\"west\""));
}

TEST_F(WorkerSeries, have_the_kinds_and_labels_of_the_catalogue) {
  start({"east"});
  run_one("j");
  std::istringstream lines(metrics_.text());
  int families = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, type, name, kind;
    words >> hash >> type >> name >> kind;
    if (type != "TYPE" || !name.starts_with("regatta_")) continue;
    const manager::MetricInfo* info = manager::find_own_metric(name);
    ASSERT_NE(info, nullptr) << name;
    ++families;
    using Kind = manager::MetricKind;
    EXPECT_EQ(kind, info->kind == Kind::counter     ? "counter"
                    : info->kind == Kind::histogram ? "histogram"
                                                    : "gauge")
        << name;
  }
  EXPECT_EQ(families, 8) << "there was no rejection";
}

}  // namespace
}  // namespace regatta::test_support
