#pragma once

/// Finds new places for pods whose node is lost. The other pods stay where they are.

#include "admission/topology/requests.h"

#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

struct Replacement {
  std::optional<PodPlaces> places;  ///< of the whole pod set, in the order of the tree
  std::string failure;              ///< why there are none
};

/// Finds room for the pods of `lost` hosts near the other pods: in the domain that the request
/// requires, or in the domain of the slice that lost pods. `request` is the pod set as it was
/// admitted. `current` are its places, which must be hosts.
Replacement replace_places(Topologies& topologies, const TopologyRequest& request,
                           const PodPlaces& current, const std::set<std::string>& lost,
                           bool least_free_first);

}  // namespace regatta::admission
