#include "lib/base/base64.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A worker that the hub has under two names: the kubeconfig of `north` leads to `east`.
class TwoNames : public Federation {
 protected:
  void start(std::vector<std::string> names) {
    start_all(std::move(names));
    for (const auto& [name, worker] : workers_) give(name, "100");
    settle();
  }
  void add_north() {
    apply(TestConnector::member_yaml("north"));
    lead("north", "east");
    list("east, north");
    settle();
  }
  void list(const std::string& names) {
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: all}\n"
        "spec: {clusters: [" +
        names + "]}");
  }
  void lead(const std::string& name, const std::string& worker) {
    ASSERT_TRUE(cluster_.patch(api::Secret::resource, {"kueue-system", name},
                               R"({"data":{"kubeconfig":")" +
                                   base64_encode(TestConnector::kubeconfig(worker)) + R"("}})"));
  }
  std::string uid_on(const std::string& name, const std::string& job) {
    const auto found = worker(name).get<api::Job>(key(job));
    return found ? found->metadata.uid : "no job";
  }
  void run_on_east() {
    apply(lasting_job_yaml("j0"));
    until("runs", [&] { return job("j0").status.active == 1; });
    ASSERT_EQ(workload_of("j0")->status.cluster_name, "east");
    uid_ = uid_on("east", "j0");
  }
  void expect_untouched() {
    EXPECT_EQ(uid_on("east", "j0"), uid_);
    EXPECT_EQ(held_by("east"), "workloads 1, jobs 1");
    EXPECT_EQ(workload_of("j0")->status.cluster_name, "east");
    EXPECT_EQ(job("j0").status.active, 1);
  }
  std::string told_of(const std::string& name) {
    const auto cluster = cluster_.get<api::MultiKueueCluster>(api::ObjectKey(name));
    return cluster ? condition(cluster->status.conditions, "SameCluster") : "no such cluster";
  }

  std::string uid_;
};

TEST_F(TwoNames, AJobThatRunsIsLeftAloneWhenItsWorkerGetsASecondName) {
  start({"east"});
  run_on_east();
  add_north();
  settle(10min);
  expect_untouched();
  EXPECT_THAT(told_of("north"), StartsWith("True OtherName"));
  EXPECT_THAT(told_of("north"), HasSubstr("\"east\""));
  EXPECT_EQ(told_of("east"), "");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey("north")));
  settle(10min);
  expect_untouched();
}

/// An older version does not note through which name it made an object.
TEST_F(TwoNames, AnObjectThatDoesNotSayItBelongsToTheRecordedName) {
  start({"east"});
  run_on_east();
  const char* const forget =
      R"({"metadata":{"annotations":{"multikueue.regatta.dev/worker":null}}})";
  ASSERT_TRUE(worker("east").patch(api::Job::resource, key("j0"), forget));
  ASSERT_TRUE(
      worker("east").patch(api::Workload::resource, workload_of("j0")->metadata.key(), forget));
  add_north();
  settle(10min);
  expect_untouched();
  EXPECT_THAT(told_of("north"), HasSubstr("\"east\""));
}

TEST_F(TwoNames, AndWhenTheHubIsStartedWhileTheFirstNameLeadsNowhere) {
  start({"east"});
  run_on_east();
  manager_.reset();
  add_north();
  lead("east", "nowhere");
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_on("east", "j0"), uid_);
  EXPECT_EQ(workload_of("j0")->status.cluster_name, "east");
  EXPECT_THAT(told_of("north"), StartsWith("True OtherName"));
  lead("east", "east");
  settle(5min);
  expect_untouched();
}

TEST_F(TwoNames, ACopyThatTheRecordedNameCannotReadYetIsLeftAlone) {
  start({"east"});
  run_on_east();
  const api::ObjectKey copy = workload_of("j0")->metadata.key();
  accept_newer(worker("east"), api::Workload::resource);
  const Json sound = worker("east").get(api::Workload::resource, copy).at("status");
  make_unreadable(worker("east"), copy);
  manager_.reset();
  network_.add("again", worker("east"));
  apply(TestConnector::member_yaml("north"));
  lead("north", "again");
  list("east, north");
  start_manager();
  settle();
  network_.faults("east").half_open_watch = 1;  // what happens is told by the second name alone
  const Json conditions = {{"status", {{"conditions", sound.at("conditions")}}}};
  ASSERT_TRUE(worker("east").patch(api::Workload::resource, copy, dump_json(conditions), "status"));
  settle(1min);
  expect_untouched();
}

TEST_F(TwoNames, ACopyThatItsOwnNameDoesNotShowYetDoesNotWin) {
  start({"east"});
  network_.add("again", worker("east"));
  apply(TestConnector::member_yaml("north"));
  lead("north", "again");
  list("east, north");
  settle();
  // Neither the answer nor the watch tell the first name of its copy. The second one makes none.
  network_.faults("east").half_open_watch = network_.faults("east").lose_reply = 1;
  network_.faults("again").concerns = [](const net::HttpRequest& request) {
    return request.method == "POST";
  };
  network_.faults("again").drop_before = 1;
  apply(lasting_job_yaml("j0"));
  settle(20s);
  EXPECT_NE(workload_of("j0")->status.cluster_name, "north");
}

/// That name takes it for a leftover and asks for its removal, which reaches the worker late.
TEST_F(TwoNames, ACopyThatTheOtherNameShowedFirstStaysOnceItsJobRuns) {
  start({"east"});
  network_.add("again", worker("east"));
  apply(TestConnector::member_yaml("north"));
  lead("north", "again");
  list("east, north");
  settle();
  network_.faults("east").delay_min = network_.faults("east").delay_max = 2s;
  std::vector<std::string> removals;
  network_.faults("again").concerns = [&removals](const net::HttpRequest& request) {
    if (request.method == "DELETE") removals.push_back(request.body);
    return request.method == "POST" || request.method == "DELETE";
  };
  network_.faults("again").drop_before = 1;
  run_on_east();
  ASSERT_FALSE(removals.empty());
  for (const std::string& removal : removals) {
    const Json preconditions = parse_json(removal).value().at("preconditions");
    kube::DeleteOptions options;
    options.uid = preconditions.at("uid").get<std::string>();
    options.resource_version = preconditions.value("resourceVersion", "");
    (void)run(world_, worker("east").admin().remove<api::Workload>(
                          workload_of("j0")->metadata.key(), options));
  }
  settle(1min);
  expect_untouched();
}

TEST_F(TwoNames, NewJobsRunOnceToTheirEnd) {
  start({"east"});
  add_north();
  for (const char* name : {"j0", "j1", "j2"}) apply(remote_job_yaml(name));
  until("all run", [&] { return worker("east").list<api::Job>("default").size() == 3; });
  settle();
  for (const char* name : {"j0", "j1", "j2"}) {
    until("ended", [&] { return condition_of(name, "Finished").starts_with("True Succeeded"); });
  }
  const int created = manager_->remote_requests["east"].count("create", "jobs") +
                      manager_->remote_requests["north"].count("create", "jobs");
  EXPECT_EQ(created, 3);
  until("clean", [&] { return held_by("east") == "workloads 0, jobs 0"; });
}

TEST_F(TwoNames, OnceTheNameThatAJobWasSentToIsGoneTheOtherOneRemovesItBeforeItStartsElsewhere) {
  start({"east", "west"});
  add_north();
  list("north");
  settle(10min);  // nothing was ever sent to the other name
  apply(lasting_job_yaml("j0"));
  until("runs", [&] { return job("j0").status.active == 1; });
  ASSERT_EQ(workload_of("j0")->status.cluster_name, "north");
  worker("east").set_stop_policy("Hold");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey("north")));
  list("east, west");
  until("its quota is free",
        [&] { return !condition_of("j0", "QuotaReserved").starts_with("True"); });
  EXPECT_EQ(uid_on("east", "j0"), "no job");
  until("starts on the other", [&] { return uid_on("west", "j0") != "no job"; });
  EXPECT_EQ(uid_on("east", "j0"), "no job");
}

/// What is left where a name led before is no other name's.
TEST_F(TwoNames, NamesThatAreExchangedLeaveNothingBehind) {
  start({"east", "west"});
  worker("west").set_stop_policy("Hold");
  settle();
  run_on_east();
  lead("east", "west");
  lead("west", "east");
  until("gone", [&] { return uid_on("east", "j0") != uid_; });
  worker("west").set_stop_policy("None");
  until("runs again",
        [&] { return job("j0").status.active == 1 && workload_of("j0")->status.cluster_name; });
  settle();
  EXPECT_EQ(worker("east").list<api::Job>("default").size() +
                worker("west").list<api::Job>("default").size(),
            1U);
  EXPECT_EQ(told_of("east"), "");
  EXPECT_EQ(told_of("west"), "");
}

}  // namespace
}  // namespace regatta::test_support
