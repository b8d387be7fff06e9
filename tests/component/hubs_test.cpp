#include "lib/api/own_names.h"
#include "tests/component/federation.h"

// Hubs that lost their data, that share a worker, or that one takes over from another.
namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class Hubs : public Federation {
 protected:
  static std::string name_of(int i) { return "j" + std::to_string(i); }

  void run_many(int jobs) {
    start_all({"east"});
    ASSERT_TRUE(workers_.at("east").cluster->patch(
        api::ClusterQueue::resource, api::ObjectKey("cq"),
        R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"cpu-only",
            "resources":[{"name":"cpu","nominalQuota":"100"}]}]}]}})"));
    for (int i = 0; i < jobs; ++i) apply(lasting_job_yaml(name_of(i)));
    const std::string all = "workloads " + std::to_string(jobs) + ", jobs " + std::to_string(jobs);
    until("all run", [&] { return held_by("east") == all; });
    settle();
  }
  void run_ten_of_which_one_ends() {
    run_many(9);
    apply(lasting_job_yaml("short", 600));
    until("all run", [&] { return held_by("east") == "workloads 10, jobs 10"; });
    settle();
  }
  /// As if the hub's etcd had lost them.
  void lose_everything_of_jobs() {
    for (const api::Workload& workload : cluster_.list<api::Workload>("default")) {
      ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload.metadata.key(),
                                 R"({"metadata":{"finalizers":null}})"));
      ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload.metadata.key()));
    }
    kube::DeleteOptions orphan;
    orphan.propagation_policy = "Orphan";
    for (const api::Job& job : cluster_.list<api::Job>("default")) {
      const Json none = {{"metadata", {{"finalizers", nullptr}}}};
      ASSERT_TRUE(cluster_.remove(api::Job::resource, job.metadata.key(), orphan));
      (void)cluster_.patch(api::Job::resource, job.metadata.key(), dump_json(none));
    }
    ASSERT_TRUE(cluster_.list<api::Workload>("default").empty());
    ASSERT_TRUE(cluster_.list<api::Job>("default").empty());
  }
  /// As if the hub's etcd had been restored from a backup that is older than the start of the jobs.
  void forget_starts_of_jobs() {
    for (const api::Workload& workload : cluster_.list<api::Workload>("default")) {
      const Json none = {{"status",
                          {{"clusterName", nullptr},
                           {"admission", nullptr},
                           {"admissionChecks", nullptr},
                           {"conditions", nullptr}}}};
      ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload.metadata.key(), dump_json(none),
                                 "status"));
    }
    for (const api::Job& job : cluster_.list<api::Job>("default")) {
      const Json none = {{"status", {{"active", nullptr}, {"ready", nullptr}}}};
      const Status done =
          cluster_.patch(api::Job::resource, job.metadata.key(), dump_json(none), "status");
      ASSERT_TRUE(done) << done.error().what();
    }
  }
  static std::string condition_on(TestCluster& hub, std::string_view type) {
    const auto cluster = hub.get<api::MultiKueueCluster>(api::ObjectKey("east"));
    return cluster ? condition(cluster->status.conditions, type) : "no such cluster";
  }
  static void annotate(TestCluster& hub, std::string_view annotation, const std::string& value) {
    const Json patch = {{"metadata", {{"annotations", {{std::string(annotation), value}}}}}};
    ASSERT_TRUE(
        hub.patch(api::MultiKueueCluster::resource, api::ObjectKey("east"), dump_json(patch)));
  }
  void expect_held(int jobs) {
    const std::string count = std::to_string(jobs);
    EXPECT_EQ(held_by("east"), "workloads " + count + ", jobs " + count);
    EXPECT_THAT(condition_on(cluster_, api::conditions::removals_held),
                StartsWith("True VanishedOnHub: " + count + " of " + count + " workloads"));
    EXPECT_THAT(events("MultiKueueCluster"), Contains(HasSubstr("do not exist on the hub")));
  }
  std::string uid_of_hub(TestCluster& hub) {
    return hub.get<api::Namespace>(api::ObjectKey("kube-system"))->metadata.uid;
  }
  std::string uid_on_east(const std::string& name) {
    const auto found = workers_.at("east").cluster->get<api::Job>(key(name));
    return found ? found->metadata.uid : "no job";
  }
  /// A second hub, with the same origin, that uses the worker as well.
  void start_other_hub() {
    make_other_hub();
    other_manager_.emplace(*other_, network_);
  }
  void make_other_hub() {
    other_.emplace(world_, "other");
    other_->install_crds();
    const char* const configuration[] = {
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}",
        flavor_yaml,
        hub_queue_yaml,
        local_queue_yaml,
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: all}\n"
        "spec: {clusters: [east]}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: mk}\n"
        "spec: {controllerName: kueue.x-k8s.io/multikueue, parameters: {apiGroup: "
        "kueue.x-k8s.io, kind: MultiKueueConfig, name: all}}"};
    for (const char* yaml : configuration) ASSERT_TRUE(other_->apply(yaml));
    ASSERT_TRUE(other_->apply(TestConnector::member_yaml("east")));
  }
  /// The job and its Workload as an operator brings them to the other hub, status and all.
  void bring_to_other_hub(const std::string& name) {
    std::string yaml = lasting_job_yaml(name);
    ASSERT_TRUE(other_->apply(yaml));
    const api::ObjectKey workload = workload_of(name)->metadata.key();
    Json object = cluster_.get(api::Workload::resource, workload);
    const Json status = {{"status", object.at("status")}};
    Json& metadata = object.at("metadata");
    for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
      metadata.erase(field);
    }
    metadata.at("ownerReferences")[0]["uid"] = other_->get<api::Job>(key(name))->metadata.uid;
    object.erase("status");
    ASSERT_TRUE(other_->apply(dump_json(object)));
    ASSERT_TRUE(other_->patch(api::Workload::resource, workload, dump_json(status), "status"));
  }
  std::optional<TestCluster> other_;
  std::optional<TestManager> other_manager_;
};

TEST_F(Hubs, AHubThatComesBackWithoutItsRecordsStartsNothingBesideAWorkerThatIsHeardOfLate) {
  start_all({"east", "west"});
  apply(lasting_job_yaml("j"));
  until("runs", [&] { return job("j").status.active == 1; });
  settle();
  const std::string first = *workload_of("j")->status.cluster_name;
  const std::string second = first == "east" ? "west" : "east";
  const auto has_job = [&](const std::string& name) {
    return worker(name).get<api::Job>(key("j")).has_value();
  };
  manager_.reset();
  forget_starts_of_jobs();
  network_.faults(first).delay_min = network_.faults(first).delay_max = 1s;
  start_manager();
  for (Duration passed{0}; passed < 30s; passed += 50ms) {
    settle(50ms);
    ASSERT_FALSE(has_job(first) && has_job(second)) << passed.count() << " ms later";
  }
  EXPECT_TRUE(has_job(first) || has_job(second));
}

TEST_F(Hubs, AHubThatComesBackWithoutItsDataRemovesNothingUntilItIsTold) {
  run_many(12);
  manager_.reset();
  lose_everything_of_jobs();
  start_manager();
  settle(5min);
  expect_held(12);
  annotate(cluster_, api::annotations::remove_vanished, "11");
  settle(2min);
  expect_held(12);
  annotate(cluster_, api::annotations::remove_vanished, "12");
  until("removed", [&] { return held_by("east") == "workloads 0, jobs 0"; });
  settle(2min);
  EXPECT_EQ(condition_on(cluster_, api::conditions::removals_held).substr(0, 14), "False Resolved");
}

TEST_F(Hubs, AHubThatLosesItsDataWhileItWatchesRemovesNothing) {
  run_many(12);
  manager_->faults().partitioned = true;
  settle(1s);
  lose_everything_of_jobs();
  cluster_.server().compact();
  manager_->faults().partitioned = false;
  settle(10min);
  expect_held(12);
}

TEST_F(Hubs, AHubThatForgotWhereJobsRunStopsNoneUntilItIsTold) {
  run_many(12);
  const std::string uid = uid_on_east("j0");
  manager_.reset();
  forget_starts_of_jobs();
  start_manager();
  settle(5min);
  expect_held(12);
  EXPECT_EQ(uid_on_east("j0"), uid);
  EXPECT_EQ(
      condition_of("j0", api::conditions::dispatched),
      "False RemovalsHeld: The job runs on worker cluster \"east\", and the hub has no record "
      "of it; its MultiKueueCluster tells what to do");
  annotate(cluster_, api::annotations::remove_vanished, "12");
  until("they run again",
        [&] { return uid_on_east("j0") != uid && held_by("east") == "workloads 12, jobs 12"; });
  settle(2min);
  EXPECT_EQ(condition_on(cluster_, api::conditions::removals_held).substr(0, 14), "False Resolved");
}

TEST_F(Hubs, WhatIsHeldStaysHeldWhenPartOfItEnds) {
  run_ten_of_which_one_ends();
  manager_.reset();
  forget_starts_of_jobs();
  start_manager();
  settle(1min);
  expect_held(10);
  const std::string uid = uid_on_east("j0");
  const auto nine = [&] {
    return condition_on(cluster_, api::conditions::removals_held)
        .starts_with("True VanishedOnHub: 9 of 9 ");
  };
  until("one has ended", nine, 20min);
  settle(3min);
  EXPECT_EQ(uid_on_east("j0"), uid);
  start_manager();
  settle(3min);
  EXPECT_EQ(uid_on_east("j0"), uid) << "the condition remembers";
  EXPECT_TRUE(nine());
  annotate(cluster_, api::annotations::remove_vanished, "9");
  until("they run again", [&] { return uid_on_east("j0") != uid; });
}

TEST_F(Hubs, OnceNoMoreThanTheOperatorAllowsIsLeftItIsLookedAtAgain) {
  run_ten_of_which_one_ends();
  const std::string uid = uid_on_east("j0");
  manager_.reset();
  forget_starts_of_jobs();
  start_manager();
  settle(1min);
  annotate(cluster_, api::annotations::remove_vanished, "9");
  settle(1min);
  expect_held(10);
  until("they run again", [&] { return uid_on_east("j0") != uid; }, 20min);
}

TEST_F(Hubs, AndSoIsWhatDoesNotExistOnTheHub) {
  run_ten_of_which_one_ends();
  manager_.reset();
  lose_everything_of_jobs();
  start_manager();
  settle(1min);
  annotate(cluster_, api::annotations::remove_vanished, "9");
  settle(1min);
  expect_held(10);
  until("removed", [&] { return held_by("east") == "workloads 0, jobs 0"; }, 20min);
}

TEST_F(Hubs, JobsThatWereEvictedWhileTheirWorkerWasLostAreRemovedHoweverManyTheyAre) {
  run_many(12);
  network_.faults("east").partitioned = true;
  settle(20min);
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(workload_of(name_of(i))->status.cluster_name, std::nullopt);
  const std::string uid = uid_on_east("j0");
  network_.faults("east").partitioned = false;
  until("they run again",
        [&] { return uid_on_east("j0") != uid && held_by("east") == "workloads 12, jobs 12"; });
  EXPECT_EQ(condition_on(cluster_, api::conditions::removals_held), "");
}

TEST_F(Hubs, WhatUsersDeleteIsRemovedHoweverMuchItIs) {
  run_many(12);
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  for (int i = 0; i < 12; ++i) {
    const api::ObjectKey workload = workload_of(name_of(i))->metadata.key();
    ASSERT_TRUE(cluster_.remove(api::Job::resource, key(name_of(i)), background));
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload));
  }
  until("removed", [&] { return held_by("east") == "workloads 0, jobs 0"; });
  EXPECT_EQ(condition_on(cluster_, api::conditions::removals_held), "");
}

TEST_F(Hubs, CopiesAndJobsSayForWhichObjectTheyWereMade) {
  run_many(1);
  TestCluster& east = *workers_.at("east").cluster;
  const auto workload = workload_of("j0");
  const auto copy = east.get<api::Workload>(workload->metadata.key());
  const auto remote = east.get<api::Job>(key("j0"));
  const std::string origin_uid = "kueue.x-k8s.io/multikueue-origin-uid";
  EXPECT_EQ(copy->metadata.annotation(origin_uid), workload->metadata.uid);
  EXPECT_EQ(remote->metadata.annotation(origin_uid), job("j0").metadata.uid);
  for (const auto& metadata : {copy->metadata, remote->metadata}) {
    EXPECT_EQ(metadata.annotation(std::string(api::annotations::hub_uid)), uid_of_hub(cluster_));
  }
}

TEST_F(Hubs, TwoHubsWithOneOriginLeaveEachOthersJobsAloneAndSaySo) {
  run_many(1);
  const std::string uid = uid_on_east("j0");
  start_other_hub();
  settle(5min);
  EXPECT_EQ(uid_on_east("j0"), uid);
  EXPECT_THAT(condition_on(*other_, api::conditions::origin_shared),
              StartsWith("True OtherHub: Another hub uses the origin \"multikueue\""));
  EXPECT_EQ(condition_on(cluster_, api::conditions::origin_shared), "");
  std::string theirs = lasting_job_yaml("theirs");
  ASSERT_TRUE(other_->apply(theirs));
  until("both run", [&] { return held_by("east") == "workloads 2, jobs 2"; });
  settle(5min);
  EXPECT_EQ(held_by("east"), "workloads 2, jobs 2");
  EXPECT_THAT(condition_on(cluster_, api::conditions::origin_shared), StartsWith("True OtherHub"));
}

TEST_F(Hubs, AHubThatTakesOverAdoptsTheObjectsOfTheOther) {
  run_many(1);
  start_other_hub();
  settle(2min);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 1");
  manager_.reset();
  annotate(*other_, api::annotations::adopt_hub, uid_of_hub(cluster_));
  until("removed", [&] { return held_by("east") == "workloads 0, jobs 0"; });
  settle(2min);
  EXPECT_EQ(condition_on(*other_, api::conditions::origin_shared).substr(0, 14), "False Resolved");
}

// The worker gives the copy to a job that the same hub has sent.
TEST_F(Hubs, AHubThatTakesOverSendsTheJobThatACopyOfTheOtherWaitsFor) {
  run_many(0);
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "POST" && request.target.find("/jobs") != std::string::npos;
  };
  network_.faults("east").server_error = 1;
  apply(lasting_job_yaml("j0"));
  until("recorded", [&] {
    const auto workload = workload_of("j0");
    return workload && workload->status.cluster_name == "east";
  });
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0");
  manager_.reset();
  network_.faults("east").server_error = 0;
  make_other_hub();
  bring_to_other_hub("j0");
  annotate(*other_, api::annotations::adopt_hub, uid_of_hub(cluster_));
  other_manager_.emplace(*other_, network_);
  until("it runs", [&] {
    const auto job = workers_.at("east").cluster->get<api::Job>(key("j0"));
    return job && job->status.active == 1;
  });
}

TEST_F(Hubs, WhatRunsUnderAFormerOriginIsLeftAlone) {
  start_all({"east", "west"});
  apply(lasting_job_yaml("j0"));
  until("it runs", [&] { return job("j0").status.active == 1; });
  const std::string host = *workload_of("j0")->status.cluster_name;
  manager_.reset();
  manager::CoreConfig config;
  config.origin = "hub-a";
  start_manager(config);
  settle(20min);
  EXPECT_EQ(workload_of("j0")->status.cluster_name, host);
  EXPECT_THAT(condition_of("j0", "Dispatched"), StartsWith("False CopyUnknown"));
  for (const char* name : {"east", "west"}) {
    EXPECT_EQ(held_by(name), name == host ? "workloads 1, jobs 1" : "workloads 0, jobs 0") << name;
  }
  manager_.reset();
  start_manager();
  settle(2min);
  EXPECT_THAT(condition_of("j0", "Dispatched"), StartsWith("True Dispatched"));
}

TEST_F(Hubs, WhatAHubHasAdoptedStaysWhereItIsWhenItDoesSoNoMore) {
  run_many(1);
  manager_.reset();
  make_other_hub();
  bring_to_other_hub("j0");
  annotate(*other_, api::annotations::adopt_hub, uid_of_hub(cluster_));
  other_manager_.emplace(*other_, network_);
  settle(2min);
  const std::string uid = uid_on_east("j0");
  annotate(*other_, api::annotations::adopt_hub, "");
  settle(20min);
  EXPECT_EQ(uid_on_east("j0"), uid);
  const auto there = other_->list<api::Workload>("default");
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there.front().status.cluster_name, "east");
  EXPECT_THAT(condition(there.front().status.conditions, "Dispatched"),
              StartsWith("False CopyUnknown"));
}

/// A worker that lies has ten copies and a job that the hub never sent.
TEST_F(Hubs, WhatAWorkerMakesUpHoldsNoWorkloadBack) {
  start_all({"east", "west"});
  for (const char* name : {"east", "west"}) give(name, "0");
  workers_.at("east").manager.reset();
  apply(lasting_job_yaml("j0"));
  until("copies wait", [&] {
    return held_by("east") == "workloads 1, jobs 0" && held_by("west") == "workloads 1, jobs 0";
  });
  const std::string workload = workload_of("j0")->metadata.name;
  TestCluster& east = *workers_.at("east").cluster;
  for (int i = 0; i < 10; ++i) {
    make_up_copy(east, key(workload), "made-up-" + std::to_string(i), "Admitted", "True");
  }
  ASSERT_TRUE(east.apply(job_yaml("j0", 1, "main",
                                  "{kueue.x-k8s.io/prebuilt-workload-name: " + workload + "}",
                                  ", kueue.x-k8s.io/multikueue-origin: multikueue")));
  until("the brake holds",
        [&] { return condition_on(cluster_, api::conditions::removals_held).starts_with("True"); });
  give("west", "4");
  until("it runs on west", [&] { return job("j0").status.active == 1; }, 2min);
  EXPECT_EQ(workload_of("j0")->status.cluster_name, "west");
}

/// As after a namespace was deleted while no manager ran.
TEST_F(Hubs, ManyCopiesOfWhatTheHubNeverHadCostItOneList) {
  start_all({"east", "west"});
  apply(lasting_job_yaml("j0"));
  until("it runs", [&] { return job("j0").status.active == 1; });
  const std::string workload = workload_of("j0")->metadata.name;
  manager_.reset();
  TestCluster& east = *workers_.at("east").cluster;
  for (int i = 0; i < 300; ++i) {
    make_up_copy(east, key(workload), "made-up-" + std::to_string(i), "QuotaReserved", "False");
  }
  start_manager();
  const auto left = [&] { return east.list<api::Workload>("default").size(); };
  until("they are gone", [&] { return left() <= 1; }, 2min);
  EXPECT_LE(manager_->requests.count("get", "workloads"), 100) << manager_->requests.str();
  EXPECT_LE(manager_->requests.count("list", "workloads"), 4);
  EXPECT_EQ(job("j0").status.active, 1);
}

// Kueue sends the Job before it records the cluster, and may be replaced in between.
TEST_F(Hubs, AJobThatAnotherManagerSentWithoutRecordingItGoesOn) {
  start_all({"east", "west"});
  for (const char* name : {"east", "west"}) give(name, "0");
  apply(lasting_job_yaml("j0"));
  until("copies wait", [&] {
    return held_by("east") == "workloads 1, jobs 0" && held_by("west") == "workloads 1, jobs 0";
  });
  const std::string workload = workload_of("j0")->metadata.name;
  manager_.reset();
  for (const char* name : {"west", "east"}) give(name, "4");
  settle(2s);
  std::string sent = job_yaml("j0", 1, "main",
                              "{kueue.x-k8s.io/prebuilt-workload-name: " + workload +
                                  ", sandbox.regatta.dev/run-seconds: \"6000\"}",
                              ", kueue.x-k8s.io/multikueue-origin: multikueue");
  TestCluster& west = *workers_.at("west").cluster;
  ASSERT_TRUE(west.apply(sent));
  const auto uid = [&] {
    const auto job = west.get<api::Job>(key("j0"));
    return job && job->status.active == 1 ? job->metadata.uid : std::string();
  };
  until("it runs", [&] { return !uid().empty(); });
  const std::string running = uid();
  start_manager();
  until("it is recorded", [&] { return workload_of("j0")->status.cluster_name == "west"; });
  settle(1min);
  EXPECT_EQ(uid(), running);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  EXPECT_EQ(job("j0").status.active, 1);
}

TEST_F(Hubs, AJobOfAnotherNameIsNotTakenForOurs) {
  run_many(1);
  TestCluster& east = *workers_.at("east").cluster;
  std::string imposter =
      job_yaml("aaa", 1, "main",
               "{kueue.x-k8s.io/prebuilt-workload-name: " + workload_of("j0")->metadata.name + "}",
               ", kueue.x-k8s.io/multikueue-origin: multikueue");
  ASSERT_TRUE(east.apply(imposter));
  ASSERT_TRUE(east.patch(api::Job::resource, key("aaa"),
                         R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":7,"ready":7}})",
                         "status"));
  settle(5s);
  EXPECT_EQ(job("j0").status.active, 1);
}

}  // namespace
}  // namespace regatta::test_support
