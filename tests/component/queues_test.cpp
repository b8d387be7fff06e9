#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Queues : public OneCluster {
 protected:
  std::string queue_condition() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return queue ? condition(queue->status.conditions, "Active") : "no such queue";
  }
  std::string local_queue_condition() {
    const auto queue = cluster_.get<api::LocalQueue>(key("main"));
    return queue ? condition(queue->status.conditions, "Active") : "no such queue";
  }
  void patch_queue(const char* json) {
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"), json));
    settle();
  }
  void patch_local_queue(const char* json) {
    ASSERT_TRUE(cluster_.patch(api::LocalQueue::resource, key("main"), json));
    settle();
  }
  bool started(const std::string& name) { return !job(name).spec.suspend.value_or(true); }
};

TEST_F(Queues, AFieldWithoutEffectIsTold) {
  const char* told =
      "UnsupportedField: spec.concurrentAdmissionPolicy has no effect: concurrent admission is not "
      "supported, workloads get the first flavor that fits";
  apply(flavor_yaml);
  std::string yaml = cluster_queue_yaml;
  apply(yaml + "  concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}\n");
  start_manager();
  settle();
  EXPECT_THAT(events("ClusterQueue"), testing::ElementsAre(told)) << "it was there before";
  patch_queue(R"({"spec":{"stopPolicy":"Hold"}})");
  EXPECT_THAT(events("ClusterQueue"), testing::ElementsAre(told)) << "another change says nothing";
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: fleet}
spec: {clusters: [east], quotaManagement: Automated}
)");
  settle();
  EXPECT_THAT(events("MultiKueueConfig"),
              Contains(HasSubstr("UnsupportedField: spec.quotaManagement Automated")));
}

TEST_F(Queues, WhatIsMissingIsNamedAndItsCreationWakesTheJob) {
  start_manager();
  apply(job_yaml("j"));
  settle();
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "False Misconfigured: LocalQueue main doesn't exist");
  apply(local_queue_yaml);
  settle();
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "False Misconfigured: ClusterQueue cq doesn't exist");
  EXPECT_EQ(local_queue_condition(),
            "False ClusterQueueDoesNotExist: Can't submit new workloads to clusterQueue");
  apply(cluster_queue_yaml);
  settle();
  EXPECT_EQ(queue_condition(),
            "False FlavorNotFound: Can't admit new workloads: references missing "
            "ResourceFlavor(s): cpu-only.");
  EXPECT_EQ(condition_of("j", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");
  EXPECT_EQ(local_queue_condition(),
            "False ClusterQueueIsInactive: Can't submit new workloads to clusterQueue");
  apply(flavor_yaml);
  until("started", [&] { return started("j"); }, 5s);
  settle();
  EXPECT_EQ(queue_condition(), "True Ready: Can admit new workloads");
  EXPECT_EQ(local_queue_condition(), "True Ready: Can submit new workloads to localQueue");
}

TEST_F(Queues, AnEmptyLocalQueueFollowsTheActivityOfItsClusterQueue) {
  start_manager();
  apply(local_queue_yaml);
  apply(cluster_queue_yaml);
  settle();
  EXPECT_THAT(local_queue_condition(), HasSubstr("False ClusterQueueIsInactive: "));
  apply(flavor_yaml);
  settle();
  EXPECT_EQ(queue_condition(), "True Ready: Can admit new workloads");
  EXPECT_EQ(local_queue_condition(), "True Ready: Can submit new workloads to localQueue");
}

// A write of which the answer was lost while the watch was dead looks like this, too.
TEST_F(Queues, AStatusThatIsNotTheOneWrittenLastIsPutRight) {
  for (const char* yaml : {flavor_yaml, cluster_queue_yaml, local_queue_yaml}) apply(yaml);
  start_manager();
  settle();
  const char* wrong = R"({"status":{"admittedWorkloads":7}})";
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"), wrong, "status"));
  ASSERT_TRUE(cluster_.patch(api::LocalQueue::resource, key("main"), wrong, "status"));
  settle();
  const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
  EXPECT_EQ(queue->status.admitted_workloads, 0);
  EXPECT_EQ(cluster_.get<api::LocalQueue>(key("main"))->status.admitted_workloads, 0);
}

TEST_F(Queues, AWorkloadThatIsReactivatedSaysWhyItStillWaits) {
  start_with_queues();
  apply(job_yaml("runs", 4));
  until("started", [&] { return started("runs"); });
  apply(job_yaml("waits", 4));
  settle();
  EXPECT_THAT(condition_of("waits", "QuotaReserved"),
              HasSubstr("False WaitingForQuota: couldn't assign flavors"));
  const auto set_active = [&](bool active) {
    ASSERT_TRUE(
        cluster_.patch(api::Workload::resource, workload_of("waits")->metadata.key(),
                       active ? R"({"spec":{"active":true}})" : R"({"spec":{"active":false}})"));
    settle();
  };
  patch_local_queue(R"({"spec":{"stopPolicy":"Hold"}})");
  set_active(false);
  EXPECT_THAT(condition_of("waits", "QuotaReserved"), HasSubstr("False Deactivated: "));
  patch_local_queue(R"({"spec":{"stopPolicy":"None"}})");
  set_active(true);
  EXPECT_EQ(condition_of("waits", "QuotaReserved"),
            "False WaitingForQuota: Bypassed scheduling evaluation because an equivalent workload "
            "recently failed");
  complete_job("runs", 4);
  until("started", [&] { return started("waits"); }, 5s);
}

TEST_F(Queues, TheShareOfACohortFollowsWhatIsUsedBelowItAndWhatThereIsToLend) {
  apply(flavor_yaml);
  const std::string cohort = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: ";
  apply(cohort + "all}\nspec: {}\n");
  apply(cohort + "team}\nspec: {parentName: all}\n");
  apply(cluster_queue_yaml);
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"cohortName":"all"}})"));
  std::string yaml = cluster_queue_yaml;
  yaml.replace(yaml.find("{name: cq}"), 10, "{name: borrower}");
  yaml.replace(yaml.find("nominalQuota: \"4\""), 17, "nominalQuota: \"0\"");
  apply(yaml + "  cohortName: team\n");
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: borrower}
)");
  manager::CoreConfig config;
  config.scheduler.admission.fair_sharing.emplace();
  start_manager(std::move(config));
  settle();
  const auto share = [&] {
    const auto stored = cluster_.get<api::Cohort>(api::ObjectKey("team"));
    return stored->status.fair_sharing ? stored->status.fair_sharing->weighted_share : -1;
  };
  EXPECT_EQ(share(), 0);
  apply(job_yaml("j", 3));
  until("started", [&] { return started("j"); });
  settle();
  EXPECT_EQ(share(), 750) << "it borrows 3 of 4";
  patch_queue(R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
    {"name":"cpu-only","resources":[{"name":"cpu","nominalQuota":"6"}]}]}]}})");
  EXPECT_EQ(share(), 500) << "it borrows 3 of 6";
  const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("borrower"));
  EXPECT_EQ(queue->status.fair_sharing->weighted_share, 500);
  const auto move = [&](const char* to) {
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("borrower"),
                               R"({"spec":{"cohortName":")" + std::string(to) + "\"}}"));
    settle();
  };
  move("elsewhere");
  EXPECT_EQ(share(), 0) << "no ClusterQueue is below it";
  move("team");
  EXPECT_EQ(share(), 500);
  move("all");
  EXPECT_EQ(share(), 0) << "its only ClusterQueue is beside it";
  move("team");
  run_job("j", 3);
  complete_job("j", 3);
  settle();
  EXPECT_EQ(share(), 0);
}

TEST_F(Queues, HoldLetsTheAdmittedRunAndDrainStopsThem) {
  start_with_queues();
  apply(job_yaml("j"));
  until("started", [&] { return started("j"); });
  patch_queue(R"({"spec":{"stopPolicy":"Hold"}})");
  EXPECT_EQ(queue_condition(), "False Stopped: Can't admit new workloads: is stopped.");
  EXPECT_TRUE(started("j"));
  apply(job_yaml("late"));
  settle();
  EXPECT_EQ(condition_of("late", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");

  patch_queue(R"({"spec":{"stopPolicy":"HoldAndDrain"}})");
  EXPECT_FALSE(started("j"));
  EXPECT_EQ(condition_of("j", "Evicted"), "True ClusterQueueStopped: The ClusterQueue is stopped");
  EXPECT_EQ(condition_of("j", "Requeued"),
            "False ClusterQueueStopped: The ClusterQueue is stopped");
  EXPECT_THAT(events("Workload"),
              Contains("EvictedDueToClusterQueueStopped: The ClusterQueue is stopped"));

  patch_queue(R"({"spec":{"stopPolicy":"None"}})");
  until("both run", [&] { return started("j") && started("late"); }, 5s);
  EXPECT_EQ(condition_of("j", "Requeued"),
            "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped");
}

TEST_F(Queues, AStoppedLocalQueueDrainsAndRestarts) {
  start_with_queues();
  apply(job_yaml("j"));
  until("started", [&] { return started("j"); });
  patch_local_queue(R"({"spec":{"stopPolicy":"HoldAndDrain"}})");
  EXPECT_FALSE(started("j"));
  EXPECT_EQ(condition_of("j", "Evicted"), "True LocalQueueStopped: The LocalQueue is stopped");
  EXPECT_EQ(local_queue_condition(), "False Stopped: LocalQueue is stopped");
  apply(job_yaml("late"));
  settle();
  EXPECT_EQ(condition_of("late", "QuotaReserved"), "False Suspended: LocalQueue main is inactive");
  patch_local_queue(R"({"spec":{"stopPolicy":"None"}})");
  until("both run", [&] { return started("j") && started("late"); }, 5s);
  EXPECT_EQ(condition_of("j", "Requeued"),
            "True LocalQueueRestarted: The LocalQueue was restarted after being stopped");
}

TEST_F(Queues, StatusCountsAreRightAndCostFewWrites) {
  start_with_queues();
  manager_->requests.clear();
  for (int i = 0; i < 40; ++i) apply(job_yaml("j" + std::to_string(i)));
  settle(8s);
  auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
  EXPECT_EQ(queue->status.reserving_workloads, 4);
  EXPECT_EQ(queue->status.admitted_workloads, 4);
  EXPECT_EQ(queue->status.pending_workloads, 36);
  auto local = cluster_.get<api::LocalQueue>(key("main"));
  EXPECT_EQ(local->status.reserving_workloads, 4);
  EXPECT_EQ(local->status.admitted_workloads, 4);
  EXPECT_EQ(local->status.pending_workloads, 36);
  EXPECT_LE(manager_->requests.count("patch", "clusterqueues/status"), 4);
  EXPECT_LE(manager_->requests.count("patch", "localqueues/status"), 4);
  // One of the waiting workloads has a condition; the others are of the same class.
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 5);
  EXPECT_EQ(manager_->requests.conflicts(), 0);
  // They get theirs when they have waited for long enough.
  settle(30s);
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 40);
  int passed_over = 0;
  for (int i = 0; i < 40; ++i) {
    passed_over += condition_of("j" + std::to_string(i), "QuotaReserved") ==
                   "False WaitingForQuota: Bypassed scheduling evaluation because an equivalent "
                   "workload recently failed";
  }
  EXPECT_EQ(passed_over, 35);
  const int before = manager_->requests.writes();
  settle(5min);
  EXPECT_EQ(manager_->requests.writes(), before) << manager_->requests.str();
}

TEST_F(Queues, FinalizersHoldWhatIsInUse) {
  start_with_queues();
  apply_check();
  patch_queue(R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"checked"}]}}})");
  patch_queue(R"({"spec":{"admissionChecksStrategy":null}})");
  apply(job_yaml("j"));
  until("started", [&] { return started("j"); });
  patch_queue(R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"checked"}]}}})");
  for (const auto& [resource, name] : {std::pair{api::ResourceFlavor::resource, "cpu-only"},
                                       std::pair{api::AdmissionCheck::resource, "checked"},
                                       std::pair{api::ClusterQueue::resource, "cq"}}) {
    const Json object = cluster_.get(resource, api::ObjectKey(name));
    EXPECT_EQ(object["metadata"]["finalizers"], Json({"kueue.x-k8s.io/resource-in-use"})) << name;
    ASSERT_TRUE(cluster_.remove(resource, api::ObjectKey(name)));
  }
  settle();
  EXPECT_EQ(queue_condition(),
            "False Terminating: Can't admit new workloads; clusterQueue is terminating");
  EXPECT_FALSE(cluster_.get(api::ResourceFlavor::resource, api::ObjectKey("cpu-only")).is_null());
  EXPECT_FALSE(cluster_.get(api::AdmissionCheck::resource, api::ObjectKey("checked")).is_null());
  complete_job("j", 1);
  settle();
  for (const auto& [resource, name] : {std::pair{api::ClusterQueue::resource, "cq"},
                                       std::pair{api::ResourceFlavor::resource, "cpu-only"},
                                       std::pair{api::AdmissionCheck::resource, "checked"}}) {
    EXPECT_TRUE(cluster_.get(resource, api::ObjectKey(name)).is_null()) << name;
  }
}

TEST_F(Queues, BestEffortLetsTheSmallPassAndStrictDoesNot) {
  for (const bool strict : {false, true}) {
    SCOPED_TRACE(strict ? "StrictFIFO" : "BestEffortFIFO");
    if (!strict) {
      start_with_queues();
    } else {
      patch_queue(R"({"spec":{"queueingStrategy":"StrictFIFO"}})");
    }
    const std::string tag = strict ? "s" : "b";
    apply(job_yaml(tag + "first", 3));
    until("started", [&] { return started(tag + "first"); });
    settle();
    apply(job_yaml(tag + "big", 2));
    settle();
    apply(job_yaml(tag + "small", 1));
    settle();
    EXPECT_FALSE(started(tag + "big"));
    EXPECT_EQ(started(tag + "small"), !strict);
    complete_job(tag + "first", 3);
    settle();
    for (const char* name : {"big", "small"}) {
      EXPECT_TRUE(started(tag + name)) << name;
      complete_job(tag + name, std::string(name) == "big" ? 2 : 1);
    }
    settle();
  }
}

TEST_F(Queues, ANamespaceLabelCanMakeAJobEligible) {
  start_with_queues();
  patch_queue(R"({"spec":{"namespaceSelector":{"matchLabels":{"team":"a"}}}})");
  apply(job_yaml("j"));
  settle();
  EXPECT_FALSE(started("j"));
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("namespace"));
  ASSERT_TRUE(cluster_.patch(api::Namespace::resource, api::ObjectKey("default"),
                             R"({"metadata":{"labels":{"team":"a"}}})"));
  until("started", [&] { return started("j"); }, 5s);
}

TEST_F(Queues, MoreQuotaWakesTheWaiting) {
  start_with_queues();
  apply(job_yaml("j", 6));
  settle();
  EXPECT_FALSE(started("j"));
  patch_queue(R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
    {"name":"cpu-only","resources":[{"name":"cpu","nominalQuota":"8"}]}]}]}})");
  EXPECT_TRUE(started("j"));
}

TEST_F(Queues, AJobThatChangesItsQueueFollowsIt) {
  start_with_queues();
  apply(job_yaml("j", 1, "nowhere"));
  settle();
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "False Misconfigured: LocalQueue nowhere doesn't exist");
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"),
                             R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"main"}}})"));
  until("started", [&] { return started("j"); }, 5s);
}

}  // namespace
}  // namespace regatta::test_support
