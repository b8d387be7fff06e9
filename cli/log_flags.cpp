#include "cli/log_flags.h"

#include <CLI/CLI.hpp>

namespace regatta::cli {
namespace {

std::string check_level(const std::string& text) {
  for (const char* name : {"debug", "info", "warn", "error", "panic"}) {
    if (text == name) return "";
  }
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? "" : "write debug, info, warn, error, or a number of 0 and above";
}

}  // namespace

LogLevel level_of(const LogFlags& flags) {
  if (flags.level == "error" || flags.level == "panic") return LogLevel::error;
  if (flags.level == "warn") return LogLevel::warning;
  if (flags.level == "info" || flags.level == "0") return LogLevel::info;
  if (!flags.level.empty()) return LogLevel::debug;
  return flags.devel ? LogLevel::debug : LogLevel::info;
}

LogFormat format_of(const LogFlags& flags) {
  if (!flags.encoder.empty()) {
    return flags.encoder == "console" ? LogFormat::console : LogFormat::json;
  }
  return flags.devel ? LogFormat::console : LogFormat::json;
}

void add_log_flags(CLI::App* command, LogFlags* flags) {
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

}  // namespace regatta::cli
