#include "cli/commands.h"
#include "cli/live_cluster.h"
#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/runtime/process.h"
#include "manager/core_config.h"
#include "manager/endpoint.h"
#include "whatif/command/load.h"
#include "whatif/command/simulate.h"
#include "whatif/scenario/command.h"

#include <boost/asio/signal_set.hpp>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace regatta::cli {
namespace {

/// The flags as written.
struct SimulateFlags {
  std::vector<std::string> scenarios;
  std::string config_file;
  std::vector<std::string> compared;
  std::string compared_config_file;
  std::vector<std::string> explain;
  bool from_cluster = false;
  LiveClusterFlags cluster;
  std::string output = "table";
  bool brief = false;
  whatif::SimulateCommand command;
};

/// Sets what the manager would read from that configuration.
Status configure(const std::string& file, whatif::SimulationOptions* out) {
  const auto configuration = manager::read_configuration(file, "", "");
  if (!configuration) return configuration.error();
  const auto core = core_config(*configuration, "simulation");
  if (!core) return core.error().within(file);
  out->admission = core->scheduler.admission;
  out->dispatch = core->dispatch.plan;
  out->lifecycle = core->workloads.lifecycle;
  out->jobs = core->jobs;
  return ok();
}

/// The last part of a path: the name of a configuration in a comparison.
std::string short_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).lexically_normal().filename().string();
  return name.empty() ? std::filesystem::path(path).parent_path().filename().string() : name;
}

Status set_compared(const SimulateFlags& flags, whatif::SimulateCommand* command) {
  if (flags.compared.empty() && flags.compared_config_file.empty()) return ok();
  whatif::SimulationOptions& first = command->simulation;
  whatif::SimulationOptions& second = command->compared.emplace(first);
  if (!flags.compared.empty()) {
    second.base_paths = first.paths;
    second.paths = flags.compared;
  }
  const bool own = !flags.compared_config_file.empty();
  const Status read = configure(own ? flags.compared_config_file : flags.config_file, &second);
  if (!read) return own ? read.error().within("--compare-config") : read.error();
  if (!first.paths.empty() && !flags.compared.empty()) {
    first.name = short_name(first.paths.front());
    second.name = short_name(flags.compared.front());
  }
  if (first.name == second.name) {
    first.name = "before";
    second.name = "after";
  }
  return ok();
}

/// Reads the objects of a live cluster. The simulation begins at the time of reading.
Task<int> read_cluster_into(LiveClusterFlags flags, whatif::SimulationOptions* out) {
  const auto live = co_await read_live_cluster(std::move(flags), {});
  if (!live) {
    std::cerr << "regatta: " << live.error().what() << "\n";
    co_return 1;
  }
  for (const whatif::Gap& gap : live->picture.gaps) std::cerr << "regatta: " << gap.text << "\n";
  if (!live->picture.complete()) co_return 1;
  out->given = live->picture.objects;
  if (out->start.empty()) out->start = format_rfc3339(live->at);
  co_return 0;
}

int simulate(SimulateFlags flags) {
  whatif::SimulateCommand& command = flags.command;
  if (!flags.scenarios.empty()) {
    if (flags.output == "yaml") {
      std::cerr << "regatta: --scenario prints -o table or json\n";
      return 2;
    }
    return whatif::run_scenarios({flags.scenarios, flags.output == "json"}, std::cout, std::cerr);
  }
  if (flags.from_cluster) {
    const int read =
        run_process([&] { return read_cluster_into(flags.cluster, &command.simulation); });
    if (read != 0) return read;
  }
  Status read = configure(flags.config_file, &command.simulation);
  if (read) read = set_compared(flags, &command);
  if (!read) {
    std::cerr << "regatta: " << read.error().what() << "\n";
    return 1;
  }
  if (flags.output == "json") command.output = whatif::ReportOutput::json;
  if (flags.output == "yaml") command.output = whatif::ReportOutput::yaml;
  if (flags.brief) command.format = {false, false};
  command.terminal = ::isatty(STDERR_FILENO) != 0;
  // The simulation checks now and then whether a signal came.
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
  command->add_option("--dispatcher", options->dispatcher, "Instead of that of --config")
      ->check(CLI::IsMember(whatif::dispatcher_names()));
}

void add_views(CLI::App* command, SimulateFlags* flags) {
  command->add_option("--compare", flags->compared,
                      "Another configuration beside it: files or folders; kinds they have nothing "
                      "of, like the jobs, are those of -f");
  command->add_option("--compare-config", flags->compared_config_file,
                      "The manager's configuration of the other one; otherwise the same");
  command->add_option("--plot", flags->command.plot,
                      "Draw utilisation and the lengths of queues into this file (SVG)");
  command
      ->add_option("--explain", flags->explain,
                   "NAMESPACE/NAME[@TIME]: explain why this workload or job waits, in place of a "
                   "report; TIME is like 90m, or RFC 3339")
      ->each([flags](const std::string& text) {
        const auto wish = whatif::parse_wish(text);
        if (!wish) throw CLI::ValidationError(wish.error().what());
        flags->command.explain.push_back(*wish);
      });
  CLI::Option* live =
      command->add_flag("--from-cluster", flags->from_cluster,
                        "Begin with the objects of a live cluster, which is only read");
  command
      ->add_option("--kubeconfig", flags->cluster.kubeconfig,
                   "Which cluster; otherwise $KUBECONFIG, ~/.kube/config, the one this runs in")
      ->needs(live);
  command->add_option("--context", flags->cluster.context, "A context of the kubeconfig")
      ->needs(live);
}

/// The flags that exclude each other; empty when none do.
std::string contradiction(const SimulateFlags& flags) {
  const bool compares = !flags.compared.empty() || !flags.compared_config_file.empty();
  if (!flags.explain.empty() && (compares || !flags.command.plot.empty())) {
    return "--explain replaces the report: it excludes --compare and --plot";
  }
  const bool simulates =
      compares || !flags.explain.empty() || !flags.command.plot.empty() || flags.from_cluster;
  if (!flags.scenarios.empty() && simulates) {
    return "--scenario excludes --compare, --explain, --from-cluster and --plot";
  }
  return {};
}

}  // namespace

void add_simulate_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("simulate", "Ask what would happen: admission in virtual time");
  auto flags = std::make_shared<SimulateFlags>();
  add_simulation_options(command, &flags->command.simulation);
  add_views(command, flags.get());
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
      "  kubectl get -o yaml -A clusterqueues,localqueues | regatta simulate -f - -f jobs/\n"
      "  regatta simulate -f hub/ --worker east=east/ --worker west=west/ --dispatcher "
      "incremental\n"
      "  regatta simulate -f queues/ -f jobs/ --compare other-queues/ --plot out.svg\n"
      "  regatta simulate -f queues/ -f jobs/ --explain team-a/train@90m\n"
      "  regatta simulate --from-cluster -f more-jobs/\n"
      "  regatta simulate --scenario tests/scenarios -o json\n"
      "\nExit codes: 0; 1 when input cannot be read or simulated (all errors are listed,\n"
      "with file, document and field), there is nothing to --explain, or output cannot be\n"
      "written; 2 for the command line; 130 after Ctrl-C, with what is known so far.");
  command->callback([flags, action] {
    const bool input = !flags->command.simulation.paths.empty() || flags->from_cluster;
    if (flags->scenarios.empty() && !input) {
      throw CLI::RequiredError("-f, --from-cluster or --scenario");
    }
    const std::string problem = contradiction(*flags);
    if (!problem.empty()) throw CLI::ValidationError(problem);
    *action = [flags] { return simulate(*flags); };
  });
}

}  // namespace regatta::cli
