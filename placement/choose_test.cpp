#include "placement/choose.h"

#include "lib/base/joined.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using namespace std::chrono_literals;

const TimePoint round_start{};

/// Every cluster of the decision is listed and connected.
ChooseInput given(std::vector<std::string> decided, std::vector<std::string> nominated = {}) {
  ChooseInput out;
  out.listed.insert(decided.begin(), decided.end());
  out.connected = out.listed;
  out.decided = std::move(decided);
  out.nominated = std::move(nominated);
  return out;
}

ChooseInput with(ChooseInput input, auto change) {
  change(input);
  return input;
}

std::vector<std::string> numbered(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back("w" + std::to_string(100 + i));
  return out;
}

std::string described(const Chosen& chosen) {
  std::string out = joined(chosen.clusters, " ");
  for (const std::string& name : chosen.waits_for) out += " waits for " + name;
  if (chosen.look_again) out += " +" + std::to_string(chosen.look_again->count() / 1000) + "s";
  for (const std::string& why : chosen.why_not) out += "; " + why;
  return out;
}

struct ChooseCase {
  const char* name;
  ChooseInput given;
  Duration after;
  const char* want;
  friend void PrintTo(const ChooseCase& c, std::ostream* out) { *out << c.name; }
};

class Choose : public ::testing::TestWithParam<ChooseCase> {};

TEST_P(Choose, NominatesWhatThePlacementDecided) {
  ChooseConfig config;
  config.at_once = 2;
  config.round = 60s;
  EXPECT_EQ(described(choose(GetParam().given, round_start + GetParam().after, config)),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Placement, Choose,
    ::testing::Values(
        ChooseCase{"all_in_order", given({"w2", "w1"}), 0s, "w2 w1"},
        ChooseCase{"what_is_not_in_the_config_is_left_out",
                   with(given({"w2", "w1"}), [](auto& in) { in.listed.erase("w2"); }), 0s,
                   "w1; w2 is not in the MultiKueueConfig"},
        ChooseCase{"what_is_not_connected_is_left_out",
                   with(given({"w2", "w1"}), [](auto& in) { in.connected.erase("w2"); }), 0s,
                   "w1; w2 is not connected"},
        ChooseCase{"what_lost_its_connection_stays",
                   with(given({"w2", "w1"}, {"w2"}), [](auto& in) { in.connected.erase("w2"); }),
                   0s, "w2 w1"},
        ChooseCase{"a_flip_is_followed", given({"w3"}, {"w1", "w2"}), 0s, "w3"},
        ChooseCase{"a_flip_to_what_is_full_waits",
                   with(given({"w3"}, {"w1"}), [](auto& in) { in.full = {"w3"}; }), 0s,
                   "w1 waits for w3; w3 has enough workloads on their way to it"},
        ChooseCase{"a_full_cluster_gets_nothing_new",
                   with(given({"w3"}), [](auto& in) { in.full = {"w3"}; }), 0s,
                   " waits for w3; w3 has enough workloads on their way to it"},
        ChooseCase{"of_two_the_one_with_room",
                   with(given({"w3", "w1"}), [](auto& in) { in.full = {"w3"}; }), 0s,
                   "w1 waits for w3; w3 has enough workloads on their way to it"},
        ChooseCase{"who_is_nominated_for_it_already_stays",
                   with(given({"w3"}, {"w3"}), [](auto& in) { in.full = {"w3"}; }), 0s, "w3"},
        ChooseCase{"nothing_usable_leaves_what_there_is",
                   with(given({"w3"}, {"w1"}), [](auto& in) { in.connected.clear(); }), 0s,
                   "w1; w3 is not connected"},
        ChooseCase{"more_than_fit_begin_with_the_best", given({"a", "b", "c", "d", "e"}), 0s,
                   "a b +60s"},
        ChooseCase{"the_next_ones_follow", given({"a", "b", "c", "d", "e"}, {"a", "b"}), 70s,
                   "c d +50s"},
        ChooseCase{"the_last_page_may_be_short", given({"a", "b", "c", "d", "e"}, {"c", "d"}), 120s,
                   "e +60s"},
        ChooseCase{"after_the_last_come_the_first", given({"a", "b", "c", "d", "e"}, {"e"}), 180s,
                   "a b +60s"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Choose, NominatesNoMoreThanTheApiAllows) {
  ChooseConfig config;
  config.at_once = 1000;
  const Chosen first = choose(given(numbered(45)), round_start, config);
  EXPECT_EQ(first.clusters.size(), 20U);
  EXPECT_EQ(first.clusters.front(), "w100");
  const Chosen third = choose(given(numbered(45)), round_start + 2 * config.round, config);
  EXPECT_EQ(third.clusters.size(), 5U);
  EXPECT_EQ(third.clusters.front(), "w140");
}

TEST(Choose, RotatesNothingWhenAllFit) {
  const Chosen late = choose(given(numbered(20)), round_start + 48h, {});
  EXPECT_EQ(late.clusters.size(), 20U);
  EXPECT_FALSE(late.look_again);
}

TEST(MembersNamed, FollowAnnotationsThenProfilesThenNames) {
  const std::vector<Member> members = {
      {"a", "prod-eu", ""}, {"b", "", "prod-us"}, {"prod-eu", "elsewhere", ""}, {"c", "", ""}};
  std::vector<std::string> unknown;
  EXPECT_EQ(joined(members_named({"prod-us", "prod-eu", "c", "d", "a", "c"}, members, &unknown)),
            "b, a, c");
  EXPECT_EQ(joined(unknown), "d, a");
}

}  // namespace
}  // namespace regatta::placement
