#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "manager/cli/commands.h"
#include "manager/config/configuration.h"
#include "manager/core_config.h"
#include "whatif/command/simulate.h"
#include "whatif/files.h"
#include "whatif/scenario/command.h"

#include <boost/asio/signal_set.hpp>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace regatta::manager {
namespace {

constexpr std::size_t configuration_bytes_max = 1 << 20;

/// The flags as they are written.
struct Flags {
  std::vector<std::string> scenarios;
  std::string config_file;
  std::string output = "table";
  bool brief = false;
  whatif::SimulateCommand command;
};

/// What the manager would make of that configuration.
Status read_configuration(const Flags& flags, whatif::SimulationOptions* out) {
  Result<std::string> text = std::string();
  if (!flags.config_file.empty()) {
    text = whatif::read_file(flags.config_file, configuration_bytes_max);
  }
  if (!text) return text.error();
  const auto configuration = load_configuration(*text);
  if (!configuration) return configuration.error().within(flags.config_file);
  const auto core = core_config(*configuration, "simulation");
  if (!core) return core.error().within(flags.config_file);
  out->admission = core->scheduler.admission;
  out->dispatch = core->dispatch.plan;
  return ok();
}

int simulate(Flags flags) {
  whatif::SimulateCommand& command = flags.command;
  if (!flags.scenarios.empty()) {
    if (flags.output == "yaml") {
      std::cerr << "regatta: --scenario prints -o table or json\n";
      return 2;
    }
    return whatif::run_scenarios({flags.scenarios, flags.output == "json"}, std::cout, std::cerr);
  }
  if (const Status read = read_configuration(flags, &command.simulation); !read) {
    std::cerr << "regatta: " << read.error().what() << "\n";
    return 1;
  }
  if (flags.output == "json") command.output = whatif::ReportOutput::json;
  if (flags.output == "yaml") command.output = whatif::ReportOutput::yaml;
  if (flags.brief) command.format = {false, false};
  command.terminal = ::isatty(STDERR_FILENO) != 0;
  // The simulation looks now and then whether somebody wants it to end.
  asio::io_context signals;
  asio::signal_set interrupt(signals, SIGINT, SIGTERM);
  bool interrupted = false;
  interrupt.async_wait([&](const auto& error, int) { interrupted = !error; });
  command.interrupted = [&] {
    signals.poll();
    return interrupted;
  };
  const SystemClock clock;
  return whatif::run_simulation(command, clock, std::cout, std::cerr);
}

void add_simulation_options(CLI::App* command, whatif::SimulationOptions* options) {
  command->add_option("-f,--filename", options->paths,
                      "Manifests as they would be applied: files or folders; - reads standard "
                      "input. With workers: of the hub");
  command->add_option("--events", options->events,
                      "What happens when: changes, losses, arrivals of jobs (YAML, JSON lines)");
  command->add_option("--until", options->until, "How long, e.g. 90m or 2d")->capture_default_str();
  command->add_option("--step", options->step, "Interval of the series; one that suits --until");
  command->add_option("--start", options->start,
                      "When it begins; otherwise " + std::string(whatif::simulation_start));
  command->add_option("--run", options->run, "How long pods run that do not say so themselves")
      ->capture_default_str();
  command->add_option("--worker", options->workers,
                      "NAME=PATH: manifests of the worker that MultiKueueConfigs call NAME");
  command->add_option("--dispatcher", options->dispatcher, "all-at-once, incremental or external")
      ->check(CLI::IsMember({"all-at-once", "incremental", "external"}))
      ->capture_default_str();
}

}  // namespace

void add_simulate_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("simulate", "Ask what would happen: admission in virtual time");
  auto flags = std::make_shared<Flags>();
  add_simulation_options(command, &flags->command.simulation);
  command->add_option("--config", flags->config_file,
                      "Configuration of the manager: fair sharing, feature gates, …");
  command->add_option("-o,--output", flags->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  command->add_flag("--brief", flags->brief, "No workloads and no series in json and yaml");
  CLI::Option* scenario = command->add_option(
      "--scenario", flags->scenarios,
      "Files in the conformance format, or folders of them: events and one cycle each");
  scenario->excludes("--filename")->excludes("--events")->excludes("--worker");
  command->footer(
      "Examples:\n"
      "  regatta simulate -f queues/ -f jobs/ --until 24h\n"
      "  regatta simulate -f queues/ --events arrivals.yaml -o json\n"
      "  regatta simulate -f hub/ --worker east=east/ --worker west=west/");
  command->callback([flags, action] {
    if (flags->scenarios.empty() && flags->command.simulation.paths.empty()) {
      throw CLI::RequiredError("-f or --scenario");
    }
    *action = [flags] { return simulate(*flags); };
  });
}

}  // namespace regatta::manager
