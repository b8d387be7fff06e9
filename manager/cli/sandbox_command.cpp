#include "manager/cli/commands.h"
#include "sandbox/cluster/servers.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace regatta::manager {
namespace {

void add_log_options(CLI::App* command, LogLevel* level) {
  command->add_flag_callback("--debug", [level] { *level = LogLevel::debug; }, "Log every step");
}

void add_api_server(CLI::App* sandbox, Action* action) {
  CLI::App* command =
      sandbox->add_subcommand("apiserver", "Serve one cluster's API until interrupted");
  auto options = std::make_shared<sandbox::ApiServerOptions>();
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
  command->add_option("--die-with-parent", options->parent)->group("");
  add_log_options(command, &options->log_level);
  command->callback(
      [options, action] { *action = [options] { return sandbox::run_api_server(*options); }; });
}

void add_nodes(CLI::App* sandbox, Action* action) {
  CLI::App* command = sandbox->add_subcommand(
      "nodes", "Simulate nodes and Jobs, and collect garbage, on any API server");
  auto options = std::make_shared<sandbox::NodesOptions>();
  command->add_option("--kubeconfig", options->kubeconfig, "The cluster; needs broad permissions")
      ->required();
  command
      ->add_option("--fleet", options->fleet, "a100, h100, cpu, none, 4xH100,2xCPU or a YAML file")
      ->capture_default_str();
  command->add_flag("--pods,!--no-pods", options->pods, "Whether Jobs have Pod objects");
  command->add_option("--die-with-parent", options->parent)->group("");
  add_log_options(command, &options->log_level);
  command->callback(
      [options, action] { *action = [options] { return sandbox::run_nodes(*options); }; });
}

}  // namespace

void add_sandbox_command(CLI::App* app, Action* action) {
  CLI::App* sandbox = app->add_subcommand("sandbox", "A hub and workers on this machine");
  sandbox->require_subcommand(1);
  add_api_server(sandbox, action);
  add_nodes(sandbox, action);
}

}  // namespace regatta::manager
