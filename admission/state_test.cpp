#include "admission/cycle.h"
#include "admission/cycle_access.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr TimePoint year_one{std::chrono::hours(24 * 365)};

api::ClusterQueue cluster_queue(const std::string& name, int cpus, const std::string& cohort = "") {
  api::ClusterQueue queue;
  queue.metadata.name = name;
  queue.spec.namespace_selector.emplace();
  queue.spec.cohort_name = cohort;
  queue.spec.resource_groups = {{{"cpu"}, {{"default", {{"cpu", api::Quantity(cpus), {}, {}}}}}}};
  return queue;
}

api::LocalQueue local_queue(const std::string& name, const std::string& target) {
  api::LocalQueue queue;
  queue.metadata.ns = "dev";
  queue.metadata.name = name;
  queue.spec.cluster_queue = target;
  return queue;
}

api::Workload workload(const std::string& name, const std::string& queue, int cpus,
                       std::int32_t priority = 0) {
  api::Workload object;
  object.metadata.ns = "dev";
  object.metadata.name = name;
  object.metadata.uid = "uid-" + name;
  object.metadata.creation_timestamp = year_one;
  object.spec.queue_name = queue;
  object.spec.priority = priority;
  Json pod;
  pod["spec"]["containers"][0]["name"] = "c";
  pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpus;
  object.spec.pod_sets.emplace_back().pod_template = *api::PodTemplate::from(pod);
  return object;
}

api::Workload written(api::Workload object, const AdmittedWorkload& decision) {
  object.status.admission = decision.admission;
  for (const auto type : {api::conditions::quota_reserved, api::conditions::admitted}) {
    api::Condition condition;
    condition.type = type;
    condition.status = api::ConditionStatus::True;
    api::set_condition(&object.status.conditions, condition, year_one);
  }
  return object;
}

api::ResourceFlavor flavor() {
  api::ResourceFlavor object;
  object.metadata.name = "default";
  return object;
}

api::Namespace dev() {
  api::Namespace object;
  object.metadata.name = "dev";
  return object;
}

/// One ClusterQueue "main" of 4 CPUs behind LocalQueue "q".
struct Small {
  explicit Small(Config config = {}) : state(std::move(config)) {
    state.upsert(dev());
    state.upsert(flavor());
    state.upsert(cluster_queue("main", 4), year_one);
    state.upsert(local_queue("q", "main"), year_one);
  }
  void add(const api::Workload& object) { state.upsert(object, year_one); }
  State state;
};

TEST(State, AnAssumedReservationIsConfirmedByReadingItBack) {
  Small small;
  small.add(workload("w", "q", 3));
  const CycleResult result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(small.state.reader().status("main").reserving_workloads, 1);
  small.add(workload("w", "q", 3));
  EXPECT_EQ(small.state.reader().status("main").reserving_workloads, 1)
      << "an older reading changes nothing";
  small.add(written(workload("w", "q", 3), result.admitted[0]));
  EXPECT_EQ(small.state.reader().status("main").admitted_workloads, 1);
  small.add(workload("w", "q", 3));
  EXPECT_EQ(small.state.reader().status("main").reserving_workloads, 0) << "now it was evicted";
  EXPECT_EQ(small.state.reader().status("main").pending_workloads, 1);
}

TEST(State, AFailedWriteGivesTheQuotaBackAndTheNextTurn) {
  Small small;
  small.add(workload("w", "q", 3));
  ASSERT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
  small.state.forget({"dev", "w"}, "uid-w", year_one);
  EXPECT_EQ(small.state.reader().status("main").pending_workloads, 1);
  EXPECT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
}

TEST(State, AWorkloadThatIsSetAsideLeavesItsQuotaToOthersUntilItIsTakenBack) {
  Small small;
  small.add(workload("w", "q", 3));
  ASSERT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
  small.add(workload("other", "q", 3));
  ASSERT_TRUE(run_cycle(small.state, year_one).admitted.empty());
  small.state.set_aside({"dev", "w"}, "another", year_one);
  EXPECT_EQ(small.state.reader().status("main").pending_workloads, 1) << "it is not that one";
  small.state.set_aside({"dev", "w"}, "uid-w", year_one);
  small.add(workload("w", "q", 3));  // a reading that says nothing new
  small.state.flush(year_one + std::chrono::seconds(2));
  const CycleResult next = run_cycle(small.state, year_one);
  ASSERT_EQ(next.admitted.size(), 1U);
  EXPECT_EQ(next.admitted.front().key.name, "other");
  EXPECT_FALSE(small.state.has_heads());
  small.state.erase_workload({"dev", "other"}, year_one);
  small.state.flush(year_one + std::chrono::seconds(2));
  EXPECT_FALSE(small.state.has_heads());
  small.state.take_back({"dev", "w"}, "another", year_one);
  EXPECT_FALSE(small.state.has_heads()) << "it is not that one";
  small.state.take_back({"dev", "w"}, "uid-w", year_one);
  EXPECT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
}

TEST(State, AFailedWriteOfAWorkloadThatIsGoneTakesNothingFromTheNextOfThatName) {
  Small small;
  small.add(workload("w", "q", 3));
  ASSERT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
  api::Workload next = workload("w", "q", 3);
  next.metadata.uid = "another";
  small.add(next);
  ASSERT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
  small.state.forget({"dev", "w"}, "uid-w", year_one);
  small.add(workload("other", "q", 3));
  EXPECT_TRUE(run_cycle(small.state, year_one).admitted.empty()) << "of 4 CPUs 3 are assumed";
}

TEST(State, WithBlockedAdmissionOneIsAdmittedAtATimeAndTheNextWhenItsPodsAreReady) {
  Config config;
  config.block_admission = true;
  Small small(config);
  small.state.upsert(cluster_queue("other", 4), year_one);
  small.state.upsert(local_queue("p", "other"), year_one);
  small.add(workload("first", "q", 1));
  small.add(workload("second", "p", 1));
  CycleResult result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(result.admitted[0].key.name, "first");
  EXPECT_TRUE(result.blocked);
  ASSERT_EQ(result.pending.size(), 1U);
  EXPECT_EQ(result.pending[0].reason, api::reasons::waiting_for_pods_ready);
  EXPECT_EQ(result.pending[0].message,
            "waiting for all admitted workloads to be in PodsReady condition");
  EXPECT_EQ(small.state.not_ready(), 1U);
  EXPECT_TRUE(small.state.has_heads()) << "it keeps its turn";
  api::Workload first = written(workload("first", "q", 1), result.admitted[0]);
  small.add(first);
  EXPECT_EQ(small.state.not_ready(), 1U);
  EXPECT_TRUE(run_cycle(small.state, year_one).admitted.empty());
  first.status.conditions.push_back(
      {std::string(api::conditions::pods_ready), api::ConditionStatus::True, 0, {}, "Started", ""});
  small.add(first);
  EXPECT_EQ(small.state.not_ready(), 0U);
  result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_FALSE(result.blocked);
  small.state.erase_workload(first.metadata.key(), year_one);
  EXPECT_EQ(small.state.not_ready(), 1U);
  small.state.forget({"dev", "second"}, "uid-second", year_one);
  EXPECT_EQ(small.state.not_ready(), 0U) << "a reservation that was taken back needs no ready pods";
}

TEST(State, AClosedPreemptionGateLetsAWorkloadFitButNotPreempt) {
  Config config;
  config.preemption_gates = true;
  Small small(config);
  api::ClusterQueue queue = cluster_queue("main", 4);
  queue.spec.preemption.within_cluster_queue = api::WithinQueuePolicy::LowerPriority;
  small.state.upsert(queue, year_one);
  api::Workload low = workload("low", "q", 4);
  small.add(low);
  CycleResult result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.admitted.size(), 1U);
  small.add(written(low, result.admitted[0]));
  api::Workload high = workload("high", "q", 4, 10);
  high.spec.preemption_gates = {"a"};
  small.add(high);
  result = run_cycle(small.state, year_one);
  EXPECT_TRUE(result.preempted.empty());
  ASSERT_EQ(result.pending.size(), 1U);
  EXPECT_TRUE(result.pending[0].gated);
  EXPECT_EQ(result.pending[0].reason, "AdmissionGated");
  EXPECT_EQ(result.pending[0].message, "Workload requires preemption, but it's gated");
  EXPECT_FALSE(small.state.has_heads()) << "it waits for its gate, or for room";
  high.status.preemption_gates = {{"a", "Open", year_one}};
  small.add(high);
  EXPECT_EQ(run_cycle(small.state, year_one).preempted.size(), 1U);
}

TEST(State, AWorkloadIsBypassedOnlyIfOneLikeItHadTheTurn) {
  Small small;
  for (const char* name : {"a", "b"}) small.add(workload(name, "q", 5));
  small.add(workload("small", "q", 1));
  run_cycle(small.state, year_one);
  EXPECT_EQ(small.state.reader().bypassed({"dev", "a"}), "");
  EXPECT_EQ(small.state.reader().bypassed({"dev", "b"}), "ExceedsMaxQuota");
  EXPECT_EQ(small.state.reader().bypassed({"dev", "small"}), "");
  EXPECT_EQ(small.state.reader().bypassed({"dev", "unknown"}), "");
  small.state.upsert(cluster_queue("main", 8), year_one);
  small.state.flush(year_one + std::chrono::seconds(2));
  EXPECT_EQ(small.state.reader().bypassed({"dev", "b"}), "");
}

TEST(State, AHolderWithAnotherPriorityGivesTheParkedATurn) {
  Small small;
  api::ClusterQueue queue = cluster_queue("main", 4);
  queue.spec.preemption.within_cluster_queue = api::WithinQueuePolicy::LowerPriority;
  small.state.upsert(queue, year_one);
  api::Workload holder = workload("holder", "q", 4, 100);
  small.add(holder);
  holder = written(holder, run_cycle(small.state, year_one).admitted.at(0));
  small.add(holder);
  small.add(workload("waits", "q", 4, 100));
  small.state.flush(year_one + std::chrono::hours(1));
  EXPECT_TRUE(run_cycle(small.state, year_one).preempted.empty());
  small.add(holder);
  EXPECT_EQ(small.state.next_flush(), std::nullopt) << "nothing changed";
  holder.spec.priority = 50;
  small.add(holder);
  EXPECT_EQ(small.state.next_flush(), std::nullopt) << "only the priority of a class changes";
  holder.spec.priority_class_ref = {{"kueue.x-k8s.io", "WorkloadPriorityClass", "low"}};
  holder.spec.priority = 10;
  small.add(holder);
  ASSERT_EQ(small.state.next_flush(), year_one + std::chrono::seconds(1));
  small.state.flush(year_one + std::chrono::seconds(1));
  const CycleResult result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.preempted.size(), 1U);
  EXPECT_EQ(result.preempted[0].key.name, "holder");
}

TEST(State, CountsUsageWithBorrowedAmounts) {
  Small small;
  small.state.upsert(cluster_queue("main", 2, "team"), year_one);
  small.state.upsert(cluster_queue("lender", 4, "team"), year_one);
  small.add(workload("w", "q", 5));
  run_cycle(small.state, year_one);
  const api::ClusterQueueStatus status = small.state.reader().status("main");
  ASSERT_EQ(status.flavors_reservation.size(), 1U);
  EXPECT_EQ(status.flavors_reservation[0].resources[0].total.str(), "5");
  EXPECT_EQ(status.flavors_reservation[0].resources[0].borrowed->str(), "3");
  const api::LocalQueueStatus local = small.state.reader().status(api::ObjectKey("dev", "q"));
  EXPECT_EQ(local.flavors_reservation[0].resources[0].total.str(), "5");
  EXPECT_FALSE(local.flavors_reservation[0].resources[0].borrowed.has_value());
  EXPECT_EQ(local.admitted_workloads, 1);
}

TEST(State, SaysWhyAClusterQueueIsInactive) {
  Small small;
  EXPECT_EQ(small.state.reader().activity("main"),
            (Activity{true, "Ready", "Can admit new workloads"}));
  api::ClusterQueue queue = cluster_queue("main", 4);
  queue.spec.stop_policy = api::StopPolicy::Hold;
  queue.spec.admission_checks = {{"audit", {}}};
  queue.spec.resource_groups[0].flavors[0].name = "gone";
  small.state.upsert(queue, year_one);
  EXPECT_EQ(small.state.reader().activity("main"),
            (Activity{false, "Stopped",
                      "Can't admit new workloads: is stopped, references missing "
                      "ResourceFlavor(s): gone, references missing AdmissionCheck(s): audit."}));
  EXPECT_EQ(small.state.reader().local_queue_activity({"dev", "q"}).reason,
            "ClusterQueueIsInactive");
}

TEST(State, AdmittedAtOnceOnlyWithoutAdmissionChecks) {
  Small small;
  api::AdmissionCheck check;
  check.metadata.name = "race";
  check.spec.controller_name = api::multikueue_controller_name;
  api::Condition active;
  active.type = "Active";
  active.status = api::ConditionStatus::True;
  check.status.conditions = {active};
  small.state.upsert(check);
  api::ClusterQueue queue = cluster_queue("main", 4);
  queue.spec.admission_checks = {{"race", {}}};
  small.state.upsert(queue, year_one);
  small.add(workload("w", "q", 1));
  const CycleResult result = run_cycle(small.state, year_one);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(result.admitted[0].checks, std::vector<std::string>{"race"});
  EXPECT_EQ(small.state.reader().status("main").admitted_workloads, 0);
  EXPECT_EQ(small.state.reader().status("main").reserving_workloads, 1);
}

TEST(State, AStoppedLocalQueueKeepsItsWorkloadsOut) {
  Small small;
  small.add(workload("w", "q", 1));
  api::LocalQueue stopped = local_queue("q", "main");
  stopped.spec.stop_policy = api::StopPolicy::Hold;
  small.state.upsert(stopped, year_one);
  EXPECT_FALSE(small.state.has_heads());
  EXPECT_EQ(small.state.reader().status("main").pending_workloads, 0);
  small.state.upsert(local_queue("q", "main"), year_one);
  EXPECT_TRUE(small.state.has_heads());
}

TEST(State, ReleasedQuotaReactivatesTheTreeAfterADelay) {
  Small small;
  small.add(workload("first", "q", 4, 1));
  small.add(workload("second", "q", 4));
  const CycleResult result = run_cycle(small.state, year_one);
  small.add(written(workload("first", "q", 4, 1), result.admitted.at(0)));
  small.state.flush(year_one + std::chrono::hours(1));
  run_cycle(small.state, year_one);
  EXPECT_FALSE(small.state.has_heads());
  small.state.erase_workload({"dev", "first"}, year_one);
  ASSERT_EQ(small.state.next_flush(), year_one + std::chrono::seconds(1));
  small.state.flush(year_one);
  EXPECT_FALSE(small.state.has_heads());
  small.state.flush(year_one + std::chrono::seconds(1));
  EXPECT_TRUE(small.state.has_heads());
}

TEST(State, WorkloadsFindQuotaObjectsThatComeLater) {
  State state;
  state.upsert(workload("w", "q", 1), year_one);
  state.upsert(local_queue("q", "main"), year_one);
  state.upsert(cluster_queue("main", 4), year_one);
  EXPECT_FALSE(state.has_heads());
  state.upsert(flavor());
  state.upsert(dev());
  EXPECT_TRUE(state.has_heads());
  EXPECT_EQ(run_cycle(state, year_one).admitted.size(), 1U);
}

TEST(State, WorkloadsOutliveTheirClusterQueueAndWaitForTheNextOfThatName) {
  Small small;
  small.add(workload("runs", "q", 3));
  run_cycle(small.state, year_one);
  small.add(workload("waits", "q", 1));
  small.state.upsert(cluster_queue("alpha", 1), year_one);
  ASSERT_TRUE(small.state.has_heads());
  small.state.erase_cluster_queue("main", year_one);
  EXPECT_FALSE(small.state.has_heads());
  EXPECT_FALSE(run_cycle(small.state, year_one).ran);
  small.state.upsert(cluster_queue("main", 4), year_one);
  EXPECT_EQ(small.state.reader().status("main").reserving_workloads, 1);
  EXPECT_EQ(small.state.reader().status("main").pending_workloads, 1);
  EXPECT_EQ(run_cycle(small.state, year_one).admitted.size(), 1U);
}

TEST(State, LoadingManyClusterQueuesRebuildsTheirTreeOnce) {
  State state;
  for (int i = 0; i < 500; ++i) {
    api::ClusterQueue queue = cluster_queue("q" + std::to_string(i), 1);
    queue.spec.cohort_name = "all";
    state.upsert(queue, year_one);
  }
  const StatusReader reader = state.reader();
  EXPECT_EQ(reader.forest().node(reader.find_queue("q0")->node).generation, 1U);
  EXPECT_EQ(reader.cohorts_above("q499"), std::vector<std::string>{"all"});
}

TEST(StateDeathTest, AWorkloadHoldsAtMostOneReservation) {
  Small small;
  small.add(workload("w", "q", 1));
  CycleAccess access(small.state);
  const WorkloadId head = access.pop_heads().front();
  const auto reservation = [&] {
    auto made = std::make_unique<Reservation>();
    made->queue = access.find_queue("main")->id;
    return made;
  };
  access.assume(head, reservation());
  EXPECT_DEATH(access.assume(head, reservation()), "w holds a reservation already");
}

TEST(StateDeathTest, OnlyWhatIsReservedIsReleased) {
  Books books({});
  const WorkloadId id = books.workloads.insert({"dev", "w"});
  EXPECT_DEATH(books.usage.release(id), "dev/w holds no reservation");
}

TEST(State, HeadsComeByTheNameOfTheirClusterQueueWhicheverCameFirst) {
  Small small;
  for (const std::string name : {"zeta", "alpha", "nu"}) {
    small.state.upsert(cluster_queue(name, 1), year_one);
    small.state.upsert(local_queue(name, name), year_one);
    small.add(workload("w-" + name, name, 1));
  }
  small.add(workload("w-main", "q", 1));
  std::vector<std::string> names;
  CycleAccess access(small.state);
  for (const WorkloadId id : access.pop_heads()) {
    names.push_back(access.workloads()[id].key.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"w-alpha", "w-main", "w-nu", "w-zeta"}));
}

/// Runs cycles over random workloads. Returns the text of all decisions.
std::string history(std::uint64_t seed, bool fair, std::uint64_t order_seed) {
  Rng rng(seed);
  std::vector<api::Workload> workloads;
  std::vector<api::ClusterQueue> queues;
  for (int i = 0; i < 4; ++i) {
    queues.push_back(
        cluster_queue("cq" + std::to_string(i), static_cast<int>(rng.between(2, 9)), "team"));
    queues.back().spec.preemption.reclaim_within_cohort = api::ReclaimPolicy::Any;
    queues.back().spec.preemption.within_cluster_queue = api::WithinQueuePolicy::LowerPriority;
  }
  for (int i = 0; i < 40; ++i) {
    const auto queue = "q" + std::to_string(rng.between(0, 3));
    workloads.push_back(workload("w" + std::to_string(i), queue,
                                 static_cast<int>(rng.between(1, 5)),
                                 static_cast<std::int32_t>(rng.between(0, 2))));
  }
  Rng order(order_seed);
  for (std::size_t i = workloads.size(); i > 1; --i) {
    std::swap(
        workloads[i - 1],
        workloads[static_cast<std::size_t>(order.between(0, static_cast<std::int64_t>(i) - 1))]);
  }
  if (order_seed % 2 == 1) std::reverse(queues.begin(), queues.end());
  Config config;
  if (fair) config.fair_sharing.emplace();
  State state(config);
  state.upsert(dev());
  state.upsert(flavor());
  for (const auto& queue : queues) state.upsert(queue, year_one);
  for (int i = 0; i < 4; ++i) {
    state.upsert(local_queue("q" + std::to_string(i), "cq" + std::to_string(i)), year_one);
  }
  std::map<api::ObjectKey, api::Workload> objects;
  for (const auto& object : workloads) {
    objects[object.metadata.key()] = object;
    state.upsert(object, year_one);
  }
  std::string text;
  TimePoint now = year_one;
  for (int cycle = 0; cycle < 30; ++cycle, now += std::chrono::seconds(2)) {
    state.flush(now);
    const CycleResult result = run_cycle(state, now);
    for (const auto& decision : result.admitted) {
      text += "+" + decision.key.name;
      objects[decision.key] = written(objects[decision.key], decision);
      state.upsert(objects[decision.key], now);
    }
    for (const auto& decision : result.preempted) {
      text += "-" + decision.key.name + "(" + decision.preemptor->key.name + ")";
      objects[decision.key].status = {};
      state.upsert(objects[decision.key], now);
    }
    for (const auto& decision : result.pending) text += "?" + decision.key.name + decision.message;
    for (const auto& queue : queues) {
      const NodeId node = state.reader().find_queue(queue.metadata.name)->node;
      const NodeId root = state.reader().forest().node(node).root;
      for (const Cell& cell : state.reader().forest().node(root).cells)
        EXPECT_LE(cell.usage, cell.subtree);
    }
    text += "\n";
  }
  return text;
}

class CycleProperties : public ::testing::TestWithParam<int> {};

TEST_P(CycleProperties, DecidesTheSameForAnyOrderOfInsertion) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  const auto seed = static_cast<std::uint64_t>(GetParam());
  for (const bool fair : {false, true}) {
    const std::string expected = history(seed, fair, 2);
    EXPECT_NE(expected.find('+'), std::string::npos);
    for (const std::uint64_t order : {3U, 4U, 5U}) {
      EXPECT_EQ(history(seed, fair, order), expected) << (fair ? "fair" : "classical");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CycleProperties, ::testing::Range(1, 11));

}  // namespace
}  // namespace regatta::admission
