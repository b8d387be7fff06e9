#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::placement {

/// By resource, as Kueue counts: cpu in thousandths, everything else in units.
using Amounts = std::map<std::string, std::int64_t>;

/// The quota of one resource in one flavor of a worker's ClusterQueue.
struct QuotaFacts {
  std::int64_t nominal = 0;
  /// So far its usage may exceed `nominal` now; negative when others have borrowed of that.
  std::int64_t borrowable = 0;
  /// The most that it can ever use, when all others return what they borrow; nullopt: not known.
  std::optional<std::int64_t> most;
  std::int64_t used = 0;
  /// The part of `used` that may be preempted, by the priority of the workloads that hold it.
  std::map<std::int32_t, std::int64_t> preemptable;
};

struct FlavorFacts {
  std::string name;
  std::map<std::string, QuotaFacts> resources;
};

/// What is known of the ClusterQueue that a workload would enter on a worker.
struct QueueFacts {
  /// The flavors of each resource group, in the order in which they are tried.
  std::vector<std::vector<FlavorFacts>> groups;
  std::map<std::int32_t, int> pending;  ///< workloads that wait, by priority
};

/// What a workload finds in a queue, best first.
enum class RoomKind : std::uint8_t {
  free,      ///< it fits into the nominal quota
  borrows,   ///< it fits when the queue borrows
  unknown,   ///< there is no information, or it is too old
  preempts,  ///< it fits when workloads of lower priority are preempted
  full,      ///< it has to wait
  never,     ///< it asks for more than the queue can ever use
};

struct RoomLimits {
  bool may_borrow = true;
  bool may_preempt = true;
};

/// How a workload with these pod sets would fit into the queue. `pod_sets` has what all pods of
/// each set ask for together; `ahead` was sent there before and does not show in the queue's usage
/// yet. A way that `limits` forbid does not count as a way. Never returns `unknown`.
///
/// An estimate: each pod set takes the first of the best flavors, as if the flavors' taints and
/// labels, topology and the order of the queue allowed it. What the worker decides counts.
RoomKind room_in(const QueueFacts& queue, const std::vector<Amounts>& pod_sets,
                 std::int32_t priority, const Amounts& ahead, const RoomLimits& limits);

}  // namespace regatta::placement
