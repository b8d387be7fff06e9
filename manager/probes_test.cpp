#include "manager/probes.h"

#include "lib/net/memory_stream.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"
#include "manager/metrics.h"

#include <gtest/gtest.h>

namespace regatta::manager {
namespace {

std::string described(std::string_view text) {
  const auto address = parse_bind_address(text);
  if (!address) return "refused";
  if (!*address) return "off";
  return (*address)->host + " " + std::to_string((*address)->port);
}

TEST(BindAddress, IsHostAndPort) {
  EXPECT_EQ(described(":8081"), "0.0.0.0 8081");
  EXPECT_EQ(described("127.0.0.1:0"), "127.0.0.1 0");
  EXPECT_EQ(described("[::1]:443"), "::1 443");
  EXPECT_EQ(described("localhost:80"), "127.0.0.1 80");
  EXPECT_EQ(described("0"), "off");
  EXPECT_EQ(described(""), "off");
  EXPECT_EQ(described("8081"), "refused");
  EXPECT_EQ(described(":http"), "refused");
  EXPECT_EQ(described(":65536"), "refused");
  EXPECT_EQ(described("::1:80"), "refused");
}

class Pages : public ::testing::Test {
 protected:
  net::HttpResponse get(std::string method, std::string target) {
    sim::World world(1);
    TaskScope scope(world.executor());
    net::HttpResponse got;
    auto ask = [&]() -> Task<> {
      net::HttpRequest request(method, target);
      got = co_await pages.handle(std::move(request));
    };
    scope.spawn("ask", ask());
    world.run_until(SteadyPoint(std::chrono::seconds(1)));
    return got;
  }
  TextPages pages;
};

TEST_F(Pages, ReadinessFollowsTheManager) {
  bool ready = false;
  add_probe_pages(&pages, HealthConfig(), [&] { return ready ? "" : "the caches"; });
  EXPECT_EQ(get("GET", "/healthz").status, 200u);
  EXPECT_EQ(get("GET", "/readyz").status, 500u);
  ready = true;
  EXPECT_EQ(get("GET", "/readyz?verbose").status, 200u);
  EXPECT_EQ(get("POST", "/readyz").status, 405u);
  EXPECT_EQ(get("GET", "/").status, 404u);
}

TEST_F(Pages, MakingATextTakesATenthOfTheTimeAtMost) {
  struct MovedClock final : Clock {
    SteadyPoint at{};
    TimePoint now() const override { return TimePoint(); }
    SteadyPoint steady() const override { return at; }
    Task<> sleep_until(SteadyPoint) override { co_return; }
  } clock;
  int made = 0;
  Duration takes{0};
  CachedText text(clock, [&] {
    clock.at += takes;
    return std::to_string(++made);
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(text.text(), "1");
  clock.at += Duration(1000);
  EXPECT_EQ(text.text(), "2") << "a second later it is made anew";
  takes = Duration(500);
  clock.at += Duration(1000);
  EXPECT_EQ(text.text(), "3");
  clock.at += Duration(4999);
  EXPECT_EQ(text.text(), "3");
  clock.at += Duration(1);
  EXPECT_EQ(text.text(), "4");
}

/// A port of pages, and what any client may do to it.
struct PagesPort : ::testing::Test {
  sim::World world{1};
  std::shared_ptr<net::MemoryNetwork> network =
      std::make_shared<net::MemoryNetwork>(world.executor());
  TextPages pages;
  net::HttpServer server{world.executor(), world, network->listen("pages", 80), pages,
                         page_server_options()};
  TaskScope scope{world.executor()};
  std::vector<std::string> answers;

  PagesPort() {
    add_probe_pages(&pages, HealthConfig(), [] { return ""; });
    scope.spawn("server", server.run());
  }
  void TearDown() override {
    scope.stop();
    world.settle();
  }
  /// Sends `text` and reads until the server closes.
  void connect(std::string text) {
    answers.emplace_back();
    scope.spawn("client", [](PagesPort& test, std::string text, std::size_t at) -> Task<> {
      auto stream = co_await test.network->dial("pages", 80, SteadyPoint::max());
      (void)co_await (*stream)->write_all(text);
      std::vector<char> buffer(4096);
      for (;;) {
        auto n = co_await (*stream)->read_some(buffer);
        if (!n || *n == 0) co_return;
        test.answers[at].append(buffer.data(), *n);
      }
    }(*this, std::move(text), answers.size() - 1));
  }
};

TEST_F(PagesPort, NoBodyIsRead) {
  connect("POST /healthz HTTP/1.1\r\nContent-Length: 3000000\r\n\r\nxxx");
  connect("GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  connect("GET /healthz HTTP/1.1\r\n\r\n");
  world.run_for(std::chrono::seconds(1));
  EXPECT_EQ(answers[0].substr(0, 12), "HTTP/1.1 413");
  EXPECT_EQ(answers[1].substr(0, 12), "HTTP/1.1 413");
  EXPECT_EQ(answers[2].substr(0, 12), "HTTP/1.1 200");
}

TEST_F(PagesPort, ThousandsOfSilentConnectionsDoNotKeepOthersOut) {
  std::size_t most = 0;
  for (int i = 0; i < 4096; ++i) {
    connect("POST /metrics HTTP/1.1\r\nContent-");
    world.settle();
    most = std::max(most, server.connections());
  }
  EXPECT_LE(most, 65u);
  connect("GET /healthz HTTP/1.1\r\n\r\n");
  world.settle();
  EXPECT_EQ(answers.back().substr(0, 12), "HTTP/1.1 200");
}

TEST_F(PagesPort, LongHeadersAreRefused) {
  connect("GET /healthz HTTP/1.1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n");
  connect("GET /healthz HTTP/1.1\r\nX: " + std::string(7000, 'x') + "\r\n\r\n");
  world.run_for(std::chrono::seconds(1));
  EXPECT_EQ(answers[0].substr(0, 12), "HTTP/1.1 431");
  EXPECT_EQ(answers[1].substr(0, 12), "HTTP/1.1 200");
}

TEST_F(PagesPort, ARequestThatDoesNotEndIsCutOff) {
  connect("GET /heal");
  world.run_for(std::chrono::seconds(4));
  EXPECT_EQ(server.connections(), 1u);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(PagesPort, AConnectionThatIsNotUsedIsClosed) {
  connect("GET /healthz HTTP/1.1\r\n\r\n");
  world.run_for(std::chrono::seconds(89));
  EXPECT_EQ(server.connections(), 1u) << "Prometheus asks once a minute";
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(PagesPort, AClientThatDoesNotReadIsCutOff) {
  pages.add("/long", [] { return TextPages::Page{200, "text/plain", std::string(1 << 20, 'x')}; });
  scope.spawn("client", [](PagesPort& test) -> Task<> {
    auto stream = co_await test.network->dial("pages", 80, SteadyPoint::max());
    (void)co_await (*stream)->write_all("GET /long HTTP/1.1\r\n\r\n");
    co_await test.world.sleep_for(std::chrono::hours(1));
  }(*this));
  world.run_for(std::chrono::seconds(9));
  EXPECT_EQ(server.connections(), 1u);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(Pages, MetricsAreText) {
  Metrics metrics({"standalone", false, {}}, "1.2.3");
  CoreConfig config;
  metrics.hook_into(&config);
  config.scheduler.on_cycle({.success = true,
                             .took = Duration(20),
                             .skipped_preemptors = {"cq", "cq"},
                             .recomputed = {{"cq", admission::Recomputed::Outcome::deferred_fit}}});
  config.dispatch.on_dispatched("fleet", "east");
  add_metrics_page(&pages, [&] { return metrics.text(); });
  const net::HttpResponse got = get("GET", "/metrics");
  EXPECT_EQ(got.status, 200u);
  for (const char* line :
       {"kueue_admission_attempts_total{replica_role=\"standalone\",result=\"success\"} 1",
        "multikueue_workloads_dispatched_total{cluster=\"east\",cluster_queue=\"fleet\","
        "replica_role=\"standalone\"} 1",
        "kueue_admission_cycle_preemption_skips{cluster_queue=\"cq\",replica_role=\"standalone\"} "
        "2",
        "kueue_preemption_target_recomputations_total{cluster_queue=\"cq\",replica_role="
        "\"standalone\",result=\"deferred_fit\"} 1"}) {
    EXPECT_NE(got.body.find(line), std::string::npos) << got.body;
  }
}

}  // namespace
}  // namespace regatta::manager
