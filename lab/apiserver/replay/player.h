#pragma once

#include "lab/apiserver/replay/match.h"

#include <string>
#include <vector>

namespace regatta::apiserver::replay {

struct StepResult {
  std::string label;       ///< "3. get [GET /api/v1/…]"
  std::string difference;  ///< empty when it matched
};

/// Plays one scenario against a fresh server with these CustomResourceDefinitions, in virtual time.
std::vector<StepResult> play(const Json& scenario, const std::vector<Json>& definitions);

}  // namespace regatta::apiserver::replay
