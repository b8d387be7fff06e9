#pragma once

#include "lib/base/rng.h"
#include "whatif/timeline/timeline.h"

#include <vector>

namespace regatta::whatif {

/// Many objects from one template, arriving by chance under a seed:
///
///   template: MANIFEST            "$(name)" is replaced by what was picked, "$(index)" by a number
///   from: 0s                      default 0s
///   until: 24h
///   count: 500                    so many, at random times; or
///   every: 5m                     one each five minutes; or
///   perHour: 12                   a Poisson process
///   weights: [1, 1, 4, 2]         how busy equal parts of the time are; not with `every`
///   seed: 7
///   pick: {user: {range: 50}, size: [1, 2, {value: 8, weight: 0.5}]}
///   runSeconds: 600               or {distribution: exponential, mean: 600, min: 10, max: 86400},
///                                 {distribution: lognormal, median: 600, sigma: 1},
///                                 {distribution: uniform, min: 60, max: 600}
///
/// Appends to `out`. An Error names the field.
Status read_arrivals(const Json& json, TimePoint start, const std::string& cluster,
                     ManifestReader* reader, std::vector<TimedEvent>* out);

}  // namespace regatta::whatif
