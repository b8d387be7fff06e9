#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What a dispatch that lasts tells, and how the configuration bounds it.
class DispatchBounds : public Federation {
 protected:
  /// Every worker takes copies, and admits none.
  void hold_all(const char* policy = "Hold") {
    for (auto& [name, worker] : workers_) worker.cluster->set_stop_policy(policy);
    settle();
  }
  std::string dispatched() { return condition_of("j", "Dispatched"); }
  std::string check_state() {
    const auto states = workload_of("j")->status.admission_checks;
    return states.empty() ? "none" : std::string(api::text_of(states.front().state));
  }
  /// As the manager of the worker does when the Job there was changed.
  void lose_on_host() {
    const auto workload = workload_of("j");
    ASSERT_TRUE(workload && workload->status.cluster_name);
    ASSERT_TRUE(worker(*workload->status.cluster_name)
                    .patch(api::Workload::resource, workload->metadata.key(),
                           R"({"status":{"conditions":[{"type":"Finished","status":"True",
                             "reason":"OutOfSync","message":"x",
                             "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                           "status"));
  }
  void activate() {
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                               R"({"spec":{"active":true}})"));
  }
  void expect_given_up(const std::string& message) {
    settle(5s);
    EXPECT_EQ(workload_of("j")->spec.active, false);
    EXPECT_THAT(condition_of("j", "Evicted"), StartsWith("True Deactivated"));
    EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("False"));
    EXPECT_THAT(dispatched(), HasSubstr(message));
    EXPECT_THAT(events("Workload"), testing::Contains(HasSubstr(message)));
    for (const auto& [name, worker] : workers_) EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
    EXPECT_TRUE(job("j").spec.suspend.value_or(false));
    EXPECT_EQ(used(), 0);
  }
  std::int64_t used() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return queue->status.reserving_workloads;
  }
};

TEST_F(DispatchBounds, ARaceIsToldFromItsBeginningAndForNoWriteOfItsOwn) {
  start_all({"east", "west"});
  hold_all();
  manager_->requests.clear();
  apply(remote_job_yaml("j"));
  settle();
  EXPECT_EQ(dispatched(), "False Racing: Worker clusters are asked to admit the workload");
  const int writes = manager_->requests.count("patch", "workloads/status");
  settle(1h);
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), writes);
  EXPECT_THAT(dispatched(), StartsWith("False Racing"));
}

TEST_F(DispatchBounds, NothingIsToldOfARaceBeforeTheOtherChecksAreReady) {
  start_all({"east", "west"});
  hold_all();
  apply_check();
  set_check_active(true);
  ASSERT_TRUE(cluster_.patch(
      api::ClusterQueue::resource, api::ObjectKey("cq"),
      R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"mk"},{"name":"checked"}]}}})"));
  settle();
  apply(remote_job_yaml("j"));
  settle(5min);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("True"));
  EXPECT_EQ(dispatched(), "");
  const api::ObjectKey key = workload_of("j")->metadata.key();
  Json states = cluster_.get(api::Workload::resource, key)["status"]["admissionChecks"];
  for (Json& state : states) {
    if (state["name"] == "checked") state["state"] = "Ready";
    state["lastTransitionTime"] = format_rfc3339(world_.now());
  }
  const Json ready = {{"status", {{"admissionChecks", states}}}};
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key, dump_json(ready), "status"));
  settle(2min);
  EXPECT_THAT(dispatched(), StartsWith("False Racing"));
}

/// A MultiKueueConfig that is gone holds a race up, and so says the Workload.
TEST_F(DispatchBounds, ARaceWithoutItsConfigIsTold) {
  start_all({"east", "west"});
  hold_all();
  apply(remote_job_yaml("j"));
  settle(2min);
  const Json config = cluster_.get(api::MultiKueueConfig::resource, api::ObjectKey("all"));
  ASSERT_TRUE(cluster_.remove(api::MultiKueueConfig::resource, api::ObjectKey("all")));
  settle();
  EXPECT_THAT(dispatched(), StartsWith("False ConfigMissing"));
  apply(dump_json(Json{{"apiVersion", config["apiVersion"]},
                       {"kind", config["kind"]},
                       {"metadata", {{"name", "all"}}},
                       {"spec", config["spec"]}}));
  settle();
  EXPECT_THAT(dispatched(), StartsWith("False Racing"));
  for (auto& [name, worker] : workers_) worker.cluster->set_stop_policy("None");
  until("it runs", [&] { return job("j").status.active == 1; });
}

TEST_F(DispatchBounds, AnExternalDispatcherThatNominatesNoneIsTold) {
  manager::CoreConfig config;
  config.dispatch.plan.nomination.dispatcher = placement::Dispatcher::external;
  start_all({"east", "west"}, std::move(config));
  apply(remote_job_yaml("j"));
  settle(50s);
  EXPECT_EQ(dispatched(), "") << "it may be about to";
  settle(20s);
  EXPECT_THAT(dispatched(), StartsWith("False NoWorkerNominated: No worker cluster is nominated"));
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"status":{"nominatedClusterNames":["west"]}})", "status"));
  until("runs", [&] { return held_by("west") == "workloads 1, jobs 1"; });
  settle();
  EXPECT_EQ(dispatched(), "True Dispatched: Dispatched to worker cluster \"west\"");
}

TEST_F(DispatchBounds, ADispatchThatLastsTooLongIsGivenUpAndStartsAnewWhenToldTo) {
  manager::CoreConfig config;
  config.dispatch.plan.give_up_after = 10min;
  start_all({"east", "west"}, std::move(config));
  hold_all();
  apply(remote_job_yaml("j"));
  settle(9min);
  EXPECT_EQ(check_state(), "Pending");
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0");
  EXPECT_EQ(used(), 1);
  settle(1min);
  expect_given_up("No worker cluster admitted the workload within 10m");
  settle(1h);
  expect_given_up("No worker cluster admitted the workload within 10m");

  hold_all("None");
  activate();
  until("runs", [&] { return job("j").status.active == 1; });
  EXPECT_THAT(dispatched(), StartsWith("True Dispatched"));
  EXPECT_EQ(check_state(), "Ready");
}

TEST_F(DispatchBounds, ADispatchTimeoutEndsWithTheRecordOfAWorker) {
  manager::CoreConfig config;
  config.dispatch.plan.give_up_after = 10min;
  start_all({"east", "west"}, std::move(config));
  apply(lasting_job_yaml("j"));
  until("runs", [&] { return job("j").status.active == 1; });
  settle(1h);
  EXPECT_EQ(job("j").status.active, 1);
  EXPECT_EQ(check_state(), "Ready");
}

TEST_F(DispatchBounds, AWorkloadThatLosesItsWorkerTooOftenIsGivenUpAndStartsAnewWhenToldTo) {
  manager::CoreConfig config;
  config.dispatch.plan.attempts_max = 2;
  start_all({"east", "west"}, std::move(config));
  apply(lasting_job_yaml("j"));
  for (int attempt = 1; attempt <= 2; ++attempt) {
    until("runs", [&] { return job("j").status.active == 1; }, 5min);
    EXPECT_EQ(workload_of("j")->spec.active, true);
    lose_on_host();
    until("taken back", [&] { return job("j").status.active == 0; });
  }
  until("given up", [&] { return workload_of("j")->spec.active == false; }, 5min);
  expect_given_up("The workload lost its worker cluster 2 times in a row");

  activate();
  until("runs", [&] { return job("j").status.active == 1; }, 5min);
  EXPECT_THAT(dispatched(), StartsWith("True Dispatched"));
}

}  // namespace
}  // namespace regatta::test_support
