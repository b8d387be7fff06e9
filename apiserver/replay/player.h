#pragma once

#include "apiserver/replay/match.h"

#include <string>
#include <vector>

namespace regatta::apiserver::replay {

struct StepResult {
  std::string label;       ///< "3. get [GET /api/v1/…]"
  std::string difference;  ///< empty when it matched
};

/// Plays one scenario against a fresh server in virtual time. `widgets`: the definition of the
/// custom resource that most scenarios expect; null when the scenario brings its own.
std::vector<StepResult> play(const Json& scenario, const Json* widgets);

}  // namespace regatta::apiserver::replay
