#include "placement/room.h"

#include <gtest/gtest.h>

#include <limits>

namespace regatta::placement {
namespace {

struct RoomCase {
  const char* name;
  QuotaFacts quota;  ///< of cpu in the only flavor
  std::vector<Amounts> pod_sets;
  RoomKind want;
  Amounts ahead = {};
  RoomLimits limits = {};
  friend void PrintTo(const RoomCase& c, std::ostream* out) { *out << c.name; }
};

QueueFacts queue_of(const QuotaFacts& quota) {
  return {{{{"default", {{"cpu", quota}}}}}, {}};
}

class RoomIn : public ::testing::TestWithParam<RoomCase> {};

TEST_P(RoomIn, IsEstimated) {
  const RoomCase& c = GetParam();
  EXPECT_EQ(room_in(queue_of(c.quota), c.pod_sets, 10, c.ahead, c.limits), c.want);
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
// nominal 10, of which 6 are used; 5 may be borrowed; 15 are the most that it can ever use.
const QuotaFacts six_of_ten{10, 5, 15, 6, {}};

INSTANTIATE_TEST_SUITE_P(
    , RoomIn,
    ::testing::Values(
        RoomCase{"free_up_to_the_nominal_quota", six_of_ten, {{{"cpu", 4}}}, RoomKind::free},
        RoomCase{"borrows_above_it", six_of_ten, {{{"cpu", 5}}}, RoomKind::borrows},
        RoomCase{"borrows_up_to_what_is_lent", six_of_ten, {{{"cpu", 9}}}, RoomKind::borrows},
        RoomCase{"full_above_that", six_of_ten, {{{"cpu", 10}}}, RoomKind::full},
        RoomCase{"never_above_the_most", six_of_ten, {{{"cpu", 16}}}, RoomKind::never},
        RoomCase{"full_while_the_most_is_not_known",
                 {10, 5, {}, 6, {}},
                 {{{"cpu", 16}}},
                 RoomKind::full},
        RoomCase{"preempts_what_has_lower_priority",
                 {10, 0, 10, 9, {{9, 3}}},
                 {{{"cpu", 4}}},
                 RoomKind::preempts},
        RoomCase{"never_preempts_what_has_the_same_priority",
                 {10, 0, 10, 9, {{10, 3}}},
                 {{{"cpu", 4}}},
                 RoomKind::full},
        RoomCase{"pod_sets_add_up", six_of_ten, {{{"cpu", 3}}, {{"cpu", 2}}}, RoomKind::borrows},
        RoomCase{"what_is_on_its_way_counts",
                 six_of_ten,
                 {{{"cpu", 3}}},
                 RoomKind::borrows,
                 {{"cpu", 2}}},
        RoomCase{"without_borrowing_it_is_full",
                 six_of_ten,
                 {{{"cpu", 5}}},
                 RoomKind::full,
                 {},
                 {.may_borrow = false}},
        RoomCase{"without_borrowing_it_preempts_within_the_nominal_quota",
                 {10, 5, 15, 9, {{1, 4}}},
                 {{{"cpu", 5}}},
                 RoomKind::preempts,
                 {},
                 {.may_borrow = false}},
        RoomCase{"without_borrowing_it_preempts_no_more_than_that",
                 {10, 5, 15, 9, {{1, 3}}},
                 {{{"cpu", 5}}},
                 RoomKind::full,
                 {},
                 {.may_borrow = false}},
        RoomCase{"without_borrowing_never_above_the_nominal_quota",
                 six_of_ten,
                 {{{"cpu", 11}}},
                 RoomKind::never,
                 {},
                 {.may_borrow = false}},
        RoomCase{"without_preempting_it_is_full",
                 {10, 0, 10, 9, {{9, 3}}},
                 {{{"cpu", 4}}},
                 RoomKind::full,
                 {},
                 {.may_preempt = false}},
        RoomCase{"never_for_a_resource_without_quota",
                 six_of_ten,
                 {{{"nvidia.com/gpu", 1}}},
                 RoomKind::never},
        RoomCase{"free_for_nothing_of_it", six_of_ten, {{{"nvidia.com/gpu", 0}}}, RoomKind::free},
        RoomCase{"sums_end_at_the_largest_number",
                 {10, huge, huge, huge, {{1, huge}, {2, huge}}},
                 {{{"cpu", huge}}},
                 RoomKind::borrows}),
    [](const auto& info) { return std::string(info.param.name); });

/// Two flavors of cpu with 4 of each, and one of gpu with 2.
QueueFacts two_flavors(std::int64_t used) {
  const QuotaFacts cpu{4, 0, 4, used, {}};
  return {{{{"spot", {{"cpu", cpu}}}, {"reserved", {{"cpu", {4, 0, 4, 0, {}}}}}},
           {{"a100", {{"nvidia.com/gpu", {2, 0, 2, 0, {}}}}}}},
          {}};
}

TEST(RoomInFlavors, TheBestFlavorCounts) {
  EXPECT_EQ(room_in(two_flavors(3), {{{"cpu", 4}}}, 0, {}, {}), RoomKind::free);
  EXPECT_EQ(room_in(two_flavors(3), {{{"cpu", 5}}}, 0, {}, {}), RoomKind::never);
}

TEST(RoomInFlavors, EachPodSetMayHaveItsOwn) {
  EXPECT_EQ(room_in(two_flavors(0), {{{"cpu", 4}}, {{"cpu", 4}}}, 0, {}, {}), RoomKind::free);
  EXPECT_EQ(room_in(two_flavors(1), {{{"cpu", 4}}, {{"cpu", 4}}}, 0, {}, {}), RoomKind::full);
}

TEST(RoomInFlavors, WhatIsOnItsWayFillsOneAfterTheOther) {
  EXPECT_EQ(room_in(two_flavors(0), {{{"cpu", 3}}}, 0, {{"cpu", 5}}, {}), RoomKind::free);
  EXPECT_EQ(room_in(two_flavors(0), {{{"cpu", 3}}}, 0, {{"cpu", 6}}, {}), RoomKind::full);
}

TEST(RoomInFlavors, WhatIsOnItsWayLeavesOutAFlavorThatIsOverItsQuota) {
  EXPECT_EQ(room_in(two_flavors(3), {{{"cpu", 4}}}, 0, {{"cpu", 4}}, {}), RoomKind::full);
  EXPECT_EQ(room_in(two_flavors(6), {{{"cpu", 2}}}, 0, {{"cpu", 2}}, {}), RoomKind::free);
}

TEST(RoomInFlavors, WhatIsOnItsWayPreemptsFirst) {
  const QueueFacts queue = queue_of({10, 0, 10, 10, {{-1, 10}}});
  EXPECT_EQ(room_in(queue, {{{"cpu", 4}}}, 0, {{"cpu", 6}}, {}), RoomKind::preempts);
  EXPECT_EQ(room_in(queue, {{{"cpu", 4}}}, 0, {{"cpu", 7}}, {}), RoomKind::full);
}

TEST(RoomInFlavors, EveryResourceGroupMustHaveRoom) {
  EXPECT_EQ(room_in(two_flavors(0), {{{"cpu", 1}, {"nvidia.com/gpu", 2}}}, 0, {}, {}),
            RoomKind::free);
  EXPECT_EQ(room_in(two_flavors(0), {{{"cpu", 1}, {"nvidia.com/gpu", 2}}}, 0,
                    {{"nvidia.com/gpu", 1}}, {}),
            RoomKind::full);
}

}  // namespace
}  // namespace regatta::placement
