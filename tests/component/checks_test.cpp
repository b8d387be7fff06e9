#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The ClusterQueue needs the check `checked`. The test plays its controller.
class Checks : public OneCluster {
 protected:
  void start() {
    apply_check();
    start_with_queues();
    set_check_active(true);
    require_check();
    settle();
  }
  /// Sets the check's state as its controller would.
  void set_state(const std::string& state, const std::string& more = "") {
    const auto workload = workload_of("j");
    ASSERT_TRUE(workload);
    const std::string now = format_rfc3339(world_.now());
    const Status done = cluster_.patch(
        api::Workload::resource, workload->metadata.key(),
        R"({"status":{"admissionChecks":[{"name":"checked","state":")" + state +
            R"(","lastTransitionTime":")" + now + R"(","message":"said so")" + more + "}]}}",
        "status");
    ASSERT_TRUE(done) << done.error().what();
    settle();
  }
  api::AdmissionCheckState check() {
    const auto workload = workload_of("j");
    const auto* found = api::find_check(workload->status, "checked");
    if (!found) ADD_FAILURE() << "no such check";
    return found ? *found : api::AdmissionCheckState();
  }
  bool started() { return !job("j").spec.suspend.value_or(true); }
};

TEST_F(Checks, AdmissionWaitsForTheCheckAndTakesItsUpdates) {
  start();
  apply(job_yaml("j"));
  settle();
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
  EXPECT_FALSE(started());
  EXPECT_EQ(check().state, api::CheckState::Pending);
  set_state("Ready", R"(,"podSetUpdates":[{"name":"main","labels":{"given":"x"},
    "nodeSelector":{"zone":"z1"}}])");
  EXPECT_TRUE(started());
  EXPECT_EQ(condition_of("j", "Admitted"), "True Admitted: The workload is admitted");
  const Json running = job("j").spec.pod_template.json();
  EXPECT_EQ(running["metadata"]["labels"]["given"], "x");
  EXPECT_EQ(running["spec"]["nodeSelector"]["zone"], "z1");
}

TEST_F(Checks, AContradictionOfTheCheckEndsTheWorkload) {
  start();
  apply(job_yaml("j"));
  settle();
  set_state("Ready", R"(,"podSetUpdates":[{"name":"main","nodeSelector":{"disk":"hdd"}}])");
  EXPECT_FALSE(started());
  EXPECT_THAT(condition_of("j", "Finished"), HasSubstr("True FailedToStart: "));
}

TEST_F(Checks, AContradictionOfCheckAndFlavorEndsItToo) {
  start();
  apply(job_yaml("j"));
  settle();
  set_state("Ready", R"(,"podSetUpdates":[{"name":"main","nodeSelector":{"pool":"gpu"}}])");
  EXPECT_THAT(condition_of("j", "Finished"), HasSubstr("True FailedToStart: "));
}

TEST_F(Checks, AJobRunsNoLongerThanItMay) {
  start_with_queues();
  apply(job_yaml("j", 1, "main", "{}", ", kueue.x-k8s.io/max-exec-time-seconds: \"60\""));
  until("started", [&] { return started(); });
  settle(50s);
  EXPECT_TRUE(started());
  settle(15s);
  EXPECT_FALSE(started());
  EXPECT_EQ(condition_of("j", "Evicted"),
            "True DeactivatedDueToMaximumExecutionTimeExceeded: The workload is deactivated due to "
            "exceeding the maximum execution time");
  EXPECT_THAT(events("Workload"),
              Contains("MaximumExecutionTimeExceeded: The maximum execution time (60s) exceeded"));
}

TEST_F(Checks, RetryGivesTheQuotaBackAndAsksAgainWhenTold) {
  start();
  apply(job_yaml("j"));
  settle();
  set_state("Retry", R"(,"requeueAfterSeconds":60)");
  EXPECT_EQ(
      condition_of("j", "Evicted"),
      "True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: \"checked\" (said so)");
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  EXPECT_THAT(condition_of("j", "Requeued"), HasSubstr("False AdmissionCheck: "));
  EXPECT_EQ(check().state, api::CheckState::Pending);
  EXPECT_EQ(check().message, "Reset to Pending after eviction. Previously: Retry");
  EXPECT_EQ(check().retry_count, 1);
  settle(40s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  settle(30s);
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
  EXPECT_EQ(condition_of("j", "Requeued"),
            "True BackoffFinished: The workload backoff was finished");
  set_state("Ready");
  EXPECT_TRUE(started());
}

TEST_F(Checks, AStartWaitsForAFlavorThatIsGoneAndItsReturnWakesIt) {
  start();
  apply(job_yaml("j"));
  settle();
  const api::ObjectKey flavor("cpu-only");
  ASSERT_TRUE(cluster_.remove(api::ResourceFlavor::resource, flavor));
  ASSERT_TRUE(
      cluster_.patch(api::ResourceFlavor::resource, flavor, R"({"metadata":{"finalizers":null}})"));
  settle();
  set_state("Ready");
  EXPECT_EQ(condition_of("j", "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_FALSE(started());
  apply(flavor_yaml);
  settle();
  EXPECT_TRUE(started());
}

TEST_F(Checks, RejectedDeactivates) {
  start();
  apply(job_yaml("j"));
  settle();
  set_state("Rejected");
  const auto workload = workload_of("j");
  EXPECT_FALSE(workload->spec.active);
  EXPECT_EQ(
      condition_of("j", "Evicted"),
      "True DeactivatedDueToAdmissionCheck: The workload is deactivated due to AdmissionCheck in "
      "Rejected state: \"checked\" (said so)");
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  EXPECT_EQ(condition_of("j", "DeactivationTarget"), "");
  EXPECT_THAT(
      events("Workload"),
      Contains("AdmissionCheckRejected: Deactivated due to AdmissionCheck in Rejected state: "
               "\"checked\" (said so)"));
}

TEST_F(Checks, AnInactiveCheckStopsTheQueueAndItsReturnWakesTheWaiting) {
  start();
  set_check_active(false);
  settle();
  const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
  EXPECT_EQ(condition(queue->status.conditions, "Active"),
            "False AdmissionCheckInactive: Can't admit new workloads: references inactive "
            "AdmissionCheck(s): checked.");
  apply(job_yaml("j"));
  settle();
  EXPECT_EQ(condition_of("j", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");
  set_check_active(true);
  settle();
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
}

TEST_F(Checks, HoldDropsAReservationThatIsNotAdmittedYet) {
  start();
  apply(job_yaml("j"));
  settle();
  cluster_.set_stop_policy("Hold");
  settle();
  EXPECT_THAT(condition_of("j", "QuotaReserved"),
              HasSubstr("False Suspended: ClusterQueue cq is "));
  cluster_.set_stop_policy("None");
  settle();
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
}

}  // namespace
}  // namespace regatta::test_support
