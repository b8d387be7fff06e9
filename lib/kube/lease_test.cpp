#include "lib/kube/lease.h"

#include "lib/kube/faulty_sender.h"
#include "lib/kube/kube_test.h"
#include "lib/kube/status.h"

#include <gmock/gmock.h>

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// One Lease, with optimistic concurrency and watches.
struct LeaseServer {
  explicit LeaseServer(sim::World& world) : world(world) {}

  sim::World& world;
  Json lease;
  int version = 0;
  bool may_be_watched = true;
  unsigned refuses = 0;  ///< answers everything with this status
  std::vector<std::shared_ptr<PushStream>> watches;

  net::HttpResponse answer(const net::HttpRequest& request) {
    if (refuses != 0) return refusal(refuses, "Refused");
    if (request.target.find("watch=1") != std::string::npos) return watch();
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
    for (const auto& stream : watches) stream->push(event_line("MODIFIED", lease));
    return net::HttpResponse(200, dump_json(lease));
  }
  /// As an operator does.
  void remove() {
    for (const auto& stream : watches) stream->push(event_line("DELETED", lease));
    lease = nullptr;
  }
  net::HttpResponse watch() {
    if (!may_be_watched) return refusal(403, "Forbidden");
    watches.push_back(std::make_shared<PushStream>(world.executor()));
    net::HttpResponse response(200, "");
    response.stream = watches.back();
    return response;
  }
  static net::HttpResponse refusal(unsigned code, const char* reason) {
    const Json body = {{"kind", "Status"}, {"reason", reason}, {"message", reason}};
    return net::HttpResponse(code, dump_json(body));
  }
};

/// Remembers the log.
struct Lines final : LogSink {
  std::vector<std::string> written;
  bool enabled(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view, std::string_view message,
             std::initializer_list<KV>) override {
    written.emplace_back(message);
  }
};

/// A process that wants to lead, behind a network of its own.
struct Candidate {
  Candidate(KubeTest& test, std::string name) : Candidate(test, named(std::move(name))) {}
  Candidate(KubeTest& test, LeaderElectionOptions options)
      : sender(test.sender, test.world, test.world.rng, faults),
        client(ClientDeps{sender, test.world, test.world.rng, nullptr, {}}),
        leadership(test.world),
        writer(ClientDeps{sender, test.world, test.world.rng, nullptr, gated(leadership)}),
        elector(client, test.world, test.world.rng, Log(lines, "elector"), std::move(options),
                leadership) {}

  static LeaderElectionOptions named(std::string name) {
    LeaderElectionOptions options;
    options.lease = api::ObjectKey("ns", "regatta");
    options.identity = std::move(name);
    return options;
  }

  static ClientConfig gated(const Leadership& leadership) {
    ClientConfig config;
    config.write_gate = &leadership;
    return config;
  }

  std::shared_ptr<NetworkFaults> faults = std::make_shared<NetworkFaults>();
  FaultySender sender;
  Client client;
  Leadership leadership;
  Client writer;  ///< of what it does while it leads
  std::shared_ptr<Lines> lines = std::make_shared<Lines>();
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

const api::ResourceInfo& things = Thing::resource;

Task<> patch_thing(Client& writer) {
  (void)co_await writer.patch_raw(things, {"ns", "t"}, PatchType::merge, "{}");
}

struct LeaseTest : KubeTest {
  LeaseServer leases{world};
  Candidate a{*this, "a"}, b{*this, "b"};
  TaskScope process_a{world.executor()};

  LeaseTest() {
    server.otherwise = [this](const net::HttpRequest& request) { return leases.answer(request); };
  }
  /// The process of `a` has led for a while, and no longer renews.
  void lead_and_stop() {
    process_a.spawn("a", a.lead(world));
    world.run_for(20s);
    process_a.stop();
    world.settle();
  }
  /// A write that has left, and whose answer takes three seconds.
  void send_slowly(Client& writer) {
    server.delay = 3s;
    scope.spawn("write", patch_thing(writer));
    world.run_for(10ms);
  }
  /// Of what `a` sends, for those that wait for a second only.
  ClientDeps hasty_writer() {
    ClientConfig hasty = Candidate::gated(a.leadership);
    hasty.timeout = 1s;
    return ClientDeps{a.sender, world, world.rng, nullptr, hasty};
  }
  /// As if another process had written the lease.
  void take_from_a(const char* holder) {
    leases.lease["spec"]["holderIdentity"] = holder;
    leases.lease["metadata"]["resourceVersion"] = std::to_string(++leases.version);
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
  EXPECT_NE(field("acquireTime"), "\"2026-01-01T00:00:00.000000Z\"") << "that is a's";
}

TEST_F(LeaseTest, TheDurationThatTheHolderWroteCounts) {
  leases.lease = {{"metadata", {{"resourceVersion", "0"}}},
                  {"spec", {{"holderIdentity", "z"}, {"leaseDurationSeconds", 60}}}};
  scope.spawn("b", b.lead(world));
  world.run_for(59s);
  EXPECT_FALSE(b.working) << "its own configuration says 15 seconds";
  world.run_for(10s);
  EXPECT_TRUE(b.working);
}

TEST_F(LeaseTest, AnAttemptToAcquireThatHangsLeavesTimeForAnother) {
  a.faults->partitioned = true;
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  a.faults->partitioned = false;
  ASSERT_TRUE(world.run_for(9s, [&] { return a.working; }));
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
  EXPECT_NE(field("holderIdentity"), "\"a\"");
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

// The record of a lease holds whole seconds.
TEST_F(LeaseTest, ADurationWithAFractionOfASecondIsNotCut) {
  const auto quick = [](const char* name) {
    LeaderElectionOptions options = Candidate::named(name);
    options.lease_duration = 2900ms;
    options.renew_deadline = 2800ms;
    options.retry_period = 500ms;
    return options;
  };
  Candidate leader(*this, quick("leader")), standby(*this, quick("standby"));
  TaskScope process(world.executor()), other(world.executor());
  process.spawn("leader", leader.lead(world));
  ASSERT_TRUE(world.run_for(10s, [&] { return leader.working; }));
  other.spawn("standby", standby.lead(world));
  world.run_for(5s);
  EXPECT_EQ(field("leaseDurationSeconds"), "3");
  leader.faults->partitioned = true;
  ASSERT_TRUE(world.run_for(10s, [&] { return standby.working; }));
  EXPECT_FALSE(leader.leadership.held());
  process.stop();
  other.stop();
  world.settle();
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
  take_from_a("thief");
  world.run_for(2500ms);
  EXPECT_FALSE(a.working);
  EXPECT_EQ(a.ended->error().what(), "the lease is held by thief");
  EXPECT_FALSE(a.elector.is_leader());
  EXPECT_FALSE(a.leadership.held()) << "its writes end before their deadline";
  server.seen.clear();
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_TRUE(server.seen.empty()) << "there is nothing to give back";
}

TEST_F(LeaseTest, ALeaderDoesNotTakeUpALeaseThatAnotherHeldAndGaveBack) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  take_from_a("");
  world.run_for(2500ms);
  EXPECT_FALSE(a.working);
  EXPECT_EQ(field("holderIdentity"), "\"\"");
}

TEST_F(LeaseTest, ALeaseThatAnotherTookIsNotGivenBack) {
  lead_and_stop();
  take_from_a("thief");
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_EQ(field("holderIdentity"), "\"thief\"");
}

TEST_F(LeaseTest, ALeaseIsGivenBackAfterARenewalWhoseReplyWasNotAwaited) {
  lead_and_stop();
  take_from_a("a");
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_EQ(field("holderIdentity"), "\"\"");
  EXPECT_EQ(field("leaseDurationSeconds"), "1") << "other implementations wait for that long";
}

TEST_F(LeaseTest, LostRepliesOfRenewalsDoNotCostTheLease) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  a.faults->lose_reply = 0.2;
  world.run_for(2min);
  EXPECT_TRUE(a.working) << (a.ended ? a.ended->error().what() : "");
}

TEST_F(LeaseTest, ARenewalThatHangsLeavesTimeForAnother) {
  for (const Duration cut : {Duration(1s), Duration(3s), Duration(5s), Duration(6s)}) {
    TaskScope process(world.executor());
    Candidate leader(*this, "leader");
    process.spawn("leader", leader.lead(world));
    ASSERT_TRUE(world.run_for(1min, [&] { return leader.working; }));
    world.run_for(1900ms);
    leader.faults->partitioned = true;
    world.run_for(cut);
    leader.faults->partitioned = false;
    world.run_for(30s);
    EXPECT_TRUE(leader.working) << "cut off for " << cut.count() << " ms";
    process.stop();
    world.settle();
    ASSERT_TRUE(run(leader.elector.release()));
  }
}

TEST_F(LeaseTest, AServerThatIsSlowDoesNotCostTheLease) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  a.faults->delay_min = a.faults->delay_max = 3s;
  world.run_for(2min);
  EXPECT_TRUE(a.working) << (a.ended ? a.ended->error().what() : "");
}

TEST_F(LeaseTest, RenewalsThatFailAreLogged) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  a.lines->written.clear();
  a.faults->partitioned = true;
  world.run_for(20s);
  ASSERT_GE(a.lines->written.size(), 4u);
  EXPECT_EQ(a.lines->written.front(), "cannot renew the lease");
  EXPECT_EQ(a.lines->written.back(), "leadership lost");
}

TEST_F(LeaseTest, AStandbyTakesOverRightAfterTheDurationOfTheLease) {
  // Leaders die at different moments between two renewals.
  for (int round = 0; round < 8; ++round) {
    TaskScope process(world.executor()), standby(world.executor());
    Candidate victim(*this, "victim"), next(*this, "next");
    process.spawn("victim", victim.lead(world));
    ASSERT_TRUE(world.run_for(1min, [&] { return victim.working; }));
    standby.spawn("next", next.lead(world));
    world.run_for(20s + 250ms * round);
    process.stop();
    const SteadyPoint died = world.steady();
    ASSERT_TRUE(world.run_for(60s, [&] { return next.working; }));
    EXPECT_LE(world.steady() - died, 15s + 100ms) << "round " << round;
    EXPECT_GE(world.steady() - died, 13s - 100ms) << "round " << round;
    standby.stop();
    world.settle();
    ASSERT_TRUE(run(next.elector.release()));
  }
}

TEST_F(LeaseTest, AStandbyLearnsAtOnceThatTheLeaseIsGivenBack) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  process_a.stop();
  world.settle();
  ASSERT_TRUE(run(a.elector.release()));
  const SteadyPoint released = world.steady();
  ASSERT_TRUE(world.run_for(60s, [&] { return b.working; }));
  EXPECT_LE(world.steady() - released, 10ms);
}

TEST_F(LeaseTest, ADeletedLeaseOfADeadLeaderIsTakenAfterItsDuration) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  process_a.stop();
  world.settle();
  const SteadyPoint died = world.steady();
  leases.remove();
  ASSERT_TRUE(world.run_for(60s, [&] { return b.working; }));
  EXPECT_GE(world.steady() - died, 13s - 100ms) << "the leader might have lived";
  EXPECT_LE(world.steady() - died, 15s + 100ms);
  EXPECT_EQ(field("holderIdentity"), "\"b\"");
}

TEST_F(LeaseTest, ALeaderCreatesADeletedLeaseAgainBeforeAStandbyLeads) {
  for (const bool watched : {true, false}) {
    leases.may_be_watched = watched;
    TaskScope process(world.executor()), standby(world.executor());
    Candidate leader(*this, "leader"), other(*this, "other");
    process.spawn("leader", leader.lead(world));
    ASSERT_TRUE(world.run_for(1min, [&] { return leader.working; }));
    standby.spawn("other", other.lead(world));
    world.run_for(20s);
    for (int i = 0; i < 3; ++i) {
      leases.remove();
      EXPECT_FALSE(world.run_for(30s, [&] { return other.working; })) << "watched: " << watched;
      EXPECT_TRUE(leader.working) << "watched: " << watched;
      EXPECT_EQ(field("holderIdentity"), "\"leader\"");
    }
    process.stop();
    standby.stop();
    world.settle();
    ASSERT_TRUE(run(leader.elector.release()));
  }
}

TEST_F(LeaseTest, ALeaderWithoutStandbysCreatesADeletedLeaseAgain) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  leases.remove();
  world.run_for(60s);
  EXPECT_TRUE(a.working);
  EXPECT_TRUE(a.leadership.held());
  EXPECT_EQ(field("holderIdentity"), "\"a\"");
}

TEST_F(LeaseTest, ALeaderEndsWhenTheServerWentBackToLowerVersions) {
  for (const bool had_lease : {true, false}) {
    TaskScope process(world.executor());
    Candidate leader(*this, "leader");
    process.spawn("leader", leader.lead(world));
    world.run_for(1min);
    ASSERT_TRUE(leader.working);
    leases.version = 2;
    leases.lease["metadata"]["resourceVersion"] = "2";
    if (!had_lease) leases.remove();
    world.run_for(5s);
    EXPECT_FALSE(leader.working);
    EXPECT_FALSE(leader.leadership.held());
    ASSERT_TRUE(leader.ended);
    EXPECT_EQ(leader.ended->error().what(), "the API server went back to an older state");
    process.stop();
    world.settle();
    leases.lease = nullptr;
  }
}

TEST_F(LeaseTest, AStandbyThatMayNotWatchReadsTheLeaseAgainAndAgain) {
  leases.may_be_watched = false;
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(20s);
  process_a.stop();
  const SteadyPoint died = world.steady();
  ASSERT_TRUE(world.run_for(60s, [&] { return b.working; }));
  EXPECT_LE(world.steady() - died, 20s);
}

TEST_F(LeaseTest, ACandidateThatIsRejectedForMinutesGivesUp) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(1h);
  for (const auto& stream : leases.watches) stream->end();
  leases.refuses = 401;
  world.run_for(4min);
  EXPECT_FALSE(b.ended);
  ASSERT_TRUE(world.run_for(2min, [&] { return b.ended.has_value(); }));
  EXPECT_EQ(b.ended->error().code(), Errc::denied);
  EXPECT_THAT(b.ended->error().what(), HasSubstr("acquiring the lease ns/regatta"));
}

TEST_F(LeaseTest, ACandidateThatTrustsTheServerNoMoreGivesUp) {
  struct Untrusting final : net::HttpSender {
    Task<Result<net::HttpResponse>> send(net::HttpRequest, net::SendOptions) override {
      co_return Error(Errc::denied, "the server's certificate is not accepted");
    }
  } untrusting;
  Client client(ClientDeps{untrusting, world, world.rng, nullptr, {}});
  Leadership leadership(world);
  LeaderElector elector(client, world, world.rng, Log(), Candidate::named("c"), leadership);
  EXPECT_EQ(run(elector.acquire()).error().code(), Errc::denied);
}

TEST_F(LeaseTest, ACandidateWaitsForAServerThatIsDownOrForbidsTheLease) {
  scope.spawn("b", b.lead(world));
  b.faults->partitioned = true;
  world.run_for(1h);
  b.faults->partitioned = false;
  for (const unsigned status : {403u, 500u, 503u}) {
    leases.refuses = status;
    world.run_for(1h);
    EXPECT_FALSE(b.ended) << status;
  }
  for (int i = 0; i < 3; ++i) {
    leases.refuses = 401;
    world.run_for(4min);
    leases.refuses = 500;
    world.run_for(10s);
  }
  EXPECT_FALSE(b.ended) << "it was rejected for a while, but not each time";
  leases.refuses = 0;
  EXPECT_TRUE(world.run_for(1min, [&] { return b.working; }));
}

TEST_F(LeaseTest, AStandbyThatWatchesSendsNextToNothing) {
  process_a.spawn("a", a.lead(world));
  world.run_for(1s);
  scope.spawn("b", b.lead(world));
  world.run_for(1s);
  server.seen.clear();
  world.run_for(1min);
  for (const auto& request : server.seen) EXPECT_EQ(request.method, "PATCH") << request.target;
}

// --- fencing ---

TEST_F(LeaseTest, WithoutLeadershipNothingButReadsLeaves) {
  const auto refused = run(a.writer.patch_raw(things, {"ns", "t"}, PatchType::merge, "{}"));
  EXPECT_EQ(refused.error().code(), Errc::denied);
  EXPECT_EQ(run(a.writer.remove(things, {"ns", "t"})).error().code(), Errc::denied);
  EXPECT_EQ(run(a.writer.create_raw(things, "ns", "{}")).error().code(), Errc::denied);
  EXPECT_TRUE(server.seen.empty());
  (void)run(a.writer.get_raw(things, {"ns", "t"}));
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST_F(LeaseTest, AWriteThatIsHeldUpPastTheDeadlineOfRenewalNeverLeaves) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  ASSERT_TRUE(a.working);
  // As when the process is stopped between a decision and its request: the decision was right.
  a.faults->delay_min = a.faults->delay_max = 25s;
  scope.spawn("write", [](Client& writer) -> Task<> {
    (void)co_await writer.patch_raw(things, {"ns", "late"}, PatchType::merge, "{}");
  }(a.writer));
  world.run_for(1min);
  for (const auto& request : server.seen) EXPECT_THAT(request.target, Not(HasSubstr("late")));
}

TEST_F(LeaseTest, WritesEndWithTheLastRenewalBeforeAnyTimerRuns) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  a.faults->partitioned = true;
  world.run_for(10s - 2s);
  EXPECT_TRUE(a.leadership.held());
  world.run_for(2s);
  EXPECT_FALSE(a.leadership.held());
  world.run_for(1min, [&] { return b.working; });
}

TEST_F(LeaseTest, WritesEndTheRenewDeadlineAfterTheLastRenewalWasBegun) {
  for (const int renewals : {0, 3}) {
    TaskScope process(world.executor());
    Candidate leader(*this, "leader");
    // A second to the server, which may record the renewal at once, and a second back.
    leader.faults->delay_min = leader.faults->delay_max = 2s;
    process.spawn("leader", leader.lead(world));
    ASSERT_TRUE(world.run_for(1min, [&] { return leader.working; }));
    Duration since_begun = 4s;  // a read and a write
    for (int i = 0; i < renewals; ++i) {
      const int version = leases.version;
      ASSERT_TRUE(world.run_for(1min, [&] { return leases.version > version; }));
      world.run_for(1500ms);
      since_begun = 2500ms;
    }
    // No timer of the elector runs any more, as in a process that is stopped.
    process.stop();
    world.settle();
    world.run_for(10s - since_begun - 10ms);
    EXPECT_TRUE(leader.leadership.held()) << "after " << renewals << " renewals";
    world.run_for(20ms);
    EXPECT_FALSE(leader.leadership.held()) << "after " << renewals << " renewals";
    leader.faults->delay_min = leader.faults->delay_max = Duration(0);
    ASSERT_TRUE(run(leader.elector.release()));
  }
}

TEST_F(LeaseTest, ARenewalMovesTheEndOfItsWrites) {
  process_a.spawn("a", a.lead(world));
  world.run_for(5min);
  EXPECT_TRUE(run(a.writer.remove(things, {"ns", "t"})).error().code() != Errc::denied);
  process_a.stop();
  world.settle();
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_FALSE(a.leadership.held()) << "given back";
}

TEST_F(LeaseTest, TheLeaseIsGivenBackWhenTheWritesThatHaveLeftAreAnswered) {
  lead_and_stop();
  send_slowly(a.writer);
  server.delay = Duration(0);
  const SteadyPoint begun = world.steady();
  ASSERT_TRUE(run(a.elector.release()));
  EXPECT_GE(world.steady() - begun, 2900ms);
  EXPECT_LE(world.steady() - begun, 3100ms);
  EXPECT_EQ(field("holderIdentity"), "\"\"");
}

TEST_F(LeaseTest, ACandidateThatIsRejectedBeforeItTriesGivesUp) {
  Status why = ok();
  scope.spawn("waiting", a.elector.until_rejected(&why));
  world.run_for(1h);
  EXPECT_TRUE(why);
  leases.refuses = 403;
  world.run_for(1h);
  EXPECT_TRUE(why) << "it is known there";
  leases.refuses = 401;
  world.run_for(4min);
  EXPECT_TRUE(why);
  world.run_for(2min);
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().code(), Errc::denied);
}

TEST_F(LeaseTest, AWriteThatWasGivenUpBeforeTheReleaseKeepsTheLease) {
  process_a.spawn("a", a.lead(world));
  world.run_for(20s);
  Client writer(hasty_writer());
  scope.spawn("write", patch_thing(writer));
  server.delay = 3s;
  world.run_for(2s);
  server.delay = Duration(0);
  world.run_for(4s);
  process_a.stop();
  world.settle();
  EXPECT_EQ(run(a.elector.release()).error().code(), Errc::timeout);
}

TEST_F(LeaseTest, NothingIsSentWhileAReleaseWaitsForAnswers) {
  lead_and_stop();
  send_slowly(a.writer);
  std::optional<Status> released;
  scope.spawn("release", [](LeaderElector& elector, std::optional<Status>* into) -> Task<> {
    *into = co_await elector.release();
  }(a.elector, &released));
  server.delay = Duration(0);  // of what comes now
  world.run_for(1s);
  EXPECT_FALSE(released);
  server.seen.clear();
  EXPECT_EQ(run(a.writer.remove(things, {"ns", "t"})).error().code(), Errc::denied);
  EXPECT_TRUE(server.seen.empty());
}

TEST_F(LeaseTest, TheLeaseIsKeptWhenAWriteHasNoAnswer) {
  lead_and_stop();
  Client writer(hasty_writer());
  send_slowly(writer);
  server.delay = Duration(0);
  EXPECT_EQ(run(a.elector.release()).error().code(), Errc::timeout);
  EXPECT_EQ(field("holderIdentity"), "\"a\"") << "the server may act on it later";
  EXPECT_FALSE(a.leadership.held());
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
