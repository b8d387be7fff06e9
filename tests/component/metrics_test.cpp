#include "manager/metrics.h"

#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::Not;

class Series : public OneCluster {
 protected:
  void start() {
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {}\n");
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: team}\nspec: "
        "{parentName: all}\n");
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                               R"({"spec":{"cohortName":"team"}})"));
    manager::CoreConfig config;
    config.scheduler.admission.fair_sharing.emplace();
    metrics_.hook_into(&config);
    manager_.emplace(cluster_, network_, std::move(config));
    metrics_.follow(manager_->core());
    until("the manager has synced", [&] { return manager_->started(); });
    settle();
  }
  /// Looks for "name{labels} value" whatever else is there.
  void expect(const std::string& line) { EXPECT_THAT(metrics_.text(), HasSubstr(line + "\n")); }

  manager::Metrics metrics_{{"leader", true, api::Selector()}, "1.2.3"};
};

TEST_F(Series, TellWhatQueuesAndCohortsHold) {
  start();
  for (const char* name : {"a", "b", "c"}) apply(job_yaml(name, 2));
  settle();
  for (const char* name : {"a", "b"}) run_job(name, 2);
  settle();
  const std::string cq = R"(cluster_queue="cq",)", role = R"(replica_role="leader")";
  expect("kueue_cluster_queue_info{" + cq + R"(parent_cohort="team",)" + role +
         R"(,root_cohort="all"} 1)");
  expect(R"(kueue_cohort_info{cohort="team",parent_cohort="all",)" + role +
         R"(,root_cohort="all"} 1)");
  expect(R"(kueue_cohort_subtree_quota{cohort="all",flavor="cpu-only",)" + role +
         R"(,resource="cpu"} 4)");
  expect(R"(kueue_cohort_subtree_resource_reservations{cohort="all",flavor="cpu-only",)" + role +
         R"(,resource="cpu"} 4)");
  expect(R"(kueue_cohort_subtree_admitted_active_workloads{cohort="all",)" + role + "} 2");
  expect(R"(kueue_cluster_queue_nominal_quota{)" + cq + R"(cohort="team",flavor="cpu-only",)" +
         role + R"(,resource="cpu"} 4)");
  expect(R"(kueue_cluster_queue_resource_usage{)" + cq + R"(cohort="team",flavor="cpu-only",)" +
         role + R"(,resource="cpu"} 4)");
  expect("kueue_unadmitted_workloads{" + cq + R"(reason="NoReservation",)" + role +
         R"(,underlying_cause="WaitingForQuota"} 1)");
  expect("kueue_pending_workloads{" + cq + role + R"(,status="inadmissible"} 1)");
  expect(R"(kueue_local_queue_pending_workloads{name="main",namespace="default",)" + role +
         R"(,status="inadmissible"} 1)");
  expect(R"(kueue_local_queue_status{active="True",name="main",namespace="default",)" + role +
         "} 1");
  EXPECT_THAT(metrics_.text(), HasSubstr("kueue_cluster_queue_weighted_share{"));
  EXPECT_THAT(metrics_.text(), HasSubstr("kueue_workload_creation_latency_seconds_count{"));
  EXPECT_THAT(metrics_.text(),
              HasSubstr(R"(kueue_cohort_subtree_admitted_workloads_total{cohort="all")"));
  expect(R"(kueue_local_queue_admitted_workloads_total{name="main",namespace="default",)"
         R"(priority_class="",)" +
         role + "} 2");
  complete_job("a", 2);
  settle();
  expect("kueue_finished_workloads{" + cq + role + "} 1");
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("kueue_unadmitted_workloads{")));
}

}  // namespace
}  // namespace regatta::test_support
