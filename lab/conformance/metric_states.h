#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

namespace regatta::lab {

/// Scenarios of the gauges that follow from objects, as the manager computes them. The reference
/// writes a gauge when something changes, and all of them when a replica takes over; so a step
/// before that has only some of the series.
Result<Json> play_metric_states(const Json& scenario);

}  // namespace regatta::lab
