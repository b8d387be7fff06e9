#pragma once

#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <string>
#include <utility>
#include <vector>

namespace regatta::dispatch {

/// What a plan takes for granted about the hub's Workload. Other writers change the Workload while
/// the actions of a plan are carried out, and a write that was right before may be wrong after:
/// a check that becomes Retry right after an eviction would never be reset. So a write is made only
/// while the Workload still has the footing that its plan had.
struct Footing {
  std::string uid;
  bool deleting = false;
  bool reserved = false;
  bool evicted = false;
  bool finished = false;
  TimePoint reserved_at{};  ///< another reservation is another attempt
  std::string cluster_name;
  /// By name. A check that is there again and Pending, after the queue was without it, may refuse.
  std::vector<std::pair<std::string, api::CheckState>> checks;

  friend bool operator==(const Footing&, const Footing&) = default;
};

Footing footing_of(const api::Workload& workload);

}  // namespace regatta::dispatch
