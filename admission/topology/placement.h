#pragma once

/// Where the pods of one pod set go.
///
/// First a level and domains of it that together hold all pods: the smallest one that is enough,
/// or, where the request lets them spread, several. Then down, level by level, to the leaves, each
/// time into as few domains as possible and with the last of them chosen to fit tightly.
///
///   required        one domain of that level, or nothing
///   preferred       one domain of that level, else of the levels above, else several on top
///   unconstrained   several leaves are as good as one; the fullest ones that still help are used
///
/// Slices stay together wherever the rest goes; a leader goes first, where it costs the others
/// least.

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
  std::int64_t slices = 0;         ///< how many fit, when not all do
  std::size_t level = 0;           ///< where the search ended in that case
};

/// The view must be in sync.
PlacementResult place(const CapacityView& view, const PlacementRequest& request);

/// Why nothing was found, as status messages say it.
std::string placement_failure(const CapacityView& view, const PlacementRequest& request,
                              const PlacementResult& result,
                              const std::vector<api::PodSetTopologyConstraint>& layers,
                              const Names& names);

}  // namespace regatta::admission
