#include "lib/base/sanitized.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/key_lock.h"
#include "lib/runtime/process.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"
#include "lib/runtime/worker.h"
#include "lib/sim/world.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace regatta {
namespace {

using namespace std::chrono_literals;

Task<Result<int>> answers_after(Clock& clock, Duration d) {
  co_await clock.sleep_for(d);
  co_return 42;
}

Task<Result<int>> throws_after(Clock& clock, Duration d) {
  co_await clock.sleep_for(d);
  throw std::runtime_error("boom");
}

struct Runtime : ::testing::Test {
  sim::World world{1};
  TaskScope scope{world.executor()};
  SteadyPoint start = world.steady();

  void TearDown() override {
    scope.stop();
    world.run_for(1s);
  }
};

TEST_F(Runtime, DeadlineReturnsTheAnswerThatComesInTime) {
  std::optional<int> got;
  SteadyPoint at{};
  auto body = [&]() -> Task<> {
    auto answer = co_await with_deadline(world, start + 100ms, answers_after(world, 40ms));
    got = answer.value();
    at = world.steady();
  };
  scope.spawn("t", body());
  world.run_for(1s);
  EXPECT_EQ(got, 42);
  EXPECT_EQ(at, start + 40ms);
}

TEST_F(Runtime, DeadlineTimesOut) {
  std::optional<Errc> got;
  SteadyPoint at{};
  auto body = [&]() -> Task<> {
    auto answer = co_await with_deadline(world, start + 100ms, answers_after(world, 400ms));
    got = answer.error().code();
    at = world.steady();
  };
  scope.spawn("t", body());
  world.run_for(1s);
  EXPECT_EQ(got, Errc::timeout);
  EXPECT_EQ(at, start + 100ms);
}

TEST_F(Runtime, AStepOfTheWallClockMovesNoDeadline) {
  for (const Duration step : {Duration(-1h), Duration(1h)}) {
    const SteadyPoint begun = world.steady();
    SteadyPoint at{};
    auto body = [&]() -> Task<> {
      auto answer = co_await with_deadline(world, begun + 10s, answers_after(world, 24h));
      EXPECT_FALSE(answer);
      at = world.steady();
    };
    scope.spawn("t", body());
    world.run_for(4s);
    world.step_wall(step);
    world.run_for(2h);
    EXPECT_EQ(at, begun + 10s) << "after a step of " << step.count() << " ms";
  }
}

TEST_F(Runtime, DeadlinePassesCancellationOn) {
  bool aborted = false;
  auto body = [&]() -> Task<> {
    try {
      auto answer = co_await with_deadline(world, start + 10s, answers_after(world, 9s));
      (void)answer;
    } catch (const boost::system::system_error& e) {
      aborted = e.code() == asio::error::operation_aborted;
      throw;
    }
  };
  scope.spawn("t", body());
  world.run_for(1s);
  scope.stop();
  world.run_for(1ms);
  EXPECT_TRUE(aborted);
  EXPECT_EQ(scope.size(), 0u);
}

/// A task that needs two turns to end after it was cancelled.
Task<> ends_slowly(Clock& clock) {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_await clock.sleep_for(9s);
  } catch (const boost::system::system_error&) {
  }
  for (int turn = 0; turn < 2; ++turn) co_await asio::post(asio::use_awaitable);
  throw boost::system::system_error(asio::error::operation_aborted);
}

TEST_F(Runtime, ACancelledWaitIsNotTakenForADeadlineThatPassed) {
  bool went_on = false;
  auto body = [&]() -> Task<> {
    Task<> op = ends_slowly(world);
    co_await finishes_before(world, start + 10s, std::move(op));
    went_on = true;
  };
  scope.spawn("t", body());
  world.run_for(1s);
  scope.stop();
  world.run_for(1ms);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(scope.size(), 0u);
}

TEST_F(Runtime, AnOperationWithADeadlineBeginsBeforeAnythingElseHappens) {
  Wakeup wakeup(scope.executor());
  bool woken = false;
  auto body = [&]() -> Task<> {
    asio::post(world.executor(), [&] { wakeup.notify_all(); });
    woken = co_await finishes_before(world, start + 10s, wakeup.wait());
  };
  scope.spawn("t", body());
  world.run_for(1ms);
  EXPECT_TRUE(woken);
}

TEST_F(Runtime, DeadlineEndsWhenTheOperationThrows) {
  SteadyPoint at{};
  std::string what;
  auto body = [&]() -> Task<> {
    try {
      auto answer = co_await with_deadline(world, start + 5s, throws_after(world, 40ms));
      (void)answer;
    } catch (const std::runtime_error& e) {
      what = e.what();
    }
    at = world.steady();
  };
  scope.spawn("t", body());
  world.run_for(60s);
  EXPECT_EQ(what, "boom");
  EXPECT_EQ(at, start + 40ms);
}

TEST_F(Runtime, JoinWaitsForChildrenThatEndByThemselves) {
  TaskScope inner(world.executor());
  bool joined = false;
  auto child = [&]() -> Task<> { co_await world.sleep_for(50ms); };
  inner.spawn("child", child());
  auto body = [&]() -> Task<> {
    co_await inner.join();
    joined = true;
  };
  scope.spawn("t", body());
  world.run_for(40ms);
  EXPECT_FALSE(joined);
  world.run_for(20ms);
  EXPECT_TRUE(joined);
}

TEST_F(Runtime, AChildStoppedBeforeItRanEndsWithoutRunning) {
  bool ran = false;
  auto child = [&]() -> Task<> {
    ran = true;
    co_await world.sleep_for(1s);
  };
  TaskScope inner(world.executor());
  inner.spawn("child", child());
  inner.stop();
  world.run_for(1ms);
  EXPECT_EQ(inner.size(), 0u);
  EXPECT_FALSE(ran);
}

TEST_F(Runtime, AChildThatStopsItsScopeWithoutEverWaitingEnds) {
  TaskScope inner(world.executor());
  auto child = [&]() -> Task<> {
    inner.stop();
    co_return;
  };
  inner.spawn("child", child());
  world.run_for(1ms);
  EXPECT_EQ(inner.size(), 0u);
}

TEST_F(Runtime, AScopeThatIsDestroyedBeforeItsJoinEndsTheProcess) {
  const auto forget_to_join = [&] {
    TaskScope inner(world.executor());
    inner.spawn("left behind", world.sleep_for(1s));
  };
  EXPECT_DEATH(forget_to_join(),
               "task_scope.cpp:[0-9]+: expected children_.empty\\(\\): .*before it "
               "was joined; left: left behind");
}

struct Queue : Runtime {
  WorkQueue<std::string> queue{world, scope, Backoff{10ms, 100ms}};
  std::vector<std::string> seen;
  std::function<void(const std::string&)> during = [](const std::string&) {};

  Task<> work(Duration each) {
    for (;;) {
      std::string key = co_await queue.next();
      seen.push_back(key + "@" + std::to_string((world.steady() - start).count()));
      during(key);
      co_await world.sleep_for(each);
      queue.done(key);
    }
  }
};

TEST_F(Queue, AKeyAddedTwiceRunsOnce) {
  queue.add("a");
  queue.add("a");
  queue.add("b");
  scope.spawn("w", work(10ms));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@0", "b@10"}));
}

TEST_F(Queue, AKeyAddedWhileItRunsRunsAgainAfterwardsAndNeverTwiceAtOnce) {
  bool once = true;
  during = [&](const std::string& key) {
    if (std::exchange(once, false)) queue.add(key);
  };
  queue.add("a");
  scope.spawn("w1", work(10ms));
  scope.spawn("w2", work(10ms));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@0", "a@10"}));
}

TEST_F(Queue, TheEarliestDelayCounts) {
  queue.add_after("a", 50ms);
  queue.add_after("a", 20ms);
  queue.add_after("a", 90ms);
  queue.add_after("b", 30ms);
  scope.spawn("w", work(0ms));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@20", "b@30"}));
  EXPECT_TRUE(queue.idle());
}

TEST_F(Queue, AStepOfTheWallClockMovesNoKey) {
  queue.add_after("before", 50ms);
  world.run_for(10ms);
  world.step_wall(-1h);
  queue.add_after("back", 50ms);
  world.step_wall(2h);
  queue.add_after("forth", 50ms);
  queue.retry("again");
  scope.spawn("w", work(0ms));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"again@20", "before@50", "back@60", "forth@60"}));
}

TEST_F(Queue, TimersDoNotPileUpBehindALongDelay) {
  queue.add_after("week", 168h);
  scope.spawn("w", work(0ms));
  for (int i = 0; i < 100; ++i) {
    queue.add_after("often", 1s);
    world.run_for(1s);
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_LE(scope.size(), 3u) << "the worker, the week, the second";
  world.run_for(168h);
  EXPECT_EQ(seen.back(), "week@604800000");
  EXPECT_TRUE(queue.idle());
}

TEST_F(Queue, AKeyThatIsAddedDoesNotComeAgainWhenItsDelayEnds) {
  queue.add_after("a", 50ms);
  queue.add_after("b", 60ms);
  queue.add("a");
  scope.spawn("w", work(0ms));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@0", "b@60"}));
}

TEST_F(Queue, AClosedOneRemembersNothing) {
  WorkQueue<std::string> closed{world, scope, {}, Intake::closed};
  closed.add("a");
  closed.add_after("b", 1s);
  EXPECT_TRUE(closed.idle());
  closed.open();
  closed.add("a");
  EXPECT_EQ(closed.depth(), 1u);
}

TEST_F(Queue, AWorkerTriesWhatFailedAgainAndTellsOnlyOfWhatIsWorthIt) {
  std::vector<Status> outcomes = {ok(), Error(Errc::conflict, "late"), Error(Errc::timeout, "x")};
  std::vector<std::string> told;
  const auto step = [&](const std::string& key) -> Task<Status> {
    seen.push_back(key + "@" + std::to_string((world.steady() - start).count()));
    const Status outcome = outcomes.back();
    if (outcomes.size() > 1) outcomes.pop_back();
    co_return outcome;
  };
  queue.add("a");
  scope.spawn("w", work_through(queue, step, [&](const std::string& key, const Error& error) {
                told.push_back(key + ": " + error.what());
              }));
  world.run_for(1s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@0", "a@10", "a@30"}));
  EXPECT_EQ(told, (std::vector<std::string>{"a: x"}));
  EXPECT_TRUE(queue.idle());
}

TEST_F(Queue, FinishTellsWhatToLogAndRetriesWhatFailed) {
  const auto finish = [&](Status outcome) {
    bool tell = false;
    auto body = [&]() -> Task<> {
      std::string key = co_await queue.next();
      tell = queue.finish(key, outcome);
    };
    queue.add("a");
    scope.spawn("once", body());
    world.settle();
    return tell;
  };
  EXPECT_TRUE(finish(Error(Errc::unavailable, "x")));
  EXPECT_EQ(queue.failures("a"), 1);
  EXPECT_FALSE(finish(Error(Errc::conflict, "x")));
  EXPECT_EQ(queue.failures("a"), 2);
  EXPECT_FALSE(finish(ok()));
  EXPECT_EQ(queue.failures("a"), 0);
}

TEST_F(Queue, RetriesBackOffUntilForgotten) {
  int left = 6;
  during = [&](const std::string& key) {
    if (left-- > 0) queue.retry(key);
  };
  queue.add("a");
  scope.spawn("w", work(0ms));
  world.run_for(10s);
  EXPECT_EQ(seen,
            (std::vector<std::string>{"a@0", "a@10", "a@30", "a@70", "a@150", "a@250", "a@350"}));
  queue.forget("a");
  EXPECT_EQ(queue.failures("a"), 0);
}

TEST_F(Runtime, AKeyLockIsHeldByOneAtATime) {
  KeyLocks<std::string> locks(world.executor());
  std::string seen;
  auto body = [&](std::string key, char mark) -> Task<> {
    const auto held = co_await locks.acquire(key);
    seen += mark;
    co_await world.sleep_for(10ms);
    seen += mark;
  };
  scope.spawn("a", body("k", 'a'));
  scope.spawn("b", body("k", 'b'));
  scope.spawn("c", body("other", 'c'));
  world.run_for(1s);
  EXPECT_EQ(seen, "acabcb");
  EXPECT_EQ(locks.size(), 0u);
}

TEST_F(Runtime, ACancelledWaiterPassesTheKeyLockOn) {
  KeyLocks<std::string> locks(world.executor());
  TaskScope impatient(world.executor());
  bool got = false;
  auto hold = [&]() -> Task<> {
    const auto held = co_await locks.acquire("k");
    co_await world.sleep_for(20ms);
    impatient.stop();
  };
  auto wait = [&]() -> Task<> { const auto held = co_await locks.acquire("k"); };
  auto last = [&]() -> Task<> {
    const auto held = co_await locks.acquire("k");
    got = true;
  };
  scope.spawn("holder", hold());
  world.run_for(1ms);
  impatient.spawn("waiter", wait());
  world.run_for(1ms);
  scope.spawn("last", last());
  world.run_for(1s);
  EXPECT_TRUE(got);
  EXPECT_EQ(locks.size(), 0u);
}

TEST(Process, RaisesItsLimitOnOpenFiles) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_open_files(), before.rlim_max);
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Process, KeepsItsMemoryPrivate) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs both";
  // In a process of its own, because the limit cannot be raised again.
  const auto look = [] {
    const bool before = ::prctl(PR_GET_DUMPABLE) == 1;
    keep_memory_private();
    rlimit limit{1, 1};
    ::getrlimit(RLIMIT_CORE, &limit);
    const bool none = limit.rlim_cur == 0 && limit.rlim_max == 0;
    std::_Exit(before && none && ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "");
}

TEST(Backoff, DoublesUpToItsLimit) {
  const Backoff backoff{5s, 320s};
  EXPECT_EQ(backoff.after(1), 5s);
  EXPECT_EQ(backoff.after(2), 10s);
  EXPECT_EQ(backoff.after(7), 320s);
  EXPECT_EQ(backoff.after(70), 320s);
}

}  // namespace
}  // namespace regatta
