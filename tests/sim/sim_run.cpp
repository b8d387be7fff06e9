#include "tests/sim/chaos.h"
#include "tests/sim/federation.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <sstream>
#include <sys/resource.h>

namespace regatta::simtest {
namespace {

struct Command {
  std::uint64_t seeds = 100, first = 1;
  bool history = false;
  bool wrong = false;
  SimOptions options;
};

const char* const usage =
    "usage: %s [--seeds N] [--first S] [--history] [--log CLUSTER]\n"
    "       [--dispatcher NAME] [--workers N] [--jobs N] [--faults-seconds N]\n"
    "       [--with TROUBLE,...] [--only TROUBLE,...]\n"
    "--history prints what happens, --log what the managers of a cluster log meanwhile.\n"
    "--with adds kinds of trouble to every history, --only draws no others. The kinds:\n";

std::set<Trouble> troubles_of(const char* text, bool* wrong) {
  std::set<Trouble> out;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const auto trouble = trouble_of(name);
    if (trouble) out.insert(*trouble);
    *wrong = *wrong || !trouble;
  }
  return out;
}

Command read(int argc, char** argv) {
  Command command;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--history") {
      command.history = true;
    } else if (!value) {
      command.wrong = true;
    } else if (word == "--seeds") {
      command.seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--first") {
      command.first = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--workers") {
      command.options.workers = std::atoi(argv[++i]);
    } else if (word == "--jobs") {
      command.options.jobs = std::atoi(argv[++i]);
    } else if (word == "--faults-seconds") {
      command.options.faults_end = std::chrono::seconds(std::atoi(argv[++i]));
    } else if (word == "--log") {
      command.options.log_of = argv[++i];
      command.history = true;
    } else if (word == "--dispatcher") {
      command.options.dispatcher = argv[++i];
    } else if (word == "--with") {
      command.options.always = troubles_of(argv[++i], &command.wrong);
    } else if (word == "--only") {
      command.options.only = troubles_of(argv[++i], &command.wrong);
    } else {
      command.wrong = true;
    }
  }
  command.options.keep_history = command.history;
  return command;
}

void print(const SimOptions& options, const SimResult& result) {
  std::printf(
      "seed %llu: %s, %d jobs, %lld of %lld s virtual, %llu steps, %d crashes: %s\n",
      static_cast<unsigned long long>(options.seed), result.violations.empty() ? "ok" : "FAILED",
      result.finished, static_cast<long long>(result.took.count() / 1000),
      static_cast<long long>(result.bound.count() / 1000),
      static_cast<unsigned long long>(result.steps), result.crashes, result.troubles.c_str());
  for (const std::string& violation : result.violations) std::printf("  %s\n", violation.c_str());
  std::fflush(stdout);
}

using Wall = std::chrono::steady_clock;

/// A history of a large fleet takes minutes, so how far it is goes to stderr twice a minute.
void tell_progress(SimOptions* options) {
  const auto last = std::make_shared<Wall::time_point>(Wall::now());
  options->on_progress = [last, jobs = options->jobs](Duration time, int ended) {
    if (Wall::now() - *last < std::chrono::seconds(30)) return;
    *last = Wall::now();
    std::fprintf(stderr, "%d of %d jobs ended, %lld s virtual\n", ended, jobs,
                 static_cast<long long>(time.count() / 1000));
  };
}

/// How often what was done.
void print(const std::map<std::string, int>& deeds) {
  for (const std::string& deed : all_deeds()) {
    const auto done = deeds.find(deed);
    std::printf("%7d times %s\n", done == deeds.end() ? 0 : done->second, deed.c_str());
  }
}

int run(Command command) {
  tell_progress(&command.options);
  const auto begin = Wall::now();
  const std::clock_t cpu = std::clock();
  std::uint64_t bad = 0;
  std::map<std::string, int> deeds;
  for (std::uint64_t seed = command.first; seed < command.first + command.seeds; ++seed) {
    command.options.seed = seed;
    const SimResult result = run_federation(command.options);
    if (command.history) std::fputs(result.history.c_str(), stdout);
    if (!result.violations.empty()) ++bad;
    for (const auto& [deed, times] : result.deeds) deeds[deed] += times;
    print(command.options, result);
  }
  print(deeds);
  const double wall = std::chrono::duration<double>(Wall::now() - begin).count();
  const double busy = double(std::clock() - cpu) / CLOCKS_PER_SEC;
  std::printf("%llu passed, %llu failed; %.2f seeds per second, %.2f per CPU second\n",
              static_cast<unsigned long long>(command.seeds - bad),
              static_cast<unsigned long long>(bad), double(command.seeds) / wall,
              double(command.seeds) / busy);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.1f CPU seconds, %.0f MB at most\n", busy, double(usage.ru_maxrss) / 1024);
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace regatta::simtest

/// regatta_sim_run: one history for each seed.
int main(int argc, char** argv) {
  const auto command = regatta::simtest::read(argc, argv);
  if (command.wrong) {
    std::fprintf(stderr, regatta::simtest::usage, argv[0]);
    for (const auto& info : regatta::simtest::all_troubles()) {
      std::fprintf(stderr, "  %s\n", info.name);
    }
    return 2;
  }
  return regatta::simtest::run(command);
}
