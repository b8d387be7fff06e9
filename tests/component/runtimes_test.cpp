// Jobs whose pods are those of a runtime that many jobs share.
#include "jobs/integrations/integrations.h"
#include "tests/component/federation.h"
#include "tests/support/manifests.h"

namespace regatta::test_support {
namespace {

class Runtimes : public Federation {
 protected:
  static manager::CoreConfig with_train_jobs() {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"trainer.kubeflow.org/trainjob"});
    return config;
  }
  static const jobs::JobKind& train_job_kind() {
    return *jobs::all_kinds().find("trainer.kubeflow.org", "TrainJob");
  }
  static const api::ResourceInfo& train_jobs() { return train_job_kind().resource(); }
  void define(TestCluster& cluster) {
    ASSERT_TRUE(cluster.apply(crd_yaml(train_jobs())));
    for (const api::ResourceInfo& runtime : train_job_kind().runtimes()) {
      ASSERT_TRUE(cluster.apply(crd_yaml(runtime)));
    }
  }
  static constexpr const char* runtime = R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 2, torch: {}}
  template: {spec: {replicatedJobs: [{name: node, replicas: 1, template: {
    metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}},
    spec: {template: {spec: {containers: [
      {name: node, image: i, resources: {requests: {cpu: 1}}}]}}}}}]}}
)";
  static std::string train_job(const std::string& more = "") {
    return R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  runtimeRef: {name: torch})" +
           more + "\n";
  }
  Json pods_of(TestCluster& cluster) {
    const Json job = cluster.get(train_jobs(), key("t"));
    if (!job.is_object() || job["spec"]["suspend"] != false) return {};
    const Json::json_pointer at(
        "/spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/"
        "template/spec");
    return job.value(at, Json());
  }
};

TEST_F(Runtimes, AJobWaitsForItsRuntimeAndStartsWithWhatItsAdmissionAdds) {
  define(cluster_);
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply(local_queue_yaml);
  start_manager(with_train_jobs());
  apply(train_job());
  settle();
  EXPECT_FALSE(workload_of("t"));
  EXPECT_THAT(events("TrainJob"),
              testing::Contains(testing::HasSubstr("runtime 'torch' not found")));
  apply(runtime);
  settle();
  const auto workload = workload_of("t");
  ASSERT_TRUE(workload);
  ASSERT_EQ(workload->spec.pod_sets.size(), 1U);
  EXPECT_EQ(workload->spec.pod_sets[0].count, 2);
  EXPECT_EQ(pods_of(cluster_)["nodeSelector"]["pool"], "cpu");
}

TEST_F(Runtimes, AJobRunsOnAWorkerWithTheRuntimeThatItHasThere) {
  worker_config_ = with_train_jobs();
  add_worker("east");
  define(cluster_);
  TestCluster& east = *workers_.at("east").cluster;
  define(east);
  apply(runtime);
  ASSERT_TRUE(east.apply(runtime));
  configure_hub();
  start_manager(with_train_jobs());
  start_worker("east");
  settle(10s);
  apply(train_job("\n  managedBy: kueue.x-k8s.io/multikueue"));
  until("it runs there", [&] { return pods_of(east).is_object(); });
  const Status ended = east.patch(train_jobs(), key("t"),
                                  R"({"status": {"conditions": [{"type": "Complete",
       "status": "True", "reason": "JobsCompleted", "message": "all done",
       "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})",
                                  "status");
  ASSERT_TRUE(ended) << ended.error().what();
  until("finished", [&] { return condition_of("t", "Finished") != ""; });
  EXPECT_EQ(condition_of("t", "Finished"), "True Succeeded: all done");
  settle();
  EXPECT_EQ(cluster_.get(train_jobs(), key("t"))["status"]["conditions"][0]["type"], "Complete");
  EXPECT_TRUE(east.get(train_jobs(), key("t")).is_null());
}

/// Ray adds and removes workers of a cluster by itself.
class RaySizes : public OneCluster {
 protected:
  static const api::ResourceInfo& kind(const char* name) {
    return jobs::all_kinds().find("ray.io", name)->resource();
  }
  static std::string workers(int count) {
    return "{groupName: w, replicas: " + std::to_string(count) +
           ", template: {spec: {containers: [{name: w, image: i, "
           "resources: {requests: {cpu: 1}}}]}}}";
  }
  static std::string ray_job() {
    return R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: r, namespace: default, labels: {kueue.x-k8s.io/queue-name: main},
           annotations: {kueue.x-k8s.io/elastic-job: "true"}}
spec:
  suspend: true
  submissionMode: HTTPMode
  rayClusterSpec:
    enableInTreeAutoscaling: true
    autoscalerOptions: {resources: {}}
    headGroupSpec: {template: {spec: {containers: [
      {name: h, image: i, resources: {requests: {cpu: 1}}}]}}}
    workerGroupSpecs: [)" +
           workers(1) + "]\n";
  }
  void start() {
    apply(crd_yaml(kind("RayJob")));
    apply(crd_yaml(kind("RayCluster")));
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"ray.io/rayjob", "ray.io/rayservice"});
    start_manager(std::move(config));
    apply(ray_job());
    settle();
    ASSERT_TRUE(cluster_.patch(kind("RayJob"), key("r"),
                               R"({"status": {"jobDeploymentStatus": "Running",
                                              "rayClusterName": "rc"}})",
                               "status"));
    scale(1);
  }
  /// As the autoscaler of Ray does.
  void scale(int count) {
    apply(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: rc, namespace: default}\n"
        "spec: {workerGroupSpecs: [" +
        workers(count) + "]}\n");
    settle();
  }
  /// The workers of each Workload that is not finished.
  std::vector<int> sizes() {
    std::vector<int> out;
    for (const api::Workload& one : cluster_.list<api::Workload>("default")) {
      if (api::is_true(one.status.conditions, "Finished")) continue;
      out.push_back(one.spec.pod_sets.at(1).count);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string reserved() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return queue->status.flavors_reservation.at(0).resources.at(0).total.str();
  }
  bool runs() { return !cluster_.get(kind("RayJob"), key("r"))["spec"].contains("suspend"); }
  Json noted() {
    return cluster_.get(
        kind("RayJob"),
        key("r"))["metadata"]["annotations"]["kueue.x-k8s.io/raycluster-generation"];
  }
};

TEST_F(RaySizes, TheWorkloadFollowsTheClusterOfItsJob) {
  start();
  EXPECT_TRUE(runs());
  EXPECT_EQ(sizes(), std::vector<int>{1});
  EXPECT_EQ(noted(), "1");
  scale(3);
  EXPECT_EQ(sizes(), std::vector<int>{3}) << "a larger slice took over";
  EXPECT_EQ(reserved(), "4");
  EXPECT_EQ(noted(), "2");
  scale(2);
  EXPECT_EQ(sizes(), std::vector<int>{2});
  EXPECT_EQ(reserved(), "3");
  scale(9);
  EXPECT_EQ(sizes(), (std::vector<int>{2, 9})) << "there is no room";
  EXPECT_EQ(reserved(), "3");
  EXPECT_TRUE(runs());
}

}  // namespace
}  // namespace regatta::test_support
