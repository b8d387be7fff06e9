#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>

/// Scenarios of a conformance corpus: what Kueue does, one JSON file each.
///
///   file ──play()──▶ outcome in the shape of the file's `expect` ──compare()──▶ differences
///
/// An outcome is computed from the inputs alone: what a file expects is only read to compare.
namespace regatta::lab {

/// What a scenario belongs to: "webhooks/clusterqueue", or "flat" in a corpus of admission.
std::string group_of(const Json& scenario);

/// Runs a scenario. {"name": …, "expect": …}; with steps that have outcomes of their own
/// {"name": …, "steps": [{"expect": …}, …]}; of admission as `regatta simulate --scenario` prints
/// it. `unavailable` for an area that cannot be played yet, `invalid` for a scenario that makes no
/// sense.
Result<Json> play(const Json& scenario);

constexpr std::size_t scenario_file_bytes_max = 64 << 20;

}  // namespace regatta::lab
