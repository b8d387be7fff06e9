#pragma once

#include <iosfwd>
#include <map>
#include <string>

namespace regatta::lab {

struct ConformanceOptions {
  std::string folder;
  bool json = false;  ///< one line per scenario; else a summary of each group with its differences
};

/// How many scenarios and messages came out as expected. Of scenarios of jobs, each operation is a
/// group of its own ("jobs/jobset start"), and counts outcomes of steps.
struct Tally {
  int total = 0;
  int matched = 0;
  int messages = 0;
  int messages_matched = 0;
  int failed = 0;           ///< could not be played, and are not in `total`
  int not_implemented = 0;  ///< steps of kinds and operations that there are not yet; in `total`
};

struct Played {
  std::map<std::string, Tally> groups;
  bool fine = true;  ///< all were played, and none differs in its decisions
};

/// Plays every .json file below a folder, and prints differences or, with `json`, outcomes.
Played play_folder(const ConformanceOptions& options, std::ostream& out, std::ostream& err);

/// `regatta-lab conformance`: the same, with a summary of each group. What cannot be read or
/// played is reported on `err` with its path, and does not stop the others. Returns the exit code:
/// 0 when all were played and, without `json`, none differs in its decisions from what it expects;
/// else 1.
int run_conformance(const ConformanceOptions& options, std::ostream& out, std::ostream& err);

}  // namespace regatta::lab
