#include "lib/kube/faulty_sender.h"

#include "lib/kube/kube_test.h"
#include "lib/kube/status.h"
#include "lib/runtime/deadline.h"

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

struct FaultsTest : KubeTest {
  std::shared_ptr<NetworkFaults> faults = std::make_shared<NetworkFaults>();
  FaultySender faulty{sender, world, world.rng, faults};
  Client shaky{ClientDeps{faulty, world, world.rng, nullptr, {}}};
  const api::ObjectKey key{"ns", "a"};

  FaultsTest() {
    server.otherwise = [](const net::HttpRequest&) {
      return net::HttpResponse(200, dump_json(thing_json("a", "1")));
    };
  }
  Task<Result<std::optional<WatchEvent>>> with_deadline_of(WatchStream stream) {
    auto event = stream.next();
    co_return co_await with_deadline(world, world.steady() + 60s, std::move(event));
  }
  Errc get() {
    const auto answer = run(shaky.get<Thing>(key));
    return answer ? Errc{} : answer.error().code();
  }
};

TEST_F(FaultsTest, ADroppedRequestNeverArrives) {
  faults->drop_before = 1;
  EXPECT_EQ(get(), Errc::unavailable);
  EXPECT_TRUE(server.seen.empty());
}

TEST_F(FaultsTest, ALostReplyIsAWriteThatMayHaveHappened) {
  faults->lose_reply = 1;
  const Status removed = run(shaky.remove<Thing>(key));
  EXPECT_TRUE(may_have_happened(removed.error()));
  EXPECT_EQ(server.seen.size(), 1u) << "it did";
}

TEST_F(FaultsTest, AHangingReplyEndsAtTheDeadline) {
  faults->hang_reply = 1;
  EXPECT_EQ(get(), Errc::timeout);
  EXPECT_EQ(world.now() - start, 30s);
  EXPECT_EQ(server.seen.size(), 1u);
}

TEST_F(FaultsTest, OnlyBodiesBeyondTheLimitAreRefused) {
  faults->body_max = 1000;
  EXPECT_EQ(get(), Errc{});
  faults->body_max = 10;
  EXPECT_EQ(get(), Errc::too_large);
  EXPECT_EQ(server.seen.size(), 2u);
}

TEST_F(FaultsTest, APartitionLetsNothingPass) {
  faults->partitioned = true;
  EXPECT_EQ(get(), Errc::timeout);
  EXPECT_TRUE(server.seen.empty());
}

TEST_F(FaultsTest, ConflictsHitWritesAlone) {
  faults->conflict = 1;
  EXPECT_EQ(run(shaky.get<Thing>(key))->metadata.name, "a");
  const Status removed = run(shaky.remove<Thing>(key));
  EXPECT_EQ(removed.error().code(), Errc::conflict);
}

TEST_F(FaultsTest, TooManyAsksToComeBack) {
  faults->too_many = 1;
  EXPECT_EQ(get(), Errc::unavailable);
  EXPECT_GE(world.now() - start, 5s);
}

TEST_F(FaultsTest, DelaysSlowEachExchange) {
  faults->delay_min = 100ms;
  faults->delay_max = 100ms;
  EXPECT_EQ(run(shaky.get<Thing>(key))->metadata.name, "a");
  EXPECT_EQ(world.now() - start, 100ms);
}

TEST_F(FaultsTest, WatchesAreCutStarvedOrDeclaredGone) {
  auto watch_with = [&](double NetworkFaults::* fault) -> std::optional<Errc> {
    auto stream = server.answer_watch();
    stream->push(event_line("ADDED", thing_json("a", "1")));
    auto opened = run(shaky.watch(Thing::resource, "ns", {}));
    (*faults).*fault = 1;
    auto event = run(with_deadline_of(std::move(*opened)));
    (*faults).*fault = 0;
    return event ? std::nullopt : std::optional(event.error().code());
  };
  EXPECT_EQ(watch_with(&NetworkFaults::cut_watch), Errc::unavailable);
  EXPECT_EQ(watch_with(&NetworkFaults::gone_in_watch), Errc::gone);
  EXPECT_EQ(watch_with(&NetworkFaults::half_open_watch), Errc::timeout);
  EXPECT_EQ(watch_with(&NetworkFaults::conflict), std::nullopt);
}

}  // namespace
}  // namespace regatta::kube
