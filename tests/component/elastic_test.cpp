#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

/// Four CPUs, and a Job that may grow and shrink while it runs.
class ElasticJobs : public OneCluster {
 protected:
  void submit(int pods, const std::string& more_labels = "",
              const std::string& completions = "completions: 100") {
    if (!manager_) start_with_queues();
    std::string yaml =
        job_yaml("j", pods, "main", R"({kueue.x-k8s.io/elastic-job: "true"})", more_labels);
    const std::string before = "completions: " + std::to_string(pods);
    yaml.replace(yaml.find(before), before.size(), completions);
    apply(yaml);
    settle();
  }
  void scale(int pods) {
    ASSERT_TRUE(cluster_.patch(api::Job::resource, key("j"),
                               R"({"spec":{"parallelism":)" + std::to_string(pods) + "}}"));
    settle();
  }
  /// The check of the one slice is Ready.
  void complete_check() {
    const std::string ready =
        R"({"status":{"admissionChecks":[{"name":"checked","state":"Ready","message":"ok",
            "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";
    ASSERT_TRUE(
        cluster_.patch(api::Workload::resource, live().at(0).metadata.key(), ready, "status"));
    settle();
  }
  /// A job whose queue needs a check runs, and is to have another size.
  void run_checked_and_scale(int from, int to) {
    apply_check();
    start_with_queues();
    set_check_active(true);
    require_check();
    settle();
    submit(from);
    complete_check();
    run_job("j", from);
    scale(to);
  }
  std::vector<api::Workload> live() {
    std::vector<api::Workload> found;
    for (api::Workload& workload : cluster_.list<api::Workload>("default")) {
      if (!api::is_true(workload.status.conditions, "Finished")) found.push_back(workload);
    }
    return found;
  }
  /// The slice that the one that is left is to replace.
  std::string replaced_by_live() {
    return live().at(0).metadata.annotation("kueue.x-k8s.io/workload-slice-replacement-for");
  }
  std::string used() {
    const auto queue = cluster_.get<api::ClusterQueue>(api::ObjectKey("cq"));
    return queue->status.flavors_reservation.at(0).resources.at(0).total.str();
  }
  /// Creates a pod as the Job controller does, from the running template.
  void make_pod(const std::string& name) {
    const Json pod_template = job("j").spec.pod_template.json();
    Json pod = {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", pod_template["metadata"]},
                {"spec", pod_template["spec"]}};
    pod["metadata"]["name"] = name;
    pod["metadata"]["namespace"] = "default";
    apply(dump_json(pod));
  }
  void stop_queue(const std::string& policy) {
    cluster_.set_stop_policy(policy);
    settle();
  }
  std::string template_annotation(const std::string& name) {
    const api::Job running = job("j");
    const api::StringMap& all = running.spec.pod_template.view().annotations;
    const auto found = all.find(name);
    return found == all.end() ? "" : found->second;
  }
  std::size_t gates(const std::string& pod) {
    return cluster_.get<api::Pod>(key(pod))->spec.scheduling_gates.size();
  }
};

TEST_F(ElasticJobs, PodsBeyondTheAdmittedCountWaitUntilTheLargerSliceHasQuota) {
  submit(2);
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  ASSERT_THAT(live(), SizeIs(1));
  const api::Workload first = live().front();
  for (const char* name : {"a", "b"}) make_pod(name);
  settle();
  EXPECT_EQ(gates("a") + gates("b"), 0U);

  scale(5);
  ASSERT_THAT(live(), SizeIs(2)) << "4 CPUs: the larger one waits, the smaller one runs";
  make_pod("c");
  make_pod("d");
  settle();
  EXPECT_EQ(gates("c") + gates("d"), 2U);
  EXPECT_EQ(used(), "2");
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));

  scale(4);
  ASSERT_THAT(live(), SizeIs(1));
  const api::Workload second = live().front();
  EXPECT_NE(second.metadata.name, first.metadata.name);
  EXPECT_EQ(second.metadata.annotation("kueue.x-k8s.io/workload-slice-replacement-for"),
            "default/" + first.metadata.name);
  EXPECT_EQ(gates("c") + gates("d"), 0U);
  EXPECT_EQ(used(), "4");
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  const auto replaced = cluster_.get<api::Workload>(first.metadata.key());
  ASSERT_TRUE(replaced);
  EXPECT_EQ(condition(replaced->status.conditions, "Finished"),
            "True WorkloadSliceReplaced: Replaced to accommodate a workload (UID: " +
                second.metadata.uid + ", JobUID: " + job("j").metadata.uid +
                ") due to workload slice aggregation");
  EXPECT_TRUE(replaced->metadata.finalizers.empty());
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("WorkloadSliceReplaced: ")));
}

TEST_F(ElasticJobs, AShrinkingJobGivesQuotaBackAndKeepsItsSlice) {
  submit(3);
  const std::string name = live().front().metadata.name;
  EXPECT_EQ(used(), "3");
  scale(1);
  ASSERT_THAT(live(), SizeIs(1));
  EXPECT_EQ(live().front().metadata.name, name);
  EXPECT_EQ(live().front().spec.pod_sets.front().count, 1);
  EXPECT_EQ(used(), "1");
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
}

TEST_F(ElasticJobs, AJobThatGrewRestartsAfterItsQueueWasDrained) {
  submit(1);
  scale(2);
  ASSERT_THAT(live(), SizeIs(1));
  ASSERT_EQ(used(), "2");
  stop_queue("HoldAndDrain");
  EXPECT_TRUE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "0");
  stop_queue("None");
  ASSERT_THAT(live(), SizeIs(1));
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "2");
  EXPECT_EQ(template_annotation("kueue.x-k8s.io/workload"), live().front().metadata.name);
}

TEST_F(ElasticJobs, AJobWhoseLargerSliceStillWaitsForACheckRunsOnWhenItsQueueTakesNoMore) {
  apply_check();
  start_with_queues();
  set_check_active(true);
  require_check();
  settle();
  submit(1);
  complete_check();
  ASSERT_FALSE(job("j").spec.suspend.value_or(true));
  run_job("j", 1);
  scale(2);
  ASSERT_THAT(live(), SizeIs(1)) << "the larger slice has quota, and its check is Pending";
  ASSERT_EQ(used(), "2");
  stop_queue("Hold");
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "2");
  stop_queue("None");
  ASSERT_TRUE(cluster_.remove(api::LocalQueue::resource, key("main")));
  settle();
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "2");
  apply(local_queue_yaml);
  stop_queue("HoldAndDrain");
  EXPECT_TRUE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "2") << "its pods are not gone yet";
  patch_job_status("j", R"({"status":{"active":null,"ready":0,"terminating":0}})");
  settle();
  EXPECT_EQ(used(), "0");
}

/// Its former size was evicted before the larger one had quota, which it has from nothing then.
TEST_F(ElasticJobs, AJobThatDoesNotRunGivesBackWhatItsLargerSliceHas) {
  run_checked_and_scale(2, 5);
  ASSERT_THAT(live(), SizeIs(2)) << "4 CPUs: the larger slice waits";
  stop_queue("HoldAndDrain");
  patch_job_status("j", R"({"status":{"active":null,"ready":0,"terminating":0}})");
  settle();
  ASSERT_EQ(used(), "0");
  ASSERT_TRUE(job("j").spec.suspend.value_or(false));
  scale(4);
  stop_queue("None");
  ASSERT_EQ(used(), "4");
  ASSERT_FALSE(replaced_by_live().empty());
  stop_queue("Hold");
  EXPECT_EQ(used(), "0");
}

class ElasticJobThatIsToStop : public ElasticJobs {
 protected:
  /// Its pods run on, and meanwhile another size has taken over.
  void grow_while_it_stops() {
    run_checked_and_scale(2, 5);
    stop_queue("HoldAndDrain");
    ASSERT_EQ(used(), "2") << "its pods have not ended";
    scale(4);
    stop_queue("None");
    ASSERT_EQ(used(), "4");
    stop_queue("Hold");
    ASSERT_EQ(used(), "4") << "its pods still run on that";
  }
  void end_pods() {
    patch_job_status("j", R"({"status":{"active":null,"ready":0,"terminating":0}})");
    settle();
  }
};

TEST_F(ElasticJobThatIsToStop, KeepsItsQuotaInAHeldQueueUntilItsPodsHaveEnded) {
  grow_while_it_stops();
  end_pods();
  EXPECT_EQ(used(), "0");
}

TEST_F(ElasticJobThatIsToStop, IsEvictedFromADrainedQueueBeforeItsQuotaIsFree) {
  grow_while_it_stops();
  stop_queue("HoldAndDrain");
  EXPECT_TRUE(job("j").spec.suspend.value_or(false));
  EXPECT_EQ(used(), "4");
  end_pods();
  EXPECT_EQ(used(), "0");
}

TEST_F(ElasticJobs, AJobThatGrewRestartsAfterItsSliceWasDeleted) {
  submit(1);
  scale(2);
  ASSERT_THAT(live(), SizeIs(1));
  const std::string grown = live().front().metadata.name;
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key(grown)));
  settle();
  ASSERT_THAT(live(), SizeIs(1));
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  EXPECT_EQ(used(), "2");
  EXPECT_EQ(template_annotation("kueue.x-k8s.io/workload"), live().front().metadata.name);
  EXPECT_EQ(template_annotation("kueue.x-k8s.io/workload-slice-name"),
            live().front().metadata.annotation("kueue.x-k8s.io/workload-slice-name"));
}

/// Four Indexed pods with a CPU each, of which the last one has failed for good.
class ElasticJobWithoutItsLastPod : public ElasticJobs {
 protected:
  ElasticJobWithoutItsLastPod() {
    submit(4, "", "completions: 4, completionMode: Indexed, backoffLimitPerIndex: 0");
    fail(1, "3");
    EXPECT_EQ(used(), "3");
  }
  void fail(int pods, const std::string& indexes) {
    const Json status = {{"startTime", "2026-01-01T00:00:00Z"},
                         {"active", 4 - pods},
                         {"ready", 4 - pods},
                         {"terminating", 0},
                         {"failed", pods},
                         {"failedIndexes", indexes},
                         {"uncountedTerminatedPods", Json::object()}};
    patch_job_status("j", dump_json(Json{{"status", status}}));
    settle();
  }
  void shrink_to(int pods) {
    const std::string size = std::to_string(pods);
    ASSERT_TRUE(
        cluster_.patch(api::Job::resource, key("j"),
                       R"({"spec":{"parallelism":)" + size + R"(,"completions":)" + size + "}}"));
  }
};

TEST_F(ElasticJobWithoutItsLastPod, IsCountedAnewWhenItShrinks) {
  shrink_to(3);
  settle();
  ASSERT_THAT(live(), SizeIs(1));
  EXPECT_THAT(live().front().status.reclaimable_pods, SizeIs(0)) << "index 3 counts no more";
  EXPECT_EQ(used(), "3");
}

// The hub has changed the Workload, and the manager starts before the reclaimable pods are counted.
TEST_F(ElasticJobWithoutItsLastPod, KeepsTheQuotaOfTheOthersWhenTheManagerStarts) {
  apply(job_yaml("first", 1, "main"));
  settle();
  apply(job_yaml("second", 1, "main"));
  settle();
  ASSERT_EQ(used(), "4");
  manager_.reset();
  shrink_to(3);
  const auto slice = workload_of("j");
  ASSERT_TRUE(slice);
  Json spec = cluster_.get(api::Workload::resource, slice->metadata.key())["spec"];
  spec["podSets"][0]["count"] = 3;
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, slice->metadata.key(),
                             dump_json(Json{{"spec", spec}})));
  start_manager();
  settle();
  EXPECT_EQ(used(), "4");
  EXPECT_TRUE(job("second").spec.suspend.value_or(false));
}

TEST_F(ElasticJobWithoutItsLastPod, HoldsNothingForItWhenTheManagerStartsLater) {
  fail(2, "2,3");
  EXPECT_EQ(used(), "2");
  shrink_to(3);
  settle();
  EXPECT_EQ(used(), "2");
  manager_.reset();
  start_manager();
  settle();
  EXPECT_EQ(used(), "2") << "of three pods one has failed";
}

TEST_F(ElasticJobs, AManagerThatComesLateFindsItsWayWithSlices) {
  submit(2);
  manager_.reset();
  scale(4);
  start_manager();
  settle();
  ASSERT_THAT(live(), SizeIs(1));
  EXPECT_EQ(used(), "4");
  complete_job("j", 100);
  settle();
  EXPECT_TRUE(live().empty());
}

TEST_F(ElasticJobs, TheTimeOfTheFormerSizeCounts) {
  submit(2, ", kueue.x-k8s.io/max-exec-time-seconds: \"100\"");
  settle(60s);
  scale(3);
  until("it has grown", [&] { return used() == "3"; });
  settle(30s);
  EXPECT_FALSE(job("j").spec.suspend.value_or(true));
  settle(20s);
  EXPECT_TRUE(job("j").spec.suspend.value_or(false)) << "after more than 100 s in all";
}

}  // namespace
}  // namespace regatta::test_support
