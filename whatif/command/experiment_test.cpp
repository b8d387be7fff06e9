#include "lib/base/temporary_folder.h"
#include "whatif/command/load.h"
#include "whatif/engine/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

// examples/experiment: the same day of jobs, first come, first served and under Regatta's queues.
// The tests assert the direction and the rough size, over several days.

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The day of the example with another seed.
std::string day(int number) {
  std::string out;
  std::string text = text_of("examples/experiment/day.yaml");
  const std::string key = "seed: ";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key)) {
    out += text.substr(0, at + key.size()) + std::to_string(number);
    text.erase(0, at + key.size());
  }
  return out + text;
}

Totals run(const std::string& queues, const std::string& events) {
  SimulationOptions options;
  options.paths = {"examples/experiment/" + queues};
  options.events = events;
  options.admission.fair_sharing =
      admission::FairSharingConfig{{admission::PreemptionStrategy::LessThanOrEqualToFinalShare}};
  LoadedSimulation loaded = load_simulation(options);
  EXPECT_EQ(loaded.errors, std::vector<std::string>());
  const Report report = simulate(std::move(*loaded.input));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  for (const CapacityReport& one : report.capacity) {
    EXPECT_EQ(one.capacity, 100);
    for (const double used : one.used) EXPECT_LE(used, 100 + 1e-9);
  }
  return report.totals;
}

TEST(Experiment, QueuesBeatFirstComeFirstServed) {
  const TemporaryFolder folder;
  const std::string events = (folder / "day.yaml").string();
  constexpr int days = 4;
  for (int number = 1; number <= days; ++number) {
    SCOPED_TRACE("day " + std::to_string(number));
    std::ofstream(events) << day(number);
    const Totals first = run("first-come", events);
    const Totals queues = run("regatta", events);
    std::cout << "day " << number << ": waiting " << int(first.waiting_all.mean / 60) << " -> "
              << int(queues.waiting_all.mean / 60) << " min, utilisation "
              << int(first.utilisation * 100) << " -> " << int(queues.utilisation * 100)
              << " %, jobs per hour " << first.finished_per_hour << " -> "
              << queues.finished_per_hour << "\n";
    EXPECT_EQ(first.submitted, 340u);
    EXPECT_EQ(queues.submitted, 340u);
    EXPECT_EQ(first.preemptions, 0u);
    EXPECT_LT(queues.waiting_all.mean, first.waiting_all.mean / 2);
    EXPECT_LT(queues.waiting.mean, first.waiting.mean / 2);
    EXPECT_LT(queues.waiting.p50, first.waiting.p50 / 2);
    EXPECT_LT(queues.waiting.p95, first.waiting.p95 / 2);
    EXPECT_GT(queues.utilisation, first.utilisation + 0.05);
    EXPECT_GT(queues.finished_per_hour, first.finished_per_hour * 1.2);
    EXPECT_LT(queues.pending, first.pending);
  }
}

// examples/fleet-experiment: the same day of a fleet, raced and with workers compared.

struct Fleet {
  Totals totals;
  double until_end = 0;  ///< seconds from the creation of a job, on average
};

Fleet run_fleet(const std::string& fleet, const std::string& dispatcher) {
  const std::string folder = "examples/fleet-experiment/";
  SimulationOptions options;
  options.paths = {folder + "hub.yaml"};
  options.events = folder + "day.yaml";
  options.until = "30h";
  options.dispatcher = dispatcher;
  for (const char* name : {"ash", "birch", "cedar", "elm", "fir", "oak"}) {
    options.workers.push_back(name + ("=" + folder) + "worker.yaml");
    options.workers.push_back(name + ("=" + folder) + fleet + "/" + name + ".yaml");
  }
  LoadedSimulation loaded = load_simulation(options);
  EXPECT_EQ(loaded.errors, std::vector<std::string>());
  EXPECT_EQ(loaded.misuse, std::vector<std::string>());
  const Report report = simulate(std::move(*loaded.input));
  EXPECT_EQ(report.warnings, std::vector<std::string>());
  Fleet out{report.totals};
  for (const WorkloadRecord& one : report.workloads) {
    const TimePoint end = one.finished_at.value_or(report.start + report.length);
    out.until_end +=
        double((end - one.created_at).count()) / 1000 / double(report.totals.submitted);
  }
  return out;
}

TEST(Experiment, ComparedWorkersBeatARaceOnEvenAndUnevenFleets) {
  for (const char* fleet : {"uneven", "even"}) {
    SCOPED_TRACE(fleet);
    const Fleet race = run_fleet(fleet, "all-at-once"), compared = run_fleet(fleet, "capacity");
    EXPECT_EQ(race.totals.submitted, 590u);
    EXPECT_LT(compared.until_end, race.until_end * 0.95);
    EXPECT_LT(compared.totals.copies, race.totals.copies / 2);
    EXPECT_LT(compared.totals.preemptions, race.totals.preemptions / 2);
  }
}

}  // namespace
}  // namespace regatta::whatif
