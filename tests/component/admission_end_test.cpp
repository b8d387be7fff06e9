#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// What ends an admission or a reservation, what does not, and the conditions and events that say
/// so.
class AdmissionEnd : public OneCluster {
 protected:
  void add_check(const char* name) {
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: " +
          std::string(name) + "}\nspec: {controllerName: example.dev/check}\n");
    ASSERT_TRUE(cluster_.patch(api::AdmissionCheck::resource, api::ObjectKey(name),
                               R"({"status":{"conditions":[{"type":"Active","status":"True",
    "reason":"Active","message":"ok","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                               "status"));
  }
  void require(const std::string& checks) {
    patch_queue(R"({"spec":{"admissionChecksStrategy":{"admissionChecks":)" + checks + "}}}");
  }
  void patch_queue(const std::string& json) {
    const Status done = cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"), json);
    ASSERT_TRUE(done) << done.error().what();
    settle();
  }
  void start_running(const std::string& name, int pods = 1) {
    apply(job_yaml(name, pods));
    until("started", [&] { return !job(name).spec.suspend.value_or(true); });
    run_job(name, pods);
    settle();
  }
  bool has_pool(const std::string& name) {
    return job(name).spec.pod_template.json()["spec"]["nodeSelector"].contains("pool");
  }
};

TEST_F(AdmissionEnd, ACheckThatIsAddedLaterStopsNoWorkload) {
  start_with_queues();
  start_running("j");
  add_check("late");
  require(R"([{"name":"late"}])");
  ASSERT_EQ(workload_of("j")->status.admission_checks.size(), 1U);
  EXPECT_EQ(workload_of("j")->status.admission_checks[0].state, api::CheckState::Pending);
  EXPECT_THAT(condition_of("j", "Admitted"), HasSubstr("True Admitted"));
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  // A workload that is created now waits for the check, and says so from the start.
  apply(job_yaml("next"));
  settle();
  EXPECT_EQ(condition_of("next", "Admitted"),
            "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  patch_queue(R"({"spec":{"admissionChecksStrategy":null}})");
  EXPECT_TRUE(workload_of("j")->status.admission_checks.empty());
  EXPECT_THAT(condition_of("next", "Admitted"), HasSubstr("True Admitted"));
}

TEST_F(AdmissionEnd, ADeletedClusterQueueKeepsNoMereReservation) {
  start_with_queues();
  add_check("slow");
  require(R"([{"name":"slow"}])");
  apply(job_yaml("j"));
  until("reserved", [&] { return condition_of("j", "QuotaReserved").starts_with("True"); });
  ASSERT_TRUE(cluster_.remove(api::ClusterQueue::resource, api::ObjectKey("cq")));
  settle();
  EXPECT_THAT(condition_of("j", "QuotaReserved"),
              HasSubstr("False Misconfigured: ClusterQueue cq"));
  EXPECT_EQ(condition_of("j", "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_FALSE(cluster_.get<api::ClusterQueue>(api::ObjectKey("cq")))
      << "no workload uses it any more";
}

TEST_F(AdmissionEnd, AStoppedJobGetsItsTemplateBackWhenNoPodIsActive) {
  start_with_queues();
  start_running("j", 2);
  ASSERT_TRUE(has_pool("j"));
  patch_queue(R"({"spec":{"stopPolicy":"HoldAndDrain"}})");
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_FALSE(job("j").status.start_time);
  EXPECT_TRUE(has_pool("j")) << "the API would refuse that now";
  EXPECT_THAT(events("Job"), Not(Contains(HasSubstr("Stopped"))));
  patch_job_status("j", R"({"status":{"active":null,"ready":0,"terminating":2}})");
  settle();
  EXPECT_FALSE(has_pool("j"));
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True ")) << "its pods still end";
  EXPECT_THAT(events("Job"), Contains("Stopped: The ClusterQueue is stopped"));
  patch_job_status("j", R"({"status":{"terminating":0}})");
  settle();
  EXPECT_EQ(condition_of("j", "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_THAT(condition_of("j", "Requeued"), HasSubstr("False ClusterQueueStopped"));
}

TEST_F(AdmissionEnd, WaitingAndItsReasonAreOneWrite) {
  start_with_queues();
  start_running("full", 4);
  const int before = manager_->requests.count("patch", "workloads/status");
  apply(job_yaml("waits"));
  settle();
  EXPECT_THAT(condition_of("waits", "QuotaReserved"), HasSubstr("False WaitingForQuota"));
  EXPECT_EQ(condition_of("waits", "Admitted"),
            "False NoReservation: The workload has no reservation");
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), before + 1);
}

TEST_F(AdmissionEnd, EventsSayHowLongWasWaited) {
  start_with_queues();
  start_running("first", 4);
  apply(job_yaml("second"));
  settle(10s);
  complete_job("first", 4);
  settle();
  EXPECT_THAT(events("Workload"), Contains("QuotaReserved: Quota reserved in ClusterQueue cq, wait "
                                           "time since queued was 11s"));
  EXPECT_THAT(events("Workload"), Contains("Admitted: Admitted by ClusterQueue cq, wait time since "
                                           "reservation was 0s"));
}

TEST_F(AdmissionEnd, TheEventOfAReservationNamesTheFlavorsThatWereNotGoodEnough) {
  start_with_queues();
  apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: spare}\n");
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
        {"name":"cpu-only","resources":[{"name":"cpu","nominalQuota":"4"}]},
        {"name":"spare","resources":[{"name":"cpu","nominalQuota":"8"}]}]}]}})"));
  apply(job_yaml("big", 5));
  settle();
  EXPECT_THAT(events("Workload"),
              Contains("QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued "
                       "was 0s; Flavors considered: main: cpu-only(NoFit;insufficient quota for "
                       "cpu in flavor cpu-only, previously considered podsets requests (0) + "
                       "current podset request (5) > maximum capacity (4))"));
}

}  // namespace
}  // namespace regatta::test_support
