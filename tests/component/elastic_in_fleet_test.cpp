// Elastic Jobs that grow and shrink on the worker that runs them.
#include "lifecycle/lifecycle.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;

class ElasticJobsInFleet : public Federation {
 protected:
  static constexpr const char* elastic = R"({kueue.x-k8s.io/elastic-job: "true"})";

  void submit(int pods, int completions = 1000) {
    std::string yaml = job_yaml("j", pods, "main", elastic);
    const auto put = [&yaml](const std::string& before, const std::string& after) {
      yaml.replace(yaml.find(before), before.size(), after);
    };
    put("completions: " + std::to_string(pods), "completions: " + std::to_string(completions));
    put("suspend: true", "suspend: true, managedBy: kueue.x-k8s.io/multikueue");
    apply(yaml);
  }
  void scale(int pods) {
    ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"),
                               R"({"spec":{"parallelism":)" + std::to_string(pods) + "}}"));
  }
  std::optional<api::Job> job_on(const std::string& name) {
    return worker(name).get<api::Job>(key("j"));
  }
  /// Runs it with two pods, and returns the worker that has it.
  std::string start_two(std::vector<std::string> names, int completions = 1000) {
    start_all(std::move(names));
    submit(2, completions);
    std::string found;
    until("it runs somewhere", [&] {
      for (const auto& [name, worker] : workers_) {
        if (runs(name) == 2) found = name;
      }
      return !found.empty();
    });
    settle();
    uid_ = job_on(found)->metadata.uid;
    return found;
  }
  /// The pods with which it runs there; -1 when it is suspended or is not there.
  int runs(const std::string& name) {
    const auto there = job_on(name);
    if (!there || there->spec.suspend.value_or(false)) return -1;
    return there->spec.parallelism.value_or(1);
  }
  /// A larger size, `second`, that has its quota on the hub, and for which both workers are asked.
  void ask_for_four_elsewhere(const std::string& first) {
    ask_elsewhere(first, "second", 4, "default/" + first);
  }
  /// A slice `name` of the job that has the slice `first`, for that many pods. `replaced` is the
  /// slice that it replaces; empty for none. Returns the status of `first`.
  Json create_slice(const std::string& first, const std::string& name, int pods,
                    const std::string& replaced) {
    Json made = cluster_.get(api::Workload::resource, key(first));
    Json status = made["status"];
    made.erase("status");
    Json& metadata = made["metadata"];
    for (const char* given :
         {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
      metadata.erase(given);
    }
    metadata["name"] = name;
    const std::string link = "kueue.x-k8s.io/workload-slice-replacement-for";
    metadata["annotations"].erase(link);
    if (!replaced.empty()) metadata["annotations"][link] = replaced;
    made["spec"]["podSets"][0]["count"] = pods;
    apply(dump_json(made));
    return status;
  }
  /// The same with quota on the hub, and offered to both workers.
  void ask_elsewhere(const std::string& first, const std::string& name, int pods,
                     const std::string& replaced) {
    Json status = create_slice(first, name, pods, replaced);
    Json& assigned = status["admission"]["podSetAssignments"][0];
    assigned["count"] = pods;
    assigned["resourceUsage"]["cpu"] = std::to_string(pods);
    std::erase_if(status["conditions"].get_ref<Json::array_t&>(),
                  [](const Json& one) { return one["type"] != "QuotaReserved"; });
    status["admissionChecks"][0]["state"] = "Pending";
    status.erase("clusterName");
    status["nominatedClusterNames"] = {"east", "west"};
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, key(name),
                               dump_json(Json{{"status", status}}), "status"));
  }
  /// It never stopped there, and is no other one by now.
  void expect_same(const std::string& name) {
    const auto there = job_on(name);
    ASSERT_TRUE(there);
    EXPECT_EQ(there->metadata.uid, uid_);
    EXPECT_FALSE(stopped_);
  }
  void watch_for_stops(const std::string& name) { stopped_ = stopped_ || runs(name) < 0; }
  void until_runs(const std::string& name, int pods) {
    until("it has that many pods", [&] {
      watch_for_stops(name);
      return runs(name) == pods;
    });
  }
  void settle_running(const std::string& name, Duration time = 3s) {
    for (Duration passed{0}; passed < time; passed += 100ms) {
      settle(100ms);
      watch_for_stops(name);
    }
  }
  std::vector<api::Workload> live() {
    std::vector<api::Workload> found;
    for (api::Workload& workload : cluster_.list<api::Workload>("default")) {
      if (!api::is_true(workload.status.conditions, "Finished")) found.push_back(workload);
    }
    return found;
  }
  std::string used(TestCluster& cluster) {
    const auto queue = cluster.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return queue->status.flavors_reservation.at(0).resources.at(0).total.str();
  }
  static std::string other(const std::string& name) { return name == "east" ? "west" : "east"; }

  std::string uid_;
  bool stopped_ = false;
};

TEST_F(ElasticJobsInFleet, GrowsWhereItRuns) {
  const std::string name = start_two({"east", "west"});
  const api::Workload first = live().at(0);
  scale(4);
  until_runs(name, 4);
  settle_running(name, 5s);
  expect_same(name);
  ASSERT_EQ(live().size(), 1U);
  const api::Workload second = live().at(0);
  EXPECT_NE(second.metadata.name, first.metadata.name);
  EXPECT_EQ(second.status.cluster_name, name);
  EXPECT_EQ(condition(second.status.conditions, "Admitted").substr(0, 4), "True");
  EXPECT_EQ(job_on(name)->metadata.annotation("kueue.x-k8s.io/prebuilt-workload-name"),
            second.metadata.name);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1") << "the first slice is gone there";
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  EXPECT_EQ(used(cluster_), "4");
  EXPECT_EQ(used(worker(name)), "4");
  EXPECT_EQ(job("j").status.active, 4) << "the status comes home";
}

TEST_F(ElasticJobsInFleet, GoesOnAsItIsUntilTheWorkerHasRoom) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 50s);
  EXPECT_GT(job("j").status.succeeded, 0) << "its status comes home meanwhile";
  settle_running(name, 20s);
  EXPECT_EQ(runs(name), 2);
  EXPECT_EQ(held_by(name), "workloads 2, jobs 1");
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0") << "no other worker may run it";
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(condition(live()[0].status.conditions, "Dispatched"),
            "False WaitingForRoomToGrow: Worker cluster \"" + name +
                "\" has no room for the larger size yet; the job goes on with its present one");
  give(name, "6");
  until_runs(name, 6);
  settle_running(name, 5s);
  expect_same(name);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
  EXPECT_EQ(used(worker(name)), "6");
  EXPECT_THAT(condition(live().at(0).status.conditions, "Dispatched"),
              HasSubstr("True Dispatched"));
}

class GrowsWhileChecksChange : public ElasticJobsInFleet {
 protected:
  void ask_for(const std::string& checks) {
    ASSERT_TRUE(cluster_.patch(
        api::ClusterQueue::resource, api::ObjectKey("cq"),
        R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[)" + checks + "]}}}"));
  }
  void make_extra_ready() {
    const api::ObjectKey key = live().at(0).metadata.key();
    Json status = cluster_.get(api::Workload::resource, key)["status"];
    for (Json& check : status["admissionChecks"]) {
      if (check["name"] == "extra") check["state"] = "Ready";
    }
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, key, dump_json(Json{{"status", status}}),
                               "status"));
  }
  /// Two pods run, and six wait for another check, and for room there.
  std::string six_wait() {
    const std::string name = start_two({"east", "west"});
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: extra}\n"
        "spec: {controllerName: example.dev/other}");
    // Its controller says that it is active.
    EXPECT_TRUE(cluster_.patch(
        api::AdmissionCheck::resource, api::ObjectKey("extra"),
        R"({"status":{"conditions":[{"type":"Active","status":"True","reason":"R","message":"m",)"
        R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
        "status"));
    ask_for(R"({"name":"mk"},{"name":"extra"})");
    settle();
    scale(6);
    settle_running(name, 5s);
    return name;
  }
  void grows_at(const std::string& name) {
    settle_running(name, 5s);
    EXPECT_EQ(runs(name), 2);
    give(name, "6");
    until_runs(name, 6);
    settle_running(name, 5s);
    expect_same(name);
    ASSERT_EQ(live().size(), 1U);
    EXPECT_THAT(condition(live().at(0).status.conditions, "Admitted"), HasSubstr("True"));
  }
};

TEST_F(GrowsWhileChecksChange, ACheckThatGoesIsNotTakenForTheOneThatFoundTheWorker) {
  const std::string name = six_wait();
  make_extra_ready();
  settle_running(name, 5s);
  manager_.reset();
  ask_for(R"({"name":"mk"})");
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("extra"),
                             R"({"metadata":{"finalizers":null}})"));
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("extra")));
  start_manager({});
  grows_at(name);
}

TEST_F(GrowsWhileChecksChange, ACheckThatTheQueueNoLongerAsksForHoldsNothingUp) {
  const std::string name = six_wait();
  ask_for(R"({"name":"mk"})");
  grows_at(name);
}

TEST_F(GrowsWhileChecksChange, TheCheckThatFindsWorkersMayBeExchanged) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 5s);
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: mk2}\nspec:\n"
      "  controllerName: kueue.x-k8s.io/multikueue\n  parameters: {apiGroup: kueue.x-k8s.io, "
      "kind: MultiKueueConfig, name: all}");
  ask_for(R"({"name":"mk2"})");
  grows_at(name);
}

/// The queue asks for no check when the larger size gets its quota, so that one has no place, and
/// the smaller one, which has it, is replaced.
class GrowsWithoutItsCheck : public GrowsWhileChecksChange {
 protected:
  void grow() {
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                               R"({"spec":{"admissionChecksStrategy":null}})"));
    settle();
    scale(4);
    settle();
    const std::vector<api::Workload> left = live();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_THAT(condition(left[0].status.conditions, "Admitted"), HasSubstr("True"));
    EXPECT_FALSE(left[0].status.cluster_name);
    ask_for(R"({"name":"mk"})");
  }
  void grows_there_alone(const std::string& name) {
    until_runs(name, 4);
    settle_running(name, 5s);
    expect_same(name);
    EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  }
};

TEST_F(GrowsWithoutItsCheck, WhereItRuns) {
  const std::string name = start_two({"east", "west"});
  grow();
  grows_there_alone(name);
}

TEST_F(GrowsWithoutItsCheck, WhereItRunsThoughThatWorkerCannotBeReadYet) {
  const std::string name = start_two({"east", "west"});
  manager_.reset();
  const Json conditions =
      cluster_.get(api::MultiKueueCluster::resource, api::ObjectKey(name))["status"]["conditions"];
  make_unreadable(api::MultiKueueCluster::resource, name);
  start_manager();
  grow();
  settle_running(name, 1h);
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  EXPECT_EQ(condition(live().at(0).status.conditions, "Dispatched"),
            "Unknown WorkerLost: The MultiKueueCluster of worker cluster \"" + name +
                "\" cannot be read; the job goes on there with its former size");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey(name),
                             dump_json(Json{{"status", {{"conditions", conditions}}}}), "status"));
  grows_there_alone(name);
}

TEST_F(ElasticJobsInFleet, ShrinksWhereItRuns) {
  const std::string name = start_two({"east", "west"});
  const api::Workload first = live().at(0);
  scale(1);
  until_runs(name, 1);
  settle_running(name, 5s);
  expect_same(name);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live()[0].metadata.name, first.metadata.name);
  EXPECT_EQ(used(cluster_), "1");
  EXPECT_EQ(used(worker(name)), "1");
  // And grows again.
  scale(3);
  until_runs(name, 3);
  settle_running(name, 5s);
  expect_same(name);
  EXPECT_EQ(used(worker(name)), "3");
}

TEST_F(ElasticJobsInFleet, ChangesItsMindWhileTheLargerSizeWaits) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  EXPECT_EQ(runs(name), 2);
  scale(8);
  settle_running(name, 10s);
  EXPECT_EQ(runs(name), 2);
  scale(3);
  until_runs(name, 3);
  settle_running(name, 5s);
  expect_same(name);
  EXPECT_EQ(live().size(), 1U);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
  EXPECT_EQ(used(worker(name)), "3");
  EXPECT_EQ(used(cluster_), "3");
}

TEST_F(ElasticJobsInFleet, EndsWhileTheLargerSizeWaits) {
  const std::string name = start_two({"east", "west"}, 8);
  scale(6);
  until("it ended", [&] { return job("j").status.completion_time.has_value(); }, 300s);
  settle(5s);
  EXPECT_EQ(live().size(), 0U);
  EXPECT_EQ(job("j").status.succeeded, 8);
  for (const char* one : {"east", "west"}) EXPECT_EQ(held_by(one), "workloads 0, jobs 0");
}

TEST_F(ElasticJobsInFleet, StopsThereWhenTheLargerSizeIsDeactivated) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, live().at(0).metadata.key(),
                             R"({"spec": {"active": false}})"));
  until("it left the worker", [&] { return held_by(name) == "workloads 0, jobs 0"; });
  settle(5s);
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_EQ(job("j").status.active, 0);
  EXPECT_EQ(used(cluster_), "0");
}

TEST_F(ElasticJobsInFleet, ALargerSizeDoesNotWaitWhereTheJobWasStopped) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  give(other(name), "6");
  worker(name).set_stop_policy("HoldAndDrain");
  until("it runs elsewhere", [&] { return runs(other(name)) == 6; }, 5min);
  until("it left", [&] { return held_by(name) == "workloads 0, jobs 0"; });
}

TEST_F(ElasticJobsInFleet, GoesOnWhenItsQueueTakesNoMoreWhileTheLargerSizeWaits) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  cluster_.set_local_stop_policy("Hold");
  settle_running(name, 30s);
  expect_same(name);
  EXPECT_EQ(used(cluster_), "6");
}

TEST_F(ElasticJobsInFleet, ALargerSizeThatIsEvictedEarlyKeepsItsQuotaWhileTheJobRuns) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  network_.faults(name).concerns = [](const net::HttpRequest& request) {
    return request.method == "DELETE" && request.target.find("/jobs/") != std::string::npos;
  };
  network_.faults(name).hang_before = 1;
  const api::ObjectKey larger = live().at(0).metadata.key();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, larger, R"({"spec": {"active": false}})"));
  settle(30s);
  ASSERT_GE(runs(name), 0) << "it cannot be stopped";
  const auto evicted = cluster_.get<api::Workload>(larger);
  EXPECT_TRUE(api::is_true(evicted->status.conditions, "QuotaReserved"));
  EXPECT_EQ(job("j").status.active, 2);
}

TEST_F(ElasticJobsInFleet, ALargerSizeThatNeverCameToTheWorkerGivesItsQuotaBack) {
  const std::string name = start_two({"east", "west"});
  network_.faults(name).partitioned = true;
  scale(6);
  settle(10s);
  const api::ObjectKey larger = live().at(0).metadata.key();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, larger, R"({"spec": {"active": false}})"));
  settle(10s);
  network_.faults(name).partitioned = false;
  until("its quota is free", [&] { return used(cluster_) == "0"; }, 1min);
  EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
}

/// The worker has replaced the first size by the second one, which is none any more on the hub.
class GrownUnseen : public ElasticJobsInFleet {
 protected:
  /// The worker that runs it, and has no room for the third size.
  std::string grow_twice() {
    std::string name = start_two({"east", "west"});
    scale(6);
    settle_running(name, 10s);
    second_ = live().at(0).metadata.key();
    network_.faults(name).partitioned = true;
    settle_running(name, 2s);
    give(name, "6");
    settle_running(name, 10s);
    EXPECT_EQ(used(worker(name)), "6") << "its larger size took over there";
    scale(7);
    settle_running(name, 10s);
    network_.faults(name).partitioned = false;
    settle_running(name, 1min);
    EXPECT_EQ(runs(name), 2) << "there is no room for seven";
    EXPECT_EQ(used(worker(name)), "6") << "the job keeps its quota";
    return name;
  }
  void expect_seven(const std::string& name) {
    give(name, "7");
    until_runs(name, 7);
    settle_running(name, 2min);
    expect_same(name);
    EXPECT_EQ(used(worker(name)), "7");
    EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
  }

  api::ObjectKey second_;
};

TEST_F(GrownUnseen, TheThirdSizeReplacesTheSecond) {
  expect_seven(grow_twice());
}

/// The worker has room for the second size, and its manager ends the first one only later.
TEST_F(ElasticJobsInFleet, TheSecondSizeKeepsTheQuotaThatItJustGot) {
  const std::string name = start_two({"east", "west"});
  const api::ObjectKey first = live().at(0).metadata.key();
  scale(6);
  settle_running(name, 10s);
  const api::ObjectKey second = live().at(0).metadata.key();
  network_.faults(name).partitioned = true;
  kube::NetworkFaults& faults = workers_.at(name).manager->faults();
  faults.concerns = [path = "/" + first.name](const net::HttpRequest& request) {
    return request.method != "GET" && request.target.find(path) != std::string::npos;
  };
  faults.server_error = 1;
  settle_running(name, 2s);
  give(name, "6");
  settle_running(name, 10s);
  ASSERT_TRUE(lifecycle::is_reserved(*worker(name).get<api::Workload>(second)));
  ASSERT_FALSE(lifecycle::is_finished(*worker(name).get<api::Workload>(first)));
  scale(7);
  settle_running(name, 10s);
  network_.faults(name).partitioned = false;
  settle_running(name, 25s);
  EXPECT_EQ(held_by(name), "workloads 3, jobs 1");
  faults.server_error = 0;
  settle_running(name, 1min);
  EXPECT_EQ(used(worker(name)), "6") << "the job keeps its quota";
  EXPECT_EQ(runs(name), 2) << "there is no room for seven";
  expect_same(name);
}

TEST_F(GrownUnseen, TheSecondSizeKeepsTheQuotaWhenTheHubHasLostIt) {
  const std::string name = grow_twice();
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, second_));
  settle_running(name, 3min);
  EXPECT_EQ(used(worker(name)), "6");
  expect_seven(name);
}

TEST_F(GrownUnseen, WithoutTheQuotaOfTheSecondSizeTheJobIsSentAnew) {
  const std::string name = grow_twice();
  give(other(name), "7");
  ASSERT_TRUE(
      worker(name).patch(api::Workload::resource, second_, R"({"spec": {"active": false}})"));
  until("it runs elsewhere", [&] { return runs(other(name)) == 7; }, 5min);
  until("it left", [&] { return held_by(name) == "workloads 0, jobs 0"; });
}

/// The quota of the job is that of its larger size by now.
TEST_F(ElasticJobsInFleet, IsSentAnewWhenItsLargerSizeLosesTheQuotaBeforeTheHubKnows) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  network_.faults(name).partitioned = true;
  give(name, "6");
  settle(10s);
  const api::ObjectKey larger = live().at(0).metadata.key();
  ASSERT_TRUE(
      worker(name).patch(api::Workload::resource, larger, R"({"spec": {"active": false}})"));
  settle(10s);
  give(other(name), "6");
  network_.faults(name).partitioned = false;
  until("it runs elsewhere", [&] { return runs(other(name)) == 6; }, 5min);
  until("it left", [&] { return held_by(name) == "workloads 0, jobs 0"; });
}

/// A manager that sees the end of the former slice first would stop the job, which has none then.
TEST_F(ElasticJobsInFleet, TheFormerSizeStaysUntilTheWorkersManagerKnowsOfTheNext) {
  const std::string name = start_two({"east", "west"});
  kube::NetworkFaults& faults = workers_.at(name).manager->faults();
  faults.concerns = [](const net::HttpRequest& request) {
    return request.target.find("/batch/v1/jobs") != std::string::npos;
  };
  faults.half_open_watch = 1;
  scale(4);
  settle_running(name, 1min);
  EXPECT_EQ(runs(name), 4);
  EXPECT_EQ(held_by(name), "workloads 2, jobs 1");
  faults.half_open_watch = 0;
  until("it knows", [&] { return held_by(name) == "workloads 1, jobs 1"; }, 10min);
  settle_running(name);
  expect_same(name);
}

TEST_F(ElasticJobsInFleet, ALostWorkerIsLeftWithTheLargerSize) {
  const std::string name = start_two({"east", "west"});
  scale(4);
  until_runs(name, 4);
  network_.faults(name).partitioned = true;
  scale(3);
  settle(1min);
  scale(4);
  until("it runs elsewhere", [&] { return runs(other(name)) == 4; }, 30min);
  network_.faults(name).partitioned = false;
  until("the lost one is clean", [&] { return held_by(name) == "workloads 0, jobs 0"; });
  settle(5s);
  EXPECT_EQ(runs(other(name)), 4);
  EXPECT_EQ(held_by(other(name)), "workloads 1, jobs 1");
}

TEST_F(ElasticJobsInFleet, GoesOnWhenTheFirstSliceIsForgottenOnTheHub) {
  const std::string name = start_two({"east", "west"});
  const api::ObjectKey first = live().at(0).metadata.key();
  scale(6);
  settle_running(name, 10s);
  ASSERT_EQ(live().size(), 1U);
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, first));
  settle_running(name, 3min);
  EXPECT_EQ(runs(name), 2);
  expect_same(name);
  give(name, "6");
  until_runs(name, 6);
  settle_running(name, 5s);
  expect_same(name);
  until(
      "the copy of the first slice is collected",
      [&] { return held_by(name) == "workloads 1, jobs 1"; }, 3min);
}

TEST_F(ElasticJobsInFleet, AnEvictionOnItsWorkerMakesTheWholeRaceAgain) {
  const std::string name = start_two({"east", "west"});
  scale(4);
  until_runs(name, 4);
  settle_running(name, 5s);
  give(name, "1");
  worker(name).set_stop_policy("HoldAndDrain");
  until("it runs elsewhere", [&] { return runs(other(name)) == 4; }, 5min);
  settle(5s);
  EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
  EXPECT_EQ(used(cluster_), "4");
}

TEST_F(ElasticJobsInFleet, GrowsBeforeAWorkerHasIt) {
  start_all({"east", "west"});
  for (const char* name : {"east", "west"}) give(name, "1");
  submit(2);
  settle(10s);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0");
  scale(3);
  settle(10s);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 0") << "only the larger one is asked for";
  give("west", "4");
  until("it runs", [&] { return runs("west") == 3; });
  settle(5s);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  EXPECT_EQ(held_by("west"), "workloads 1, jobs 1");
}

// The worker does not get the copy of one size before a later one runs, and the hub takes long to
// note that the one was replaced.
TEST_F(ElasticJobsInFleet, ASizeThatComesLateDoesNotReplaceALaterOne) {
  start_two({"east"});
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "POST" && request.body.find("\"count\":3") != std::string::npos;
  };
  network_.faults("east").drop_before = 1;
  scale(3);
  std::string late;
  until("the hub has it", [&] {
    for (const api::Workload& workload : live()) {
      if (workload.spec.pod_sets.at(0).count == 3) late = workload.metadata.name;
    }
    return !late.empty() && cluster_.get<api::Workload>(key(late))->status.cluster_name;
  });
  manager_->faults().concerns = [late](const net::HttpRequest& request) {
    return request.method != "GET" && request.target.find(late) != std::string::npos;
  };
  manager_->faults().drop_before = 1;
  scale(4);
  until_runs("east", 4);
  network_.faults("east").drop_before = 0;
  settle_running("east", 20s);
  manager_->faults().drop_before = 0;
  settle_running("east", 1min);
  expect_same("east");
  EXPECT_EQ(runs("east"), 4);
  EXPECT_EQ(live().size(), 1U);
}

// The creation of its first size got no answer, and reaches the API server when the job runs with a
// size that was made meanwhile. The hub takes long to note that it is of no use.
TEST_F(ElasticJobsInFleet, ASizeWhoseCreationCameLateIsNotSent) {
  const std::string name = start_two({"east", "west"});
  const std::string first = live().at(0).metadata.name;
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method != "GET" && request.target.find("late-one") != std::string::npos;
  };
  manager_->faults().drop_before = 1;
  ask_elsewhere(first, "late-one", 3, "");
  settle_running(name, 20s);
  expect_same(name);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  manager_->faults().drop_before = 0;
  settle_running(name, 1min);
  expect_same(name);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live().at(0).metadata.name, first);
  EXPECT_EQ(used(cluster_), "2");
}

// So does the creation of a larger size: meanwhile another one has replaced the size before it.
TEST_F(ElasticJobsInFleet, ALargerSizeWhoseCreationCameLateTakesNoPlace) {
  const std::string name = start_two({"east", "west"});
  const std::string first = live().at(0).metadata.name;
  scale(4);
  until_runs(name, 4);
  settle_running(name, 10s);
  ASSERT_EQ(live().size(), 1U);
  const std::string second = live().at(0).metadata.name;
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method == "PATCH" && request.body.find("OutOfSync") != std::string::npos;
  };
  manager_->faults().drop_before = 1;
  create_slice(first, "late-one", 3, "default/" + first);
  until("the hub gives it quota",
        [&] { return lifecycle::is_reserved(*cluster_.get<api::Workload>(key("late-one"))); });
  settle_running(name, 20s);
  expect_same(name);
  EXPECT_FALSE(cluster_.get<api::Workload>(key("late-one"))->status.cluster_name);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  manager_->faults().drop_before = 0;
  settle_running(name, 1min);
  expect_same(name);
  EXPECT_EQ(runs(name), 4);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live().at(0).metadata.name, second);
}

// The former size gets its worker and the larger one its quota in one moment, while each write
// takes half a second. `apart` is how much earlier the quota is there.
class GrowsAsItIsSent : public ElasticJobsInFleet, public testing::WithParamInterface<int> {};

TEST_P(GrowsAsItIsSent, OneWorkerHasIt) {
  const Duration apart(GetParam());
  start_all({"east", "west"});
  for (const char* name : {"east", "west"}) give(name, "1");
  give(cluster_, "2");
  submit(2);
  settle(10s);
  scale(3);
  settle(10s);
  ASSERT_EQ(live().size(), 2U) << "the larger one has no quota";
  manager_->faults().delay_min = manager_->faults().delay_max = 500ms;
  give(cluster_, "9");
  settle(apart);
  give("east", "2");  // not for the larger one
  settle(30ms);
  give("west", "9");
  std::string first;
  until("it runs", [&] {
    for (const char* name : {"east", "west"}) {
      if (runs(name) > 0) first = name;
    }
    return !first.empty();
  });
  uid_ = job_on(first)->metadata.uid;
  settle_running(first, 20s);
  expect_same(first);
  give("east", "9");
  until_runs(first, 3);
  expect_same(first);
  EXPECT_EQ(held_by(other(first)), "workloads 0, jobs 0");
}

INSTANTIATE_TEST_SUITE_P(, GrowsAsItIsSent, testing::Range(0, 1500, 100));

// As when the record of the former size was not in the cache when the larger one got its quota. The
// hub has not noted yet that the former one is replaced.
TEST_F(ElasticJobsInFleet, ALargerSizeThatWasAskedForElsewhereTakesItsPlace) {
  const std::string name = start_two({"east", "west"});
  manager_.reset();
  ask_for_four_elsewhere(live().at(0).metadata.name);
  scale(4);

  manager_.emplace(cluster_, network_, manager::CoreConfig());
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method == "PATCH" &&
           request.body.find("WorkloadSliceReplaced") != std::string::npos;
  };
  manager_->faults().server_error = 1;
  until("the manager has synced", [&] { return manager_->started(); });
  until("the larger size has the place", [&] {
    watch_for_stops(name);
    return cluster_.get<api::Workload>(key("second"))->status.cluster_name == name;
  });
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
  manager_->faults().server_error = 0;
  until_runs(name, 4);
  settle_running(name, 10s);
  expect_same(name);
  EXPECT_EQ(held_by(other(name)), "workloads 0, jobs 0");
}

// The former size is over, and its worker has not got the Job yet, or not told it.
TEST_F(ElasticJobsInFleet, ALargerSizeFollowsWhatWasJustSent) {
  const std::string name = start_two({"east", "west"});
  give(name, "2");
  give(other(name), "9");
  manager_.reset();
  const api::ObjectKey first = live().at(0).metadata.key();
  ask_for_four_elsewhere(first.name);
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, first,
                             R"({"status":{"conditions":[{"type":"Finished","status":"True",
                               "reason":"WorkloadSliceReplaced","message":"x",
                               "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                             "status"));
  workers_.at(name).manager.reset();
  ASSERT_TRUE(worker(name).remove(api::Job::resource, key("j")));
  (void)worker(name).patch(api::Job::resource, key("j"), R"({"metadata":{"finalizers":null}})");
  until("it is not there", [&] { return !job_on(name); });
  scale(4);
  start_manager();
  const auto place = [&] {
    return cluster_.get<api::Workload>(key("second"))->status.cluster_name.value_or("");
  };
  until("the larger size has a place", [&] { return place() != ""; });
  EXPECT_EQ(place(), name) << "the other worker has room, but the Job may be here";
}

// The worker goes on with the size that the hub has lost, until the hub is certain of that.
TEST_F(ElasticJobsInFleet, StartsAnewWhenTheHubWentBackToTheFormerSize) {
  const std::string name = start_two({"east", "west"});
  const api::ObjectKey first = live().at(0).metadata.key();
  const Json before = cluster_.get(api::Workload::resource, first);
  scale(4);
  until_runs(name, 4);
  settle();
  const api::ObjectKey second = live().at(0).metadata.key();
  ASSERT_NE(first, second);
  manager_.reset();
  ASSERT_TRUE(
      cluster_.patch(api::Workload::resource, second, R"({"metadata":{"finalizers":null}})"));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, second));
  scale(2);
  const Json former = {{"status", {{"conditions", before["status"]["conditions"]}}}};
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, first, dump_json(former), "status"));
  start_manager();
  const auto runs_anew = [&](const std::string& worker) {
    return runs(worker) == 2 && job_on(worker)->metadata.uid != uid_;
  };
  until("it runs anew", [&] { return runs_anew("east") || runs_anew("west"); }, 5min);
  EXPECT_EQ(used(cluster_), "2");
}

TEST_F(ElasticJobsInFleet, AManagerThatStartsInBetweenGoesOn) {
  const std::string name = start_two({"east", "west"});
  scale(6);
  settle_running(name, 10s);
  manager_.reset();
  give(name, "6");
  settle_running(name, 10s);
  EXPECT_EQ(runs(name), 2);
  start_manager();
  until_runs(name, 6);
  settle_running(name, 5s);
  expect_same(name);
  EXPECT_EQ(held_by(name), "workloads 1, jobs 1");
}

}  // namespace
}  // namespace regatta::test_support
