// Pods that run on a worker.
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;

class PodsInFleet : public Federation {
 protected:
  static manager::CoreConfig with_pods() {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"pod"});
    return config;
  }
  static const api::ResourceInfo& pods() {
    static const api::ResourceInfo resource{"", "v1", "Pod", "pods", true};
    return resource;
  }
  /// As the webhook lets it in.
  static std::string pod_yaml(const std::string& name) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           R"(, namespace: default, finalizers: [kueue.x-k8s.io/managed],
  labels: {kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/queue-name: main},
  annotations: {kueue.x-k8s.io/role-hash: "1"}}
spec:
  restartPolicy: Never
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]
)";
  }
  TestCluster& winner(const std::string& name) {
    until("a worker has won", [&] {
      const auto workload = workload_of(name);
      return workload && workload->status.cluster_name.has_value();
    });
    return *workers_.at(*workload_of(name)->status.cluster_name).cluster;
  }
  /// As a kubelet that ends it in its own time.
  void run_pod(TestCluster& worker) {
    until("it is open", [&] {
      const Json copy = worker.get(pods(), key("p"));
      return copy.is_object() && !gated(copy);
    });
    ASSERT_TRUE(
        worker.patch(pods(), key("p"), R"({"metadata": {"finalizers": ["example.com/kubelet"]}})"));
    ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Running"}})", "status"));
    until("that is known",
          [&] { return cluster_.get(pods(), key("p"))["status"]["phase"] == "Running"; });
  }
  /// The worker takes its place back, and it fails.
  void lose_place(TestCluster& worker) {
    worker.set_local_stop_policy("HoldAndDrain");
    until("it is to end there",
          [&] { return worker.get(pods(), key("p"))["metadata"].contains("deletionTimestamp"); });
    ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Failed"}})", "status"));
    settle(5s);
  }
  static bool gated(const Json& pod) { return pod["spec"].contains("schedulingGates"); }
};

TEST_F(PodsInFleet, APodRunsOnOneWorkerAndStaysGatedOnTheHub) {
  worker_config_ = with_pods();
  start_all({"east", "west"}, with_pods());
  apply(pod_yaml("p"));
  TestCluster& worker = winner("p");
  until("it is open there", [&] {
    const Json copy = worker.get(pods(), key("p"));
    return copy.is_object() && !gated(copy);
  });
  EXPECT_TRUE(gated(cluster_.get(pods(), key("p"))));
  ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Running", "conditions": [
      {"type": "PodScheduled", "status": "True"}]}})",
                           "status"));
  settle();
  EXPECT_EQ(cluster_.get(pods(), key("p"))["status"]["phase"], "Running");
  EXPECT_TRUE(gated(cluster_.get(pods(), key("p"))));

  ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Succeeded"}})", "status"));
  settle(10s);
  EXPECT_THAT(condition_of("p", "Finished"), HasSubstr("True Succeeded"));
  const Json ended = cluster_.get(pods(), key("p"));
  EXPECT_EQ(ended["status"]["phase"], "Succeeded");
  EXPECT_FALSE(ended["metadata"].contains("finalizers"));
  for (const char* name : {"east", "west"}) {
    EXPECT_EQ(held_by(name), "workloads 0, jobs 0");
    EXPECT_TRUE(workers_.at(name).cluster->get(pods(), key("p")).is_null()) << name;
  }
}

TEST_F(PodsInFleet, APodThatIsReadyOnItsWorkerIsNotLateOnTheHub) {
  worker_config_ = with_pods();
  manager::CoreConfig config = with_pods();
  wait_for_pods(&config, 5min);
  start_all({"east", "west"}, config);
  apply(pod_yaml("p"));
  TestCluster& worker = winner("p");
  run_pod(worker);
  EXPECT_THAT(condition_of("p", "PodsReady"), testing::StartsWith("False WaitForStart"));
  ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Running", "conditions": [
      {"type": "Ready", "status": "True"}]}})",
                           "status"));
  const std::string uid = worker.get(pods(), key("p"))["metadata"].value("uid", "");
  settle(20min);
  EXPECT_THAT(condition_of("p", "PodsReady"), testing::StartsWith("True Started"));
  EXPECT_EQ(condition_of("p", "Evicted"), "");
  EXPECT_EQ(worker.get(pods(), key("p"))["metadata"].value("uid", ""), uid);
}

TEST_F(PodsInFleet, APodThatDoesNotGetReadyOnItsWorkerIsLate) {
  worker_config_ = with_pods();
  manager::CoreConfig config = with_pods();
  wait_for_pods(&config, 5min);
  start_all({"east"}, config);
  apply(pod_yaml("p"));
  run_pod(winner("p"));
  settle(6min);
  EXPECT_THAT(condition_of("p", "Evicted"), HasSubstr("Exceeded the PodsReady timeout"));
}

/// Its Workload keeps the worker, so it runs there.
TEST_F(PodsInFleet, APodStaysGatedOnTheHubWhenItsCheckIsGone) {
  worker_config_ = with_pods();
  start_all({"east"}, with_pods());
  apply(pod_yaml("p"));
  run_pod(winner("p"));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"admissionChecksStrategy":null}})"));
  ASSERT_TRUE(cluster_.remove(api::AdmissionCheck::resource, api::ObjectKey("mk")));
  settle();
  ASSERT_FALSE(cluster_.get<api::AdmissionCheck>(api::ObjectKey("mk")));
  ASSERT_TRUE(cluster_.patch(pods(), key("p"), R"({"metadata":{"labels":{"a":"b"}}})"));
  settle();
  EXPECT_TRUE(gated(cluster_.get(pods(), key("p"))));
  manager_.reset();
  start_manager(with_pods());
  settle(20s);
  EXPECT_TRUE(gated(cluster_.get(pods(), key("p"))));
}

TEST_F(PodsInFleet, APodThatLostItsPlaceOnAWorkerRunsOnAnotherOne) {
  worker_config_ = with_pods();
  start_all({"east", "west"}, with_pods());
  apply(pod_yaml("p"));
  TestCluster& first = winner("p");
  const std::string host = *workload_of("p")->status.cluster_name;
  TestCluster& other = *workers_.at(host == "east" ? "west" : "east").cluster;
  run_pod(first);
  lose_place(first);
  EXPECT_NE(cluster_.get(pods(), key("p"))["status"]["phase"], "Failed");
  EXPECT_TRUE(other.get(pods(), key("p")).is_null()) << "it is not gone from the first one yet";
  ASSERT_TRUE(first.patch(pods(), key("p"), R"({"metadata": {"finalizers": null}})"));
  until("it is open on the other one", [&] {
    const Json copy = other.get(pods(), key("p"));
    return copy.is_object() && !gated(copy);
  });
}

TEST_F(PodsInFleet, APodThatLostItsPlaceWhileTheHubWasAwayHasNotFailed) {
  for (const bool managed : {true, false}) {
    SCOPED_TRACE(managed);
    if (managed) {
      worker_config_ = with_pods();
      start_all({"east"}, with_pods());
    }
    apply(pod_yaml("p"));
    TestCluster& there = winner("p");
    run_pod(there);
    const char* both = R"({"metadata": {"finalizers": ["kueue.x-k8s.io/managed", "a/kubelet"]}})";
    if (managed) ASSERT_TRUE(there.patch(pods(), key("p"), both));
    network_.faults("east").partitioned = true;
    lose_place(there);
    const auto copy = there.list<api::Workload>().front();
    EXPECT_FALSE(api::is_true(copy.status.conditions, "Finished"));
    EXPECT_EQ(api::is_true(copy.status.conditions, "QuotaReserved"), !managed);
    ASSERT_TRUE(there.patch(pods(), key("p"), R"({"metadata": {"finalizers": null}})"));
    // As the garbage collector, since its pod is gone.
    ASSERT_TRUE(there.patch(api::Workload::resource, copy.metadata.key(),
                            R"({"metadata": {"finalizers": null}})"));
    ASSERT_TRUE(there.remove(api::Workload::resource, copy.metadata.key()));
    network_.faults("east").partitioned = false;
    there.set_local_stop_policy("None");
    // The watches that were cut off say nothing.
    const auto open = [&] {
      const Json pod = there.get(pods(), key("p"));
      return pod.is_object() && !gated(pod) && !pod["metadata"].contains("deletionTimestamp");
    };
    until("it runs there again", open, 5min);
    EXPECT_TRUE(gated(cluster_.get(pods(), key("p"))));
    ASSERT_TRUE(cluster_.remove(pods(), key("p")));
    const auto left = workload_of("p");
    ASSERT_TRUE(left);
    until("it is let go", [&] { return cluster_.get(pods(), key("p")).is_null(); });
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, left->metadata.key()));
    until("it is gone", [&] { return there.get(pods(), key("p")).is_null(); }, 2min);
  }
}

TEST_F(PodsInFleet, APodThatEndedWithItsWorkloadHasEndedThoughItLostItsPlace) {
  worker_config_ = with_pods();
  start_all({"east"}, with_pods());
  apply(pod_yaml("p"));
  TestCluster& worker = winner("p");
  run_pod(worker);
  workers_.at("east").manager.reset();
  ASSERT_TRUE(worker.patch(pods(), key("p"), R"({"status": {"phase": "Failed", "conditions": [
      {"type": "TerminationTarget", "status": "True",
       "reason": "WorkloadEvictedDueToPreempted"}]}})",
                           "status"));
  settle();
  EXPECT_NE(cluster_.get(pods(), key("p"))["status"]["phase"], "Failed");
  const auto copy = worker.list<api::Workload>().front().metadata.key();
  ASSERT_TRUE(worker.patch(api::Workload::resource, copy,
                           R"({"status": {"conditions": [{"type": "Finished", "status": "True",
      "reason": "Failed", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})",
                           "status"));
  settle(5s);
  EXPECT_THAT(condition_of("p", "Finished"), HasSubstr("True Failed"));
  EXPECT_EQ(cluster_.get(pods(), key("p"))["status"]["phase"], "Failed");
}

TEST_F(PodsInFleet, APodThatIsDeletedOnTheHubGoesOnItsWorker) {
  worker_config_ = with_pods();
  start_all({"east"}, with_pods());
  apply(pod_yaml("p"));
  TestCluster& worker = winner("p");
  until("it is open there", [&] {
    const Json copy = worker.get(pods(), key("p"));
    return copy.is_object() && !gated(copy);
  });
  ASSERT_TRUE(cluster_.remove(pods(), key("p")));
  until("it is let go", [&] { return cluster_.get(pods(), key("p")).is_null(); });
  // As the garbage collector.
  const auto left = workload_of("p");
  ASSERT_TRUE(left);
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, left->metadata.key()));
  until("its copy is gone", [&] { return worker.get(pods(), key("p")).is_null(); });
  EXPECT_FALSE(workload_of("p"));
}

}  // namespace
}  // namespace regatta::test_support
