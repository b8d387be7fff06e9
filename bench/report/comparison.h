#pragma once

#include "lib/base/json.h"

#include <string>
#include <vector>

namespace regatta::bench {

/// The reports of several runs as one: the middle of each number, of an even count the mean of both
/// in the middle. Everything else is the first run's. There is at least one run.
Json middle_of(const std::vector<Json>& runs);

/// How many times better Regatta is than Kueue in each number of two reports of a race: how often
/// its workloads per second are Kueue's, and how often Kueue's costs are its own. Null where one of
/// them is zero.
Json ratios(const Json& regatta, const Json& kueue);

/// The same as a table for people, with both numbers.
std::string comparison_table(const Json& regatta, const Json& kueue);

}  // namespace regatta::bench
