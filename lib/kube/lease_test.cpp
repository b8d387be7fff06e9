#include "lib/kube/lease.h"

#include "lib/kube/faulty_sender.h"
#include "lib/kube/kube_test.h"
#include "lib/kube/status.h"

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

/// One Lease, with optimistic concurrency.
struct LeaseServer {
  Json lease;
  int version = 0;

  net::HttpResponse answer(const net::HttpRequest& request) {
    if (request.method == "POST") {
      if (!lease.is_null()) return refusal(409, "AlreadyExists");
      lease = Json::parse(request.body);
    } else if (lease.is_null()) {
      return refusal(404, "NotFound");
    } else if (request.method == "PATCH") {
      Json patch = Json::parse(request.body);
      if (patch["metadata"]["resourceVersion"] != std::to_string(version)) {
        return refusal(409, "Conflict");
      }
      lease.merge_patch(patch);
    } else {
      return net::HttpResponse(200, dump_json(lease));
    }
    lease["metadata"]["resourceVersion"] = std::to_string(++version);
    return net::HttpResponse(200, dump_json(lease));
  }
  static net::HttpResponse refusal(unsigned code, const char* reason) {
    const Json body = {{"kind", "Status"}, {"reason", reason}, {"message", reason}};
    return net::HttpResponse(code, dump_json(body));
  }
};

/// A process that wants to lead, behind a network of its own.
struct Candidate {
  Candidate(KubeTest& test, std::string name)
      : sender(test.sender, test.world, test.world.rng, faults),
        client(ClientDeps{sender, test.world, test.world.rng, nullptr, {}}),
        elector(client, test.world, test.world.rng, Log(),
                LeaderElectionOptions{api::ObjectKey("ns", "regatta"), std::move(name)}) {}

  std::shared_ptr<NetworkFaults> faults = std::make_shared<NetworkFaults>();
  FaultySender sender;
  Client client;
  LeaderElector elector;
  bool working = false;
  std::optional<Status> ended;

  Task<> work(Clock& clock) {
    struct Flag {
      bool& flag;
      explicit Flag(bool& f) : flag(f) { flag = true; }
      ~Flag() { flag = false; }
    } at_work(working);
    co_await clock.sleep_for(24h);
  }
  Task<> lead(Clock& clock) {
    const std::function<Task<>()> job = [this, &clock] { return work(clock); };
    ended = co_await elector.run(job);
  }
};

struct LeaseTest : KubeTest {
  LeaseServer leases;
  Candidate a{*this, "a"}, b{*this, "b"};
  TaskScope process_a{world.executor()};

  LeaseTest() {
    server.otherwise = [this](const net::HttpRequest& request) { return leases.answer(request); };
  }
  std::string field(const char* name) const { return leases.lease["spec"][name].dump(); }
  void TearDown() override {
    process_a.stop();
    KubeTest::TearDown();
  }
};

TEST_F(LeaseTest, TheFirstLeadsAndTheSecondWaits) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(5min);
  EXPECT_TRUE(a.working);
  EXPECT_FALSE(b.working);
  EXPECT_EQ(b.elector.holder(), "a");
  EXPECT_EQ(field("holderIdentity"), "\"a\"");
  EXPECT_EQ(field("leaseDurationSeconds"), "15");
  EXPECT_EQ(field("leaseTransitions"), "0");
  EXPECT_EQ(field("acquireTime"), "\"2026-01-01T00:00:00.000000Z\"");
}

TEST_F(LeaseTest, ASilentHolderIsSucceededAfterTheLeaseDurationOfTheWaitersClock) {
  process_a.spawn("a", a.lead(world));
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  ASSERT_TRUE(a.working);
  process_a.stop();
  const TimePoint died = world.now();
  ASSERT_TRUE(world.run_for(60s, [&] { return b.working; }));
  EXPECT_GE(world.now() - died, 12s);
  EXPECT_LE(world.now() - died, 20s);
  EXPECT_EQ(field("leaseTransitions"), "1");
}

TEST_F(LeaseTest, AHolderWithAClockOfAnotherCenturyIsStillRespected) {
  const Json spec = {{"holderIdentity", "z"},
                     {"leaseDurationSeconds", 15},
                     {"renewTime", "1999-01-01T00:00:00.000000Z"}};
  leases.lease = {{"metadata", {{"resourceVersion", "0"}}}, {"spec", spec}};
  scope.spawn("b", b.lead(world));
  world.run_for(14s);
  EXPECT_FALSE(b.working);
  world.run_for(6s);
  EXPECT_TRUE(b.working);
}

TEST_F(LeaseTest, ALeaseGivenBackIsTakenAtOnce) {
  process_a.spawn("a", a.lead(world));
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  process_a.stop();
  world.settle();
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_EQ(field("holderIdentity"), "\"\"");
  const TimePoint released = world.now();
  ASSERT_TRUE(world.run_for(60s, [&] { return b.working; }));
  EXPECT_LE(world.now() - released, 4s);
}

TEST_F(LeaseTest, ACutOffLeaderStopsBeforeAnotherBegins) {
  process_a.spawn("a", a.lead(world));
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  ASSERT_TRUE(a.working);
  a.faults->partitioned = true;
  const bool both = world.run_for(60s, [&] { return a.working && b.working; });
  EXPECT_FALSE(both);
  EXPECT_FALSE(a.working);
  EXPECT_TRUE(b.working);
  ASSERT_TRUE(a.ended);
  EXPECT_FALSE(*a.ended);
}

TEST_F(LeaseTest, AWallClockThatStepsBackDoesNotLetTheOldLeaderLeadLonger) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  ASSERT_TRUE(a.working);
  a.faults->partitioned = true;
  world.run_for(3s);
  world.step_wall(-1h);
  world.run_for(10s);
  EXPECT_FALSE(a.working) << "it renewed last more than ten seconds ago";
}

TEST_F(LeaseTest, AWallClockThatStepsDoesNotChangeWhenASilentHolderIsSucceeded) {
  for (const Duration step : {Duration(1h), Duration(-1h)}) {
    leases.lease = {{"metadata", {{"resourceVersion", std::to_string(++leases.version)}}},
                    {"spec", {{"holderIdentity", "z"}, {"leaseDurationSeconds", 15}}}};
    TaskScope process(world.executor());
    Candidate waiter(*this, "waiter");
    process.spawn("waiter", waiter.lead(world));
    world.run_for(3s);
    world.step_wall(step);
    world.run_for(11s);
    EXPECT_FALSE(waiter.working) << "after a step of " << step.count() << " ms";
    world.run_for(6s);
    EXPECT_TRUE(waiter.working) << "after a step of " << step.count() << " ms";
    process.stop();
    world.settle();
  }
}

TEST_F(LeaseTest, ALeaderWhoseLeaseWasTakenStopsAtItsNextRenewal) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  leases.lease["spec"]["holderIdentity"] = "thief";
  leases.lease["metadata"]["resourceVersion"] = std::to_string(++leases.version);
  world.run_for(2500ms);
  EXPECT_FALSE(a.working);
  EXPECT_EQ(a.ended->error().what(), "the lease is held by thief");
}

TEST_F(LeaseTest, LostRepliesOfRenewalsDoNotCostTheLease) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  a.faults->lose_reply = 0.2;
  world.run_for(2min);
  EXPECT_TRUE(a.working) << (a.ended ? a.ended->error().what() : "");
}

TEST_F(LeaseTest, ARenewalIsOneRequest) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  server.seen.clear();
  world.run_for(20s);
  EXPECT_EQ(server.seen.size(), 10u);
  for (const auto& request : server.seen) EXPECT_EQ(request.method, "PATCH");
}

}  // namespace
}  // namespace regatta::kube
