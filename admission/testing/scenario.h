#pragma once

#include <string>
#include <vector>

namespace regatta::admission {

struct ScenarioOutcome {
  std::vector<std::string> mismatches;  ///< of decisions; the first step that differs ends the run
  std::vector<std::string> message_mismatches;
  int messages = 0;
  int messages_matched = 0;
  bool skipped = false;  ///< it needs topologies
};

/// Plays one scenario: objects, then events and one cycle per step, comparing every decision with
/// what the file expects. Between cycles it does what the controllers would: reservations are read
/// back, preempted workloads are released at once, and reactivations happen.
ScenarioOutcome run_scenario_file(const std::string& path);

}  // namespace regatta::admission
