#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::whatif {

struct ScenarioComparison {
  std::vector<std::string> mismatches;  ///< between decisions, up to the first step that differs
  std::vector<std::string> message_mismatches;
  int messages = 0;
  int messages_matched = 0;
};

/// Compares what a scenario file expects with what was observed, both in the format of the file.
/// Quantities and shares are compared as numbers.
ScenarioComparison compare(const Json& scenario, const Json& observed);

}  // namespace regatta::whatif
