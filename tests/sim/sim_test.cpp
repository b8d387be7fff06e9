#include "tests/sim/chaos.h"
#include "tests/sim/federation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string report(const SimOptions& options, const SimResult& result) {
  std::string out = "seed " + std::to_string(options.seed) + " (" + result.troubles + ")" +
                    " (again: ./dev sim --seeds 1 --first " + std::to_string(options.seed) +
                    " --history)\n";
  for (const std::string& violation : result.violations) out += "  " + violation + "\n";
  return out;
}

// No rule of the federation is broken, whatever trouble the world has, and every job ends.
// REGATTA_SIM_FIRST and REGATTA_SIM_SEEDS choose the seeds of this process, REGATTA_SIM_SECONDS
// ends it before the last one.
TEST(Federation, HoldsInEveryWorld) {
  using Wall = std::chrono::steady_clock;
  const std::uint64_t first = number_from("REGATTA_SIM_FIRST", 1);
  const std::uint64_t seeds = number_from("REGATTA_SIM_SEEDS", 10);
  const auto begin = Wall::now();
  const auto most = std::chrono::seconds(number_from("REGATTA_SIM_SECONDS", 600));
  int crashes = 0, partitions = 0, finished = 0;
  std::map<std::string, int> deeds;
  std::uint64_t done = 0;
  for (; done < seeds && Wall::now() - begin < most; ++done) {
    SimOptions options;
    options.seed = first + done;
    options.keep_history = false;
    const SimResult result = run_federation(options);
    EXPECT_TRUE(result.violations.empty()) << report(options, result);
    crashes += result.crashes;
    partitions += result.partitions;
    finished += result.finished;
    for (const auto& [deed, times] : result.deeds) deeds[deed] += times;
  }
  std::printf("%llu seeds from %llu on: %d jobs finished, %d crashes, %d partitions\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(first),
              finished, crashes, partitions);
  // The histories are only worth something if there were faults in them.
  if (done >= 10) {
    EXPECT_GT(crashes, 0);
    EXPECT_GT(partitions, 0);
  }
  for (const std::string& deed : all_deeds()) {
    if (done >= 200) EXPECT_GT(deeds[deed], 0) << "in no world " << deed;
  }
}

TEST(Federation, HoldsWhereWorkersAreCompared) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.dispatcher = "multikueue.regatta.dev/capacity";
    options.keep_history = false;
    const SimResult result = run_federation(options);
    EXPECT_TRUE(result.violations.empty()) << report(options, result);
  }
}

TEST(Federation, JobsHavePodsInSomeWorlds) {
  SimOptions options;
  options.only = {Trouble::pods};
  EXPECT_EQ(run_federation(options).pods, 0);
  options.always = {Trouble::pods};
  EXPECT_GE(run_federation(options).pods, options.jobs);
}

TEST(Federation, SameSeedSameHistory) {
  SimOptions options;
  options.seed = 42;
  options.jobs = 5;
  options.faults_end = 30s;
  const SimResult once = run_federation(options);
  const SimResult again = run_federation(options);
  EXPECT_FALSE(once.history.empty());
  EXPECT_EQ(once.history, again.history);
  options.seed = 43;
  EXPECT_NE(run_federation(options).history, once.history);
}

}  // namespace
}  // namespace regatta::simtest
