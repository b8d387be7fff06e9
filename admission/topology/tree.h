#pragma once

/// The domains of one topology as one flavor sees it: the nodes with the flavor's labels, grouped
/// level by level.
///
/// Levels are arrays. Domains of a level are sorted by their path from the top, so the children of
/// a domain are next to each other, indices compare like paths, and data about a level is scanned
/// front to back.
///
///   level 0   block-a          block-b
///   level 1   rack-1  rack-2   rack-1
///   level 2   n1 n2   n3       n4 n5       the leaves
///
/// If the lowest level is the hostname, a leaf is one node; else it is all nodes with the same
/// values.

#include "admission/topology/pods.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

using DomainIndex = std::uint32_t;

struct TopologyNode {
  std::string name;
  api::StringMap labels;
  std::vector<api::Taint> taints;
  std::vector<ResourceAmount> allocatable;
};
using TopologyNodePtr = std::shared_ptr<const TopologyNode>;

/// Free amounts of every leaf, and the leaves that changed lately.
struct LeafLedger {
  std::vector<std::vector<Amount>> free;  ///< by column (Topologies), then leaf
  std::vector<DomainIndex> changed;
  std::uint64_t first = 0;  ///< number of the first entry of `changed`

  std::uint64_t end() const { return first + changed.size(); }
  void note(DomainIndex leaf);
};

struct TopologyTree {
  struct Level {
    std::vector<std::string> values;       ///< last value of each domain's path
    std::vector<DomainIndex> parents;      ///< empty on level 0
    std::vector<DomainIndex> first_child;  ///< one more than domains; empty on the lowest level
    std::size_t size() const { return values.size(); }
  };

  std::string topology;
  std::vector<std::string> level_keys;
  bool by_hostname = false;
  std::vector<api::Toleration> tolerations;  ///< the flavor's
  std::vector<Level> levels;
  std::vector<PlaceId> places;         ///< by leaf
  std::vector<TopologyNodePtr> nodes;  ///< by leaf; only by hostname
  std::map<PlaceId, DomainIndex> leaf_of_place;
  LeafLedger live;   ///< what is free
  LeafLedger empty;  ///< what would be free if no workload were placed by topology

  std::size_t leaves() const { return places.size(); }
  std::size_t lowest() const { return level_keys.size() - 1; }
  /// The index of the level with that label, if there is one.
  std::optional<std::size_t> level_of(const std::string& key) const;
  DomainIndex ancestor(DomainIndex leaf, std::size_t level) const;
  /// The values from the top level down to the domain.
  std::vector<std::string> path(std::size_t level, DomainIndex domain) const;
};

/// Whether a node with these labels belongs to a flavor with those labels, and has a label for
/// every level.
bool belongs(const api::StringMap& labels, const api::StringMap& flavor_labels,
             const std::vector<std::string>& level_keys);

struct TreeLayout {
  std::vector<TopologyTree::Level> levels;
  std::vector<std::vector<TopologyNodePtr>> members;  ///< by leaf
};
/// Lays out nodes that belong(), which are sorted by name. If several have the same hostname, the
/// first one decides the path.
TreeLayout lay_out(const std::vector<TopologyNodePtr>& nodes,
                   const std::vector<std::string>& level_keys);

}  // namespace regatta::admission
