#pragma once

/// Pod sets of one workload that need places in topologies, and places for all of them together.

#include "admission/topology/topologies.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

struct TopologyRequest {
  std::size_t pod_set = 0;  ///< index in the workload
  FlavorId flavor = 0;
  std::int32_t count = 0;
  bool implied = false;    ///< asks for nothing, in a ClusterQueue that has topologies only
  std::string_view group;  ///< requests of one group share a domain; empty: alone
  const std::optional<api::PodSetTopologyRequest>* terms = nullptr;  ///< what the pod set asks for
  PodProfilePtr pods;
};

struct TopologyFailure {
  std::size_t pod_set = 0;
  FlavorId flavor = 0;
  std::string text;  ///< only when asked for
};

struct PodSetPlaces {
  std::size_t pod_set = 0;
  PodPlaces places;
};

struct TopologyPlaces {
  std::vector<PodSetPlaces> pod_sets;
  std::optional<TopologyFailure> failure;  ///< then `pod_sets` is not complete
};

struct TopologySearch {
  bool empty = false;    ///< as if no workload was placed by topology
  bool explain = false;  ///< write out the failure
  bool least_free_first = true;
};

/// Finds places for all pods of all requests. The pod sets of a group share one domain; those that
/// come later leave room for those before them.
TopologyPlaces find_places(Topologies& topologies, const std::vector<TopologyRequest>& requests,
                           const TopologySearch& search);

/// Asks for a topology of its own accord.
bool asks_for_topology(const std::optional<api::PodSetTopologyRequest>& request);
/// Slice constraints, widest first, however they were written.
std::vector<api::PodSetTopologyConstraint> slice_layers(
    const std::optional<api::PodSetTopologyRequest>& request);
/// Whether the topology has every level that the request names.
bool has_levels(const TopologyTree& tree, const std::optional<api::PodSetTopologyRequest>& request);

/// A request in terms of a tree.
struct ResolvedRequest {
  PlacementRequest placement;
  SliceShape slices;
  std::vector<api::PodSetTopologyConstraint> layers;
};
/// The error is what the status message says.
Result<ResolvedRequest> resolve(const TopologyTree& tree,
                                const std::optional<api::PodSetTopologyRequest>& request,
                                bool implied);

}  // namespace regatta::admission
