#include "lib/base/base64.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// Jobs whose dispatch is ended by a user: the Workload is deleted, the Job or its queue changed.
class DispatchEnds : public Federation {
 protected:
  void run_one(int pods = 1, int seconds = 100000) {
    start_all({"east", "west"});
    apply(lasting_job_yaml("j", seconds, pods));
    until("running", [&] { return job("j").status.active == pods; });
    settle();
  }
  std::string host() { return workload_of("j")->status.cluster_name.value_or(""); }
  int remote_jobs() {
    int count = 0;
    for (const auto& [name, worker] : workers_) {
      count += int(worker.cluster->list<api::Job>("default").size());
    }
    return count;
  }
  void set_checks(const std::string& json) {
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                               R"({"spec":{"admissionChecksStrategy":)" + json + "}}"));
    settle();
  }
  /// As the cluster's manager would.
  void add_condition(TestCluster& there, const std::string& type,
                     const std::string& reason = "Test") {
    auto copy = there.get<api::Workload>(workload_of("j")->metadata.key());
    ASSERT_TRUE(copy);
    api::Condition condition;
    condition.type = type;
    condition.status = api::ConditionStatus::True;
    condition.reason = condition.message = reason;
    api::set_condition(&copy->status.conditions, condition, world_.now());
    const Json conditions = api::to_json(*copy)["status"]["conditions"];
    const Json patch = {{"status", {{"conditions", conditions}}}};
    ASSERT_TRUE(there.patch(api::Workload::resource, copy->metadata.key(), patch.dump(), "status"));
    settle();
  }
  void add_condition(const std::string& worker, const std::string& type) {
    add_condition(*workers_.at(worker).cluster, type);
  }
  /// The only worker has the copy, and no manager any more.
  void ask_east() {
    start_all({"east"});
    workers_.at("east").manager.reset();
    apply(remote_job_yaml("j", 1));
    until("asked", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  }
  /// It has the Job, too, which is not started.
  void send_to_east() {
    ask_east();
    add_condition("east", "QuotaReserved");
    add_condition("east", "Admitted");
    until("sent", [&] { return held_by("east") == "workloads 1, jobs 1"; });
  }
  void die_while_evicting(const std::string& worker) {
    workers_.at(worker).manager.reset();
    add_condition(worker, "Evicted");
  }
  /// The API of the hub takes no status of the Job with that text.
  void refuse_status_with(const std::string& text) {
    manager_->faults().concerns = [text](const net::HttpRequest& request) {
      return request.target.find("/jobs/j/status") != std::string::npos &&
             request.body.find(text) != std::string::npos;
    };
    manager_->faults().refused = 1;
  }
  void hold(const std::string& worker, const char* policy) {
    workers_.at(worker).cluster->set_stop_policy(policy);
  }
};

/// A worker counts from when it has admitted the copy.
TEST_F(DispatchEnds, AJobEndsForItsTimeOnlyByTheCountOfTheHub) {
  start_all({"east"});
  std::string yaml = lasting_job_yaml("j");
  const std::string labels = "kueue.x-k8s.io/queue-name: main";
  yaml.insert(yaml.find(labels) + labels.size(), ", kueue.x-k8s.io/max-exec-time-seconds: \"900\"");
  network_.faults("east").half_open_watch = 1;
  apply(yaml);
  TestCluster& there = worker("east");
  until("the worker has admitted it", [&] {
    const auto copies = there.list<api::Workload>("default");
    return !copies.empty() && api::is_true(copies.front().status.conditions, "Admitted");
  });
  const SteadyPoint admitted = world_.steady();
  network_.faults("east").half_open_watch = 0;
  const auto active = [&] { return job("j").status.active == 1; };
  until("the hub has heard of it", active, 600s);
  const Duration unheard = world_.steady() - admitted;
  ASSERT_GT(unheard, 60s);
  settle(910s - unheard);
  EXPECT_TRUE(workload_of("j")->spec.active) << "it has time left";
  until("it runs again", active, 60s);
  until("its time is over", [&] { return !workload_of("j")->spec.active; }, unheard + 60s);
}

TEST_F(DispatchEnds, AnEndThatBothJobsHaveLostIsToldByTheWorkload) {
  run_one();
  // As if both API servers had been restored, and a write of the last hub had come after that.
  add_condition(cluster_, "Finished", "Succeeded");
  until("cleaned up", [&] { return remote_jobs() == 0; });
  settle();
  EXPECT_FALSE(api::is_true(job("j").status.conditions, "Complete")) << "it may be told yet";
  until("told", [&] { return api::is_true(job("j").status.conditions, "Complete"); }, 2min);
}

TEST_F(DispatchEnds, AnEndThatAWorkerOutsideTheFleetKnewIsToldByTheWorkload) {
  run_one();
  manager_.reset();
  add_condition(cluster_, "Finished", "Succeeded");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey(host())));
  start_manager();
  settle(20s);
  EXPECT_FALSE(api::is_true(job("j").status.conditions, "Complete")) << "it may be told yet";
  until("told", [&] { return api::is_true(job("j").status.conditions, "Complete"); }, 2min);
}

TEST_F(DispatchEnds, AWorkerThatLeavesTheFleetIsNotWaitedForToTellAnEnd) {
  run_one();
  const std::string left = host();
  network_.faults(left).partitioned = true;
  until("lost", [&] { return !manager_->core().fleet().find(left)->ready(); }, 5min);
  add_condition(cluster_, "Finished", "Succeeded");
  settle(2min);
  EXPECT_FALSE(api::is_true(job("j").status.conditions, "Complete")) << "it may come back";
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey(left)));
  until("told", [&] { return api::is_true(job("j").status.conditions, "Complete"); }, 10s);
}

TEST_F(DispatchEnds, OfTwoEndsThatAWorkerTellsThatOfTheJobCounts) {
  run_one();
  TestCluster& there = worker(host());
  workers_.at(host()).manager.reset();
  workers_.at(host()).nodes.reset();
  add_condition(there, "Finished", "Succeeded");
  EXPECT_EQ(condition_of("j", "Finished"), "") << "the job has not told it yet";
  ASSERT_TRUE(there.patch(api::Job::resource, key("j"), R"({"status":{
      "active":0,"ready":0,"failed":1,"conditions":[
        {"type":"FailureTarget","status":"True","reason":"BackoffLimitExceeded",
         "message":"it failed","lastTransitionTime":"2026-01-01T00:00:00Z"},
        {"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"it failed",
         "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                          "status"));
  until("ended", [&] { return condition_of("j", "Finished").starts_with("True"); });
  EXPECT_EQ(condition_of("j", "Finished"), "True Failed: it failed");
  EXPECT_TRUE(api::is_true(job("j").status.conditions, "Failed"));
}

TEST_F(DispatchEnds, ADeletedWorkloadTakesItsJobAlongAndTheJobStartsAnew) {
  run_one();
  const auto first = workload_of("j");
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, first->metadata.key()));
  until("a new one runs", [&] {
    const auto next = workload_of("j");
    return next && next->metadata.uid != first->metadata.uid && next->status.cluster_name &&
           job("j").status.active == 1;
  });
  settle();
  EXPECT_EQ(remote_jobs(), 1);
  EXPECT_EQ(manager_->core().local().workloads.list().size(), 1U);
}

TEST_F(DispatchEnds, AJobThatChangesItsSizeStartsAnewOnItsWorker) {
  run_one(2);
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"), R"({"spec":{"parallelism":1}})"));
  until("the smaller one runs", [&] {
    const auto next = workload_of("j");
    return next && next->spec.pod_sets.at(0).count == 1 && next->status.cluster_name &&
           job("j").status.active == 1;
  });
  settle();
  EXPECT_EQ(remote_jobs(), 1);
}

TEST_F(DispatchEnds, AJobThatRunsOutlivesTheCheckThatSentIt) {
  run_one(1, 60);
  const std::string first = host();
  set_checks("null");
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1");
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("mk")));
  settle();
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1");
  until(
      "finished", [&] { return condition_of("j", "Finished").starts_with("True Succeeded"); },
      120s);
  EXPECT_EQ(job("j").status.succeeded, 1);
  until("clean", [&] { return held_by(first) == "workloads 0, jobs 0"; });
}

TEST_F(DispatchEnds, ACheckThatHasFoundNoWorkerLeavesWithItsQueue) {
  start_all({"east"});
  give("east", "0");
  apply(remote_job_yaml("j"));
  until("its copy waits", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  ASSERT_EQ(workload_of("j")->status.admission_checks.size(), 1U);
  set_checks("null");
  EXPECT_THAT(workload_of("j")->status.admission_checks, testing::IsEmpty());
}

TEST_F(DispatchEnds, AnExchangedCheckCountsForWhatStartsLater) {
  run_one(1, 60);
  const std::string first = host();
  const std::string other = first == "east" ? "west" : "east";
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: others}\n"
      "spec: {clusters: [" +
      other + "]}");
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: aa}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: others}
)");
  settle();
  set_checks(R"({"admissionChecks":[{"name":"aa"}]})");
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1");
  until(
      "finished", [&] { return condition_of("j", "Finished").starts_with("True Succeeded"); },
      120s);
}

TEST_F(DispatchEnds, AWorkerThatRefusesTheJobIsLeftForAnotherAndNotForgottenByARestart) {
  start_all({"east", "west"});
  // The hub's user may not create Jobs on east.
  ASSERT_TRUE(workers_.at("east").cluster->let_limited("hub", R"(
- {apiGroups: [kueue.x-k8s.io], resources: [workloads, workloads/status], verbs: ["*"]}
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, delete]}
)"));
  ASSERT_TRUE(cluster_.patch(
      api::Secret::resource, {"kueue-system", "east"},
      R"({"data":{"kubeconfig":")" +
          base64_encode(TestConnector::kubeconfig("east", TestCluster::limited_token)) + R"("}})"));
  hold("west", "Hold");
  settle();
  apply(remote_job_yaml("j"));
  until("refused", [&] { return condition_of("j", "RefusedByWorkers") != ""; });
  EXPECT_THAT(condition_of("j", "RefusedByWorkers"),
              HasSubstr("True JobRefused: [east] refused the job; the last one: "));
  EXPECT_THAT(condition_of("j", "RefusedByWorkers"), HasSubstr("forbidden"));
  settle();
  EXPECT_EQ(host(), "");
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  manager_.reset();
  start_manager();
  settle(5min);
  EXPECT_EQ(manager_->remote_requests["east"].count("create"), 0);
  hold("west", "None");
  until("runs on the other", [&] { return held_by("west") == "workloads 1, jobs 1"; });
  EXPECT_EQ(condition_of("j", "Dispatched"),
            "True Dispatched: Dispatched to worker cluster \"west\"");
}

class DeniedWrites : public DispatchEnds {
 protected:
  void SetUp() override {
    DispatchEnds::SetUp();
    start_all({"east"});
    ASSERT_TRUE(workers_.at("east").cluster->let_limited("hub", R"(
- {apiGroups: [kueue.x-k8s.io, batch], resources: ["*"], verbs: [get, list, watch, create]}
)"));
    apply(remote_job_yaml("j"));
    until("runs", [&] { return held_by("east") == "workloads 1, jobs 1"; });
    use(TestCluster::limited_token);
    settle();
    ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j")));
    settle(2min);
    ASSERT_EQ(held_by("east"), "workloads 1, jobs 1");
    ASSERT_EQ(member_condition("east"), "True Active: Connected");
  }

  void use(const char* token) {
    ASSERT_TRUE(cluster_.patch(api::Secret::resource, {"kueue-system", "east"},
                               R"({"data":{"kubeconfig":")" +
                                   base64_encode(TestConnector::kubeconfig("east", token)) +
                                   R"("}})"));
  }

  /// The next attempt would have been up to a minute later.
  void expect_gone_at_once() {
    until("gone", [&] { return held_by("east") == "workloads 0, jobs 0"; }, 2s);
  }
};

TEST_F(DeniedWrites, AreDoneAtOnceWithNewCredentials) {
  use(TestCluster::manager_token);
  expect_gone_at_once();
}

/// A worker that refuses the credentials altogether is lost; it is connected anew with others.
TEST_F(DeniedWrites, AreDoneAtOnceWhenTheWorkerIsConnectedAnew) {
  use("unknown-token");
  until("lost", [&] { return member_condition("east").starts_with("False"); }, 2s);
  use(TestCluster::manager_token);
  until("connected", [&] { return member_condition("east") == "True Active: Connected"; }, 2s);
  expect_gone_at_once();
}

/// The manager of a worker evicts its copy and dies before it stops the Job.
TEST_F(DispatchEnds, AJobThatADyingManagerDidNotStopIsRemovedAndRunsElsewhere) {
  run_one();
  const std::string first = host();
  die_while_evicting(first);
  until("the hub follows", [&] {
    return condition_of("j", "Dispatched")
        .starts_with("False WaitingForStop: Evicted from worker cluster \"" + first +
                     "\": Worker cluster");
  });
  settle(10min);
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1") << "its manager may come back";
  until("given up there", [&] { return !host().empty() && host() != first; }, 10min);
  EXPECT_EQ(held_by(first), "workloads 0, jobs 0");
  until("runs elsewhere", [&] { return job("j").status.active == 1; });
}

/// As with the webhook of a worker's own manager, which is down.
TEST_F(DispatchEnds, AJobWhoseWorkerRefusesToStopItIsRemovedInTheEnd) {
  run_one();
  const std::string first = host();
  workers_.at(first).manager.reset();
  network_.faults(first).concerns = [](const net::HttpRequest& request) {
    return request.method == "PATCH" && request.target.find("/workloads/") != std::string::npos;
  };
  network_.faults(first).server_error = 1;
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(3min);
  EXPECT_THAT(condition_of("j", "Dispatched"),
              StartsWith("False WaitingForStop: Evicted from worker cluster \"" + first));
  EXPECT_THAT(condition_of("j", "Dispatched"), HasSubstr("does not take the request to stop"));
  settle(10min);
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1") << "its manager may come back";
  settle(6min);
  EXPECT_EQ(held_by(first), "workloads 0, jobs 0");
  EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("False"));
}

/// The watch of the worker's Jobs may be behind its manager.
TEST_F(DispatchEnds, AJobThatIsShownAsItWasCreatedMayHaveStarted) {
  send_to_east();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(10min);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("True"));
  EXPECT_THAT(condition_of("j", "Dispatched"), StartsWith("False WaitingForStop"));
  settle(6min);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("False"));
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

/// As if the worker's API server had been restored, and a write of its last manager had come after
/// that: the Job will not start again, because its Workload is Finished.
TEST_F(DispatchEnds, AnEndThatTheWorkersJobHasLostIsToldByItsWorkload) {
  send_to_east();
  add_condition(worker("east"), "Finished", "Succeeded");
  EXPECT_EQ(condition_of("j", "Finished"), "") << "the watch of the jobs may be behind";
  until("told", [&] { return condition_of("j", "Finished").starts_with("True"); }, 2min);
  EXPECT_TRUE(api::is_true(job("j").status.conditions, "Complete"));
  until("cleaned up", [&] { return held_by("east") == "workloads 0, jobs 0"; });
}

/// As when an older API knows fewer states, or a webhook has rules of its own.
TEST_F(DispatchEnds, AnEndThatTheHubsApiRefusesIsToldByTheWorkload) {
  send_to_east();
  refuse_status_with("Reached expected number");
  manager_->faults().refused_with = 403;
  workers_.at("east").nodes.reset();
  complete_job(worker("east"), "j", 1);
  add_condition(worker("east"), "Finished", "Succeeded");
  until("told", [&] { return condition_of("j", "Finished").starts_with("True"); }, 2min);
  EXPECT_TRUE(api::is_true(job("j").status.conditions, "Complete"));
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("refuses the status of the job as worker "
                                                     "cluster \"east\" tells it")));
  until("cleaned up", [&] { return held_by("east") == "workloads 0, jobs 0"; });
}

TEST_F(DispatchEnds, AnEndThatTheHubsApiRefusesInAnyFormIsWaitedForAndTold) {
  send_to_east();
  refuse_status_with("");
  workers_.at("east").nodes.reset();
  complete_job(worker("east"), "j", 1);
  add_condition(worker("east"), "Finished", "Succeeded");
  settle(2min);
  EXPECT_EQ(condition_of("j", "Finished"), "");
  EXPECT_THAT(condition_of("j", "Dispatched"), StartsWith("False WaitingForLastStatus"));
  manager_->faults().refused = 0;
  until("told", [&] { return condition_of("j", "Finished").starts_with("True"); }, 2min);
  EXPECT_EQ(condition_of("j", "Finished"),
            "True Succeeded: Reached expected number of succeeded pods");
}

/// A status that cannot be shown keeps the quota of no Workload.
TEST_F(DispatchEnds, AStatusThatTheHubsApiRefusesDelaysNoEviction) {
  run_one();
  const std::string first = host();
  refuse_status_with("Suspended");
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  until("released", [&] { return condition_of("j", "QuotaReserved").starts_with("False"); }, 2min);
  EXPECT_EQ(held_by(first), "workloads 0, jobs 0");
}

/// A worker that lies makes a Job of its own and claims its end, while no manager runs on the hub.
class DispatchLies : public DispatchEnds {
 protected:
  /// The hub has evicted the Workload. The hub's Job counts a pod, so that it keeps its quota for a
  /// while.
  void evict_what_never_ran() {
    ask_east();
    manager_.reset();
    add_condition(cluster_, "Evicted");
    patch_job_status("j", R"({"status":{"active":1}})");
  }
  void lie() {
    workers_.at("east").nodes.reset();
    TestCluster& east = *workers_.at("east").cluster;
    const std::string ours =
        ", kueue.x-k8s.io/multikueue-origin: multikueue, kueue.x-k8s.io/prebuilt-workload-name: ";
    ASSERT_TRUE(east.apply(job_yaml("j", 1, "main", "{}", ours + workload_of("j")->metadata.name)));
    ASSERT_TRUE(east.patch(api::Job::resource, key("j"), R"({"spec":{"suspend":false}})"));
    complete_job(east, "j", 1);
    add_condition(east, "Finished");
    ASSERT_EQ(held_by("east"), "workloads 1, jobs 1");
  }
  void expect_not_believed() {
    start_manager();
    settle(1min);
    EXPECT_EQ(condition_of("j", "Finished"), "");
    EXPECT_EQ(job("j").status.succeeded, 0);
    EXPECT_EQ(job("j").status.active, 0);
    EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  }
};

TEST_F(DispatchLies, NoWorkerTellsTheEndOfWhatWasEvictedBeforeOneWasRecorded) {
  evict_what_never_ran();
  lie();
  expect_not_believed();
}

TEST_F(DispatchLies, NorOfWhatWasAdmittedWithoutACheck) {
  evict_what_never_ran();
  add_condition(cluster_, "Admitted");
  set_checks("null");
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"status":{"admissionChecks":null}})", "status"));
  lie();
  expect_not_believed();
}

TEST_F(DispatchEnds, PodsThatDoNotEndAreWaitedForAndTold) {
  run_one();
  const std::string first = host();
  TestCluster& worker = *workers_.at(first).cluster;
  die_while_evicting(first);
  workers_.at(first).nodes.reset();
  ASSERT_TRUE(worker.patch(api::Job::resource, key("j"), R"({"spec":{"suspend":true}})"));
  settle(20min);
  EXPECT_EQ(condition_of("j", "Dispatched"),
            "False WaitingForStop: Evicted from worker cluster \"" + first +
                "\": The job was stopped on worker cluster \"" + first +
                "\"; its pods there have not ended");
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1");
  ASSERT_TRUE(
      worker.patch(api::Job::resource, key("j"), R"({"status":{"active":0,"ready":0}})", "status"));
  until("runs elsewhere", [&] { return !host().empty() && host() != first; });
}

TEST_F(DispatchEnds, ALostWorkerIsToldAndSoIsItsReturn) {
  run_one();
  EXPECT_THAT(condition_of("j", "Dispatched"), StartsWith("True Dispatched"));
  const std::string first = host();
  network_.faults(first).drop_before = network_.faults(first).cut_watch = 1;
  ASSERT_TRUE(workers_.at(first).cluster->patch(api::Job::resource, key("j"),
                                                R"({"metadata":{"labels":{"a":"b"}}})"));
  settle(50s);
  manager_->requests.clear();
  settle(3min);
  EXPECT_THAT(condition_of("j", "Dispatched"), StartsWith("Unknown WorkerLost"));
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 1);
  network_.faults(first).drop_before = network_.faults(first).cut_watch = 0;
  until("told", [&] { return condition_of("j", "Dispatched").starts_with("True"); });
  EXPECT_EQ(host(), first);
}

/// Managers of workers may remove finished Workloads, and with 0s at once.
class EndsUnseen : public DispatchEnds {
 protected:
  /// The job ends on its worker while that is cut off from the hub.
  void end_unseen() {
    run_one(1, 30);
    there_ = host();
    copy_ = workload_of("j")->metadata.key();
    network_.faults(there_).partitioned = true;
    until("it ended there", [&] {
      const auto copy = worker(there_).get<api::Workload>(copy_);
      return copy && api::is_true(copy->status.conditions, "Finished");
    });
    settle(10s);
  }
  void expect_end_after_return() {
    network_.faults(there_).partitioned = false;
    until("the hub knows", [&] { return job("j").status.succeeded == 1; }, 5min);
    settle(5s);
    EXPECT_EQ(remote_jobs(), 0);
    const auto workload = cluster_.get<api::Workload>(copy_);
    ASSERT_TRUE(workload);
    EXPECT_THAT(condition(workload->status.conditions, "Finished"), StartsWith("True Succeeded"));
    EXPECT_TRUE(workload->status.evictions.empty());
  }

  std::string there_;
  api::ObjectKey copy_;
};

TEST_F(EndsUnseen, ACopyOutlivesTheRetentionUntilItsHubKnows) {
  worker_config_.workloads.lifecycle.retain_finished = 0s;
  end_unseen();
  EXPECT_TRUE(worker(there_).get<api::Workload>(copy_));
  expect_end_after_return();
}

TEST_F(EndsUnseen, AJobThatEndedCountsWithoutItsCopy) {
  end_unseen();
  const char* released = R"({"metadata":{"finalizers":null}})";
  ASSERT_TRUE(worker(there_).patch(api::Workload::resource, copy_, released));
  ASSERT_TRUE(worker(there_).remove(api::Workload::resource, copy_));
  expect_end_after_return();
}

}  // namespace
}  // namespace regatta::test_support
