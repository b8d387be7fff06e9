#pragma once

#include "admission/state.h"
#include "whatif/engine/meter.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regatta::whatif {

/// "flavor", "resource".
using FlavorResource = std::pair<std::string, std::string>;
using Amounts = std::map<FlavorResource, double>;

/// Converts an amount as admission counts it to the unit of quantities: milli-CPUs to CPUs.
double in_units(const std::string& resource, std::int64_t amount);

/// Measures the queues of one cluster.
class QueueMeters {
 public:
  explicit QueueMeters(const Grid* grid) : grid_(grid) {}

  /// Sets the sum of all quotas of the cluster.
  void set_capacity(const Amounts& capacity, TimePoint now);
  /// Reads a queue that may have changed, or be gone.
  void observe(const admission::StatusReader& reader, const std::string& queue, TimePoint now);

  /// The series and means; counts and waiting times are left to the caller.
  std::vector<QueueReport> queues(const std::string& cluster, TimePoint end);
  std::vector<CapacityReport> capacity(const std::string& cluster, TimePoint end);

 private:
  struct Usage {
    double nominal = 0;
    Meter used;
    Meter borrowed;
  };
  struct Queue {
    std::string cohort;
    double weight = 1;
    std::map<FlavorResource, Usage> usage;
    Meter waiting;
    Meter running;
    Meter share;
  };
  struct Capacity {
    Meter used;
    Meter total;
  };

  void set_used(Queue* queue, const FlavorResource& what, double used, double nominal,
                TimePoint now);
  double dominant_share(const Queue& queue) const;

  const Grid* grid_;
  std::map<std::string, Queue> queues_;
  std::map<FlavorResource, Capacity> capacity_;
};

}  // namespace regatta::whatif
