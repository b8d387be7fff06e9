#pragma once

/// New places for pods whose node is lost, leaving the other pods where they are.

#include "admission/topology/requests.h"

#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

struct Replacement {
  std::optional<PodPlaces> places;  ///< all of the pod set's, in order of the tree
  std::string failure;              ///< why there are none
};

/// Finds room for the pods on `lost` hosts near the others: in the domain the request requires, or
/// the one of the slice that lost pods. `request` is the pod set as it was admitted; `current` its
/// places, which must be hosts.
Replacement replace_places(Topologies& topologies, const TopologyRequest& request,
                           const PodPlaces& current, const std::set<std::string>& lost,
                           bool least_free_first);

}  // namespace regatta::admission
