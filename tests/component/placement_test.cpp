#include "lib/api/own_names.h"
#include "lib/api/placements.h"
#include "tests/component/federation.h"

#include <fstream>
#include <sstream>

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A hub with three workers. The test plays Open Cluster Management: it writes the decisions of
/// Placement `p`.
class Placements : public Federation {
 protected:
  void define(const std::string& file) {
    std::ifstream stream("examples/placement/" + file);
    std::stringstream text;
    text << stream.rdbuf();
    ASSERT_FALSE(text.str().empty()) << "run the tests from the source root";
    apply(text.str());
  }
  static manager::CoreConfig by_placements() {
    manager::CoreConfig config;
    config.dispatch.plan.nomination.dispatcher = placement::Dispatcher::external;
    config.placement.every_workload = true;
    return config;
  }
  /// The LocalQueue names Placement `p` of its namespace.
  void start_with_queue(manager::CoreConfig config = by_placements()) {
    define("ocm.yaml");
    make_placement("default");
    start_all({"w1", "w2", "w3"}, std::move(config));
    ASSERT_TRUE(
        cluster_.patch(api::LocalQueue::resource, key("main"),
                       R"({"metadata":{"annotations":{"multikueue.regatta.dev/placement":"p"}}})"));
    settle();
  }
  /// The ClusterQueue lists both checks, as OCM's add-on documents it.
  void start_with_check(manager::CoreConfig config = {}) {
    define("ocm.yaml");
    start_all({"w1", "w2", "w3"}, std::move(config));
    make_placement("kueue-system");
    make_check("place");
    check_names("mk", "place");
    settle();
  }
  /// A check that names Placement `p`.
  void make_check(const std::string& name) {
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: " + name +
          "}\nspec:\n  controllerName: open-cluster-management.io/placement\n  parameters: "
          "{apiGroup: cluster.open-cluster-management.io, kind: Placement, name: p}");
  }
  /// The checks that the ClusterQueue lists.
  void check_names(const std::string& first, const std::string& second) {
    const Json names = Json::array({{{"name", first}}, {{"name", second}}});
    const Json spec = {{"spec", {{"admissionChecksStrategy", {{"admissionChecks", names}}}}}};
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"), dump_json(spec)));
  }
  void make_placement(const std::string& ns, const std::string& name = "p") {
    apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + ns + "}");
    apply(
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
        "metadata: {name: " +
        name + ", namespace: " + ns + "}\nspec: {}");
  }
  /// Writes decision 1 of Placement `name`, and how many clusters its status counts.
  void decide(const std::string& ns, const std::vector<std::string>& clusters,
              const std::string& name = "p") {
    const std::string decision = name + "-decision-1";
    if (!cluster_.get<api::PlacementDecision>({ns, decision})) {
      apply(
          "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n"
          "metadata: {name: " +
          decision + ", namespace: " + ns +
          ", labels: {cluster.open-cluster-management.io/placement: " + name +
          ", cluster.open-cluster-management.io/decision-group-index: \"0\"}}");
    }
    Json list = Json::array();
    for (const std::string& one : clusters) list.push_back({{"clusterName", one}, {"reason", ""}});
    const Json status = {{"status", {{"decisions", list}}}};
    ASSERT_TRUE(cluster_.patch(api::PlacementDecision::resource, {ns, decision}, dump_json(status),
                               "status"));
    const Json counted = {{"status", {{"numberOfSelectedClusters", clusters.size()}}}};
    ASSERT_TRUE(cluster_.patch(api::Placement::resource, {ns, name}, dump_json(counted), "status"));
    settle();
  }
  /// The share of the manager's requests for Placements and decisions that are answered 500; their
  /// watches break with the next event.
  void refuse_reads(double share) {
    kube::NetworkFaults& faults = manager_->faults();
    faults.concerns = [](const net::HttpRequest& request) {
      return request.target.find("cluster.open-cluster-management.io/v1beta1/placement") !=
             std::string::npos;
    };
    faults.server_error = faults.cut_watch = share;
  }
  void submit(const std::string& name, int pods = 1) {
    apply(remote_job_yaml(name, pods));
    settle();
  }
  std::string winner_of(const std::string& job) {
    const auto workload = workload_of(job);
    return workload ? workload->status.cluster_name.value_or("") : "no workload";
  }
  std::vector<std::string> nominated(const std::string& job) {
    const auto workload = workload_of(job);
    return workload ? workload->status.nominated_cluster_names : std::vector<std::string>();
  }
  std::string active(const std::string& name = "place") {
    const auto check = cluster_.get<api::AdmissionCheck>(api::ObjectKey(name));
    return check ? condition(check->status.conditions, "Active") : "gone";
  }
  std::string state_of(const std::string& job, const std::string& name) {
    const auto workload = workload_of(job);
    const auto* state = workload ? api::find_check(workload->status, name) : nullptr;
    return state ? std::string(api::text_of(state->state)) + ": " + state->message : "none";
  }
};

TEST_F(Placements, ChooseTheWorkersOfAQueue) {
  start_with_queue();
  decide("default", {"w3"});
  submit("j");
  EXPECT_EQ(winner_of("j"), "w3");
  EXPECT_EQ(held_by("w1"), "workloads 0, jobs 0");
  EXPECT_EQ(held_by("w3"), "workloads 1, jobs 1");
  EXPECT_THAT(
      events("Workload"),
      Contains("NominatedByPlacement: Placement default/p has chosen w3; nominated \"w3\""));
}

TEST_F(Placements, NobodyIsAskedBeforeADecision) {
  start_with_queue();
  submit("j");
  EXPECT_THAT(nominated("j"), IsEmpty());
  for (const char* worker : {"w1", "w2", "w3"}) EXPECT_EQ(held_by(worker), "workloads 0, jobs 0");
  EXPECT_THAT(events("Workload"),
              Contains("NotNominated: Placement default/p has not decided yet"));
  decide("default", {"w2"});
  EXPECT_EQ(winner_of("j"), "w2");
}

TEST_F(Placements, AFlipMovesWhatWaitsAndNotWhatRuns) {
  start_with_queue();
  decide("default", {"w1"});
  submit("runs", 4);
  ASSERT_EQ(winner_of("runs"), "w1");
  submit("waits", 4);
  EXPECT_THAT(nominated("waits"), ElementsAre("w1"));
  EXPECT_EQ(winner_of("waits"), "");
  decide("default", {"w2"});
  EXPECT_EQ(winner_of("waits"), "w2");
  EXPECT_EQ(winner_of("runs"), "w1");
  EXPECT_EQ(held_by("w1"), "workloads 1, jobs 1");
}

TEST_F(Placements, AFlipSendsNoHerd) {
  manager::CoreConfig config = by_placements();
  config.placement.ledger.in_flight_max = 2;
  start_with_queue(std::move(config));
  decide("default", {"w1"});
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  // No worker has room for five.
  for (const std::string& name : names) submit(name, 5);
  const auto nominated_for = [&](const std::string& cluster) {
    int count = 0;
    for (const std::string& name : names) {
      count += nominated(name) == std::vector<std::string>{cluster};
    }
    return count;
  };
  EXPECT_EQ(nominated_for("w1"), 2);
  settle(70s);
  EXPECT_EQ(nominated_for("w1"), 4);
  settle(70s);
  decide("default", {"w2"});
  EXPECT_EQ(nominated_for("w2"), 2);
  EXPECT_EQ(nominated_for("w1"), 2);
  settle(70s);
  EXPECT_EQ(nominated_for("w2"), 4);
}

TEST_F(Placements, AnEmptyDecisionLeavesWhatRunsAndWhatIsNominated) {
  start_with_queue();
  decide("default", {"w1"});
  submit("runs", 4);
  submit("waits", 4);
  decide("default", {});
  submit("late");
  EXPECT_EQ(winner_of("runs"), "w1");
  EXPECT_THAT(nominated("waits"), ElementsAre("w1"));
  EXPECT_THAT(nominated("late"), IsEmpty());
  EXPECT_THAT(events("Workload"),
              Contains("NotNominated: Placement default/p has chosen no cluster"));
}

TEST_F(Placements, DecisionsThatGoAreRememberedAsLongAsThePlacementCountsClusters) {
  start_with_queue();
  decide("default", {"w2"});
  ASSERT_TRUE(cluster_.remove(api::PlacementDecision::resource, key("p-decision-1")));
  settle();
  submit("j");
  EXPECT_EQ(winner_of("j"), "w2");
}

TEST_F(Placements, WhatCannotBeReadAnyMoreIsRemembered) {
  start_with_queue();
  decide("default", {"w2"});
  refuse_reads(1);
  decide("default", {"w3"});
  submit("known");
  EXPECT_EQ(winner_of("known"), "w2");
  refuse_reads(0);
  settle(5min);
  submit("later");
  EXPECT_EQ(winner_of("later"), "w3");
}

TEST_F(Placements, WhatCouldNeverBeReadNominatesNothing) {
  start_with_queue();
  decide("default", {"w2"});
  manager_.reset();
  manager_.emplace(cluster_, network_, by_placements());
  refuse_reads(1);
  until("the manager has synced", [&] { return manager_->started(); });
  submit("j");
  settle(1min);
  EXPECT_THAT(nominated("j"), IsEmpty());
  EXPECT_THAT(events("Workload"),
              Contains(HasSubstr("NotNominated: Placement default/p cannot be read: ")));
  refuse_reads(0);
  until("it runs", [&] { return winner_of("j") == "w2"; }, 300s);
}

TEST_F(Placements, WithoutItsPlacementAQueueNominatesNobody) {
  start_with_queue();
  decide("default", {"w2"});
  ASSERT_TRUE(cluster_.remove(api::Placement::resource, key("p")));
  settle();
  submit("j");
  EXPECT_THAT(nominated("j"), IsEmpty());
  EXPECT_EQ(winner_of("j"), "");
  EXPECT_THAT(events("Workload"), Contains("NotNominated: Placement default/p does not exist"));
}

TEST_F(Placements, AJobMayNameItsOwn) {
  start_with_queue();
  decide("default", {"w1"});
  make_placement("default", "mine");
  decide("default", {"w3"}, "mine");
  std::string yaml = remote_job_yaml("j");
  yaml.replace(yaml.find("annotations: {}"), 15,
               "annotations: {multikueue.regatta.dev/placement: mine}");
  apply(yaml);
  settle();
  EXPECT_EQ(winner_of("j"), "w3");
}

TEST_F(Placements, ClustersWithoutAMemberAreNamed) {
  start_with_queue();
  decide("default", {"nowhere"});
  submit("j");
  EXPECT_THAT(nominated("j"), IsEmpty());
  EXPECT_THAT(events("Workload"), Contains("NotNominated: Placement default/p has chosen nowhere; "
                                           "nowhere has no MultiKueueCluster"));
}

TEST_F(Placements, AQueueThatNamesNoneSaysSo) {
  define("ocm.yaml");
  start_all({"w1"}, by_placements());
  submit("j");
  EXPECT_THAT(events("Workload"),
              Contains("NotNominated: No annotation multikueue.regatta.dev/placement names a "
                       "Placement for this workload"));
}

TEST_F(Placements, ACheckBesideMultiKueueBecomesReadyWithTheDecision) {
  start_with_check();
  EXPECT_EQ(active(), "False NoClustersAvailable: Placement kueue-system/p has not decided yet");
  decide("kueue-system", {"w3"});
  EXPECT_EQ(active(), "True Active: Placement kueue-system/p has chosen w3");
  submit("j");
  EXPECT_EQ(state_of("j", "place"), "Ready: Placement kueue-system/p has chosen w3");
  EXPECT_EQ(winner_of("j"), "w3");
  for (const char* worker : {"w1", "w2"}) EXPECT_EQ(held_by(worker), "workloads 0, jobs 0");
}

TEST_F(Placements, NoWorkerIsChosenForAJobThatRunsOnTheHub) {
  start_with_check();
  decide("kueue-system", {"w3"});
  std::string yaml = job_yaml("j");
  const std::string none = "annotations: {}";
  apply(yaml.replace(yaml.find(none), none.size(),
                     "annotations: {multikueue.regatta.dev/run-on-hub: \"true\"}"));
  settle();
  EXPECT_EQ(state_of("j", "place"), "Ready: The job asks to run on the hub");
  EXPECT_EQ(job("j").spec.suspend, false);
  EXPECT_THAT(nominated("j"), IsEmpty());
}

TEST_F(Placements, TheConditionOfACheckFollowsItsPlacement) {
  start_with_check();
  decide("kueue-system", {"w3"});
  decide("kueue-system", {});
  EXPECT_EQ(active(), "False NoClustersAvailable: Placement kueue-system/p has chosen no cluster");
  ASSERT_TRUE(cluster_.remove(api::Placement::resource, {"kueue-system", "p"}));
  settle();
  EXPECT_EQ(active(), "False PlacementNotFound: Placement kueue-system/p does not exist");
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("place"),
                             R"({"spec":{"parameters":{"kind":"MultiKueueConfig"}}})"));
  settle();
  EXPECT_THAT(active(), HasSubstr("False PlacementError: wrong parameters reference"));
}

TEST_F(Placements, AWorkloadWhoseCheckGoesIsOfferedToNoOtherWorker) {
  start_with_check();
  decide("kueue-system", {"w3"});
  submit("j", 5);
  ASSERT_EQ(state_of("j", "place"), "Ready: Placement kueue-system/p has chosen w3");
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("place")));
  // It stays for as long as the ClusterQueue lists it.
  settle();
  check_names("mk", "chosen");
  settle(60s);
  EXPECT_EQ(active(), "gone");
  for (const char* worker : {"w1", "w2"}) EXPECT_EQ(held_by(worker), "workloads 0, jobs 0");
  decide("kueue-system", {"w2"});
  make_check("chosen");
  settle();
  EXPECT_EQ(state_of("j", "chosen"), "Ready: Placement kueue-system/p has chosen w2");
  EXPECT_THAT(nominated("j"), ElementsAre("w2"));
  EXPECT_EQ(held_by("w1"), "workloads 0, jobs 0");
}

TEST_F(Placements, ACheckMadeAnewForAnotherControllerIsNoLongerTheirs) {
  start_with_check();
  decide("kueue-system", {"w3"});
  check_names("mk", "none");
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("place")));
  until("it is gone", [&] { return active() == "gone"; });
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: place}\n"
      "spec: {controllerName: example.com/other}");
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("place"),
                             R"({"status":{"conditions":[{"type":"Active","status":"True",
      "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                             "status"));
  check_names("mk", "place");
  submit("j");
  EXPECT_THAT(state_of("j", "place"), HasSubstr("Pending: "));
  EXPECT_EQ(active(), "True Active: ");
}

TEST_F(Placements, TwoChecksOfOnePlacementGoOneWithoutTheOther) {
  start_with_check();
  make_check("second");
  ASSERT_TRUE(cluster_.patch(
      api::ClusterQueue::resource, api::ObjectKey("cq"),
      R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"mk"},{"name":"place"},{"name":"second"}]}}})"));
  decide("kueue-system", {"w3"});
  EXPECT_EQ(active(), "True Active: Placement kueue-system/p has chosen w3");
  EXPECT_EQ(active("second"), active());
  submit("j", 5);
  EXPECT_EQ(state_of("j", "second"), "Ready: Placement kueue-system/p has chosen w3");
  EXPECT_EQ(state_of("j", "place"), state_of("j", "second"));
  check_names("mk", "second");
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("place")));
  settle();
  EXPECT_EQ(active(), "gone");
  decide("kueue-system", {"w2"});
  EXPECT_EQ(active("second"), "True Active: Placement kueue-system/p has chosen w2");
  EXPECT_THAT(nominated("j"), ElementsAre("w2"));
}

TEST_F(Placements, ACheckThatTheAddOnKeepsIsLeftToIt) {
  start_with_check();
  ASSERT_TRUE(cluster_.patch(
      api::AdmissionCheck::resource, api::ObjectKey("place"),
      R"({"metadata":{"finalizers":["kueue-addon.open-cluster-management.io/admissioncheck-cleanup"]}})"));
  settle();
  const std::string before = active();
  decide("kueue-system", {"w3"});
  EXPECT_EQ(active(), before);
}

TEST_F(Placements, ACheckWaitsUntilTheClusterServesPlacements) {
  define("sig-multicluster.yaml");
  start_all({"w1"}, by_placements());
  ASSERT_TRUE(
      cluster_.patch(api::LocalQueue::resource, key("main"),
                     R"({"metadata":{"annotations":{"multikueue.regatta.dev/placement":"p"}}})"));
  submit("j");
  EXPECT_THAT(events("Workload"),
              Contains("NotNominated: This cluster does not serve Placements of "
                       "cluster.open-cluster-management.io/v1beta1"));
  define("ocm.yaml");
  make_placement("default");
  decide("default", {"w1"});
  until("it runs", [&] { return winner_of("j") == "w1"; }, 300s);
}

TEST_F(Placements, DecisionsOfSigMulticlusterCountInTheirOrder) {
  define("sig-multicluster.yaml");
  start_all({"w1", "w2", "w3"}, by_placements());
  apply(R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: PlacementDecision
metadata:
  name: a
  namespace: default
  labels: {multicluster.x-k8s.io/decision-key: k, multicluster.x-k8s.io/decision-index: "10"}
decisions:
- {clusterProfileRef: {name: w1, namespace: fleet}, reason: last}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: PlacementDecision
metadata:
  name: z
  namespace: default
  labels: {multicluster.x-k8s.io/decision-key: k, multicluster.x-k8s.io/decision-index: "2"}
decisions:
- {clusterProfileRef: {name: w3, namespace: fleet}, reason: best}
- {clusterProfileRef: {name: w2, namespace: fleet}, reason: good}
)");
  ASSERT_TRUE(cluster_.patch(
      api::LocalQueue::resource, key("main"),
      R"({"metadata":{"annotations":{"multikueue.regatta.dev/placement-key":"k"}}})"));
  settle();
  // No worker has room for five, so the nominations stay to be seen.
  submit("j", 5);
  EXPECT_THAT(nominated("j"), ElementsAre("w3", "w2", "w1"));
}

TEST_F(Placements, AManagerThatStartsLaterGoesOn) {
  start_with_queue();
  submit("j");
  manager_.reset();
  decide("default", {"w3"});
  start_manager(by_placements());
  until("it runs", [&] { return winner_of("j") == "w3"; });
}

TEST_F(Placements, ACheckThatNamesAnotherDispatcherIsLeftToIt) {
  start_with_queue();
  ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey("mk"),
                             R"({"metadata":{"annotations":{"multikueue.regatta.dev/dispatcher":
                             "multikueue.regatta.dev/capacity"}}})"));
  settle();
  decide("default", {"w3"});
  submit("j");
  EXPECT_EQ(winner_of("j"), "w1");
  EXPECT_THAT(events("Workload"), Not(Contains(HasSubstr("Placement"))));
}

TEST_F(Placements, WithoutThemNothingIsAskedForOrWritten) {
  define("ocm.yaml");
  start_all({"w1"});
  submit("j");
  EXPECT_EQ(winner_of("j"), "w1");
  EXPECT_THAT(events("Workload"), Not(Contains(HasSubstr("Placement"))));
}

}  // namespace
}  // namespace regatta::test_support
