#pragma once

/// Finds places for the pods of one pod set.
///
/// First it chooses a level, and domains of it that together hold all pods: the smallest domain
/// that is enough or, if the request allows pods to spread, several domains. Then it goes down to
/// the leaves level by level, each time into as few domains as possible, the last of which is
/// chosen to fit tightly.
///
///   required        one domain of the level, or no places
///   preferred       one domain of the level or of a level above, else several of the top level
///   unconstrained   one domain of the level, else several of it, those with the least room first
///
/// The pods of a slice stay together. A leader gets its place first, where it leaves enough room
/// for the other pods.

#include "admission/topology/capacity.h"
#include "lib/api/workload.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

struct PlacementRequest {
  std::int32_t count = 0;
  bool leader = false;
  std::size_t level = 0;
  bool required = false;
  bool unconstrained = false;
  bool least_free_first = true;  ///< when unconstrained
  friend auto operator<=>(const PlacementRequest&, const PlacementRequest&) = default;
};

struct PlacedLeaf {
  DomainIndex leaf = 0;
  std::int32_t pods = 0;
  std::int32_t leaders = 0;
};

struct PlacementResult {
  bool fits = false;
  std::vector<PlacedLeaf> leaves;  ///< in order
  std::int64_t slices = 0;         ///< how many fit, if not all do
  std::size_t level = 0;           ///< where the search ended, in that case
};

/// The view must be in sync.
PlacementResult place(const CapacityView& view, const PlacementRequest& request);

/// The status message for a result that does not fit.
std::string placement_failure(const CapacityView& view, const PlacementRequest& request,
                              const PlacementResult& result,
                              const std::vector<api::PodSetTopologyConstraint>& layers,
                              const Names& names);

}  // namespace regatta::admission
