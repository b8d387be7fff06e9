#pragma once

/// What LocalQueues have used over time, for admission fair sharing: the LocalQueue that used least
/// goes first in its ClusterQueue.
///
/// Quantities are exact decimals in billionths; factors are doubles, applied through their shortest
/// decimal text and rounded down. The result is a double computed in one fixed order of operations,
/// because its ties decide.

#include "admission/config.h"
#include "lib/api/quantity.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

/// Billionths of a unit: of a core, of a byte.
using Billionths = __int128;
using Consumption = std::map<std::string, Billionths>;  ///< by resource

Billionths to_billionths(const api::Quantity& quantity);
api::Quantity to_quantity(Billionths value);
/// As Kubernetes turns a canonical quantity into a floating-point number.
double approximate(const api::Quantity& quantity);

/// How much of the past `elapsed` seconds replace: 1 - 0.5^(elapsed/half_life), 0 without half
/// life.
double replaced_share(double elapsed, double half_life);
Billionths scaled(Billionths value, double factor);
Consumption sum(Consumption a, const Consumption& b);
/// What was consumed, `elapsed` seconds later, while `usage` was in use.
Consumption decayed(const Consumption& consumed, const Consumption& usage, double elapsed,
                    double half_life);
/// What an admission costs at once, before its usage shows.
Consumption entry_penalty(const Consumption& requests, const AdmissionFairSharingConfig& config);
/// By which LocalQueues are ordered; infinite for a weight of zero.
double weighted_usage(const Consumption& consumed, const Consumption& penalty, double weight,
                      const std::map<std::string, double>& resource_weights);

/// Of one LocalQueue.
struct UsageHistory {
  struct Sample {
    Consumption consumed;
    TimePoint at{};
  };
  Sample now;                     ///< moves with every admission
  std::optional<Sample> sampled;  ///< as its status has it
  Consumption penalty;            ///< of admissions that are not complete yet
  double usage = 0;               ///< weighted_usage() of both
};

}  // namespace regatta::admission
