#include "whatif/scenario/compare.h"
#include "whatif/scenario/run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int matched = 0;
  int total = 0;
  int messages_matched = 0;
  int messages = 0;
};

fs::path corpus() {
  if (const char* path = std::getenv("REGATTA_CONFORMANCE")) return path;
  return "../shared/conformance";
}

std::vector<fs::path> scenarios_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

ScenarioComparison play(const fs::path& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto json = parse_json(text);
  if (!json) return ScenarioComparison{{"not JSON: " + json.error().what()}, {}, 0, 0};
  const auto scenario = read_scenario(*json);
  if (!scenario) return ScenarioComparison{{scenario.error().what()}, {}, 0, 0};
  const auto steps = run_scenario(*scenario);
  if (!steps) return ScenarioComparison{{steps.error().what()}, {}, 0, 0};
  return compare(*json, to_json(scenario->name, *steps));
}

Tally run_folder(const fs::path& folder) {
  Tally tally;
  const bool verbose = std::getenv("REGATTA_CONFORMANCE_VERBOSE") != nullptr;
  for (const fs::path& file : scenarios_in(folder)) {
    const ScenarioComparison outcome = play(file);
    ++tally.total;
    if (outcome.mismatches.empty()) ++tally.matched;
    tally.messages += outcome.messages;
    tally.messages_matched += outcome.messages_matched;
    if (!verbose) continue;
    for (const auto& text : outcome.mismatches)
      std::cout << file.filename() << ": " << text << "\n";
    for (const auto& text : outcome.message_mismatches) {
      std::cout << file.filename() << ": " << text << "\n";
    }
  }
  std::cout << folder.filename().string() << ": " << tally.matched << "/" << tally.total
            << " scenarios, " << tally.messages_matched << "/" << tally.messages << " messages\n";
  return tally;
}

void expect_all(const fs::path& folder) {
  const Tally tally = run_folder(folder);
  EXPECT_EQ(tally.matched, tally.total);
  EXPECT_GE(tally.messages_matched * 100, tally.messages * 99);
}

TEST(Conformance, OwnScenarios) {
  ASSERT_FALSE(scenarios_in("tests/scenarios").empty()) << "run from the top of the repository";
  expect_all("tests/scenarios");
}

class ConformanceFamily : public testing::TestWithParam<const char*> {};

TEST_P(ConformanceFamily, MatchesTheReference) {
  const fs::path folder = corpus() / GetParam();
  if (!fs::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
  expect_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Corpus, ConformanceFamily,
                         testing::Values("flat", "flavors", "hierarchical", "preemption",
                                         "fairsharing", "multistep", "tas"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace regatta::whatif
