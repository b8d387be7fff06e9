#include "lib/base/clock.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <ctime>
#include <type_traits>

namespace regatta {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_constructible_v<TimePoint, SteadyPoint>);
static_assert(!std::is_constructible_v<SteadyPoint, TimePoint>);

struct StoppedClock final : Clock {
  TimePoint now() const override { return TimePoint(1000s); }
  SteadyPoint steady() const override { return SteadyPoint(3s); }
  Task<> sleep_until(SteadyPoint) override { co_return; }
};

TEST(Clock, ATimerForATimeOfTheApiEndsWhenTheWallClockShowsIt) {
  const StoppedClock clock;
  EXPECT_EQ(clock.steady_at(TimePoint(1007s)), SteadyPoint(10s));
  EXPECT_EQ(clock.steady_at(TimePoint(1000s)), SteadyPoint(3s));
  EXPECT_EQ(clock.steady_at(TimePoint(900s)), SteadyPoint(3s)) << "the time has passed: at once";
  EXPECT_EQ(clock.steady_at(TimePoint::min()), SteadyPoint(3s));
  EXPECT_GT(clock.steady_at(TimePoint::max()), SteadyPoint(std::chrono::years(1'000'000)));
}

Duration boot_time() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(t.tv_sec) +
                                              std::chrono::nanoseconds(t.tv_nsec));
}

TEST(SystemClock, CountsTheTimeSinceTheMachineStartedAndThatOfSuspends) {
  const SystemClock clock;
  const Duration before = boot_time();
  const Duration between = clock.steady().time_since_epoch();
  EXPECT_LE(before, between);
  EXPECT_LE(between, boot_time());
}

TEST(SystemClock, WakesInTimeWhileAnotherWaitsForEver) {
  asio::io_context io;
  SystemClock clock;
  asio::cancellation_signal stop;
  bool aborted = false;
  const SteadyPoint begun = clock.steady();
  SteadyPoint woken{};
  auto for_ever = [&]() -> Task<> { co_await clock.sleep_until(SteadyPoint::max()); };
  auto briefly = [&]() -> Task<> {
    co_await clock.sleep_for(3ms);
    co_await clock.wait_until(begun);
    woken = clock.steady();
    stop.emit(asio::cancellation_type::terminal);
  };
  const auto ended = [&](const std::exception_ptr& e) { aborted = e != nullptr; };
  asio::co_spawn(io, for_ever(), asio::bind_cancellation_slot(stop.slot(), ended));
  asio::co_spawn(io, briefly(), [](const std::exception_ptr&) {});
  io.run();
  EXPECT_TRUE(aborted);
  EXPECT_GE(woken, begun + 3ms);
}

}  // namespace
}  // namespace regatta
