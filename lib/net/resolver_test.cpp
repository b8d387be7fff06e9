#include "lib/net/resolver.h"

#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace regatta::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::string text_of(const Addresses& found) {
  if (!found) return found.error().what();
  std::string text;
  for (const std::string& address : *found) text += address + " ";
  return text;
}

/// Lookups that the test ends.
struct Lookups : ::testing::Test {
  sim::World world{1};
  std::map<std::string, std::function<void(Addresses)>> open;
  std::vector<std::string> started;
  std::optional<LookupResolver> resolver{[this](const std::string& host, auto done) {
    started.push_back(host);
    open[host] = std::move(done);
  }};
  std::vector<std::string> answers;
  TaskScope scope{world.executor()};

  Task<> ask(Resolver& from, std::string host) {
    const Addresses found = co_await from.resolve(host);
    answers.push_back(host + ": " + text_of(found));
  }
  void end(const std::string& host, std::string address) {
    open.at(host)(Addresses(std::vector{std::move(address)}));
    world.settle();
  }
  void TearDown() override {
    scope.stop();
    world.settle();
  }
};

TEST_F(Lookups, ANameThatHangsDelaysNoOther) {
  scope.spawn("slow", ask(*resolver, "slow"));
  scope.spawn("fast", ask(*resolver, "fast"));
  world.settle();
  end("fast", "10.0.0.1");
  EXPECT_THAT(answers, ElementsAre("fast: 10.0.0.1 "));
}

TEST_F(Lookups, ANameIsAskedForOnceAtATime) {
  for (int i = 0; i < 30; ++i) scope.spawn("ask", ask(*resolver, "slow"));
  world.settle();
  EXPECT_THAT(started, ElementsAre("slow"));
  end("slow", "10.0.0.2");
  EXPECT_EQ(answers.size(), 30u);
  scope.spawn("ask", ask(*resolver, "slow"));
  world.settle();
  EXPECT_THAT(started, ElementsAre("slow", "slow"));
}

TEST_F(Lookups, ACallerThatLeavesDoesNotEndTheLookup) {
  TaskScope inner(world.executor());
  inner.spawn("leaves", ask(*resolver, "slow"));
  world.settle();
  inner.stop();
  world.settle();
  scope.spawn("joins", ask(*resolver, "slow"));
  world.settle();
  EXPECT_THAT(started, ElementsAre("slow"));
  end("slow", "10.0.0.2");
  EXPECT_THAT(answers, ElementsAre("slow: 10.0.0.2 "));
}

TEST_F(Lookups, ALookupMayOutliveTheResolver) {
  TaskScope inner(world.executor());
  inner.spawn("leaves", ask(*resolver, "slow"));
  world.settle();
  inner.stop();
  world.settle();
  resolver.reset();
  end("slow", "10.0.0.2");
  EXPECT_THAT(answers, IsEmpty());
}

/// As the C library ends lookups: each in a thread of its own, and one after the resolver is gone.
TEST(LookupThreads, EndLookupsWhileOthersBegin) {
  asio::io_context io(1);
  // It orders nothing, so that the resolver has to.
  std::atomic<bool> gone = false;
  std::vector<std::thread> threads;
  std::optional<LookupResolver> resolver{[&](const std::string& host, auto done) {
    threads.emplace_back([&gone, host, done] {
      while (host == "late" && !gone.load(std::memory_order_relaxed)) std::this_thread::yield();
      done(Addresses(std::vector{host}));
    });
  }};
  TaskScope scope(io.get_executor());
  constexpr int names = 50;
  int right = 0, answered = 0;
  const auto ask = [&](std::string name) -> Task<> {
    const Addresses found = co_await resolver->resolve(name);
    right += text_of(found) == name + " " ? 1 : 0;
    if (++answered == names) scope.stop();
  };
  scope.spawn("late", ask("late"));
  for (int i = 0; i < names; ++i) scope.spawn("ask", ask("name" + std::to_string(i / 2)));
  io.run();
  resolver.reset();
  gone.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, names);
  EXPECT_EQ(threads.size(), 1U + names / 2);
}

/// A name server that the test stops and starts.
class Answers final : public Resolver {
 public:
  explicit Answers(Clock& clock) : clock_(clock) {}
  Task<Addresses> resolve(std::string) override {
    ++asked;
    if (silent) co_await clock_.sleep_for(20s);
    if (failing) co_return Error(Errc::unavailable, "no such name");
    co_return std::vector{address};
  }
  std::string address = "10.0.0.1";
  bool silent = false, failing = false;
  int asked = 0;

 private:
  Clock& clock_;
};

struct Remembering : Lookups {
  std::shared_ptr<Answers> server = std::make_shared<Answers>(world);
  RememberingResolver names{world, server};

  std::string now() {
    answers.clear();
    scope.spawn("ask", ask(names, "api"));
    const SteadyPoint since = world.steady();
    world.run_for(1min, [&] { return !answers.empty(); });
    took = world.steady() - since;
    return answers.empty() ? "nothing" : answers.front();
  }
  Duration took{0};
};

TEST_F(Remembering, WhatIsFreshIsNotAskedForAgain) {
  EXPECT_EQ(now(), "api: 10.0.0.1 ");
  server->address = "10.0.0.2";
  world.run_for(29s);
  EXPECT_EQ(now(), "api: 10.0.0.1 ");
  EXPECT_EQ(server->asked, 1);
  world.run_for(1s);
  EXPECT_EQ(now(), "api: 10.0.0.2 ");
}

TEST_F(Remembering, ASilentNameServerCostsHalfASecondOfADial) {
  now();
  server->silent = true;
  world.run_for(10min);
  EXPECT_EQ(now(), "api: 10.0.0.1 ");
  EXPECT_EQ(took, 500ms);
}

TEST_F(Remembering, AFailingNameServerDoesNotBreakWhatWorked) {
  now();
  server->failing = true;
  world.run_for(10min);
  EXPECT_EQ(now(), "api: 10.0.0.1 ");
  world.run_for(1h);
  EXPECT_EQ(now(), "api: no such name") << "too old to be believed";
}

TEST_F(Remembering, AnUnknownNameWaitsForTheNameServer) {
  server->silent = true;
  EXPECT_EQ(now(), "api: 10.0.0.1 ");
  EXPECT_EQ(took, 20s);
}

TEST(SystemLookup, FindsThisMachineAndNoOther) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP()
      << "the C library starts threads of its own for this, which ThreadSanitizer does not "
         "see begin: their first allocation crashes in its allocator";
#endif
  asio::io_context io(1);
  LookupResolver resolver;
  std::map<std::string, std::string> found;
  for (const std::string host : {"localhost", "127.0.0.1", "no-such-name.invalid"}) {
    const auto ask = [&](std::string name) -> Task<> {
      found[name] = text_of(co_await resolver.resolve(name));
    };
    asio::co_spawn(io, ask(host), [](std::exception_ptr) {});
    io.run();
    io.restart();
  }
  EXPECT_EQ(found["127.0.0.1"], "127.0.0.1 ");
  EXPECT_THAT(found["localhost"],
              testing::AnyOf(testing::HasSubstr("127.0.0.1"), testing::HasSubstr("::1")));
  EXPECT_THAT(found["no-such-name.invalid"], Not(testing::HasSubstr("127.0.0.1")));
}

}  // namespace
}  // namespace regatta::net
