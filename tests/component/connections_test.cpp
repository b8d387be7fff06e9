#include "lib/base/base64.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

/// A hub and the worker `east`, which can be reached and is not configured yet.
class Connections : public Federation {
 protected:
  void start() {
    add_worker("east");
    start_worker("east");
    configure_hub_for("east");
    start_manager();
  }
  void configure_hub_for(const std::string& name) {
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}");
    apply(TestConnector::member_yaml(name));
  }
  void expect_active(const char* how, Duration within = 60s) {
    until(how, [&] { return member_condition("east") == "True Active: Connected"; }, within);
  }
  /// Waits until the cluster is not Active, then returns the condition without the attempts.
  std::string problem() {
    until("inactive", [&] { return member_condition("east").starts_with("False"); }, 300s);
    const std::string all = member_condition("east");
    return all.substr(0, all.find("; connection attempts"));
  }
  void set_secret(const std::string& kubeconfig) {
    const std::string data = base64_encode(kubeconfig);
    const Status done =
        cluster_.patch(api::Secret::resource, {"kueue-system", "east"},
                       data.empty() ? R"({"data":{"kubeconfig":null,"other":"eA=="}})"
                                    : R"({"data":{"kubeconfig":")" + data + R"("}})");
    ASSERT_TRUE(done) << done.error().what();
    settle(1s);
  }
  void set_source(const std::string& json) {
    ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey("east"),
                               R"({"spec":{"clusterSource":)" + json + "}}"));
    settle(1s);
  }
};

TEST_F(Connections, AReachableWorkerIsActive) {
  start();
  expect_active("connected", 5s);
}

TEST_F(Connections, AMissingSecretIsNamedAndItsCreationConnects) {
  start();
  expect_active("connected");
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, {"kueue-system", "east"}));
  EXPECT_EQ(problem(), "False BadKubeConfig: load client config failed: Secret \"east\" not found");
  apply(TestConnector::member_yaml("east"));
  expect_active("connected again", 5s);
}

TEST_F(Connections, ASecretWithoutTheKeyIsNamed) {
  start();
  expect_active("connected");
  set_secret("");
  EXPECT_EQ(
      problem(),
      "False BadKubeConfig: load client config failed: key \"kubeconfig\" not found in secret "
      "\"east\"");
  set_secret(TestConnector::kubeconfig("east"));
  expect_active("connected again", 5s);
}

TEST_F(Connections, AnInsecureKubeconfigIsRefused) {
  start();
  expect_active("connected");
  std::string insecure = TestConnector::kubeconfig("east");
  insecure.replace(insecure.find("    server:"), 0, "    insecure-skip-tls-verify: true\n");
  set_secret(insecure);
  EXPECT_EQ(problem(),
            "False InsecureKubeConfig: load client config failed: insecure TLS verification is not "
            "allowed for cluster east");
  set_secret("{");
  EXPECT_THAT(problem(),
              StartsWith("False InsecureKubeConfig: load client config failed: failed to "
                         "parse kubeconfig(apiconfig): "));
  set_secret(TestConnector::kubeconfig("east"));
  expect_active("connected again", 5s);
}

TEST_F(Connections, PathsFollowTheRules) {
  start();
  expect_active("connected");
  const std::string file = "/etc/multikueue/kubeconfigs/east";
  const auto source = [](const std::string& path) {
    return R"({"kubeConfig":{"locationType":"Path","location":")" + path + R"("}})";
  };
  set_source(source("relative/east"));
  EXPECT_EQ(problem(),
            "False BadKubeConfig: load client config failed: kubeconfig path is not under the "
            "allowed prefix: path must be absolute");
  network_.files["/etc/passwd"] = "secret";
  set_source(source("/etc/passwd"));
  EXPECT_EQ(problem(),
            "False BadKubeConfig: load client config failed: kubeconfig path is not under the "
            "allowed prefix: \"/etc/passwd\" is not under \"/etc/multikueue/kubeconfigs\"");
  set_source(source(file));
  EXPECT_THAT(
      problem(),
      StartsWith("False BadKubeConfig: load client config failed: cannot resolve kubeconfig "
                 "path symlinks: "));
  // No event reports a new or changed file: the manager reads it again.
  network_.files[file] = TestConnector::kubeconfig("east");
  expect_active("connected by the file", 15s);
  network_.files[file] = TestConnector::kubeconfig("nowhere");
  EXPECT_THAT(problem(), StartsWith("False ClientConnectionFailed: "));
}

TEST_F(Connections, ClusterProfilesNeedTheirGate) {
  start();
  expect_active("connected");
  set_source(R"({"kubeConfig":null,"clusterProfileRef":{"name":"p"}})");
  EXPECT_EQ(problem(),
            "False MultiKueueClusterProfileFeatureDisabled: load client config failed: "
            "MultiKueueClusterProfile feature gate is disabled");
}

TEST_F(Connections, ARefusingWorkerIsTriedAgainWithoutAWriteForEachAttempt) {
  start();
  expect_active("connected");
  set_secret(TestConnector::kubeconfig("nowhere"));
  EXPECT_EQ(problem(), "False ClientConnectionFailed: workloads: connection refused");
  EXPECT_THAT(member_condition("east"),
              MatchesRegex(".*; connection attempts: [0-9]+, next connection attempt: "
                           "2026-01-01T00:[0-9:]+Z"));
  manager_->requests.clear();
  settle(10min);
  EXPECT_LE(manager_->requests.count("patch", "multikueueclusters/status"), 11);
  EXPECT_GE(manager_->requests.count("patch", "multikueueclusters/status"), 5);
  set_secret(TestConnector::kubeconfig("east"));
  expect_active("connected again", 2s);
}

TEST_F(Connections, AHangingWorkerIsInactiveAndComesBack) {
  start();
  expect_active("connected");
  network_.faults("east").partitioned = true;
  settle(1s);
  EXPECT_THAT(problem(), StartsWith("False ClientConnectionFailed: "));
  network_.faults("east").partitioned = false;
  expect_active("connected again");
}

TEST_F(Connections, AWorkerThatHoldsTooMuchIsInactiveAndTheConditionNamesTheSetting) {
  add_worker("east");
  start_worker("east");
  configure_hub_for("east");
  for (const std::string name : {"a", "b"}) {
    const std::string ours = ", kueue.x-k8s.io/multikueue-origin: multikueue";
    ASSERT_TRUE(workers_["east"].cluster->apply(job_yaml(name, 1, "none", "{}", ours)));
  }
  manager::CoreConfig config;
  config.worker_limits.objects_max = 1;
  config.worker_limits.setting = "multiKueue.workerLimits";
  start_manager(config);
  EXPECT_EQ(problem(),
            "False WorkerLimitExceeded: jobs: list of jobs.batch: more than 1 objects, see "
            "multiKueue.workerLimits.objects");
  ASSERT_TRUE(workers_["east"].cluster->patch(
      api::Job::resource, key("b"),
      R"({"metadata": {"labels": {"kueue.x-k8s.io/multikueue-origin": null}}})"));
  expect_active("the list is within the limit", 6min);
}

TEST_F(Connections, AWorkerThatAnswers500IsInactiveAndComesBack) {
  network_.faults("east").server_error = 1;
  start();
  EXPECT_THAT(problem(), StartsWith("False ClientConnectionFailed: workloads: "));
  network_.faults("east").server_error = 0;
  expect_active("connected again");
}

TEST_F(Connections, AWorkerWithoutTheDefinitionsIsInactiveUntilTheyCome) {
  workers_["east"].cluster = std::make_unique<TestCluster>(world_, "east");
  network_.add(*workers_["east"].cluster);
  configure_hub_for("east");
  start_manager();
  EXPECT_THAT(problem(), StartsWith("False ClientConnectionFailed: workloads: "));
  workers_["east"].cluster->apply_crds();
  expect_active("connected");
}

TEST_F(Connections, AKindThatMayNotBeReadMakesTheWorkerInactive) {
  add_worker("east");
  const auto role = [&](const std::string& resources) {
    ASSERT_TRUE(workers_.at("east").cluster->let_limited(
        "hub",
        "- {apiGroups: [kueue.x-k8s.io, batch], resources: [" + resources + "], verbs: ['*']}"));
  };
  role("workloads");
  apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}");
  apply(TestConnector::member_yaml("east", TestCluster::limited_token));
  start_manager();
  EXPECT_THAT(problem(),
              HasSubstr("jobs.batch is forbidden: User \"limited\" cannot list resource"));
  role("workloads, jobs");
  expect_active("connected");
}

TEST_F(Connections, NewCredentialsForTheSameServerLoseNothing) {
  start();
  expect_active("connected");
  settle();
  manager_->remote_requests.clear();
  set_secret(TestConnector::kubeconfig("east", TestCluster::other_manager_token));
  settle();
  const RequestCounts& requests = manager_->remote_requests["east"];
  EXPECT_EQ(requests.count("list", "workloads"), 1) << "the new ones are tried";
  EXPECT_EQ(requests.count("watch"), 0) << "the watches go on";
  EXPECT_EQ(requests.writes(), 0);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
}

TEST_F(Connections, NewCredentialsThatAreOfNoUseAreNoticedAtOnceAndBetterOnesToo) {
  start();
  expect_active("connected");
  set_secret(TestConnector::kubeconfig("east", TestCluster::limited_token));
  settle();
  EXPECT_THAT(member_condition("east"),
              HasSubstr("False ClientConnectionFailed: workloads: workloads.kueue.x-k8s.io is "
                        "forbidden: User \"limited\""));
  set_secret(TestConnector::kubeconfig("east", TestCluster::manager_token));
  settle(30s);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
}

TEST_F(Connections, AnotherServerIsAnotherConnection) {
  start();
  expect_active("connected");
  workers_["west"].cluster = std::make_unique<TestCluster>(world_, "west");
  workers_["west"].cluster->install_crds();
  network_.add(*workers_["west"].cluster);
  manager_->remote_requests.clear();
  set_secret(TestConnector::kubeconfig("west"));
  settle();
  EXPECT_EQ(manager_->remote_requests["east"].count("list"), 2);
  EXPECT_EQ(manager_->core().fleet().find("east")->remote->server().substr(0, 17),
            "https://west:6443");
  expect_active("connected");
}

TEST_F(Connections, ADeletedClusterIsForgotten) {
  start();
  expect_active("connected");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey("east")));
  settle();
  EXPECT_EQ(manager_->core().fleet().find("east"), nullptr);
  manager_->remote_requests.clear();
  settle(10min);
  EXPECT_EQ(manager_->remote_requests["east"].count(), 0);
}

TEST_F(Connections, ChecksSayWhichClustersAreUsable) {
  add_worker("east");
  configure_hub();
  start_manager();
  const auto check = [&] {
    settle();
    const auto found = cluster_.get<api::AdmissionCheck>(api::ObjectKey("mk"));
    return condition(found->status.conditions, "Active");
  };
  const auto list = [&](const char* clusters) {
    ASSERT_TRUE(cluster_.patch(api::MultiKueueConfig::resource, api::ObjectKey("all"),
                               std::string(R"({"spec":{"clusters":)") + clusters + "}}"));
  };
  EXPECT_EQ(check(), "True Active: The admission check is active");
  list(R"(["east","south"])");
  EXPECT_EQ(check(), "True SomeActiveClusters: Missing clusters: [south]");
  set_secret(TestConnector::kubeconfig("nowhere"));
  EXPECT_EQ(check(),
            "False NoUsableClusters: Missing clusters: [south], Inactive clusters: [east]");
  const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
  EXPECT_EQ(condition(queue->status.conditions, "Active"),
            "False AdmissionCheckInactive: Can't admit new workloads: references inactive "
            "AdmissionCheck(s): mk.");
  ASSERT_TRUE(cluster_.remove(api::MultiKueueConfig::resource, api::ObjectKey("all")));
  EXPECT_EQ(check(),
            "False BadConfig: Cannot load the AdmissionChecks parameters: "
            "MultiKueueConfig.kueue.x-k8s.io \"all\" not found");
}

TEST_F(Connections, AHungWorkerDelaysNoOther) {
  start_all({"east", "west"});
  network_.faults("west").partitioned = true;
  apply(remote_job_yaml("j"));
  until(
      "running on east",
      [&] { return workers_.at("east").cluster->get<api::Job>(key("j")).has_value(); }, 3s);
  // The hub deletes what it left there when the worker answers again.
  network_.faults("west").partitioned = false;
  until("finished", [&] { return condition_of("j", "Finished") != ""; });
  until(
      "clean",
      [&] {
        return held_by("west") == "workloads 0, jobs 0" && held_by("east") == "workloads 0, jobs 0";
      },
      120s);
}

TEST_F(Connections, LossAndReturnConcernTheirWorkloadsAtOnce) {
  start_all({"east"});
  set_secret(TestConnector::kubeconfig("nowhere"));
  problem();
  apply(remote_job_yaml("j"));
  settle();
  set_secret(TestConnector::kubeconfig("east"));
  until(
      "running", [&] { return workers_.at("east").cluster->get<api::Job>(key("j")).has_value(); },
      3s);
}

TEST_F(Connections, AJobAloneIsRemovedFromAWorkerThatComesBackAfterItsEnd) {
  manager::CoreConfig config;
  config.dispatch.plan.worker_lost_timeout = 120s;
  start_all({"east", "west"}, config);
  apply(remote_job_yaml("j"));
  until("won", [&] {
    const auto workload = workload_of("j");
    return workload && workload->status.cluster_name;
  });
  const std::string first = *workload_of("j")->status.cluster_name;
  until("it has the job", [&] { return held_by(first) == "workloads 1, jobs 1"; }, 3s);
  network_.faults(first).partitioned = true;
  TestCluster& lost = *workers_.at(first).cluster;
  ASSERT_TRUE(lost.remove(api::Workload::resource, workload_of("j")->metadata.key()));
  until("it ended elsewhere", [&] { return condition_of("j", "Finished") != ""; }, 1200s);
  ASSERT_EQ(held_by(first), "workloads 0, jobs 1");
  network_.faults(first).partitioned = false;
  until("the job is removed", [&] { return held_by(first) == "workloads 0, jobs 0"; }, 120s);
}

TEST_F(Connections, AWorkerThatStaysAwayLosesItsJobsToAnother) {
  manager::CoreConfig config;
  config.dispatch.plan.worker_lost_timeout = 120s;
  start_all({"east", "west"}, config);
  apply(lasting_job_yaml("j"));
  until("won", [&] {
    const auto workload = workload_of("j");
    return workload && workload->status.cluster_name;
  });
  const std::string first = *workload_of("j")->status.cluster_name;
  const std::string second = first == "east" ? "west" : "east";
  settle();
  network_.faults(first).partitioned = true;
  until(
      "running on the other",
      [&] { return workers_.at(second).cluster->get<api::Job>(key("j")).has_value(); }, 1200s);
  EXPECT_EQ(held_by(first), "workloads 1, jobs 1");
  network_.faults(first).partitioned = false;
  until("the stale copy is removed", [&] { return held_by(first) == "workloads 0, jobs 0"; }, 120s);
  EXPECT_EQ(held_by(second), "workloads 1, jobs 1");
  EXPECT_EQ(workload_of("j")->status.cluster_name, second);
}

}  // namespace
}  // namespace regatta::test_support
