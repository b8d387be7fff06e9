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

struct LostPlaces {
  std::set<std::string> hosts;
  std::int32_t remaining = 0;  ///< pods that will yet run, of all hosts
};

/// Finds room for the pods of lost hosts near the other pods: in the domain that the request
/// requires, or in the domain of the slice that lost pods. `request` is the pod set as it was
/// admitted. `current` are its places, which must be hosts.
///
/// What was given back needs no place: without slices, the pods that remain go to the places that
/// are left, as far as there are enough of them.
Replacement replace_places(Topologies& topologies, const TopologyRequest& request,
                           const PodPlaces& current, const LostPlaces& lost, bool least_free_first);

}  // namespace regatta::admission
