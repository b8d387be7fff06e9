#include "placement/nominate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::placement {
namespace {

using namespace std::chrono_literals;

const TimePoint start{};

/// Of a config that lists d, a, c and b, in that order.
NominationInput with(const std::set<std::string>& connected,
                     std::vector<std::string> nominated = {}) {
  auto able = std::make_shared<std::vector<std::string>>();
  for (const char* name : {"d", "a", "c", "b"}) {
    if (connected.contains(name)) able->emplace_back(name);
  }
  return {std::move(able), 4, std::move(nominated), start};
}

const std::set<std::string> all_four{"a", "b", "c", "d"};

struct Case {
  const char* name;
  Dispatcher dispatcher;
  NominationInput given;
  Duration after;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

std::string describe(const Nomination& nomination) {
  std::string out;
  for (const std::string& name : nomination.clusters) out += (out.empty() ? "" : " ") + name;
  if (nomination.look_again) {
    out += " +" + std::to_string(nomination.look_again->count() / 1000) + "s";
  }
  return out;
}

class Nominate : public ::testing::TestWithParam<Case> {};

TEST_P(Nominate, ListsTheClustersThatMayTry) {
  const Case& c = GetParam();
  NominationConfig config;
  config.dispatcher = c.dispatcher;
  config.step_size = 2;
  EXPECT_EQ(describe(nominate(c.given, start + c.after, config)), c.want);
}

TEST(Incremental, MayGoByNameInstead) {
  NominationConfig config;
  config.dispatcher = Dispatcher::incremental;
  config.step_size = 2;
  config.by_name = true;
  const NominationInput given = with({"b", "c", "d"});
  EXPECT_EQ(describe(nominate(given, start, config)), "b c +300s");
}

NominationInput fifty(const std::string& uid) {
  NominationInput input;
  input.uid = uid;
  input.quota_reserved_at = start;
  auto able = std::make_shared<std::vector<std::string>>();
  for (int i = 10; i < 60; ++i) able->push_back("worker-" + std::to_string(i));
  input.listed = able->size();
  input.able = std::move(able);
  return input;
}

std::set<std::string> asked_by(const Nomination& nomination) {
  return {nomination.clusters.begin(), nomination.clusters.end()};
}

TEST(AllAtOnce, MoreThanCanBeNominatedTakeTurnsOfTenMinutes) {
  const NominationConfig config;
  const NominationInput given = fifty("a");
  std::set<std::string> all;
  for (const Duration waited : {Duration(0), Duration(10min), Duration(20min)}) {
    const Nomination turn = nominate(given, start + waited, config);
    EXPECT_LE(turn.clusters.size(), nominated_max);
    EXPECT_TRUE(std::is_sorted(turn.clusters.begin(), turn.clusters.end()));
    EXPECT_EQ(turn.look_again, Duration(10min));
    EXPECT_EQ(nominate(given, start + waited + 9min, config).clusters, turn.clusters);
    all.merge(asked_by(turn));
  }
  EXPECT_EQ(all, std::set<std::string>(given.able->begin(), given.able->end()));
  EXPECT_EQ(nominate(given, start + 30min, config).clusters,
            nominate(given, start, config).clusters);
}

TEST(AllAtOnce, EachWorkloadAsksOthersFirst) {
  const NominationConfig config;
  std::map<std::string, int> times;
  for (int i = 0; i < 100; ++i) {
    for (const auto& name : nominate(fifty(std::to_string(i)), start, config).clusters) {
      ++times[name];
    }
  }
  EXPECT_EQ(times.size(), 50u);
  for (const auto& [name, count] : times) EXPECT_NEAR(count, 40, 20) << name;
}

TEST(Incremental, TheNextTwentyHaveTheirRoundsAfterTheFirst) {
  NominationConfig config;
  config.dispatcher = Dispatcher::incremental;
  config.step_size = 8;
  NominationInput given = fifty("a");
  const auto first_at = [&](Duration waited) {
    const Nomination round = nominate(given, start + waited, config);
    given.nominated = round.clusters;
    return std::to_string(round.clusters.size()) + " from " + round.clusters.front();
  };
  EXPECT_EQ(first_at(0s), "8 from worker-10");
  EXPECT_EQ(first_at(5min), "16 from worker-10");
  EXPECT_EQ(first_at(10min), "20 from worker-10");
  EXPECT_EQ(first_at(15min), "8 from worker-30");
  EXPECT_EQ(first_at(30min), "8 from worker-50");
  EXPECT_EQ(first_at(40min), "10 from worker-50");
  EXPECT_EQ(first_at(45min), "8 from worker-10");
}

INSTANTIATE_TEST_SUITE_P(
    , Nominate,
    ::testing::Values(Case{"all_at_once_takes_the_connected_ones_sorted", Dispatcher::all_at_once,
                           with({"d", "b"}), 0s, "b d"},
                      Case{"all_at_once_drops_one_that_was_lost", Dispatcher::all_at_once,
                           with({"b"}, {"b", "d"}), 0s, "b"},
                      Case{"incremental_starts_with_one_step_in_config_order",
                           Dispatcher::incremental, with(all_four), 0s, "d a +300s"},
                      Case{"incremental_waits_for_its_round", Dispatcher::incremental,
                           with(all_four, {"d", "a"}), 299s, "d a +1s"},
                      Case{"incremental_adds_a_step_each_round_and_keeps_the_earlier_ones",
                           Dispatcher::incremental, with(all_four, {"d", "a"}), 300s, "d a c b"},
                      Case{"incremental_catches_up_after_a_restart", Dispatcher::incremental,
                           with(all_four), 301s, "d a c b"},
                      Case{"incremental_gives_the_place_of_an_absent_cluster_to_the_next",
                           Dispatcher::incremental, with({"a", "b", "c"}), 0s, "a c +300s"},
                      Case{"incremental_gives_the_place_of_a_lost_cluster_to_the_next_at_once",
                           Dispatcher::incremental, with({"a", "b", "c"}, {"d", "a"}), 10s,
                           "a c +290s"},
                      Case{"external_leaves_the_list_to_its_writer", Dispatcher::external,
                           with(all_four, {"c"}), 900s, "c"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DispatcherName, AnythingUnknownIsExternal) {
  EXPECT_EQ(dispatcher_of(""), Dispatcher::all_at_once);
  EXPECT_EQ(dispatcher_of("kueue.x-k8s.io/multikueue-dispatcher-all-at-once"),
            Dispatcher::all_at_once);
  EXPECT_EQ(dispatcher_of("kueue.x-k8s.io/multikueue-dispatcher-incremental"),
            Dispatcher::incremental);
  EXPECT_EQ(dispatcher_of("ocm.example/placement"), Dispatcher::external);
  EXPECT_EQ(dispatcher_of("multikueue.regatta.dev/placement"), Dispatcher::external);
  EXPECT_EQ(dispatcher_of("multikueue.regatta.dev/capacity"), Dispatcher::capacity);
  EXPECT_EQ(dispatcher_of("multikueue.regatta.dev/cost"), Dispatcher::cost);
  EXPECT_EQ(dispatcher_of("multikueue.regatta.dev/spread"), Dispatcher::spread);
  EXPECT_EQ(dispatcher_of("multikueue.regatta.dev/locality"), Dispatcher::locality);
}

TEST(DispatcherName, InOurDomainIsKnownOrMisspelled) {
  EXPECT_TRUE(is_misspelled("multikueue.regatta.dev/capcity"));
  EXPECT_FALSE(is_misspelled("multikueue.regatta.dev/capacity"));
  EXPECT_FALSE(is_misspelled("multikueue.regatta.dev/placement"));
  EXPECT_FALSE(is_misspelled("example.com/mine"));
  EXPECT_FALSE(is_misspelled(""));
}

}  // namespace
}  // namespace regatta::placement
