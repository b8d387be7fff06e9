#include "placement/rank.h"

#include "lib/base/rng.h"
#include "placement/expressions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace regatta::placement {
namespace {

using namespace std::chrono_literals;

/// Three workers a, b, c that are connected, and of which nothing else is known.
struct Scene {
  WorkloadFacts workload;
  std::vector<WorkerFacts> workers;
  RankPolicy policy;
  WorkerFacts& a() { return workers[0]; }
  WorkerFacts& b() { return workers[1]; }
  WorkerFacts& c() { return workers[2]; }
};

Scene scene() {
  Scene s;
  for (const char* name : {"a", "b", "c"}) {
    s.workers.emplace_back();
    s.workers.back().name = name;
    s.workers.back().connected = true;
  }
  s.workload.pod_sets = {{{"cpu", 4}}};
  s.workload.kind = "batch/v1 Job";
  return s;
}

/// A queue of 10 cpu that may borrow 5. Of what it uses, `low` may be preempted.
std::shared_ptr<const QueueFacts> queue(std::int64_t used, std::int64_t low = 0,
                                        std::map<std::int32_t, int> pending = {}) {
  QueueFacts out = {{{{"default", {{"cpu", {10, 5, 15, used, {{-1, low}}}}}}}}, {}};
  out.pending = std::move(pending);
  return std::make_shared<const QueueFacts>(std::move(out));
}

std::shared_ptr<const QueueFacts> queue_with_pending(std::map<std::int32_t, int> pending) {
  return queue(0, 0, std::move(pending));
}

std::shared_ptr<const api::StringMap> ranked(const std::string& rank) {
  return std::make_shared<const api::StringMap>(api::StringMap{{"rank", rank}});
}

WorkerList list(const std::vector<WorkerFacts>& workers) {
  WorkerList out;
  for (const WorkerFacts& one : workers) out.push_back(&one);
  return out;
}

std::string described(const Ranking& ranking) {
  std::string out;
  for (const std::string& name : ranking.clusters) out += (out.empty() ? "" : " ") + name;
  if (ranking.look_again) {
    out += " +" + std::to_string(ranking.look_again->count() / 1000) + "s";
  }
  for (const LeftOut& left : ranking.left_out) out += "; " + left.cluster + " " + left.why;
  return out;
}

struct RankCase {
  const char* name;
  void (*change)(Scene& s);
  const char* want;
  friend void PrintTo(const RankCase& c, std::ostream* out) { *out << c.name; }
};

class RankTable : public ::testing::TestWithParam<RankCase> {};

TEST_P(RankTable, OrdersAndExplains) {
  Scene s = scene();
  GetParam().change(s);
  EXPECT_EQ(described(rank(s.workload, list(s.workers), s.policy)), GetParam().want);
}

const RankCase filters[] = {
    {"everything_connected_in_the_order_of_the_config", [](Scene&) {}, "a b c"},
    {"what_is_not_connected_is_left_out", [](Scene& s) { s.b().connected = false; },
     "a c; b is not connected"},
    {"what_the_filter_of_users_does_not_let_pass",
     [](Scene& s) {
       s.policy.expressions = *Expressions::compile({"worker.price < 2.0", ""});
       s.a().price = 1000;
       s.b().price = 2000;
     },
     "a; b does not pass the worker-filter"
     "; c cannot be judged by the worker-filter: no such key: price"},
    {"only_the_names_that_the_workload_asks_for",
     [](Scene& s) { s.workload.affinity.required_names = {"c", "nowhere"}; },
     "c; a is not among the clusters that the workload asks for"
     "; b is not among the clusters that the workload asks for"},
    {"a_kind_that_is_not_served_is_left_out",
     [](Scene& s) {
       s.a().kinds = {"ray.io/v1 RayJob"};
       s.b().kinds = {"batch/v1 Job"};
     },
     "b c; a does not serve batch/v1 Job"},
    {"a_worker_that_refused_is_not_asked_for_a_while",
     [](Scene& s) { s.workload.refusals["a"] = {"no such namespace", 4min}; },
     "b c +360s; a refused it 4m ago: no such namespace"},
    {"and_then_again", [](Scene& s) { s.workload.refusals["a"] = {"no such namespace", 10min}; },
     "a b c"},
    {"what_can_never_fit_is_left_out",
     [](Scene& s) {
       s.b().queue = queue(0);
       s.workload.pod_sets = {{{"cpu", 16}}};
     },
     "a c; b can never have so much quota"},
    {"stale_facts_leave_nothing_out",
     [](Scene& s) {
       s.b().queue = queue(0);
       s.b().queue_age = 121s;
       s.workload.pod_sets = {{{"cpu", 16}}};
     },
     "a b c"},
    {"must_not_borrow",
     [](Scene& s) {
       s.workload.affinity.limits.may_borrow = false;
       s.a().queue = queue(6);
       s.b().queue = queue(7);
       s.c().queue = queue(12);
     },
     "a c; b has no other room, and the workload must not borrow"},
    {"must_not_preempt",
     [](Scene& s) {
       s.workload.affinity.limits.may_preempt = false;
       s.a().queue = queue(7);
       s.b().queue = queue(15, 4);
       s.c().queue = queue(15);
     },
     "a c; b has no other room, and the workload must not preempt"},
    {"what_is_not_known_is_no_promise",
     [](Scene& s) {
       s.workload.affinity.limits = {false, false};
       s.a().queue = queue(0);
       s.b().queue = queue(0);
       s.b().queue_age = 121s;
     },
     "a; b may have no room of its own, which is not known, and the workload must not borrow or "
     "preempt; c may have no room of its own, which is not known, and the workload must not borrow "
     "or preempt"},
    {"a_queue_that_admits_nothing_is_left_out",
     [](Scene& s) {
       s.b().closed = "has stopped ClusterQueue q";
       s.c().closed = "has stopped ClusterQueue q";
       s.c().queue_age = 121s;
     },
     "a c; b has stopped ClusterQueue q"},
    {"what_is_nominated_stays_when_its_facts_grow_old",
     [](Scene& s) {
       s.workload.affinity.limits.may_borrow = false;
       s.workload.nominated = {"b"};
       s.a().connected = s.c().connected = false;
       s.b().queue = queue(0);
       s.b().queue_age = 121s;
     },
     "b; a is not connected; c is not connected"},
};

const RankCase scorers[] = {
    {"capacity_takes_room_then_borrowing_then_unknown_then_preempting_then_full",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       s.workers.push_back(s.a());
       s.workers.push_back(s.a());
       s.workers[3].name = "d";
       s.workers[4].name = "e";
       s.a().queue = queue(15);
       s.b().queue = queue(15, 4);
       s.workers[3].queue = queue(7);
       s.workers[4].queue = queue(6);
     },
     "e d c b a"},
    {"capacity_counts_what_is_in_flight",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       for (WorkerFacts& worker : s.workers) worker.queue = queue(6);
       s.a().in_flight = {{"cpu", 1}};
     },
     "b c a"},
    {"capacity_does_not_believe_stale_facts",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       for (WorkerFacts& worker : s.workers) worker.queue = queue(15);
       s.b().queue_age = 121s;
     },
     "b a c"},
    {"cost_takes_the_cheapest_and_the_unpriced_last",
     [](Scene& s) {
       s.policy.scorers = {Scorer::cost};
       s.b().price = 30;
       s.c().price = 20;
     },
     "c b a"},
    {"spread_takes_the_emptiest",
     [](Scene& s) {
       s.policy.scorers = {Scorer::spread};
       s.a().workloads = 2;
       s.b().workloads = 1;
     },
     "c b a"},
    {"the_score_of_users_goes_before_the_scorers_and_what_has_none_is_last",
     [](Scene& s) {
       s.policy.scorers = {Scorer::cost};
       s.policy.expressions = *Expressions::compile({"", "int(worker.labels.rank)"});
       s.a().price = 1;
       s.b().labels = s.c().labels = ranked("-7");
       s.c().price = 2;
     },
     "c b a"},
    {"but_not_before_what_the_workload_prefers",
     [](Scene& s) {
       s.policy.expressions = *Expressions::compile({"", "worker.name == 'c' ? 1 : 0"});
       s.workload.affinity.preferred_names = {"b"};
     },
     "b c a"},
    {"locality_takes_the_region_then_the_nearest",
     [](Scene& s) {
       s.policy.scorers = {Scorer::locality};
       s.workload.region = "eu";
       s.a().latency = 1ms;
       s.b().region = s.c().region = "eu";
       s.b().latency = 90ms;
       s.c().latency = 20ms;
     },
     "c b a"},
    {"locality_takes_latencies_that_are_near_each_other_for_equal",
     [](Scene& s) {
       s.policy.scorers = {Scorer::locality};
       s.a().latency = 19ms;
       s.b().latency = 10ms;
       s.c().latency = 9ms;
     },
     "c a b"},
    {"locality_without_a_region_takes_the_nearest",
     [](Scene& s) {
       s.policy.scorers = {Scorer::locality};
       s.b().region = "eu";
       s.b().latency = 20ms;
       s.c().latency = 1ms;
     },
     "c b a"},
    {"wait_takes_the_fewest_that_go_before",
     [](Scene& s) {
       s.policy.scorers = {Scorer::wait};
       s.b().queue = queue_with_pending({{0, 2}});
       s.c().queue = queue_with_pending({{-1, 9}, {5, 1}});
     },
     "c b a"},
    {"wait_then_takes_the_quickest",
     [](Scene& s) {
       s.policy.scorers = {Scorer::wait};
       s.a().admits_after = 30s;
       s.b().admits_after = 9s;
       s.c().admits_after = 3s;
     },
     "c b a"},
    {"a_worker_that_is_not_known_to_be_slow_is_asked_before_one_that_is",
     [](Scene& s) {
       s.policy.scorers = {Scorer::wait};
       s.a().admits_after = 9s;
       s.c().admits_after = 1s;
     },
     "b c a"},
    {"the_next_scorer_decides_ties",
     [](Scene& s) {
       s.policy.scorers = {Scorer::spread, Scorer::cost};
       s.a().workloads = 1;
       s.a().price = 1;
       s.b().price = 3;
       s.c().price = 2;
     },
     "c b a"},
    {"what_the_workload_prefers_goes_before_the_scorers",
     [](Scene& s) {
       s.policy.scorers = {Scorer::cost};
       s.a().price = 1;
       s.workload.affinity.preferred_names = {"c"};
     },
     "c a b"},
};

const RankCase places[] = {
    {"steps_take_the_best_and_the_others_later",
     [](Scene& s) {
       s.policy.scorers = {Scorer::spread};
       s.policy.steps = Steps{1, 5min};
       s.a().workloads = 1;
       s.workload.waited = 10s;
     },
     "b +290s; a comes after those nominated; c comes after those nominated"},
    {"a_worker_without_the_score_of_users_says_why",
     [](Scene& s) {
       s.policy.steps = Steps{1, 5min};
       s.policy.expressions = *Expressions::compile({"", "worker.price"});
       s.b().price = 1;
       s.workload.waited = 10s;
     },
     "b +290s; a has no worker-score: no such key: price"
     "; c has no worker-score: no such key: price"},
    {"each_round_adds_a_step",
     [](Scene& s) {
       s.policy.steps = Steps{1, 5min};
       s.workload.waited = 5min;
     },
     "a b +300s; c comes after those nominated"},
    {"what_is_nominated_stays_when_scores_change",
     [](Scene& s) {
       s.policy.scorers = {Scorer::spread};
       s.policy.steps = Steps{1, 5min};
       s.a().workloads = 1;
       s.workload.nominated = {"a"};
     },
     "a +300s; b comes after those nominated; c comes after those nominated"},
    {"what_is_nominated_keeps_its_order", [](Scene& s) { s.workload.nominated = {"c", "a"}; },
     "c a b"},
    {"what_is_nominated_goes_when_it_is_lost",
     [](Scene& s) {
       s.policy.steps = Steps{1, 5min};
       s.a().connected = false;
       s.workload.nominated = {"a"};
     },
     "b +300s; a is not connected; c comes after those nominated"},
    {"the_next_look_is_the_first_that_may_change_something",
     [](Scene& s) {
       s.policy.steps = Steps{1, 5min};
       s.workload.refusals["c"] = {"busy", 8min};
       s.workload.refusals["a"] = {"busy", 9min};
     },
     "b +60s; a refused it 9m ago: busy; c refused it 8m ago: busy"},
    {"a_worker_that_says_that_it_is_full_leaves_its_place",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       s.policy.steps = Steps{1, 5min};
       s.workload.nominated = {"a"};
       s.a().says_full = true;
       s.b().queue = queue(15);
     },
     "a c +300s; b has no room now"},
    {"but_not_to_one_without_room",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       s.policy.steps = Steps{1, 5min};
       s.workload.nominated = {"a", "c"};
       s.a().says_full = s.c().says_full = true;
       s.b().queue = queue(15);
     },
     "a c +300s; b has no room now"},
    {"and_to_one_only",
     [](Scene& s) {
       s.policy.steps = Steps{1, 5min};
       s.workload.nominated = {"a", "b"};
       s.a().says_full = true;
     },
     "a b +300s; c comes after those nominated"},
    {"why_not_is_told_by_the_room",
     [](Scene& s) {
       s.policy.scorers = {Scorer::capacity};
       s.policy.steps = Steps{1, 5min};
       s.a().queue = queue(0);
       s.b().queue = queue(7);
       s.c().queue = queue(15, 4);
     },
     "a +300s; b would have to borrow; c would have to preempt"},
    {"no_look_again_for_a_refusal_that_is_over",
     [](Scene& s) {
       s.a().connected = false;
       s.workload.refusals["a"] = {"busy", 11min};
     },
     "b c; a is not connected"},
    {"no_look_again_when_nothing_is_left", [](Scene& s) { s.policy.steps = Steps{3, 5min}; },
     "a b c"},
};

const auto case_name = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Filters, RankTable, ::testing::ValuesIn(filters), case_name);
INSTANTIATE_TEST_SUITE_P(Scorers, RankTable, ::testing::ValuesIn(scorers), case_name);
INSTANTIATE_TEST_SUITE_P(Places, RankTable, ::testing::ValuesIn(places), case_name);

Scene many(int count) {
  Scene s = scene();
  s.workers.clear();
  for (int i = 0; i < count; ++i) {
    s.workers.emplace_back();
    s.workers.back().name = "w" + std::to_string(i);
    s.workers.back().connected = true;
  }
  return s;
}

TEST(RankOfMany, StopsAtWhatTheApiAllows) {
  Scene s = many(30);
  for (const std::optional<Steps> steps : {std::optional<Steps>(), {Steps{20, 5min}}}) {
    s.policy.steps = steps;
    const Ranking ranking = rank(s.workload, list(s.workers), s.policy);
    EXPECT_EQ(ranking.clusters.size(), 20U);
    EXPECT_EQ(ranking.left_out.size(), 10U);
    EXPECT_EQ(ranking.left_out.front().why, "has its turn later");
    EXPECT_EQ(ranking.look_again, 10min);
  }
}

TEST(RankOfMany, GivesThoseThatAreNotKnownTheirTurnAndBeginsAgain) {
  Scene s = many(30);
  s.policy.steps = Steps{1, 30s};
  std::set<std::string> first;
  s.workload.waited = 9min + 59s;
  s.workload.nominated = rank(s.workload, list(s.workers), s.policy).clusters;
  first.insert(s.workload.nominated.begin(), s.workload.nominated.end());
  EXPECT_EQ(first.size(), 20U);
  s.workload.waited = 12min;
  const Ranking turn = rank(s.workload, list(s.workers), s.policy);
  EXPECT_EQ(turn.clusters.size(), 5U) << "the steps begin anew";
  EXPECT_EQ(turn.look_again, 30s);
  for (const std::string& name : turn.clusters) EXPECT_FALSE(first.contains(name)) << name;
  s.workload.nominated = turn.clusters;
  s.workload.waited = 20min;
  const Ranking again = rank(s.workload, list(s.workers), s.policy);
  ASSERT_EQ(again.clusters.size(), 1U);
  EXPECT_TRUE(first.contains(again.clusters.front()));
}

TEST(RankOfMany, EachWorkloadAsksOthersFirstOfThoseThatAreNotKnown) {
  Scene s = many(100);
  std::set<std::string> asked;
  for (int i = 0; i < 50; ++i) {
    s.workload.key = api::ObjectKey("default", std::to_string(i));
    const auto clusters = rank(s.workload, list(s.workers), s.policy).clusters;
    asked.insert(clusters.begin(), clusters.end());
  }
  EXPECT_EQ(asked.size(), 100U);
}

TEST(RankOfMany, ComparesAllThatAreKnown) {
  Scene s = many(1000);
  s.policy = *policy_of(Dispatcher::capacity);
  for (WorkerFacts& worker : s.workers) worker.queue = queue(15);
  s.workers[731].queue = queue(7);
  s.workers[914].queue = queue(0);
  const Ranking ranking = rank(s.workload, list(s.workers), s.policy);
  EXPECT_EQ(ranking.clusters, (std::vector<std::string>{"w914"}));
  EXPECT_EQ(ranking.look_again, 30s);
  EXPECT_EQ(ranking.left_out.size(), 999U);
  EXPECT_EQ(ranking.left_out.front().cluster, "w0");
  EXPECT_EQ(ranking.left_out.front().why, "has no room now");
  EXPECT_EQ(ranking.left_out[731].why, "would have to borrow");
}

TEST(RankOfMany, OneThatSaysThatItIsFullGivesTheLastPlaceToOneWithRoom) {
  Scene s = many(30);
  s.policy = *policy_of(Dispatcher::capacity);
  s.workload.waited = 1h;
  for (WorkerFacts& worker : s.workers) worker.queue = queue(15);
  for (int i = 0; i < 20; ++i) s.workload.nominated.push_back(s.workers[std::size_t(i)].name);
  EXPECT_EQ(rank(s.workload, list(s.workers), s.policy).clusters, s.workload.nominated);
  s.workers[25].queue = queue(0);
  EXPECT_EQ(rank(s.workload, list(s.workers), s.policy).clusters, s.workload.nominated)
      << "none says that it is full";
  s.workers[3].says_full = s.workers[7].says_full = true;
  std::vector<std::string> wanted = s.workload.nominated;
  std::erase(wanted, "w7");
  wanted.push_back("w25");
  EXPECT_EQ(rank(s.workload, list(s.workers), s.policy).clusters, wanted);
  s.workers[7].queue = queue(0);
  wanted = s.workload.nominated;
  std::erase(wanted, "w3");
  wanted.push_back("w25");
  EXPECT_EQ(rank(s.workload, list(s.workers), s.policy).clusters, wanted) << "w7 has room by now";
}

TEST(RankOfMany, LeavesTwentyWhereTheyAre) {
  Scene s = many(20);
  s.workload.waited = 48h;
  const Ranking ranking = rank(s.workload, list(s.workers), s.policy);
  EXPECT_EQ(ranking.clusters.size(), 20U);
  EXPECT_FALSE(ranking.look_again);
}

/// Whatever else there is, what stands is what all workers compared would give.
TEST(Unchanged, IsWhatAComparisonOfAllGives) {
  Rng rng(7);
  int stood = 0;
  for (int round = 0; round < 3000; ++round) {
    const int count = int(rng.between(1, 60));
    Scene s = many(count);
    const std::array kinds{Dispatcher::capacity, Dispatcher::cost, Dispatcher::spread,
                           Dispatcher::locality};
    s.policy = *policy_of(kinds[std::size_t(rng.between(0, 3))]);
    s.workload.waited = Duration(rng.between(0, 15 * 60 * 1000));
    for (WorkerFacts& worker : s.workers) {
      worker.connected = !rng.chance(0.03);
      worker.says_full = rng.chance(0.03);
      if (!rng.chance(0.03)) worker.queue = queue(rng.between(0, 15));
      worker.workloads = int(rng.between(0, 5));
    }
    const auto places = std::min<std::int64_t>(20, s.workload.waited / Duration(30s) + 1);
    const std::int64_t most = std::min<std::int64_t>({20, count, places + 2});
    const std::int64_t wanted = rng.between(std::min(places / 2, most), most);
    std::vector<WorkerFacts> nominated;
    for (std::int64_t i = 0; i < wanted; ++i) {
      nominated.push_back(s.workers[std::size_t(count - 1 - i)]);
      s.workload.nominated.push_back(nominated.back().name);
    }
    const auto stands = unchanged(s.workload, list(nominated), s.policy);
    if (!stands) continue;
    ++stood;
    const Ranking all = rank(s.workload, list(s.workers), s.policy);
    ASSERT_EQ(all.clusters, s.workload.nominated) << "round " << round;
    if (all.look_again) {
      EXPECT_EQ(stands->look_again, all.look_again);
    }
  }
  EXPECT_GT(stood, 200);
}

TEST(Unchanged, EndsWhenAnotherWorkerMayHaveThePlace) {
  Scene s = scene();
  s.policy = *policy_of(Dispatcher::capacity);
  s.workload.nominated = {"a"};
  s.a().queue = queue(15);
  const auto stands = [&] { return unchanged(s.workload, {&s.a()}, s.policy).has_value(); };
  EXPECT_TRUE(stands());
  s.a().says_full = true;
  EXPECT_FALSE(stands());
  s.a().says_full = false;
  s.workload.waited = 30s;
  EXPECT_FALSE(stands()) << "a second one is asked";
  s.workload.waited = 29s;
  s.a().connected = false;
  EXPECT_FALSE(stands());
  s.a().connected = true;
  s.a().queue.reset();
  EXPECT_FALSE(stands()) << "its turn may be over";
  s.workload.nominated.clear();
  EXPECT_FALSE(unchanged(s.workload, {}, s.policy));
}

TEST(PolicyOf, OnlyOurDispatchersCompare) {
  for (const auto kind : {Dispatcher::all_at_once, Dispatcher::incremental, Dispatcher::external}) {
    EXPECT_FALSE(policy_of(kind));
  }
  for (const auto kind :
       {Dispatcher::capacity, Dispatcher::cost, Dispatcher::spread, Dispatcher::locality}) {
    ASSERT_TRUE(policy_of(kind));
    EXPECT_EQ(policy_of(kind)->steps->size, 1);
  }
}

/// Two workers with room, and one that is full and better in all else.
TEST(PolicyOf, DecidesByRoomBeforeAllButTheRegion) {
  Scene s = scene();
  s.workload.region = "eu";
  for (WorkerFacts& worker : s.workers) worker.queue = queue(0);
  s.a().queue = queue(15);
  s.a().price = s.a().workloads = 0;
  s.a().region = "eu";
  s.b().price = 2;
  s.b().workloads = 2;
  s.c().price = 1;
  s.c().workloads = 3;
  s.c().queue = queue_with_pending({{0, 1}});
  const auto first = [&](Dispatcher kind) {
    return rank(s.workload, list(s.workers), *policy_of(kind)).clusters.front();
  };
  EXPECT_EQ(first(Dispatcher::capacity), "b");
  EXPECT_EQ(first(Dispatcher::cost), "c");
  EXPECT_EQ(first(Dispatcher::spread), "b");
  EXPECT_EQ(first(Dispatcher::locality), "a");
}

}  // namespace
}  // namespace regatta::placement
