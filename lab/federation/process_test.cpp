#include "lab/federation/process.h"

#include "lib/base/temporary_folder.h"
#include "lib/runtime/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

class Processes : public ::testing::Test {
 protected:
  ProcessId start(const std::string& script) {
    const auto started = start_process({"sh", "-c", script}, folder / "log");
    EXPECT_TRUE(started) << started.error().what();
    return *started;
  }
  void wait_ended(const ProcessId& process) {
    SystemClock clock;
    const SteadyPoint deadline = clock.steady() + std::chrono::seconds(10);
    while (is_running(process) && clock.steady() < deadline) std::this_thread::yield();
    EXPECT_FALSE(is_running(process));
  }
  TemporaryFolder folder;
};

TEST_F(Processes, AreSeenToRunAndToEnd) {
  const ProcessId process = start("read line || exec sleep 30");
  EXPECT_TRUE(is_running(process));
  EXPECT_TRUE(send_signal(process, SIGKILL));
  wait_ended(process);
  EXPECT_FALSE(send_signal(process, SIGTERM));
}

TEST_F(Processes, WriteToTheirLog) {
  const ProcessId process = start("echo one; echo two >&2");
  wait_ended(process);
  EXPECT_EQ(tail(folder / "log", 1), "two\n");
  EXPECT_EQ(tail(folder / "log", 9), "one\ntwo\n");
}

TEST_F(Processes, InheritNoFileOfTheirParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const ProcessId process = start("exec sleep 30");
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the child can still write";
  ::close(ends[0]);
  EXPECT_TRUE(send_signal(process, SIGKILL));
}

TEST_F(Processes, OfTheSameNumberButAnotherAgeAreOthers) {
  const ProcessId process = start("exec sleep 30");
  const ProcessId earlier{process.pid, process.ticks + 1};
  EXPECT_FALSE(is_running(earlier));
  EXPECT_FALSE(send_signal(earlier, SIGKILL));
  EXPECT_TRUE(send_signal(process, SIGKILL));
  wait_ended(process);
}

TEST_F(Processes, ThatIgnoreATermAreKilled) {
  const ProcessId process = start("trap '' TERM; while :; do sleep 0.01; done");
  const auto stop = [&]() -> Task<int> {
    SystemClock clock;
    co_await stop_process(clock, process, Duration(50));
    co_return 0;
  };
  EXPECT_EQ(run_process(stop), 0);
  EXPECT_FALSE(is_running(process));
}

TEST_F(Processes, ThatCannotBeStartedSaySo) {
  const auto started = start_process({"/nonexistent/program"}, folder / "log");
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().what().find("/nonexistent/program"), std::string::npos);
}

}  // namespace
}  // namespace regatta::lab
