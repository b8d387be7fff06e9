#include "lab/conformance/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

fs::path corpus(const char* variable, const char* otherwise) {
  const char* path = std::getenv(variable);
  return path ? path : otherwise;
}

/// How many differ on purpose: the metrics of a library that nothing here is made with, and what
/// docs/differences.md names of jobs.
const std::map<std::string, int>& differ_on_purpose() {
  static const std::map<std::string, int> all{{"metrics", 1},
                                              {"batch-job", 3},
                                              {"jobset", 1},
                                              {"tfjob", 2},
                                              {"raycluster", 3},
                                              {"rayjob", 3},
                                              {"rayservice", 3},
                                              {"appwrapper", 5},
                                              {"sparkapplication", 6},
                                              {"trainjob", 9},
                                              {"pod", 6},
                                              {"pod-group", 6},
                                              {"deployment", 2},
                                              {"statefulset", 1},
                                              {"leaderworkerset", 1},
                                              {"external-framework", 3}};
  return all;
}

void expect_all(const fs::path& folder) {
  const Played played = play_folder({folder.string(), false}, std::cout, std::cout);
  Tally sum;
  for (const auto& [group, tally] : played.groups) {
    sum.total += tally.total;
    sum.matched += tally.matched;
    sum.messages += tally.messages;
    sum.messages_matched += tally.messages_matched;
    sum.failed += tally.failed;
  }
  std::cout << folder.string() << ": " << sum.matched << "/" << sum.total << " scenarios, "
            << sum.messages_matched << "/" << sum.messages << " messages\n";
  EXPECT_EQ(sum.failed, 0);
  const auto differ = differ_on_purpose().find(folder.filename().string());
  const int differing = differ == differ_on_purpose().end() ? 0 : differ->second;
  EXPECT_EQ(sum.matched, sum.total - differing);
  EXPECT_GT(sum.total, 0) << "run from the top of the repository";
  // A refusal that differs has no message to compare.
  EXPECT_LE(sum.messages - sum.messages_matched, std::max({1, differing, sum.messages / 100}));
}

void expect_all_of(const fs::path& folder) {
  if (!fs::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
  expect_all(folder);
}

TEST(Conformance, OwnScenarios) {
  expect_all("tests/scenarios");
}

TEST(ApiConformance, OwnScenarios) {
  expect_all("tests/scenarios-api");
}

class ConformanceFamily : public testing::TestWithParam<const char*> {};

TEST_P(ConformanceFamily, MatchesTheReference) {
  expect_all_of(corpus("REGATTA_CONFORMANCE", "../shared/conformance") / GetParam());
}

INSTANTIATE_TEST_SUITE_P(Corpus, ConformanceFamily,
                         testing::Values("flat", "flavors", "hierarchical", "preemption",
                                         "fairsharing", "multistep", "tas"),
                         [](const auto& info) { return std::string(info.param); });

class ApiConformanceArea : public testing::TestWithParam<const char*> {};

TEST_P(ApiConformanceArea, MatchesTheReference) {
  expect_all_of(corpus("REGATTA_CONFORMANCE_API", "../shared/conformance-api") / GetParam());
}

INSTANTIATE_TEST_SUITE_P(Corpus, ApiConformanceArea,
                         testing::Values("webhooks", "conversion", "configuration", "visibility",
                                         "metrics"),
                         [](const auto& info) { return std::string(info.param); });

TEST(JobsConformance, OwnScenarios) {
  expect_all("tests/scenarios-jobs");
}

class JobsConformanceKind : public testing::TestWithParam<const char*> {};

TEST_P(JobsConformanceKind, MatchesTheReference) {
  expect_all_of(corpus("REGATTA_CONFORMANCE_JOBS", "../shared/conformance-jobs") / GetParam());
}

INSTANTIATE_TEST_SUITE_P(Corpus, JobsConformanceKind,
                         testing::Values("batch-job", "jobset", "pytorchjob", "tfjob", "xgboostjob",
                                         "paddlejob", "jaxjob", "mpijob", "raycluster", "rayjob",
                                         "rayservice", "appwrapper", "sparkapplication", "trainjob",
                                         "pod", "pod-group", "statefulset", "deployment",
                                         "leaderworkerset", "external-framework"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace regatta::lab
