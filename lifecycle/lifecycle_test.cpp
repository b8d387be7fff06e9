#include "lifecycle/lifecycle.h"

#include "lib/api/eviction_record.h"
#include "lib/api/names.h"
#include "lifecycle/multikueue_check.h"

#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};

std::string text_of(const api::Conditions& conditions, std::string_view type) {
  const api::Condition* found = api::find_condition(conditions, type);
  if (!found) return "";
  return (found->status == api::ConditionStatus::True ? "True " : "False ") + found->reason + ": " +
         found->message;
}

void put(api::Workload* w, std::string_view type, bool value, std::string_view reason,
         const std::string& message = "m", TimePoint at = now - 60s) {
  api::set_condition(&w->status.conditions,
                     {std::string(type),
                      value ? api::ConditionStatus::True : api::ConditionStatus::False,
                      0,
                      {},
                      std::string(reason),
                      message},
                     at);
}

api::Workload pending() {
  api::Workload w;
  w.metadata.name = "w";
  w.metadata.ns = "default";
  w.spec.queue_name = "main";
  api::OwnerReference owner;
  owner.uid = "u";
  owner.controller = true;
  w.metadata.owner_references.push_back(owner);
  return w;
}
api::Workload reserved() {
  api::Workload w = pending();
  w.status.admission.emplace();
  w.status.admission->cluster_queue = "cq";
  put(&w, "QuotaReserved", true, "QuotaReserved");
  return w;
}
api::Workload admitted() {
  api::Workload w = reserved();
  put(&w, "Admitted", true, "Admitted");
  return w;
}
api::Workload evicted(const char* reason, bool with_quota) {
  api::Workload w = with_quota ? admitted() : pending();
  put(&w, "Evicted", true, reason, "because");
  return w;
}
api::Workload with_check(api::Workload w, api::CheckState state, const std::string& name = "mk") {
  api::AdmissionCheckState check;
  check.name = name;
  check.state = state;
  check.message = "said so";
  check.last_transition_time = now - 10s;
  w.status.admission_checks.push_back(check);
  return w;
}

/// A hub has sent it, and its job has not come yet.
api::Workload copy(api::Workload w) {
  w.metadata.labels["kueue.x-k8s.io/multikueue-origin"] = "hub";
  w.metadata.owner_references.clear();
  return w;
}

LifecycleView open_queues(std::vector<std::string> checks = {}) {
  LifecycleView view;
  view.local_queue = view.cluster_queue = {true, true, api::StopPolicy::None};
  view.cluster_queue_name = "cq";
  view.required_checks = std::move(checks);
  return view;
}
LifecycleView stopped(bool local, api::StopPolicy how) {
  LifecycleView view = open_queues();
  (local ? view.local_queue : view.cluster_queue).stop_policy = how;
  if (!local) view.cluster_queue.active = false;
  return view;
}
LifecycleView missing(bool local) {
  LifecycleView view = open_queues();
  (local ? view.local_queue : view.cluster_queue) = {};
  return view;
}

struct Case {
  const char* name;
  api::Workload before;
  LifecycleView view;
  std::string type;  ///< the condition to look at
  std::string want;  ///< its expected value
  bool changes = true;
  std::string notes = {};
};

class Lifecycle : public testing::TestWithParam<Case> {};

std::string text_of(const std::vector<Note>& notes) {
  std::string out;
  for (const Note& note : notes) {
    out += (out.empty() ? "" : "; ") + std::string(note.warning ? "W " : "N ") + note.reason +
           ": " + note.message;
  }
  return out;
}

/// Settles, and puts the wanted status into the workload.
Settled settle_in(api::Workload* w, const LifecycleView& view, TimePoint at = now,
                  const LifecycleConfig& config = {}) {
  Settled done = settle(*w, view, at, config);
  if (done.status) w->status = *done.status;
  return done;
}

TEST_P(Lifecycle, Settles) {
  api::Workload after = GetParam().before;
  const Settled done = settle_in(&after, GetParam().view);
  EXPECT_EQ(text_of(after.status.conditions, GetParam().type), GetParam().want);
  EXPECT_EQ(done.status.has_value(), GetParam().changes);
  EXPECT_EQ(text_of(done.notes), GetParam().notes);
  // A second settle() changes nothing.
  if (!done.active && done.status) EXPECT_FALSE(settle(after, GetParam().view, now).status);
}

api::Workload orphan() {
  api::Workload w = pending();
  w.metadata.owner_references.clear();
  w.metadata.labels["kueue.x-k8s.io/job-uid"] = "u";
  return w;
}
api::Workload finished() {
  api::Workload w = with_check(admitted(), api::CheckState::Retry);
  put(&w, "Finished", true, "Succeeded", "done");
  return w;
}
api::Workload inactive(api::Workload w) {
  w.spec.active = false;
  return w;
}
api::Workload requeued(const char* reason, bool quota_condition = true) {
  api::Workload w = evicted(reason, false);
  put(&w, "Requeued", false, reason, "because");
  if (!quota_condition) return w;
  put(&w, "QuotaReserved", false, "WaitingForQuota", "no room");
  put(&w, "Admitted", false, "NoReservation", "The workload has no reservation");
  return w;
}
api::Workload explained(const char* reason, const char* message) {
  api::Workload w = pending();
  put(&w, "QuotaReserved", false, reason, message);
  put(&w, "Admitted", false, "NoReservation", "The workload has no reservation");
  return w;
}
api::Workload targeted(api::Workload w) {
  w = inactive(std::move(w));
  put(&w, "DeactivationTarget", true, "AdmissionCheck", "AdmissionCheck in Rejected state: \"a\"");
  return w;
}
api::Workload sent_to(const char* worker, api::Workload w) {
  w.status.cluster_name = worker;
  return w;
}
/// It has quota instead of that smaller slice, and its check is Pending.
api::Workload replacing(const char* smaller, api::Workload w) {
  w.metadata.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = smaller;
  return w;
}
api::Workload larger_slice(const char* smaller) {
  return replacing(smaller, with_check(reserved(), api::CheckState::Pending));
}
api::Workload evicted_once(api::Workload w) {
  w.status.evictions.push_back({"Preempted", "", 1});
  return w;
}
LifecycleView with_checks(LifecycleView view) {
  view.required_checks = {"mk"};
  return view;
}
api::Workload delayed() {
  api::Workload w = reserved();
  api::PodSetAssignment set;
  set.delayed_topology_request = "Pending";
  w.status.admission->pod_set_assignments.push_back(set);
  return w;
}
api::Workload limited(std::int32_t limit, std::int32_t past) {
  api::Workload w = admitted();
  w.spec.maximum_execution_time_seconds = limit;
  if (past) w.status.accumulated_past_execution_time_seconds = past;
  return w;
}

constexpr auto hold = api::StopPolicy::Hold;
constexpr auto drain = api::StopPolicy::HoldAndDrain;
const std::string same;

INSTANTIATE_TEST_SUITE_P(
    Rules, Lifecycle,
    testing::Values(
        Case{"a_finished_workload_stays_as_it_is", finished(), open_queues({"mk"}), "Finished",
             "True Succeeded: done", false},
        Case{"an_orphan_is_finished", orphan(), open_queues(), "Finished",
             "True OwnerNotFound: The workload's owner no longer exists"},
        Case{"an_inactive_one_loses_its_quota", inactive(admitted()), open_queues(), "Evicted",
             "True Deactivated: The workload is deactivated", true,
             "N EvictedDueToDeactivated: The workload is deactivated"},
        Case{"an_inactive_one_without_quota_says_so", inactive(pending()), open_queues(),
             "QuotaReserved", "False Deactivated: The workload is deactivated"},
        Case{"an_inactive_one_says_what_deactivated_it", targeted(admitted()), open_queues(),
             "Evicted",
             "True DeactivatedDueToAdmissionCheck: The workload is deactivated due to "
             "AdmissionCheck in Rejected state: \"a\"",
             true,
             "N EvictedDueToDeactivatedDueToAdmissionCheck: The workload is deactivated due to "
             "AdmissionCheck in Rejected state: \"a\""},
        Case{"an_inactive_one_that_still_stops_is_left_alone", inactive(evicted("Preempted", true)),
             open_queues(), "Evicted", "True Preempted: because", false},
        Case{"an_inactive_one_that_was_evicted_before_is_deactivated",
             inactive(evicted("Preempted", false)), open_queues(), "Evicted",
             "True Deactivated: The workload is deactivated"},
        Case{"an_evicted_one_is_left_to_its_job", evicted("Preempted", true), open_queues(),
             "Admitted", "True Admitted: m", false},
        Case{"an_evicted_copy_that_no_job_has_taken_has_none_to_stop",
             copy(evicted("Preempted", true)), open_queues(), "QuotaReserved",
             "False PendingEvaluation: because"},
        Case{"but_one_that_has_the_quota_of_a_smaller_slice_may_have",
             copy(replacing("default/small", evicted("Preempted", true))), open_queues(),
             "Admitted", "True Admitted: m", false},
        Case{"nor_has_an_inactive_one", inactive(copy(evicted("Preempted", true))), open_queues(),
             "QuotaReserved", "False Deactivated: The workload is deactivated"},
        Case{"one_without_quota_that_nothing_is_known_of_is_the_schedulers", pending(),
             open_queues(), "QuotaReserved", "", false},
        Case{"a_missing_local_queue_is_named", pending(), missing(true), "QuotaReserved",
             "False Misconfigured: LocalQueue main doesn't exist"},
        Case{"a_missing_cluster_queue_is_named", pending(), missing(false), "QuotaReserved",
             "False Misconfigured: ClusterQueue cq doesn't exist"},
        Case{"a_stopped_local_queue_is_named", pending(), stopped(true, hold), "QuotaReserved",
             "False Suspended: LocalQueue main is inactive"},
        Case{"a_stopped_cluster_queue_is_named", pending(), stopped(false, hold), "QuotaReserved",
             "False Suspended: ClusterQueue cq is inactive"},
        Case{"what_was_missing_and_came_is_not_said_any_more",
             explained("Misconfigured", "LocalQueue main doesn't exist"), open_queues(),
             "QuotaReserved",
             "False PendingEvaluation: Workload is pending evaluation in the scheduling queue"},
        Case{"what_the_scheduler_said_stays",
             explained("Misconfigured", "workload namespace doesn't match ClusterQueue selector"),
             open_queues(), "QuotaReserved",
             "False Misconfigured: workload namespace doesn't match ClusterQueue selector", false},
        Case{"a_reactivated_one_may_be_queued", requeued("Deactivated"), open_queues(), "Requeued",
             "True Reactivated: The workload was reactivated"},
        Case{"a_backoff_that_is_over_too", requeued("AdmissionCheck"), open_queues(), "Requeued",
             "True BackoffFinished: The workload backoff was finished"},
        Case{"and_after_a_timeout_of_its_pods", requeued("PodsReadyTimeout"), open_queues(),
             "Requeued", "True BackoffFinished: The workload backoff was finished"},
        Case{"a_restarted_cluster_queue_takes_its_workloads_back", requeued("ClusterQueueStopped"),
             open_queues(), "Requeued",
             "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped"},
        Case{"one_that_is_still_stopped_does_not", requeued("ClusterQueueStopped"),
             stopped(false, drain), "Requeued", "False ClusterQueueStopped: because"},
        Case{"a_restarted_local_queue_takes_its_workloads_back", requeued("LocalQueueStopped"),
             open_queues(), "Requeued",
             "True LocalQueueRestarted: The LocalQueue was restarted after being stopped"},
        Case{"all_checks_ready_is_admitted", with_check(reserved(), api::CheckState::Ready),
             open_queues({"mk"}), "Admitted", "True Admitted: The workload is admitted", true,
             "N Admitted: Admitted by ClusterQueue cq, wait time since reservation was 60s"},
        Case{"a_pending_check_is_waited_for", with_check(reserved(), api::CheckState::Pending),
             open_queues({"mk"}), "Admitted",
             "False UnsatisfiedAdmissionChecks: The workload has not all checks ready"},
        Case{"a_check_that_came_after_the_admission_does_not_end_it", admitted(),
             open_queues({"new"}), "Admitted", "True Admitted: m"},
        Case{"nor_does_one_that_went_back_to_pending",
             with_check(admitted(), api::CheckState::Pending), open_queues({"mk"}), "Admitted",
             "True Admitted: m", false},
        Case{"a_delayed_topology_is_waited_for", delayed(), open_queues(), "Admitted",
             "False PendingDelayedTopologyRequests: There are pending delayed topology requests"},
        Case{"one_that_waits_is_not_admitted_either",
             [] {
               api::Workload w = pending();
               put(&w, "QuotaReserved", false, "WaitingForQuota", "no room");
               return w;
             }(),
             open_queues(), "Admitted", "False NoReservation: The workload has no reservation"},
        Case{"a_rejected_check_deactivates", with_check(admitted(), api::CheckState::Rejected),
             open_queues({"mk"}), "DeactivationTarget",
             "True AdmissionCheck: AdmissionCheck in Rejected state: \"mk\" (said so)", true,
             "W AdmissionCheckRejected: Deactivated due to AdmissionCheck in Rejected state: "
             "\"mk\" (said so)"},
        Case{"two_rejected_checks_are_both_named",
             with_check(with_check(admitted(), api::CheckState::Rejected, "a"),
                        api::CheckState::Rejected, "b"),
             open_queues({"a", "b"}), "DeactivationTarget",
             "True AdmissionCheck: AdmissionChecks in Rejected state: \"a\" (said so); \"b\" (said "
             "so)",
             true,
             "W AdmissionCheckRejected: Deactivated due to AdmissionChecks in Rejected state: "
             "\"a\" (said so); \"b\" (said so)"},
        Case{"a_rejection_that_comes_after_the_eviction_deactivates",
             with_check(evicted("Preempted", false), api::CheckState::Rejected),
             open_queues({"mk"}), "DeactivationTarget",
             "True AdmissionCheck: AdmissionCheck in Rejected state: \"mk\" (said so)", true,
             "W AdmissionCheckRejected: Deactivated due to AdmissionCheck in Rejected state: "
             "\"mk\" (said so)"},
        Case{"and_one_that_comes_after_a_mere_reservation_was_taken_back",
             with_check(explained("Suspended", "LocalQueue main is stopped"),
                        api::CheckState::Rejected),
             open_queues({"mk"}), "DeactivationTarget",
             "True AdmissionCheck: AdmissionCheck in Rejected state: \"mk\" (said so)", true,
             "W AdmissionCheckRejected: Deactivated due to AdmissionCheck in Rejected state: "
             "\"mk\" (said so)"},
        Case{"while_the_job_of_an_evicted_one_stops_a_rejection_waits",
             with_check(evicted("Preempted", true), api::CheckState::Rejected), open_queues({"mk"}),
             "DeactivationTarget", "", false},
        Case{"a_check_that_wants_another_try_evicts",
             with_check(admitted(), api::CheckState::Retry), open_queues({"mk"}), "Evicted",
             "True AdmissionCheck: Evicted due to AdmissionCheck in Retry state: \"mk\" (said so)",
             true,
             "N EvictedDueToAdmissionCheck: Evicted due to AdmissionCheck in Retry state: \"mk\" "
             "(said so)"},
        Case{"a_drained_local_queue_evicts", admitted(), stopped(true, drain), "Evicted",
             "True LocalQueueStopped: The LocalQueue is stopped", true,
             "N EvictedDueToLocalQueueStopped: The LocalQueue is stopped"},
        Case{"a_drained_cluster_queue_evicts", admitted(), stopped(false, drain), "Evicted",
             "True ClusterQueueStopped: The ClusterQueue is stopped", true,
             "N EvictedDueToClusterQueueStopped: The ClusterQueue is stopped"},
        Case{"a_held_queue_lets_the_admitted_run", admitted(), stopped(false, hold), "Admitted",
             "True Admitted: m", false},
        Case{"a_held_local_queue_takes_a_mere_reservation_back",
             with_check(reserved(), api::CheckState::Pending),
             [] {
               LifecycleView view = stopped(true, hold);
               view.required_checks = {"mk"};
               return view;
             }(),
             "QuotaReserved", "False Suspended: LocalQueue main is stopped"},
        Case{"a_missing_local_queue_too", with_check(reserved(), api::CheckState::Pending),
             [] {
               LifecycleView view = missing(true);
               view.required_checks = {"mk"};
               return view;
             }(),
             "QuotaReserved", "False Misconfigured: LocalQueue main is terminating or missing"},
        Case{"but_not_from_a_slice_whose_job_runs_already", larger_slice("default/small"),
             with_checks(stopped(true, hold)), "QuotaReserved", "True QuotaReserved: m"},
        Case{"nor_from_what_has_a_worker_already", sent_to("east", larger_slice("default/_")),
             with_checks(stopped(true, hold)), "QuotaReserved", "True QuotaReserved: m"},
        Case{"nor_without_its_local_queue", larger_slice("default/small"),
             with_checks(missing(true)), "QuotaReserved", "True QuotaReserved: m"},
        Case{"nor_without_its_cluster_queue", larger_slice("default/small"), missing(false),
             "QuotaReserved", "True QuotaReserved: m"},
        Case{"but_from_one_that_replaces_a_slice_that_was_evicted", larger_slice("default/small"),
             [] {
               LifecycleView view = with_checks(stopped(true, hold));
               view.replaces_stopped = true;
               return view;
             }(),
             "QuotaReserved", "False Suspended: LocalQueue main is stopped"},
        Case{"but_from_one_whose_job_was_stopped", evicted_once(larger_slice("default/small")),
             with_checks(stopped(true, hold)), "QuotaReserved",
             "False Suspended: LocalQueue main is stopped"},
        Case{"and_from_the_copy_of_a_first_slice", larger_slice("default/_"),
             with_checks(stopped(true, hold)), "QuotaReserved",
             "False Suspended: LocalQueue main is stopped"},
        Case{"a_drained_queue_evicts_a_slice_whose_job_runs", larger_slice("default/small"),
             with_checks(stopped(true, drain)), "Evicted",
             "True LocalQueueStopped: The LocalQueue is stopped", true,
             "N EvictedDueToLocalQueueStopped: The LocalQueue is stopped"},
        Case{"what_is_complete_is_admitted_without_a_local_queue", reserved(), missing(true),
             "Admitted", "True Admitted: The workload is admitted", true,
             "N Admitted: Admitted by ClusterQueue cq, wait time since reservation was 60s"},
        Case{"and_without_a_cluster_queue", with_check(reserved(), api::CheckState::Ready),
             missing(false), "Admitted", "True Admitted: The workload is admitted", true,
             "N Admitted: Admitted by ClusterQueue cq, wait time since reservation was 60s"},
        Case{"a_cluster_queue_that_is_going_takes_a_mere_reservation_back",
             with_check(reserved(), api::CheckState::Pending),
             [] {
               LifecycleView view = open_queues({"mk"});
               view.cluster_queue.deleting = true;
               view.cluster_queue.active = false;
               return view;
             }(),
             "QuotaReserved", "False Misconfigured: ClusterQueue cq is terminating or missing"},
        Case{"a_cluster_queue_that_is_gone_takes_no_check_off_a_running_workload",
             with_check(admitted(), api::CheckState::Ready), missing(false), "Admitted",
             "True Admitted: m", false},
        Case{"time_is_up", limited(100, 50), open_queues(), "DeactivationTarget",
             "True MaximumExecutionTimeExceeded: exceeding the maximum execution time", true,
             "W MaximumExecutionTimeExceeded: The maximum execution time (100s) exceeded"},
        Case{"time_is_left", limited(100, 30), open_queues(), "DeactivationTarget", "", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Lifecycle_, ATargetFirstMakesTheSpecInactive) {
  api::Workload w = targeted(admitted());
  w.spec.active = true;
  const Settled done = settle_in(&w, open_queues(), now);
  EXPECT_EQ(done.active, false);
  EXPECT_FALSE(done.status);
}

TEST(Lifecycle_, ABackoffIsWaitedForAndThenForgotten) {
  api::Workload w = requeued("AdmissionCheck");
  w.status.requeue_state.emplace();
  w.status.requeue_state->requeue_at = now + 30s;
  w.status.requeue_state->count = 2;
  Settled done = settle_in(&w, open_queues(), now);
  EXPECT_EQ(done.look_again, 30s);
  EXPECT_FALSE(done.status);
  done = settle_in(&w, open_queues(), now + 30s);
  EXPECT_TRUE(done.status);
  EXPECT_FALSE(w.status.requeue_state->requeue_at);
  EXPECT_EQ(w.status.requeue_state->count, 2);
}

TEST(Lifecycle_, TheLatestOfTheChecksSaysWhenToTryAgain) {
  api::Workload w =
      with_check(with_check(admitted(), api::CheckState::Retry, "a"), api::CheckState::Retry, "b");
  w.status.admission_checks[0].requeue_after_seconds = 60;
  w.status.admission_checks[1].requeue_after_seconds = 20;
  settle_in(&w, open_queues({"a", "b"}), now);
  EXPECT_EQ(w.status.requeue_state->requeue_at, now + 50s);
}

TEST(Lifecycle_, ACheckThatBecameRetryTooLateIsResetBecauseNoEvictionIsLeftToDoIt) {
  api::Workload w = with_check(evicted("Preempted", false), api::CheckState::Retry);
  w.status.admission_checks[0].requeue_after_seconds = 60;
  EXPECT_TRUE(settle_in(&w, open_queues({"mk"})).status);
  EXPECT_EQ(w.status.admission_checks[0].state, api::CheckState::Pending);
  EXPECT_EQ(w.status.admission_checks[0].retry_count, 1);
  EXPECT_EQ(w.status.requeue_state->requeue_at, now + 50s);
  // A mere reservation is taken back without an eviction.
  w = with_check(explained("Suspended", "LocalQueue main is stopped"), api::CheckState::Retry);
  settle_in(&w, open_queues({"mk"}));
  EXPECT_EQ(w.status.admission_checks[0].state, api::CheckState::Pending);
  EXPECT_EQ(w.status.admission_checks[0].retry_count, 1);
  // The job of this one still stops: its eviction reset the checks, and more may be written.
  w = with_check(evicted("Preempted", true), api::CheckState::Retry);
  settle_in(&w, open_queues({"mk"}));
  EXPECT_EQ(w.status.admission_checks[0].state, api::CheckState::Retry);
}

TEST(Lifecycle_, ACheckNeverShortensAWaitThatIsLongerOrOver) {
  api::Workload w = with_check(admitted(), api::CheckState::Retry);
  w.status.admission_checks[0].requeue_after_seconds = 30;
  w.status.requeue_state.emplace();
  w.status.requeue_state->requeue_at = now + 5min;
  settle_in(&w, open_queues({"mk"}), now);
  EXPECT_EQ(w.status.requeue_state->requeue_at, now + 5min);
  w = with_check(admitted(), api::CheckState::Retry);
  w.status.admission_checks[0].requeue_after_seconds = 10;
  settle_in(&w, open_queues({"mk"}), now);
  EXPECT_TRUE(is_evicted(w));
  EXPECT_FALSE(w.status.requeue_state);
}

TEST(Lifecycle_, OtherPlacesChangeNothingElseOfTheAdmission) {
  api::Workload w = admitted();
  w.status.unhealthy_nodes = {"n1"};
  auto& sets = w.status.admission->pod_set_assignments;
  for (const char* name : {"a", "b"}) {
    api::PodSetAssignment& set = sets.emplace_back();
    set.name = name;
    set.count = 4;
    set.flavors = {{"cpu", "default"}};
    set.resource_usage = {{"cpu", api::resource_quantity("cpu", 4000)}};
  }
  sets[0].delayed_topology_request = "Pending";
  api::Admission want = *w.status.admission;
  want.pod_set_assignments[0].delayed_topology_request = "Ready";
  want.pod_set_assignments[0].topology_assignment.emplace().levels = {"host"};
  // The scheduler's own picture: pods of the set were reclaimed, and another set is not there.
  api::Admission places = want;
  places.cluster_queue = "other";
  places.pod_set_assignments.pop_back();
  places.pod_set_assignments[0].count = 2;
  places.pod_set_assignments[0].flavors = {{"cpu", "other"}};
  places.pod_set_assignments[0].resource_usage = {{"cpu", api::resource_quantity("cpu", 2000)}};
  const api::WorkloadStatus placed = place(w, places, now);
  EXPECT_EQ(placed.admission, want);
  EXPECT_TRUE(placed.unhealthy_nodes.empty());
}

TEST(Lifecycle_, ADeactivationWithoutQuotaIsCountedAndEndsTheWaitForAGate) {
  api::Workload w = inactive(pending());
  put(&w, "BlockedOnPreemptionGates", true, "PreemptionGated", "gated");
  const Settled done = settle_in(&w, open_queues(), now);
  EXPECT_TRUE(done.notes.empty()) << "no workload lost anything";
  ASSERT_EQ(w.status.evictions.size(), 1U);
  EXPECT_EQ(w.status.evictions[0].reason, "Deactivated");
  EXPECT_EQ(text_of(w.status.conditions, "BlockedOnPreemptionGates"),
            "False Deactivated: The workload is deactivated");
}

TEST(Lifecycle_, TimeThatIsLeftIsWaitedFor) {
  api::Workload w = limited(100, 30);
  EXPECT_EQ(settle_in(&w, open_queues(), now).look_again, 10s);
}

TEST(Lifecycle_, TheFinalizerOfAnOrphanGoes) {
  api::Workload w = orphan();
  EXPECT_TRUE(settle_in(&w, open_queues(), now).release);
  w = orphan();
  LifecycleConfig unfinished;
  unfinished.finish_orphans = false;
  const Settled only = settle_in(&w, open_queues(), now, unfinished);
  EXPECT_TRUE(only.release);
  EXPECT_FALSE(only.status);
  w = finished();
  EXPECT_FALSE(settle_in(&w, open_queues(), now).release);
}

TEST(Lifecycle_, ChecksAreKeptInOrderWithWhatIsKnown) {
  api::Workload w = with_check(with_check(reserved(), api::CheckState::Ready, "b"),
                               api::CheckState::Ready, "dropped");
  EXPECT_TRUE(settle_in(&w, open_queues({"a", "b"}), now).status);
  ASSERT_EQ(w.status.admission_checks.size(), 2U);
  EXPECT_EQ(w.status.admission_checks[0].name, "a");
  EXPECT_EQ(w.status.admission_checks[0].state, api::CheckState::Pending);
  EXPECT_EQ(w.status.admission_checks[1].state, api::CheckState::Ready);
}

TEST(Lifecycle_, AWorkloadOnAWorkerKeepsTheCheckThatSentItThere) {
  api::Workload w = with_check(admitted(), api::CheckState::Ready);
  LifecycleView view = open_queues({"aa"});
  view.kept_checks = {"mk"};
  settle_in(&w, view);
  ASSERT_EQ(w.status.admission_checks.size(), 2U);
  EXPECT_EQ(w.status.admission_checks[0].name, "aa");
  EXPECT_EQ(w.status.admission_checks[1].name, "mk");
  EXPECT_FALSE(settle_in(&w, view).status);
  settle_in(&w, open_queues({"aa"}));
  EXPECT_EQ(w.status.admission_checks.size(), 1U);
}

TEST(Evict, ResetsWhatBelongsToTheAttempt) {
  api::Workload w =
      with_check(with_check(admitted(), api::CheckState::Retry, "a"), api::CheckState::Ready, "b");
  w.status.admission_checks[0].retry_count = 1;
  w.status.admission_checks[1].retry_count = 5;
  w.status.cluster_name = "east";
  w.status.nominated_cluster_names = {"east"};
  w.status.preemption_gates = {{"g", "Open", now - 60s}};
  w.status.unhealthy_nodes = {"n"};
  put(&w, "Dispatched", true, "Dispatched");
  w.status = evict(w, "Deactivated", "m", now, "AdmissionCheck").status;
  EXPECT_EQ(text_of(w.status.conditions, "Evicted"), "True DeactivatedDueToAdmissionCheck: m");
  EXPECT_EQ(text_of(w.status.conditions, "Dispatched"),
            "False DeactivatedDueToAdmissionCheck: Evicted from worker cluster \"east\": m");
  EXPECT_EQ(api::evicted_from(w.status), "east");
  const auto again = evict(w, "Preempted", "n", now);
  EXPECT_EQ(api::evicted_from(again.status), "east") << "it may still run there";
  EXPECT_FALSE(w.status.cluster_name);
  EXPECT_TRUE(w.status.nominated_cluster_names.empty());
  EXPECT_TRUE(w.status.unhealthy_nodes.empty());
  EXPECT_EQ(w.status.preemption_gates[0].position, "Closed");
  const auto& checks = w.status.admission_checks;
  EXPECT_EQ(checks[0].state, api::CheckState::Pending);
  EXPECT_EQ(checks[0].message, "Reset to Pending after eviction. Previously: Retry");
  EXPECT_EQ(checks[0].retry_count, 2);
  EXPECT_EQ(checks[1].message, "Reset to Pending after eviction. Previously: Ready");
  EXPECT_FALSE(checks[1].retry_count) << "what was ready begins anew";
  EXPECT_TRUE(is_reserved(w)) << "its job has to stop first";
  w.status = evict(w, "Deactivated", "m", now, "AdmissionCheck").status;
  ASSERT_EQ(w.status.evictions.size(), 1U);
  EXPECT_EQ(w.status.evictions[0].count, 2);
  EXPECT_EQ(checks[0].retry_count, 2);
}

TEST(Reserve, FlipsWhatAnEvictionLeft) {
  api::Workload w = evicted("Preempted", false);
  put(&w, "Preempted", true, "InClusterQueue", "for another");
  api::Admission admission;
  admission.cluster_queue = "cq";
  w.status = reserve(w, {admission, {}}, now);
  EXPECT_EQ(text_of(w.status.conditions, "QuotaReserved"),
            "True QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(text_of(w.status.conditions, "Evicted"), "False QuotaReserved: Previously: because");
  EXPECT_EQ(text_of(w.status.conditions, "Preempted"),
            "False QuotaReserved: Previously: for another");
  EXPECT_TRUE(is_admitted(w));
  w = pending();
  w.status = reserve(w, {admission, {"mk"}}, now);
  EXPECT_EQ(text_of(w.status.conditions, "Admitted"),
            "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  EXPECT_EQ(w.status.admission_checks.size(), 1U);
}

TEST(Unreserve, LeavesNothingOfTheRace) {
  api::Workload w =
      with_check(with_check(reserved(), api::CheckState::Ready), api::CheckState::Pending, "other");
  w.status.nominated_cluster_names = {"east"};
  LifecycleView view = stopped(false, hold);
  view.required_checks = {"mk", "other"};
  EXPECT_TRUE(settle_in(&w, view, now).status);
  EXPECT_FALSE(is_reserved(w));
  EXPECT_TRUE(w.status.nominated_cluster_names.empty());
}

TEST(Reserve, OfAJobSaysThatItsPodsAreWaitedForWhenConfigured) {
  api::Admission admission;
  admission.cluster_queue = "cq";
  api::Workload w = pending();
  w.status = reserve(w, {admission, {}, true}, now);
  EXPECT_EQ(text_of(w.status.conditions, "PodsReady"),
            "False WaitForStart: Not all pods are ready or succeeded");
  w = pending();
  w.status = reserve(w, {admission, {}, false}, now);
  EXPECT_EQ(text_of(w.status.conditions, "PodsReady"), "");
  w = pending();
  w.metadata.owner_references.clear();
  w.status = reserve(w, {admission, {}, true}, now);
  EXPECT_EQ(text_of(w.status.conditions, "PodsReady"), "") << "no job owns it";
}

TEST(Preempt, SaysForWhichReason) {
  api::Workload w = admitted();
  const StatusChange change = preempt(w, "InClusterQueue", "for another", now);
  EXPECT_EQ(text_of(change.status.conditions, "Evicted"), "True Preempted: for another");
  EXPECT_EQ(text_of(change.status.conditions, "Preempted"), "True InClusterQueue: for another");
  EXPECT_EQ(text_of(change.notes), "N EvictedDueToPreempted: for another");
}

TEST(PendingStatus, IsWrittenForNewsOnly) {
  api::Workload w = pending();
  const auto told = [&w](const char* message, bool gated = false) {
    auto status = pending_status(w, "WaitingForQuota", message, gated, now);
    if (status) w.status = *status;
    return status.has_value();
  };
  EXPECT_TRUE(told("no room"));
  EXPECT_FALSE(told("no room"));
  EXPECT_TRUE(told("no room", true));
  EXPECT_FALSE(told("no room", true));
  EXPECT_EQ(text_of(w.status.conditions, "BlockedOnPreemptionGates"),
            "True PreemptionGated: no room");
  EXPECT_TRUE(told("less room"));
  EXPECT_FALSE(settle_in(&w, open_queues(), now).status) << "one write says all of it";
}

TEST(CheckCondition, SaysWhichClustersAreUsable) {
  const auto text = [](CheckView view) {
    const api::Condition c = check_condition(view, 7);
    EXPECT_EQ(c.observed_generation, 7);
    return text_of(api::Conditions{c}, "Active");
  };
  EXPECT_EQ(text({"", {"a", "b"}, {}, {}}), "True Active: The admission check is active");
  EXPECT_EQ(text({"", {"a", "b", "c"}, {"a"}, {"c"}}),
            "True SomeActiveClusters: Missing clusters: [a], Inactive clusters: [c]");
  EXPECT_EQ(text({"", {"a", "b", "c"}, {}, {"b", "c"}}),
            "True SomeActiveClusters: Inactive clusters: [b c]");
  EXPECT_EQ(text({"", {"a", "b", "c"}, {"a", "b"}, {"c"}}),
            "False NoUsableClusters: Missing clusters: [a b], Inactive clusters: [c]");
  std::vector<std::string> many;
  for (int i = 10; i < 60; ++i) many.push_back(std::to_string(i));
  EXPECT_EQ(text({"", many, {}, many}),
            "False NoUsableClusters: Inactive clusters: [10 11 12 13 14 15 16 17 18 19 20 21 22 23 "
            "24 25 26 27 28 29 and 30 more]");
  EXPECT_EQ(text({"missing parameters reference", {}, {}, {}}),
            "False BadConfig: Cannot load the AdmissionChecks parameters: missing parameters "
            "reference");
}

}  // namespace
}  // namespace regatta::lifecycle
