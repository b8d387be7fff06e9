#include "lib/base/json.h"
#include "tests/component/federation.h"

#include <nlohmann/json.hpp>

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* profiles_crd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusterprofiles.multicluster.x-k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, for tests"}
spec:
  group: multicluster.x-k8s.io
  names: {kind: ClusterProfile, plural: clusterprofiles, singular: clusterprofile}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

/// A hub whose worker `east` comes from a ClusterProfile. The plugin `cp` has its credentials.
class ClusterProfiles : public Federation {
 protected:
  static constexpr const char* failed =
      "False ClientConnectionFailed: workloads: credential plugin "
      "cp of access provider \"p\": ";

  void start(bool with_crd = true) {
    add_worker("east");
    start_worker("east");
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}");
    if (with_crd) apply(profiles_crd);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: east}
spec: {clusterSource: {clusterProfileRef: {name: east}}}
)");
    give(TestCluster::manager_token);
    manager::CoreConfig config;
    config.plugins.emplace().push_back(plugin());
    start_manager(std::move(config));
  }
  static api::ExecPlugin plugin() {
    api::ExecPlugin plugin;
    plugin.provider = "p";
    plugin.command = "cp";
    plugin.api_version = "client.authentication.k8s.io/v1";
    plugin.provide_cluster_info = true;
    return plugin;
  }
  /// From now on the plugin prints this token, which lasts for so long; zero: without an end.
  void give(const std::string& token, Duration life = Duration(0),
            const std::string& version = "client.authentication.k8s.io/v1") {
    network_.plugins["cp"] = [this, token, life, version](const std::string& info) {
      ++runs_;
      info_ = info;
      Json status = {{"token", token}};
      if (life > Duration(0)) status["expirationTimestamp"] = format_rfc3339(world_.now() + life);
      const Json answer = {{"kind", "ExecCredential"}, {"apiVersion", version}, {"status", status}};
      return Result<std::string>(dump_json(answer));
    };
  }
  void fail_with(const std::string& how) {
    network_.plugins["cp"] = [this, how](const std::string&) {
      ++runs_;
      return Result<std::string>(Error(Errc::unavailable, how));
    };
  }
  void set_profile(const std::string& server = "https://east:6443",
                   const std::string& provider = "p") {
    apply(R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata: {name: east, namespace: kueue-system}
spec: {displayName: east, clusterManager: {name: tests}}
)");
    const Status done = cluster_.patch(
        api::ClusterProfile::resource, {"kueue-system", "east"},
        R"({"status":{"accessProviders":[{"name":")" + provider + R"(","cluster":{"server":")" +
            server + R"(","extensions":[{"name":"client.authentication.k8s.io/exec",)" +
            R"("extension":{"clusterName":"east"}}]}}]}})",
        "status");
    ASSERT_TRUE(done) << done.error().what();
    settle(1s);
  }
  void expect_active(const char* how, Duration within = 60s) {
    until(how, [&] { return member_condition("east") == "True Active: Connected"; }, within);
  }
  std::string problem() {
    until("inactive", [&] { return member_condition("east").starts_with("False"); }, 300s);
    const std::string all = member_condition("east");
    return all.substr(0, all.find("; connection attempts"));
  }

  int runs_ = 0;
  std::string info_;
};

TEST_F(ClusterProfiles, AWorkerIsJoinedAndThePluginKnowsItsCluster) {
  start();
  set_profile();
  expect_active("connected", 5s);
  EXPECT_EQ(runs_, 1) << "all requests share a credential";
  EXPECT_THAT(info_, HasSubstr(R"("config":{"clusterName":"east"})"));
  settle(1h);
  EXPECT_EQ(runs_, 1);
}

TEST_F(ClusterProfiles, AMissingProfileIsNamedAndItsCreationConnects) {
  start();
  EXPECT_EQ(problem(),
            "False BadClusterProfile: load client config failed: "
            "ClusterProfile.multicluster.x-k8s.io \"east\" not found");
  set_profile();
  expect_active("connected", 5s);
  ASSERT_TRUE(cluster_.remove(api::ClusterProfile::resource, {"kueue-system", "east"}));
  EXPECT_THAT(problem(), StartsWith("False BadClusterProfile: "));
  set_profile();
  expect_active("connected again", 5s);
}

TEST_F(ClusterProfiles, TheirDefinitionMayComeLater) {
  start(false);
  EXPECT_EQ(problem(),
            "False BadClusterProfile: load client config failed: "
            "ClusterProfile.multicluster.x-k8s.io \"east\" not found: this cluster does not serve "
            "clusterprofiles.multicluster.x-k8s.io");
  settle(10min);
  apply(profiles_crd);
  set_profile();
  expect_active("connected", 60s);
}

TEST_F(ClusterProfiles, AnotherProviderAndABadServerHaveTheirReasons) {
  start();
  set_profile("https://east:6443", "other");
  EXPECT_EQ(problem(),
            "False BadClusterProfile: load client config failed: no matching access provider in "
            "ClusterProfile \"east\": it has [other], the manager is configured for [p]");
  set_profile("http://east:6443");
  settle();
  EXPECT_EQ(problem(),
            "False BadRestConfig: load client config failed: access provider \"p\": http scheme "
            "is not allowed, use https for cluster p");
  EXPECT_EQ(runs_, 0);
  set_profile();
  expect_active("connected", 5s);
}

TEST_F(ClusterProfiles, EachFailureOfThePluginIsTheCondition) {
  start();
  fail_with("it did not end within 20s");
  set_profile();
  EXPECT_EQ(problem(), failed + std::string("it did not end within 20s"));
  const auto becomes = [&](const std::string& message) {
    until(message.c_str(), [&] { return problem() == failed + message; }, 300s);
  };
  fail_with("it ended with exit code 1: no such account");
  becomes("it ended with exit code 1: no such account");
  give("t", Duration(0), "client.authentication.k8s.io/v1beta1");
  becomes(
      "it answered in client.authentication.k8s.io/v1beta1, but is configured for "
      "client.authentication.k8s.io/v1");
  give("t", 1500ms);
  becomes("its credential expires within 10s, which is too soon to be of use");
  give(TestCluster::manager_token);
  expect_active("connected", 2min);
}

TEST_F(ClusterProfiles, APluginThatFailsIsNotAskedWithoutAPause) {
  start();
  fail_with("no");
  set_profile();
  settle(10min);
  EXPECT_GE(runs_, 5);
  EXPECT_LE(runs_, 25);
}

TEST_F(ClusterProfiles, ANewTokenLosesNothing) {
  start();
  give(TestCluster::manager_token, 10min);
  set_profile();
  expect_active("connected");
  settle();
  manager_->remote_requests.clear();
  manager_->requests.clear();
  give(TestCluster::other_manager_token, 1h);
  settle(8min + 30s);
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(manager_->remote_requests["east"].count("list", "workloads"), 0)
      << "nothing is read again";
  EXPECT_EQ(manager_->requests.count("patch", "multikueueclusters/status"), 0);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
}

TEST_F(ClusterProfiles, ARejectedTokenIsReplaced) {
  start();
  give("unknown-token");
  set_profile();
  EXPECT_THAT(problem(), StartsWith("False ClientConnectionFailed: workloads: "));
  give(TestCluster::manager_token);
  expect_active("connected", 2min);
  EXPECT_EQ(runs_, 2);
}

TEST_F(ClusterProfiles, ASlowPluginHoldsUpNoOtherWorker) {
  network_.plugins_take = 15s;
  start();
  set_profile();
  add_worker("west");
  start_worker("west");
  apply(TestConnector::member_yaml("west"));
  until("west is active", [&] { return member_condition("west") == "True Active: Connected"; }, 5s);
  expect_active("east, too", 60s);
}

TEST_F(ClusterProfiles, AJobRunsOnAWorkerOfAProfile) {
  start();
  set_profile();
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: all}
spec: {clusters: [east]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: mk}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: all}
)");
  for (const char* yaml : {flavor_yaml, hub_queue_yaml, local_queue_yaml}) apply(yaml);
  expect_active("connected");
  apply(remote_job_yaml("job"));
  until("finished", [&] { return condition_of("job", "Finished").starts_with("True"); }, 5min);
}

}  // namespace
}  // namespace regatta::test_support
