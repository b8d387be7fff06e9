#include "tests/component/one_cluster.h"

#include <stdexcept>

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Life : public OneCluster {
 protected:
  void start(manager::CoreConfig config = {}) {
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    start_manager(std::move(config));
    settle();
  }
  bool started(const std::string& name) { return !job(name).spec.suspend.value_or(true); }
  void wait_started(const std::string& name) {
    until("started", [&] { return started(name); });
  }
  void annotate(const std::string& name, const std::string& key, const std::string& value) {
    const Json patch = {
        {"metadata", {{"annotations", {{key, value.empty() ? Json() : Json(value)}}}}}};
    ASSERT_TRUE(cluster_.patch(api::Job::resource, OneCluster::key(name), patch.dump()));
    settle();
  }
  /// A Job that names no queue, not suspended.
  static std::string plain_job(const std::string& name) {
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
           R"(","namespace":"default"},"spec":{"template":{"spec":{"restartPolicy":"Never",
           "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}})";
  }
  /// The classes `low` and `high` have the same value, and the queue preempts.
  void start_with_equal_classes() {
    start();
    apply(priority_class("low", 100));
    apply(priority_class("high", 100));
    ASSERT_TRUE(
        cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                       R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
    settle();
  }
  static std::string priority_class(const std::string& name, int value) {
    return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: " +
           name + "}\nvalue: " + std::to_string(value) + "\n";
  }
  static std::string label(const std::string& value) {
    return ", kueue.x-k8s.io/priority-class: " + value;
  }
};

TEST_F(Life, AFinishedWorkloadIsKeptAsLongAsConfigured) {
  manager::CoreConfig config;
  config.workloads.lifecycle.retain_finished = 1h;
  start(std::move(config));
  apply(job_yaml("j"));
  wait_started("j");
  run_job("j", 1);
  complete_job("j", 1);
  settle(50min);
  ASSERT_TRUE(workload_of("j"));
  settle(11min);
  EXPECT_FALSE(workload_of("j"));
  EXPECT_THAT(events("Workload"),
              Contains("Deleted: Deleted finished workload due to elapsed retention"));
  // The job stays, and does not ask for quota again.
  settle(1h);
  EXPECT_FALSE(workload_of("j"));
  EXPECT_TRUE(cluster_.get<api::Job>(key("j")));
}

TEST_F(Life, AJobThatWasDeactivatedGoesAfterAWhileUnlessItsUserDidThat) {
  manager::CoreConfig config;
  config.jobs.policy.retain_deactivated = 30min;
  start(std::move(config));
  for (const char* name : {"limited", "by-user"}) {
    const bool limited = std::string(name) == "limited";
    apply(job_yaml(name, 1, "main", "{}",
                   limited ? ", kueue.x-k8s.io/max-exec-time-seconds: \"60\"" : ""));
    wait_started(name);
    run_job(name, 1);
  }
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("by-user")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(2min);
  for (const char* name : {"limited", "by-user"}) {
    patch_job_status(name, R"({"status":{"active":null,"ready":0}})");
  }
  settle(25min);
  EXPECT_THAT(condition_of("limited", "Evicted"), HasSubstr("DueToMaximumExecutionTimeExceeded"));
  EXPECT_TRUE(cluster_.get<api::Job>(key("limited")));
  settle(10min);
  EXPECT_FALSE(cluster_.get<api::Job>(key("limited")));
  EXPECT_TRUE(cluster_.get<api::Job>(key("by-user")));
  EXPECT_THAT(events("Job"),
              Contains("Deleted: Deleted job: deactivation retention period expired"));
}

TEST_F(Life, TheTimeOfAllAttemptsCounts) {
  start();
  apply(job_yaml("j", 1, "main", "{}", ", kueue.x-k8s.io/max-exec-time-seconds: \"100\""));
  wait_started("j");
  run_job("j", 1);
  settle(60s);
  const auto stop_policy = [&](const char* policy) {
    cluster_.set_stop_policy(policy);
    settle();
  };
  stop_policy("HoldAndDrain");
  patch_job_status("j", R"({"status":{"active":null,"ready":0}})");
  settle(10min);
  stop_policy("None");
  wait_started("j");
  const auto past = workload_of("j")->status.accumulated_past_execution_time_seconds;
  ASSERT_TRUE(past);
  EXPECT_GE(*past, 60);
  run_job("j", 1);
  settle(20s);
  EXPECT_TRUE(started("j"));
  settle(30s);
  EXPECT_FALSE(started("j"));
  EXPECT_FALSE(workload_of("j")->spec.active);
  EXPECT_FALSE(workload_of("j")->status.accumulated_past_execution_time_seconds);
}

TEST_F(Life, AGateOnTheJobKeepsItsWorkloadOut) {
  start();
  const std::string gate = "kueue.x-k8s.io/admission-gated-by";
  apply(job_yaml("j", 1, "main", "{" + gate + ": team.dev/approval}"));
  settle();
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "False AdmissionGated: Admission is gated by: team.dev/approval");
  EXPECT_THAT(events("Workload"),
              Contains("AdmissionGated: Workload admission is gated by: team.dev/approval"));
  annotate("j", gate, "team.dev/budget");
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "False AdmissionGated: Admission is gated by: team.dev/budget");
  EXPECT_FALSE(started("j"));
  annotate("j", gate, "");
  EXPECT_TRUE(started("j"));
  EXPECT_THAT(events("Workload"),
              Contains("AdmissionGateCleared: Admission gate cleared, workload is now admissible"));
  EXPECT_THAT(events("Job"),
              Contains("UpdatedWorkload: Updated workload AdmissionGatedBy to \"\""));
}

TEST_F(Life, TheDefaultQueueTakesJobsThatCameAfterIt) {
  start();
  apply(plain_job("before"));
  settle();
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: default, namespace: "
      "default}\nspec: {clusterQueue: cq}\n");
  settle();
  apply(plain_job("after"));
  until("admitted", [&] { return condition_of("after", "Admitted").starts_with("True"); });
  EXPECT_EQ(job("after").metadata.label("kueue.x-k8s.io/queue-name"), "default");
  annotate("before", "looked", "at again");
  EXPECT_FALSE(workload_of("before"));
  EXPECT_EQ(job("before").metadata.label("kueue.x-k8s.io/queue-name"), "");
  // A stopped queue takes no workloads.
  cluster_.set_local_stop_policy("Hold", key("default"));
  settle();
  apply(plain_job("late"));
  settle();
  EXPECT_EQ(job("late").metadata.label("kueue.x-k8s.io/queue-name"), "");
}

TEST_F(Life, WithoutQueueNamesEveryJobOfTheSelectedNamespacesIsManaged) {
  manager::CoreConfig config;
  config.jobs.manage_without_queue_name = true;
  api::LabelSelector selector;
  selector.match_labels["team"] = "a";
  config.jobs.namespaces = *api::Selector::from(selector);
  start(std::move(config));
  apply(plain_job("j"));
  settle();
  EXPECT_FALSE(job("j").spec.suspend.value_or(false)) << "its namespace takes no part";
  ASSERT_TRUE(cluster_.patch(api::Namespace::resource, api::ObjectKey("default"),
                             R"({"metadata":{"labels":{"team":"a"}}})"));
  settle();
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_EQ(condition_of("j", "QuotaReserved"), "False Misconfigured: LocalQueue  doesn't exist");
}

TEST_F(Life, WhatAManagedJobMakesIsNotQueuedOnItsOwn) {
  start();
  apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: default, namespace: "
      "default}\nspec: {clusterQueue: cq}\n");
  apply(job_yaml("maker"));
  settle();
  const auto made_by = [&](const std::string& name, const std::string& owner) {
    std::string yaml = plain_job(name);
    const std::string reference =
        ", ownerReferences: [{apiVersion: batch/v1, kind: Job, controller: true, name: " + owner +
        ", uid: " + job(owner).metadata.uid + "}]}";
    apply(yaml.replace(yaml.find('}'), 1, reference));
    settle();
  };
  made_by("made", "maker");
  made_by("made-by-made", "made");
  for (const char* name : {"made", "made-by-made"}) {
    EXPECT_EQ(job(name).metadata.label("kueue.x-k8s.io/queue-name"), "") << name;
    EXPECT_FALSE(workload_of(name)) << name;
  }
}

TEST_F(Life, WhatAJobMadeIsSuspendedWhenThatLosesItsPlace) {
  start();
  apply(job_yaml("maker"));
  until("it runs", [&] { return !job("maker").spec.suspend.value_or(true); });
  std::string yaml = plain_job("made");
  const std::string reference =
      ", ownerReferences: [{apiVersion: batch/v1, kind: Job, controller: true, name: maker, uid: " +
      job("maker").metadata.uid + "}]}";
  apply(yaml.replace(yaml.find('}'), 1, reference));
  settle();
  EXPECT_FALSE(job("made").spec.suspend.value_or(false));
  cluster_.set_local_stop_policy("HoldAndDrain");
  until("it is suspended", [&] { return job("made").spec.suspend.value_or(false); });
}

TEST_F(Life, AJobThatNoWorkloadCanBeMadeOfIsTold) {
  start();
  apply(job_yaml("j", 1, "main", "{}", ", kueue.x-k8s.io/max-exec-time-seconds: soon"));
  apply(job_yaml("k", 1, "Not_A_Queue"));
  settle();
  EXPECT_THAT(events("Job"),
              Contains(HasSubstr("ErrWorkloadCompose: metadata.labels[kueue.x-k8s.io/"
                                 "max-exec-time-seconds]: must be a number")));
  EXPECT_THAT(events("Job"), Contains(HasSubstr("spec.queueName")));
}

TEST_F(Life, TheDefaultClassIsForJobsThatNameNoneAndCameLater) {
  start();
  apply(job_yaml("before", 1, "nowhere"));
  settle();
  apply(priority_class("default", 7));
  settle();
  apply(job_yaml("after", 1, "nowhere"));
  settle();
  EXPECT_EQ(workload_of("before")->spec.priority, 0);
  EXPECT_EQ(workload_of("after")->spec.priority, 7);
  EXPECT_EQ(workload_of("after")->spec.priority_class_ref->name, "default");
  ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("default"),
                             R"({"value":9})"));
  settle();
  EXPECT_EQ(workload_of("after")->spec.priority, 9);
  EXPECT_EQ(workload_of("before")->spec.priority, 0);
}

TEST_F(Life, AnotherClassChangesThePriorityOfARunningJobAndIsTold) {
  start();
  apply(priority_class("low", 1));
  apply(priority_class("high", 100));
  apply(job_yaml("j", 1, "main", "{}", label("low")));
  wait_started("j");
  ASSERT_TRUE(
      cluster_.patch(api::Job::resource, key("j"),
                     R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"high"}}})"));
  settle();
  EXPECT_EQ(workload_of("j")->spec.priority, 100);
  EXPECT_THAT(events("Job"), Contains(HasSubstr("Updated workload priority class: ")));
  EXPECT_TRUE(started("j"));
}

TEST_F(Life, ANewValueOfAClassReachesWorkloadsWithoutAJobToo) {
  start();
  apply(priority_class("high", 100));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: bare, namespace: default}
spec:
  queueName: main
  priority: 100
  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}
  podSets:
  - name: main
    count: 1
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  settle();
  ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("high"),
                             R"({"value":200})"));
  settle();
  EXPECT_EQ(cluster_.get<api::Workload>(key("bare"))->spec.priority, 200);
  // A second change while the first one is still being written.
  manager_->faults().delay_min = manager_->faults().delay_max = 20ms;
  for (int gap = 5; gap <= 50; gap += 5) {
    for (const int value : {300 + gap, 400 + gap}) {
      ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("high"),
                                 "{\"value\":" + std::to_string(value) + "}"));
      settle(Duration(gap));
    }
    settle();
    EXPECT_EQ(cluster_.get<api::Workload>(key("bare"))->spec.priority, 400 + gap);
  }
}

TEST_F(Life, AClassThatIsMadeAnewWithALowerValueLetsAWaitingJobPreempt) {
  start_with_equal_classes();
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: bare, namespace: default}
spec:
  queueName: main
  priority: 100
  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: low}
  podSets:
  - name: main
    count: 4
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  settle();
  apply(job_yaml("waits", 4, "main", "{}", label("high")));
  settle();
  EXPECT_THAT(condition_of("waits", "QuotaReserved"), HasSubstr("False WaitingForQuota"));
  ASSERT_TRUE(cluster_.remove(api::WorkloadPriorityClass::resource, api::ObjectKey("low")));
  settle();
  apply(priority_class("low", 10));
  settle();
  const auto bare = cluster_.get<api::Workload>(key("bare"));
  EXPECT_EQ(bare->spec.priority, 10);
  EXPECT_THAT(condition(bare->status.conditions, "Preempted"), HasSubstr("True "));
}

TEST_F(Life, AClassWhoseValueBecomesLowerLetsAWaitingJobPreempt) {
  start_with_equal_classes();
  apply(job_yaml("runs", 4, "main", "{}", label("low")));
  wait_started("runs");
  apply(job_yaml("waits", 4, "main", "{}", label("high")));
  settle();
  EXPECT_THAT(condition_of("waits", "QuotaReserved"), HasSubstr("False WaitingForQuota"));
  ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("low"),
                             R"({"value":10})"));
  settle();
  EXPECT_EQ(workload_of("runs")->spec.priority, 10);
  EXPECT_THAT(condition_of("runs", "Preempted"), HasSubstr("True "));
  wait_started("waits");
}

// Its hub was away before it could send the job.
TEST_F(Life, ACopyThatNoJobHasTakenGivesItsQuotaToItsPreemptor) {
  start();
  apply(priority_class("high", 100));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: copy, namespace: default, labels: {kueue.x-k8s.io/multikueue-origin: hub}}
spec:
  queueName: main
  podSets:
  - name: main
    count: 4
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
)");
  const auto copy = [&] { return cluster_.get<api::Workload>(key("copy"))->status.conditions; };
  until("admitted", [&] { return condition(copy(), "Admitted").starts_with("True"); });
  apply(job_yaml("urgent", 4, "main", "{}", label("high")));
  wait_started("urgent");
  EXPECT_THAT(condition(copy(), "Evicted"), HasSubstr("True Preempted"));
  EXPECT_THAT(condition(copy(), "QuotaReserved"), HasSubstr("False "));
  run_job("urgent", 4);
  complete_job("urgent", 4);
  until("admitted again", [&] { return condition(copy(), "Admitted").starts_with("True"); });
}

TEST_F(Life, APreemptorWaitsForThePodsOfItsVictim) {
  start();
  apply(priority_class("high", 100));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  settle();
  apply(job_yaml("victim", 4));
  wait_started("victim");
  run_job("victim", 4);
  settle();
  apply(job_yaml("urgent", 4, "main", "{}", label("high")));
  until("preempted", [&] { return condition_of("victim", "Preempted").starts_with("True"); });
  settle();
  EXPECT_FALSE(started("victim")) << "its pods are asked to end";
  // The grace period is ten minutes: the checkpoint is being written.
  patch_job_status("victim", R"({"status":{"active":null,"ready":0,"terminating":4}})");
  settle(9min);
  EXPECT_THAT(condition_of("victim", "QuotaReserved"), HasSubstr("True "));
  EXPECT_FALSE(started("urgent"));
  patch_job_status("victim", R"({"status":{"terminating":0}})");
  wait_started("urgent");
  EXPECT_THAT(condition_of("victim", "QuotaReserved"), HasSubstr("False "));
  EXPECT_THAT(condition_of("victim", "Requeued"), HasSubstr("True Preempted: "));
  EXPECT_THAT(events("Workload"),
              Contains(HasSubstr("PreemptedWorkload: Preempted workload " +
                                 workload_of("victim")->metadata.key().str() + " (UID: ")));
  EXPECT_THAT(events("Workload"),
              Contains(HasSubstr("preemptor effective priority: 100 (base: 100, boost: 0); "
                                 "preemptee effective priority: 0 (base: 0, boost: 0)")));
}

TEST_F(Life, AReservationByAnotherSchedulerNeedsNoQueues) {
  apply(flavor_yaml);
  start_manager();
  apply(job_yaml("j", 1, "nowhere"));
  settle();
  const auto workload = workload_of("j");
  ASSERT_TRUE(workload);
  ASSERT_TRUE(
      cluster_.patch(api::Workload::resource, workload->metadata.key(),
                     R"({"status":{"admission":{"clusterQueue":"elsewhere","podSetAssignments":
    [{"name":"main","flavors":{"cpu":"cpu-only"},"resourceUsage":{"cpu":"1"},"count":1}]},
    "conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"x",
    "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                     "status"));
  settle();
  EXPECT_EQ(condition_of("j", "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_TRUE(started("j"));
}

TEST_F(Life, AClosedPreemptionGateHasAConditionOfItsOwn) {
  manager::CoreConfig config;
  config.scheduler.admission.preemption_gates = true;
  config.workloads.lifecycle.preemption_gates = true;
  start(std::move(config));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  apply(job_yaml("low", 4));
  wait_started("low");
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: gated, namespace: default}
spec:
  queueName: main
  priority: 100
  preemptionGates: [{name: closed}]
  podSets:
  - name: main
    count: 1
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  settle(5s);
  const auto conditions = cluster_.get<api::Workload>(key("gated"))->status.conditions;
  const std::string why = "Workload requires preemption, but it's gated";
  EXPECT_EQ(condition(conditions, "QuotaReserved"), "False PendingEvaluation: " + why);
  EXPECT_EQ(condition(conditions, "BlockedOnPreemptionGates"), "True PreemptionGated: " + why);
  EXPECT_THAT(events("Workload"), Contains("AdmissionGated: " + why));
  EXPECT_EQ(condition_of("low", "Evicted"), "");
}

TEST_F(Life, AllVictimsOfAPreemptorShareOneEvent) {
  start();
  apply(priority_class("high", 100));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  for (const char* name : {"a", "b", "c", "d"}) {
    apply(job_yaml(name));
    wait_started(name);
  }
  settle();
  apply(job_yaml("urgent", 4, "main", "{}", label("high")));
  wait_started("urgent");
  settle();
  int told = 0, preempted = 0;
  for (const std::string& event : events("Workload")) {
    told += event.starts_with("PreemptedWorkload: ");
    preempted += event.starts_with("Preempted: ");
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(preempted, 4);
}

TEST_F(Life, APreemptionThatTakesLongToWriteIsDecidedOnce) {
  int preempted = 0, cycles = 0;
  manager::CoreConfig config;
  config.scheduler.on_preempted = [&](const auto&) { ++preempted; };
  config.scheduler.on_cycle = [&](const auto&) { ++cycles; };
  start(std::move(config));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  apply(priority_class("high", 100));
  apply(job_yaml("victim", 4));
  wait_started("victim");
  settle();
  manager_->faults().delay_min = manager_->faults().delay_max = 500ms;
  cycles = 0;
  apply(job_yaml("urgent", 4, "main", "{}", ", kueue.x-k8s.io/priority-class: high"));
  until("preempted", [&] { return condition_of("victim", "Preempted").starts_with("True"); });
  settle();
  EXPECT_EQ(preempted, 1);
  EXPECT_LT(cycles, 100);
}

TEST_F(Life, APreemptorWaitsForTheReservationOfItsVictimToBeWritten) {
  int preempted = 0, cycles = 0;
  manager::CoreConfig config;
  config.scheduler.on_preempted = [&](const auto&) { ++preempted; };
  // Cycles without a pause between them would never let the clock go on.
  config.scheduler.on_cycle = [&](const auto&) {
    if (++cycles > 100) throw std::runtime_error("the scheduler does not come to rest");
  };
  start(std::move(config));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  apply(job_yaml("victim", 4));
  wait_started("victim");
  cluster_.set_local_stop_policy("HoldAndDrain");
  until("evicted", [&] { return condition_of("victim", "QuotaReserved").starts_with("False"); });
  settle();
  // The write of the reservation is lost, and so is each attempt to find out whether it was done.
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.target.find("job-victim") != std::string::npos &&
           (request.method == "GET" || request.body.find("podSetAssignments") != std::string::npos);
  };
  manager_->faults().drop_before = 1;
  cycles = 0;
  cluster_.set_local_stop_policy("None");
  until("decided", [&] { return cycles > 0; });
  settle(1s);
  ASSERT_THAT(condition_of("victim", "QuotaReserved"), HasSubstr("False "));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: urgent, namespace: default}
spec:
  queueName: main
  priority: 100
  podSets:
  - name: main
    count: 4
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  settle(2s);
  EXPECT_EQ(preempted, 0);
  manager_->faults().drop_before = 0;
  settle(2min);
  const auto urgent = cluster_.get<api::Workload>(key("urgent"));
  EXPECT_THAT(condition(urgent->status.conditions, "QuotaReserved"), HasSubstr("True "));
}

TEST_F(Life, WhatAnAdmissionCheckWaitsForIsToldAtTheJobOnce) {
  apply_check();
  start();
  set_check_active(true);
  require_check();
  settle();
  apply(job_yaml("j"));
  settle();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"status":{"admissionChecks":[{"name":"checked","state":"Pending",
    "lastTransitionTime":"2026-01-01T00:00:00Z","message":"two nodes are on their way"}]}})",
                             "status"));
  settle();
  EXPECT_THAT(events("Job"),
              Contains("UpdatedAdmissionCheck: checked: two nodes are on their way"));
}

}  // namespace
}  // namespace regatta::test_support
