#pragma once

/// What LocalQueues have used over time, for admission fair sharing: workloads of the LocalQueue
/// that used least come first in their ClusterQueue.
///
/// Quantities are exact decimals in billionths; factors are doubles, applied through their shortest
/// decimal text and rounded down. The result is a double computed in one fixed order of operations,
/// because it must be the same whenever inputs are the same: ties matter.

#include "admission/config.h"
#include "lib/api/quantity.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

/// Billionths of a unit, for instance of a core or a byte.
using Billionths = __int128;
using Consumption = std::map<std::string, Billionths>;  ///< by resource

Billionths to_billionths(const api::Quantity& quantity);
api::Quantity to_quantity(Billionths value);
/// The floating-point number that Kubernetes makes of a canonical quantity.
double approximate(const api::Quantity& quantity);

/// The share of past consumption that `elapsed` seconds replace: 1 - 0.5^(elapsed/half_life), 0
/// without half-life.
double replaced_share(double elapsed, double half_life);
Billionths scaled(Billionths value, double factor);
Consumption sum(Consumption a, const Consumption& b);
/// The consumption `elapsed` seconds later, when `usage` was in use all that time.
Consumption decayed(const Consumption& consumed, const Consumption& usage, double elapsed,
                    double half_life);
/// The charge for a reservation with these requests, before its usage shows.
Consumption entry_penalty(const Consumption& requests, const AdmissionFairSharingConfig& config);
/// The number that orders LocalQueues; infinite for a weight of zero.
double weighted_usage(const Consumption& consumed, const Consumption& penalty, double weight,
                      const std::map<std::string, double>& resource_weights);

/// The usage history of one LocalQueue.
struct UsageHistory {
  struct Sample {
    Consumption consumed;
    TimePoint at{};
  };
  Sample now;                     ///< updated by every admission and sampling
  std::optional<Sample> sampled;  ///< as in the status
  Consumption penalty;            ///< of reservations that are not admitted yet
  double usage = 0;               ///< weighted_usage() of `now` and `penalty`
};

}  // namespace regatta::admission
