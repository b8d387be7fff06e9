#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Federation, TheEventOfACheckThatIsTriedAgainSaysWhatTheCheckSays) {
  start_all({"east"});
  apply(remote_job_yaml("j"));
  until("won", [&] {
    const auto workload = workload_of("j");
    return workload && workload->status.cluster_name;
  });
  settle();
  const api::ObjectKey copy = workload_of("j")->metadata.key();
  ASSERT_TRUE(workers_.at("east").cluster->patch(
      api::Workload::resource, copy,
      R"({"status":{"conditions":[{"type":"Finished","status":"True","reason":"OutOfSync",
        "message":"x","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
      "status"));
  settle();
  EXPECT_THAT(events("Workload"),
              Contains("MultiKueue: Remote workload on worker cluster \"east\" is out of sync with "
                       "its user job, resetting for re-dispatch, Previously: \"Ready\""));
}

TEST_F(Federation, AJobRacesRunsOnOneWorkerAndLeavesNothingBehind) {
  start_all({"east", "north", "west"});
  manager_->requests.clear();
  manager_->remote_requests.clear();
  for (auto& [name, worker] : workers_) {
    worker.manager->requests.clear();
    worker.nodes->requests.clear();
  }
  apply(remote_job_yaml("j"));
  until("won", [&] {
    const auto workload = workload_of("j");
    return workload && workload->status.cluster_name;
  });
  settle();

  const auto won = workload_of("j");
  const std::string winner = *won->status.cluster_name;
  EXPECT_TRUE(won->status.nominated_cluster_names.empty());
  EXPECT_EQ(condition(won->status.conditions, "Admitted"),
            "True Admitted: The workload is admitted");
  ASSERT_EQ(won->status.admission_checks.size(), 1U);
  EXPECT_EQ(won->status.admission_checks[0].state, api::CheckState::Ready);
  EXPECT_EQ(won->status.admission_checks[0].message,
            "The workload was admitted on \"" + winner + "\"");
  for (const auto& [name, worker] : workers_) {
    EXPECT_EQ(held_by(name), name == winner ? "workloads 1, jobs 1" : "workloads 0, jobs 0");
  }
  TestCluster& host = *workers_.at(winner).cluster;
  const auto copy = host.get<api::Workload>(won->metadata.key());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->spec, won->spec);
  EXPECT_EQ(copy->metadata.label("kueue.x-k8s.io/multikueue-origin"), "multikueue");
  const auto remote = host.get<api::Job>(key("j"));
  ASSERT_TRUE(remote);
  EXPECT_EQ(remote->metadata.label("kueue.x-k8s.io/multikueue-origin"), "multikueue");
  EXPECT_EQ(jobs::prebuilt_workload(remote->metadata), won->metadata.name);
  EXPECT_FALSE(remote->spec.managed_by);
  EXPECT_EQ(remote->status.active, 1);
  EXPECT_EQ(copy->metadata.controller()->uid, remote->metadata.uid);
  EXPECT_EQ(remote->spec.pod_template
                .json()["metadata"]["labels"]["kueue.x-k8s.io/multikueue-worker-workload-pod"],
            "true");
  EXPECT_EQ(job("j").status.active, 1);
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));

  until("finished", [&] { return condition_of("j", "Finished") != ""; });
  settle();
  EXPECT_EQ(condition_of("j", "Finished").substr(0, 15), "True Succeeded:");
  EXPECT_EQ(job("j").status.succeeded, 1);
  EXPECT_TRUE(job("j").status.completion_time);
  for (const auto& [name, worker] : workers_) EXPECT_EQ(held_by(name), "workloads 0, jobs 0");

  EXPECT_LE(manager_->requests.count("create", "events"), 4);
  int worker_events = 0;
  for (const auto& [name, worker] : workers_) {
    worker_events += worker.manager->requests.count("create", "events");
  }
  EXPECT_LE(worker_events, 4);
  EXPECT_THAT(events("Workload"),
              Contains("MultiKueue: The workload was admitted on \"" + winner + "\""));

  std::cout << "hub: " << manager_->requests.str() << "\n";
  for (const auto& [name, worker] : workers_) {
    std::cout << name << (name == winner ? " (winner)" : "")
              << "\n  from the hub: " << manager_->remote_requests[name].str()
              << "\n  its manager: " << worker.manager->requests.str()
              << "\n  its nodes: " << worker.nodes->requests.str() << "\n";
  }
}

TEST_F(Federation, TheHubKeepsOneSpecOfPodsForAJobAndItsCopies) {
  start_all({"east", "north"});
  for (auto& [where, worker] : workers_) worker.manager.reset();  // so that both copies wait
  apply(remote_job_yaml("j"));
  settle();
  const auto spec_of = [](const api::Workload& workload) {
    return &workload.spec.pod_sets.at(0).pod_template.spec();
  };
  manager::Core& hub = manager_->core();
  const api::ObjectKey name = workload_of("j")->metadata.key();
  const auto ours = hub.local().workloads.get(name);
  for (const char* worker : {"east", "north"}) {
    const auto copy = hub.fleet().find(worker)->remote->workloads.get(name);
    ASSERT_TRUE(copy) << worker;
    EXPECT_EQ(spec_of(*copy), spec_of(*ours)) << worker;
  }
}

TEST_F(Federation, AJobWithManyPodsIsFollowedAtAMeasuredPace) {
  start_all({"east"});
  TestCluster& east = *workers_.at("east").cluster;
  workers_.at("east").nodes.reset();
  apply(remote_job_yaml("j", 4));
  until("created", [&] { return east.get<api::Job>(key("j")).has_value(); });
  settle();
  manager_->requests.clear();
  for (int ready = 0; ready <= 4; ++ready) {
    ASSERT_TRUE(east.patch(api::Job::resource, key("j"),
                           R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":4,"ready":)" +
                               std::to_string(ready) + "}}",
                           "status"));
    settle(50ms);
    EXPECT_EQ(job("j").status.active, 4) << "the start is told at once";
  }
  settle();
  EXPECT_EQ(job("j").status.ready, 4) << "the last word arrives";
  EXPECT_EQ(manager_->requests.count("patch", "jobs/status"), 2);
  ASSERT_TRUE(
      east.patch(api::Job::resource, key("j"), R"({"status":{"active":3,"ready":3}})", "status"));
  settle(50ms);
  ASSERT_TRUE(east.patch(api::Job::resource, key("j"), R"({"status":{"active":null,"ready":0}})",
                         "status"));
  settle(50ms);
  EXPECT_EQ(job("j").status.active, 0) << "so is the end";
}

/// Two workers that would have to preempt for the hub's job `urgent`, one after the other.
class FullWorkers : public Federation {
 protected:
  /// `latency` of the workers' servers, from the moment in which `urgent` is submitted.
  void start(manager::CoreConfig hub, Duration latency = 0ms) {
    hub.dispatch.plan.preemption_gates = true;
    worker_config_.scheduler.admission.preemption_gates = true;
    worker_config_.workloads.lifecycle.preemption_gates = true;
    start_all({"east", "west"}, std::move(hub));
    for (auto& [name, worker] : workers_) {
      ASSERT_TRUE(worker.cluster->patch(
          api::ClusterQueue::resource, api::ObjectKey("cq"),
          R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
      ASSERT_TRUE(worker.cluster->apply(job_yaml("low", 4)));
    }
    settle();
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\n"
        "metadata: {name: high}\nvalue: 10\n");
    for (auto& [name, worker] : workers_) worker.cluster->server().faults().latency = latency;
    std::string urgent = remote_job_yaml("urgent");
    const std::string queue = "kueue.x-k8s.io/queue-name: main";
    apply(
        urgent.insert(urgent.find(queue) + queue.size(), ", kueue.x-k8s.io/priority-class: high"));
  }
  bool preempted_on(const std::string& worker) {
    const auto all = workers_.at(worker).cluster->list<api::Workload>("default");
    return std::any_of(all.begin(), all.end(), [](const api::Workload& w) {
      return w.metadata.controller() && w.metadata.controller()->name == "low" &&
             api::is_true(w.status.conditions, "Preempted");
    });
  }
  api::Workload copy_on(const std::string& worker) {
    const auto copy =
        workers_.at(worker).cluster->get<api::Workload>(workload_of("urgent")->metadata.key());
    return copy ? *copy : api::Workload();
  }
  std::string blocked_on(const std::string& worker) {
    return condition(copy_on(worker).status.conditions, "BlockedOnPreemptionGates");
  }
  void until_won() {
    until("won", [&] { return workload_of("urgent")->status.cluster_name.has_value(); }, 15s);
  }
};

TEST_F(FullWorkers, OneMayPreempt) {
  start({});
  until("one preempts", [&] { return preempted_on("east") || preempted_on("west"); }, 15s);
  const std::string first = preempted_on("east") ? "east" : "west";
  const std::string other = first == "east" ? "west" : "east";
  until("the other one would too", [&] { return blocked_on(other).starts_with("True"); }, 2s);
  EXPECT_EQ(blocked_on(other),
            "True PreemptionGated: Workload requires preemption, but it's gated");
  for (const std::string& name : {first, other}) {
    const api::Workload copy = copy_on(name);
    EXPECT_EQ(copy.spec.preemption_gates, std::vector<std::string>{"kueue.x-k8s.io/multikueue"});
    ASSERT_EQ(copy.status.preemption_gates.size(), 1U);
    EXPECT_EQ(copy.status.preemption_gates[0].position, name == first ? "Open" : "Closed");
  }
  until_won();
  EXPECT_FALSE(preempted_on(other));
}

TEST_F(FullWorkers, OneMayPreemptAlsoWhileTheHubStillOpensItsGate) {
  manager::CoreConfig hub;
  hub.dispatch.plan.head_start = 0ms;  // both say at the same time that they would have to preempt
  start(std::move(hub), 100ms);
  until_won();
  EXPECT_NE(preempted_on("east"), preempted_on("west"));
}

TEST_F(Federation, AWorkerThatRefusesCopiesKeepsNoJobFromTheOthers) {
  manager::CoreConfig hub;
  hub.dispatch.plan.head_start = 100ms;
  start_all({"east", "west"}, std::move(hub));
  std::string queue = std::string("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---") +
                      local_queue_yaml;
  queue.replace(queue.find("default"), 7, "team");
  apply(queue);
  ASSERT_TRUE(workers_.at("west").cluster->apply(queue));  // east does not have the namespace
  settle();
  constexpr int jobs = 8;  // some of them would go to east first
  for (int i = 0; i < jobs; ++i) {
    std::string yaml = remote_job_yaml("j" + std::to_string(i));
    apply(yaml.replace(yaml.find("default"), 7, "team"));
  }
  const auto on_west = [&] {
    return workers_.at("west").cluster->list<api::Workload>("team").size();
  };
  until("west has all", [&] { return on_west() == jobs; }, 5s);
  EXPECT_GT(manager_->remote_requests["east"].count("create", "workloads"), 0);
}

TEST_F(Federation, ACheckOrConfigThatComesLaterWakesTheWaiting) {
  for (const char* name : {"east", "west"}) add_worker(name);
  configure_hub();
  const api::ObjectKey all("all");
  ASSERT_TRUE(
      cluster_.patch(api::MultiKueueConfig::resource, all, R"({"spec":{"clusters":["west"]}})"));
  start_manager();
  start_worker("east");  // the listed worker admits nothing
  settle();
  apply(remote_job_yaml("j"));
  settle();
  EXPECT_EQ(held_by("west"), "workloads 1, jobs 0");
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, all,
                             R"({"spec":{"clusters":["west","east"]}})"));
  settle(1s);
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 1");
  EXPECT_EQ(held_by("west"), "workloads 0, jobs 0");
  // The worker is no longer listed: the Workload is taken back and goes to the other one.
  start_worker("west");
  ASSERT_TRUE(
      cluster_.patch(api::MultiKueueConfig::resource, all, R"({"spec":{"clusters":["west"]}})"));
  settle();
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  EXPECT_EQ(held_by("west"), "workloads 1, jobs 1");
}

TEST_F(Federation, AManagerThatStopsAnywhereIsReplacedWithoutLoss) {
  start_all({"east", "west"});
  for (int i = 0; i < 6; ++i) apply(remote_job_yaml("j" + std::to_string(i)));
  // Each manager lives a little longer than the last, and dies in the middle of something.
  for (int life = 1; life <= 12; ++life) {
    manager_.reset();
    manager_.emplace(cluster_, network_);
    manager_->faults().delay_min = manager_->faults().delay_max = 7ms;
    settle(Duration(life * 9));
  }
  manager_->faults().delay_min = manager_->faults().delay_max = 0ms;
  until(
      "all finished",
      [&] {
        for (int i = 0; i < 6; ++i) {
          if (condition_of("j" + std::to_string(i), "Finished").empty()) return false;
        }
        return true;
      },
      10min);
  settle(2min);
  for (const char* name : {"east", "west"}) EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
}

TEST_F(Federation, ThirtyJobsStayWithinTheBudgetOfWrites) {
  start_all({"east", "north", "west"});
  manager_->requests.clear();
  manager_->remote_requests.clear();
  for (auto& [name, worker] : workers_) {
    worker.manager->requests.clear();
    worker.nodes->requests.clear();
  }
  const int jobs = 30;
  for (int i = 0; i < jobs; ++i) apply(remote_job_yaml("j" + std::to_string(i)));
  until(
      "all finished",
      [&] {
        int finished = 0;
        for (const auto& workload : manager_->core().local().workloads.list()) {
          finished += api::is_true(workload->status.conditions, "Finished") ? 1 : 0;
        }
        return finished == jobs;
      },
      20min);
  settle();
  RequestCounts hub = manager_->requests, on_workers;
  std::cout << "hub: " << manager_->requests.str() << "\n";
  int worker_writes = 0, worker_gets = 0, conflicts = manager_->requests.conflicts();
  for (const auto& [name, worker] : workers_) {
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
    const RequestCounts& mine = manager_->remote_requests[name];
    worker_writes += mine.writes() + worker.manager->requests.writes();
    worker_gets += mine.count("get") + worker.manager->requests.count("get");
    conflicts += mine.conflicts() + worker.manager->requests.conflicts();
    std::cout << name << "\n  from the hub: " << mine.str()
              << "\n  its manager: " << worker.manager->requests.str()
              << "\n  its nodes: " << worker.nodes->requests.str() << "\n";
  }
  std::cout << "writes for each workload: hub " << double(hub.writes()) / jobs << ", workers "
            << double(worker_writes) / jobs << "\n";
  // With events. Less than one write more for every other job fails.
  EXPECT_LE(2 * hub.writes(), 17 * jobs);
  EXPECT_LE(worker_writes, 14 * jobs);
  EXPECT_EQ(hub.count("get"), 0);
  EXPECT_EQ(worker_gets, 0);
  EXPECT_EQ(conflicts, 0);
}

}  // namespace
}  // namespace regatta::test_support
