#include "tests/sim/chaos.h"
#include "tests/sim/federation.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace regatta::simtest {
namespace {

struct Command {
  std::uint64_t seeds = 100, first = 1, processes = 1;
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
  app->add_option("--processes", command->processes,
                  "How many work side by side; a history is printed by one")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
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

/// What came of some of the seeds.
struct Tally {
  std::uint64_t passed = 0;
  std::vector<std::uint64_t> failed;
  std::map<std::string, int> deeds;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tally, passed, failed, deeds)

void add(Tally* all, const Tally& some) {
  all->passed += some.passed;
  all->failed.insert(all->failed.end(), some.failed.begin(), some.failed.end());
  for (const auto& [deed, times] : some.deeds) all->deeds[deed] += times;
}

/// Every `step`th seed, from number `begin` on.
Tally run_some(Command command, std::uint64_t begin, std::uint64_t step) {
  tell_progress(&command.options);
  Tally tally;
  for (std::uint64_t i = begin; i < command.seeds; i += step) {
    command.options.seed = command.first + i;
    const SimResult result = run_federation(command.options);
    if (command.history) std::fputs(result.history.c_str(), stdout);
    Tally one{0, {}, result.deeds};
    if (result.violations.empty()) {
      one.passed = 1;
    } else {
      one.failed = {command.options.seed};
    }
    add(&tally, one);
    print(command.options, result);
  }
  return tally;
}

/// A process that runs some of the seeds and writes its tally into the pipe.
struct Lane {
  pid_t process = -1;
  FILE* tally = nullptr;
};

std::optional<Lane> start_lane(const Command& command, std::uint64_t begin) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t process = ::fork();
  if (process != 0) {
    ::close(ends[1]);
    return Lane{process, ::fdopen(ends[0], "r")};
  }
  // What this process has printed so far is flushed: the seeds come line by line.
  const std::string text = Json(run_some(command, begin, command.processes)).dump();
  FILE* out = ::fdopen(ends[1], "w");
  const bool written = std::fputs(text.c_str(), out) >= 0 && std::fclose(out) == 0;
  std::_Exit(written ? 0 : 1);
}

/// Nothing when the process has ended too early.
std::optional<Tally> tally_of(const Lane& lane) {
  if (lane.process < 0 || !lane.tally) return std::nullopt;
  std::string text;
  for (int c = std::fgetc(lane.tally); c != EOF; c = std::fgetc(lane.tally)) text += char(c);
  std::fclose(lane.tally);
  int status = 0;
  ::waitpid(lane.process, &status, 0);
  if (status != 0) return std::nullopt;
  return Json::parse(text).get<Tally>();
}

/// By several processes side by side.
Tally run_all(const Command& command) {
  if (command.processes == 1) return run_some(command, 0, 1);
  std::vector<std::optional<Lane>> lanes;
  for (std::uint64_t i = 0; i < command.processes; ++i) lanes.push_back(start_lane(command, i));
  Tally all;
  for (const std::optional<Lane>& lane : lanes) {
    if (const auto tally = lane ? tally_of(*lane) : std::nullopt) add(&all, *tally);
  }
  std::sort(all.failed.begin(), all.failed.end());
  return all;
}

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run(const Command& command) {
  const auto begin = Wall::now();
  const Tally all = run_all(command);
  const double wall = std::chrono::duration<double>(Wall::now() - begin).count();
  print(all.deeds);
  rusage own{}, lanes{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &lanes);
  const double busy = seconds_of(own) + seconds_of(lanes);
  const std::uint64_t done = all.passed + all.failed.size();
  std::printf("%llu passed, %llu failed; %.2f seeds per second, %.2f per CPU second\n",
              static_cast<unsigned long long>(all.passed),
              static_cast<unsigned long long>(all.failed.size()), double(done) / wall,
              double(done) / busy);
  std::printf("%.1f CPU seconds, %.0f MB at most in one process\n", busy,
              double(std::max(own.ru_maxrss, lanes.ru_maxrss)) / 1024);
  for (const std::uint64_t seed : all.failed) {
    std::printf("failed: seed %llu\n", static_cast<unsigned long long>(seed));
  }
  if (done < command.seeds) {
    std::printf("%llu seeds were not run: a process has ended too early\n",
                static_cast<unsigned long long>(command.seeds - done));
  }
  return all.passed == command.seeds ? 0 : 1;
}

}  // namespace
}  // namespace regatta::simtest

/// regatta_sim_run: one history for each seed.
int main(int argc, char** argv) {
  using namespace regatta::simtest;
  CLI::App app("Simulates the federation under faults, one history for each seed.",
               "regatta_sim_run");
  Command command;
  command.processes = std::max(1U, std::thread::hardware_concurrency());
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
  command.processes = command.history ? 1 : std::min(command.processes, command.seeds);
  return run(command);
}
