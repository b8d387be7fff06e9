#pragma once

#include <iosfwd>
#include <string>

namespace regatta::lab {

struct ConformanceOptions {
  std::string folder;
  bool json = false;  ///< one line per scenario; else a summary of each group with its differences
};

/// `regatta-lab conformance`: plays every .json file below a folder. What cannot be read or played
/// is reported on `err` with its path, and does not stop the others. Returns the exit code: 0 when
/// all were played and, without `json`, none differs in its decisions from what it expects; else 1.
int run_conformance(const ConformanceOptions& options, std::ostream& out, std::ostream& err);

}  // namespace regatta::lab
