#include "dispatch/head_start.h"

#include <gtest/gtest.h>

namespace regatta::dispatch {
namespace {

using std::chrono::milliseconds;

constexpr Duration least{100};

class HeadStart : public ::testing::Test {
 protected:
  /// One workload after the other, each first on the same worker.
  struct Race {
    api::ObjectKey key;
    SteadyPoint began;
  };

  Race begin(const std::string& cluster = "a") {
    now_ += std::chrono::seconds(10);
    Race race{api::ObjectKey("ns", std::to_string(++races_)), now_};
    starts_.begin(race.key, cluster, now_);
    return race;
  }

  /// The view so long after the beginning of the race.
  LocalView look(const Race& race, Duration after, bool said, const std::string& cluster = "a") {
    GroupView group;
    RemoteCopy copy;
    copy.waiting = said;
    group.clusters[cluster].copy = copy;
    starts_.add_to(&group, race.key, wall_ + after, race.began + after);
    return group.local;
  }

  Duration after_answers_of(Duration took, int times = 20) {
    for (int i = 0; i < times; ++i) look(begin(), took, true);
    return *look(begin(), Duration(0), false).head_start;
  }

  /// Whether `a` is, for a workload that does not race yet.
  bool passed_over(Duration later = Duration(0)) {
    GroupView group;
    group.clusters["a"];
    starts_.add_to(&group, api::ObjectKey("ns", "another"), wall_, now_ + later);
    return group.clusters["a"].passed_over;
  }

  HeadStarts starts_{least};
  SteadyPoint now_{};
  TimePoint wall_ = TimePoint(std::chrono::hours(500000));
  int races_ = 0;
};

TEST_F(HeadStart, AWorkerThatIsNotKnownHasTheLeast) {
  const Race race = begin();
  const LocalView view = look(race, Duration(30), false);
  EXPECT_EQ(view.racing_since, wall_);
  EXPECT_EQ(view.head_start, least);
}

TEST_F(HeadStart, NothingIsSaidOfAWorkloadThatDoesNotRace) {
  Race race = begin();
  starts_.end(race.key);
  EXPECT_FALSE(look(race, Duration(30), false).racing_since);
}

TEST_F(HeadStart, AFastWorkerHasTheLeast) {
  EXPECT_EQ(after_answers_of(Duration(10)), least);
}

TEST_F(HeadStart, ASlowWorkerHasTheTimeThatItTakes) {
  const Duration given = after_answers_of(Duration(300));
  EXPECT_GE(given, Duration(300));
  EXPECT_LT(given, Duration(450));
}

TEST_F(HeadStart, AVeryFirstAnswerCounts) {
  EXPECT_EQ(after_answers_of(Duration(200), 1), Duration(200 + 4 * 100));
}

TEST_F(HeadStart, EachAnswerMovesItByAnEighth) {
  look(begin(), Duration(200), true);
  // 7/8 of 200 and 1/8 of 280; four times 3/4 of 100 and 1/4 of 80, which 280 is off.
  EXPECT_EQ(after_answers_of(Duration(280), 1), Duration(210 + 4 * 95));
}

TEST_F(HeadStart, OneVeryLateAnswerIsForgottenSoon) {
  look(begin(), std::chrono::minutes(5), true);
  EXPECT_LT(after_answers_of(Duration(100)), Duration(700));
}

TEST_F(HeadStart, NoneHasMoreThanTenTimesTheLeast) {
  EXPECT_EQ(after_answers_of(std::chrono::minutes(5)), 10 * least);
}

TEST_F(HeadStart, TimesThatVaryGiveMore) {
  for (int i = 0; i < 40; ++i) look(begin(), Duration(i % 2 ? 50 : 350), true);
  EXPECT_GT(*look(begin(), Duration(0), false).head_start, Duration(350));
}

TEST_F(HeadStart, OnlyTheFirstWordOfAWorkerCounts) {
  const Race race = begin();
  look(race, Duration(10), true);
  look(race, Duration(900), true);
  EXPECT_EQ(look(begin(), Duration(0), false).head_start, least);
}

TEST_F(HeadStart, AnAdmissionOrAnEndIsAWordToo) {
  RemoteCopy admitted, finished;
  admitted.admitted_at = wall_;
  finished.finished = Finish{};
  for (const RemoteCopy& copy : {admitted, finished}) {
    HeadStarts fresh{least};
    const api::ObjectKey first("ns", "first"), next("ns", "next");
    GroupView group;
    group.clusters["a"].copy = copy;
    fresh.begin(first, "a", now_);
    fresh.add_to(&group, first, wall_, now_ + Duration(200));
    fresh.begin(next, "a", now_);
    GroupView then;
    fresh.add_to(&then, next, wall_, now_);
    EXPECT_EQ(then.local.head_start, Duration(600));
  }
}

TEST_F(HeadStart, EachWorkerHasItsOwn) {
  after_answers_of(Duration(300));
  EXPECT_EQ(look(begin("b"), Duration(0), false, "b").head_start, least);
}

TEST_F(HeadStart, AWorkerThatSaysNothingThreeTimesBeginsAnew) {
  const Duration given = after_answers_of(Duration(300));
  for (int i = 0; i < 2; ++i) {
    const Race race = begin();
    look(race, given - milliseconds(1), false);
    look(race, given, false);
    look(race, given + milliseconds(50), false);
    EXPECT_EQ(look(begin(), Duration(0), false).head_start, given) << i;
  }
  look(begin(), given, false);
  EXPECT_EQ(look(begin(), Duration(0), false).head_start, least);
}

TEST_F(HeadStart, AWorkerThatSaysNothingThreeTimesIsPassedOverForAMinute) {
  for (int i = 0; i < 2; ++i) look(begin(), least, false);
  EXPECT_FALSE(passed_over(least));
  look(begin(), least, false);
  EXPECT_TRUE(passed_over(least));
  EXPECT_TRUE(passed_over(std::chrono::seconds(59)));
  EXPECT_FALSE(passed_over(std::chrono::seconds(61)));
  now_ += std::chrono::minutes(2);
  look(begin(), least, false);
  EXPECT_TRUE(passed_over(least)) << "one time is enough now";
  look(begin(), Duration(50), true);
  EXPECT_FALSE(passed_over(least));
}

TEST_F(HeadStart, AnAnswerIsWaitedForAsLongAsItTakesMostly) {
  EXPECT_EQ(starts_.patience("a"), 10 * least) << "it is not known";
  for (int i = 0; i < 20; ++i) starts_.answered("a", true, Duration(10), now_);
  EXPECT_EQ(starts_.patience("a"), least);
  for (int i = 0; i < 20; ++i) starts_.answered("a", true, Duration(300), now_);
  EXPECT_GT(starts_.patience("a"), Duration(300));
  EXPECT_LT(starts_.patience("a"), Duration(600));
}

TEST_F(HeadStart, AWorkerThatDoesNotAnswerOrRefusesIsPassedOver) {
  starts_.answered("a", true, Duration(10), now_);
  const api::ObjectKey key("ns", "first");
  for (int i = 0; i < 5; ++i) starts_.give_up(key, "a", now_ - least, now_);
  EXPECT_FALSE(passed_over()) << "it is one race";
  starts_.answered("a", false, Duration(10), now_);
  EXPECT_FALSE(passed_over());
  starts_.answered("a", true, 10 * least, now_);
  EXPECT_TRUE(passed_over()) << "too late is no answer";
  EXPECT_EQ(starts_.patience("a"), least);
  GroupView group;
  starts_.add_to(&group, key, wall_, now_);
  EXPECT_EQ(group.local.racing_since, wall_ - least) << "the others get their copies at once";
  EXPECT_EQ(group.local.head_start, least);
  starts_.answered("a", true, Duration(10), now_);
  EXPECT_FALSE(passed_over());
}

TEST_F(HeadStart, AWordInBetweenKeepsIt) {
  after_answers_of(Duration(300));
  for (int i = 0; i < 6; ++i) {
    const Duration given = *look(begin(), Duration(0), false).head_start;
    look(begin(), given, false);
    look(begin(), Duration(300), true);
  }
  const Duration kept = *look(begin(), Duration(0), false).head_start;
  EXPECT_GE(kept, Duration(300));
  EXPECT_LT(kept, Duration(450));
}

TEST_F(HeadStart, BeginsOnce) {
  const Race race = begin();
  starts_.begin(race.key, "b", race.began + Duration(50));
  EXPECT_EQ(look(race, Duration(60), false).racing_since, wall_);
}

}  // namespace
}  // namespace regatta::dispatch
