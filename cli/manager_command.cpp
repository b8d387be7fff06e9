#include "cli/commands.h"
#include "cli/log_flags.h"
#include "manager/run.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace regatta::cli {
namespace {

/// The flags as written, not interpreted yet.
struct ManagerFlags {
  manager::ManagerOptions options;
  LogFlags log;
};

}  // namespace

void add_manager_command(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand("manager", "Run the manager of one cluster");
  auto flags = std::make_shared<ManagerFlags>();
  manager::ManagerOptions& options = flags->options;
  command->add_option("--config", options.config_file,
                      "Configuration file (config.kueue.x-k8s.io v1beta2 or v1beta1)");
  command->add_option(
      "--kubeconfig", options.kubeconfig,
      "The cluster to manage; otherwise $KUBECONFIG, otherwise the one this runs in");
  command->add_option("--feature-gates", options.feature_gates,
                      "A=true,B=false; wins over the configuration file");
  command->add_flag("--allow-core-dumps", options.core_dumps,
                    "Let the process be debugged and dump its memory, which holds credentials");
  command->add_option("--die-with-parent", options.parent)->group("");
  add_log_flags(command, &flags->log);
  command->callback([flags, action] {
    *action = [flags] {
      flags->options.log_level = level_of(flags->log);
      flags->options.log_format = format_of(flags->log);
      return run_manager(flags->options);
    };
  });
}

}  // namespace regatta::cli
