#include "whatif/command/progress.h"
#include "whatif/command/simulate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

/// Moves by itself whenever somebody looks.
class LeapingClock final : public Clock {
 public:
  TimePoint now() const override {
    now_ += std::chrono::seconds(20);
    return now_;
  }
  Task<> sleep_until(TimePoint) override { co_return; }

 private:
  mutable TimePoint now_{};
};

class SimulateCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "regatta-simulate-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    command_.simulation.paths = {"examples/hub", "examples/jobs"};
    for (const char* worker : {"a100", "h100", "cpu"}) {
      command_.simulation.workers.push_back(std::string(worker) + "=examples/workers/" + worker +
                                            ".yaml");
    }
    command_.simulation.until = "1h";
  }
  void TearDown() override { fs::remove_all(folder_); }

  int run() { return run_simulation(command_, clock_, out_, err_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  fs::path folder_;
  SimulateCommand command_;
  LeapingClock clock_;
  std::ostringstream out_, err_;
};

TEST_F(SimulateCommandTest, TheExamplesRunToTheirEnd) {
  command_.output = ReportOutput::json;
  EXPECT_EQ(run(), 0) << err_.str();
  const auto report = parse_json(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->at("totals").at("submitted"), 4);
  EXPECT_EQ(report->at("totals").at("finished"), 4) << dump_json_pretty(report->at("workloads"));
  EXPECT_EQ(report->at("clusters"), (Json{"", "a100", "h100", "cpu"}));
}

TEST_F(SimulateCommandTest, PrintsTablesAndYaml) {
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_NE(out_.str().find("4 finished"), std::string::npos) << out_.str();
  out_.str("");
  command_.output = ReportOutput::yaml;
  command_.format = {false, false};
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_NE(out_.str().find("\ntotals:\n"), std::string::npos) << out_.str();
}

TEST_F(SimulateCommandTest, SaysEverythingThatIsWrongAndRunsNothing) {
  command_.simulation.paths = {write("bad.yaml", "apiVersion: v1\nkind: Namespace\n"),
                               "/nowhere.yaml"};
  command_.simulation.workers = {"east"};
  command_.simulation.until = "soon";
  command_.simulation.dispatcher = "round-robin";
  command_.simulation.events = write("events.yaml", "- {at: 1h}\n");
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(out_.str(), "");
  for (const char* text :
       {"--until: \"soon\" is no duration", "--dispatcher: write all-at-once",
        "bad.yaml: Namespace: metadata.name: Required value", "/nowhere.yaml: no such file",
        "--worker: \"east\" is not NAME=PATH", "events.yaml: entry 1: nothing happens"}) {
    EXPECT_NE(err_.str().find(text), std::string::npos) << text << " in\n" << err_.str();
  }
}

TEST_F(SimulateCommandTest, WhatIsKnownIsPrintedWhenItIsInterrupted) {
  command_.simulation.events = write("events.yaml", "- {at: 30m, delete: Job a/b}\n");
  command_.interrupted = [] { return true; };
  EXPECT_EQ(run(), 130);
  EXPECT_NE(out_.str().find("simulated "), std::string::npos);
  EXPECT_NE(err_.str().find("interrupted after "), std::string::npos) << err_.str();
}

TEST(ProgressBar, IsABarOnATerminalAndPlainLinesElsewhere) {
  const Progress progress{std::chrono::hours(12), std::chrono::hours(24), 5, 10, 3};
  EXPECT_EQ(progress_line(progress),
            "[###############---------------]  50 %  12h of 1d, 5 of 10 events, 3 jobs unfinished");
  LeapingClock clock;
  std::ostringstream lines, terminal;
  {
    ProgressBar plain(lines, false, clock);
    plain.show(progress);
    ProgressBar bar(terminal, true, clock);
    bar.show(progress);
  }
  EXPECT_EQ(lines.str(), progress_line(progress) + "\n");
  EXPECT_TRUE(terminal.str().starts_with("\r["));
  EXPECT_TRUE(terminal.str().ends_with(" \r"));
}

}  // namespace
}  // namespace regatta::whatif
