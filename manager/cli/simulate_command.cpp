#include "manager/cli/commands.h"
#include "whatif/scenario/command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace regatta::manager {
namespace {

/// The flags as they are written.
struct Flags {
  std::vector<std::string> scenarios;
  std::string output = "table";
};

int simulate(const Flags& flags) {
  return whatif::run_scenarios({flags.scenarios, flags.output == "json"}, std::cout, std::cerr);
}

}  // namespace

void add_simulate_command(CLI::App* app, Action* action) {
  CLI::App* command =
      app->add_subcommand("simulate", "Ask what would happen: admission in virtual time");
  auto flags = std::make_shared<Flags>();
  command
      ->add_option("--scenario", flags->scenarios,
                   "Files in the conformance format, or folders of them: events and one cycle each")
      ->required();
  command->add_option("-o,--output", flags->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([flags, action] { *action = [flags] { return simulate(*flags); }; });
}

}  // namespace regatta::manager
