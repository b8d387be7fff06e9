#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::whatif {

struct Comparison {
  std::vector<std::string> mismatches;  ///< of decisions; the first step that differs ends it
  std::vector<std::string> message_mismatches;
  int messages = 0;
  int messages_matched = 0;
};

/// Compares what a scenario file expects of its steps with what was observed, both as the file
/// format has them. Quantities and shares are compared as numbers.
Comparison compare(const Json& scenario, const Json& observed);

}  // namespace regatta::whatif
