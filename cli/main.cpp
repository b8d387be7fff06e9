#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>

/// jemalloc reads this at its start. One thread does nearly all the work, and pages that it freed
/// are soon needed again. Returning and fetching them costs more than keeping them for half a
/// minute.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:30000";

int main(int argc, char** argv) {
  CLI::App app("Regatta: many Kubernetes clusters, one queue.", "regatta");
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return "regatta: " + std::string(e.what()) + "\nRun with --help for what is possible.\n";
  });
  regatta::cli::Action action;
  regatta::cli::add_manager_command(&app, &action);
  regatta::cli::add_placement_command(&app, &action);
  regatta::cli::add_register_worker_command(&app, &action);
  regatta::cli::add_credentials_command(&app, &action);
  regatta::cli::add_simulate_command(&app, &action);
  regatta::cli::add_explain_command(&app, &action);
  regatta::cli::add_doctor_command(&app, &action);
  regatta::cli::add_version_command(&app, &action);
  regatta::cli::add_completion_command(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (!action) return 2;
  const int code = action();
  if (std::cout.flush() || code != 0) return code;
  std::cerr << "regatta: standard output cannot be written\n";
  return 1;
}
