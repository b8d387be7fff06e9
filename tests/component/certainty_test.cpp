#include "tests/component/federation.h"

// Certainty before destruction: a manager with old or incomplete caches removes, retries and
// releases nothing that may run.
namespace regatta::test_support {
namespace {

using testing::HasSubstr;

class Certainty : public Federation {
 protected:
  void run_on_east(const std::string& name, int seconds = 600) {
    apply(lasting_job_yaml(name, seconds));
    until("it runs", [&] { return job(name).status.active == 1; });
  }
  std::string uid_on(const std::string& worker, const std::string& name) {
    const auto found = workers_.at(worker).cluster->get<api::Job>(key(name));
    return found ? found->metadata.uid : "no job";
  }
  void accept_newer_workloads(TestCluster& cluster) {
    accept_newer(cluster, api::Workload::resource);
  }
  void make_readable(TestCluster& cluster, const api::ObjectKey& name) {
    Json conditions = cluster.get(api::Workload::resource, name)["status"]["conditions"];
    std::erase_if(conditions.get_ref<Json::array_t&>(),
                  [](const Json& c) { return c["type"] == "FromTheFuture"; });
    const Json patch = {{"status", {{"conditions", conditions}}}};
    ASSERT_TRUE(cluster.patch(api::Workload::resource, name, dump_json(patch), "status"));
  }
  /// A manager that has synced, and whose watches say nothing from now on.
  void start_standby() {
    standby_.emplace(cluster_, network_, manager::CoreConfig(), Log(), Role::standby);
    until("the standby has synced", [&] { return standby_->synced(); });
    standby_->faults().half_open_watch = 1;
  }
  void fail_over() {
    manager_.reset();
    standby_->faults().half_open_watch = 0;
    standby_->take_over();
    until("the standby leads", [&] { return standby_->started(); });
  }

  std::optional<TestManager> standby_;
};

TEST_F(Certainty, AJobRunsOnWhileItsWorkloadCannotBeRead) {
  start_all({"east"});
  run_on_east("j");
  const std::string uid = uid_on("east", "j");
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  manager_.reset();
  accept_newer_workloads(cluster_);
  make_unreadable(cluster_, workload);
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 1");
  EXPECT_THAT(events("Workload"), testing::Contains(HasSubstr("cannot be read")));
  make_readable(cluster_, workload);
  until("finished", [&] { return condition_of("j", "Finished") != ""; }, 20min);
  EXPECT_EQ(condition_of("j", "Finished").substr(0, 15), "True Succeeded:");
}

TEST_F(Certainty, ARunningJobIsNotStoppedForAWorkloadThatCannotBeRead) {
  start_with_queues();
  apply(job_yaml("j"));
  until("it runs", [&] { return !job("j").spec.suspend.value_or(true); });
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  manager_.reset();
  accept_newer_workloads(cluster_);
  make_unreadable(cluster_, workload);
  start_manager();
  settle(1min);
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
}

TEST_F(Certainty, AWaitingWorkloadThatCannotBeReadLeavesTheQuotaToOthers) {
  start_with_queues();
  accept_newer_workloads(cluster_);
  const auto started = [&](const char* name) { return !job(name).spec.suspend.value_or(true); };
  apply(job_yaml("first", 4));
  until("it runs", [&] { return started("first"); });
  run_job("first", 4);
  apply(job_yaml("j", 4));
  settle();
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  make_unreadable(cluster_, workload);
  settle();
  manager_->faults().delay_min = manager_->faults().delay_max = 2ms;
  manager_->requests.clear();
  complete_job("first", 4);
  settle(30s);
  EXPECT_LE(manager_->requests.count("patch", "workloads/status"), 10);
  apply(job_yaml("k"));
  until("another one runs", [&] { return started("k"); }, 10s);
  run_job("k", 1);
  complete_job("k", 1);
  make_readable(cluster_, workload);
  until("it runs", [&] { return started("j"); });
}

TEST_F(Certainty, AJobGetsAnotherWorkloadWhenTheOneThatCannotBeReadIsGone) {
  start_with_queues();
  cluster_.set_stop_policy("Hold");
  apply(job_yaml("j"));
  settle();
  const auto first = workload_of("j")->metadata;
  manager_.reset();
  accept_newer_workloads(cluster_);
  make_unreadable(cluster_, first.key());
  start_manager();
  settle(1min);
  ASSERT_TRUE(
      cluster_.patch(api::Workload::resource, first.key(), R"({"metadata":{"finalizers":null}})"));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, first.key()));
  until(
      "another one",
      [&] { return workload_of("j") && workload_of("j")->metadata.uid != first.uid; }, 5s);
}

TEST_F(Certainty, ACopyThatCannotBeReadIsNotGone) {
  start_all({"east", "west"});
  run_on_east("j");
  const std::string winner = *workload_of("j")->status.cluster_name;
  const std::string uid = uid_on(winner, "j");
  TestCluster& host = *workers_.at(winner).cluster;
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  manager_.reset();
  workers_.at(winner).manager.reset();
  accept_newer_workloads(host);
  make_unreadable(host, workload);
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_on(winner, "j"), uid);
  EXPECT_EQ(workload_of("j")->status.cluster_name, winner);
  EXPECT_EQ(workload_of("j")->status.admission_checks.at(0).state, api::CheckState::Ready);
}

TEST_F(Certainty, WhatCannotBeReadHoldsItsQuotaAfterARestart) {
  start_all({"east"});
  give("east", "5");
  apply(lasting_job_yaml("j", 100000, 3));
  until("runs", [&] { return job("j").status.active == 3; });
  const std::string uid = uid_on("east", "j");
  TestCluster& east = worker("east");
  const api::ObjectKey name = workload_of("j")->metadata.key();
  workers_.at("east").manager.reset();
  accept_newer_workloads(east);
  make_unreadable(east, name);
  start_worker("east");
  apply(lasting_job_yaml("k", 100000, 3));
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  EXPECT_EQ(uid_on("east", "k"), "no job") << "there is room for one of them";
  make_readable(east, name);
  EXPECT_TRUE(api::is_true(east.get<api::Workload>(name)->status.conditions, "Admitted"));
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, name, R"({"spec":{"active":false}})"));
  until("the other runs", [&] { return job("k").status.active == 3; }, 5min);
}

TEST_F(Certainty, WhatCannotBeReadOnAnotherWorkerMayBeTheJob) {
  start_all({"east", "west"});
  cluster_.set_stop_policy("Hold");
  apply(remote_job_yaml("j"));
  settle();
  const api::ObjectKey name = workload_of("j")->metadata.key();
  TestCluster& west = *workers_.at("west").cluster;
  workers_.at("west").manager.reset();
  accept_newer_workloads(west);
  manager_.reset();
  make_up_copy(west, name, name.name, "FromTheFuture", "Perhaps");
  start_manager();
  settle(10s);
  cluster_.set_stop_policy("None");
  settle(1min);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0") << "it may run on west";
  ASSERT_TRUE(west.remove(api::Workload::resource, name));
  until("the job is sent", [&] { return held_by("east") == "workloads 1, jobs 1"; }, 5min);
}

TEST_F(Certainty, AnAdmissionCheckThatCannotBeReadIsNotRemoved) {
  start_all({"east"});
  run_on_east("j");
  const std::string uid = uid_on("east", "j");
  manager_.reset();
  make_unreadable(api::AdmissionCheck::resource, "mk");
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
}

TEST_F(Certainty, WhatWaitsForAnAdmissionCheckGoesOnWhenItCanBeRead) {
  start_all({"east"});
  run_on_east("j");
  const api::ObjectKey check("mk");
  const Json before = cluster_.get(api::AdmissionCheck::resource, check)["status"]["conditions"];
  make_unreadable(api::AdmissionCheck::resource, "mk");
  settle();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(10s);
  EXPECT_TRUE(condition_of("j", "QuotaReserved").starts_with("True"));
  const Json patch = {{"status", {{"conditions", before}}}};
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, check, dump_json(patch), "status"));
  until("stopped", [&] { return condition_of("j", "QuotaReserved").starts_with("False"); }, 20s);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(Certainty, AMultiKueueClusterThatCannotBeReadIsNotGone) {
  start_all({"east"});
  run_on_east("j");
  const std::string uid = uid_on("east", "j");
  manager_.reset();
  make_unreadable(api::MultiKueueCluster::resource, "east");
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  EXPECT_EQ(workload_of("j")->status.cluster_name, "east") << "it is not given up";
  EXPECT_FALSE(manager_->core().fleet().heard_all()) << "it may have told something";
}

TEST_F(Certainty, AStandbyThatNeverSawAWorkloadLeavesItsJobAlone) {
  start_all({"east"});
  start_standby();
  run_on_east("j");
  const std::string uid = uid_on("east", "j");
  fail_over();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  until("finished", [&] { return condition_of("j", "Finished") != ""; }, 20min);
}

TEST_F(Certainty, AStandbyThatSawAWorkloadWaitLeavesItsJobAlone) {
  start_all({"east"});
  cluster_.set_stop_policy("Hold");
  apply(lasting_job_yaml("j"));
  until("it waits", [&] { return workload_of("j").has_value(); });
  settle();
  start_standby();
  cluster_.set_stop_policy("None");
  until("it runs", [&] { return job("j").status.active == 1; });
  const std::string uid = uid_on("east", "j");
  fail_over();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(Certainty, AStandbyThatSawAWorkloadWaitGivesItsQuotaToNoOtherWhenItCannotBeRead) {
  start_with_queues();
  accept_newer_workloads(cluster_);
  const auto started = [&](const char* name) { return !job(name).spec.suspend.value_or(true); };
  cluster_.set_stop_policy("Hold");
  apply(job_yaml("j", 4));
  until("it waits", [&] { return workload_of("j").has_value(); });
  settle();
  start_standby();
  cluster_.set_stop_policy("None");
  until("it runs", [&] { return started("j"); });
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  make_unreadable(cluster_, workload);
  fail_over();
  apply(job_yaml("k"));
  settle(1min);
  EXPECT_FALSE(started("k")) << "all quota is the other one's";
  EXPECT_TRUE(started("j"));
  complete_job("j", 4);
  make_readable(cluster_, workload);
  until("the other one runs", [&] { return started("k"); });
}

TEST_F(Certainty, WhatCannotBeReadIsNotWrittenAgainAndAgain) {
  start_with_queues();
  accept_newer_workloads(cluster_);
  apply(job_yaml("j"));
  until("it runs", [&] { return !job("j").spec.suspend.value_or(true); });
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  manager_.reset();
  make_unreadable(cluster_, workload);
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload, R"({"spec":{"active":false}})"));
  start_manager();
  manager_->requests.clear();
  settle(10min);
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 0);
  EXPECT_EQ(manager_->requests.count("get", "workloads"), 0);
  make_readable(cluster_, workload);
  until("it is stopped", [&] { return job("j").spec.suspend.value_or(false); });
}

/// Another replica may be luckier, and one that starts anew is not ready while it cannot list.
TEST_F(Certainty, ANewLeaderCreatesWhatWasRecordedAsSoonAsItHasHeardOfAllWorkers) {
  start_all({"east", "west"});
  worker("west").set_stop_policy("Hold");
  settle();
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "POST" && request.target.find("/jobs") != std::string::npos;
  };
  network_.faults("east").drop_before = 1;
  apply(lasting_job_yaml("j"));
  until("is recorded", [&] { return workload_of("j") && workload_of("j")->status.cluster_name; });
  manager_.reset();
  network_.faults("east").drop_before = 0;
  network_.faults("west").drop_before = 1;
  start_manager();
  settle(3s);
  EXPECT_EQ(uid_on("east", "j"), "no job") << "the other one may have it";
  network_.faults("west").drop_before = 0;
  until("it is created", [&] { return uid_on("east", "j") != "no job"; }, 5s);
}

TEST_F(Certainty, AStandbyThatCannotListOneKindDoesNotLead) {
  start_all({"east"});
  start_standby();
  apply(job_yaml("j"));
  settle();
  manager_.reset();
  kube::NetworkFaults& faults = standby_->faults();
  faults.half_open_watch = 0;
  faults.server_error = 1;
  faults.concerns = [](const net::HttpRequest& request) {
    return request.target.find("/cohorts") != std::string::npos;
  };
  standby_->requests.clear();
  standby_->take_over();
  settle(90s);
  EXPECT_TRUE(standby_->taken_over()) << "it may yet succeed";
  settle(1min);
  ASSERT_FALSE(standby_->taken_over());
  EXPECT_THAT(standby_->taken_over().error().what(), HasSubstr("cohorts.kueue.x-k8s.io: "));
  EXPECT_FALSE(standby_->started());
  EXPECT_EQ(standby_->requests.writes(), 0);
}

/// A LocalQueue cannot be led to another ClusterQueue: users make it anew, with the same
/// generation.
TEST_F(Certainty, AStandbyLearnsThatAQueueWasMadeAnew) {
  start_all({"east"});
  std::string other(hub_queue_yaml), queue(local_queue_yaml);
  apply(other.replace(other.find("name: cq"), 8, "name: other"));
  settle();
  start_standby();
  ASSERT_TRUE(cluster_.remove(api::LocalQueue::resource, key("main")));
  settle();
  apply(queue.replace(queue.find("clusterQueue: cq"), 16, "clusterQueue: other"));
  settle();
  fail_over();
  apply(lasting_job_yaml("j"));
  until("it has quota", [&] { return condition_of("j", "QuotaReserved").starts_with("True"); });
  EXPECT_EQ(workload_of("j")->status.admission->cluster_queue, "other");
}

TEST_F(Certainty, AHubThatWasAwayGivesItsWorkersAChance) {
  start_all({"east"});
  run_on_east("j", 6000);
  const std::string uid = uid_on("east", "j");
  network_.faults("east").partitioned = true;
  apply(lasting_job_yaml("another"));  // a request without an answer
  until("lost", [&] { return member_condition("east").starts_with("False"); }, 5min);
  manager_.reset();
  network_.faults("east").partitioned = false;
  settle(20min);
  start_manager();
  settle(1min);
  EXPECT_EQ(uid_on("east", "j"), uid);
  EXPECT_EQ(workload_of("j")->status.cluster_name, "east");
  EXPECT_EQ(condition_of("j", "Evicted"), "");
}

TEST_F(Certainty, AWorkerThatIsConnectedLaterThanOthersIsNotGone) {
  start_all({"east"});
  run_on_east("j", 6000);
  const std::string uid = uid_on("east", "j");
  manager_.reset();
  // As many as are looked at together, and before `east`. That there is no Secret is told at once.
  for (const std::string name : {"a", "b", "c", "d"}) {
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: " + name +
          "}\nspec: {clusterSource: {kubeConfig: {location: none}}}");
  }
  manager_.emplace(cluster_, network_);
  kube::NetworkFaults& faults = manager_->faults();
  faults.concerns = [](const net::HttpRequest& request) {
    return request.method == "PATCH" &&
           request.target.find("multikueueclusters") != std::string::npos;
  };
  faults.hang_before = 1;
  until("the manager has synced", [&] { return manager_->started(); });
  settle(2s);
  ASSERT_FALSE(manager_->core().fleet().find("east")) << "it is not connected yet";
  settle(1min);
  faults.hang_before = 0;
  settle(1min);
  EXPECT_EQ(condition_of("j", "Evicted"), "");
  EXPECT_EQ(workload_of("j")->status.cluster_name, "east");
  EXPECT_EQ(uid_on("east", "j"), uid);
}

TEST_F(Certainty, AWorkerThatAnswersAgainIsListedBeforeItIsReady) {
  start_all({"east"});
  run_on_east("j");
  network_.faults("east").half_open_watch = 1;
  TestCluster& east = *workers_.at("east").cluster;
  const auto recolor = [&](const std::string& color) {
    const Json patch = {{"metadata", {{"labels", {{"color", color}}}}}};
    ASSERT_TRUE(east.patch(api::Job::resource, key("j"), dump_json(patch)));
    settle(1s);
  };
  recolor("red");  // the watch dies without a sign
  network_.faults("east").half_open_watch = 0;
  network_.faults("east").partitioned = true;
  apply(lasting_job_yaml("another"));  // a request without an answer
  until("lost", [&] { return member_condition("east").starts_with("False"); }, 30s);
  recolor("blue");
  network_.faults("east").partitioned = false;
  const auto* member = manager_->core().fleet().find("east");
  until("it answers again", [&] { return member->ready(); }, 1min);
  std::string color;
  for (const jobs::JobPtr& seen : member->remote->jobs.list()) {
    if (seen->metadata().name == "j") color = seen->metadata().label("color");
  }
  EXPECT_EQ(color, "blue");
}

/// The hub does not learn that the Job `j` runs on east.
class HiddenJob : public Certainty {
 protected:
  void run_it() {
    network_.faults("east").concerns = follows_jobs;
    start_all({"east"});
    network_.faults("east").half_open_watch = 1;
    network_.faults("east").delay_min = network_.faults("east").delay_max = 50ms;
    apply(lasting_job_yaml("j"));
    until("it runs", [&] { return on_east() && on_east()->status.active == 1; });
    settle();
    ASSERT_EQ(job("j").status.active, 0) << "the hub does not see that it runs";
  }
  void drain() { cluster_.set_stop_policy("HoldAndDrain"); }
  std::optional<api::Job> on_east() { return workers_.at("east").cluster->get<api::Job>(key("j")); }
  bool quota_is_free() { return condition_of("j", "QuotaReserved").starts_with("False"); }
  void expect_stopped_before_its_quota_is_free() {
    until("the quota is free", [&] { return quota_is_free(); });
    ASSERT_TRUE(on_east()) << "it is stopped before it is removed";
    EXPECT_TRUE(on_east()->spec.suspend.value_or(false));
    EXPECT_EQ(on_east()->status.active, 0);
    until("nothing is left", [&] { return held_by("east") == "workloads 0, jobs 0"; });
  }
};

TEST_F(HiddenJob, KeepsItsQuotaWhenItIsEvicted) {
  run_it();
  drain();
  expect_stopped_before_its_quota_is_free();
}

TEST_F(HiddenJob, KeepsItsQuotaUntilANewLeaderHasHeardOfItsWorker) {
  run_it();
  manager_.reset();
  drain();
  start_manager();
  expect_stopped_before_its_quota_is_free();
}

TEST_F(HiddenJob, OfAWorkerThatIsNotHeardOfKeepsItsQuotaUntilThatIsGivenUp) {
  run_it();
  manager_.reset();
  drain();
  network_.faults("east").concerns = nullptr;
  network_.faults("east").partitioned = true;
  start_manager();
  until("it is evicted", [&] { return condition_of("j", "Evicted").starts_with("True"); });
  settle(14min);
  EXPECT_FALSE(quota_is_free()) << "the eviction remembers the worker";
  until("the quota is free", [&] { return quota_is_free(); }, 2min);
}

TEST_F(Certainty, ADeletionThatWasSeenNeedsNoReadAndOneThatWasNotNeedsOne) {
  start_all({"east"});
  run_on_east("seen");
  run_on_east("unseen");
  manager_->requests.clear();
  manager_->remote_requests.clear();
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  const auto remove = [&](const std::string& name) {
    const api::ObjectKey workload = workload_of(name)->metadata.key();
    ASSERT_TRUE(cluster_.remove(api::Job::resource, key(name), background));
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload));
  };
  remove("seen");
  until("removed", [&] { return held_by("east") == "workloads 1, jobs 1"; });
  EXPECT_EQ(manager_->requests.count("get"), 0);
  EXPECT_EQ(manager_->remote_requests["east"].count("get"), 0);
  manager_.reset();
  const api::ObjectKey workload = workload_of("unseen")->metadata.key();
  remove("unseen");
  ASSERT_TRUE(
      cluster_.patch(api::Workload::resource, workload, R"({"metadata":{"finalizers":null}})"));
  EXPECT_FALSE(workload_of("unseen"));
  start_manager();
  until("removed", [&] { return held_by("east") == "workloads 0, jobs 0"; });
  EXPECT_EQ(manager_->requests.count("get", "workloads"), 1);
  EXPECT_EQ(manager_->remote_requests["east"].count("get"), 0);
}

TEST_F(Certainty, ACopyThatGoesBeforeItsRemovalIsAskedForIsForgotten) {
  start_all({"east"});
  worker("east").set_stop_policy("Hold");
  settle();
  apply(remote_job_yaml("j"));
  const auto remote = manager_->core().fleet().find("east")->remote;
  until("copied", [&] { return workload_of("j") && held_by("east") == "workloads 1, jobs 0"; });
  const api::ObjectKey name = workload_of("j")->metadata.key();
  ASSERT_TRUE(
      worker("east").patch(api::Workload::resource, name,
                           R"({"metadata":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}})"));
  settle();
  const auto copy = remote->workloads.get(name);
  ASSERT_TRUE(copy && copy->metadata.has_finalizer(api::finalizers::resource_in_use));
  // The request that takes the finalizer away is on its way for two seconds.
  kube::NetworkFaults& faults = network_.faults("east");
  faults.delay_min = faults.delay_max = 4s;
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, name, R"({"spec":{"active":false}})"));
  settle(500ms);
  faults.delay_min = faults.delay_max = Duration(0);
  ASSERT_TRUE(
      worker("east").patch(api::Workload::resource, name, R"({"metadata":{"finalizers":null}})"));
  ASSERT_TRUE(worker("east").remove(api::Workload::resource, name));
  settle(100ms);
  EXPECT_FALSE(remote->workloads.get(name));
  EXPECT_EQ(manager_->remote_requests["east"].count("patch", "workloads"), 0);
  settle(10s);
  EXPECT_EQ(manager_->remote_requests["east"].count("patch", "workloads"), 1);
  EXPECT_EQ(manager_->remote_requests["east"].count("delete", "workloads"), 1);
  EXPECT_FALSE(remote->removal_begun(*copy));
}

}  // namespace
}  // namespace regatta::test_support
