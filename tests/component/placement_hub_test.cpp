#include "manager/placement_hub.h"

#include "jobs/integrations/integrations.h"
#include "lib/api/managed_clusters.h"
#include "lib/api/placements.h"
#include "manager/managed_cluster_rules.h"
#include "tests/component/managed_clusters.h"
#include "tests/component/one_cluster.h"

#include <fstream>
#include <sstream>

namespace regatta::test_support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A hub of Kueue, which the test plays: it applies its part of a Workload's status as
/// kueue-admission. Beside it runs `regatta placement`.
class PlacementsBesideKueue : public OneCluster {
 protected:
  ~PlacementsBesideKueue() override {
    scope_.stop();
    world_.settle();
  }

  /// Another process of the same cluster, behind a network of its own.
  struct Replica {
    explicit Replica(PlacementsBesideKueue& test)
        : world(test.world_),
          sender(test.cluster_.sender(), world, world.rng, faults),
          client(deps()),
          scope(world.executor()),
          hub({client, client, world, world.rng, scope, Log()}, test.config_) {}
    ~Replica() {
      scope.stop();
      world.settle();
    }
    kube::ClientDeps deps() {
      kube::ClientDeps deps{sender, world, world.rng, nullptr, {}};
      deps.credentials = std::make_shared<kube::StaticToken>(TestCluster::manager_token);
      return deps;
    }
    void sync() { scope.spawn("caches of a replica", hub.sync()); }

    sim::World& world;
    std::shared_ptr<kube::NetworkFaults> faults = std::make_shared<kube::NetworkFaults>();
    kube::FaultySender sender;
    kube::Client client;
    TaskScope scope;
    manager::PlacementHub hub;
  };

  void start() {
    std::ifstream stream("examples/placement/ocm.yaml");
    std::stringstream text;
    text << stream.rdbuf();
    apply(text.str());
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: kueue-system}");
    apply(local_queue_yaml);
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: all}
spec: {clusters: [w1, w2]}
)");
    check("mk", "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io", "MultiKueueConfig", "all");
    for (const char* name : {"w1", "w2"}) member(name);
    apply(R"(
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: default}
spec: {}
)");
    ASSERT_TRUE(
        cluster_.patch(api::LocalQueue::resource, key("main"),
                       R"({"metadata":{"annotations":{"multikueue.regatta.dev/placement":"p"}}})"));
    hub_.emplace(manager::PlacementHubDeps{cluster_.admin(), cluster_.admin(), world_, world_.rng,
                                           scope_, Log()},
                 config_);
    scope_.spawn("placement hub", lead());
    settle();
  }
  Task<> lead() {
    co_await hub_->sync();
    hub_->start();
  }
  void check(const std::string& name, const std::string& controller, const std::string& group,
             const std::string& kind, const std::string& parameters) {
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: " + name +
          "}\nspec: {controllerName: " + controller + ", parameters: {apiGroup: " + group +
          ", kind: " + kind + ", name: " + parameters + "}}");
  }
  /// A MultiKueueCluster that is Active.
  void member(const std::string& name) {
    apply(TestConnector::member_yaml(name));
    say_active(name);
  }
  void decide(const std::string& cluster) {
    apply(R"(
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: p-decision-1
  namespace: default
  labels: {cluster.open-cluster-management.io/placement: p}
)");
    ASSERT_TRUE(cluster_.patch(
        api::PlacementDecision::resource, key("p-decision-1"),
        R"({"status":{"decisions":[{"clusterName":")" + cluster + R"(","reason":""}]}})",
        "status"));
    settle();
  }
  void make_workload() {
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: default}
spec:
  queueName: main
  podSets:
  - name: main
    count: 1
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
)");
  }
  static constexpr const char* one_check = R"(,"admissionChecks":[{"name":"mk","state":"Pending",
      "message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}])";
  /// What Kueue applies with a reservation, and `more` of the status.
  static std::string reservation(const std::string& more) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
      "metadata":{"name":"w","namespace":"default"},"status":{
      "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":1}]},
      "conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"m",
                     "lastTransitionTime":"2026-01-01T00:00:00Z"}])" +
           more + "}}";
  }
  Status apply_as_kueue(const std::string& more) {
    kube::ApplyOptions options;
    options.subresource = "status";
    options.field_manager = "kueue-admission";
    options.force = true;
    const auto done = run(world_, cluster_.admin().apply_raw(api::Workload::resource, key("w"),
                                                             reservation(more), options));
    return done ? ok() : Status(done.error());
  }
  api::WorkloadStatus status() { return cluster_.get<api::Workload>(key("w"))->status; }

  /// Workers are made of ManagedClusters; `east` joins.
  void start_with_managed_clusters() {
    apply(managed_cluster_definitions());
    for (const char* name : {"kube-system", "east"}) {
      apply(std::string("apiVersion: v1\nkind: Namespace\nmetadata: {name: ") + name + "}");
    }
    config_.managed_clusters =
        manager::complete({}, jobs::enabled_kinds({"batch/job"}), "kueue-system");
    start();
    apply(managed_cluster_yaml("east"));
    settle();
  }
  /// What Open Cluster Management does.
  void give_token_and_rights() {
    apply(account_token_yaml("east", "secret-token"));
    ASSERT_TRUE(
        cluster_.patch(api::ClusterPermission::resource, account_, applied_rights(), "status"));
    settle();
  }
  /// What Kueue says of the worker, once it has connected it.
  void say_active(const std::string& name) {
    ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey(name),
                               R"({"status":{"conditions":[{"type":"Active","status":"True",
      "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                               "status"));
  }
  std::optional<api::MultiKueueCluster> east() {
    return cluster_.get<api::MultiKueueCluster>(api::ObjectKey("east"));
  }
  std::string lacking() {
    return east() ? condition(east()->status.conditions, "CredentialsLacking") : "no worker";
  }

  const api::ObjectKey account_{"east", "multikueue"}, secret_{"kueue-system", "multikueue-east"};
  manager::PlacementHubConfig config_;
  TaskScope scope_{world_.executor()};
  std::optional<manager::PlacementHub> hub_;
};

TEST_F(PlacementsBesideKueue, KueueCanClearWhatTheyNominated) {
  start();
  decide("w2");
  make_workload();
  ASSERT_TRUE(apply_as_kueue(one_check));
  settle();
  EXPECT_THAT(status().nominated_cluster_names, ElementsAre("w2"));
  // Nothing else of Kueue's was given up.
  ASSERT_TRUE(status().admission);
  EXPECT_TRUE(api::is_true(status().conditions, "QuotaReserved"));
  EXPECT_EQ(status().admission_checks.size(), 1U);
  const Status recorded = apply_as_kueue(std::string(one_check) + R"(,"clusterName":"w2")");
  ASSERT_TRUE(recorded) << recorded.error().what();
  EXPECT_THAT(status().nominated_cluster_names, IsEmpty());
  EXPECT_EQ(status().cluster_name, "w2");
}

TEST_F(PlacementsBesideKueue, ADecisionThatChangesReplacesTheNomination) {
  start();
  decide("w2");
  make_workload();
  ASSERT_TRUE(apply_as_kueue(one_check));
  settle();
  decide("w1");
  EXPECT_THAT(status().nominated_cluster_names, ElementsAre("w1"));
}

TEST_F(PlacementsBesideKueue, OnAHubWithMergePatchesTheDifferenceIsWritten) {
  start();
  decide("w2");
  make_workload();
  const Json whole = *parse_json(reservation(one_check));
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, key("w"),
                             dump_json(Json{{"status", whole["status"]}}), "status"));
  settle();
  EXPECT_THAT(status().nominated_cluster_names, ElementsAre("w2"));
  EXPECT_TRUE(status().admission);
}

TEST_F(PlacementsBesideKueue, ACheckThatNamesAPlacementBecomesReadyInTheSameWrite) {
  start();
  apply(R"(
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: q, namespace: kueue-system}
spec: {}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: q-decision-1
  namespace: kueue-system
  labels: {cluster.open-cluster-management.io/placement: q}
)");
  ASSERT_TRUE(cluster_.patch(
      api::PlacementDecision::resource, {"kueue-system", "q-decision-1"},
      R"({"status":{"decisions":[{"clusterName":"w1","reason":""},{"clusterName":"w2","reason":""}]}})",
      "status"));
  check("place", "open-cluster-management.io/placement", "cluster.open-cluster-management.io",
        "Placement", "q");
  decide("w2");
  make_workload();
  const auto with_check = [](const std::string& state) {
    return R"(,"admissionChecks":[
      {"name":"mk","state":"Pending","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"},
      {"name":"place","state":")" +
           state + R"(","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}])";
  };
  ASSERT_TRUE(apply_as_kueue(with_check("Pending")));
  settle();
  const api::WorkloadStatus now = status();
  const auto* found = api::find_check(now, "place");
  ASSERT_TRUE(found);
  EXPECT_EQ(std::string(api::text_of(found->state)) + ": " + found->message,
            "Ready: Placement default/p has chosen w2; Placement kueue-system/q has chosen w1, w2");
  EXPECT_THAT(now.nominated_cluster_names, ElementsAre("w2"));
  EXPECT_EQ(now.admission_checks.size(), 2U);
}

TEST_F(PlacementsBesideKueue, WorkersAreMadeOfManagedClusters) {
  start_with_managed_clusters();
  EXPECT_TRUE(cluster_.get<api::ManagedServiceAccount>(account_));
  EXPECT_FALSE(east());
  give_token_and_rights();
  ASSERT_TRUE(east());
  EXPECT_EQ(lacking(), "");
  const auto secret = cluster_.get<api::Secret>(secret_);
  ASSERT_TRUE(secret);
  EXPECT_THAT(secret->data.at("kubeconfig"), testing::HasSubstr("secret-token"));
  ASSERT_TRUE(cluster_.remove(api::Secret::resource, account_));
  settle();
  EXPECT_EQ(lacking().substr(0, 17), "True TokenMissing");
  EXPECT_THAT(events("MultiKueueCluster"), testing::Contains(testing::HasSubstr("TokenMissing")));
  give_token_and_rights();
  EXPECT_EQ(lacking().substr(0, 14), "False Resolved");
}

TEST_F(PlacementsBesideKueue, AWorkerOfAClusterThatLeavesStaysForWhatKueueMaySendThere) {
  start_with_managed_clusters();
  give_token_and_rights();
  say_active("east");
  make_workload();
  ASSERT_TRUE(apply_as_kueue(std::string(one_check) + R"(,"nominatedClusterNames":["east"])"));
  ASSERT_TRUE(cluster_.remove(api::ManagedCluster::resource, api::ObjectKey("east")));
  settle();
  EXPECT_EQ(lacking().substr(0, 20), "True WorkloadsRemain");
  ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey("east"),
                             R"({"status":{"conditions":null}})", "status"));
  settle();
  EXPECT_FALSE(east()) << "it is lost, so nothing gets there";
  EXPECT_FALSE(cluster_.get<api::Secret>(secret_));
  EXPECT_FALSE(cluster_.get<api::ManagedServiceAccount>(account_));
}

TEST_F(PlacementsBesideKueue, AReplicaThatBeginsToLeadSeesWhatItsSilentWatchesDidNotShow) {
  start_with_managed_clusters();
  give_token_and_rights();
  say_active("east");
  Replica standby(*this);
  standby.sync();
  until("the standby has synced", [&] { return standby.hub.synced(); });
  standby.faults->half_open_watch = 1;
  make_workload();
  EXPECT_TRUE(apply_as_kueue(std::string(one_check) + R"(,"nominatedClusterNames":["east"])"));
  settle();
  scope_.stop();
  world_.settle();
  standby.faults->half_open_watch = 0;
  std::optional<Status> taken_over;
  const auto take_over = [&]() -> Task<> { taken_over = co_await standby.hub.take_over(); };
  standby.scope.spawn("take over", take_over());
  settle();
  EXPECT_TRUE(taken_over && *taken_over);
  EXPECT_TRUE(cluster_.remove(api::ManagedCluster::resource, api::ObjectKey("east")));
  settle();
  EXPECT_EQ(lacking().substr(0, 20), "True WorkloadsRemain");
  EXPECT_TRUE(cluster_.get<api::Secret>(secret_));
}

TEST_F(PlacementsBesideKueue, TheHubMustBeKnownBeforeWorkersAreMade) {
  start_with_managed_clusters();
  Replica other(*this);
  other.faults->concerns = [](const net::HttpRequest& request) {
    return request.target.find("namespaces/kube-system") != std::string::npos &&
           request.target.find("kube-system/") == std::string::npos;
  };
  other.faults->server_error = 1;
  other.sync();
  world_.run_for(std::chrono::minutes(2));
  EXPECT_FALSE(other.hub.synced());
  other.faults->server_error = 0;
  EXPECT_TRUE(world_.run_for(std::chrono::minutes(1), [&] { return other.hub.synced(); }));
}

TEST_F(PlacementsBesideKueue, TheHubItselfIsNoWorkerOfItsOwn) {
  start_with_managed_clusters();
  const std::string uid = cluster_.get<api::Namespace>(api::ObjectKey("kube-system"))->metadata.uid;
  apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: this-one}");
  apply(managed_cluster_yaml("this-one"));
  ASSERT_TRUE(cluster_.patch(
      api::ManagedCluster::resource, api::ObjectKey("this-one"),
      R"({"status":{"clusterClaims":[{"name":"id.k8s.io","value":")" + uid + R"("}]}})", "status"));
  settle();
  cluster_.remove(api::ManagedServiceAccount::resource, {"this-one", "multikueue"});
  settle();
  EXPECT_FALSE(cluster_.get<api::ManagedServiceAccount>({"this-one", "multikueue"}));
}

}  // namespace
}  // namespace regatta::test_support
