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

}  // namespace
}  // namespace regatta::test_support
