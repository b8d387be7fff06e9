#include "lifecycle/pods_ready.h"

#include "lib/api/names.h"
#include "lib/api/pods_ready.h"

#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

using namespace std::chrono_literals;
using api::PodsReadiness;

constexpr TimePoint start{1'800'000'000s};

api::Workload admitted_at(TimePoint at) {
  api::Workload w;
  api::set_condition(
      &w.status.conditions,
      {std::string(api::conditions::admitted), api::ConditionStatus::True, 0, {}, "Admitted", "m"},
      at);
  return w;
}

std::string text(const api::Workload& w) {
  const auto* c = api::find_condition(w.status.conditions, api::conditions::pods_ready);
  if (!c) return "";
  return (c->status == api::ConditionStatus::True ? "True " : "False ") + c->reason;
}

bool set_ready(api::Workload* w, PodsReadiness readiness, TimePoint at) {
  return api::set_pods_ready(&w->status, w->metadata.generation, readiness, at);
}

struct Step {
  bool ready;
  const char* want;
};
struct Story {
  const char* name;
  std::vector<Step> steps;
};
class Readiness : public testing::TestWithParam<Story> {};

TEST_P(Readiness, Follows) {
  api::Workload w = admitted_at(start);
  for (const Step& step : GetParam().steps) {
    set_ready(&w, api::next_readiness(w, step.ready), start);
    EXPECT_EQ(text(w), step.want);
    EXPECT_FALSE(set_ready(&w, api::next_readiness(w, step.ready), start + 5s));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Readiness,
    testing::Values(
        Story{"pods_that_start", {{false, "False WaitForStart"}, {true, "True Started"}}},
        Story{"a_pod_that_fails_and_comes_back",
              {{true, "True Started"}, {false, "False WaitForRecovery"}, {true, "True Recovered"}}},
        Story{"a_second_failure",
              {{true, "True Started"},
               {false, "False WaitForRecovery"},
               {true, "True Recovered"},
               {false, "False WaitForRecovery"}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PodsReady, ANewStartForgetsTheFailure) {
  api::Workload w = admitted_at(start);
  set_ready(&w, PodsReadiness::recovered, start);
  EXPECT_TRUE(set_ready(&w, PodsReadiness::wait_for_start, start));
  EXPECT_EQ(api::next_readiness(w, true), PodsReadiness::started);
}

TEST(PodsReady, TheStartIsMeasuredFromTheAdmissionAndTheRecoveryFromTheFailure) {
  PodsReadyPolicy policy;
  policy.timeout = 5min;
  policy.recovery_timeout = 2min;
  api::Workload w = admitted_at(start);
  ASSERT_TRUE(not_ready(w.status, policy));
  EXPECT_EQ(not_ready(w.status, policy)->cause, "WaitForStart");
  EXPECT_EQ(not_ready(w.status, policy)->deadline, start + 5min);
  EXPECT_EQ(not_ready(w.status, policy)->limit, 5min);
  set_ready(&w, PodsReadiness::wait_for_start, start + 1min);
  EXPECT_EQ(not_ready(w.status, policy)->deadline, start + 5min);
  set_ready(&w, PodsReadiness::started, start + 2min);
  EXPECT_FALSE(not_ready(w.status, policy));
  set_ready(&w, PodsReadiness::wait_for_recovery, start + 1h);
  EXPECT_EQ(not_ready(w.status, policy)->cause, "WaitForRecovery");
  EXPECT_EQ(not_ready(w.status, policy)->deadline, start + 1h + 2min);
  EXPECT_EQ(not_ready(w.status, policy)->limit, 2min);
  policy.recovery_timeout.reset();
  EXPECT_FALSE(not_ready(w.status, policy)) << "without a limit it may take for ever";
  EXPECT_FALSE(not_ready({}, policy)) << "not admitted";
}

TEST(PodsReady, WaitsDoubleUpToTheMaximum) {
  PodsReadyPolicy policy;
  policy.backoff_base_seconds = 60;
  policy.backoff_max_seconds = 600;
  api::Workload w;
  for (const auto& want : {60s, 120s, 240s, 480s, 600s, 600s}) {
    w.status.requeue_state = back_off(w.status.requeue_state, policy, 0, start);
    EXPECT_EQ(*w.status.requeue_state->requeue_at, start + want);
    w.status.requeue_state->requeue_at.reset();
  }
  EXPECT_EQ(w.status.requeue_state->count, 6);
}

TEST(PodsReady, JitterStretchesAWaitButNotBeyondTheMaximum) {
  PodsReadyPolicy policy;
  policy.backoff_base_seconds = 100'000;
  policy.backoff_max_seconds = 100'005;
  api::Workload w;
  w.status.requeue_state = back_off(w.status.requeue_state, policy, 0.3, start);
  EXPECT_EQ(*w.status.requeue_state->requeue_at, start + 100'003s);
  w.status.requeue_state.reset();
  w.status.requeue_state = back_off(w.status.requeue_state, policy, 0.9, start);
  EXPECT_EQ(*w.status.requeue_state->requeue_at, start + 100'005s);
}

TEST(PodsReady, ALaterTimeOfAnAdmissionCheckStays) {
  api::Workload w;
  w.status.requeue_state.emplace();
  w.status.requeue_state->requeue_at = start + 1h;
  w.status.requeue_state = back_off(w.status.requeue_state, {}, 0, start);
  EXPECT_EQ(*w.status.requeue_state->requeue_at, start + 1h);
  EXPECT_EQ(w.status.requeue_state->count, 1);
}

TEST(PodsReady, TheLimitCountsTries) {
  PodsReadyPolicy policy;
  api::Workload w;
  EXPECT_FALSE(tries_used_up(w.status, policy)) << "no limit";
  policy.backoff_limit_count = 0;
  EXPECT_TRUE(tries_used_up(w.status, policy));
  policy.backoff_limit_count = 2;
  w.status.requeue_state.emplace();
  w.status.requeue_state->count = 1;
  EXPECT_FALSE(tries_used_up(w.status, policy));
  w.status.requeue_state->count = 2;
  EXPECT_TRUE(tries_used_up(w.status, policy));
}

}  // namespace
}  // namespace regatta::lifecycle
