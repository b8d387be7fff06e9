#include "tests/component/one_cluster.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Each answer to the manager, and each event, takes 200 ms. Two changes come that long after one
/// another, in either order, so that what one of them leads to waits for the write of the other.
class SlowWrites : public OneCluster {
 protected:
  void start() {
    manager::CoreConfig config;
    config.scheduler.admission.reactivation_delay = 0ms;
    start_with_queues(std::move(config));
  }
  void slow(Duration delay) { manager_->faults().delay_min = manager_->faults().delay_max = delay; }
  void give_quota(int cpus) {
    ASSERT_TRUE(cluster_.patch(
        api::ClusterQueue::resource, api::ObjectKey("cq"),
        R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"cpu-only",
            "resources":[{"name":"cpu","nominalQuota":")" +
            std::to_string(cpus) + "\"}]}]}]}}"));
  }
  /// `second` happens `lead` after `first`, or before it if that is negative. Then looks at each
  /// version of the objects.
  template <class First, class Second, class Look>
  void race(First first, Second second, Duration lead, Look look) {
    slow(200ms);
    const auto pass = [&](Duration time) {
      for (; time > 0ms; time -= 10ms) {
        world_.run_for(10ms);
        look();
      }
    };
    if (lead < 0ms) second();
    if (lead < 0ms) pass(-lead);
    first();
    pass(std::max(lead, Duration(0)));
    if (lead >= 0ms) second();
    pass(5s);
    slow(0ms);
    settle();
  }
  std::int32_t charged(const std::string& name) {
    const auto workload = workload_of(name);
    if (!workload || !workload->status.admission) return 0;
    return workload->status.admission->pod_set_assignments[0].count.value_or(0);
  }
  void let_preempt() {
    ASSERT_TRUE(
        cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                       R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}})"));
  }
  void add_local_queue(const std::string& name) {
    std::string yaml = local_queue_yaml;
    apply(yaml.replace(yaml.find("main"), 4, name));
  }
  /// A Workload that needs the whole quota, and may preempt for it.
  void submit_urgent(const std::string& queue) {
    apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: urgent, namespace: default}
spec:
  queueName: )" +
          queue + R"(
  priority: 100
  podSets:
  - name: main
    count: 4
    template: {spec: {restartPolicy: Never, containers: [
      {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)");
  }
  /// `over` happens, and a Workload that preempts `victim` comes so much later. Once the
  /// condition says that it is over, the victim is not evicted any more.
  template <class Over>
  void race_for_victim(const std::string& victim, Over over, const std::string& condition,
                       const std::string& is_so, const std::string& urgent_queue, Duration lead) {
    bool ended = false, late = false;
    race(
        over, [&] { submit_urgent(urgent_queue); }, lead,
        [&] {
          const bool evicted = condition_of(victim, "Evicted").starts_with("True");
          late = late || (ended && evicted);
          ended = condition_of(victim, condition).starts_with(is_so) && !evicted;
        });
    EXPECT_FALSE(late) << "evicted after that";
    EXPECT_THAT(condition_of(victim, condition), testing::StartsWith(is_so));
  }
  /// The API refuses what the manager writes into the status of that job's Workload.
  void refuse_statuses_of(const std::string& name) {
    slow(2ms);
    manager_->faults().concerns = [name](const net::HttpRequest& request) {
      return request.method == "PATCH" &&
             request.target.find("/workloads/job-" + name) != std::string::npos &&
             request.target.find("/status") != std::string::npos;
    };
    manager_->faults().refused = 1;
    manager_->requests.clear();
  }
  int statuses_written() { return manager_->requests.count("patch", "workloads/status"); }
  bool started(const std::string& name) { return !job(name).spec.suspend.value_or(true); }
};

TEST_F(SlowWrites, AJobThatGrowsWhileQuotaForItsFormerSizeFreesDoesNotRunOnThatQuota) {
  start();
  for (Duration lead = -300ms; lead <= 300ms; lead += 50ms) {
    SCOPED_TRACE("it grows " + std::to_string(lead.count()) + " ms after the quota is there");
    give_quota(0);
    const std::string name = "j" + std::to_string(lead.count() + 300);
    std::string yaml = job_yaml(name);
    apply(yaml.replace(yaml.find("completions: 1"), 14, "completions: 8"));
    settle();
    bool too_many = false;
    race([&] { give_quota(1); },
         [&] {
           ASSERT_TRUE(
               cluster_.patch(api::Job::resource, key(name), R"({"spec":{"parallelism":8}})"));
         },
         lead,
         [&] {
           const std::int32_t pods = *job(name).spec.parallelism;
           too_many = too_many || (started(name) && charged(name) < pods);
         });
    EXPECT_FALSE(too_many) << "pods that nothing was charged for";
    EXPECT_FALSE(started(name));
    give_quota(8);
    until("started", [&] { return started(name); });
    EXPECT_EQ(charged(name), 8);
    complete_job(name, 8);
    settle();
  }
}

TEST_F(SlowWrites, AWorkloadThatIsDeactivatedWhileItFollowsItsJobStaysInactive) {
  start();
  add_local_queue("other");
  for (Duration lead = -150ms; lead <= 450ms; lead += 25ms) {
    SCOPED_TRACE("inactive " + std::to_string(lead.count()) + " ms after the queue changed");
    give_quota(0);
    const std::string name = "j" + std::to_string(lead.count() + 150);
    apply(job_yaml(name, 2));
    settle();
    const api::ObjectKey workload = workload_of(name)->metadata.key();
    // Why it waits is written anew. The write and what follows from its conflict take long.
    slow(200ms);
    give_quota(1);
    settle(150ms);
    race(
        [&] {
          ASSERT_TRUE(
              cluster_.patch(api::Job::resource, key(name),
                             R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"other"}}})"));
        },
        [&] {
          ASSERT_TRUE(
              cluster_.patch(api::Workload::resource, workload, R"({"spec":{"active":false}})"));
        },
        lead, [] {});
    EXPECT_FALSE(workload_of(name)->spec.active);
    EXPECT_EQ(workload_of(name)->spec.queue_name, "other");
  }
}

TEST_F(SlowWrites, AVictimThatEndsBeforeItsPreemptionIsWrittenIsNotEvicted) {
  start();
  let_preempt();
  for (Duration lead = -100ms; lead <= 300ms; lead += 50ms) {
    SCOPED_TRACE("preempted " + std::to_string(lead.count()) + " ms after its end");
    const std::string name = "victim" + std::to_string(lead.count() + 100);
    apply(job_yaml(name, 4));
    until("started", [&] { return started(name); });
    run_job(name, 4);
    settle();
    race_for_victim(name, [&] { complete_job(name, 4); }, "Finished", "True", "main", lead);
    const auto urgent = cluster_.get<api::Workload>(key("urgent"));
    EXPECT_TRUE(api::is_true(urgent->status.conditions, "Admitted"));
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("urgent")));
    settle();
  }
}

TEST_F(SlowWrites, AVictimThatHasGivenItsQuotaBackIsNotEvictedAnyMore) {
  apply_check();
  start();
  set_check_active(true);
  require_check();
  let_preempt();
  add_local_queue("other");
  for (Duration lead = -100ms; lead <= 300ms; lead += 50ms) {
    SCOPED_TRACE("preempted " + std::to_string(lead.count()) + " ms after its queue stopped");
    cluster_.set_local_stop_policy("None");
    settle();
    const std::string name = "victim" + std::to_string(lead.count() + 100);
    apply(job_yaml(name, 4));
    until("reserved", [&] { return condition_of(name, "QuotaReserved").starts_with("True"); });
    settle();
    race_for_victim(
        name, [&] { cluster_.set_local_stop_policy("Hold"); }, "QuotaReserved", "False", "other",
        lead);
    const auto urgent = cluster_.get<api::Workload>(key("urgent"));
    EXPECT_TRUE(api::is_true(urgent->status.conditions, "QuotaReserved"));
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("urgent")));
    // No garbage collector runs here.
    const api::ObjectKey left = workload_of(name)->metadata.key();
    ASSERT_TRUE(cluster_.remove(api::Job::resource, key(name)));
    settle();
    ASSERT_TRUE(cluster_.remove(api::Workload::resource, left));
    settle();
  }
}

TEST_F(SlowWrites, AReservationThatIsRefusedEachTimeLeavesItsQuotaToOthers) {
  start();
  refuse_statuses_of("j");
  apply(job_yaml("j", 4));
  settle(30s);
  EXPECT_LE(statuses_written(), 30);
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("ReservationNotWritten: ")).Times(1));
  apply(job_yaml("k"));
  until("the other one starts", [&] { return started("k"); }, 10s);
  manager_->faults().refused = 0;
  complete_job("k", 1);
  until("it starts", [&] { return started("j"); });
}

TEST_F(SlowWrites, APreemptionThatIsRefusedEachTimeIsNotRepeatedWithoutPause) {
  start();
  let_preempt();
  apply(job_yaml("victim", 4));
  until("started", [&] { return started("victim"); });
  run_job("victim", 4);
  settle();
  refuse_statuses_of("victim");
  submit_urgent("main");
  settle(30s);
  EXPECT_LE(statuses_written(), 30);
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("PreemptionNotWritten: ")).Times(1));
  EXPECT_TRUE(started("victim"));
  manager_->faults().refused = 0;
  until("stopped", [&] { return !started("victim"); });
}

/// What becomes of the writes after the one that arrives late.
class LateReservation : public SlowWrites, public testing::WithParamInterface<unsigned> {};

TEST_P(LateReservation, GivesNoQuotaTwice) {
  start();
  // The first one hangs on its way.
  std::optional<net::HttpRequest> late;
  kube::NetworkFaults& faults = manager_->faults();
  faults.concerns = [&](const net::HttpRequest& request) {
    const bool reserves = request.method == "PATCH" &&
                          request.target.find("/workloads/job-j") != std::string::npos &&
                          request.body.find("podSetAssignments") != std::string::npos;
    faults.hang_before = late ? 0 : 1;
    faults.refused = late && GetParam() > 0 ? 1 : 0;
    faults.refused_with = GetParam();
    if (reserves && !late) late = request;
    return reserves;
  };
  apply(job_yaml("j", 4));
  until("it is written", [&] { return late.has_value(); });
  submit_urgent("main");
  const auto has_quota = [&](const api::ObjectKey& name) {
    const auto found = cluster_.get<api::Workload>(name);
    return found && api::is_true(found->status.conditions, "QuotaReserved");
  };
  const api::ObjectKey first = workload_of("j")->metadata.key();
  // While each later write is refused, neither has it.
  const bool has_one =
      world_.run_for(60s, [&] { return has_quota(first) || has_quota(key("urgent")); });
  EXPECT_EQ(has_one, GetParam() == 0);
  const auto sent = run(world_, cluster_.sender().send(*late, {}));
  ASSERT_TRUE(sent) << sent.error().what();
  settle();
  const int reserved = has_quota(first) + has_quota(key("urgent"));
  EXPECT_EQ(reserved, 1) << "the quota is for one of them";
}
INSTANTIATE_TEST_SUITE_P(, LateReservation, testing::Values(0, 422, 500));

TEST_F(SlowWrites, AWaitingWorkloadThatWasDeletedWhileItsWatchIsSilentIsGoneOnceTheApiSaysSo) {
  start();
  manager_.reset();
  manager_.emplace(cluster_, network_);
  manager_->faults().concerns = [](const net::HttpRequest& request) {
    return request.method == "GET" && request.target.find("/workloads?") != std::string::npos;
  };
  until("the manager has synced", [&] { return manager_->started(); });
  apply(job_yaml("j", 4));
  until("started", [&] { return started("j"); });
  run_job("j", 4);
  submit_urgent("main");
  settle();
  slow(2ms);
  manager_->faults().half_open_watch = 1;  // no event of a Workload comes any more
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, key("urgent")));
  manager_->requests.clear();
  complete_job("j", 4);
  settle(10s);
  EXPECT_LE(statuses_written(), 10);
  apply(job_yaml("k", 4));
  until("the next one starts", [&] { return started("k"); }, 10s);
}

}  // namespace
}  // namespace regatta::test_support
