#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;

/// Between a decision of the hub and its write lies the time that the hub's API server takes to
/// answer earlier writes. Other things happen in that time.
class StalePlans : public Federation {
 protected:
  /// A Job that runs on a worker until the test ends it. No manager runs on the worker any more.
  std::string run_one() {
    start_all({"east", "west"});
    apply(lasting_job_yaml("j"));
    until("running", [&] { return job("j").status.active == 1; });
    settle();
    return *workload_of("j")->status.cluster_name;
  }
  void slow_hub(Duration delay) {
    manager_->faults().delay_min = manager_->faults().delay_max = delay;
  }
  void stop_queue(const char* policy) { cluster_.set_local_stop_policy(policy); }
  void evict_copy(const std::string& worker) {
    const api::ObjectKey name = workload_of("j")->metadata.key();
    ASSERT_TRUE(workers_.at(worker).cluster->patch(
        api::Workload::resource, name,
        R"({"status":{"conditions":[{"type":"Evicted","status":"True","reason":"Preempted",
            "message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"},
            {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"",
            "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
        "status"));
  }
};

TEST_F(StalePlans, AnEvictionOnTheWorkerThatMeetsOneOnTheHubIsNotAskedForTwice) {
  const std::string host = run_one();
  workers_.at(host).manager.reset();
  slow_hub(2s);
  stop_queue("HoldAndDrain");
  // The hub learns of its queue after a while, then writes the eviction, which takes two seconds.
  settle(2500ms);
  evict_copy(host);
  settle(20s);
  slow_hub(0ms);
  settle();
  EXPECT_THAT(condition_of("j", "Evicted"), HasSubstr("True LocalQueueStopped"));
  const auto evicted = workload_of("j");
  ASSERT_EQ(evicted->status.admission_checks.size(), 1U);
  EXPECT_EQ(evicted->status.admission_checks[0].state, api::CheckState::Pending)
      << evicted->status.admission_checks[0].message;
}

TEST_F(StalePlans, NoStatusOfAWorkerReachesAJobThatHasGivenItsQuotaBack) {
  const std::string host = run_one();
  stop_queue("HoldAndDrain");
  until("given back", [&] { return condition_of("j", "QuotaReserved").starts_with("False"); });
  settle();
  EXPECT_EQ(job("j").status.active, 0);
  EXPECT_EQ(held_by(host), "workloads 0, jobs 0");
}

// The worker may still hold the Job of the earlier life, whose removal wakes the earlier Workload.
TEST_F(StalePlans, AJobThatIsSubmittedAgainUnderItsNameRunsOnceTheEarlierOneIsGone) {
  start_all({"east"});
  apply(remote_job_yaml("j"));
  until("running", [&] { return job("j").status.active == 1; });
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "DELETE" && request.target.find("/jobs/") != std::string::npos;
  };
  network_.faults("east").server_error = 1;
  const api::ObjectKey earlier = workload_of("j")->metadata.key();
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j"), background));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, earlier));  // as a garbage collector does
  settle();
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 1");
  apply(remote_job_yaml("j"));
  until("recorded", [&] {
    const auto workload = workload_of("j");
    return workload && workload->status.cluster_name;
  });
  settle(1s);
  network_.faults("east").server_error = 0;
  until("running again", [&] { return job("j").status.active == 1; }, 30s);
}

TEST_F(StalePlans, JobsThatEndBeforeTheHubStartedThemAreNotStarted) {
  start_all({"east", "west"});
  manager_->requests.clear();
  manager_->faults().delay_min = 20ms;
  manager_->faults().delay_max = 2s;
  constexpr int jobs = 40;
  for (int i = 0; i < jobs; ++i) apply(lasting_job_yaml("j" + std::to_string(i), 0));
  until(
      "all finished",
      [&] {
        const auto all = manager_->core().local().workloads.list();
        return all.size() == jobs && std::all_of(all.begin(), all.end(), [](const auto& workload) {
                 return api::is_true(workload->status.conditions, "Finished");
               });
      },
      10min);
  EXPECT_EQ(manager_->requests.invalid(), 0) << manager_->requests.str();
}

TEST_F(StalePlans, AJobThatWasSeenToStopHoldsNoQuotaWhateverItsCopySays) {
  const std::string host = run_one();
  workers_.at(host).manager.reset();
  TestCluster& worker = *workers_.at(host).cluster;
  ASSERT_TRUE(worker.patch(api::Job::resource, key("j"), R"({"spec":{"suspend":true}})"));
  until("the hub knows that it stopped", [&] { return job("j").status.active == 0; });
  stop_queue("HoldAndDrain");
  until("given back", [&] { return condition_of("j", "QuotaReserved").starts_with("False"); });
}

// The worker may still carry the deletion out, however late. It would take the Job along.
// The process that asked for its deletion is gone, and the request is still under way.
TEST_F(StalePlans, ACopyOfAnEarlierAttemptIsReplaced) {
  add_worker("east");
  configure_hub();
  start_manager();
  apply(remote_job_yaml("j"));
  const auto copy = [&]() -> std::string {
    const auto all = worker("east").list<api::Workload>("default");
    return all.empty() ? "none" : all[0].metadata.uid;
  };
  until("copied", [&] { return copy() != "none"; });
  const std::string first = copy();
  manager_.reset();
  start_manager();
  settle(10s);
  EXPECT_EQ(copy(), first) << "a restart is no new attempt";

  manager_.reset();
  auto status = api::to_json(*workload_of("j"))["status"];
  for (auto& condition : status["conditions"]) {
    if (condition["type"] == "QuotaReserved") {
      condition["lastTransitionTime"] = "2026-01-01T00:00:07Z";
    }
  }
  const Json patch = {{"status", {{"conditions", status["conditions"]}}}};
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             patch.dump(), "status"));
  start_manager();
  settle(10s);
  EXPECT_NE(copy(), "none");
  EXPECT_NE(copy(), first);
}

TEST_F(StalePlans, ACopyWhoseDeletionWasAskedForDoesNotWinALaterRace) {
  kube::NetworkFaults& faults = network_.faults("east");
  faults.concerns = [](const net::HttpRequest& request) { return request.method == "DELETE"; };
  start_all({"east"});
  TestCluster& east = *workers_.at("east").cluster;
  east.set_stop_policy("Hold");
  apply(remote_job_yaml("j"));
  until("a copy waits", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  settle();
  const std::string first = east.list<api::Workload>("default").front().metadata.uid;
  faults.drop_before = 1;
  stop_queue("HoldAndDrain");
  until("given back", [&] { return condition_of("j", "QuotaReserved").starts_with("False"); });
  settle();
  east.set_stop_policy("None");
  stop_queue("None");
  settle(1min);
  ASSERT_EQ(held_by("east"), "workloads 1, jobs 0");
  const auto copy = east.list<api::Workload>("default").front();
  EXPECT_EQ(copy.metadata.uid, first);
  EXPECT_TRUE(api::is_true(copy.status.conditions, "Admitted")) << "it would win";
  EXPECT_EQ(workload_of("j")->status.cluster_name, std::nullopt);
  faults.drop_before = 0;
  until("another copy won", [&] { return held_by("east") == "workloads 1, jobs 1"; });
  EXPECT_NE(east.list<api::Workload>("default").front().metadata.uid, first);
}

// The removal of a worker that was no longer nominated, by a process that ended meanwhile. Then the
// worker was nominated again, in the same attempt.
TEST_F(StalePlans, ARemovalThatIsLateDoesNotReachACopyThatHasWonSince) {
  manager::CoreConfig config;
  config.dispatch.plan.nomination.dispatcher = placement::Dispatcher::external;
  start_all({"east"}, config);
  TestCluster& east = worker("east");
  east.set_stop_policy("Hold");
  const auto nominate = [&](const char* names) {
    const std::string status = R"({"status":{"nominatedClusterNames":)" + std::string(names) + "}}";
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(), status,
                               "status"));
  };
  apply(lasting_job_yaml("j"));
  settle();
  nominate(R"(["east"])");
  until("a copy waits", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  settle();
  std::string removal;
  network_.faults("east").concerns = [&removal](const net::HttpRequest& request) {
    if (request.method == "DELETE") removal = request.body;
    return request.method == "DELETE";
  };
  network_.faults("east").drop_before = 1;
  nominate("[]");
  until("its removal is asked for", [&] { return !removal.empty(); });
  manager_.reset();
  network_.faults("east").drop_before = 0;
  nominate(R"(["east"])");
  east.set_stop_policy("None");
  start_manager(config);
  until("runs", [&] { return job("j").status.active == 1; });
  settle();
  const std::string uid = east.get<api::Job>(key("j"))->metadata.uid;
  const Json preconditions = parse_json(removal).value().at("preconditions");
  kube::DeleteOptions options;
  options.uid = preconditions.at("uid").get<std::string>();
  options.resource_version = preconditions.value("resourceVersion", "");
  (void)run(world_, east.admin().remove<api::Workload>(workload_of("j")->metadata.key(), options));
  settle(1min);
  ASSERT_EQ(held_by("east"), "workloads 1, jobs 1");
  EXPECT_EQ(east.get<api::Job>(key("j"))->metadata.uid, uid);
}

TEST_F(StalePlans, AnUpdateOfACopyReachesNoLaterOneOfThatName) {
  start_all({"east"});
  for (const char* value : {"1", "2"}) {
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: p" +
          std::string(value) + "}, value: " + value + "}");
  }
  TestCluster& east = worker("east");
  east.set_stop_policy("Hold");
  std::string yaml = remote_job_yaml("j");
  yaml.insert(yaml.find("kueue.x-k8s.io/queue-name"), "kueue.x-k8s.io/priority-class: p1, ");
  apply(yaml);
  until("a copy waits", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  settle();
  std::string update;
  network_.faults("east").concerns = [&update](const net::HttpRequest& request) {
    const bool patch =
        request.method == "PATCH" && request.target.find("/status") == std::string::npos;
    if (patch) update = request.body;
    return patch;
  };
  network_.faults("east").drop_before = 1;
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"),
                             R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"p2"}}})"));
  until("the copy is updated", [&] { return !update.empty(); });
  const api::ObjectKey name = workload_of("j")->metadata.key();
  const std::string first = east.get<api::Workload>(name)->metadata.uid;
  ASSERT_TRUE(east.remove(api::Workload::resource, name));
  until("another copy", [&] {
    const auto copy = east.get<api::Workload>(name);
    return copy && copy->metadata.uid != first;
  });
  const Status refused = east.patch(api::Workload::resource, name, update);
  ASSERT_FALSE(refused) << update;
  EXPECT_THAT(refused.error().what(), HasSubstr("metadata.uid"));
}

}  // namespace
}  // namespace regatta::test_support
