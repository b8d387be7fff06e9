#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// waitForPodsReady with five minutes to start, two to recover, and backoff from one minute to ten.
class PodsReady : public OneCluster {
 protected:
  void start(bool block = false, std::optional<std::int64_t> limit = {}) {
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    manager::CoreConfig config;
    wait_for_pods(&config, 5min);
    lifecycle::PodsReadyPolicy& policy = *config.workloads.lifecycle.wait_for_pods_ready;
    policy.recovery_timeout = 2min;
    policy.backoff_limit_count = limit;
    policy.backoff_max_seconds = 600;
    config.scheduler.on_cycle = [this](const controllers::CycleSeen&) { ++cycles_; };
    config.scheduler.admission.block_admission = block;
    if (block) config.jobs.policy.pods_ready_after = Duration(0);
    start_manager(std::move(config));
    settle();
  }
  bool started(const std::string& name) { return !job(name).spec.suspend.value_or(true); }
  void wait_started(const std::string& name) {
    until("started", [&] { return started(name); });
  }
  void set_pods(const std::string& name, int active, int ready) {
    patch_job_status(name, R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":)" +
                               std::to_string(active) + R"(,"ready":)" + std::to_string(ready) +
                               R"(,"terminating":0,"uncountedTerminatedPods":{}}})");
  }
  /// The Job controller has seen that the Job is suspended.
  void pods_gone(const std::string& name) {
    patch_job_status(name, R"({"status":{"active":null,"ready":0,"terminating":0}})");
  }
  /// A manager comes that had been away.
  void restart() {
    manager::CoreConfig config;
    lifecycle::PodsReadyPolicy& policy = config.workloads.lifecycle.wait_for_pods_ready.emplace();
    policy.timeout = 5min;
    policy.recovery_timeout = 5min;
    config.jobs.policy.wait_for_pods_ready = true;
    start_manager(std::move(config));
  }
  std::string ready_of(const std::string& name) { return condition_of(name, "PodsReady"); }

  int cycles_ = 0;
};

TEST_F(PodsReady, TheConditionFollowsThePods) {
  start();
  apply(job_yaml("j", 2));
  wait_started("j");
  settle();
  EXPECT_EQ(ready_of("j"), "False WaitForStart: Not all pods are ready or succeeded");
  set_pods("j", 2, 1);
  settle();
  EXPECT_EQ(ready_of("j"), "False WaitForStart: Not all pods are ready or succeeded");
  set_pods("j", 2, 2);
  settle();
  const std::string ready = "All pods reached readiness and the workload is running";
  EXPECT_EQ(ready_of("j"), "True Started: " + ready);
  set_pods("j", 2, 1);
  settle();
  EXPECT_EQ(ready_of("j"),
            "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  set_pods("j", 2, 2);
  settle();
  EXPECT_EQ(ready_of("j"), "True Recovered: " + ready);
  // Ready pods may run without limit.
  settle(24h);
  EXPECT_TRUE(started("j"));
}

TEST_F(PodsReady, AShortJobCostsNoMoreWritesThanWithoutIt) {
  start();
  manager_->requests.clear();
  apply(job_yaml("j"));
  wait_started("j");
  run_job("j", 1);
  settle(300ms);
  complete_job("j", 1);
  settle();
  EXPECT_EQ(condition_of("j", "Finished"),
            "True Succeeded: Reached expected number of succeeded pods");
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 2);
}

TEST_F(PodsReady, ATimeoutBacksOffForLongerAndLongerUntilTheLimit) {
  start(false, 2);
  apply(job_yaml("j", 2));
  std::vector<Duration> waits;
  for (int round = 0; round < 2; ++round) {
    wait_started("j");
    set_pods("j", 2, 1);
    settle(4min + 50s);
    EXPECT_TRUE(started("j")) << "five minutes are not over";
    settle(15s);
    EXPECT_FALSE(started("j"));
    EXPECT_EQ(condition_of("j", "Evicted"),
              "True PodsReadyTimeout: Exceeded the PodsReady timeout " +
                  workload_of("j")->metadata.key().str());
    const auto evicted = workload_of("j");
    EXPECT_EQ(evicted->status.requeue_state->count, round + 1);
    waits.push_back(
        *evicted->status.requeue_state->requeue_at -
        api::find_condition(evicted->status.conditions, "Evicted")->last_transition_time);
    // The quota is kept until the pods are gone.
    EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
    pods_gone("j");
    settle();
    EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False PendingEvaluation: "));
    EXPECT_THAT(condition_of("j", "Requeued"), HasSubstr("False PodsReadyTimeout: "));
    EXPECT_EQ(ready_of("j"), "False WaitForStart: Not all pods are ready or succeeded");
    until(
        "the backoff is over", [&] { return condition_of("j", "Requeued").starts_with("True"); },
        5min);
    EXPECT_EQ(condition_of("j", "Requeued"),
              "True BackoffFinished: The workload backoff was finished");
  }
  EXPECT_THAT(waits, ElementsAre(60s, 120s));
  EXPECT_THAT(events("Workload"),
              Contains("EvictedDueToPodsReadyTimeout: Exceeded the PodsReady timeout " +
                       workload_of("j")->metadata.key().str()));
  EXPECT_EQ(workload_of("j")->status.evictions,
            (std::vector<api::WorkloadEviction>{{"PodsReadyTimeout", "WaitForStart", 2}}));
  // The third time is beyond the limit.
  wait_started("j");
  set_pods("j", 2, 1);
  settle(5min + 5s);
  pods_gone("j");
  settle();
  EXPECT_FALSE(workload_of("j")->spec.active);
  EXPECT_EQ(condition_of("j", "Evicted"),
            "True DeactivatedDueToRequeuingLimitExceeded: The workload is deactivated due to "
            "exceeding the maximum number of re-queuing retries");
  EXPECT_FALSE(workload_of("j")->status.requeue_state);
  settle(2h);
  EXPECT_FALSE(started("j"));
  // The user may try again, from the beginning.
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload, R"({"spec":{"active":true}})"));
  wait_started("j");
}

TEST_F(PodsReady, ARecoveryHasATimeOfItsOwn) {
  start();
  apply(job_yaml("j", 2));
  wait_started("j");
  set_pods("j", 2, 2);
  settle(1h);
  set_pods("j", 2, 1);
  settle(110s);
  EXPECT_TRUE(started("j"));
  settle(15s);
  EXPECT_FALSE(started("j"));
  EXPECT_EQ(workload_of("j")->status.evictions,
            (std::vector<api::WorkloadEviction>{{"PodsReadyTimeout", "WaitForRecovery", 1}}));
}

TEST_F(PodsReady, AfterATimeoutOthersGoFirst) {
  start();
  apply(job_yaml("stuck", 4));
  wait_started("stuck");
  set_pods("stuck", 4, 0);
  settle(1min);
  apply(job_yaml("next", 4));
  settle(4min + 5s);
  EXPECT_FALSE(started("stuck"));
  EXPECT_FALSE(started("next")) << "the pods are not gone yet";
  pods_gone("stuck");
  wait_started("next");
}

TEST_F(PodsReady, ARestartedManagerGoesOnCounting) {
  start();
  apply(job_yaml("j", 2));
  wait_started("j");
  set_pods("j", 2, 0);
  settle(3min);
  manager_.reset();
  restart();
  settle(2min + 10s);
  EXPECT_FALSE(started("j"));
}

TEST_F(PodsReady, PodsThatBecameReadyWhileNoManagerRanAreNotLate) {
  start();
  apply(job_yaml("j", 2));
  apply(job_yaml("stuck", 1));
  wait_started("j");
  wait_started("stuck");
  set_pods("j", 2, 0);
  set_pods("stuck", 1, 0);
  settle();
  manager_.reset();
  set_pods("j", 2, 2);
  settle(6min);
  restart();
  settle(90s);
  EXPECT_TRUE(started("j"));
  EXPECT_EQ(condition_of("j", "Evicted"), "");
  EXPECT_TRUE(started("stuck")) << "a third of the timeout is not over";
  settle(15s);
  EXPECT_FALSE(started("stuck"));
  // So it is after a failure.
  set_pods("j", 2, 1);
  settle();
  manager_.reset();
  set_pods("j", 2, 2);
  settle(6min);
  restart();
  settle(2min);
  EXPECT_TRUE(started("j"));
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(PodsReady, BlockedAdmissionLetsOneAfterTheOtherStart) {
  start(true);
  for (const char* name : {"a", "b", "c"}) apply(job_yaml(name));
  settle(5s);
  const auto running = [&] {
    std::vector<std::string> names;
    for (const char* name : {"a", "b", "c"}) {
      if (started(name)) names.push_back(name);
    }
    return names;
  };
  ASSERT_EQ(running().size(), 1U);
  int told = 0;
  for (const char* name : {"a", "b", "c"}) {
    told += condition_of(name, "QuotaReserved") ==
            "False WaitingForPodsReady: waiting for all admitted workloads to be in PodsReady "
            "condition";
  }
  EXPECT_EQ(told, 1) << "the one whose turn it is";
  const int before = manager_->requests.writes();
  const int cycles = cycles_;
  settle(1min);
  EXPECT_EQ(cycles_, cycles);
  EXPECT_EQ(manager_->requests.writes(), before) << "waiting costs nothing";
  for (std::size_t i = 1; i <= 2; ++i) {
    for (const std::string& name : running()) set_pods(name, 1, 1);
    until("the next one", [&] { return running().size() == i + 1; });
    settle(5s);
    EXPECT_EQ(running().size(), i + 1);
  }
}

TEST_F(PodsReady, OneThatNeverGetsReadyDoesNotBlockForEver) {
  start(true);
  apply(job_yaml("stuck"));
  wait_started("stuck");
  set_pods("stuck", 1, 0);
  apply(job_yaml("next"));
  settle(5min + 5s);
  EXPECT_FALSE(started("stuck"));
  EXPECT_FALSE(started("next"));
  pods_gone("stuck");
  wait_started("next");
}

}  // namespace
}  // namespace regatta::test_support
