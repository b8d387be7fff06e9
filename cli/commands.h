#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace regatta::cli {

/// What the chosen subcommand does once the command line has been read; its answer is the exit
/// code.
using Action = std::function<int()>;

// Each adds one subcommand, which sets `*action` when it was chosen.
void add_explain_command(CLI::App* app, Action* action);
void add_manager_command(CLI::App* app, Action* action);
void add_simulate_command(CLI::App* app, Action* action);
void add_version_command(CLI::App* app, Action* action);
/// Knows the subcommands that were added before it is run, itself too.
void add_completion_command(CLI::App* app, Action* action);

}  // namespace regatta::cli
