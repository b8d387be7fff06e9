#pragma once

/// Finds places in topologies for all pod sets of a workload together.

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
  bool implied = false;    ///< asks for no topology, but all flavors of its ClusterQueue have one
  std::string_view group;  ///< requests of one group share a domain; empty: no group
  const std::optional<api::PodSetTopologyRequest>* terms = nullptr;  ///< what the pod set asks for
  PodProfilePtr pods;
};

struct TopologyFailure {
  std::size_t pod_set = 0;
  FlavorId flavor = 0;
  std::string text;  ///< only if TopologySearch::explain
};

struct PodSetPlaces {
  std::size_t pod_set = 0;
  PodPlaces places;
};

struct TopologyPlaces {
  std::vector<PodSetPlaces> pod_sets;
  std::optional<TopologyFailure> failure;  ///< if present, `pod_sets` is incomplete
};

struct TopologySearch {
  bool empty = false;    ///< as if no workload were placed by topology
  bool explain = false;  ///< write out the failure
  bool least_free_first = true;
};

/// Finds places for all pods of all requests. The pod sets of a group share one domain. Groups are
/// placed one after the other, and later ones leave room for earlier ones.
TopologyPlaces find_places(Topologies& topologies, const std::vector<TopologyRequest>& requests,
                           const TopologySearch& search);

/// Whether the pod set itself asks for a topology.
bool asks_for_topology(const std::optional<api::PodSetTopologyRequest>& request);
/// The slice constraints in either notation of the API, the widest first.
std::vector<api::PodSetTopologyConstraint> slice_layers(
    const std::optional<api::PodSetTopologyRequest>& request);
/// Whether the topology has every level that the request names.
bool has_levels(const TopologyTree& tree, const std::optional<api::PodSetTopologyRequest>& request);

/// A request, resolved for one tree.
struct ResolvedRequest {
  PlacementRequest placement;
  SliceShape slices;
  std::vector<api::PodSetTopologyConstraint> layers;
};
/// The error has the text of the status message.
Result<ResolvedRequest> resolve(const TopologyTree& tree,
                                const std::optional<api::PodSetTopologyRequest>& request,
                                bool implied);

}  // namespace regatta::admission
