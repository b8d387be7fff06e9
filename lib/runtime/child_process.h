#pragma once

#include "lib/base/clock.h"

#include <string>
#include <utility>
#include <vector>

namespace regatta {

/// A program, without a shell. It gets our environment, and `env` in place of what that has of the
/// same names.
struct ChildCommand {
  std::string file;  ///< a path, or a name to be found in $PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
};

struct ChildLimits {
  Duration time = std::chrono::seconds(20);
  std::size_t output_max = 1u << 20;  ///< bytes of standard output
  std::size_t errors_max = 4096;      ///< of standard error; more is read and dropped
};

/// How a program ended. What it wrote may be secret.
struct ChildOutcome {
  enum class End { exited, killed, timed_out, too_much_output };
  End end = End::exited;
  int code = 0;  ///< exit code, or number of the signal
  std::string output;
  std::string errors;  ///< the beginning
};

/// Runs a program in a process group of its own, with nothing on its standard input and none of our
/// file descriptors. The event loop goes on meanwhile. Whatever happens, the whole group is killed
/// before this returns; a cancellation kills it too. An error when it cannot be started.
Task<Result<ChildOutcome>> run_child(Clock& clock, ChildCommand command, ChildLimits limits);

}  // namespace regatta
