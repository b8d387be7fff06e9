#include "dispatch/ranking.h"

#include "lib/base/joined.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::dispatch {
namespace {

using namespace std::chrono_literals;

const TimePoint now = TimePoint() + 1h;

/// A workload that got quota just now, and three workers that are connected.
GroupView view() {
  GroupView g;
  g.local.quota_reserved = true;
  g.local.quota_reserved_at = now;
  g.local.check = CheckState::pending;
  g.local.uid = "u";
  g.config_order = {"a", "b", "c"};
  for (const std::string& name : g.config_order) g.clusters[name].connected = true;
  return g;
}

/// The comparison, to be filled.
Comparison& compare(GroupView* g) {
  auto made = std::make_shared<Comparison>();
  Comparison& out = *made;
  out.workload.pod_sets = {{{"cpu", 4}}};
  g->comparison = std::move(made);
  return out;
}

placement::WorkerFacts& compared(Comparison* comparison, const std::string& name) {
  placement::WorkerFacts& facts = comparison->workers.emplace_back();
  facts.name = name;
  return facts;
}

std::shared_ptr<const placement::QueueFacts> queue(std::int64_t used) {
  return std::make_shared<const placement::QueueFacts>(
      placement::QueueFacts{{{{"default", {{"cpu", {10, 5, 15, used, {}}}}}}}, {}});
}

PlanConfig config(placement::Dispatcher dispatcher = placement::Dispatcher::capacity) {
  PlanConfig out;
  out.nomination.dispatcher = dispatcher;
  return out;
}

TEST(Nomination, OfALargeFleetGoesByItsRoster) {
  auto roster = std::make_shared<Roster>();
  for (int i = 10; i < 32; ++i) roster->able.push_back("w" + std::to_string(i));
  roster->listed.insert(roster->able.begin(), roster->able.end());
  GroupView g;
  g.roster = roster;
  g.local.quota_reserved_at = now;
  const auto nominated = [&](placement::Dispatcher by) {
    return nomination_of(g, now, config(by)).nominated.clusters;
  };
  using enum placement::Dispatcher;
  EXPECT_EQ(nominated(all_at_once).size(), 20u);
  EXPECT_EQ(nominated(incremental), (std::vector<std::string>{"w10", "w11", "w12"}));
  g.local.refused_by = {"w10", "w31"};
  g.with_foreign_job = {"w12", "w30"};
  EXPECT_EQ(nominated(incremental), (std::vector<std::string>{"w11", "w13", "w14"}));
  EXPECT_EQ(
      nominated(all_at_once),
      std::vector<std::string>({"w11", "w13", "w14", "w15", "w16", "w17", "w18", "w19", "w20",
                                "w21", "w22", "w23", "w24", "w25", "w26", "w27", "w28", "w29"}));
  g.local.nominated = {"w10"};
  EXPECT_EQ(nominated(external), (std::vector<std::string>{"w10"}));
}

TEST(Ranking, TheBestWorkerAloneGetsACopy) {
  GroupView g = view();
  Comparison& known = compare(&g);
  compared(&known, "c").queue = queue(0);
  compared(&known, "a").queue = queue(15);
  compared(&known, "b").queue = queue(7);
  EXPECT_EQ(describe(plan(g, now, config())), "nominate [c], copy to c, look again in 30s");
}

TEST(Ranking, WithoutFactsTheFirstOfTheConfigIsAsked) {
  EXPECT_EQ(describe(plan(view(), now, config())), "nominate [a], copy to a, look again in 30s");
}

TEST(Ranking, NominationsThatStayAreNotComparedAgain) {
  GroupView g = view();
  g.local.nominated = {"b"};
  compared(&compare(&g), "b").queue = queue(0);
  g.unchanged = unchanged_of(g, now + 1s, config());
  ASSERT_TRUE(g.unchanged);
  EXPECT_EQ(describe(plan(g, now + 1s, config())), "copy to b, look again in 29s");
  g.clusters["b"].copy.emplace().waiting = true;
  EXPECT_FALSE(unchanged_of(g, now + 1s, config())) << "it says that it is full";
  g.clusters["b"].copy->waiting = false;
  g.clusters["b"].copy->admitted_at = now;
  EXPECT_FALSE(unchanged_of(g, now + 1s, config())) << "why it is not elsewhere will be told";
  g.clusters["b"].copy.reset();
  g.local.nominated = {"b", "gone"};
  EXPECT_FALSE(unchanged_of(g, now + 1s, config()));
}

TEST(Ranking, TheCheckNamesTheDispatcher) {
  GroupView g = view();
  g.local.dispatcher = placement::Dispatcher::capacity;
  EXPECT_EQ(describe(plan(g, now, config(placement::Dispatcher::all_at_once))),
            "nominate [a], copy to a, look again in 30s");
  g.local.dispatcher = placement::Dispatcher::all_at_once;
  EXPECT_EQ(plan(g, now, config()).actions.size(), 4U) << describe(plan(g, now, config()));
  g.local.dispatcher = placement::Dispatcher::capacity;
  g.local.placed = true;
  EXPECT_EQ(describe(plan(g, now, config())), "look again in 60s") << "it has no nomination";
}

TEST(Ranking, AWorkerThatHasNoRoomIsFollowedByTheNext) {
  GroupView g = view();
  g.local.nominated = {"a"};
  g.clusters["a"].copy.emplace();
  g.clusters["a"].copy->waiting = true;
  EXPECT_EQ(describe(plan(g, now, config())), "nominate [a b], copy to b, look again in 30s");
}

TEST(Ranking, TimeForFurtherWorkersPassesOnlyWhileWorkersAreAsked) {
  GroupView g = view();
  g.local.quota_reserved_at = now - 10min;
  g.local.other_checks_ready = false;
  EXPECT_EQ(joined(ranking_of(g, now, config()).clusters, " "), "a");
  g.local.other_checks_ready = true;
  g.local.other_checks_since = now - 40s;
  EXPECT_EQ(joined(ranking_of(g, now, config()).clusters, " "), "a b");
}

TEST(Ranking, WhatAnnotationsForbidIsNominatedNowhere) {
  GroupView g = view();
  compare(&g).unreadable = "annotation x \"y\": write true or false";
  EXPECT_EQ(describe(plan(g, now, config())), "look again in 60s");
  EXPECT_EQ(describe(plan(g, now + 1min, config())),
            "tell NoWorkerFits (No worker cluster is nominated: not a, which is not asked: "
            "annotation x \"y\": write true or false; not b, which is not asked: annotation x "
            "\"y\": write true or false; not c, which is not asked: annotation x \"y\": write true "
            "or false)");
}

TEST(Ranking, ANominationSaysWhyNotElsewhere) {
  GroupView g = view();
  compared(&compare(&g), "a").queue = queue(15);
  g.clusters["b"].connected = false;
  const Plan made = plan(g, now, config());
  ASSERT_FALSE(made.actions.empty());
  const TellState state = racing_state(std::get<SetNominated>(made.actions.front()));
  EXPECT_EQ(state.reason, "Racing");
  EXPECT_EQ(state.message,
            "Worker clusters are asked to admit the workload: c; not a, which has no room now; "
            "not b, which is not connected");
}

TEST(Ranking, TheWinnerSaysWhyNotElsewhere) {
  GroupView g = view();
  g.local.nominated = {"c"};
  g.clusters["c"].copy.emplace();
  g.clusters["c"].copy->admitted_at = now;
  g.clusters["b"].connected = false;
  const Plan made = plan(g, now, config());
  const auto* won = std::get_if<RecordWinner>(&made.actions.front());
  ASSERT_TRUE(won) << describe(made);
  EXPECT_EQ(won->not_elsewhere,
            "not a, which comes after those nominated; not b, which is not connected");
  compared(&compare(&g), "c").closed = "has stopped ClusterQueue q";
  const Plan late = plan(g, now, config());
  EXPECT_EQ(std::get<RecordWinner>(late.actions.front()).not_elsewhere,
            "not b, which is not connected");
  const Plan plain = plan(g, now, config(placement::Dispatcher::all_at_once));
  EXPECT_EQ(std::get<RecordWinner>(plain.actions.front()).not_elsewhere, "");
}

TEST(Ranking, KindsForeignJobsAndRefusalsCount) {
  GroupView g = view();
  g.clusters["a"].kind_served = false;
  g.clusters["b"].job = RemoteJob::foreign;
  g.local.refused_by = {"c"};
  g.local.refused_until = now + 8min;
  const placement::Ranking ranking = ranking_of(g, now, config());
  EXPECT_EQ(joined(ranking.clusters, " "), "");
  EXPECT_EQ(not_elsewhere(ranking),
            "not a, which does not serve jobs of this kind; not b, which has a job of that name "
            "that is not this hub's; not c, which refused it 2m ago: it does not take the job");
}

TEST(Ranking, TheGateOfAWorkloadThatMustNotPreemptStaysClosed) {
  GroupView g = view();
  g.local.nominated = {"a"};
  g.clusters["a"].copy.emplace();
  g.clusters["a"].copy->blocked_since = now;
  const auto opens = [&] {
    return describe(plan(g, now, config())).find("open gate on a") != std::string::npos;
  };
  EXPECT_TRUE(opens());
  Comparison& known = compare(&g);
  EXPECT_TRUE(opens());
  known.workload.affinity.limits.may_preempt = false;
  EXPECT_FALSE(opens());
}

}  // namespace
}  // namespace regatta::dispatch
