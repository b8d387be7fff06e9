#include "clusters/plugin_runner.h"

#include "lib/runtime/deadline.h"
#include "lib/runtime/process.h"

#include <boost/asio/this_coro.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace regatta::clusters {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Real processes: shell scripts as plugins.
struct PluginRunning : ::testing::Test {
  SystemClock clock;
  ChildLimits limits;

  static api::ExecPlugin script(const std::string& text) {
    api::ExecPlugin plugin;
    plugin.command = "/bin/sh";
    plugin.args = {"-c", text};
    return plugin;
  }
  Result<std::string> run(const api::ExecPlugin& plugin) {
    std::optional<Result<std::string>> answer;
    const auto body = [&]() -> Task<int> {
      ProcessPluginRunner runner(co_await asio::this_coro::executor, clock, limits);
      answer = co_await runner.run(plugin, "the info");
      co_return 0;
    };
    run_process(body);
    return std::move(*answer);
  }
  std::string fails(const std::string& text) {
    const auto answer = run(script(text));
    return answer ? "it did not fail" : answer.error().what();
  }
};

TEST_F(PluginRunning, GivesWhatWasPrintedAndPassesTheInfo) {
  api::ExecPlugin plugin = script("echo $KUBERNETES_EXEC_INFO $A");
  plugin.env = {{"A", "a"}, {"KUBERNETES_EXEC_INFO", "overridden"}};
  const auto answer = run(plugin);
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(*answer, "the info a\n");
}

TEST_F(PluginRunning, EachEndHasItsMessage) {
  limits.time = 300ms;
  limits.output_max = 1u << 20;
  EXPECT_EQ(fails("exec sleep 100"), "it did not end within 300ms");
  EXPECT_EQ(fails("exit 1"), "it ended with exit code 1");
  EXPECT_EQ(fails("kill -9 $$"), "it was ended by signal 9");
  EXPECT_EQ(fails("head -c 10000000 /dev/zero"), "it printed more than 1048576 bytes");
}

TEST_F(PluginRunning, StandardErrorIsToldInPartAndStandardOutputNever) {
  const std::string told = fails(
      "echo secret; printf 'no\\n\\033[31m such \\377 user' >&2; "
      "head -c 1000 /dev/zero | tr '\\0' x >&2; exit 1");
  EXPECT_THAT(told, StartsWith("it ended with exit code 1: no  [31m such   userxxx"));
  EXPECT_LE(told.size(), 230u);
  EXPECT_THAT(told, Not(HasSubstr("secret")));
}

TEST_F(PluginRunning, OnlySomeRunAtOnceAndAllRunInTheEnd) {
  int ended = 0;
  SteadyPoint since = clock.steady();
  const auto body = [&]() -> Task<int> {
    ProcessPluginRunner runner(co_await asio::this_coro::executor, clock, limits);
    const auto one = [&]() -> Task<> {
      const auto answer = co_await runner.run(script("sleep 0.3"), "");
      if (answer) ++ended;
    };
    std::vector<Task<>> all;
    for (int i = 0; i < ProcessPluginRunner::at_once_max + 1; ++i) all.push_back(one());
    co_await all_of(std::move(all));
    co_return 0;
  };
  run_process(body);
  EXPECT_EQ(ended, ProcessPluginRunner::at_once_max + 1);
  EXPECT_GE(clock.steady() - since, 600ms);
}

}  // namespace
}  // namespace regatta::clusters
