#include "lib/base/log.h"

#include "lib/base/clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace regatta {
namespace {

using namespace std::chrono_literals;

struct MovedClock final : Clock {
  SteadyPoint at{};
  TimePoint now() const override { return TimePoint(); }
  SteadyPoint steady() const override { return at; }
  Task<> sleep_until(SteadyPoint) override { co_return; }
};

struct Kept final : LogSink {
  std::vector<std::string> lines;
  bool enabled(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view logger, std::string_view message,
             std::initializer_list<KV> values) override {
    lines.push_back(std::string(logger) + " " + std::string(message));
    for (const KV& kv : values) lines.back() += " " + std::string(kv.key) + "=" + kv.value;
  }
};

struct LimitedLines : ::testing::Test {
  MovedClock clock;
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  Log log{limit_lines(kept, clock, 3), "a"};
};

TEST_F(LimitedLines, AFloodOfOneLineIsCutAndCounted) {
  for (int i = 0; i < 10; ++i) log.warning("failed", {{"n", i}});
  EXPECT_EQ(kept->lines,
            (std::vector<std::string>{"a failed n=0", "a failed n=1", "a failed n=2"}));
  clock.at += 61s;
  kept->lines.clear();
  log.warning("failed", {{"n", 10}});
  EXPECT_EQ(kept->lines,
            (std::vector<std::string>{"a such lines were withheld message=failed count=7",
                                      "a failed n=10"}));
}

TEST_F(LimitedLines, OtherLinesAreNotAffected) {
  for (int i = 0; i < 10; ++i) log.error("failed");
  kept->lines.clear();
  log.error("something else");
  log.named("b").error("failed");
  EXPECT_EQ(kept->lines, (std::vector<std::string>{"a something else", "b failed"}));
}

TEST_F(LimitedLines, LinesOfLevelInfoHaveTenTimesTheRoomAndDebugHasNoLimit) {
  for (int i = 0; i < 100; ++i) log.info("done");
  EXPECT_EQ(kept->lines.size(), 30u);
  for (int i = 0; i < 100; ++i) log.debug("detail");
  EXPECT_EQ(kept->lines.size(), 130u);
}

}  // namespace
}  // namespace regatta
