#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Three workers with room for everything. `east` misbehaves.
class BadWorkers : public Federation {
 protected:
  void start(manager::CoreConfig hub = {}) {
    start_all({"east", "north", "west"}, std::move(hub));
    for (const auto& [name, worker] : workers_) give(name, "100");
    settle();
    manager_->requests.clear();
    manager_->remote_requests.clear();
  }
  /// Workers that are lost for longer are given up.
  void start_with_grace(Duration grace) {
    manager::CoreConfig hub;
    hub.dispatch.plan.worker_lost_timeout = grace;
    start(std::move(hub));
  }
  void stop_all_but_east() {
    for (const char* name : {"north", "west"}) {
      workers_.at(name).cluster->set_stop_policy("Hold");
    }
  }
  void let_admit(const std::string& name) { worker(name).set_stop_policy("None"); }
  /// Writes to that plural in the namespace of the jobs.
  static auto posts_to(const std::string& plural) {
    return [plural](const net::HttpRequest& request) {
      return request.method == "POST" && request.target.find("/" + plural) != std::string::npos;
    };
  }
  /// From now on the worker does not answer a request to delete a job.
  void keep_jobs(const std::string& worker) {
    network_.faults(worker).concerns = [](const net::HttpRequest& request) {
      return request.method == "DELETE" && request.target.find("/jobs/") != std::string::npos;
    };
    network_.faults(worker).hang_before = 1;
  }
  void until_its_removal_is_told() {
    until(
        "told", [&] { return condition_of("j0", "Dispatched").starts_with("False WaitingFor"); },
        2min);
  }
  void submit(int jobs) {
    for (int i = 0; i < jobs; ++i) apply(lasting_job_yaml("j" + std::to_string(i)));
  }
  /// Starts `j0` and returns the name of its worker.
  std::string run_one_job() {
    submit(1);
    until("runs", [&] { return all_jobs() == 1; });
    settle();
    return *workload_of("j0")->status.cluster_name;
  }
  bool is_on(const std::string& worker) { return workload_of("j0")->status.cluster_name == worker; }
  /// The watches of the worker with the job `j0` break at once, and so do the attempts to open them
  /// again. Each turn is another one.
  void cut(const std::string& worker, const std::string& turn) {
    network_.faults(worker).drop_before = network_.faults(worker).cut_watch = 1;
    ASSERT_TRUE(workers_.at(worker).cluster->patch(
        api::Job::resource, key("j0"), R"({"metadata":{"labels":{"turn":")" + turn + R"("}}})"));
  }
  void mend(const std::string& worker) {
    network_.faults(worker).drop_before = network_.faults(worker).cut_watch = 0;
  }
  int jobs_on(const std::string& worker) {
    return int(workers_.at(worker).cluster->list<api::Job>("default").size());
  }
  /// Jobs with such a name on the workers other than `east`.
  int named(const std::string& prefix) {
    int count = 0;
    for (const char* name : {"north", "west"}) {
      for (const api::Job& job : worker(name).list<api::Job>("default")) {
        count += job.metadata.name.starts_with(prefix) ? 1 : 0;
      }
    }
    return count;
  }
  int all_jobs() { return jobs_on("east") + jobs_on("north") + jobs_on("west"); }
  int recorded_on(const std::string& worker) {
    int count = 0;
    for (const auto& workload : manager_->core().local().workloads.list()) {
      count += workload->status.cluster_name.value_or("") == worker ? 1 : 0;
    }
    return count;
  }
  /// `few` jobs run on `east` and `many` on `west`, and from now on plans are counted.
  void run_few_and_many(int few, int many) {
    manager::CoreConfig hub;
    hub.dispatch.planner = [this](const auto& group, TimePoint now, const auto& config) {
      ++plans_;
      return dispatch::plan(group, now, config);
    };
    start(std::move(hub));
    stop_all_but_east();
    settle();
    submit(few);
    until("few run", [&] { return jobs_on("east") == few; });
    let_admit("west");
    worker("east").set_stop_policy("Hold");
    for (int i = 0; i < many; ++i) apply(lasting_job_yaml("w" + std::to_string(i)));
    until("many run", [&] { return jobs_on("west") == many; });
    settle(2min);
    plans_ = 0;
  }
  int losses() { return manager_->requests.count("patch", "multikueueclusters/status"); }

  int plans_ = 0;
};

TEST_F(BadWorkers, OneThatHangsOnTheCreationOfJobsDelaysNoJobOfTheOthers) {
  start();
  network_.faults("east").concerns = posts_to("jobs");
  network_.faults("east").hang_before = 1;
  constexpr int jobs = 99;  // a third is for each worker, as chance has it
  submit(jobs);
  const auto recorded = [&] {
    return recorded_on("east") + recorded_on("north") + recorded_on("west");
  };
  until("all are recorded", [&] { return recorded() == jobs; }, 3s);
  const int elsewhere = jobs - recorded_on("east");
  EXPECT_GE(recorded_on("east"), 17) << "more than there are coroutines that dispatch";
  EXPECT_GE(elsewhere, 40);
  until(
      "those of the others run", [&] { return jobs_on("north") + jobs_on("west") == elsewhere; },
      2s);
  EXPECT_EQ(jobs_on("east"), 0);
  EXPECT_EQ(losses(), 0) << "its watches live";
  network_.faults("east").hang_before = 0;
  until("all run", [&] { return jobs_on("east") == recorded_on("east"); }, 2min);
}

TEST_F(BadWorkers, OneThatHangsOnRemovalsDelaysNoJobOfTheOthers) {
  start();
  constexpr int jobs = 99;
  submit(jobs);
  until("all run", [&] { return all_jobs() == jobs; });
  settle();
  const int kept = jobs_on("east");
  ASSERT_GE(kept, 17) << "more than there are coroutines that dispatch";
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "DELETE";
  };
  network_.faults("east").hang_before = 1;
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  for (int i = 0; i < jobs; ++i) {
    ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j" + std::to_string(i)), background));
    (void)cluster_.remove(api::Workload::resource,
                          workload_of("j" + std::to_string(i))->metadata.key());
  }
  worker("east").set_stop_policy("Hold");
  for (int i = 0; i < 20; ++i) apply(lasting_job_yaml("late" + std::to_string(i)));
  until("the others run the next", [&] { return named("late") == 20; }, 3s);
  EXPECT_EQ(jobs_on("east"), kept);
  network_.faults("east").hang_before = 0;
  until("nothing is left", [&] { return jobs_on("east") == 0; }, 2min);
}

TEST_F(BadWorkers, OneThatIsLostOrComesBackMakesNothingOfTheOthersPlannedAnew) {
  run_few_and_many(2, 60);
  cut("east", "1");
  until("lost", [&] { return !manager_->core().fleet().find("east")->ready(); });
  settle();
  mend("east");
  until("back", [&] { return manager_->core().fleet().find("east")->ready(); });
  settle();
  EXPECT_GE(plans_, 4);
  EXPECT_LT(plans_, 60);
}

TEST_F(BadWorkers, WhetherACheckIsActiveMakesNothingPlannedAnew) {
  run_few_and_many(1, 20);
  const auto told = [&](const char* message) {
    const std::string condition = std::string(R"({"type":"Told","status":"True","reason":"R",
      "lastTransitionTime":"2026-01-01T00:00:00Z","message":")") +
                                  message + R"("})";
    ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("mk"),
                               R"({"status":{"conditions":[)" + condition + "]}}", "status"));
    settle();
  };
  told("a");
  told("b");
  EXPECT_EQ(plans_, 0);
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("mk"),
                             R"({"metadata":{"annotations":{"looked":"at"}}})"));
  settle();
  EXPECT_GE(plans_, 21);
}

// The request may still arrive, so the job would run twice.
TEST_F(BadWorkers, OneThatMayStillCreateAJobKeepsItFromTheNextWinner) {
  start();
  stop_all_but_east();
  settle();
  network_.faults("east").concerns = posts_to("jobs");
  network_.faults("east").hang_before = 1;
  submit(1);
  until("recorded", [&] { return recorded_on("east") == 1; });
  let_admit("west");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"),
                             R"({"spec":{"clusters":["north","west"]}})"));
  settle(9s);
  EXPECT_EQ(jobs_on("west"), 0) << "the request to the first winner may still arrive";
  until("running elsewhere", [&] { return jobs_on("west") == 1; }, 30s);
}

// The plan is not the last to look: another worker may have come back since it was made.
TEST_F(BadWorkers, OneThatIsSeenToHaveTheJobKeepsItFromStartingElsewhereWhateverIsPlanned) {
  bool waits = true, unseen = true;
  int planned = 0;
  manager::CoreConfig hub;
  hub.dispatch.planner = [&](dispatch::GroupView group, TimePoint now, const auto& config) {
    const auto east = group.clusters.find("east");
    if (unseen && east != group.clusters.end()) east->second.job = dispatch::RemoteJob::absent;
    dispatch::Plan plan = dispatch::plan(group, now, config);
    std::erase_if(plan.actions, [&](const dispatch::Action& action) {
      const bool starts = std::holds_alternative<dispatch::CreateJob>(action);
      if (starts && !waits) ++planned;
      return starts && waits;
    });
    return plan;
  };
  start(std::move(hub));
  worker("east").set_stop_policy("Hold");
  worker("north").set_stop_policy("Hold");
  submit(1);
  until("it is to start", [&] { return recorded_on("west") == 1; });
  settle();
  std::string there = lasting_job_yaml("j0");
  const std::string first = "labels: {";
  there.insert(there.find(first) + first.size(),
               "kueue.x-k8s.io/multikueue-origin: multikueue, "
               "kueue.x-k8s.io/prebuilt-workload-name: " +
                   workload_of("j0")->metadata.name + ", ");
  ASSERT_TRUE(worker("east").apply(there));
  settle(1s);
  const auto look = [&](const char* turn) {
    const std::string labels = R"({"metadata":{"labels":{"turn":")" + std::string(turn) + R"("}}})";
    ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j0"), labels));
  };
  waits = false;
  look("1");
  settle(20s);
  EXPECT_GT(planned, 0);
  EXPECT_EQ(jobs_on("west"), 0);
  unseen = false;
  look("2");
  until("it runs", [&] { return jobs_on("west") == 1; }, 2min);
  EXPECT_EQ(jobs_on("east"), 0);
}

/// It has the job, and neither the answer nor a watch says so.
TEST_F(BadWorkers, OneThatHasAJobThatWasNeverSeenLosesItBeforeTheNextWinnerStarts) {
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return follows_jobs(request) || posts_to("jobs")(request);
  };
  start();
  stop_all_but_east();
  settle();
  network_.faults("east").lose_reply = network_.faults("east").half_open_watch = 1;
  submit(1);
  until("it has the job", [&] { return jobs_on("east") == 1; });
  let_admit("west");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"),
                             R"({"spec":{"clusters":["north","west"]}})"));
  until("it runs elsewhere", [&] { return jobs_on("west") == 1; }, 5min);
  EXPECT_EQ(jobs_on("east"), 0);
}

TEST_F(BadWorkers, OneThatRefusesOneKindOfWriteIsNotLost) {
  start();
  network_.faults("east").concerns = posts_to("workloads");
  network_.faults("east").server_error = 1;
  submit(12);
  until("all run elsewhere", [&] { return jobs_on("north") + jobs_on("west") == 12; }, 5s);
  settle(60s);
  EXPECT_EQ(losses(), 0);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
  EXPECT_EQ(manager_->remote_requests["east"].count("list"), 0) << "there is no reason to ask";
}

TEST_F(BadWorkers, CopiesThatNoneOfThemTakesAreTold) {
  start();
  for (const char* name : {"east", "north", "west"}) {
    network_.faults(name).concerns = posts_to("workloads");
    network_.faults(name).server_error = 1;
  }
  submit(1);
  settle(2min);
  EXPECT_THAT(condition_of("j0", "Dispatched"),
              StartsWith("False NoWorkerAccepts: No worker cluster that is asked takes the "
                         "workload; \"east\" says: "));
  network_.faults("west").server_error = 0;
  until("it is taken", [&] { return jobs_on("west") == 1; }, 2min);
  EXPECT_EQ(condition_of("j0", "Dispatched"),
            "True Dispatched: Dispatched to worker cluster \"west\"");
}

TEST_F(BadWorkers, ACopyThatIsStoppedAsSoonAsItIsMadeIsMadeLessAndLessOften) {
  start();
  for (const char* name : {"north", "west"}) network_.faults(name).partitioned = true;
  workers_.at("east").manager.reset();
  submit(1);
  int made = 0;
  std::string last;
  const auto stop_copy = [&] {
    for (const api::Workload& copy : worker("east").list<api::Workload>("default")) {
      if (copy.metadata.uid == last) continue;
      ++made;
      last = copy.metadata.uid;
      ASSERT_TRUE(worker("east").patch(
          api::Workload::resource, copy.metadata.key(),
          R"({"status":{"conditions":[{"type":"DeactivationTarget","status":"True","message":"",
              "reason":"AdmissionCheck","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
          "status"));
    }
  };
  for (Duration passed{0}; passed < 2min; passed += 20ms) {
    settle(20ms);
    stop_copy();
  }
  EXPECT_GE(made, 3);
  EXPECT_LE(made, 15);
  EXPECT_THAT(condition_of("j0", "Dispatched"), StartsWith("False NoWorkerAccepts"));
}

TEST_F(BadWorkers, AWriteThatIsRefusedIsRepeatedLessAndLessOften) {
  start();
  stop_all_but_east();
  settle();
  network_.faults("east").concerns = posts_to("jobs");
  network_.faults("east").server_error = 1;
  submit(1);
  settle(5min);
  EXPECT_EQ(recorded_on("east"), 1);
  EXPECT_EQ(losses(), 0);
  EXPECT_GE(manager_->remote_requests["east"].count("create", "jobs"), 8);
  EXPECT_LE(manager_->remote_requests["east"].count("create", "jobs"), 18);
  EXPECT_LE(manager_->requests.count("patch", "workloads/status"), 4)
      << "no nominations in between";
  network_.faults("east").server_error = 0;
  until("runs", [&] { return jobs_on("east") == 1; }, 70s);
}

// It may as well keep for itself what is to be deleted.
TEST_F(BadWorkers, OneThatKeepsAJobIsTold) {
  start();
  stop_all_but_east();
  settle();
  submit(1);
  until("runs", [&] { return jobs_on("east") == 1; });
  settle(5s);
  network_.faults("east").concerns = [](const net::HttpRequest& request) {
    return request.method == "DELETE" && request.target.find("/jobs/") != std::string::npos;
  };
  network_.faults("east").server_error = 1;
  cluster_.set_local_stop_policy("HoldAndDrain");
  settle(30s);
  cluster_.set_local_stop_policy("None");
  until_its_removal_is_told();
  EXPECT_EQ(condition_of("j0", "Dispatched"),
            "False WaitingForRemoval: The job is still on worker cluster \"east\", which was asked "
            "to delete it; it starts nowhere else before it is gone");
  network_.faults("east").server_error = 0;
  until("runs again", [&] { return recorded_on("east") == 1 && jobs_on("east") == 1; });
}

// A controller there may hold the job by a finalizer.
TEST_F(BadWorkers, OneWhereAFinalizerHoldsAJobIsTold) {
  start();
  stop_all_but_east();
  settle();
  const std::string host = run_one_job();
  const auto hold = [&](const std::string& finalizers) {
    ASSERT_TRUE(worker(host).patch(api::Job::resource, key("j0"),
                                   R"({"metadata":{"finalizers":[)" + finalizers + "]}}"));
  };
  hold(R"("example.dev/held")");
  cluster_.set_local_stop_policy("HoldAndDrain");
  settle(30s);
  let_admit("north");
  worker("east").set_stop_policy("Hold");
  cluster_.set_local_stop_policy("None");
  until_its_removal_is_told();
  EXPECT_EQ(condition_of("j0", "Dispatched"),
            "False WaitingForRemoval: The job is still being deleted on worker cluster \"east\"; "
            "finalizers or pods may hold it");
  settle(10min);
  EXPECT_EQ(jobs_on("north"), 0);
  hold("");
  until("runs elsewhere", [&] { return jobs_on("north") == 1; });
  EXPECT_EQ(all_jobs(), 1);
}

// Where few are nominated at a time, the others would wait for the next round.
TEST_F(BadWorkers, OneThatIsLostGivesItsPlaceAmongTheNominatedToTheNext) {
  manager::CoreConfig hub;
  hub.dispatch.plan.nomination.dispatcher = placement::Dispatcher::incremental;
  hub.dispatch.plan.nomination.step_size = 1;
  start(std::move(hub));
  for (const auto& [name, there] : workers_) there.cluster->set_stop_policy("Hold");
  settle();
  submit(1);
  settle(10s);
  const auto nominated = [&] { return workload_of("j0")->status.nominated_cluster_names; };
  ASSERT_THAT(nominated(), testing::ElementsAre("east"));
  let_admit("north");
  network_.faults("east").drop_before = network_.faults("east").cut_watch = 1;
  ASSERT_TRUE(worker("east").patch(api::Workload::resource, workload_of("j0")->metadata.key(),
                                   R"({"metadata":{"labels":{"turn":"1"}}})"));
  until("runs on the next", [&] { return jobs_on("north") == 1; }, 30s);
  EXPECT_THAT(nominated(), testing::IsEmpty()) << "as always when a worker has won";
}

// What an earlier attempt has left there is no business of the worker that runs the job now.
TEST_F(BadWorkers, OneThatDoesNotAnswerARemovalKeepsNothingFromTheHub) {
  start_with_grace(60s);
  stop_all_but_east();
  settle();
  apply(lasting_job_yaml("j0", 300));
  until("runs", [&] { return jobs_on("east") == 1; });
  settle();
  cut("east", "1");
  let_admit("north");
  until("runs elsewhere", [&] { return jobs_on("north") == 1; }, 2min);
  settle();
  keep_jobs("east");
  mend("east");
  until("back", [&] { return manager_->core().fleet().find("east")->ready(); });
  const auto ended = [](const api::Job& job) {
    return api::is_true(job.status.conditions, "Complete");
  };
  const auto ended_there = [&] {
    const auto copy = worker("north").get<api::Job>(key("j0"));
    return !copy || ended(*copy);
  };
  until("it ended", ended_there, 6min);
  until("the hub says so", [&] { return ended(job("j0")); }, 3s);
  EXPECT_EQ(jobs_on("east"), 1);
  EXPECT_THAT(condition_of("j0", "Finished"), StartsWith("True Succeeded"));
  network_.faults("east").hang_before = 0;
  until("nothing is left", [&] { return all_jobs() == 0; }, 2min);
}

// Two more requests tell that the job is gone. The watch is found to be dead only minutes later.
TEST_F(BadWorkers, OneWhoseWatchIsSilentDoesNotKeepARemovedJobFromTheNextWinner) {
  network_.faults("east").concerns = follows_jobs;
  start();
  stop_all_but_east();
  settle();
  submit(1);
  until("runs", [&] { return jobs_on("east") == 1; });
  settle();
  network_.faults("east").half_open_watch = 1;
  let_admit("west");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"),
                             R"({"spec":{"clusters":["north","west"]}})"));
  until("it is removed", [&] { return jobs_on("east") == 0; });
  until("it runs elsewhere", [&] { return jobs_on("west") == 1; }, 8s);
}

// The job is shown as it was created until then, as if its end had been lost there.
TEST_F(BadWorkers, OneWhoseWatchIsSilentIsAskedHowAJobEnded) {
  network_.faults("east").concerns = follows_jobs;
  start();
  stop_all_but_east();
  settle();
  network_.faults("east").half_open_watch = 1;
  apply(lasting_job_yaml("j0", 30));
  const auto ended_there = [&] {
    const auto copy = worker("east").get<api::Job>(key("j0"));
    return copy && copy->status.succeeded == 1;
  };
  until("it ended", ended_there, 1min);
  const auto told_there = worker("east").get<api::Job>(key("j0"))->status.completion_time;
  settle(10s);
  EXPECT_EQ(job("j0").status.active, 0) << "the hub does not know that it ran";
  EXPECT_EQ(condition_of("j0", "Finished"), "");
  until("the hub says so", [&] { return condition_of("j0", "Finished") != ""; }, 70s);
  EXPECT_EQ(job("j0").status.completion_time, told_there) << "it is not made up";
}

TEST_F(BadWorkers, FailuresOfAnEarlierAttemptAreNoReasonToEndTheNext) {
  start_with_grace(60s);
  stop_all_but_east();
  settle();
  network_.faults("east").concerns = posts_to("jobs");
  network_.faults("east").server_error = 1;
  constexpr int jobs = 10;
  submit(jobs);
  settle(20s);
  EXPECT_EQ(recorded_on("east"), jobs);
  const auto set_active = [&](const std::string& value) {
    for (const auto& workload : manager_->core().local().workloads.list()) {
      EXPECT_TRUE(cluster_.patch(api::Workload::resource, workload->metadata.key(),
                                 R"({"spec":{"active":)" + value + "}}"));
    }
  };
  set_active("false");
  until("all are evicted", [&] { return recorded_on("east") == 0; });
  network_.faults("east").server_error = 0;
  // Workloads have turns while their Jobs are being created, and reads overtake writes.
  network_.faults("east").delay_min = 1ms;
  network_.faults("east").delay_max = 400ms;
  settle(90s);
  set_active("true");
  until("all run", [&] { return jobs_on("east") == jobs; });
  settle(5s);
  EXPECT_EQ(jobs_on("east"), jobs);
  for (const auto& workload : manager_->core().local().workloads.list()) {
    EXPECT_EQ(condition(workload->status.conditions, "RefusedByWorkers"), "");
  }
}

TEST_F(BadWorkers, OneThatAsksForAPauseGetsIt) {
  start();
  network_.faults("east").concerns = posts_to("workloads");
  network_.faults("east").too_many = 1;  // try again in a second
  submit(1);
  settle(500ms);
  EXPECT_EQ(manager_->remote_requests["east"].count("create", "workloads"), 1);
  EXPECT_EQ(losses(), 0);
}

TEST_F(BadWorkers, OneThatIsSlowIsNotLost) {
  start();
  network_.faults("east").delay_min = 1500ms;
  network_.faults("east").delay_max = 2500ms;
  submit(30);
  settle(60s);
  EXPECT_EQ(losses(), 0);
  EXPECT_EQ(jobs_on("north") + jobs_on("west") + jobs_on("east"), 30);
}

TEST_F(BadWorkers, OneWithManyCopiesIsProbedByASmallAnswer) {
  start();
  stop_all_but_east();
  settle();
  submit(20);
  until("all run", [&] { return jobs_on("east") == 20; });
  settle();
  kube::NetworkFaults& faults = network_.faults("east");
  faults.body_max = 8u << 10;  // one copy fits, all of them do not
  faults.concerns = posts_to("workloads");
  faults.hang_before = 1;
  apply(lasting_job_yaml("more"));
  const int lists = manager_->remote_requests["east"].count("list", "workloads");
  for (int second = 0; second < 60; ++second) {
    settle(1s);
    ASSERT_EQ(member_condition("east"), "True Active: Connected") << "after " << second << " s";
  }
  EXPECT_GT(manager_->remote_requests["east"].count("list", "workloads"), lists) << "probed";
  EXPECT_EQ(losses(), 0);
}

TEST_F(BadWorkers, AnswersThatComeLateTakeNoHeadStartAway) {
  manager::CoreConfig hub;
  hub.dispatch.plan.head_start = 100ms;
  start(std::move(hub));
  for (const auto& [name, worker] : workers_) {
    network_.faults(name).concerns = posts_to("workloads");
    network_.faults(name).hang_reply = 1;
  }
  constexpr int jobs = 12;
  submit(jobs);
  const auto running = [&] { return jobs_on("east") + jobs_on("north") + jobs_on("west"); };
  until("all run", [&] { return running() == jobs; }, 5s);
  int removals = 0;
  for (auto& [name, requests] : manager_->remote_requests) {
    removals += requests.count("delete", "workloads");
  }
  EXPECT_EQ(removals, 0) << "the watch shows copies before the answers come";
}

TEST_F(BadWorkers, OneThatCannotBeReachedIsNoticedByTheFirstRequest) {
  start();
  network_.faults("east").partitioned = true;
  submit(1);
  until("lost", [&] { return member_condition("east").starts_with("False"); }, 10s);
  EXPECT_THAT(member_condition("east"), HasSubstr("ClientConnectionFailed"));
}

TEST_F(BadWorkers, OneThatComesAndGoesUsesUpItsGrace) {
  start_with_grace(120s);
  const std::string host = run_one_job();
  for (int turn = 0; turn < 6 && is_on(host); ++turn) {
    cut(host, std::to_string(turn));
    settle(50s);
    mend(host);
    settle(30s);
  }
  EXPECT_FALSE(is_on(host));
}

TEST_F(BadWorkers, AClockThatIsSetForwardTakesNothingOfTheGraceOfALostOne) {
  start_with_grace(120s);
  const std::string host = run_one_job();
  cut(host, "1");
  settle(20s);
  world_.step_wall(5min);
  settle(60s);
  EXPECT_TRUE(is_on(host));
  until("given up", [&] { return !is_on(host); }, 60s);
}

TEST_F(BadWorkers, AClockThatIsSetBackAddsNothingToIt) {
  start_with_grace(120s);
  const std::string host = run_one_job();
  cut(host, "1");
  settle(20s);
  world_.step_wall(-5min);
  until("given up", [&] { return !is_on(host); }, 120s);
}

TEST_F(BadWorkers, WhatOneHasSinceItCameBackHasItsWholeGrace) {
  start_with_grace(120s);
  stop_all_but_east();
  settle();
  submit(1);
  until("runs", [&] { return jobs_on("east") == 1; });
  settle();
  cut("east", "1");
  settle(60s);
  mend("east");
  until("back", [&] { return manager_->core().fleet().find("east")->ready(); });
  apply(lasting_job_yaml("later"));
  until("both run", [&] { return jobs_on("east") == 2; });
  settle(40s);
  cut("east", "2");
  settle(100s);
  mend("east");
  EXPECT_FALSE(workload_of("j0")->status.cluster_name) << "it was there all the time";
  EXPECT_EQ(workload_of("later")->status.cluster_name, "east");
  network_.faults("east").drop_before = 1;
  until("given up", [&] { return !workload_of("later")->status.cluster_name; });
}

TEST_F(BadWorkers, WhatWasPassedOverWhileOneWaveredIsDoneThen) {
  manager::CoreConfig hub;
  hub.dispatch.gc_interval = Duration(0);
  start(std::move(hub));
  submit(1);
  until("runs", [&] { return all_jobs() == 1; });
  settle();
  const std::string host = *workload_of("j0")->status.cluster_name;
  const auto& there = [&] { return manager_->core().fleet().find(host)->ready(); };
  cut(host, "1");
  until("lost", [&] { return member_condition(host).starts_with("False"); });

  // The hub notes that the worker is back. Until that has an answer it looks at no other news of
  // it.
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method == "PATCH" &&
           request.target.find("multikueueclusters") != std::string::npos;
  };
  manager_->faults().hang_before = 1;
  mend(host);
  until("back", there);
  settle(1s);
  cut(host, "2");
  until("it wavers", [&] { return !there(); });
  ASSERT_TRUE(cluster_.patch(
      api::Workload::resource, workload_of("j0")->metadata.key(),
      R"({"status":{"conditions":[{"type":"Finished","status":"True","reason":"Test","message":"",
          "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
      "status"));
  settle(1s);
  EXPECT_EQ(jobs_on(host), 1);
  mend(host);
  until("back again", there);
  manager_->faults().hang_before = 0;
  until("its job is removed", [&] { return jobs_on(host) == 0; });
}

TEST_F(BadWorkers, AJobThatIsInTheWayEverywhereIsTriedAgainInTime) {
  start();
  for (const auto& [name, worker] : workers_) {
    ASSERT_TRUE(worker.cluster->apply(job_yaml("j0", 1, "none")));
  }
  submit(1);
  settle(120s);
  ASSERT_TRUE(workload_of("j0"));
  EXPECT_FALSE(workload_of("j0")->status.cluster_name);
  EXPECT_TRUE(workload_of("j0")->status.nominated_cluster_names.empty());
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  for (const auto& [name, worker] : workers_) {
    ASSERT_TRUE(worker.cluster->remove(api::Job::resource, key("j0"), background));
  }
  settle(60s);
  until("runs", [&] { return all_jobs() == 1; }, dispatch::ForeignJobs::remembered);
}

}  // namespace
}  // namespace regatta::test_support
