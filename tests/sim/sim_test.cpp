#include "tests/sim/federation.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace regatta::simtest {
namespace {

using namespace std::chrono_literals;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string report(const SimOptions& options, const SimResult& result) {
  std::string out = "seed " + std::to_string(options.seed) +
                    " (again: ./dev sim --seeds 1 --first " + std::to_string(options.seed) +
                    " --history)\n";
  for (const std::string& violation : result.violations) out += "  " + violation + "\n";
  return out;
}

// Every job of every history ends, under crashes, partitions, lost replies and dropped watches, and
// no rule of the federation is broken on the way. REGATTA_SIM_FIRST and REGATTA_SIM_SEEDS choose
// the seeds of this process.
TEST(Federation, HoldsUnderFaults) {
  const std::uint64_t first = number_from("REGATTA_SIM_FIRST", 1);
  const std::uint64_t seeds = number_from("REGATTA_SIM_SEEDS", 10);
  int crashes = 0, partitions = 0, finished = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.keep_history = false;
    const SimResult result = run_federation(options);
    EXPECT_TRUE(result.violations.empty()) << report(options, result);
    crashes += result.crashes;
    partitions += result.partitions;
    finished += result.finished;
  }
  std::printf("seeds %llu..%llu: %d jobs finished, %d crashes, %d partitions\n",
              static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + seeds - 1), finished, crashes, partitions);
  // The histories are only worth something if there were faults in them.
  if (seeds >= 10) {
    EXPECT_GT(crashes, 0);
    EXPECT_GT(partitions, 0);
  }
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

// --- broken planners: some history must notice each of them ---

using dispatch::GroupView;
using dispatch::Plan;
using dispatch::PlanConfig;

template <class Unwanted>
void drop(Plan* plan) {
  std::erase_if(plan->actions, [](const dispatch::Action& action) {
    return std::holds_alternative<Unwanted>(action);
  });
}

/// Never deletes the copies of losers, nor anything left behind.
Plan never_removes(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan = dispatch::plan(g, now, config);
  drop<dispatch::RemoveRemote>(&plan);
  return plan;
}

/// Never takes the start lock.
Plan never_locks(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan = dispatch::plan(g, now, config);
  drop<dispatch::RecordWinner>(&plan);
  return plan;
}

/// Never gives up an attempt that failed.
Plan never_gives_up(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan = dispatch::plan(g, now, config);
  drop<dispatch::SetCheck>(&plan);
  return plan;
}

/// Believes that a worker runs the Job although it took the admission back, or lost its copy.
Plan believes_the_record(const GroupView& g, TimePoint now, const PlanConfig& config) {
  GroupView trusting = g;
  const auto found = trusting.clusters.find(g.local.cluster_name);
  if (found != trusting.clusters.end() && found->second.connected) {
    if (!found->second.copy) found->second.copy.emplace();
    if (!found->second.copy->admitted_at) found->second.copy->admitted_at = now;
    found->second.copy->evicted = false;
  }
  return dispatch::plan(trusting, now, config);
}

/// Lets the Job of an evicted workload run.
Plan never_winds_down(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan = dispatch::plan(g, now, config);
  drop<dispatch::DeactivateRemote>(&plan);
  drop<dispatch::ReleaseJob>(&plan);
  return plan;
}

/// Never brings the end of a job back to the hub.
Plan never_finishes(const GroupView& g, TimePoint now, const PlanConfig& config) {
  Plan plan = dispatch::plan(g, now, config);
  drop<dispatch::CopyJobStatus>(&plan);
  drop<dispatch::FinishLocal>(&plan);
  return plan;
}

struct Broken {
  const char* name;
  Plan (*planner)(const GroupView&, TimePoint, const PlanConfig&);
  friend void PrintTo(const Broken& b, std::ostream* out) { *out << b.name; }
};

class BrokenPlanner : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPlanner, IsNoticed) {
  constexpr std::uint64_t most = 40;
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    SimOptions options;
    options.seed = seed;
    options.keep_history = false;
    options.give_up = 6min;
    options.planner = GetParam().planner;
    const SimResult result = run_federation(options);
    if (result.violations.empty()) continue;
    std::printf("noticed at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                result.violations.front().c_str());
    return;
  }
  FAIL() << "no history of " << most << " noticed";
}

INSTANTIATE_TEST_SUITE_P(, BrokenPlanner,
                         ::testing::Values(Broken{"never_removes", never_removes},
                                           Broken{"never_locks", never_locks},
                                           Broken{"never_gives_up", never_gives_up},
                                           Broken{"believes_the_record", believes_the_record},
                                           Broken{"never_winds_down", never_winds_down},
                                           Broken{"never_finishes", never_finishes}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace regatta::simtest
