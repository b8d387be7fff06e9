#include "dispatch/plan.h"

#include <gtest/gtest.h>

namespace regatta::dispatch {
namespace {

using namespace std::chrono_literals;

const TimePoint now = TimePoint(1h);

/// A workload that has quota on the hub and a Pending check, and connected, empty clusters.
struct Given : GroupView {
  Given(std::initializer_list<std::string> names) {
    local.quota_reserved = true;
    local.check = CheckState::pending;
    local.uid = "u1";
    local.quota_reserved_at = now - 10s;
    local.told = "Racing";
    for (const std::string& name : names) {
      clusters[name].connected = true;
      config_order.push_back(name);
      local.nominated.push_back(name);
    }
  }
  Given nominated(std::vector<std::string> names) && {
    local.nominated = std::move(names);
    return std::move(*this);
  }
  Given check(CheckState state) && {
    local.check = state;
    return std::move(*this);
  }
  Given won(const std::string& name) && {
    local.cluster_name = name;
    local.nominated.clear();
    local.check = CheckState::ready;
    return std::move(*this);
  }
  Given evicted(bool job_active) && {
    local.evicted = true;
    local.evicted_message = "Preempted to accommodate a workload";
    local.evicted_at = now - 5s;
    local.job_active = job_active;
    local.nominated.clear();
    local.check = CheckState::pending;
    return std::move(*this);
  }
  Given copy(const std::string& name) && {
    clusters[name].copy.emplace();
    return std::move(*this);
  }
  Given admitted(const std::string& name, Duration ago) && {
    clusters[name].copy.emplace();
    clusters[name].copy->admitted_at = now - ago;
    return std::move(*this);
  }
  /// The worker would have to preempt for its copy, and the closed gate forbids that.
  Given blocked(const std::string& name, Duration ago) && {
    clusters[name].copy.emplace();
    clusters[name].copy->blocked_since = now - ago;
    return std::move(*this);
  }
  Given opened(const std::string& name, Duration ago) && {
    clusters[name].copy.emplace();
    clusters[name].copy->gate_open_since = now - ago;
    return std::move(*this);
  }
  Given removal_begun(const std::string& name) && {
    clusters[name].copy->removal_begun = true;
    return std::move(*this);
  }
  Given job(const std::string& name) && {
    clusters[name].job = RemoteJob::ours;
    return std::move(*this);
  }
  /// The worker's Job ended, and so its copy is Finished.
  Given ended(const std::string& name, const std::string& reason = "Succeeded") && {
    clusters[name].job = RemoteJob::ours;
    clusters[name].job_ended = true;
    clusters[name].copy.emplace();
    clusters[name].copy->finished = Finish{reason, "Job finished", now};
    return std::move(*this);
  }
  Given lost(const std::string& name, Duration ago) && {
    clusters[name].connected = false;
    clusters[name].lost_since = now - ago;
    return std::move(*this);
  }
  /// The eviction remembers that cluster.
  Given from(const std::string& name) && {
    local.evicted_from = name;
    return std::move(*this);
  }
  /// What is known about the hub's Workload.
  Given on_hub(Certainty certainty) && {
    local.certainty = certainty;
    return std::move(*this);
  }
  /// What is known about the copy and the Job on a cluster.
  Given known(const std::string& name, Certainty certainty) && {
    clusters[name].certainty = certainty;
    return std::move(*this);
  }
  template <class Change>
  Given with(Change change) && {
    change(*this);
    return std::move(*this);
  }
};

struct Case {
  const char* name;
  GroupView given;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

class Plans : public ::testing::TestWithParam<Case> {};

TEST_P(Plans, OneStep) {
  const Plan got = plan(GetParam().given, now, PlanConfig{});
  EXPECT_EQ(describe(got), GetParam().want);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Gates, Plans,
    ::testing::Values(
        Case{"the_first_that_would_have_to_preempt_may",
             Given{"a", "b", "c"}.blocked("a", 10s).blocked("b", 20s).copy("c"),
             "open gate on b, look again in 300s"},
        Case{"the_next_waits_for_the_one_that_may",
             Given{"a", "b"}.opened("a", 60s).blocked("b", 20s), "look again in 240s"},
        Case{"a_gate_that_a_worker_with_a_wrong_clock_says_to_be_opened_in_the_future_blocks_none",
             Given{"a", "b"}.opened("a", -1h).blocked("b", 20s),
             "open gate on b, look again in 300s"},
        Case{"the_last_one_that_was_opened_counts",
             Given{"a", "b", "c"}.opened("a", 600s).opened("c", 10s).blocked("b", 20s),
             "look again in 290s"},
        Case{"a_copy_that_may_still_be_deleted_may_not_preempt",
             Given{"a", "b"}.blocked("a", 20s).removal_begun("a").copy("b"), "remove copy on a"},
        Case{"the_next_waits_for_the_answer_of_the_one_that_is_asked",
             Given{"a", "b"}.blocked("a", 20s).blocked("b", 10s).with([](Given& g) {
               g.clusters["b"].copy->gate_opening = true;
             }),
             "look again in 300s"},
        Case{"the_one_that_did_not_answer_is_asked_again",
             Given{"a", "b"}.blocked("a", 20s).blocked("b", 10s).with([](Given& g) {
               g.clusters["a"].copy->gate_opening = true;
             }),
             "open gate on a, look again in 300s"},
        Case{"after_a_while_the_next_one_may_too",
             Given{"a", "b"}.opened("a", 300s).blocked("b", 20s),
             "open gate on b, look again in 300s"},
        Case{"nobody_needs_it_any_more", Given{"a", "b"}.opened("a", 60s).copy("b"), ""},
        Case{"who_cannot_be_asked_is_passed_over",
             Given{"a", "b"}.blocked("a", 30s).blocked("b", 20s).lost("a", 5s),
             "open gate on b, nominate [b], look again in 300s"},
        Case{"who_is_on_its_way_out_is_passed_over",
             Given{"a", "b"}.blocked("a", 30s).copy("b").with([](Given& g) {
               g.clusters["a"].copy->evicted = true;
             }),
             ""},
        Case{"somebody_had_room_meanwhile", Given{"a", "b"}.blocked("a", 30s).admitted("b", 1s),
             "record winner b, remove copy on a, create job on b"},
        Case{"a_copy_that_is_still_missing_is_made", Given{"a", "b"}.blocked("a", 30s),
             "open gate on a, copy to b, look again in 300s"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Race, Plans,
    ::testing::Values(
        Case{"a_fresh_workload_is_nominated_and_copied_everywhere", Given{"a", "b"}.nominated({}),
             "nominate [a b], copy to a, copy to b"},
        Case{"only_what_is_missing_is_copied", Given{"a", "b"}.copy("b"), "copy to a"},
        Case{"copies_wait_for_the_other_checks",
             Given{"a", "b"}.with([](Given& g) { g.local.other_checks_ready = false; }), ""},
        Case{"a_copy_of_an_earlier_attempt_does_not_win_before_the_other_checks_are_ready",
             Given{"a", "b"}.admitted("a", 10s).with([](Given& g) {
               g.local.other_checks_ready = false;
             }),
             ""},
        Case{"nothing_to_do_while_no_worker_admits", Given{"a", "b"}.copy("a").copy("b"), ""},
        Case{"the_first_to_be_admitted_wins_and_the_losers_go_before_the_job_is_created",
             Given{"a", "b", "c"}.admitted("a", 10s).admitted("b", 20s).copy("c"),
             "record winner b, remove copy on a, remove copy on c, create job on b"},
        Case{"a_job_of_ours_is_left_from_an_earlier_attempt_and_does_not_win",
             Given{"a", "b"}.admitted("a", 10s).admitted("b", 20s).job("b"),
             "record winner a, remove job and copy on b"},
        Case{"a_job_that_a_manager_before_this_one_sent_without_recording_it_goes_on",
             Given{"a", "b"}.admitted("a", 20s).admitted("b", 10s).job("b").with([](Given& g) {
               g.clusters["b"].job_unmarked = true;
               g.local.nominated = {"a"};
             }),
             "record winner b, remove copy on a"},
        Case{"of_two_such_jobs_the_first_to_be_admitted_goes_on",
             Given{"a", "b"}.admitted("a", 20s).job("a").admitted("b", 10s).job("b").with(
                 [](Given& g) {
                   g.clusters["a"].job_unmarked = g.clusters["b"].job_unmarked = true;
                 }),
             "record winner a, remove job and copy on b"},
        Case{"one_that_is_evicted_there_does_not",
             Given{"a", "b"}.copy("a").admitted("b", 10s).job("b").with([](Given& g) {
               g.clusters["b"].job_unmarked = true;
               g.clusters["b"].copy->evicted = true;
             }),
             "remove job and copy on b"},
        Case{"a_reservation_alone_does_not_win", Given{"a", "b"}.copy("a").copy("b"), ""},
        Case{"an_admission_on_a_cluster_that_was_not_nominated_does_not_win",
             Given{"a", "b"}.admitted("a", 10s).with([](Given& g) {
               g.local.nominated = {"b"};
               g.clusters["a"].listed = false;
             }),
             "remove copy on a, copy to b"},
        Case{"a_lost_cluster_is_no_longer_nominated",
             Given{"a", "b"}.copy("a").copy("b").lost("b", 1s), "nominate [a]"},
        Case{"a_lost_admitter_does_not_win",
             Given{"a", "b"}.copy("a").admitted("b", 5s).lost("b", 1s), "nominate [a]"},
        Case{"a_cluster_that_comes_back_is_nominated_again",
             Given{"a", "b"}.nominated({"a"}).copy("a"), "nominate [a b], copy to b"},
        Case{"a_cluster_that_left_the_config_is_cleaned",
             Given{"a", "b"}.copy("a").copy("b").with([](Given& g) {
               g.clusters["b"].listed = false;
             }),
             "nominate [a], remove copy on b"},
        Case{"a_job_left_from_an_earlier_attempt_goes_first_and_blocks",
             Given{"a", "b"}.admitted("a", 10s).copy("b").job("b"),
             "record winner a, remove job and copy on b"},
        Case{"an_admitted_copy_with_a_leftover_job_does_not_win",
             Given{"a", "b"}.admitted("a", 10s).job("a").copy("b"), "remove job and copy on a"},
        Case{"a_finished_copy_without_a_recorded_cluster_is_stale",
             Given{"a"}.copy("a").with([](Given& g) {
               g.clusters["a"].copy->finished = Finish{"Succeeded", "done", now};
             }),
             "remove copy on a"},
        Case{"a_copy_that_was_evicted_and_has_no_job_to_stop_is_sent_anew",
             Given{"a"}.admitted("a", 10s).with([](Given& g) {
               g.clusters["a"].copy->evicted = true;
             }),
             "remove copy on a"},
        Case{"unless_a_job_there_may_have_to_stop",
             Given{"a"}.admitted("a", 10s).job("a").with([](Given& g) {
               g.clusters["a"].copy->evicted = true;
               g.clusters["a"].job_under_other_slice = true;
             }),
             ""},
        Case{"one_that_waits_again_after_an_eviction_is_left_to_its_worker",
             Given{"a"}.copy("a").with([](Given& g) { g.clusters["a"].copy->evicted = true; }), ""},
        Case{"a_copy_that_may_still_be_deleted_does_not_win",
             Given{"a", "b"}.admitted("a", 9s).removal_begun("a").admitted("b", 1s),
             "record winner b, remove copy on a, create job on b"},
        Case{"a_copy_that_may_still_be_deleted_is_removed_before_another_takes_its_place",
             Given{"a"}.admitted("a", 9s).removal_begun("a"), "remove copy on a"},
        Case{"a_job_that_ended_on_a_worker_that_was_lost_is_not_run_again",
             Given{"a", "b"}.ended("a").admitted("b", 1s), "record winner a"},
        Case{"nor_is_the_end_of_a_copy_believed_that_does_not_know_the_workload",
             Given{"a", "b"}.ended("a").admitted("b", 1s).with([](Given& g) {
               g.clusters["a"].copy->unmarked = true;
             }),
             "record winner b, remove job and copy on a"},
        Case{"nor_is_one_of_which_only_the_copy_tells_that_it_ended",
             Given{"a", "b"}.ended("a").admitted("b", 1s).with([](Given& g) {
               g.clusters["a"].job_ended = false;
               g.clusters["a"].job_tells_no_end = true;
             }),
             "record winner a"},
        Case{"an_end_without_the_status_of_its_job_is_none",
             Given{"a"}.ended("a").with([](Given& g) { g.clusters["a"].job_ended = false; }),
             "remove job and copy on a"},
        Case{"a_copy_evicted_before_it_was_chosen_is_left_to_its_worker",
             Given{"a"}.copy("a").with([](Given& g) { g.clusters["a"].copy->evicted = true; }), ""},
        Case{"a_changed_spec_replaces_the_copy", Given{"a"}.copy("a").with([](Given& g) {
               g.clusters["a"].copy->drift = Drift::other;
             }),
             "remove copy on a"},
        Case{"a_changed_priority_is_copied_over", Given{"a"}.copy("a").with([](Given& g) {
               g.clusters["a"].copy->drift = Drift::updatable;
             }),
             "update copy on a"},
        Case{"a_cluster_with_a_foreign_job_of_that_name_is_passed_over",
             Given{"a", "b"}.with([](Given& g) { g.clusters["a"].job = RemoteJob::foreign; }),
             "nominate [b], copy to b"},
        Case{"a_copy_on_its_way_out_is_left_alone",
             Given{"a", "b"}.admitted("a", 1s).copy("b").with([](Given& g) {
               g.clusters["b"].copy->deleting = true;
             }),
             "record winner a, create job on a"},
        Case{"no_cluster_connected_nominates_none_and_waits_for_a_connection",
             Given{"a"}.nominated({}).lost("a", 1s), "look again in 59s"},
        Case{"ready_without_a_cluster_is_taken_back", Given{"a"}.check(CheckState::ready),
             "check Retry (Admission check is Ready but no admitting cluster is recorded; this is "
             "unexpected, please report it)"},
        Case{"nothing_starts_while_the_check_is_being_taken_back",
             Given{"a"}.check(CheckState::retry), ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Hosted, Plans,
    ::testing::Values(
        Case{"the_job_is_created_on_the_recorded_cluster",
             Given{"a", "b"}.won("a").admitted("a", 9s), "create job on a"},
        Case{"the_recorded_cluster_wins_over_an_earlier_admission",
             Given{"a", "b"}.won("b").admitted("a", 99s).admitted("b", 1s).job("b"),
             "remove copy on a"},
        Case{"a_stale_winner_that_returns_is_removed_before_a_job_is_created",
             Given{"a", "b"}.won("b").admitted("a", 99s).job("a").admitted("b", 1s),
             "remove job and copy on a"},
        Case{"no_job_while_another_one_is_still_going_away",
             Given{"a", "b"}.won("b").job("a").admitted("b", 1s).with([](Given& g) {
               g.clusters["a"].job_deleting = true;
             }),
             ""},
        Case{"a_finished_stale_copy_does_not_finish_the_workload",
             Given{"a", "b"}.won("b").copy("a").admitted("b", 1s).job("b").with([](Given& g) {
               g.clusters["a"].copy->finished = Finish{"Succeeded", "old", now};
             }),
             "remove copy on a"},
        Case{"an_evicted_stale_copy_does_not_evict_the_workload",
             Given{"a", "b"}.won("b").copy("a").admitted("b", 1s).job("b").with([](Given& g) {
               g.clusters["a"].copy->evicted = true;
             }),
             "remove copy on a"},
        Case{"news_of_the_job_is_copied",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].job_news = true;
             }),
             "copy status from a"},
        Case{"a_finish_is_copied_with_its_reason_and_message",
             Given{"a"}.won("a").ended("a", "Failed"),
             "copy final status from a, finish Failed (Job finished)"},
        Case{"an_end_waits_for_the_last_status_of_the_job",
             Given{"a"}.won("a").ended("a").with([](Given& g) {
               g.clusters["a"].job_ended = false;
             }),
             "look again in 60s"},
        Case{"the_end_of_a_job_that_is_gone_is_that_of_its_workload",
             Given{"a"}.won("a").ended("a").with([](Given& g) {
               g.clusters["a"].job = RemoteJob::absent;
             }),
             "copy final status from a, finish Succeeded (Job finished)"},
        Case{"a_job_that_never_started_there_has_no_last_status",
             Given{"a"}.won("a").ended("a", "FailedToStart").with([](Given& g) {
               g.clusters["a"].job_ended = false;
             }),
             "finish FailedToStart (Job finished)"},
        Case{"out_of_sync_is_dispatched_again", Given{"a"}.won("a").copy("a").with([](Given& g) {
               g.clusters["a"].copy->finished = Finish{"OutOfSync", "x", now};
             }),
             "check Retry (Remote workload on worker cluster \"a\" is out of sync with its user "
             "job, resetting for re-dispatch)"},
        Case{"a_job_deleted_on_the_worker_is_not_a_success",
             Given{"a"}.won("a").copy("a").with([](Given& g) {
               g.clusters["a"].copy->finished = Finish{"OwnerNotFound", "x", now};
             }),
             "check Retry (Remote workload on worker cluster \"a\" lost its job, resetting for "
             "re-dispatch)"},
        Case{"an_eviction_on_the_worker_is_taken_back",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->evicted = true;
             }),
             "check Retry (Workload evicted on worker cluster: \"a\", resetting for re-admission)"},
        Case{"a_lost_cluster_has_its_grace", Given{"a"}.won("a").admitted("a", 1h).lost("a", 30s),
             "look again in 30s"},
        Case{"and_is_told_after_a_while", Given{"a"}.won("a").admitted("a", 1h).lost("a", 14min),
             "tell WorkerLost (Worker cluster \"a\" is lost; the workload is given up at "
             "1970-01-01T01:01:00Z), look again in 60s"},
        Case{"a_lost_cluster_is_given_up_after_its_grace",
             Given{"a"}.won("a").admitted("a", 1h).lost("a", 15min),
             "check Retry (Admitting remote lost)"},
        Case{"a_copy_that_is_gone_is_given_up_at_once", Given{"a"}.won("a"),
             "check Retry (Admitting remote no longer exists)"},
        Case{"a_job_that_is_removed_and_shown_is_looked_at_again",
             Given{"a", "b"}.won("a").admitted("a", 9s).job("b").with([](Given& g) {
               g.clusters["b"].job_deleting = true;
               g.clusters["b"].job_removed_for = 3s;
             }),
             "look again in 3s"},
        Case{"the_job_of_a_copy_that_is_gone_goes_too", Given{"a"}.won("a").job("a"),
             "remove job and copy on a, check Retry (Admitting remote no longer exists)"},
        Case{"a_cluster_that_left_the_config_is_cleaned_and_given_up",
             Given{"a", "b"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].listed = false;
             }),
             "remove job and copy on a, check Retry (Admitting remote no longer exists)"},
        Case{"a_cluster_that_the_config_of_an_exchanged_check_lacks_is_given_up_too",
             Given{"a", "b"}
                 .won("a")
                 .check(CheckState::pending)
                 .admitted("a", 9s)
                 .with([](Given& g) { g.clusters["a"].listed = false; }),
             "remove copy on a, check Retry (Admitting remote no longer exists)"},
        Case{"a_workload_that_runs_goes_on_when_its_config_is_gone",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.local.config_missing = true;
               g.clusters["a"].job_news = true;
             }),
             "copy status from a"},
        Case{"an_unknown_cluster_is_given_up", Given{"a"}.won("gone"),
             "check Retry (Admitting remote no longer exists)"},
        Case{"an_admission_taken_back_is_given_up", Given{"a"}.won("a").copy("a"),
             "check Retry (Admitting remote no longer exists)"},
        Case{"a_lock_without_its_check_is_completed",
             Given{"a"}.won("a").check(CheckState::pending).admitted("a", 9s),
             "record winner a, create job on a"},
        Case{"a_foreign_job_is_never_touched_and_gives_the_cluster_up",
             Given{"a"}.won("a").admitted("a", 9s).with([](Given& g) {
               g.clusters["a"].job = RemoteJob::foreign;
             }),
             "check Retry (A job of the same name that was not created by MultiKueue exists on "
             "worker cluster \"a\", resetting for re-dispatch)"},
        Case{"an_edited_workload_is_taken_off_its_worker",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->drift = Drift::other;
             }),
             "remove job and copy on a"},
        Case{"a_changed_priority_does_not_disturb_the_job",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->drift = Drift::updatable;
             }),
             "update copy on a"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    End, Plans,
    ::testing::Values(
        Case{"a_deleted_workload_leaves_nothing",
             Given{"a", "b"}.won("a").admitted("a", 9s).job("a").copy("b").with([](Given& g) {
               g.local.deleted = true;
             }),
             "remove job and copy on a, remove copy on b"},
        Case{"a_finished_workload_leaves_nothing",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.local.finished = true;
             }),
             "remove job and copy on a"},
        Case{"lost_quota_takes_the_copies_back",
             Given{"a", "b"}.copy("a").copy("b").with([](Given& g) {
               g.local.quota_reserved = false;
             }),
             "remove copy on a, remove copy on b"},
        Case{"what_never_had_quota_tells_no_status_of_a_job",
             Given{"a", "b"}.job("b").with([](Given& g) {
               g.local.quota_reserved = false;
               g.local.job_active = g.local.never_reserved = true;
               g.clusters["b"].job_ended = g.clusters["b"].job_news = true;
             }),
             "remove job and copy on b"},
        Case{
            "the_job_of_a_deleted_workload_stops_counting_pods_that_are_gone",
            Given{"a"}.won("a").with([](Given& g) { g.local.deleted = g.local.job_active = true; }),
            "release job"},
        Case{"and_counts_them_until_they_are_gone",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.local.deleted = g.local.job_active = g.clusters["a"].job_active = true;
             }),
             "remove job and copy on a"},
        Case{"and_those_of_a_lost_worker_until_that_is_given_up",
             Given{"a"}.won("a").admitted("a", 9s).job("a").lost("a", 5min).with([](Given& g) {
               g.local.deleted = g.local.job_active = true;
             }),
             "look again in 600s"},
        Case{"the_end_of_a_job_comes_home_though_its_workload_is_finished",
             Given{"a"}.won("a").ended("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = g.clusters["a"].job_news = true;
             }),
             "copy final status from a, remove job and copy on a"},
        Case{"an_end_that_neither_job_has_any_more_is_told_by_the_workload",
             Given{"a", "b"}.won("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "end job as its workload ended"},
        Case{"also_where_the_worker_has_left_the_fleet", Given{"b"}.won("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "end job as its workload ended"},
        Case{"also_where_an_eviction_took_the_record_away",
             Given{"a", "b"}.nominated({}).with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "end job as its workload ended"},
        Case{"then_no_worker_may_have_anything",
             Given{"a", "b"}.nominated({}).copy("b").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "remove copy on b"},
        Case{"but_a_copy_that_never_goes_keeps_nothing",
             Given{"a", "b"}.nominated({}).copy("b").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
               g.clusters["b"].copy->deleting = true;
             }),
             "end job as its workload ended"},
        Case{"but_not_before_the_watch_had_its_time", Given{"a", "b"}.won("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 20s;
             }),
             "look again in 40s"},
        Case{"nor_before_the_worker_was_asked",
             Given{"a", "b"}.won("a").known("a", Certainty::unconfirmed).with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "confirm on a"},
        Case{"nor_while_the_worker_is_lost",
             Given{"a", "b"}.won("a").lost("a", 5min).with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "look again in 600s"},
        Case{"but_when_it_is_given_up",
             Given{"a", "b"}.won("a").job("a").lost("a", 1h).with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
               g.local.ended_at = now - 2min;
             }),
             "end job as its workload ended"},
        Case{"a_workload_that_ended_for_another_reason_ends_no_job",
             Given{"a", "b"}.won("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = true;
             }),
             ""},
        Case{"the_end_of_a_job_that_ended_elsewhere_does_not_come_home",
             Given{"a", "b"}.won("b").ended("a").with([](Given& g) {
               g.local.finished = g.local.job_unended = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a"},
        Case{"a_job_that_has_ended_on_the_hub_is_told_no_other_end",
             Given{"a"}.won("a").ended("a").with([](Given& g) {
               g.local.finished = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a"},
        Case{"the_last_status_of_a_stopped_job_comes_before_its_removal",
             Given{"a"}.admitted("a", 9s).job("a").with([](Given& g) {
               g.local.quota_reserved = false;
               g.local.job_active = g.clusters["a"].job_news = true;
             }),
             "copy status from a, remove job and copy on a"},
        Case{"a_status_that_still_counts_pods_is_no_last_one",
             Given{"a"}.admitted("a", 9s).job("a").with([](Given& g) {
               g.local.quota_reserved = false;
               g.local.job_active = g.clusters["a"].job_news = g.clusters["a"].job_active = true;
             }),
             "remove job and copy on a"},
        Case{"unless_the_job_has_ended", Given{"a"}.admitted("a", 9s).job("a").with([](Given& g) {
               g.local.quota_reserved = false;
               ClusterView& a = g.clusters["a"];
               g.local.job_active = a.job_news = a.job_active = a.job_ended = true;
             }),
             "copy status from a, remove job and copy on a"},
        Case{"a_cluster_that_is_away_is_cleaned_when_it_returns",
             Given{"a"}.copy("a").lost("a", 1s).with([](Given& g) {
               g.local.quota_reserved = false;
             }),
             ""},
        Case{"a_workload_without_the_check_leaves_nothing",
             Given{"a"}.check(CheckState::none).copy("a"), "remove copy on a, look again in 50s"},
        Case{"a_workload_that_runs_and_has_lost_its_check_goes_on_to_its_end",
             Given{"a", "b"}
                 .won("a")
                 .check(CheckState::none)
                 .admitted("a", 9s)
                 .job("a")
                 .copy("b")
                 .with([](Given& g) { g.clusters["a"].job_news = true; }),
             "remove copy on b, copy status from a"},
        Case{"and_then_it_ends", Given{"a"}.won("a").check(CheckState::none).ended("a"),
             "copy final status from a, finish Succeeded (Job finished)"},
        Case{"without_its_check_nothing_is_taken_back_and_that_is_told",
             Given{"a"}.won("a").check(CheckState::none).lost("a", 1h),
             "tell WorkerLost (Worker cluster \"a\" is lost, and the workload has no admission "
             "check "
             "of MultiKueue that would send it elsewhere; set spec.active to false and to true "
             "again)"},
        Case{"its_eviction_stops_it_all_the_same",
             Given{"a"}
                 .won("a")
                 .check(CheckState::none)
                 .admitted("a", 9s)
                 .job("a")
                 .with([](Given& g) {
                   g.local.evicted = true;
                   g.local.evicted_message = "Preempted";
                 }),
             "deactivate on a (Evicted on manager: Preempted)"},
        Case{"an_owner_that_cannot_be_dispatched_is_rejected",
             Given{"a"}.with([](Given& g) { g.local.rejection = "No multikueue adapter found"; }),
             "check Rejected (No multikueue adapter found)"},
        Case{"one_that_runs_already_goes_on_without_being_seen",
             Given{"a", "b"}.won("a").admitted("a", 9s).copy("b").with([](Given& g) {
               g.local.kind_dropped = "No multikueue adapter found";
             }),
             "look again in 50s"},
        Case{"and_that_is_told", Given{"a"}.won("a").admitted("a", 9s).with([](Given& g) {
               g.local.kind_dropped = "No multikueue adapter found";
               g.local.quota_reserved_at = now - 1min;
             }),
             "tell KindNotManaged (The manager runs no such jobs on worker clusters (No multikueue "
             "adapter found). The job goes on on worker cluster \"a\", and nothing is told of it "
             "here: list its kind in integrations.frameworks)"},
        Case{"also_without_its_check",
             Given{"a"}.won("a").check(CheckState::none).with([](Given& g) {
               g.local.kind_dropped = "No multikueue adapter found";
               g.local.told = "KindNotManaged";
             }),
             ""},
        Case{"its_eviction_stops_it_on_the_worker",
             Given{"a"}.won("a").admitted("a", 9s).with([](Given& g) {
               g.local.kind_dropped = "No multikueue adapter found";
               g.local.evicted = true;
               g.local.evicted_message = "Preempted";
             }),
             "remove copy on a"},
        Case{"a_job_that_asks_for_the_hub_runs_there_and_leaves_no_copies",
             Given{"a", "b"}.copy("a").with([](Given& g) { g.local.runs_on_hub = true; }),
             "remove copy on a, run on the hub"},
        Case{"it_does_not_while_a_worker_still_holds_it",
             Given{"a"}.copy("a").job("a").with([](Given& g) { g.local.runs_on_hub = true; }),
             "remove job and copy on a"},
        Case{"it_goes_on_there",
             Given{"a"}.check(CheckState::ready).with([](Given& g) { g.local.runs_on_hub = true; }),
             ""},
        Case{"it_is_taken_back_like_any_other",
             Given{"a"}.check(CheckState::retry).with([](Given& g) { g.local.runs_on_hub = true; }),
             ""},
        Case{"a_job_that_was_sent_away_stays_there_whatever_it_asks_for",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.local.runs_on_hub = true;
             }),
             ""},
        Case{"a_missing_owner_is_waited_for",
             Given{"a"}.with([](Given& g) { g.local.job_missing = true; }), ""},
        Case{"an_eviction_on_the_hub_stops_the_worker_in_an_orderly_way",
             Given{"a", "b"}.evicted(true).admitted("a", 9s).job("a").copy("b"),
             "deactivate on a (Evicted on manager: Preempted to accommodate a workload), remove "
             "copy on b"},
        Case{"a_stopping_worker_reports_until_it_stopped",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->deactivating = true;
               g.clusters["a"].job_news = true;
             }),
             "copy status from a, look again in 55s"},
        Case{"a_stopped_job_whose_status_the_hub_refuses_goes_without_being_shown",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->deactivating = true;
               g.clusters["a"].job_news = g.clusters["a"].job_stopped = g.local.job_active = true;
               g.local.status_refused = Failing{now - 10s, "invalid"};
             }),
             "remove job and copy on a, look again in 50s"},
        Case{"not_one_that_has_ended",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               ClusterView& a = g.clusters["a"];
               a.copy->deactivating = a.job_news = a.job_stopped = a.job_ended = true;
               g.local.job_active = true;
               g.local.status_refused = Failing{now - 10s, "invalid"};
             }),
             "copy status from a, look again in 50s"},
        Case{"not_one_that_has_not_stopped_yet",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->deactivating = true;
               g.clusters["a"].job_news = g.local.job_active = true;
               g.local.status_refused = Failing{now - 10s, "invalid"};
             }),
             "copy status from a, look again in 55s"},
        Case{"deactivation_is_not_drift",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->deactivating = true;
               g.clusters["a"].copy->drift = Drift::other;
             }),
             "look again in 55s"},
        Case{"a_job_that_ended_before_it_could_be_stopped_has_ended",
             Given{"a"}.evicted(true).ended("a"),
             "copy final status from a, finish Succeeded (Job finished)"},
        Case{"but_not_on_a_worker_that_is_not_listed_which_may_say_anything",
             Given{"a"}.evicted(true).ended("a").with([](Given& g) {
               g.clusters["a"].listed = false;
             }),
             "remove job and copy on a"},
        Case{"nor_on_any_when_none_was_recorded",
             Given{"a"}.evicted(true).ended("a").with([](Given& g) { g.local.never_ran = true; }),
             "remove job and copy on a, release job"},
        Case{"nor_does_the_hub_tell_how_a_job_goes_on_that_none_was_sent",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.local.never_ran = true;
               g.clusters["a"].copy->deactivating = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a, release job, look again in 55s"},
        Case{"nor_on_one_that_is_listed_when_another_is_known_to_have_run_it",
             Given{"a", "b"}.evicted(true).ended("a").with([](Given& g) {
               g.local.evicted_from = "b";
             }),
             "remove job and copy on a, release job"},
        Case{"the_one_that_ran_it_is_believed_though_it_is_not_listed_any_more",
             Given{"a"}.evicted(true).ended("a").with([](Given& g) {
               g.clusters["a"].listed = false;
               g.local.evicted_from = "a";
             }),
             "copy final status from a, finish Succeeded (Job finished)"},
        Case{"a_job_whose_check_went_at_its_eviction_is_stopped_in_an_orderly_way",
             Given{"a"}
                 .evicted(true)
                 .check(CheckState::none)
                 .admitted("a", 9s)
                 .job("a")
                 .with([](Given& g) { g.clusters["a"].listed = false; }),
             "deactivate on a (Evicted on manager: Preempted to accommodate a workload)"},
        Case{"nor_while_its_copy_says_that_it_stops",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].listed = false;
               g.clusters["a"].copy->evicted = true;
               g.clusters["a"].job_ended = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a"},
        Case{"the_one_that_ran_it_is_believed_while_another_has_not_removed_what_it_has",
             Given{"a", "b"}.evicted(true).from("b").admitted("a", 9s).job("a").ended("b"),
             "remove job and copy on a, copy final status from b, finish Succeeded (Job finished)"},
        Case{"nor_on_one_that_ends_it_while_another_runs_it",
             Given{"a", "b"}
                 .evicted(true)
                 .admitted("a", 9s)
                 .job("a")
                 .admitted("b", 9s)
                 .job("b")
                 .with([](Given& g) {
                   g.clusters["a"].copy->evicted = true;
                   g.clusters["a"].job_ended = g.clusters["a"].job_news = true;
                 }),
             "deactivate on b (Evicted on manager: Preempted to accommodate a workload)"},
        Case{"of_a_deleted_workload_only_the_recorded_worker_tells_how_the_job_is",
             Given{"a", "b"}.won("b").admitted("a", 9s).job("a").with([](Given& g) {
               g.local.deleted = g.local.job_active = true;
               g.clusters["a"].job_ended = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a"},
        Case{"or_one_that_is_listed_when_an_eviction_has_taken_the_record",
             Given{"a", "b"}.evicted(true).admitted("a", 9s).job("a").job("b").with([](Given& g) {
               g.local.quota_reserved = false;
               g.clusters["a"].job_news = g.clusters["b"].job_news = true;
               g.clusters["b"].listed = false;
             }),
             "copy status from a, remove job and copy on a, remove job and copy on b"},
        Case{"unless_it_is_not_known_what_is_listed",
             Given{"a"}.evicted(true).ended("a").with([](Given& g) {
               g.clusters["a"].listed = false;
               g.local.config_missing = true;
             }),
             "copy final status from a, finish Succeeded (Job finished)"},
        Case{"the_end_of_a_job_whose_copy_is_being_removed_does_not_count",
             Given{"a", "b"}.evicted(true).ended("a").with([](Given& g) {
               g.clusters["a"].copy->deleting = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a, release job"},
        Case{"nor_once_the_quota_is_given_back",
             Given{"a", "b"}.evicted(true).ended("a").with([](Given& g) {
               g.local.quota_reserved = false;
               g.clusters["a"].copy->deleting = g.clusters["a"].job_news = true;
             }),
             "remove job and copy on a, release job"},
        Case{"quota_of_an_evicted_job_is_held_while_a_lost_worker_may_still_run_it",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").lost("a", 5min),
             "look again in 600s"},
        Case{"quota_of_an_evicted_job_is_released_when_the_lost_worker_is_given_up",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").lost("a", 15min), "release job"},
        Case{"quota_of_a_job_that_counted_no_pods_is_held_while_a_lost_worker_may_run_it",
             Given{"a"}.evicted(false).admitted("a", 9s).job("a").lost("a", 5min),
             "look again in 600s"},
        Case{"and_is_waited_for_no_longer_when_the_lost_worker_is_given_up",
             Given{"a"}.evicted(false).admitted("a", 9s).job("a").lost("a", 15min), ""},
        Case{"quota_of_an_evicted_job_that_runs_nowhere_is_released", Given{"a"}.evicted(true),
             "release job"}),
    case_name);

TEST(MayStillRun, UntilTheJobOrItsCopySaysThatItStopped) {
  const auto after = [](auto change) {
    return may_still_run(Given{"a", "b"}.evicted(false).admitted("a", 9s).job("a").with(
                             [&](Given& g) { change(g.clusters["a"]); }),
                         now, PlanConfig{});
  };
  EXPECT_TRUE(after([](ClusterView&) {})) << "the Job is shown as it was created";
  EXPECT_TRUE(after([](ClusterView& a) { a.copy->evicted = true; })) << "it is being stopped";
  EXPECT_TRUE(after([](ClusterView& a) { a.job_active = true; })) << "the hub is about to be told";
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->admitted_at.reset(); }));
  EXPECT_FALSE(after([](ClusterView& a) { a.job_stopped = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.job_ended = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->finished = Finish{"Succeeded", "", now}; }));
  EXPECT_TRUE(after([](ClusterView& a) { a.copy->finished = Finish{"OutOfSync", "", now}; }))
      << "its manager is about to stop it";
  EXPECT_FALSE(after([](ClusterView& a) { a.job_deleting = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->deleting = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy.reset(); }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->of_another_life = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.job = RemoteJob::absent; })) << "none was created";
  EXPECT_FALSE(after([](ClusterView& a) { a.job = RemoteJob::foreign; }));
}

TEST(MayStillRun, WhereTheJobIsNotSeenUntilTheWorkerWasAsked) {
  const auto known = [](const std::string& name, Certainty certainty, auto change) {
    Given given = Given{"a", "b"}.evicted(false).admitted("a", 9s).admitted("b", 9s);
    given.local.evicted_from = "a";
    given.clusters[name].certainty = certainty;
    change(given.clusters[name]);
    return may_still_run(given, now, PlanConfig{});
  };
  const auto as_it_is = [](ClusterView&) {};
  EXPECT_FALSE(known("a", Certainty::certain, as_it_is));
  EXPECT_TRUE(known("a", Certainty::unconfirmed, as_it_is));
  EXPECT_TRUE(known("a", Certainty::unreadable, as_it_is));
  EXPECT_FALSE(known("b", Certainty::unconfirmed, as_it_is)) << "no Job was created there";
  const auto after = [&](auto change) { return known("a", Certainty::unconfirmed, change); };
  EXPECT_FALSE(after([](ClusterView& a) { a.copy.reset(); }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->admitted_at.reset(); }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->finished = Finish{"Succeeded", "", now}; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->deleting = true; }));
  EXPECT_FALSE(after([](ClusterView& a) { a.copy->of_another_life = true; }));
}

TEST(MayStillRun, ALostWorkerHasItsGrace) {
  const auto lost_for = [](Duration time) {
    return may_still_run(Given{"a"}.evicted(false).admitted("a", 1h).job("a").lost("a", time), now,
                         PlanConfig{});
  };
  EXPECT_TRUE(lost_for(14min));
  EXPECT_FALSE(lost_for(15min));
}

TEST(MayStillRun, AWorkerOfWhichNothingIsKnownHasItsGraceIfTheEvictionRemembersIt) {
  const auto given = [](const std::string& from, Duration time) {
    return Given{"a"}.evicted(true).from(from).lost("a", time).with([](Given& g) {
      g.clusters["a"].unknown = true;
      g.clusters["a"].listed = false;
    });
  };
  EXPECT_TRUE(may_still_run(given("a", 14min), now, PlanConfig{}));
  EXPECT_EQ(describe(plan(given("a", 14min), now, PlanConfig{})), "look again in 60s");
  EXPECT_FALSE(may_still_run(given("a", 15min), now, PlanConfig{}));
  EXPECT_EQ(describe(plan(given("a", 15min), now, PlanConfig{})), "release job");
  EXPECT_FALSE(may_still_run(given("b", 14min), now, PlanConfig{})) << "it never had the job";
}

TEST(MayStillRun, AWorkerThatWasNeverChosenHoldsNoQuotaWithAJobThatItKeeps) {
  const Given kept = Given{"a", "b"}.evicted(true).from("a").admitted("b", 1h).job("b");
  EXPECT_FALSE(may_still_run(kept, now, PlanConfig{}));
  EXPECT_EQ(describe(plan(kept, now, PlanConfig{})), "remove job and copy on b, release job");
  Given unsent = Given{"b"}.evicted(true).admitted("b", 1h).job("b");
  unsent.local.never_ran = true;
  EXPECT_FALSE(may_still_run(unsent, now, PlanConfig{}));
}

TEST(Plan, AJobOutOfSyncThatNoManagerStopsIsRemoved) {
  Given given = Given{"a"}.evicted(true).from("a").admitted("a", 1h).job("a");
  given.clusters["a"].copy->finished = Finish{"OutOfSync", "", now - 1h};
  given.local.evicted_at = now - 14min;
  given.local.told = "WaitingForStop";
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "look again in 60s");
  given.local.evicted_at = now - 15min;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "remove job and copy on a");
}

TEST(Plan, AWorkerThatDoesNotLetTheHubReadTheJobIsAskedToStopIt) {
  Given given = Given{"a"}.evicted(true).from("a").admitted("a", 1h);
  given.clusters["a"].certainty = Certainty::unconfirmed;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "confirm on a");
  given.clusters["a"].reading = Failing{now - 5s, "forbidden"};
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})),
            "confirm on a, deactivate on a (Evicted on manager: Preempted to accommodate a "
            "workload), look again in 55s");
}

TEST(Plan, ACopyOutOfSyncWhoseJobCannotBeReadHoldsNoQuotaForEver) {
  Given given = Given{"a"}.evicted(true).from("a").admitted("a", 1h);
  given.clusters["a"].copy->finished = Finish{"OutOfSync", "", now - 1h};
  given.clusters["a"].certainty = Certainty::unconfirmed;
  given.clusters["a"].reading = Failing{now - 1h, "forbidden"};
  given.local.told = "WaitingForStop";
  given.local.evicted_at = now - 14min;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "confirm on a, look again in 60s");
  EXPECT_TRUE(may_still_run(given, now, PlanConfig{}));
  given.local.evicted_at = now - 15min;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "confirm on a, remove copy on a");
  given.clusters["a"].copy.reset();
  EXPECT_FALSE(may_still_run(given, now, PlanConfig{}));
}

TEST(MayStillRun, ANewLeaderWaitsForTheWorkersThatItHasNotHeardOf) {
  const auto leading_for = [](Duration time, bool unheard) {
    Given given = Given{"a"}.evicted(true);
    given.local.leading_since = now - time;
    given.local.unheard = unheard;
    return given;
  };
  const auto holds = [](const Given& given) { return may_still_run(given, now, PlanConfig{}); };
  const auto planned = [](const Given& given) { return describe(plan(given, now, PlanConfig{})); };
  EXPECT_TRUE(holds(leading_for(9s, true)));
  EXPECT_EQ(planned(leading_for(9s, true)), "look again in 1s");
  EXPECT_FALSE(holds(leading_for(9s, false)));
  EXPECT_EQ(planned(leading_for(9s, false)), "release job");
  EXPECT_FALSE(holds(leading_for(10s, true)));
  EXPECT_EQ(planned(leading_for(10s, true)), "release job");
  Given stopped = leading_for(9s, true);
  stopped.local.job_active = false;
  EXPECT_EQ(planned(stopped), "look again in 1s") << "no event comes when the ten seconds are over";
}

TEST(ANewLeader, CreatesNoJobThatAnEarlierOneRecordedBeforeItHasHeardOfAllWorkers) {
  const auto recorded = [](Duration ago, Duration leading, bool unheard) {
    Given given = Given{"a"}.won("a").admitted("a", 9s);
    given.local.check_since = now - ago;
    given.local.leading_since = now - leading;
    given.local.unheard = unheard;
    return describe(plan(given, now, PlanConfig{}));
  };
  EXPECT_EQ(recorded(20s, 9s, true), "look again in 1s");
  EXPECT_EQ(recorded(20s, 9s, false), "create job on a");
  EXPECT_EQ(recorded(20s, 10s, true), "create job on a");
  EXPECT_EQ(recorded(5s, 9s, true), "create job on a") << "it recorded that itself";
}

TEST(ANewLeader, RecordsNoWinnerOfAnOlderWorkloadBeforeItHasHeardOfAllWorkers) {
  const auto raced = [](Duration age, Duration leading, bool unheard) {
    Given given = Given{"a", "b"}.admitted("a", 9s);
    given.local.created_at = now - age;
    given.local.leading_since = now - leading;
    given.local.unheard = unheard;
    return given;
  };
  const auto planned = [](const Given& given) { return describe(plan(given, now, PlanConfig{})); };
  EXPECT_EQ(planned(raced(20s, 9s, true)), "look again in 1s");
  EXPECT_EQ(planned(raced(20s, 9s, false)), "record winner a, create job on a");
  EXPECT_EQ(planned(raced(20s, 10s, true)), "record winner a, create job on a");
  EXPECT_EQ(planned(raced(8s, 9s, true)), "record winner a, create job on a")
      << "nothing has sent it";
  Given sent = raced(20s, 9s, true).job("a");
  sent.clusters["a"].job_unmarked = true;
  EXPECT_EQ(planned(sent), "record winner a");
}

Given deleted(Certainty certainty) {
  return Given{"a", "b"}.won("a").admitted("a", 9s).job("a").copy("b").on_hub(certainty).with(
      [](Given& g) { g.local.deleted = true; });
}

TEST(Plan, AWorkerThatWasLostBeforeWeLedHasAChance) {
  const auto after = [](Duration leading) {
    return describe(plan(Given{"a"}.won("a").admitted("a", 1h).lost("a", 20min).with([&](Given& g) {
      g.local.leading_since = now - leading;
      g.local.told = "WorkerLost";
    }),
                         now, PlanConfig{}));
  };
  EXPECT_EQ(after(0s), "look again in 300s");
  EXPECT_EQ(after(4min), "look again in 60s");
  EXPECT_EQ(after(5min), "check Retry (Admitting remote lost)");
}

TEST(Plan, QuotaIsNotReleasedForAWorkerThatWasLostBeforeWeLed) {
  const Given given = Given{"a"}.evicted(true).admitted("a", 9s).job("a").lost("a", 1h).with(
      [](Given& g) { g.local.leading_since = now; });
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "look again in 300s");
}

TEST(Plan, WhatVanishedStaysWhereTheBrakeHolds) {
  Given given = deleted(Certainty::certain);
  given.clusters["a"].removals_held = true;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "remove copy on b");
  given.clusters["a"].removals_held = false;
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "remove job and copy on a, remove copy on b");
}

TEST(Plan, AWorkloadWhoseRecordTheHubLostIsNeitherRemovedNorSentElsewhereWhereTheBrakeHolds) {
  const auto given = [](bool quota, bool held) {
    return Given{"a", "b"}.admitted("a", 1h).job("a").admitted("b", 1s).with([&](Given& g) {
      g.local.quota_reserved = quota;
      g.clusters["a"].removals_held = held;
    });
  };
  EXPECT_EQ(describe(plan(given(false, true), now, PlanConfig{})), "remove copy on b");
  EXPECT_EQ(describe(plan(given(true, true), now, PlanConfig{})), "look again in 50s")
      << "only to tell it";
  EXPECT_EQ(describe(plan(given(true, false), now, PlanConfig{})),
            "record winner b, remove job and copy on a");
}

INSTANTIATE_TEST_SUITE_P(
    CertaintyBeforeDestruction, Plans,
    ::testing::Values(
        Case{"a_workload_that_was_never_seen_to_go_is_read_first", deleted(Certainty::unconfirmed),
             "confirm on the hub"},
        Case{"a_workload_that_cannot_be_read_is_not_a_deleted_one", deleted(Certainty::unreadable),
             ""},
        Case{
            "a_workload_without_quota_is_read_first_when_that_may_be_old",
            Given{"a"}.admitted("a", 9s).job("a").on_hub(Certainty::unconfirmed).with([](Given& g) {
              g.local.quota_reserved = false;
            }),
            "confirm on the hub"},
        Case{"an_eviction_that_may_be_old_stops_nothing",
             Given{"a"}.evicted(true).admitted("a", 9s).job("a").on_hub(Certainty::unconfirmed),
             "confirm on the hub"},
        Case{"an_end_is_not_told_to_a_workload_that_may_be_another",
             Given{"a"}
                 .won("a")
                 .admitted("a", 9s)
                 .job("a")
                 .on_hub(Certainty::unconfirmed)
                 .with([](Given& g) {
                   g.clusters["a"].copy->finished = Finish{"Succeeded", "", now};
                   g.clusters["a"].job_ended = true;
                 }),
             "confirm on the hub"},
        Case{"what_destroys_nothing_needs_no_confirmation",
             Given{"a", "b"}.nominated({}).on_hub(Certainty::unconfirmed),
             "nominate [a b], copy to a, copy to b"},
        Case{"nothing_begins_for_a_workload_that_cannot_be_read",
             Given{"a", "b"}.nominated({}).on_hub(Certainty::unreadable), ""},
        Case{"a_copy_that_was_never_seen_to_go_is_read_first",
             Given{"a"}.won("a").known("a", Certainty::unconfirmed), "confirm on a"},
        Case{"a_copy_that_cannot_be_read_is_not_gone",
             Given{"a"}.won("a").known("a", Certainty::unreadable), ""},
        Case{"an_end_waits_for_a_last_status_that_cannot_be_read",
             Given{"a"}
                 .won("a")
                 .admitted("a", 9s)
                 .job("a")
                 .known("a", Certainty::unreadable)
                 .with([](Given& g) {
                   g.clusters["a"].copy->finished = Finish{"Succeeded", "", now};
                   g.clusters["a"].job_ended = true;
                 }),
             ""},
        Case{"an_eviction_beside_a_job_that_was_never_seen_is_taken_back_after_a_look",
             Given{"a"}
                 .won("a")
                 .admitted("a", 9s)
                 .known("a", Certainty::unconfirmed)
                 .with([](Given& g) { g.clusters["a"].copy->evicted = true; }),
             "confirm on a"},
        Case{"an_end_is_not_made_up_for_a_job_that_was_never_seen",
             Given{"a"}
                 .won("a")
                 .admitted("a", 9s)
                 .known("a", Certainty::unconfirmed)
                 .with([](Given& g) {
                   g.clusters["a"].copy->finished = Finish{"Succeeded", "", now};
                 }),
             "confirm on a"},
        Case{"a_lost_worker_is_not_asked",
             Given{"a"}.won("a").lost("a", 15min).known("a", Certainty::unconfirmed),
             "check Retry (Admitting remote lost)"},
        Case{"quota_is_not_released_before_the_recorded_worker_was_asked",
             Given{"a", "b"}
                 .evicted(true)
                 .known("a", Certainty::unconfirmed)
                 .known("b", Certainty::unconfirmed)
                 .with([](Given& g) { g.local.cluster_name = "a"; }),
             "confirm on a"},
        Case{"an_eviction_asks_the_worker_for_a_job_that_was_never_seen",
             Given{"a"}
                 .evicted(false)
                 .admitted("a", 9s)
                 .known("a", Certainty::unconfirmed)
                 .from("a"),
             "confirm on a"},
        Case{
            "and_waits_with_the_end_of_the_jobs_pods_until_then",
            Given{"a"}.evicted(true).admitted("a", 9s).known("a", Certainty::unconfirmed).from("a"),
            "confirm on a"},
        Case{"of_one_that_cannot_be_read_nothing_is_removed_by_an_eviction",
             Given{"a"}.evicted(true).admitted("a", 9s).known("a", Certainty::unreadable).from("a"),
             ""},
        Case{"a_job_that_was_never_seen_on_a_lost_worker_has_the_grace",
             Given{"a"}
                 .evicted(false)
                 .admitted("a", 9s)
                 .lost("a", 5min)
                 .known("a", Certainty::unconfirmed)
                 .from("a"),
             "look again in 600s"},
        Case{"a_worker_that_was_never_recorded_is_not_asked",
             Given{"a", "b"}.evicted(true).known("b", Certainty::unconfirmed).with([](Given& g) {
               g.local.cluster_name = "a";
             }),
             "release job"},
        Case{
            "a_loser_is_removed_whatever_else_its_worker_may_have",
            Given{"a", "b"}.won("a").admitted("a", 9s).copy("b").known("b", Certainty::unconfirmed),
            "remove copy on b, create job on a"},
        Case{"no_job_is_created_while_another_worker_may_hold_it_unreadably",
             Given{"a", "b"}.won("a").admitted("a", 9s).known("b", Certainty::unreadable),
             "tell WaitingForRemoval (Worker cluster \"b\" has a workload or a job of this name "
             "that "
             "cannot be read; the job starts nowhere else before that is gone)"},
        Case{"no_job_is_created_beside_one_that_cannot_be_read",
             Given{"a"}.won("a").admitted("a", 9s).known("a", Certainty::unreadable), ""},
        Case{"a_copy_that_cannot_be_read_is_neither_made_again_nor_wins",
             Given{"a", "b"}
                 .admitted("a", 9s)
                 .known("a", Certainty::unreadable)
                 .known("b", Certainty::unreadable),
             ""},
        Case{"a_finished_copy_of_another_life_finishes_nothing",
             Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->of_another_life = true;
               g.clusters["a"].copy->finished = Finish{"Succeeded", "old", now};
             }),
             "remove job and copy on a, check Retry (Admitting remote no longer exists)"},
        Case{"a_copy_of_another_life_does_not_win",
             Given{"a", "b"}.admitted("a", 9s).copy("b").with([](Given& g) {
               g.clusters["a"].copy->of_another_life = true;
             }),
             "remove copy on a"},
        Case{"a_job_of_another_life_is_not_wound_down",
             Given{"a"}.evicted(false).admitted("a", 9s).job("a").with([](Given& g) {
               g.clusters["a"].copy->of_another_life = true;
             }),
             "remove job and copy on a"},
        Case{"what_cannot_be_read_is_not_removed",
             deleted(Certainty::certain).known("a", Certainty::unreadable), "remove copy on b"}),
    case_name);

TEST(Plan, TiesDoNotFavourAName) {
  std::map<std::string, int> wins;
  for (int i = 0; i < 300; ++i) {
    Given g = Given{"a", "b", "c"}.admitted("a", 5s).admitted("b", 5s).admitted("c", 5s);
    g.local.uid = "uid-" + std::to_string(i);
    const Plan got = plan(g, now, PlanConfig{});
    ++wins[std::get<RecordWinner>(got.actions.at(0)).cluster];
  }
  // Each wins a third, give or take four standard deviations (8.2 each).
  for (const char* name : {"a", "b", "c"}) EXPECT_NEAR(wins[name], 100, 33) << name;
}

TEST(Plan, AnEvictionOnTheWorkerTellsThePreviousStateInASentenceOfItsOwn) {
  Given g = Given{"a"}.won("a").admitted("a", 9s).job("a");
  g.clusters["a"].copy->evicted = true;
  EXPECT_TRUE(std::get<SetCheck>(plan(g, now, PlanConfig{}).actions.at(0)).own_sentence);
  g.clusters["a"].copy.reset();
  const Plan gone = plan(g, now, PlanConfig{});
  EXPECT_FALSE(std::get<SetCheck>(gone.actions.back()).own_sentence);
}

TEST(Plan, OneWorkerHasAHeadStart) {
  PlanConfig config;
  config.head_start = 30ms;
  Given fresh{"a", "b"};
  EXPECT_EQ(describe(plan(fresh, now, config)), "copy to a, look again in 30ms");
  const auto racing = [&](Duration since) {
    return Given{"a", "b"}.copy("a").with([&](Given& g) { g.local.racing_since = now - since; });
  };
  EXPECT_EQ(describe(plan(racing(10ms), now, config)), "look again in 20ms");
  EXPECT_EQ(describe(plan(racing(30ms), now, config)), "copy to b");
  const Given full = racing(10ms).with([](Given& g) { g.clusters["a"].copy->waiting = true; });
  EXPECT_EQ(describe(plan(full, now, config)), "copy to b");
  const Given gone = racing(10ms).lost("a", 1ms);
  EXPECT_EQ(describe(plan(gone, now, config)), "nominate [b], copy to b");
  const Given restarted = Given{"a", "b"}.copy("a");
  EXPECT_EQ(describe(plan(restarted, now, config)), "copy to b");
  fresh.clusters["a"].passed_over = true;
  EXPECT_EQ(describe(plan(fresh, now, config)), "copy to b, look again in 30ms");
  fresh.clusters["b"].busy = true;
  EXPECT_EQ(describe(plan(fresh, now, config)), "copy to b, look again in 30ms");
  fresh.clusters["a"].passed_over = false;
  EXPECT_EQ(describe(plan(fresh, now, config)), "copy to a, look again in 30ms");
}

TEST(Plan, AWorkerThatRefusesACopyKeepsItsHeadStartNoLonger) {
  PlanConfig config;
  config.head_start = 30ms;
  const auto refused = [&](Duration since) {
    return Given{"a", "b"}.with([&](Given& g) { g.local.racing_since = now - since; });
  };
  EXPECT_EQ(describe(plan(refused(10ms), now, config)), "copy to a, look again in 20ms");
  EXPECT_EQ(describe(plan(refused(30ms), now, config)), "copy to a, copy to b");

  // The same in the next attempt, while the worker is not asked again yet.
  Given next{"a", "b"};
  next.clusters["a"].copying = Failing{now - 10s, "denied"};
  EXPECT_EQ(describe(plan(next, now, config)), "copy to b, look again in 30ms");
  next.clusters["b"].copying = Failing{now - 10s, "denied"};
  EXPECT_EQ(describe(plan(next, now, config)), "copy to a, copy to b, look again in 50s");
}

TEST(Plan, AWorkerThatRefusesTheJobIsLeftAndPassedOver) {
  Given refusing = Given{"a", "b"}.won("a").admitted("a", 9s);
  refusing.clusters["a"].job_refused = "denied the request";
  const Plan left = plan(refusing, now, PlanConfig{});
  EXPECT_EQ(describe(left),
            "check Retry (Worker cluster \"a\" refuses the job (denied the request), resetting for "
            "re-dispatch)");
  EXPECT_EQ(std::get<SetCheck>(left.actions.at(0)).refused_by, "a");
  const Given again = Given{"a", "b"}.nominated({}).with([](Given& g) {
    g.local.refused_by = {"a"};
    g.local.refused_until = now + 60s;
  });
  EXPECT_EQ(describe(plan(again, now, PlanConfig{})), "nominate [b], copy to b, look again in 60s");
  PlanConfig external;
  external.nomination.dispatcher = placement::Dispatcher::external;
  const Given insisting = Given{"a", "b"}.admitted("a", 9s).copy("b").with([](Given& g) {
    g.local.refused_by = {"a"};
    g.local.refused_until = now + 60s;
  });
  EXPECT_EQ(describe(plan(insisting, now, external)), "remove copy on a, look again in 60s");
}

/// The group runs on a, where it lacks some of its objects.
Given incomplete_group() {
  return Given{"a", "b"}.won("a").admitted("a", 9s).job("a").with(
      [](Given& g) { g.clusters["a"].job_incomplete = true; });
}

TEST(Plan, WhatAWorkerLacksOfAGroupIsCreated) {
  EXPECT_EQ(describe(plan(incomplete_group(), now, PlanConfig{})), "create job on a");
  const Given both = incomplete_group().with([](Given& g) {
    g.clusters["a"].job_news = true;
    g.clusters["a"].job_strays = true;
  });
  EXPECT_EQ(describe(plan(both, now, PlanConfig{})),
            "copy status from a, remove strays on a, create job on a");
  const Given elsewhere = incomplete_group().job("b");
  EXPECT_EQ(describe(plan(elsewhere, now, PlanConfig{})), "remove job and copy on b")
      << "no part is created while another worker is seen to hold one";
  const Given refused =
      incomplete_group().with([](Given& g) { g.clusters["a"].job_refused = "denied"; });
  EXPECT_EQ(
      describe(plan(refused, now, PlanConfig{})),
      "check Retry (Worker cluster \"a\" refuses the job (denied), resetting for re-dispatch)");
  const Given unclear = incomplete_group().known("a", Certainty::unreadable);
  EXPECT_EQ(describe(plan(unclear, now, PlanConfig{})), "");
}

Given following(const std::string& cluster) {
  return Given{"a", "b"}.nominated({}).with([&](Given& g) { g.local.follows = cluster; });
}
Given shared(Given given, const std::string& name) {
  return std::move(given).job(name).with([&](Given& g) { g.clusters[name].job_shared = true; });
}

TEST(Plan, AWorkloadOfAJobWithSeveralGoesWhereTheOthersAre) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  EXPECT_EQ(step(following("")), "look again in 50s") << "the first one races, this one waits";
  EXPECT_EQ(step(following("").admitted("a", 1s).nominated({"a"})),
            "remove copy on a, look again in 50s");
  EXPECT_EQ(step(following("b")), "nominate [b], copy to b");
  EXPECT_EQ(step(following("b").nominated({"a"}).admitted("a", 1s)),
            "nominate [b], remove copy on a, copy to b")
      << "whatever another program has nominated";
  EXPECT_EQ(step(shared(following("b").nominated({"b"}), "b")), "copy to b")
      << "the job there is no leftover";
  EXPECT_EQ(step(shared(following("b").nominated({"b"}).admitted("b", 1s), "b")),
            "record winner b, create job on b");
  EXPECT_EQ(step(shared(following("b").won("b").admitted("b", 1s), "b")), "");
  EXPECT_EQ(step(following("b").nominated({"b"}).admitted("b", 1s).job("b")),
            "remove job and copy on b")
      << "a job that runs for nobody else is left over from an earlier attempt";
}

TEST(Plan, AJobThatRunsForOtherWorkloadsStays) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const auto gone = [](Given& g) { g.local.deleted = true; };
  EXPECT_EQ(step(shared(Given{"a"}.won("a").admitted("a", 1s).with(gone), "a")),
            "remove copy on a");
  EXPECT_EQ(step(shared(Given{"a"}.won("a").with(gone), "a")), "");
  EXPECT_EQ(step(Given{"a"}.won("a").admitted("a", 1s).job("a").with(gone)),
            "remove job and copy on a");
  EXPECT_EQ(step(shared(Given{"a"}.won("a").admitted("a", 1s), "a").with([](Given& g) {
              g.clusters["a"].job_behind = true;
            })),
            "update job on a");
}

TEST(Plan, WorkloadsOfOneJobAreBroughtTogether) {
  EXPECT_EQ(describe(plan(shared(following("b").won("a").admitted("a", 1s), "a"), now, {})),
            "check Retry (The other Workloads of the job are on worker cluster \"b\", resetting "
            "for re-dispatch)");
}

/// A larger slice has the place of the one before, under which the Job runs there.
Given larger_slice() {
  return Given{"a", "b"}.won("a").check(CheckState::pending).job("a").with([](Given& g) {
    g.local.takes_over = true;
    g.clusters["a"].job_under_other_slice = true;
  });
}

TEST(Plan, ALargerSliceTakesOverWhereTheJobRuns) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const auto change = [](Given given, auto how) {
    return std::move(given).with([&](Given& g) { how(g.clusters["a"]); });
  };
  EXPECT_EQ(step(larger_slice()), "copy to a, look again in 50s");
  EXPECT_EQ(step(larger_slice().copy("b")), "remove copy on b, copy to a, look again in 50s");
  EXPECT_EQ(step(larger_slice().copy("a")), "look again in 50s") << "it waits for room there";
  EXPECT_EQ(step(change(larger_slice().copy("a"), [](ClusterView& v) { v.job_news = true; })),
            "copy status from a, look again in 50s");
  EXPECT_EQ(
      step(change(larger_slice().admitted("a", 1s), [](ClusterView& v) { v.job_behind = true; })),
      "record winner a, update job on a");
  EXPECT_EQ(step(change(larger_slice().copy("a"), [](ClusterView& v) { v.copy->evicted = true; })),
            "remove copy on a, look again in 50s")
      << "not the job, which runs under another slice";
  EXPECT_EQ(step(change(larger_slice().copy("a"),
                        [](ClusterView& v) {
                          v.job_ended = true;
                          v.job_news = true;
                        })),
            "copy final status from a");
  EXPECT_EQ(step(change(larger_slice().copy("a"), [](ClusterView& v) { v.job_stopped = true; })),
            "check Retry (The job was stopped on worker cluster \"a\", which has not admitted "
            "its larger size, resetting for re-dispatch)");
  const Given never = change(larger_slice().copy("a"), [](ClusterView& v) {
    v.job = RemoteJob::absent;
    v.job_under_other_slice = false;
  });
  EXPECT_EQ(step(never), "look again in 50s");
  EXPECT_EQ(step(Given{never}.with([](Given& g) { g.local.quota_reserved_at = now - 2min; })),
            "check Retry (The job does not run on worker cluster \"a\", which has not admitted "
            "its larger size, resetting for re-dispatch)");
  EXPECT_EQ(step(larger_slice().known("a", Certainty::unreadable)), "look again in 50s");
  EXPECT_EQ(step(larger_slice().lost("a", 50s)), "look again in 10s") << "then it is told";
  EXPECT_EQ(step(larger_slice().lost("a", 15min)), "check Retry (Admitting remote lost)");
  EXPECT_EQ(step(larger_slice().admitted("a", 1s).with([](Given& g) {
              g.clusters["a"].job = RemoteJob::absent;
              g.clusters["a"].job_under_other_slice = false;
            })),
            "record winner a, create job on a");
}

TEST(Plan, ALargerSliceThatALaterOneHasOvertakenIsNotMadeToReplaceThat) {
  const auto step = [](Given given) {
    given.local.overtaken = true;
    return describe(plan(given, now, PlanConfig{}));
  };
  EXPECT_EQ(step(larger_slice()), "look again in 50s");
  const Given behind = larger_slice().copy("a").with(
      [](Given& g) { g.clusters["a"].copy->drift = Drift::updatable; });
  EXPECT_EQ(step(behind), "look again in 50s");
  EXPECT_EQ(step(larger_slice().admitted("a", 1s)), "record winner a")
      << "it has the quota of the job there";
}

TEST(Plan, AJobThatIsNotThereYetWhenItsNextSizeTakesOverHasNotEnded) {
  const Given given = Given{"a"}.won("a").ended("a", "WorkloadSliceReplaced").with([](Given& g) {
    g.local.has_successor = true;
    g.clusters["a"].job_ended = false;
  });
  EXPECT_EQ(describe(plan(given, now, {})), "finish WorkloadSliceReplaced (Job finished)");
  const Given absent = Given{given}.with([](Given& g) { g.clusters["a"].job = RemoteJob::absent; });
  EXPECT_EQ(describe(plan(absent, now, {})), "finish WorkloadSliceReplaced (Job finished)");
}

TEST(Plan, ALargerSliceThatTookOverAndIsGoneLeavesTheJobWithoutQuota) {
  const auto lost_for = [](Duration time) {
    return [time](Given& g) {
      g.clusters["a"].job_without_quota = true;
      g.clusters["a"].job_without_quota_for = time;
    };
  };
  const auto lost = lost_for(3s);
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const std::string retry =
      "check Retry (The job lost its quota on worker cluster \"a\" while its larger size took "
      "over, resetting for re-dispatch)";
  EXPECT_EQ(step(larger_slice().with(lost)), retry);
  const Given evicted = larger_slice().copy("a").with(lost).with(
      [](Given& g) { g.clusters["a"].copy->evicted = true; });
  EXPECT_EQ(step(evicted), retry);
  const Given waiting = larger_slice().copy("a").with(lost);
  EXPECT_EQ(step(waiting), "look again in 7s") << "the worker is about to admit it";
  EXPECT_EQ(step(larger_slice().copy("a").with(lost_for(10s))), retry);
  EXPECT_EQ(step(larger_slice().admitted("a", 1s).with(lost_for(10s))), "record winner a");
}

TEST(Plan, TheGateOfALargerSliceThatHasRacedIsOpened) {
  const Given gated = larger_slice().copy("a").with(
      [](Given& g) { g.clusters["a"].copy->blocked_since = now - 1s; });
  EXPECT_EQ(describe(plan(gated, now, {})), "open gate on a, look again in 50s");
  const Given opening =
      Given{gated}.with([](Given& g) { g.clusters["a"].copy->gate_opening = true; });
  EXPECT_EQ(describe(plan(opening, now, {})), "look again in 50s");
}

TEST(Plan, AJobThatEndedCountsAlthoughItsCopyIsGone) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const Given ended = Given{"a"}.won("a").job("a").with([](Given& g) {
    g.clusters["a"].job_ended = true;
    g.clusters["a"].job_news = true;
  });
  EXPECT_EQ(step(ended), "copy final status from a");
  const Given known = Given{ended}.with([](Given& g) {
    g.clusters["a"].job_news = false;
    g.local.job_over = true;
  });
  EXPECT_EQ(step(known), "") << "the hub's job ends the workload";
  const Given removed =
      Given{"a"}.won("a").ended("a").with([](Given& g) { g.clusters["a"].copy->deleting = true; });
  EXPECT_EQ(step(removed), "copy final status from a, finish Succeeded (Job finished)");
  const Given by_hub =
      Given{removed}.with([](Given& g) { g.clusters["a"].copy->removal_begun = true; });
  EXPECT_NE(step(by_hub), step(removed));
}

TEST(Plan, AJobThatRanForTooLongOnItsWorkerIsNotSentAgain) {
  const Given given = Given{"a"}.won("a").admitted("a", 9s).job("a").with([](Given& g) {
    g.clusters["a"].copy->evicted = true;
    g.clusters["a"].copy->out_of_time = now - 4s;
  });
  EXPECT_EQ(describe(plan(given, now, {})), "look again in 6s") << "the hub ends it itself";
  const std::string rejected =
      "check Rejected (The job exceeded its maximum execution time on worker cluster \"a\")";
  EXPECT_EQ(describe(plan(given, now + 6s, {})), rejected);
  EXPECT_EQ(describe(plan(given, now - 5s, {})), rejected) << "its clock is ahead";
  const Given early = Given{given}.with([](Given& g) { g.local.may_run_until = now + 11s; });
  EXPECT_EQ(describe(plan(early, now, {})),
            "check Retry (Workload evicted on worker cluster: \"a\", resetting for re-admission)")
      << "by the hub's count it has time left";
  EXPECT_EQ(describe(plan(early, now + 6s, {})), rejected);
  const Given former = larger_slice().admitted("a", 1s).with(
      [](Given& g) { g.clusters["a"].job_out_of_time = now - 4s; });
  EXPECT_EQ(describe(plan(former, now, {})), rejected) << "under the former size";
}

TEST(Plan, ASliceThatIsReplacedOnItsWorkerAloneHasNotEnded) {
  const Given given = Given{"a"}.won("a").ended("a", "WorkloadSliceReplaced").with([](Given& g) {
    g.clusters["a"].job_ended = false;
    g.clusters["a"].job_under_other_slice = true;
  });
  EXPECT_EQ(
      describe(plan(given, now, {})),
      "check Retry (Remote workload on worker cluster \"a\" was replaced by a larger size that "
      "the hub has lost, resetting for re-dispatch)");
  const Given evicted = Given{given}.won("").evicted(true).with([](Given& g) {
    g.clusters["a"].job_under_other_slice = false;
    g.clusters["a"].job_active = true;
  });
  EXPECT_EQ(describe(plan(evicted, now, {})), "remove job and copy on a")
      << "its manager waits for the next size, and stops nothing";
  const Given known = Given{given}.with([](Given& g) { g.local.has_successor = true; });
  EXPECT_EQ(describe(plan(known, now, {})).find("Retry"), std::string::npos);
}

TEST(Plan, ASliceWhoseSuccessorRacesByItselfSendsNoJob) {
  const auto superseded = [](Given& g) { g.local.superseded = true; };
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  EXPECT_EQ(step(Given{"a"}.admitted("a", 1s).with(superseded)), "") << "no place is recorded";
  EXPECT_EQ(step(Given{"a"}.won("a").admitted("a", 1s).with(superseded)), "")
      << "the write was on its way when the other one got its quota";
}

TEST(Plan, ASliceWithoutAPlaceTakesTheOneWhereTheJobRunsUnderOneThatIsOver) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const auto behind = [](Given& g) {
    ClusterView& v = g.clusters["a"];
    v.job_under_other_slice = v.job_left_behind = true;
  };
  const Given given = Given{"a", "b"}.admitted("b", 1s).job("a").with(behind);
  EXPECT_EQ(step(given), "take place on a");
  EXPECT_EQ(step(Given{given}.with([](Given& g) { g.local.nominated = {"b"}; })), "nominate [a]");
  EXPECT_EQ(step(Given{given}.with([](Given& g) { g.clusters["a"].job_stopped = true; })),
            "record winner b");
  EXPECT_EQ(step(Given{given}.with([](Given& g) { g.clusters["a"].job_left_behind = false; })),
            "record winner b")
      << "the slice under which it runs sees to it";
  EXPECT_EQ(step(Given{given}.with([](Given& g) { g.clusters["a"].job_ended = true; })),
            "take place on a")
      << "its end comes home";
  EXPECT_EQ(step(Given{given}.lost("a", 5min)),
            "tell WorkerLost (The job runs with its former size on worker cluster \"a\", which is "
            "lost; it is given up at 1970-01-01T01:10:00Z), look again in 600s");
  EXPECT_EQ(step(Given{given}.lost("a", 15min)), "record winner b, create job on b");
}

// The record of the former size was not in the cache when the larger one got its quota.
TEST(Plan, ALargerSliceTakesThePlaceThatTheFormerOneHasByNow) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  Given given = Given{"a", "b"}.copy("a").admitted("b", 1s);
  EXPECT_EQ(step(given), "record winner b, remove copy on a, create job on b");
  given.local.place_of_replaced = "a";
  EXPECT_EQ(step(given), "take place on a") << "no job is created there yet";
  given.local.nominated = {"b"};
  EXPECT_EQ(step(given), "nominate [a]");
  given.clusters["a"].job = RemoteJob::ours;
  given.clusters["a"].job_under_other_slice = true;
  EXPECT_EQ(step(given), "nominate [a]");
  given.clusters["a"].job_stopped = true;
  EXPECT_EQ(step(given).substr(0, 15), "record winner b") << "it stopped there";
}

// Both inherited the place from the same one, and the other one has the job.
TEST(Plan, ALargerSliceThatIsOfNoUseDoesNotTakeTheJobOver) {
  const auto stray = [](Given& g) { g.local.superseded = true; };
  EXPECT_EQ(describe(plan(larger_slice().with(stray), now, {})), "look again in 50s");
  EXPECT_EQ(describe(plan(larger_slice().admitted("a", 1s).with(stray), now, {})),
            "look again in 50s");
}

TEST(Plan, AJobThatEndedBeforeItsLargerSizeWasAdmittedHasEndedForIt) {
  const auto ended = [](Given& g) {
    g.local.takes_over = false;
    g.local.evicted_from = "a";
    g.clusters["a"].job_ended = true;
    g.clusters["a"].job_news = true;
  };
  const Given given = larger_slice().won("").evicted(true).copy("a").with(ended);
  EXPECT_EQ(describe(plan(given, now, {})), "copy final status from a");
}

TEST(Plan, ALargerSliceThatCannotBeCopiedWaitsOnlyWhileTheJobRuns) {
  const auto gone = [](Given& g) {
    ClusterView& v = g.clusters["a"];
    v.job = RemoteJob::absent;
    v.job_under_other_slice = false;
    g.local.quota_reserved_at = now - 2min;
  };
  EXPECT_EQ(describe(plan(larger_slice().with(gone), now, {})),
            "copy to a, check Retry (The job does not run on worker cluster \"a\", which has not "
            "admitted its larger size, resetting for re-dispatch)");
}

TEST(Plan, WhatHasEndedOnTheHubIsSentNowhere) {
  const auto over = [](Given& g) { g.local.job_over = true; };
  EXPECT_EQ(describe(plan(Given{"a"}.admitted("a", 1s).with(over), now, {})), "");
  EXPECT_EQ(describe(plan(Given{"a"}.won("a").admitted("a", 1s).with(over), now, {})), "");
  EXPECT_EQ(describe(plan(larger_slice().with(over), now, {})), "look again in 50s");
}

TEST(Plan, ALargerSliceWaitsForTheOtherChecks) {
  const auto waits = [](Given& g) { g.local.other_checks_ready = false; };
  EXPECT_EQ(describe(plan(larger_slice().with(waits), now, {})), "");
  EXPECT_EQ(describe(plan(larger_slice().admitted("a", 1s).with(waits), now, {})), "");
  const Given chosen = Given{"a"}.won("a").admitted("a", 1s).with(waits);
  EXPECT_EQ(describe(plan(chosen, now, {})), "");
  const Given later = Given{chosen}.with([](Given& g) { g.local.admitted = true; });
  EXPECT_EQ(describe(plan(later, now, {})), "create job on a") << "the check was added later";
}

TEST(Plan, ASliceUnderWhichAJobRunsStaysUntilItWasHandedOver) {
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  const auto replaced = [](Given& g) {
    g.local.finished = g.local.replaced = true;
    g.local.job_active = true;
    g.clusters["a"].job_shared = g.clusters["a"].job_handing_over = true;
  };
  const Given handing = Given{"a"}.won("a").admitted("a", 9s).job("a").with(replaced);
  EXPECT_EQ(step(handing), "");
  const Given handed = Given{handing}.with([](Given& g) {
    g.clusters["a"].job_handing_over = false;
    g.clusters["a"].job_under_other_slice = true;
  });
  EXPECT_EQ(step(handed), "remove copy on a") << "the job runs under the next slice";
  const Given alone = Given{handing}.with(
      [](Given& g) { g.clusters["a"].job_shared = g.clusters["a"].job_handing_over = false; });
  EXPECT_EQ(step(alone), "remove job and copy on a") << "no slice takes over any more";
  EXPECT_EQ(step(Given{alone}.lost("a", 20min)), "") << "the job is the next slice's matter";
}

TEST(Plan, AnEvictedSliceLeavesTheJobToTheSliceUnderWhichItRuns) {
  const auto evicted = [](Given& g) { g.local.takes_over = false; };
  const Given given = larger_slice().won("").evicted(true).copy("a").with(evicted);
  EXPECT_EQ(describe(plan(given, now, PlanConfig{})), "remove copy on a");
  EXPECT_TRUE(may_still_run(given, now, PlanConfig{})) << "its quota stays until then";
  const Given stopped = Given{given}.with([](Given& g) { g.clusters["a"].job_stopped = true; });
  EXPECT_FALSE(may_still_run(stopped, now, PlanConfig{}));
}

TEST(Plan, AJobThatRestsWhileItsCopyFinishedHasNoLastStatusToWaitFor) {
  const auto finished = [](Duration ago, bool rests, bool read = false) {
    return Given{"a"}.won("a").ended("a").with([&](Given& g) {
      ClusterView& a = g.clusters["a"];
      a.copy->finished->at = now - ago;
      a.job_ended = false;
      a.job_read = read;
      a.job_rests = rests;
    });
  };
  const auto step = [](const GroupView& g) { return describe(plan(g, now, PlanConfig{})); };
  EXPECT_EQ(step(finished(10s, false)), "look again in 50s") << "then it is told";
  EXPECT_EQ(step(finished(2min, false, true)).substr(0, 25), "tell WaitingForLastStatus")
      << "it runs, and will end";
  const std::string told = "copy final status from a, finish Succeeded (Job finished)";
  EXPECT_EQ(step(finished(10s, true)), "look again in 20s") << "the watch may be behind";
  EXPECT_EQ(step(finished(30s, true)), "read job anew on a, look again in 30s")
      << "it may have fallen silent";
  EXPECT_EQ(step(finished(30s, true, true)), told);
  EXPECT_EQ(step(Given{finished(30s, true, true)}.evicted(false)), told);
}

TEST(Plan, APlacementNominatesWhateverTheDispatcherIs) {
  const Given placed =
      Given{"a", "b"}.nominated({"b"}).with([](Given& g) { g.local.placed = true; });
  EXPECT_EQ(describe(plan(placed, now, PlanConfig{})), "copy to b");
}

TEST(Plan, ARaceMayBeGivenUp) {
  PlanConfig config;
  EXPECT_EQ(describe(plan(Given{"a"}.copy("a"), now, config)), "") << "not unless told";
  config.give_up_after = 60s;
  EXPECT_EQ(describe(plan(Given{"a"}.copy("a"), now, config)), "look again in 50s");
  Given late = Given{"a"}.copy("a");
  late.local.quota_reserved_at = now - 60s;
  EXPECT_EQ(describe(plan(late, now, config)),
            "check Rejected (No worker cluster admitted the workload within 60s)");
  late.clusters["a"].copy->admitted_at = now;
  EXPECT_EQ(describe(plan(late, now, config)), "record winner a, create job on a")
      << "at the last moment";
}

TEST(Plan, ABudgetOfAttemptsMayBeUsedUp) {
  PlanConfig config;
  config.attempts_max = 3;
  Given again = Given{"a"}.admitted("a", 1s);
  again.local.retries = 2;
  EXPECT_EQ(describe(plan(again, now, config)), "record winner a, create job on a");
  again.local.retries = 3;
  EXPECT_EQ(describe(plan(again, now, config)),
            "check Rejected (The workload lost its worker cluster 3 times in a row)");
}

TEST(Plan, AJobThatNoManagerStopsIsRemovedAfterAWhile) {
  Given asked = Given{"a"}.evicted(true).admitted("a", 1h).job("a");
  asked.clusters["a"].copy->deactivating = true;
  asked.clusters["a"].copy->stop_asked_at = now - 14min;
  EXPECT_EQ(describe(plan(asked, now, PlanConfig{})),
            "tell WaitingForStop (Worker cluster \"a\" was asked to stop the job; its manager does "
            "not answer), look again in 60s");
  asked.clusters["a"].copy->stop_asked_at = now - 15min;
  asked.local.told = "WaitingForStop";
  EXPECT_EQ(describe(plan(asked, now, PlanConfig{})), "remove job and copy on a");
}

TEST(Plan, AWorkerThatWasLostBeforeItHadTheWorkloadHasItsWholeGrace) {
  Given g = Given{"a"}.won("a").lost("a", 20min);
  g.local.told = "WorkerLost";
  g.local.check_since = now - 10min;
  EXPECT_EQ(describe(plan(g, now, PlanConfig{})), "look again in 300s");
  g.local.check_since = now - 15min;
  EXPECT_EQ(describe(plan(g, now, PlanConfig{})), "check Retry (Admitting remote lost)");
  g.local.check_since = now + 10min;
  EXPECT_EQ(describe(plan(g, now, PlanConfig{})), "check Retry (Admitting remote lost)")
      << "a clock that went back is not waited for";
  Given evicted = Given{"a"}.evicted(true).admitted("a", 1h).job("a").lost("a", 14min);
  evicted.local.check_since = now - 1min;
  EXPECT_EQ(describe(plan(evicted, now, PlanConfig{})), "look again in 60s")
      << "the check has changed since";
}

TEST(Plan, AWorkerThatEvictedACopyAndThenDiedDoesNotHoldTheWorkloadForEver) {
  for (const bool by_itself : {true, false}) {
    Given dead = Given{"a"}.evicted(true).admitted("a", 1h).job("a");
    (by_itself ? dead.clusters["a"].copy->evicted : dead.clusters["a"].copy->deactivating) = true;
    dead.local.told = "WaitingForStop";
    dead.local.evicted_at = now - 14min;
    EXPECT_EQ(describe(plan(dead, now, PlanConfig{})), "look again in 60s");
    dead.local.evicted_at = now - 15min;
    EXPECT_EQ(describe(plan(dead, now, PlanConfig{})), "remove job and copy on a");
    dead.clusters["a"].job_stopping = true;
    EXPECT_EQ(describe(plan(dead, now, PlanConfig{})), "") << "its pods have their time to end";
  }
}

TEST(Plan, AWorkerThatRefusesToStopAJobHasUntilItIsLostToThinkBetterOfIt) {
  Given refusing = Given{"a"}.evicted(true).admitted("a", 1h).job("a");
  refusing.local.told = "WaitingForStop";
  refusing.local.evicted_at = now - 14min;
  const auto step = [&] {
    const std::string text = describe(plan(refusing, now, PlanConfig{}));
    return text.substr(0, text.find(" (")) + text.substr(std::min(text.size(), text.rfind(',')));
  };
  refusing.clusters["a"].stopping = Failing{now - 10min, "webhook"};
  EXPECT_EQ(step(), "deactivate on a, look again in 300s");
  refusing.clusters["a"].stopping = Failing{now - 1h, "an edit before the eviction"};
  EXPECT_EQ(step(), "deactivate on a, look again in 60s");
  refusing.local.evicted_at = now - 15min;
  EXPECT_EQ(step(), "remove job and copy on a");
}

TEST(Plan, TheHeadStartGoesToAnotherWorkerForEachWorkload) {
  PlanConfig config;
  config.head_start = 30ms;
  std::map<std::string, int> first;
  for (int i = 0; i < 300; ++i) {
    Given g{"a", "b", "c"};
    g.local.uid = "uid-" + std::to_string(i);
    const Plan got = plan(g, now, config);
    ++first[std::get<CreateCopy>(got.actions.at(0)).cluster];
  }
  for (const char* name : {"a", "b", "c"}) EXPECT_NEAR(first[name], 100, 33) << name;
}

TEST(Plan, IncrementalLooksAgainWhenTheNextRoundStarts) {
  PlanConfig config;
  config.nomination.dispatcher = placement::Dispatcher::incremental;
  config.nomination.step_size = 1;
  const Plan got = plan(Given{"b", "a"}.nominated({}), now, config);
  EXPECT_EQ(describe(got), "nominate [b], copy to b, look again in 290s");
}

TEST(Plan, ExternalCopiesOnlyToNominatedClusters) {
  PlanConfig config;
  config.nomination.dispatcher = placement::Dispatcher::external;
  EXPECT_EQ(describe(plan(Given{"a", "b"}.nominated({}), now, config)), "look again in 50s");
  EXPECT_EQ(describe(plan(Given{"a", "b"}.nominated({"b"}), now, config)), "copy to b");
  EXPECT_EQ(describe(plan(Given{"a", "b"}.nominated({"b"}).copy("a"), now, config)),
            "remove copy on a, copy to b");
}

/// The pause of a Workload that lost its admission after `held`, after `retries` earlier losses.
std::string pause_after(int retries, Duration held) {
  Given lost = Given{"a"}.won("a").admitted("a", held).with(
      [](Given& g) { g.clusters["a"].copy->evicted = true; });
  lost.local.retries = retries;
  lost.local.check_since = now - held;
  const std::string said = describe(plan(lost, now, PlanConfig{}));
  return said.substr(0, said.find(" ("));
}

TEST(Pauses, DoubleForAWorkloadThatLosesItsPlaceAgainAndAgain) {
  EXPECT_EQ(pause_after(0, 0s), "check Retry");
  EXPECT_EQ(pause_after(1, 0s), "check Retry in 1s");
  EXPECT_EQ(pause_after(2, 0s), "check Retry in 2s");
  EXPECT_EQ(pause_after(5, 0s), "check Retry in 16s");
  EXPECT_EQ(pause_after(9, 0s), "check Retry in 256s");
  EXPECT_EQ(pause_after(10, 0s), "check Retry in 300s");
  EXPECT_EQ(pause_after(1'000'000, 0s), "check Retry in 300s");
}

TEST(Pauses, AreTheShorterTheLongerItHadItsPlace) {
  EXPECT_EQ(pause_after(5, 6s), "check Retry in 10s");
  EXPECT_EQ(pause_after(5, 1min), "check Retry");
  EXPECT_EQ(pause_after(50, 1h), "check Retry");
  EXPECT_EQ(pause_after(50, -1h), "check Retry in 300s") << "the clock of another manager";
}

}  // namespace
}  // namespace regatta::dispatch
