#include "controllers/worker_requests.h"

#include "lib/sim/world.h"

#include <gtest/gtest.h>

namespace regatta::controllers {
namespace {

using namespace std::chrono_literals;

/// Requests that end when the test says so, and what the dispatcher hears of them.
class Requests : public testing::Test {
 protected:
  ~Requests() override {
    scope_.stop();
    world_.settle();
  }
  static api::ObjectKey key(const std::string& name) { return {"team", name}; }

  /// A request that takes `time` and ends like that.
  Task<Status> request(Duration time, Status outcome = ok()) {
    ++started_;
    co_await world_.sleep_for(time);
    co_return outcome;
  }
  void send(const std::string& worker, const std::string& name, Duration time,
            Status outcome = ok(), WorkerVerb verb = WorkerVerb::create_copy, bool wake = false) {
    requests_.send(worker, key(name), verb, request(time, std::move(outcome)), wake);
  }
  void run(Duration time) { world_.run_for(time); }
  std::string woken() {
    std::string out;
    for (const auto& [name, after] : woken_) {
      out += (out.empty() ? "" : ", ") + name + " in " + std::to_string(after.count());
    }
    woken_.clear();
    return out;
  }
  static Status refused(std::optional<std::chrono::seconds> retry_after = {}) {
    ErrorDetails details;
    details.http_status = retry_after ? 429 : 500;
    details.retry_after = retry_after;
    return Error(Errc::unavailable, "refused", details);
  }

  sim::World world_{1};
  int started_ = 0;
  std::vector<std::pair<std::string, Duration>> woken_;
  std::vector<std::string> silent_;
  TaskScope scope_{world_.executor()};
  WorkerRequests requests_{{world_,
                            scope_,
                            {},
                            [this](const api::ObjectKey& name, Duration after) {
                              woken_.emplace_back(name.name, after);
                            },
                            [this](const std::string& worker) { silent_.push_back(worker); }}};
};

TEST_F(Requests, OneAtATimeIsUnderWayForAWorkloadOnAWorker) {
  send("east", "a", 100ms);
  send("east", "a", 100ms);
  send("west", "a", 100ms);
  send("east", "b", 100ms);
  EXPECT_TRUE(requests_.under_way("east", key("a"), WorkerVerb::create_copy));
  EXPECT_FALSE(requests_.under_way("east", key("a"), WorkerVerb::remove));
  run(50ms);
  EXPECT_EQ(started_, 3);
  run(100ms);
  EXPECT_TRUE(requests_.idle());
  EXPECT_EQ(woken(), "") << "a repeated wish needs no other turn";
  send("east", "a", 100ms);
  send("east", "a", 100ms, ok(), WorkerVerb::remove);
  run(200ms);
  EXPECT_EQ(started_, 4);
  EXPECT_EQ(woken(), "a in 0") << "another one does";
}

TEST_F(Requests, AFailurePausesThatVerbOfThatWorkloadOnThatWorkerAlone) {
  send("east", "a", 0ms, refused());
  run(10ms);
  EXPECT_EQ(woken(), "a in 50");
  ASSERT_TRUE(requests_.failure("east", key("a"), WorkerVerb::create_copy));
  send("east", "a", 0ms);
  run(1ms);
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(woken(), "a in 40");
  send("east", "a", 0ms, ok(), WorkerVerb::remove);
  send("west", "a", 0ms);
  send("east", "b", 0ms);
  run(1ms);
  EXPECT_EQ(started_, 4);
  run(60ms);
  send("east", "a", 0ms, refused());
  run(1ms);
  EXPECT_EQ(woken(), "a in 100");
  run(200ms);
  send("east", "a", 0ms);
  run(1ms);
  EXPECT_FALSE(requests_.failure("east", key("a"), WorkerVerb::create_copy));
}

TEST_F(Requests, WhatWasDeniedIsAskedForAtOnceWithNewCredentials) {
  const auto denied = [] { return Status(Error(Errc::denied, "Unauthorized")); };
  for (int i = 0; i < 5; ++i) {
    run(1s);
    send("east", "denied", 0ms, denied());
    run(1ms);
  }
  send("east", "failed", 0ms, refused());
  send("west", "other", 0ms, denied());
  run(1ms);
  EXPECT_TRUE(woken().ends_with("denied in 800, failed in 50, other in 50"));
  requests_.allowed_anew("east");
  EXPECT_EQ(woken(), "denied in 0") << "neither other failures nor other workers";
  started_ = 0;
  send("east", "denied", 0ms, denied());
  run(1ms);
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(woken(), "denied in 1600") << "the pause goes on growing if they are of no use";
}

TEST_F(Requests, ASuccessThatTheWatchDoesNotShowIsNotRepeatedAtOnce) {
  const auto remove = [&] { send("east", "a", 1ms, ok(), WorkerVerb::remove, true); };
  remove();
  run(10ms);
  EXPECT_EQ(woken(), "a in 0");
  remove();
  run(10ms);
  EXPECT_EQ(woken(), "a in 1000");
  run(1s);
  remove();
  run(10ms);
  EXPECT_EQ(woken(), "a in 1000");
  run(10s);
  remove();
  run(10ms);
  EXPECT_EQ(woken(), "a in 0");
}

TEST_F(Requests, WhatSucceedsAgainAndAgainIsRepeatedLessAndLessOften) {
  for (int i = 0; i < 600; ++i) {
    send("east", "a", 1ms, ok(), WorkerVerb::edit);
    run(50ms);
  }
  EXPECT_GE(started_, 12);
  EXPECT_LE(started_, 20) << "in half a minute";
  run(2min);
  started_ = 0;
  for (int i = 0; i < 8; ++i) {
    send("east", "a", 1ms, ok(), WorkerVerb::edit);
    run(50ms);
  }
  EXPECT_EQ(started_, 8) << "a while later it is nothing unusual";
}

TEST_F(Requests, AWorkerMayAskForALongerPause) {
  send("east", "a", 0ms, refused(7s));
  run(1ms);
  EXPECT_EQ(woken(), "a in 7000");
  send("east", "b", 0ms, refused(100'000s));
  run(1ms);
  EXPECT_EQ(woken(), "b in 300000") << "within reason";
}

TEST_F(Requests, AWorkerThatHangsHoldsOnlySoManyAndTheOthersNone) {
  for (int i = 0; i < 40; ++i) send("east", "a" + std::to_string(i), 10s);
  for (int i = 0; i < 20; ++i) send("west", "a" + std::to_string(i), 10ms);
  run(100ms);
  EXPECT_EQ(started_, int(WorkerRequests::under_way_max) + 20);
  EXPECT_EQ(woken(), "");
  run(10s);
  EXPECT_EQ(woken_.size(), 16U) << "the rest is woken when there is room";
  EXPECT_EQ(woken_.front().first, "a24");
}

TEST_F(Requests, TheLastAnswerLeavesNoneWaiting) {
  constexpr int many = 1000;
  for (int i = 0; i < many; ++i) send("east", "a" + std::to_string(i), 10s);
  run(11s);  // those that are woken send nothing
  EXPECT_EQ(woken_.size(), many - WorkerRequests::under_way_max);
}

TEST_F(Requests, ASilenceIsReportedOnceForAllThatAreUnderWay) {
  send("east", "a", 10s);
  send("east", "b", 10s);
  send("west", "a", 100ms);
  run(2500ms);
  EXPECT_EQ(silent_, std::vector<std::string>{"east"});
  send("east", "c", 10s);
  run(5s);
  EXPECT_EQ(silent_.size(), 1U) << "the oldest is still the same";
  run(20s);
  EXPECT_TRUE(requests_.idle());
}

TEST_F(Requests, AFailureIsForgottenAWhileAfterItsPause) {
  const auto known = [&] {
    return requests_.failure("east", key("a"), WorkerVerb::create_copy) != nullptr;
  };
  send("east", "a", 0ms, refused());
  run(4min);
  send("east", "b", 0ms);
  run(1s);
  EXPECT_TRUE(known()) << "the next one would be another one in a row";
  run(2min);
  send("west", "b", 0ms);
  run(1s);
  EXPECT_FALSE(known());
}

TEST_F(Requests, WhatWasSeenToBeDoneNeedsNoAnswer) {
  send("east", "a", 10s);
  requests_.settle("east", key("a"), WorkerVerb::create_copy);
  send("east", "a", 10ms, ok(), WorkerVerb::create_job);
  run(100ms);
  EXPECT_EQ(started_, 2);
  run(20s);
  EXPECT_TRUE(requests_.idle());
}

}  // namespace
}  // namespace regatta::controllers
