// Workers that are made of ManagedClusters of Open Cluster Management.
#include "lib/api/managed_clusters.h"

#include "tests/component/federation.h"
#include "tests/component/managed_clusters.h"

namespace regatta::test_support {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Every line, of every level.
struct Lines final : LogSink {
  bool enabled(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view, std::string_view message,
             std::initializer_list<KV> values) override {
    text += message;
    for (const KV& one : values) text += " " + one.value;
    text += "\n";
  }
  std::string text;
};

/// A hub with worker `east`, which is a ManagedCluster. The test plays Open Cluster Management: it
/// gives accounts their tokens and applies rights.
class WorkersOfManagedClusters : public Federation {
 protected:
  void define() { apply(managed_cluster_definitions()); }
  static manager::CoreConfig asking() {
    manager::CoreConfig config;
    config.managed_clusters.emplace();
    return config;
  }
  /// Queues that lead to `east`, and no MultiKueueCluster yet.
  void start(manager::CoreConfig config = asking(), bool with_definitions = true) {
    add_worker("east");
    start_worker("east");
    if (with_definitions) define();
    for (const char* name : {"kueue-system", "east", "local-cluster"}) {
      apply(std::string("apiVersion: v1\nkind: Namespace\nmetadata: {name: ") + name + "}");
    }
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: all}\n"
        "spec: {clusters: [east]}");
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: mk}\nspec:\n"
        "  controllerName: kueue.x-k8s.io/multikueue\n  parameters: {apiGroup: kueue.x-k8s.io, "
        "kind: MultiKueueConfig, name: all}");
    for (const char* yaml : {flavor_yaml, hub_queue_yaml, local_queue_yaml}) apply(yaml);
    start_manager(std::move(config));
  }
  void join(const std::string& name = "east", const std::string& accepted = "true") {
    apply(managed_cluster_yaml(name, accepted));
    settle();
  }
  void give_token(const std::string& token) {
    apply(account_token_yaml("east", token));
    settle();
  }
  void give_rights(const char* status = "True") {
    ASSERT_TRUE(cluster_.patch(api::ClusterPermission::resource, account_key(),
                               applied_rights(status), "status"));
    settle();
  }
  void ask_for_account() {
    apply(
        "apiVersion: authentication.open-cluster-management.io/v1beta1\n"
        "kind: ManagedServiceAccount\nmetadata: {name: multikueue, namespace: east}\n"
        "spec: {rotation: {validity: 1h0m0s}}");
    apply(
        "apiVersion: rbac.open-cluster-management.io/v1alpha1\nkind: ClusterPermission\n"
        "metadata: {name: multikueue, namespace: east}\nspec: {clusterRole: {rules: []}}");
  }
  void become_worker(manager::CoreConfig config = asking()) {
    start(std::move(config));
    join();
    give_token(TestCluster::manager_token);
    give_rights();
    until_active();
  }
  void until_active() {
    until("it is a worker", [&] { return member_condition("east") == "True Active: Connected"; });
  }
  static api::ObjectKey account_key() { return {"east", "multikueue"}; }
  static api::ObjectKey secret_key() { return {"kueue-system", "multikueue-east"}; }
  bool has_member() {
    return cluster_.get<api::MultiKueueCluster>(api::ObjectKey("east")).has_value();
  }
  /// What was made for `east`: "member secret rights account", or some of it.
  std::string made() {
    std::string out;
    if (has_member()) out += "member ";
    if (cluster_.get<api::Secret>(secret_key())) out += "secret ";
    if (cluster_.get<api::ClusterPermission>(account_key())) out += "rights ";
    if (cluster_.get<api::ManagedServiceAccount>(account_key())) out += "account ";
    return out;
  }
  std::string kubeconfig() {
    const auto secret = cluster_.get<api::Secret>(secret_key());
    return secret ? secret->data.at("kubeconfig") : "";
  }
  std::string lacking() {
    const auto cluster = cluster_.get<api::MultiKueueCluster>(api::ObjectKey("east"));
    return cluster ? condition(cluster->status.conditions, "CredentialsLacking") : "no member";
  }
  int running_there() {
    const auto job = worker("east").get<api::Job>(key("j"));
    return job ? job->status.active : 0;
  }
  void run_job_there() {
    apply(remote_job_yaml("j"));
    until("it runs there", [&] { return running_there() == 1; });
  }
  Status leave() { return cluster_.remove(api::ManagedCluster::resource, api::ObjectKey("east")); }
};

TEST_F(WorkersOfManagedClusters, AJobRunsOnAClusterThatWasOnlyAccepted) {
  start();
  join();
  EXPECT_EQ(made(), "rights account ");
  give_token(TestCluster::manager_token);
  EXPECT_FALSE(has_member()) << "its rights are not applied";
  give_rights();
  until_active();
  EXPECT_EQ(lacking(), "");
  run_job_there();
}

TEST_F(WorkersOfManagedClusters, NothingIsMadeUnasked) {
  start({});
  join();
  settle(2min);
  EXPECT_EQ(made(), "");
  EXPECT_EQ(manager_->requests.count("list", "managedclusters"), 0);
  EXPECT_EQ(manager_->requests.count("watch", "managedclusters"), 0);
}

TEST_F(WorkersOfManagedClusters, ATokenThatRotatesIsOneWriteAndDisturbsNoJob) {
  become_worker();
  run_job_there();
  settle(10s);
  manager_->requests.clear();
  give_token(TestCluster::other_manager_token);
  settle(10s);
  EXPECT_THAT(kubeconfig(), HasSubstr(TestCluster::other_manager_token));
  EXPECT_EQ(manager_->requests.count("patch", "secrets"), 1) << manager_->requests.str();
  EXPECT_EQ(manager_->requests.count("create", "secrets"), 0);
  EXPECT_EQ(running_there(), 1);
  EXPECT_EQ(member_condition("east"), "True Active: Connected");
}

TEST_F(WorkersOfManagedClusters, NothingIsWrittenWhileNothingChanges) {
  become_worker();
  settle(10s);
  manager_->requests.clear();
  settle(30min);
  for (const char* what :
       {"secrets", "multikueueclusters", "managedserviceaccounts", "clusterpermissions"}) {
    EXPECT_EQ(manager_->requests.count("patch", what) + manager_->requests.count("create", what), 0)
        << what << ": " << manager_->requests.str();
  }
}

TEST_F(WorkersOfManagedClusters, ATokenOrRightsThatVanishAreToldAndCostNothing) {
  become_worker();
  run_job_there();
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, account_key()));
  until("it is told", [&] { return lacking().starts_with("True TokenMissing"); });
  ASSERT_TRUE(cluster_.remove(api::ClusterPermission::resource, account_key()));
  until("the rights are asked for again", [&] { return made().find("rights") != made().npos; });
  until("it is told", [&] { return lacking().starts_with("True PermissionNotApplied"); });
  EXPECT_EQ(running_there(), 1);
  settle(2min);
  EXPECT_EQ(made(), "member secret rights account ");
  EXPECT_EQ(job("j").status.succeeded, 1);
  give_token(TestCluster::manager_token);
  give_rights();
  until("it is no longer told", [&] { return lacking().starts_with("False Resolved"); });
}

TEST_F(WorkersOfManagedClusters, AClusterThatIsDeletedGoesWhenItsJobHasEnded) {
  become_worker();
  run_job_there();
  ASSERT_TRUE(leave());
  until("it is told", [&] { return lacking().starts_with("True WorkloadsRemain"); });
  EXPECT_EQ(made(), "member secret rights account ");
  until("it has ended", [&] { return job("j").status.succeeded == 1; }, 2min);
  until("all is removed", [&] { return made().empty(); }, 2min);
}

TEST_F(WorkersOfManagedClusters, AWorkloadThatMayGetThereKeepsItWhileItIsConnected) {
  become_worker();
  give("east", "0");
  apply(remote_job_yaml("j"));
  until("its copy waits there", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  ASSERT_TRUE(leave());
  until("it is told", [&] { return lacking().starts_with("True WorkloadsRemain"); });
  settle(1min);
  EXPECT_EQ(made(), "member secret rights account ");
  network_.faults("east").partitioned = true;
  until("all is removed", [&] { return made().empty(); }, 10min);
}

TEST_F(WorkersOfManagedClusters, ANominationForALostWorkerKeepsNothing) {
  manager::CoreConfig config = asking();
  config.dispatch.plan.nomination.dispatcher = placement::Dispatcher::external;
  become_worker(std::move(config));
  give("east", "0");
  apply(remote_job_yaml("j"));
  settle();
  const auto workload = workload_of("j");
  ASSERT_TRUE(workload);
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload->metadata.key(),
                             R"({"status":{"nominatedClusterNames":["east"]}})", "status"));
  ASSERT_TRUE(leave());
  until("it is told", [&] { return lacking().starts_with("True WorkloadsRemain"); });
  network_.faults("east").partitioned = true;
  until("all is removed", [&] { return made().empty(); }, 10min);
  EXPECT_THAT(workload_of("j")->status.nominated_cluster_names, testing::ElementsAre("east"));
}

TEST_F(WorkersOfManagedClusters, AWorkloadOfALostWorkerKeepsItForItsGrace) {
  become_worker();
  run_job_there();
  network_.faults("east").partitioned = true;
  ASSERT_TRUE(leave());
  settle(10min);
  EXPECT_EQ(made(), "member secret rights account ");
  until("all is removed", [&] { return made().empty(); }, 10min);
}

TEST_F(WorkersOfManagedClusters, AClusterThatWentWhileNoManagerRanIsReadBeforeAnythingGoes) {
  become_worker();
  manager_.reset();
  ASSERT_TRUE(leave());
  start_manager(asking());
  until("all is removed", [&] { return made().empty(); }, 2min);
  EXPECT_EQ(manager_->requests.count("get", "managedclusters"), 1) << manager_->requests.str();
}

TEST_F(WorkersOfManagedClusters, MoreClustersThatWentThanAreRememberedGoToo) {
  start();
  manager_.reset();
  const int many = static_cast<int>(kube::InformerOptions().absent_max) + 2;
  for (int i = 0; i < many; ++i) {
    const std::string name = "c" + std::to_string(i);
    apply("apiVersion: v1\nkind: Secret\nmetadata: {name: multikueue-" + name +
          ", namespace: kueue-system, labels: {" +
          std::string(api::managed_clusters::made_for_label) + ": " + name + "}}");
  }
  start_manager(asking());
  const auto left = [&] { return cluster_.list<api::Secret>("kueue-system").size(); };
  until("all are removed", [&] { return left() == 0; }, 5min);
  EXPECT_EQ(manager_->requests.count("get", "managedclusters"), many);
}

TEST_F(WorkersOfManagedClusters, AHubThatNoLongerServesClustersKeepsItsWorkers) {
  become_worker();
  manager_.reset();
  // What is left when definitions are removed by other means than one by one.
  ASSERT_TRUE(
      cluster_.remove(api::CustomResourceDefinition::resource,
                      api::ObjectKey("managedclusters.cluster.open-cluster-management.io")));
  settle(10s);
  start_manager(asking());
  settle(5min);
  EXPECT_EQ(made(), "member secret rights account ");
}

TEST_F(WorkersOfManagedClusters, WhatIsLackingIsAnEventOfTheClusterAfterAWhile) {
  start();
  join();
  settle(5s);
  EXPECT_THAT(events("ManagedCluster"), IsEmpty()) << "it may be on its way";
  settle(1min);
  EXPECT_THAT(events("ManagedCluster"),
              Contains(AllOf(StartsWith("PermissionNotApplied: ClusterPermission east/multikueue"),
                             HasSubstr("Secret east/multikueue with the token"))));
  manager_->requests.clear();
  settle(10min);
  EXPECT_EQ(manager_->requests.count("patch", "events"), 0) << "it is said once";
  EXPECT_EQ(manager_->requests.count("create", "events"), 0);
}

TEST_F(WorkersOfManagedClusters, AccountsOfOthersAreUsedAsTheyAre) {
  manager::CoreConfig config = asking();
  config.managed_clusters->request = false;
  start(std::move(config));
  join();
  settle(1min);
  EXPECT_EQ(made(), "");
  EXPECT_THAT(events("ManagedCluster"),
              Contains(StartsWith("AccountMissing: there is no ManagedServiceAccount")));
  ask_for_account();
  give_token(TestCluster::manager_token);
  give_rights();
  until_active();
  EXPECT_EQ(cluster_.get<api::ManagedServiceAccount>(account_key())->validity, "1h0m0s");
  ASSERT_TRUE(leave());
  until("what was made is removed", [&] { return made() == "rights account "; });
}

TEST_F(WorkersOfManagedClusters, WhatOthersMadeStays) {
  start();
  apply(
      "apiVersion: v1\nkind: Secret\nmetadata: {name: multikueue-east, namespace: kueue-system}\n"
      "data: {kubeconfig: " +
      base64_encode("theirs") + "}");
  join();
  give_token(TestCluster::manager_token);
  give_rights();
  settle(1min);
  EXPECT_EQ(kubeconfig(), "theirs");
  EXPECT_FALSE(has_member());
  EXPECT_THAT(events("ManagedCluster"), Contains(StartsWith("SecretOfOthers: ")));
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, secret_key()));
  until("it is a worker", [&] { return has_member(); }, 5s);
}

TEST_F(WorkersOfManagedClusters, AWorkerThatWasRegisteredOtherwiseIsLeftAlone) {
  start();
  apply(TestConnector::member_yaml("east"));
  until_active();
  join();
  settle(1min);
  EXPECT_EQ(made(), "member ");
  EXPECT_THAT(events("ManagedCluster"), Contains(StartsWith("ClusterOfOthers: ")));
  ASSERT_TRUE(leave());
  settle(1min);
  EXPECT_TRUE(has_member());
}

TEST_F(WorkersOfManagedClusters, TheHubIsNoWorker) {
  start();
  join("local-cluster");
  settle(1min);
  EXPECT_THAT(cluster_.list<api::ManagedServiceAccount>(), IsEmpty());
  EXPECT_THAT(events("ManagedCluster"), IsEmpty());
}

TEST_F(WorkersOfManagedClusters, OneThatIsAcceptedLaterComes) {
  start();
  join("east", "false");
  EXPECT_EQ(made(), "");
  join("east", "true");
  EXPECT_EQ(made(), "rights account ");
}

TEST_F(WorkersOfManagedClusters, DefinitionsMayComeLate) {
  start(asking(), false);
  settle(1min);
  define();
  join();
  until("it is asked for", [&] { return made() == "rights account "; }, 5min);
}

TEST_F(WorkersOfManagedClusters, AMemberOrSecretThatWasDeletedIsMadeAgain) {
  become_worker();
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, secret_key()));
  until("it is there", [&] { return !kubeconfig().empty(); });
  ASSERT_TRUE(cluster_.remove(api::MultiKueueCluster::resource, api::ObjectKey("east")));
  until_active();
}

TEST_F(WorkersOfManagedClusters, ByAProxyTheAuthorityIsThatOfTheHub) {
  manager::CoreConfig config = asking();
  config.managed_clusters->connection = placement::Connection::proxy;
  config.managed_clusters->proxy_url = "https://proxy:9092";
  start(std::move(config));
  join();
  give_token(TestCluster::manager_token);
  give_rights();
  settle(1min);
  EXPECT_EQ(kubeconfig(), "");
  EXPECT_THAT(events("ManagedCluster"), Contains(HasSubstr("AuthorityMissing: ConfigMap")));
  apply(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca.crt, namespace: "
      "kueue-system}\ndata: {ca.crt: hub-authority}");
  until("it is made", [&] { return has_member(); }, 5s);
  EXPECT_THAT(kubeconfig(), AllOf(HasSubstr("https://proxy:9092/east"),
                                  HasSubstr(base64_encode("hub-authority"))));
}

TEST_F(WorkersOfManagedClusters, AClusterProfileIsReferredTo) {
  network_.plugins["cp"] = [](const std::string&) {
    const Json answer = {{"kind", "ExecCredential"},
                         {"apiVersion", "client.authentication.k8s.io/v1"},
                         {"status", {{"token", TestCluster::manager_token}}}};
    return Result<std::string>(dump_json(answer));
  };
  apply(R"(
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
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)");
  manager::CoreConfig config = asking();
  config.managed_clusters->connection = placement::Connection::cluster_profile;
  api::ExecPlugin plugin;
  plugin.provider = "open-cluster-management";
  plugin.command = "cp";
  plugin.api_version = "client.authentication.k8s.io/v1";
  config.plugins.emplace().push_back(plugin);
  start(std::move(config));
  join();
  give_rights();
  apply("apiVersion: v1\nkind: Secret\nmetadata: {name: east-multikueue, namespace: kueue-system}");
  settle(5s);
  EXPECT_FALSE(has_member());
  apply(R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata:
  name: east
  namespace: kueue-system
  labels: {x-k8s.io/cluster-manager: open-cluster-management}
status:
  accessProviders: [{name: open-cluster-management, cluster: {server: "https://east:6443"}}]
)");
  until_active();
  EXPECT_EQ(made(), "member rights account ");
  const auto account = cluster_.get<api::ManagedServiceAccount>(account_key());
  EXPECT_EQ(account->metadata.label(std::string(api::managed_clusters::sync_label)), "true");
}

TEST_F(WorkersOfManagedClusters, WhatFailedIsTriedAgain) {
  start();
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method != "GET" &&
           request.target.find("clusterpermissions") != std::string::npos;
  };
  manager_->faults().server_error = 1;
  join();
  settle(1min);
  EXPECT_EQ(made(), "account ");
  manager_->faults().server_error = 0;
  until("it is asked for", [&] { return made() == "rights account "; }, 2min);
}

TEST_F(WorkersOfManagedClusters, ARefusalIsTold) {
  start();
  join("west");  // which has no namespace
  settle(2min);
  EXPECT_THAT(events("ManagedCluster"),
              Contains(AllOf(StartsWith("RequestRefused: "), HasSubstr("ManagedServiceAccount"))));
}

TEST_F(WorkersOfManagedClusters, ATokenIsNowhereButInItsSecret) {
  const auto lines = std::make_shared<Lines>();
  start();
  manager_.reset();
  manager_.emplace(cluster_, network_, asking(), Log(lines, "test"));
  join();
  give_token(TestCluster::manager_token);
  give_rights();
  until_active();
  const std::string first = base64_encode(kubeconfig());
  give_token(TestCluster::other_manager_token);
  settle(10s);
  for (const std::string& text : {first, base64_encode(kubeconfig())}) {
    EXPECT_THAT(lines->text, Not(HasSubstr(text)));
  }
  EXPECT_THAT(lines->text, HasSubstr("created Secret kueue-system/multikueue-east"));
  std::string all = lines->text + lacking() + member_condition("east");
  for (const char* kind : {"ManagedCluster", "MultiKueueCluster"}) {
    for (const std::string& event : events(kind)) all += event;
  }
  for (const char* token : {TestCluster::manager_token, TestCluster::other_manager_token}) {
    EXPECT_THAT(all, Not(HasSubstr(token)));
    EXPECT_THAT(all, Not(HasSubstr(base64_encode(token))));
  }
}

}  // namespace
}  // namespace regatta::test_support
