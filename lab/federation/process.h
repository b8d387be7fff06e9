#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regatta::lab {

/// A process. It may have ended meanwhile, and its number may belong to another process.
struct ProcessId {
  int pid = 0;              ///< 0: none
  std::uint64_t ticks = 0;  ///< start time since boot: tells it from a later namesake
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

/// Starts `argv` in a session of its own: no input, output appended to `log`.
Result<ProcessId> start_process(const std::vector<std::string>& argv,
                                const std::filesystem::path& log);

/// Whether it still runs. Reaps our children that have ended.
bool is_running(const ProcessId& process);

/// False when it had ended already.
bool send_signal(const ProcessId& process, int signal);

/// SIGTERM, and after `grace` SIGKILL; returns when it has ended.
Task<> stop_process(Clock& clock, ProcessId process, Duration grace);

/// The path of this program.
std::string own_binary();

/// The last `lines` lines of a file, or a remark that there is none.
std::string tail(const std::filesystem::path& file, int lines);

}  // namespace regatta::lab
