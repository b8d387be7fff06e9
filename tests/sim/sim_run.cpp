#include "tests/sim/chaos.h"
#include "tests/sim/federation.h"

#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace regatta::simtest {
namespace {

struct Command {
  std::uint64_t seeds = 100, first = 1;
  bool history = false;
  SimOptions options;
};

std::vector<std::string> trouble_names() {
  std::vector<std::string> names;
  for (const TroubleInfo& info : all_troubles()) names.push_back(info.name);
  return names;
}

std::set<Trouble> troubles(const std::vector<std::string>& names) {
  std::set<Trouble> out;
  for (const std::string& name : names) out.insert(trouble_of(name).value());
  return out;
}

struct TroubleNames {
  std::vector<std::string> always, only;
};

void add_options(CLI::App* app, Command* command, TroubleNames* names) {
  SimOptions& options = command->options;
  constexpr int most = std::numeric_limits<int>::max();
  app->add_option("--seeds", command->seeds, "How many histories")
      ->check(CLI::Range(1, most))
      ->capture_default_str();
  app->add_option("--first", command->first, "The seed of the first")->capture_default_str();
  app->add_flag("--history", command->history, "Print what happens");
  app->add_option("--log", options.log_of,
                  "Print it with what the managers of this cluster log: hub, a, b, …");
  app->add_option("--dispatcher", options.dispatcher,
                  "As dispatcherName in the configuration; otherwise each world draws its own");
  app->add_option("--workers", options.workers)->check(CLI::Range(1, most))->capture_default_str();
  app->add_option("--jobs", options.jobs)->check(CLI::Range(1, most))->capture_default_str();
  app->add_option_function<int>(
         "--faults-seconds", [&options](int s) { options.faults_end = std::chrono::seconds(s); },
         "When the faults end, in virtual time (90)")
      ->check(CLI::Range(0, most));
  app->add_option("--with", names->always, "Kinds of trouble, by commas, that every world has")
      ->delimiter(',')
      ->check(CLI::IsMember(trouble_names()).description(""));
  app->add_option("--only", names->only, "Kinds of trouble of which worlds draw, instead of all")
      ->delimiter(',')
      ->check(CLI::IsMember(trouble_names()).description(""));
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
  using namespace regatta::simtest;
  CLI::App app("Simulates the federation under faults, one history for each seed.",
               "regatta_sim_run");
  Command command;
  TroubleNames names;
  add_options(&app, &command, &names);
  app.footer("Kinds of trouble: " + CLI::detail::join(trouble_names(), ", "));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  command.options.always = troubles(names.always);
  if (app.count("--only") > 0) command.options.only = troubles(names.only);
  command.history = command.history || app.count("--log") > 0;
  command.options.keep_history = command.history;
  return run(command);
}
