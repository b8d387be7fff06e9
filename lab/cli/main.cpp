#include "lab/conformance/command.h"
#include "lab/demo/demo.h"
#include "lab/federation/commands.h"
#include "lab/kinds/raced_kind.h"
#include "lab/servers/servers.h"
#include "lib/base/joined.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>

namespace regatta::lab {
namespace {

/// Carries out the chosen subcommand. Returns the exit code.
using Action = std::function<int()>;

void add_log_options(CLI::App* command, LogLevel* level) {
  command->add_flag_callback("--debug", [level] { *level = LogLevel::debug; }, "Log every step");
}

void add_api_server(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand("apiserver", "Serve one cluster's API until interrupted");
  auto options = std::make_shared<ApiServerOptions>();
  command->add_option("--dir", options->folder, "Folder of its certificates and kubeconfigs")
      ->required();
  command->add_option("--port", options->port, "Loopback port; 0 takes a free one")
      ->capture_default_str();
  command->add_option("--data-dir", options->data_folder,
                      "Keep objects there across restarts; otherwise in memory only");
  command
      ->add_option("--fleet", options->fleet,
                   "Simulated nodes: a100, h100, cpu, none, 4xH100,2xCPU or a YAML file")
      ->capture_default_str();
  command->add_flag("--pods,!--no-pods", options->pods, "Whether Jobs have Pod objects");
  command->add_flag("--crds", options->crds, "Install Kueue's CRDs before serving");
  command->add_flag("--controllers,!--no-controllers", options->controllers,
                    "Garbage collection, namespaces, nodes and Jobs in the same process");
  command
      ->add_option("--crd-delay-ms", options->crd_delay_ms,
                   "CRDs have no conditions for so long, and their kinds answer 429 at first")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  command->add_option("--faults", options->faults,
                      "Failures on purpose as JSON, such as '{\"conflict\": 0.1, "
                      "\"latencyMs\": 20}'; GET /_regatta/faults lists them all");
  command->add_option("--die-with-parent", options->parent)->group("");
  add_log_options(command, &options->log_level);
  command->callback(
      [options, action] { *action = [options] { return run_api_server(*options); }; });
}

/// For programs that are not ours: they end with the process that started them.
void add_exec(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand("exec", "Become another program")->group("");
  auto parent = std::make_shared<int>(0);
  command->add_option("--die-with-parent", *parent);
  command->prefix_command();
  command->callback([command, parent, action] {
    std::vector<std::string> argv = command->remaining();
    if (!argv.empty() && argv.front() == "--") argv.erase(argv.begin());
    *action = [parent, argv] { return run_with_parent(*parent, argv); };
  });
}

void add_nodes(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "nodes", "Simulate nodes and Jobs, and collect garbage, on any API server");
  auto options = std::make_shared<NodesOptions>();
  command->add_option("--kubeconfig", options->kubeconfig, "The cluster; needs broad permissions")
      ->required();
  command
      ->add_option("--fleet", options->fleet, "a100, h100, cpu, none, 4xH100,2xCPU or a YAML file")
      ->capture_default_str();
  command->add_flag("--pods,!--no-pods", options->pods, "Whether Jobs have Pod objects");
  command->add_option("--die-with-parent", options->parent)->group("");
  add_log_options(command, &options->log_level);
  command->callback([options, action] { *action = [options] { return run_nodes(*options); }; });
}

void add_layout_options(CLI::App* command, LayoutOptions* options) {
  command->add_option("--workers", options->workers, "How many workers, 1 to 20")
      ->capture_default_str();
  command->add_option("--dispatcher", options->dispatcher, "all-at-once, incremental or external")
      ->check(CLI::IsMember({"all-at-once", "incremental", "external"}))
      ->capture_default_str();
  command
      ->add_option("--kinds", options->kinds,
                   "Kinds of jobs, by commas: " + joined(raced_kind_names(), ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(raced_kind_names()))
      ->capture_default_str();
  command->add_flag("--pods,!--no-pods", options->pods, "Whether Jobs have Pod objects");
  command->add_option(
      "--regatta", options->manager,
      "The regatta that manages each cluster; otherwise the one beside this binary");
}

void add_up(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "up",
      "Start a hub and workers; with etcd and kube-apiserver from $KUBEBUILDER_ASSETS if set");
  auto options = std::make_shared<LayoutOptions>();
  add_layout_options(command, options.get());
  command->add_option("--dir", options->folder, "Its folder; otherwise " + default_folder());
  command->add_flag("--persist,!--no-persist", options->persist,
                    "Whether API servers keep their objects across restarts");
  command->callback([options, action] {
    *action = [options] {
      complete(options.get(), default_folder());
      return sandbox_up(*options);
    };
  });
}

void add_mix_options(CLI::App* command, int* jobs, std::uint64_t* seed) {
  command->add_option("--jobs", *jobs, "How many Jobs")->capture_default_str();
  command->add_option("--seed", *seed, "Decides the mix of Jobs")->capture_default_str();
}

void add_demo(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "demo", "Start a sandbox, race Jobs over its workers, print what happened, clean up");
  auto options = std::make_shared<DemoOptions>();
  add_layout_options(command, &options->layout);
  add_mix_options(command, &options->jobs, &options->seed);
  command->add_option("--dir", options->layout.folder, "Its folder; otherwise a temporary one");
  command->add_option("--timeout", options->patience_seconds, "Seconds until it gives up")
      ->capture_default_str();
  command->add_flag("--keep", options->keep, "Leave everything running at the end");
  command->callback([options, action] {
    *action = [options] {
      complete(&options->layout, options->layout.folder);
      return run_demo(*options);
    };
  });
}

void add_submit(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("submit", "Submit the demo's Jobs to a sandbox that runs");
  struct Given {
    std::string folder = default_folder();
    int jobs = 30;
    std::uint64_t seed = 1;
  };
  auto given = std::make_shared<Given>();
  command->add_option("--dir", given->folder, "The sandbox's folder")->capture_default_str();
  add_mix_options(command, &given->jobs, &given->seed);
  command->callback([given, action] {
    *action = [given] { return submit_jobs(given->folder, given->jobs, given->seed); };
  });
}

/// The arguments of the small commands.
struct Target {
  std::string folder = default_folder();
  std::string name;
  std::string output;
  int lines = 50;
};

CLI::App* add_small(CLI::App* app, const char* name, const char* help, const char* argument,
                    Target* target) {
  CLI::App* command = app->add_subcommand(name, help);
  command->add_option("--dir", target->folder, "The sandbox's folder")->capture_default_str();
  if (argument) command->add_option(argument, target->name)->required();
  return command;
}

void add_small_commands(CLI::App* app, Action* action) {
  const auto add = [&](const char* name, const char* help, const char* argument,
                       int (*body)(const Target&)) {
    auto target = std::make_shared<Target>();
    CLI::App* command = add_small(app, name, help, argument, target.get());
    command->callback([=] { *action = [=] { return body(*target); }; });
    return std::pair(command, target);
  };
  add("down", "Stop every process of the sandbox", nullptr,
      [](const Target& t) { return sandbox_down(t.folder); });
  add("restart", "Stop and start one process (a100-manager) or one cluster (a100)", "component",
      [](const Target& t) { return sandbox_restart(t.folder, t.name); });
  add("stop", "Stop one process or one cluster", "component",
      [](const Target& t) { return sandbox_stop(t.folder, t.name); });
  add("rotate", "Give the hub new credentials for a worker", "worker",
      [](const Target& t) { return sandbox_rotate(t.folder, t.name); });
  const auto [logs, logs_of] =
      add("logs", "Print the end of a process's log", "component",
          [](const Target& t) { return sandbox_logs(t.folder, t.name, t.lines); });
  logs->add_option("--tail", logs_of->lines, "How many lines")->capture_default_str();
  const auto [status, status_of] =
      add("status", "List the processes; the exit code is 3 when one does not run", nullptr,
          [](const Target& t) { return sandbox_status(t.folder, t.output == "json"); });
  status->add_option("-o,--output", status_of->output, "json; otherwise a table")
      ->check(CLI::IsMember({"json"}));
}

void add_conformance(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "conformance", "Play conformance scenarios and compare with what they expect");
  auto options = std::make_shared<ConformanceOptions>();
  command->add_option("DIR", options->folder, "The corpus, a part of it, or one file")->required();
  auto format = std::make_shared<std::string>();
  command->add_option("-o,--output", *format, "json: one line per scenario with its outcome")
      ->check(CLI::IsMember({"json"}));
  command->callback([options, format, action] {
    options->json = *format == "json";
    *action = [options] { return run_conformance(*options, std::cout, std::cerr); };
  });
}

void add_commands(CLI::App* app, Action* action) {
  add_demo(app, action);
  add_up(app, action);
  add_submit(app, action);
  add_small_commands(app, action);
  add_api_server(app, action);
  add_conformance(app, action);
  add_nodes(app, action);
  add_exec(app, action);
}

}  // namespace
}  // namespace regatta::lab

/// jemalloc reads this at its start; see cli/main.cpp.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:30000";

int main(int argc, char** argv) {
  CLI::App app("Regatta's laboratory: a hub and workers on this machine.", "regatta-lab");
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return "regatta-lab: " + std::string(e.what()) + "\nRun with --help for what is possible.\n";
  });
  regatta::lab::Action action;
  regatta::lab::add_commands(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return action ? action() : 2;
}
