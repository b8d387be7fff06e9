#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::lab {

struct Differences {
  std::vector<std::string> decisions;  ///< what is decided otherwise than the scenario expects
  std::vector<std::string> messages;   ///< what is decided alike and worded otherwise
  int message_count = 0;               ///< of texts that were compared
};

/// Compares the outcome of play() with what the scenario expects, by the rules of the corpus: in
/// objects, what is empty and was not in the input does not count, lists of errors have no order,
/// and where several outcomes are right any of them is.
Differences compare(const Json& scenario, const Json& outcome);

}  // namespace regatta::lab
