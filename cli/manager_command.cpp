#include "cli/commands.h"
#include "manager/run.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace regatta::cli {
namespace {

/// The flags as written, not interpreted yet.
struct ManagerFlags {
  manager::ManagerOptions options;
  std::string level;
  std::string encoder;
  std::string stacktrace_level, time_encoding;  // accepted; each has only one format here
  bool devel = false;
};

/// A name, or a number: 1 and above is debug, as for zap.
LogLevel level_of(const ManagerFlags& flags) {
  if (flags.level == "error" || flags.level == "panic") return LogLevel::error;
  if (flags.level == "warn") return LogLevel::warning;
  if (flags.level == "info" || flags.level == "0") return LogLevel::info;
  if (!flags.level.empty()) return LogLevel::debug;
  return flags.devel ? LogLevel::debug : LogLevel::info;
}

LogFormat format_of(const ManagerFlags& flags) {
  if (!flags.encoder.empty()) {
    return flags.encoder == "console" ? LogFormat::console : LogFormat::json;
  }
  return flags.devel ? LogFormat::console : LogFormat::json;
}

std::string check_level(const std::string& text) {
  for (const char* name : {"debug", "info", "warn", "error", "panic"}) {
    if (text == name) return "";
  }
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? "" : "write debug, info, warn, error, or a number of 0 and above";
}

void add_log_flags(CLI::App* command, ManagerFlags* flags) {
  command->add_option("--zap-log-level", flags->level, "debug, info, warn, error or a number")
      ->check(check_level);
  command->add_option("--zap-encoder", flags->encoder, "json or console")
      ->check(CLI::IsMember({"json", "console"}));
  command->add_flag("--zap-devel", flags->devel,
                    "Console lines of level debug, unless other flags say otherwise");
  command->add_option("--zap-stacktrace-level", flags->stacktrace_level, "Accepted, without effect")
      ->group("");
  command->add_option("--zap-time-encoding", flags->time_encoding, "Accepted, without effect")
      ->group("");
}

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
  add_log_flags(command, flags.get());
  command->callback([flags, action] {
    *action = [flags] {
      flags->options.log_level = level_of(*flags);
      flags->options.log_format = format_of(*flags);
      return run_manager(flags->options);
    };
  });
}

}  // namespace regatta::cli
