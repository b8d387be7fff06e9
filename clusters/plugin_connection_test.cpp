#include "clusters/plugin_connection.h"

#include "lib/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace regatta::clusters {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct ScriptedRunner final : PluginRunner {
  explicit ScriptedRunner(Clock& clock) : clock(clock) {}
  Task<Result<std::string>> run(api::ExecPlugin, std::string) override {
    ++runs;
    co_await clock.sleep_for(takes);
    co_return answer;
  }
  Clock& clock;
  int runs = 0;
  Duration takes = 100ms;
  Result<std::string> answer = std::string();
};

struct AcceptingSender final : net::HttpSender {
  Task<Result<net::HttpResponse>> send(net::HttpRequest, net::SendOptions) override {
    co_return net::HttpResponse(200, "{}");
  }
};

struct PluginConnections : ::testing::Test {
  sim::World world{1};
  ScriptedRunner runner{world};
  std::vector<std::string> opened;  ///< certificates of the senders
  TaskScope scope{world.executor()};
  std::shared_ptr<PluginConnection> connection = make();

  void TearDown() override {
    scope.stop();
    world.run_for(1s);
  }
  std::shared_ptr<PluginConnection> make() {
    kubeconfig::ProfileAccess access;
    access.plugin.command = "/bin/plugin";
    access.plugin.provider = "p";
    access.plugin.api_version = "client.authentication.k8s.io/v1";
    const auto open = [this](const kubeconfig::Endpoint& endpoint) {
      opened.push_back(endpoint.client_certificate_pem);
      return Result<std::shared_ptr<net::HttpSender>>(std::make_shared<AcceptingSender>());
    };
    return std::make_shared<PluginConnection>(PluginConnectionDeps{open, runner, world, scope},
                                              access);
  }
  void answer(const std::string& status) {
    runner.answer = R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                    R"("status":)" +
                    status + "}";
  }
  void token(const std::string& token, Duration life) {
    answer(R"({"token":")" + token + R"(","expirationTimestamp":")" +
           format_rfc3339(world.now() + life) + R"("})");
  }
  /// "token" or "! error"; "waits" when there is no answer at once.
  std::string ask(Duration within = 1s) {
    auto said = std::make_shared<std::string>("waits");
    scope.spawn("ask", tell(connection, said));
    world.run_for(within);
    return *said;
  }
  static Task<> send(std::shared_ptr<PluginConnection> to) {
    (void)co_await to->send(net::HttpRequest("GET", "/"), {});
  }
  static Task<> tell(std::shared_ptr<PluginConnection> from, std::shared_ptr<std::string> said) {
    auto got = co_await from->bearer_token();
    *said = got ? *got : "! " + got.error().what();
  }
};

TEST_F(PluginConnections, ThePluginRunsWhenTheFirstRequestAsksAndOnceForAll) {
  answer(R"({"token":"t"})");
  world.run_for(1h);
  EXPECT_EQ(runner.runs, 0);
  auto a = std::make_shared<std::string>(), b = std::make_shared<std::string>();
  scope.spawn("a", tell(connection, a));
  scope.spawn("b", tell(connection, b));
  world.run_for(1s);
  EXPECT_EQ(*a + *b, "tt");
  world.run_for(24h);
  EXPECT_EQ(ask(), "t");
  EXPECT_EQ(runner.runs, 1);
}

TEST_F(PluginConnections, ATokenIsRenewedBeforeItEndsWhileRequestsUseTheOldOne) {
  token("one", 10min);
  EXPECT_EQ(ask(), "one");
  token("two", 20min);
  runner.takes = 10s;
  world.run_for(7min + 50s);
  EXPECT_EQ(runner.runs, 1);
  world.run_for(9s);  // eight minutes after the token was taken
  EXPECT_EQ(runner.runs, 1);
  world.run_for(1s);
  EXPECT_EQ(runner.runs, 2);
  EXPECT_EQ(ask(0ms), "one");  // the plugin still runs
  world.run_for(10s);
  EXPECT_EQ(ask(0ms), "two");
}

TEST_F(PluginConnections, WhileARenewalFailsTheOldTokenCountsUntilItsEnd) {
  token("one", 10min);
  EXPECT_EQ(ask(), "one");
  runner.answer = Error(Errc::unavailable, "it did not end within 20s");
  world.run_for(9min + 50s);
  EXPECT_GE(runner.runs, 4);
  EXPECT_LE(runner.runs, 10);
  EXPECT_EQ(ask(), "one");
  world.run_for(15s);
  EXPECT_EQ(ask(2min),
            "! credential plugin /bin/plugin of access provider \"p\": it did not end within 20s");
  token("two", 1h);
  world.run_for(1min);
  EXPECT_EQ(ask(), "two");
}

TEST_F(PluginConnections, AfterAFailureThePluginHasAPause) {
  runner.answer = Error(Errc::unavailable, "no");
  for (int i = 0; i < 600; ++i) EXPECT_THAT(ask(1s), HasSubstr("! credential plugin"));
  EXPECT_GE(runner.runs, 10);
  EXPECT_LE(runner.runs, 20);
}

TEST_F(PluginConnections, ACredentialThatEndsAtOnceIsAFailureAndNoBusyLoop) {
  token("one", 2s);
  EXPECT_THAT(ask(), HasSubstr("too soon to be of use"));
  world.run_for(10min);
  EXPECT_EQ(runner.runs, 1);
}

TEST_F(PluginConnections, TheShortestLifeThatIsAcceptedIsRenewedWithAPause) {
  token("one", 11s);
  EXPECT_EQ(ask(), "one");
  for (int i = 0; i < 60; ++i) {
    token("next", 11s);
    world.run_for(1s);
  }
  EXPECT_GE(runner.runs, 6);
  EXPECT_LE(runner.runs, 9);
  EXPECT_EQ(ask(), "next");
}

TEST_F(PluginConnections, ARejectedTokenIsReplacedAndANewOneThatIsRejectedIsNot) {
  answer(R"({"token":"one"})");
  EXPECT_EQ(ask(), "one");
  answer(R"({"token":"two"})");
  connection->rejected();  // a second after the plugin gave it
  EXPECT_EQ(ask(), "one");
  world.run_for(10s);
  connection->rejected();
  EXPECT_EQ(ask(), "two");
  EXPECT_EQ(runner.runs, 2);
}

TEST_F(PluginConnections, WhileEachTokenIsRejectedThePluginRunsLessAndLessOften) {
  answer(R"({"token":"t"})");
  for (int second = 0; second < 3600; ++second) {
    EXPECT_EQ(ask(1s), "t");
    connection->rejected();
  }
  EXPECT_GE(runner.runs, 12);
  EXPECT_LE(runner.runs, 20);
  const int before = runner.runs;
  scope.spawn("send", send(connection));
  world.run_for(11s);
  connection->rejected();
  ask();
  EXPECT_EQ(runner.runs, before + 1) << "a token that was accepted may be replaced soon";
}

TEST_F(PluginConnections, NoMoreThanOneTaskWaitsForARenewal) {
  for (int run = 1; run <= 20; ++run) {
    token("t", 10h - 1min * run);
    ask();
    EXPECT_EQ(runner.runs, run);
    EXPECT_LE(scope.size(), 1u);
    scope.spawn("send", send(connection));
    world.run_for(10s);
    connection->rejected();
  }
  token("last", 10h);
  ask();
  const int runs = runner.runs;
  world.run_for(9h + 54min);
  EXPECT_EQ(runner.runs, runs) << "it is renewed five minutes before its end";
  world.run_for(2min);
  EXPECT_EQ(runner.runs, runs + 1);
  connection.reset();
  world.run_for(1s);
  EXPECT_EQ(scope.size(), 0u);
}

TEST_F(PluginConnections, OnlyANewCertificateNeedsANewClient) {
  answer(R"({"token":"one","expirationTimestamp":"2026-01-01T00:10:00Z"})");
  EXPECT_EQ(ask(), "one");
  answer(R"({"clientCertificateData":"c","clientKeyData":"k",
             "expirationTimestamp":"2026-01-01T01:00:00Z"})");
  world.run_for(9min);
  EXPECT_EQ(ask(), "");
  EXPECT_THAT(opened, ElementsAre("", "c"));
}

TEST_F(PluginConnections, OneThatWasGivenUpIsNotRenewed) {
  token("one", 10min);
  EXPECT_EQ(ask(), "one");
  connection.reset();
  world.run_for(1h);
  EXPECT_EQ(runner.runs, 1);
}

}  // namespace
}  // namespace regatta::clusters
