#include "dispatch/telling.h"

#include "dispatch/objects.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>

#include <memory>

namespace regatta::dispatch {
namespace {

using namespace std::chrono_literals;

const TimePoint now = TimePoint(1h);

/// Has had quota for ten minutes; `a` and `b` are listed and connected.
GroupView racing() {
  GroupView g;
  g.local.quota_reserved = true;
  g.local.quota_reserved_at = now - 10min;
  g.local.check = CheckState::pending;
  g.local.told = "Racing";
  for (const char* name : {"a", "b"}) g.clusters[name].connected = true;
  return g;
}
/// Runs on `a`.
GroupView hosted() {
  GroupView g = racing();
  g.local.check = CheckState::ready;
  g.local.cluster_name = "a";
  g.local.told = "Dispatched";
  g.clusters["a"].copy.emplace();
  g.clusters["a"].job = RemoteJob::ours;
  return g;
}
void lose(GroupView* g, const char* name, Duration ago) {
  g->clusters[name].connected = false;
  g->clusters[name].lost_since = now - ago;
}
std::string told(const GroupView& g) {
  const Telling telling = what_to_tell(g, now, PlanConfig{});
  std::string out;
  if (telling.state) out = telling.state->reason + ": " + telling.state->message;
  if (telling.look_again) out += "look again in " + std::to_string(telling.look_again->count());
  return out;
}

TEST(Telling, TheCommonWayCostsNothing) {
  EXPECT_EQ(told(racing()), "");
  EXPECT_EQ(told(hosted()), "");
  GroupView g = hosted();
  g.local.told = "";
  EXPECT_EQ(told(g), "") << "not even for a workload that was recorded by another manager";
}

TEST(Telling, ARaceThatLastsIsToldWhenNoWriteHasToldOfIt) {
  GroupView g = racing();
  g.local.told.clear();
  const char* text = "Racing: Worker clusters are asked to admit the workload";
  EXPECT_EQ(told(g), text);
  g.local.other_checks_since = now - 20s;
  EXPECT_EQ(told(g), "look again in 40000");
  g.local.other_checks_ready = false;
  EXPECT_EQ(told(g), "") << "nothing was sent";
  g.local.other_checks_ready = true;
  g.local.quota_reserved_at = now - 50s;
  EXPECT_EQ(told(g), "look again in 40000");
  g = racing();
  g.local.told.clear();
  g.local.job_missing = true;
  EXPECT_EQ(told(g), "");
  g = racing();
  g.local.told.clear();
  g.local.rejection = "No multikueue adapter found";
  EXPECT_EQ(told(g), "");
}

TEST(Telling, ARaceWithoutItsConfigSaysSo) {
  GroupView g = racing();
  g.local.config_missing = true;
  EXPECT_EQ(told(g),
            "ConfigMissing: The MultiKueueConfig that the admission check of the workload names "
            "does not exist, or cannot be read");
  g.local.told = "ConfigMissing";
  EXPECT_EQ(told(g), "");
  g.local.config_missing = false;
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
  g.local.config_missing = true;
  g.local.other_checks_ready = false;
  g.local.told.clear();
  EXPECT_EQ(told(g), "") << "the other checks are waited for";
  g = hosted();
  g.local.config_missing = true;
  lose(&g, "a", 5min);
  EXPECT_EQ(told(g).substr(0, 50), "WorkerLost: Worker cluster \"a\" is lost; the worklo")
      << "the recorded worker needs no config";
}

TEST(Telling, ARaceWhoseCheckIsGoneIsOver) {
  GroupView g = racing();
  g.local.check = CheckState::none;
  EXPECT_EQ(told(g),
            "NotDispatched: No admission check of MultiKueue sends the workload to a worker "
            "cluster any more");
  g.local.told = "NotDispatched";
  EXPECT_EQ(told(g), "");
  g.local.check = CheckState::pending;
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
  g.local.check = CheckState::none;
  for (const char* reason : {"", "Dispatched", "Preempted"}) {
    g.local.told = reason;
    EXPECT_EQ(told(g), "") << "it was not sent in this attempt";
  }
}

TEST(Telling, WhatCannotBeReadOnAnotherWorkerIsToldWhileItIsInTheWay) {
  GroupView g = hosted();
  g.local.check_since = now - 10min;
  g.clusters["b"].certainty = Certainty::unreadable;
  EXPECT_EQ(told(g), "") << "the job is there already";
  g.clusters["a"].job = RemoteJob::absent;
  EXPECT_EQ(told(g),
            "WaitingForRemoval: Worker cluster \"b\" has a workload or a job of this name that "
            "cannot be read; the job starts nowhere else before that is gone");
  g.local.check_since = now - 10s;
  EXPECT_EQ(told(g).substr(0, 10), "look again");
}

TEST(Telling, ADispatcherThatNominatesNoneIsNamed) {
  GroupView g = racing();
  g.local.dispatcher = placement::Dispatcher::external;
  EXPECT_EQ(told(g),
            "NoWorkerNominated: No worker cluster is nominated: the external dispatcher has "
            "written none into status.nominatedClusterNames");
  g.local.placed = true;
  EXPECT_EQ(told(g),
            "NoWorkerNominated: No worker cluster is nominated: the Placement of its admission "
            "check selects none");
  g.local.other_checks_ready = false;
  EXPECT_EQ(told(g), "") << "that check is not Ready";
  g.local.other_checks_ready = true;
  g.local.told = "NoWorkerNominated";
  EXPECT_EQ(told(g), "");
  g.local.nominated = {"a"};
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
}

TEST(Telling, WorkersThatAreNominatedAndCannotBeAskedAreNamed) {
  GroupView g = racing();
  g.local.nominated = {"a"};
  lose(&g, "a", 5min);
  EXPECT_EQ(told(g), "NoWorkerConnected: No worker cluster that is nominated is connected: a");
  g.local.nominated = {"nowhere"};
  g.clusters["a"].connected = true;
  EXPECT_EQ(told(g),
            "NoWorkerConnected: No worker cluster that is nominated is connected: nowhere");
}

TEST(Telling, JobsOfOthersThatAreInTheWayEverywhereAreTold) {
  GroupView g = racing();
  g.clusters["a"].job = g.clusters["b"].job = RemoteJob::foreign;
  EXPECT_EQ(told(g),
            "NoWorkerAccepts: A job of this name that is not this hub's is on worker clusters: a, "
            "b");
  g.clusters["b"].job = RemoteJob::absent;
  EXPECT_EQ(told(g), "");
}

TEST(Telling, AJobThatTheHubHasNoRecordOfIsTold) {
  GroupView g = racing();
  g.clusters["b"].job = RemoteJob::ours;
  g.clusters["b"].removals_held = true;
  EXPECT_EQ(told(g),
            "RemovalsHeld: The job runs on worker cluster \"b\", and the hub has no record of it; "
            "its MultiKueueCluster tells what to do");
  g.local.told = "RemovalsHeld";
  EXPECT_EQ(told(g), "");
  g.clusters["b"].removals_held = false;
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
}

TEST(Telling, WhyALargerSizeWaitsIsTold) {
  GroupView g = hosted();
  g.local.check = CheckState::pending;
  g.local.takes_over = true;
  EXPECT_EQ(
      told(g),
      "WaitingForRoomToGrow: Worker cluster \"a\" has no room for the larger size yet; the job "
      "goes on with its present one");
  g.clusters["a"].copying = Failing{now - 5min, "no namespace"};
  EXPECT_EQ(
      told(g),
      "WaitingForRoomToGrow: Worker cluster \"a\" does not take the larger size: no namespace; "
      "the job goes on with its present one");
  g.local.other_checks_ready = false;
  EXPECT_EQ(told(g), "") << "the checks tell for themselves";
}

TEST(Telling, ALostWorkerThatRunsTheFormerSizeIsWaitedFor) {
  GroupView g = racing();
  g.clusters["b"].job = RemoteJob::ours;
  g.clusters["b"].job_under_other_slice = g.clusters["b"].job_left_behind = true;
  lose(&g, "b", 5min);
  EXPECT_EQ(
      told(g).substr(0, 84),
      "WorkerLost: The job runs with its former size on worker cluster \"b\", which is lost; ");
  g.clusters["b"].listed = false;
  EXPECT_EQ(told(g), "");
}

TEST(Telling, AWorkerThatHasTheFormerSizeAndCannotBeReadIsWaitedFor) {
  GroupView g = racing();
  g.local.place_of_replaced = "b";
  g.clusters["b"].connected = false;
  g.clusters["b"].unknown = true;
  g.clusters["b"].certainty = Certainty::unreadable;
  EXPECT_EQ(
      told(g),
      "WorkerLost: The MultiKueueCluster of worker cluster \"b\" cannot be read; the job goes "
      "on there with its former size");
  g.local.place_of_replaced.clear();
  EXPECT_EQ(told(g), "");
}

TEST(Telling, AJobThatRunsOnTheHubMissesNoWorker) {
  GroupView g = racing();
  lose(&g, "a", 5min);
  lose(&g, "b", 5min);
  EXPECT_NE(told(g), "");
  g.local.runs_on_hub = true;
  EXPECT_EQ(told(g), "");
}

TEST(Telling, AWorkerThatIsLostForAWhileIsToldOnceAndSoIsItsReturn) {
  GroupView g = hosted();
  lose(&g, "a", 20s);
  EXPECT_EQ(told(g), "look again in 40000");
  lose(&g, "a", 10min);
  EXPECT_EQ(told(g),
            "WorkerLost: Worker cluster \"a\" is lost; the workload is given up at "
            "1970-01-01T01:05:00Z");
  g.local.told = "WorkerLost";
  EXPECT_EQ(told(g), "");
  g.clusters["a"].connected = true;
  EXPECT_EQ(told(g), "Dispatched: Dispatched to worker cluster \"a\"");
}

TEST(Telling, AStatusThatTheHubRefusesIsToldWhenTheJobHasEnded) {
  GroupView g = hosted();
  g.local.status_refused = Failing{now - 5min, "spec.x: Required value"};
  EXPECT_EQ(told(g), "") << "it runs";
  g.clusters["a"].copy->finished = Finish{"Succeeded", "", now};
  g.clusters["a"].job_ended = true;
  const char* expected =
      "WaitingForLastStatus: The API of the hub refuses the status of the job: spec.x: Required "
      "value";
  EXPECT_EQ(told(g), expected);
  g.clusters["a"].copy->finished.reset();
  g.local.evicted = true;
  EXPECT_NE(told(g).find("The API of the hub refuses the status of the job"), std::string::npos);
}

TEST(Telling, OfALargeFleetThoseThatCannotBeSeenMayHaveTheWorkload) {
  GroupView g = racing();
  lose(&g, "a", 10min);
  lose(&g, "b", 5min);
  g.roster = std::make_shared<Roster>();
  EXPECT_EQ(told(g), "");
}

TEST(Telling, ARaceWithoutWorkersSaysSo) {
  GroupView g = racing();
  lose(&g, "a", 10min);
  EXPECT_EQ(told(g), "") << "b may have it";
  lose(&g, "b", 5min);
  EXPECT_EQ(told(g), "NoWorkerConnected: No worker cluster is connected");
  g.clusters["a"].connected = true;
  g.local.refused_by = {"a"};
  EXPECT_EQ(told(g),
            "NoWorkerAccepts: The job is refused by every worker cluster that is connected: a");
  g.local.refused_by.clear();
  g.clusters["a"].kind_served = false;
  EXPECT_EQ(told(g), "NoWorkerAccepts: The API serves no jobs of this kind on worker clusters: a");
  g.clusters["a"].kind_served = true;
  g.local.told = "NoWorkerAccepts";
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
}

TEST(Telling, AWorkloadThatFollowsOthersSaysWhatItWaitsFor) {
  GroupView g = racing();
  g.local.follows = "";
  EXPECT_EQ(told(g),
            "WaitingForFirstGroup: The Workload of the job's first group decides the worker "
            "cluster, and has none");
  g.local.quota_reserved_at = now - 20s;
  EXPECT_EQ(told(g), "look again in 40000");
  g.local.told = "WaitingForFirstGroup";
  g.local.follows = "a";
  EXPECT_EQ(told(g), "Racing: Worker clusters are asked to admit the workload");
  g.local.told = "Racing";
  lose(&g, "a", 10min);
  g.local.quota_reserved_at = now - 20min;
  EXPECT_EQ(told(g), "WorkerLost: Worker cluster \"a\", where the rest of the job is, is lost");
  g.local.follows.reset();
  EXPECT_EQ(told(g), "") << "b is there";
}

TEST(Telling, AJobThatDoesNotGoAwayIsNamed) {
  GroupView g = hosted();
  g.clusters["a"].job = RemoteJob::absent;
  g.clusters["b"].job = RemoteJob::ours;
  g.clusters["b"].job_deleting = true;
  g.clusters["b"].job_deleting_since = now - 2min;
  EXPECT_EQ(told(g),
            "WaitingForRemoval: The job is still being deleted on worker cluster \"b\"; finalizers "
            "or pods may hold it");
}

TEST(Telling, AJobThatIsNotEvenBeingDeletedIsNamedToo) {
  GroupView g = hosted();
  g.clusters["a"].job = RemoteJob::absent;
  g.clusters["b"].job = RemoteJob::ours;
  EXPECT_EQ(told(g), "");
  g.clusters["b"].job_removal_asked = now - 20s;
  EXPECT_EQ(told(g), "look again in 40000");
  g.clusters["b"].job_removal_asked = now - 2min;
  const std::string text =
      "WaitingForRemoval: The job is still on worker cluster \"b\", which was asked to delete it; "
      "it starts nowhere else before it is gone";
  EXPECT_EQ(told(g), text);

  GroupView evicted = g;
  evicted.local.evicted = true;
  evicted.local.evicted_at = now - 2min;
  evicted.local.cluster_name.clear();
  EXPECT_EQ(told(evicted), text) << "its quota is held";

  GroupView race = racing();
  race.clusters["b"] = g.clusters["b"];
  EXPECT_EQ(told(race), text);
}

TEST(Telling, AnEndWithoutAStatusAndAJobThatCannotBeCreatedAreTold) {
  GroupView g = hosted();
  g.clusters["a"].copy->finished = Finish{"Succeeded", "", now - 5min};
  EXPECT_EQ(told(g).substr(0, 21), "WaitingForLastStatus:");
  g.clusters["a"].job_ended = true;
  EXPECT_EQ(told(g), "");
  g = hosted();
  g.clusters["a"].job = RemoteJob::absent;
  g.clusters["a"].creating_job = Failing{now - 90s, "internal error"};
  EXPECT_EQ(told(g),
            "JobNotCreated: The job cannot be created on worker cluster \"a\": internal error");
  g.clusters["a"].job = RemoteJob::ours;
  EXPECT_EQ(told(g), "");
  g.clusters["a"].job_incomplete = true;
  EXPECT_EQ(told(g).substr(0, 14), "JobNotCreated:");
}

TEST(Telling, AManagerThatDoesNotStopAJobIsTold) {
  GroupView g = hosted();
  g.local.evicted = true;
  g.local.cluster_name = "";
  g.local.check = CheckState::pending;
  g.clusters["a"].copy->stop_asked_at = now - 5min;
  EXPECT_EQ(told(g),
            "WaitingForStop: Worker cluster \"a\" was asked to stop the job; its manager does not "
            "answer");
}

TEST(Telling, AClusterThatCannotBeReadIsToldAsOneThatIsLost) {
  GroupView g = hosted();
  ClusterView& a = g.clusters["a"];
  a = {};
  a.unknown = true;
  a.certainty = Certainty::unreadable;
  g.local.check_since = now - 10min;
  EXPECT_EQ(
      told(g),
      "WorkerLost: The MultiKueueCluster of worker cluster \"a\" cannot be read; the workload "
      "is left there until it can");
  a.certainty = Certainty::certain;
  EXPECT_EQ(told(g), "") << "it is about to be connected";
}

TEST(Telling, CopiesThatNoWorkerTakesAreTold) {
  GroupView g = racing();
  g.local.nominated = {"a", "b"};
  for (const char* name : {"a", "b"}) {
    g.clusters[name].copying = Failing{now - 5min, "no namespace on " + std::string(name)};
  }
  EXPECT_EQ(told(g),
            "NoWorkerAccepts: No worker cluster that is asked takes the workload; \"a\" says: no "
            "namespace on a");
  g.clusters["b"].copying.reset();
  EXPECT_EQ(told(g), "") << "it may take it";
  g.clusters["b"].connected = false;
  EXPECT_EQ(told(g).substr(0, 16), "NoWorkerAccepts:");
  g.clusters["a"].copying->since = now - 10s;
  EXPECT_EQ(told(g).substr(0, 10), "look again");
}

TEST(Telling, AJobThatTheHubMayNotReadIsTold) {
  GroupView g = hosted();
  ClusterView& a = g.clusters["a"];
  a.job = RemoteJob::absent;
  a.certainty = Certainty::unconfirmed;
  a.reading = Failing{now - 5min, "forbidden"};
  a.copy->finished = Finish{"Succeeded", "", now - 5min};
  EXPECT_EQ(told(g),
            "WaitingForLastStatus: The workload ended on worker cluster \"a\", which does not let "
            "the hub read how its job ended: forbidden");
  a.copy->finished.reset();
  g.local.evicted = true;
  EXPECT_EQ(told(g),
            "WaitingForStop: Worker cluster \"a\" does not let the hub read whether the job runs "
            "there: forbidden");
  a.certainty = Certainty::certain;
  EXPECT_EQ(told(g), "") << "it was read since";
}

TEST(Telling, AWorkerThatIsGoneIsToldOfAWorkloadWithoutACheck) {
  GroupView g = hosted();
  g.local.check = CheckState::none;
  EXPECT_EQ(told(g), "") << "it runs";
  g.clusters["a"].copy.reset();
  EXPECT_EQ(told(g).substr(0, 67),
            "WorkerLost: Worker cluster \"a\" does not have the workload any more,");
  g.clusters.erase("a");
  EXPECT_EQ(told(g).substr(0, 11), "WorkerLost:");
}

TEST(Telling, PodsThatDoNotEndAreTold) {
  GroupView g = hosted();
  g.local.evicted = true;
  g.local.evicted_at = now - 5min;
  g.local.cluster_name = "";
  g.local.check = CheckState::pending;
  g.clusters["a"].copy->evicted = true;
  g.clusters["a"].job_stopping = true;
  EXPECT_EQ(told(g),
            "WaitingForStop: The job was stopped on worker cluster \"a\"; its pods there have not "
            "ended");
  g.clusters["a"].job_stopped = true;
  g.clusters["a"].job_stopping = false;
  EXPECT_EQ(told(g), "");
  g.clusters["a"].job_stopped = false;
  g.clusters["a"].copy->admitted_at = now - 1h;
  EXPECT_EQ(told(g).substr(0, 16), "WaitingForStop: ");
  lose(&g, "a", 10min);
  EXPECT_EQ(told(g), "") << "it cannot answer";
}

TEST(Telling, NothingIsToldOfAWorkloadThatIsOverOrNotDispatched) {
  for (const auto& change :
       {+[](LocalView* l) { l->deleted = true; }, +[](LocalView* l) { l->finished = true; },
        +[](LocalView* l) { l->quota_reserved = false; },
        +[](LocalView* l) {
          l->check = CheckState::none;
          l->cluster_name = "";
        },
        +[](LocalView* l) { l->check = CheckState::retry; }}) {
    GroupView g = hosted();
    lose(&g, "a", 10min);
    change(&g.local);
    EXPECT_EQ(told(g), "");
  }
}

TEST(Refusals, AreRememberedInTheStatus) {
  api::Workload w;
  EXPECT_TRUE(refusals_of(w).clusters.empty());
  w.status = with_refusal(w, "east", "pods \"x\" is forbidden: [a b] (policy)", now);
  w.status = with_refusal(w, "west", "no", now + 1min);
  w.status = with_refusal(w, "east", "again", now + 2min);
  EXPECT_EQ(refusals_of(w).clusters, (std::vector<std::string>{"east", "west"}));
  EXPECT_EQ(refusals_of(w).until, now + 12min);
  EXPECT_EQ(w.status.conditions.size(), 1U);
  w.status = with_refusal(w, "north", "no", now + 13min);
  EXPECT_EQ(refusals_of(w).clusters, std::vector<std::string>{"north"}) << "the others are over";
  w.status.conditions[0].message = "anything else";
  EXPECT_TRUE(refusals_of(w).clusters.empty());
}

TEST(TellState, TheStatusFollowsFromTheReason) {
  api::Workload w;
  w.status = with_state(w, {"Racing", "m"}, now);
  EXPECT_EQ(with_state(w, {"Racing", "m"}, now + 1s), w.status);
  EXPECT_TRUE(api::is_false(w.status.conditions, "Dispatched"));
  w.status = with_state(w, {"Dispatched", "m"}, now);
  EXPECT_TRUE(api::is_true(w.status.conditions, "Dispatched"));
  w.status = with_state(w, {"WorkerLost", "m"}, now);
  EXPECT_EQ(api::find_condition(w.status.conditions, "Dispatched")->status,
            api::ConditionStatus::Unknown);
}

}  // namespace
}  // namespace regatta::dispatch
