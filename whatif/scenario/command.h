#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace regatta::whatif {

struct ScenarioCommand {
  /// Files, and folders with every .json below them, sorted by path.
  std::vector<std::string> paths;
  bool json = false;  ///< one line {"name": …, "steps": […]} per scenario; else text for people
};

/// `regatta simulate --scenario …`. A file that cannot be read or run is reported on `err` with its
/// path and the field, and does not stop the others. Returns the exit code: 0 when all ran, else 1.
int run_scenarios(const ScenarioCommand& command, std::ostream& out, std::ostream& err);

}  // namespace regatta::whatif
