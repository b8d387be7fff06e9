#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

TEST_F(OneCluster, AJobWaitsRunsAndFinishes) {
  start_with_queues();
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();

  const api::Job started = job("j");
  const auto workload = workload_of("j");
  ASSERT_TRUE(workload);
  EXPECT_EQ(condition(workload->status.conditions, "QuotaReserved"),
            "True QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(condition(workload->status.conditions, "Admitted"),
            "True Admitted: The workload is admitted");
  EXPECT_TRUE(workload->metadata.has_finalizer(api::finalizers::resource_in_use));
  EXPECT_EQ(workload->metadata.label("kueue.x-k8s.io/job-uid"), started.metadata.uid);

  const Json running = started.spec.pod_template.json();
  EXPECT_EQ(running["spec"]["nodeSelector"]["pool"], "cpu");
  EXPECT_EQ(running["spec"]["nodeSelector"]["disk"], "ssd");
  EXPECT_EQ(running["metadata"]["labels"]["kueue.x-k8s.io/podset"], "main");
  EXPECT_EQ(running["metadata"]["annotations"]["kueue.x-k8s.io/workload"], workload->metadata.name);

  run_job("j", 2);
  settle();
  complete_job("j", 2);
  settle();
  const auto finished = workload_of("j");
  EXPECT_EQ(condition(finished->status.conditions, "Finished"),
            "True Succeeded: Reached expected number of succeeded pods");
  EXPECT_TRUE(finished->metadata.finalizers.empty());
  EXPECT_EQ(manager_->requests.conflicts(), 0);
  std::cout << manager_->requests.str() << "\n";
}

}  // namespace
}  // namespace regatta::test_support
