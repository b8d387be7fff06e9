#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace regatta::cli {

/// Carries out the chosen subcommand once the command line has been read. Returns the exit code.
using Action = std::function<int()>;

// Each of these adds one subcommand. A chosen subcommand sets `*action`.
void add_explain_command(CLI::App* app, Action* action);
void add_credentials_command(CLI::App* app, Action* action);
void add_doctor_command(CLI::App* app, Action* action);
void add_manager_command(CLI::App* app, Action* action);
void add_placement_command(CLI::App* app, Action* action);
void add_register_worker_command(CLI::App* app, Action* action);
void add_simulate_command(CLI::App* app, Action* action);
void add_version_command(CLI::App* app, Action* action);
/// Its scripts complete all subcommands that were added before it runs, its own included.
void add_completion_command(CLI::App* app, Action* action);

}  // namespace regatta::cli
