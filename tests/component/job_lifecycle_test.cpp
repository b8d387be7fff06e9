#include "jobs/naming.h"
#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// So a worker's manager needs no right to read Secrets.
TEST_F(OneCluster, AClusterThatIsNoHubAsksForNothingOfWorkers) {
  manager::CoreConfig config;
  config.multikueue = false;
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply(local_queue_yaml);
  start_manager(std::move(config));
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  for (const char* of_a_hub :
       {"secrets", "multikueueclusters", "multikueueconfigs", "placements"}) {
    EXPECT_EQ(manager_->requests.str().find(of_a_hub), std::string::npos)
        << manager_->requests.str();
  }
}

TEST_F(OneCluster, AWorkloadThatGoesIsMadeAgainForAJobThatTheServerHas) {
  apply(flavor_yaml);
  apply(cluster_queue_yaml);
  apply(local_queue_yaml);
  manager_.emplace(cluster_, network_);
  manager_->faults().concerns = follows_jobs;
  until("the manager has synced", [&] { return manager_->started(); });
  apply(job_yaml("gone", 8));
  apply(job_yaml("stays", 8));
  until("they wait", [&] { return workload_of("gone") && workload_of("stays"); });
  settle();
  manager_->requests.clear();
  manager_->faults().half_open_watch = 1;  // no event of a Job comes any more
  const std::string first = workload_of("stays")->metadata.uid;
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("gone"), background));
  for (const char* name : {"gone", "stays"}) {
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload_of(name)->metadata.key()));
  }
  settle();
  EXPECT_FALSE(workload_of("gone")) << "it would be removed with its owner, and made again";
  ASSERT_TRUE(workload_of("stays"));
  EXPECT_NE(workload_of("stays")->metadata.uid, first);
  EXPECT_EQ(manager_->requests.count("get"), 2) << manager_->requests.str();
}

TEST_F(OneCluster, WhatWasDecidedOnAWorkloadIsNotWrittenToAnotherOneOfItsName) {
  start_with_queues();
  apply(job_yaml("j", 8));
  until("it waits", [&] { return workload_of("j").has_value(); });
  settle();
  clusters::LocalCluster& local = manager_->core().local();
  const jobs::WorkloadPtr first = local.workloads.get(workload_of("j")->metadata.key());
  ASSERT_TRUE(first);
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, first->metadata.key()));
  until("another one", [&] {
    const auto next = local.workloads.get(first->metadata.key());
    return next && next->metadata.uid != first->metadata.uid;
  });
  settle();
  manager_->requests.clear();
  const auto finished = [](const api::Workload& workload) {
    api::WorkloadStatus status = workload.status;
    status.cluster_name = "nowhere";
    return status;
  };
  const Status written = run(world_, local.update_status(first, finished));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Errc::conflict);
  EXPECT_EQ(manager_->requests.count("patch"), 0) << manager_->requests.str();
  EXPECT_TRUE(
      run(world_, local.update_status(local.workloads.get(first->metadata.key()), finished)));
  EXPECT_EQ(workload_of("j")->status.cluster_name, "nowhere");
}

TEST_F(OneCluster, AJobWaitsRunsAndFinishes) {
  start_with_queues();
  manager_->requests.clear();
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();

  const api::Job started = job("j");
  const auto workload = workload_of("j");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->metadata.name,
            jobs::workload_name("Job", "batch", "j", started.metadata.uid));
  EXPECT_EQ(condition_of("j", "QuotaReserved"),
            "True QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(condition_of("j", "Admitted"), "True Admitted: The workload is admitted");
  EXPECT_TRUE(workload->metadata.has_finalizer(api::finalizers::resource_in_use));
  EXPECT_EQ(workload->metadata.label("kueue.x-k8s.io/job-uid"), started.metadata.uid);
  EXPECT_EQ(workload->metadata.controller()->uid, started.metadata.uid);
  EXPECT_EQ(workload->status.admission->pod_set_assignments[0].count, 2);

  const Json running = started.spec.pod_template.json();
  EXPECT_EQ(running["spec"]["nodeSelector"], Json({{"disk", "ssd"}, {"pool", "cpu"}}));
  EXPECT_EQ(running["spec"]["tolerations"][0]["key"], "pool");
  const Json& labels = running["metadata"]["labels"];
  EXPECT_EQ(labels["mine"], "yes");
  EXPECT_EQ(labels["kueue.x-k8s.io/podset"], "main");
  EXPECT_EQ(labels["kueue.x-k8s.io/cluster-queue-name"], "cq");
  EXPECT_EQ(labels["kueue.x-k8s.io/local-queue-name"], "main");
  EXPECT_EQ(running["metadata"]["annotations"]["kueue.x-k8s.io/workload"], workload->metadata.name);

  run_job("j", 2);
  settle();
  complete_job("j", 2);
  settle();
  EXPECT_EQ(condition_of("j", "Finished"),
            "True Succeeded: Reached expected number of succeeded pods");
  EXPECT_TRUE(workload_of("j")->metadata.finalizers.empty());
  EXPECT_EQ(manager_->requests.conflicts(), 0);
  // create, reserve, finish, release; start of the Job; two status writes of each queue.
  EXPECT_EQ(manager_->requests.count("patch", "workloads/status"), 2);
  EXPECT_EQ(manager_->requests.count("patch", "workloads"), 1);
  EXPECT_EQ(manager_->requests.count("patch", "jobs"), 1);
  EXPECT_LE(manager_->requests.count("patch", "clusterqueues/status"), 3);
  EXPECT_LE(manager_->requests.count("patch", "localqueues/status"), 3);
  EXPECT_THAT(
      events("Workload"),
      Contains("QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued was 0s"));
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("Admitted: Admitted by ClusterQueue cq")));
  EXPECT_THAT(events("Job"),
              Contains("CreatedWorkload: Created Workload: default/" + workload->metadata.name));
  EXPECT_THAT(events("Job"), Contains("Started: Admitted by clusterQueue cq"));
  EXPECT_THAT(events("Job"), Contains("FinishedWorkload: Workload 'default/" +
                                      workload->metadata.name + "' is declared finished"));
}

TEST_F(OneCluster, AnEditThatRacesTheStartDoesNotRunBeforeItWasAdmitted) {
  start_with_queues();
  manager_->faults().delay_min = manager_->faults().delay_max = 200ms;
  apply(job_yaml("j"));
  until("admitted", [&] { return condition_of("j", "Admitted").starts_with("True"); });
  ASSERT_TRUE(job("j").spec.suspend.value_or(false)) << "the start is on its way";
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"), R"({"spec": {"template": {"spec":
    {"tolerations": [{"key": "mine", "operator": "Exists"}]}}}})"));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  const auto tolerations = [](const Json& pod_template) {
    return dump_json(pod_template["spec"]["tolerations"]);
  };
  EXPECT_THAT(tolerations(job("j").spec.pod_template.json()), HasSubstr("mine"));
  EXPECT_THAT(tolerations(workload_of("j")->spec.pod_sets[0].pod_template.json()),
              HasSubstr("mine"))
      << "what runs was never admitted";
}

TEST_F(OneCluster, AJobRunsOnWhenTheFlavorWithItsTolerationsIsGone) {
  start_with_queues();
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  run_job("j", 2);
  settle();
  const api::ObjectKey flavor("cpu-only");
  ASSERT_TRUE(cluster_.remove(api::ResourceFlavor::resource, flavor));
  ASSERT_TRUE(
      cluster_.patch(api::ResourceFlavor::resource, flavor, R"({"metadata":{"finalizers":null}})"));
  ASSERT_FALSE(cluster_.get<api::ResourceFlavor>(flavor));
  settle();
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"), R"({"metadata":{"labels":{"a":"b"}}})"));
  settle();
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  EXPECT_THAT(condition_of("j", "Admitted"), testing::StartsWith("True"));
  ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"), R"({"spec":{"parallelism":1}})"));
  settle();
  EXPECT_TRUE(job("j").spec.suspend.value_or(false)) << "it is not what was admitted";
}

/// The watch of jobs is silent, and the answer to the start is lost.
TEST_F(OneCluster, AJobThatMayHaveBeenStartedKeepsItsQuotaUntilItStopped) {
  start_with_queues();
  single_out("/jobs");
  apply(job_yaml("j"));
  settle();
  manager_->faults().half_open_watch = manager_->faults().lose_reply = 1;
  const auto concerns_jobs = manager_->faults().concerns;
  manager_->faults().concerns = [concerns_jobs](const net::HttpRequest& request) {
    const bool watch = request.target.find("watch=") != std::string::npos;
    return concerns_jobs(request) && (watch || request.method == "PATCH");
  };
  open_queue();
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  run_job("j", 1);
  settle();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(30s);
  ASSERT_EQ(job("j").status.active, 1) << "its pod has not ended";
  EXPECT_THAT(condition_of("j", "QuotaReserved"), testing::StartsWith("True"));
}

/// The same, and the server did not know the manager for a moment.
TEST_F(OneCluster, AJobThatCouldNotBeReadMayHaveBeenStartedToo) {
  start_job_unheard("/jobs");
  run_job("j", 1);
  settle(1s);
  hear_answers();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("j")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  settle(30s);
  ASSERT_EQ(job("j").status.active, 1) << "its pod has not ended";
  EXPECT_THAT(condition_of("j", "QuotaReserved"), testing::StartsWith("True"));
}

TEST_F(OneCluster, AJobThatIsGoneIsNoLongerAskedFor) {
  start_job_unheard("/jobs/j");
  settle(1s);
  ASSERT_TRUE(manager_->core().local().unsure_of_jobs());
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j"), background));
  settle(1s);
  EXPECT_FALSE(manager_->core().local().unsure_of_jobs());
}

TEST_F(OneCluster, AnUnsuspendedJobIsStoppedUntilItIsAdmitted) {
  start_with_queues();
  std::string yaml = job_yaml("big", 5);  // five CPUs where there are four
  apply(yaml.replace(yaml.find("suspend: true"), 13, "suspend: false"));
  until("stopped", [&] { return job("big").spec.suspend.value_or(false); });
  settle();
  EXPECT_THAT(condition_of("big", "QuotaReserved"), HasSubstr("False "));
  EXPECT_THAT(events("Job"), Contains(HasSubstr("Stopped: Missing Workload")));
  EXPECT_TRUE(job("big").metadata.annotation("kueue.x-k8s.io/stopping").empty());
}

TEST_F(OneCluster, AJobDeletedInMidRunLeavesNoWorkloadAndNoUsage) {
  start_with_queues();
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  const auto name = workload_of("j")->metadata.key();
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j")));
  settle();
  // No garbage collector runs here: it would delete the Workload now.
  const auto left = cluster_.get<api::Workload>(name);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->metadata.finalizers.empty());
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, name));
  settle();
  EXPECT_EQ(cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"))->status.reserving_workloads, 0);
}

/// Each other one would be deleted, too, because the job is gone.
TEST_F(OneCluster, AJobThatCannotBeReadGetsNoOtherWorkload) {
  start_with_queues();
  single_out("/jobs");
  apply(job_yaml("j"));
  settle();
  const auto name = workload_of("j")->metadata.key();
  kube::NetworkFaults& faults = manager_->faults();
  faults.half_open_watch = faults.withheld = 1;
  faults.withheld_with = 401;
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j"), background));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, name));  // as a garbage collector does
  settle(30s);
  EXPECT_THAT(cluster_.list<api::Workload>(), testing::SizeIs(0));
  faults.withheld = 0;
  settle(10min);
  EXPECT_THAT(cluster_.list<api::Workload>(), testing::SizeIs(0));
}

TEST_F(OneCluster, AJobTakesNothingFromAWorkloadOfAnotherApiGroupsJobOfItsName) {
  start_with_queues();
  ASSERT_TRUE(cluster_.apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: theirs
  namespace: default
  finalizers: [kueue.x-k8s.io/resource-in-use]
  ownerReferences:
  - {apiVersion: batch.example.com/v1, kind: Job, name: j, uid: of-theirs, controller: true}
spec:
  queueName: main
  podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [
    {name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]
)"));
  apply(job_yaml("j", 1));
  settle();
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j"), background));
  settle(1min);
  const auto theirs = cluster_.get<api::Workload>(key("theirs"));
  ASSERT_TRUE(theirs);
  EXPECT_TRUE(theirs->metadata.has_finalizer(api::finalizers::resource_in_use));
}

TEST_F(OneCluster, AJobMadeAnewWhileTheManagerWasAwayLeavesNothingOfTheEarlierOne) {
  start_with_queues();
  apply(job_yaml("j", 4));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  const api::ObjectKey earlier = workload_of("j")->metadata.key();
  manager_.reset();
  kube::DeleteOptions background;
  background.propagation_policy = "Background";
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("j"), background));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, earlier));  // as a garbage collector does
  apply(job_yaml("j", 1));
  start_manager();
  settle();
  EXPECT_FALSE(cluster_.get<api::Workload>(earlier));
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
}

TEST_F(OneCluster, AWorkloadDeletedInMidRunStopsItsJobAndIsMadeAnew) {
  start_with_queues();
  apply(job_yaml("j", 2));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  run_job("j", 2);
  settle();
  const auto first = *workload_of("j");
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, first.metadata.key()));
  settle();
  // The pods still run, so the job is not stopped completely.
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_TRUE(workload_of("j")->metadata.deleting());
  patch_job_status("j", R"({"status":{"active":null,"ready":0}})");
  until("started again", [&] { return !job("j").spec.suspend.value_or(true); });
  EXPECT_THAT(events("Job"), Contains("Stopped: Workload is deleted"));
  EXPECT_NE(workload_of("j")->metadata.uid, first.metadata.uid);
}

TEST_F(OneCluster, PartialAdmissionStartsFewerPodsAndRestoresTheCount) {
  start_with_queues();
  apply(job_yaml("j", 6, "main", R"({kueue.x-k8s.io/job-min-parallelism: "2"})"));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  EXPECT_EQ(job("j").spec.parallelism, 4);
  const auto workload = workload_of("j");
  EXPECT_EQ(workload->spec.pod_sets[0].count, 6);
  EXPECT_EQ(workload->spec.pod_sets[0].min_count, 2);
  EXPECT_EQ(workload->status.admission->pod_set_assignments[0].count, 4);
  // Stopped again, the job asks for all pods.
  cluster_.set_stop_policy("HoldAndDrain");
  settle();
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_EQ(job("j").spec.parallelism, 6);
}

TEST_F(OneCluster, ReclaimablePodsGiveTheirQuotaBack) {
  start_with_queues();
  apply(job_yaml("first", 4));
  until("started", [&] { return !job("first").spec.suspend.value_or(true); });
  apply(job_yaml("second", 2));
  settle();
  EXPECT_TRUE(job("second").spec.suspend.value_or(false));
  patch_job_status("first", R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":2,"ready":2,
    "succeeded":2,"uncountedTerminatedPods":{}}})");
  until("second started", [&] { return !job("second").spec.suspend.value_or(true); });
  EXPECT_EQ(workload_of("first")->status.reclaimable_pods[0].count, 2);
}

TEST_F(OneCluster, PodsThatEndSoonAfterOthersGiveTheirQuotaBackALittleLater) {
  start_with_queues();
  apply(job_yaml("j", 4));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  settle();
  const auto end = [&](int pods) {
    const std::string rest = std::to_string(4 - pods);
    patch_job_status("j", R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":)" + rest +
                              R"(,"ready":)" + rest + R"(,"succeeded":)" + std::to_string(pods) +
                              R"(,"uncountedTerminatedPods":{}}})");
  };
  const auto given_back = [&] {
    const auto pods = workload_of("j")->status.reclaimable_pods;
    return pods.empty() ? 0 : pods.front().count;
  };
  end(1);
  settle(300ms);
  EXPECT_EQ(given_back(), 1) << "the first at once";
  end(2);
  settle(300ms);
  EXPECT_EQ(given_back(), 1);
  settle(1s);
  EXPECT_EQ(given_back(), 2) << "although nothing happens any more";
  end(3);
  settle(100ms);
  cluster_.set_stop_policy("HoldAndDrain");
  settle(300ms);
  EXPECT_TRUE(job("j").spec.suspend.value_or(false)) << "an eviction waits for nothing";
}

TEST_F(OneCluster, AMissingPriorityClassIsReportedAndItsCreationWakesTheJob) {
  start_with_queues();
  apply(job_yaml("j", 1, "main", "{}", ", kueue.x-k8s.io/priority-class: high"));
  settle();
  EXPECT_FALSE(workload_of("j"));
  EXPECT_THAT(events("Job"),
              Contains("WorkloadPriorityClassNotFound: WorkloadPriorityClass \"high\" not found"));
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
)");
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  EXPECT_EQ(workload_of("j")->spec.priority, 1000);
  EXPECT_EQ(workload_of("j")->spec.priority_class_ref->name, "high");
  // A new value of the class reaches the Workloads that use it.
  ASSERT_TRUE(cluster_.patch(api::WorkloadPriorityClass::resource, api::ObjectKey("high"),
                             R"({"value":2000})"));
  settle();
  EXPECT_EQ(workload_of("j")->spec.priority, 2000);
}

TEST_F(OneCluster, APrebuiltWorkloadIsAdoptedAndRunsItsJob) {
  start_with_queues();
  std::string made = job_yaml("j", 1);
  apply(made);
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  // The same Workload under another name, without an owner.
  const Json original = cluster_.get(api::Workload::resource, workload_of("j")->metadata.key());
  Json prebuilt = {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "Workload"},
                   {"metadata", {{"name", "pre"}, {"namespace", "default"}}},
                   {"spec", original["spec"]}};
  apply(prebuilt.dump());
  until("admitted", [&] {
    return api::is_true(cluster_.get<api::Workload>(key("pre"))->status.conditions, "Admitted");
  });
  apply(job_yaml("fits", 1, "main", "{kueue.x-k8s.io/prebuilt-workload-name: pre}"));
  until("started", [&] { return !job("fits").spec.suspend.value_or(true); });
  const auto adopted = cluster_.get<api::Workload>(key("pre"));
  EXPECT_EQ(adopted->metadata.controller()->uid, job("fits").metadata.uid);
  EXPECT_EQ(adopted->metadata.label("kueue.x-k8s.io/job-uid"), job("fits").metadata.uid);
}

TEST_F(OneCluster, APrebuiltWorkloadThatDoesNotFitIsFinishedOutOfSync) {
  start_with_queues();
  apply(job_yaml("j", 1));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  const Json original = cluster_.get(api::Workload::resource, workload_of("j")->metadata.key());
  Json prebuilt = {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "Workload"},
                   {"metadata", {{"name", "pre"}, {"namespace", "default"}}},
                   {"spec", original["spec"]}};
  apply(prebuilt.dump());
  settle();
  apply(job_yaml("other", 2, "main", "{kueue.x-k8s.io/prebuilt-workload-name: pre}"));
  settle();
  const auto workload = cluster_.get<api::Workload>(key("pre"));
  EXPECT_EQ(condition(workload->status.conditions, "Finished"),
            "True OutOfSync: The prebuilt workload is out of sync with its user job");
  EXPECT_TRUE(job("other").spec.suspend.value_or(false));
}

TEST_F(OneCluster, AnInactiveWorkloadGivesItsQuotaBackAndReturnsWhenReactivated) {
  start_with_queues();
  apply(job_yaml("j", 4));
  until("started", [&] { return !job("j").spec.suspend.value_or(true); });
  run_job("j", 4);
  apply(job_yaml("next", 4));
  settle();
  const api::ObjectKey workload = workload_of("j")->metadata.key();
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload, R"({"spec":{"active":false}})"));
  settle();
  EXPECT_EQ(condition_of("j", "Evicted"), "True Deactivated: The workload is deactivated");
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  // The quota stays until the pods have ended.
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("True "));
  EXPECT_TRUE(job("next").spec.suspend.value_or(false));
  patch_job_status("j", R"({"status":{"active":null,"ready":0}})");
  until("next started", [&] { return !job("next").spec.suspend.value_or(true); });
  EXPECT_THAT(condition_of("j", "QuotaReserved"), HasSubstr("False "));
  EXPECT_EQ(condition_of("j", "Requeued"), "False Deactivated: The workload is deactivated");
  // The template is as before the start.
  EXPECT_EQ(job("j").spec.pod_template.json()["spec"]["nodeSelector"], Json({{"disk", "ssd"}}));

  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload, R"({"spec":{"active":true}})"));
  settle();
  EXPECT_EQ(condition_of("j", "Requeued"), "True Reactivated: The workload was reactivated");
  complete_job("next", 4);
  until("started again", [&] { return !job("j").spec.suspend.value_or(true); });
  EXPECT_EQ(condition_of("j", "Evicted"),
            "False QuotaReserved: Previously: The workload is deactivated");
}

}  // namespace
}  // namespace regatta::test_support
