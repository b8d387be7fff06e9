#pragma once

#include "lib/base/log.h"

#include <string>

namespace CLI {
class App;
}

namespace regatta::cli {

/// The flags of Kueue's manager for its log, as written.
struct LogFlags {
  std::string level;
  std::string encoder;
  std::string stacktrace_level, time_encoding;  // accepted; each has only one format here
  bool devel = false;
};

void add_log_flags(CLI::App* command, LogFlags* flags);
/// A name, or a number: 1 and above is debug, as for zap.
LogLevel level_of(const LogFlags& flags);
LogFormat format_of(const LogFlags& flags);

}  // namespace regatta::cli
