#include "lib/runtime/child_process.h"

#include "lib/base/temporary_folder.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace regatta {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using End = ChildOutcome::End;

/// Real programs under the real clock.
struct ChildProcess : ::testing::Test {
  SystemClock clock;
  ChildLimits limits;
  std::vector<std::pair<std::string, std::string>> env;

  ChildOutcome shell(const std::string& script) {
    Result<ChildOutcome> outcome = run("/bin/sh", {"-c", script});
    EXPECT_TRUE(outcome) << outcome.error().what();
    return outcome ? std::move(*outcome) : ChildOutcome();
  }
  Result<ChildOutcome> run(std::string file, std::vector<std::string> args) {
    std::optional<Result<ChildOutcome>> outcome;
    const auto body = [&]() -> Task<int> {
      ChildCommand command{std::move(file), std::move(args), env};
      outcome = co_await run_child(clock, std::move(command), limits);
      co_return 0;
    };
    run_process(body);
    return std::move(*outcome);
  }
  /// Whether the process has gone within two seconds; a killed orphan is reaped by another one.
  static bool goes(pid_t pid) {
    for (int i = 0; i < 200; ++i) {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, state;
      if (!(stat >> number >> name >> state) || state == "Z") return true;
      ::usleep(10'000);
    }
    return false;
  }
};

TEST_F(ChildProcess, GivesOutputErrorsAndExitCode) {
  const ChildOutcome outcome = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.errors, "err\n");
}

TEST_F(ChildProcess, ArgumentsAreNoShellWords) {
  const auto outcome = run("printf", {"%s|", "$HOME; echo x", "a b"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "$HOME; echo x|a b|");
}

TEST_F(ChildProcess, AMissingProgramIsNamed) {
  const auto outcome = run("/nowhere/plugin", {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::not_found);
  EXPECT_EQ(outcome.error().what(), "cannot start /nowhere/plugin: No such file or directory");
}

TEST_F(ChildProcess, OurEnvironmentIsInheritedAndReplaced) {
  ::setenv("REGATTA_TEST_KEPT", "kept", 1);
  ::setenv("REGATTA_TEST_OTHER", "ours", 1);
  env = {{"REGATTA_TEST_OTHER", "theirs"}};
  const auto outcome = run("env", {});  // not through a shell, which hides duplicates
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->output, HasSubstr("REGATTA_TEST_KEPT=kept\n"));
  EXPECT_THAT(outcome->output, HasSubstr("REGATTA_TEST_OTHER=theirs\n"));
  EXPECT_THAT(outcome->output, Not(HasSubstr("REGATTA_TEST_OTHER=ours")));
}

TEST_F(ChildProcess, HasNothingToReadAndNoneOfOurFiles) {
  const int leaked = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(leaked, 3);
  EXPECT_EQ(
      shell("cat; for f in /proc/self/fd/*; do :; done; ls /proc/$$/fd | tr '\\n' ' '").output,
      "0 1 2 ");
  ::close(leaked);
}

TEST_F(ChildProcess, SignalsAreAsAProgramExpectsThem) {
  // run_process() ignores SIGPIPE, which is bit 12 of the mask.
  EXPECT_THAT(shell("grep SigIgn /proc/self/status").output, EndsWith("0000000\n"));
}

TEST_F(ChildProcess, OneThatHangsIsKilledWithAllItStarted) {
  limits.time = 300ms;
  const SteadyPoint since = clock.steady();
  const ChildOutcome outcome = shell("sleep 1000 & echo $!; exec sleep 1000");
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_LT(clock.steady() - since, 5s);
  EXPECT_TRUE(goes(pid_t(std::stoi(outcome.output))));
}

TEST_F(ChildProcess, OneThatIgnoresSigtermIsKilledAllTheSame) {
  limits.time = 300ms;
  EXPECT_EQ(shell("trap '' TERM; while :; do sleep 1; done").end, End::timed_out);
}

TEST_F(ChildProcess, TooMuchOutputEndsIt) {
  limits.output_max = 100'000;
  const SteadyPoint since = clock.steady();
  const ChildOutcome outcome = shell("head -c 10000000 /dev/zero; sleep 1000");
  EXPECT_EQ(outcome.end, End::too_much_output);
  EXPECT_LE(outcome.output.size(), 100'000u);
  EXPECT_LT(clock.steady() - since, 5s);
}

TEST_F(ChildProcess, AsMuchAsTheLimitIsNotTooMuch) {
  limits.output_max = 100'000;
  const ChildOutcome outcome = shell("head -c 100000 /dev/zero");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.output.size(), 100'000u);
}

TEST_F(ChildProcess, MuchOnStandardErrorIsCutAndHarmless) {
  limits.errors_max = 10;
  const ChildOutcome outcome = shell("head -c 10000000 /dev/zero | tr '\\0' x >&2; echo fine");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.output, "fine\n");
  EXPECT_EQ(outcome.errors, "xxxxxxxxxx");
}

TEST_F(ChildProcess, WhatItLeavesBehindIsKilledAndHoldsNothingUp) {
  const SteadyPoint since = clock.steady();
  const ChildOutcome outcome = shell("sleep 1000 & echo $!");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LT(clock.steady() - since, 5s);
  EXPECT_TRUE(goes(pid_t(std::stoi(outcome.output))));
}

TEST_F(ChildProcess, ASignalIsTold) {
  const ChildOutcome outcome = shell("kill -9 $$");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.code, SIGKILL);
}

TEST_F(ChildProcess, OneThatClosesItsOutputIsStillWaitedFor) {
  const ChildOutcome outcome = shell("exec >&- 2>&-; sleep 0.2; exit 4");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.code, 4);
}

TEST_F(ChildProcess, ACancellationKillsIt) {
  const TemporaryFolder folder;
  const std::string file = (folder / "pid").string();
  const auto body = [&]() -> Task<int> {
    const auto waiting = [&]() -> Task<> {
      ChildCommand command{"/bin/sh", {"-c", "echo $$ > " + file + "; exec sleep 1000"}, {}};
      (void)co_await run_child(clock, std::move(command), limits);
    };
    Task<> child = waiting();
    EXPECT_FALSE(co_await finishes_before(clock, clock.steady() + 500ms, std::move(child)));
    co_return 0;
  };
  run_process(body);
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(goes(pid));
}

TEST_F(ChildProcess, TheEventLoopGoesOnMeanwhile) {
  int ticks = 0;
  const auto body = [&]() -> Task<int> {
    const auto tick = [&]() -> Task<> {
      for (;;) {
        co_await clock.sleep_for(10ms);
        ++ticks;
      }
    };
    const auto child = [&]() -> Task<> {
      ChildCommand command{"/bin/sleep", {"0.5"}, {}};
      (void)co_await run_child(clock, std::move(command), limits);
    };
    Task<> running = child();
    Task<> ticking = tick();
    co_await finishes_first(std::move(running), std::move(ticking));
    co_return 0;
  };
  run_process(body);
  EXPECT_GT(ticks, 5);
}

}  // namespace
}  // namespace regatta
