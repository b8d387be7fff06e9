#include "lab/conformance/compare.h"
#include "lab/conformance/corpus.h"
#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int total = 0;
  int matched = 0;
  int messages = 0;
  int messages_matched = 0;
};

fs::path corpus() {
  if (const char* path = std::getenv("REGATTA_CONFORMANCE_API")) return path;
  return "../shared/conformance-api";
}

std::vector<fs::path> scenarios_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// docs/differences.md has them: metrics of a library that nothing here is made with.
bool differs_on_purpose(const Json& scenario) {
  return text_at(scenario, "op") == "list" && text_at(scenario, "which") == "library";
}

/// The first differences are printed; there may be hundreds.
void play_file(const fs::path& path, Tally* tally) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto scenario = parse_json(text);
  ASSERT_TRUE(scenario) << path;
  if (differs_on_purpose(*scenario)) return;
  const auto outcome = play(*scenario);
  ASSERT_TRUE(outcome) << path << ": " << outcome.error().what();
  const Differences found = compare(*scenario, *outcome);
  ++tally->total;
  if (found.decisions.empty()) ++tally->matched;
  tally->messages += found.message_count;
  tally->messages_matched += found.message_count - static_cast<int>(found.messages.size());
  for (const auto* texts : {&found.decisions, &found.messages}) {
    for (const std::string& difference : *texts) std::cout << path << ": " << difference << "\n";
  }
}

void expect_all(const fs::path& folder) {
  Tally tally;
  for (const fs::path& path : scenarios_below(folder)) play_file(path, &tally);
  std::cout << folder.string() << ": " << tally.matched << "/" << tally.total << " scenarios, "
            << tally.messages_matched << "/" << tally.messages << " messages\n";
  EXPECT_EQ(tally.matched, tally.total);
  EXPECT_GE(tally.messages_matched * 100, tally.messages * 99);
}

TEST(ApiConformance, OwnScenarios) {
  ASSERT_FALSE(scenarios_below("tests/scenarios-api").empty())
      << "run from the top of the repository";
  expect_all("tests/scenarios-api");
}

class ApiConformanceArea : public testing::TestWithParam<const char*> {};

TEST_P(ApiConformanceArea, MatchesTheReference) {
  const fs::path folder = corpus() / GetParam();
  if (!fs::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
  expect_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Corpus, ApiConformanceArea,
                         testing::Values("webhooks", "conversion", "visibility", "metrics"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace regatta::lab
