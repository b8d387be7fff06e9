#pragma once

/// Two simulations of the same workloads under different configurations, number by number.

#include "lib/base/json.h"
#include "whatif/render/tables.h"
#include "whatif/report.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace regatta::whatif {

enum class Unit : std::uint8_t { count, seconds, fraction, number, index };

/// Whether more or less is better; `neither` has no judgement.
enum class Wish : std::uint8_t { more, less, neither };

struct Difference {
  std::string of;    ///< "" for totals, else a ClusterQueue
  std::string what;  ///< "waiting, mean"
  Unit unit = Unit::count;
  Wish wish = Wish::neither;
  /// Unset where one side has no such queue, or nothing to measure.
  std::optional<double> before, after;

  /// By more than a hundredth, or at all where one of them is zero.
  bool differs() const;
  /// 1: the second is better, -1: worse, 0: equal or without judgement.
  int verdict() const;
};

struct WorkloadDifference {
  std::string workload;  ///< "ns/name" of its job, or its own
  /// Seconds from creation to first admission; unset: never admitted.
  std::optional<double> before, after;
};

struct Comparison {
  std::string before, after;  ///< names of the reports
  std::vector<Difference> totals;
  std::vector<Difference> queues;  ///< by queue
  std::vector<Stretch> over_time_before, over_time_after;
  /// Workloads with different waiting times, the largest differences first.
  std::vector<WorkloadDifference> workloads;
  std::size_t only_before = 0, only_after = 0;  ///< workloads that only one side has
};

Comparison compare(const Report& before, const Report& after);

/// Side by side, differences marked; at most `rows_max` workloads.
void print(const Comparison& comparison, std::ostream& out, std::size_t rows_max = 20);
Json to_json(const Comparison& comparison);

}  // namespace regatta::whatif
