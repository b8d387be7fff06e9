#include "cli/commands.h"
#include "cli/log_flags.h"
#include "manager/placement_run.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace regatta::cli {
namespace {

/// The flags as written, not interpreted yet.
struct PlacementFlags {
  manager::PlacementOptions options;
  LogFlags log;
  bool only_checks = false;
};

}  // namespace

void add_placement_command(CLI::App* app, Action* action) {
  CLI::App* command = app->add_subcommand(
      "placement", "Let Placements nominate workers on a hub of Kueue or Regatta");
  auto flags = std::make_shared<PlacementFlags>();
  manager::PlacementOptions& options = flags->options;
  command->add_option("--kubeconfig", options.kubeconfig,
                      "The hub; otherwise $KUBECONFIG, otherwise the cluster this runs in");
  command->add_option(
      "--namespace", options.system_namespace,
      "Where checks find their Placements, and the Lease is; otherwise that of this "
      "Pod, or kueue-system");
  command
      ->add_option("--config", options.config_file,
                   "A configuration file as the manager reads it: with multiKueue.managedClusters, "
                   "workers are made of ManagedClusters for the kinds of jobs that it lists")
      ->check(CLI::ExistingFile);
  command->add_flag("--only-checks", flags->only_checks,
                    "Only for workloads with a check of open-cluster-management.io/placement");
  command->add_option("--at-once", options.at_once, "Workers nominated for a workload at a time")
      ->check(CLI::Range(1, 20));
  command
      ->add_option("--in-flight", options.in_flight_max,
                   "Workloads on their way to one worker at a time")
      ->check(CLI::Range(1, 100000));
  command->add_option("--leader-elect", options.leader_elect,
                      "Whether several replicas may run: true or false");
  command->add_option("--lease", options.lease, "The name of the Lease");
  command->add_flag("--allow-core-dumps", options.core_dumps,
                    "Let the process be debugged and dump its memory, which holds credentials");
  command->add_option("--health-probe-bind-address", options.probe_address,
                      "\":8081\", or \"0\" for no probes");
  add_log_flags(command, &flags->log);
  command->callback([flags, action] {
    *action = [flags] {
      flags->options.every_workload = !flags->only_checks;
      flags->options.log_level = level_of(flags->log);
      flags->options.log_format = format_of(flags->log);
      return run_placement(flags->options);
    };
  });
}

}  // namespace regatta::cli
