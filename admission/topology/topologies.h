#pragma once

/// Nodes, the pods on them, and the trees that flavors make of them.
///
///   Node, Pod ──┐
///   Topology ───┼─▶ Topologies ──tree per flavor──▶ view per kind of pod ──place()──▶ leaves
///   Flavor ─────┘        ▲
///                        └── add() / remove(): pods of admitted workloads; trials roll back
///
/// The capacity of a leaf is what its nodes can allocate, less the pods of workloads placed there,
/// less all other pods. Flavors with the same nodes share what is left of a host.
///
/// settle() rebuilds trees whose nodes, labels or levels changed; everything else is updated at
/// once. To place pods, the object must be settled.

#include "admission/topology/assignment.h"
#include "admission/topology/placement.h"
#include "admission/units/trial_marks.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

/// Amounts by place.
using PlaceAmounts = std::map<std::pair<PlaceId, ResourceId>, Amount>;
void add(PlaceAmounts* to, const PodPlaces& pods);

class Topologies {
 public:
  /// `exact` is Config::exact_hosts_within_cycle.
  Topologies(Names& names, bool exact) : names_(names), exact_(exact) {}
  Topologies(const Topologies&) = delete;
  Topologies& operator=(const Topologies&) = delete;

  // Objects. True when the change may matter to workloads that wait for room.
  bool set_topology(const std::string& name, const std::vector<std::string>& levels);
  bool erase_topology(const std::string& name);
  bool has_topology(const std::string& name) const { return topologies_.contains(name); }
  void set_flavor(FlavorId id, const api::ResourceFlavorSpec& spec);
  void erase_flavor(FlavorId id);
  /// True when the node changed, and it is or was a node of a flavor with a topology.
  bool upsert(const api::Node& node);
  bool erase_node(const std::string& name);
  /// Returns the flavors in which the change of the pod freed room.
  std::vector<FlavorId> upsert(const api::Pod& pod);
  /// The same for a pod that takes exactly this from its node.
  std::vector<FlavorId> upsert(const api::Pod& pod, const PodAmounts& takes);
  std::vector<FlavorId> erase_pod(const api::ObjectKey& key);

  /// Brings trees up to date. Not within a trial.
  void settle();
  /// The flavor's tree; null when it names no Topology, or the Topology does not exist.
  TopologyTree* tree(FlavorId flavor) const;

  // Places
  PlaceId place(FlavorId flavor, bool by_hostname, const std::vector<std::string>& values);
  const std::vector<std::string>& values(PlaceId place) const { return places_[place].values; }
  api::TopologyAssignment to_api(const PodPlaces& pods) const;
  /// The places of an assignment. They are places of the flavor; but hosts are the same in all
  /// flavors.
  Result<PodPlaces> from_api(const api::TopologyAssignment& assignment, FlavorId flavor,
                             PodProfilePtr pods);
  /// The levels that assignments of the flavor name: all, or only the hostname.
  std::shared_ptr<const std::vector<std::string>> assignment_levels(FlavorId flavor) const;

  // Pods of workloads. The two functions are exactly inverse.
  void add(const PodPlaces& pods) { change(pods, 1, false); }
  void remove(const PodPlaces& pods) { change(pods, -1, false); }
  /// Like add(), but it also counts in a search of an empty cluster. Only within a trial.
  void assume(const PodPlaces& pods) { change(pods, 1, true); }
  /// Whether all these pods together have room, if `more` and `even_more` were free, too.
  bool fits(std::span<const PodPlaces* const> pods, const PlaceAmounts& more,
            const PlaceAmounts& even_more) const;

  std::size_t begin_trial();
  void roll_back(std::size_t mark);

  // Views
  CapacityView& view(TopologyTree& tree, const PodProfilePtr& pods, const PodProfilePtr& leader,
                     const SliceShape& slices, bool empty);
  /// A view of one domain. It is not cached.
  std::unique_ptr<CapacityView> confined_view(TopologyTree& tree, const PodProfilePtr& pods,
                                              const SliceShape& slices, std::size_t level,
                                              DomainIndex domain);
  /// The result of place() in the view, cached until the view changes. The view must be the last
  /// that view() returned.
  const PlacementResult& place_cached(CapacityView& view, const PlacementRequest& request);

  const Names& names() const { return names_; }

 private:
  struct FlavorState {
    api::ResourceFlavorSpec spec;
    bool stale = true;
    std::unique_ptr<TopologyTree> tree;
    std::shared_ptr<const std::vector<std::string>> assignment_levels;
  };
  struct NodeState {
    TopologyNodePtr node;
    api::StringMap annotations;
    std::map<std::string, api::ConditionStatus> conditions;
    bool unschedulable = false;
    bool usable = false;  ///< ready and schedulable
    bool same_as(const NodeState& other) const;
  };
  struct PodState {
    std::string node;
    std::vector<ResourceAmount> requests;
  };
  struct Leaf {
    TopologyTree* tree = nullptr;
    DomainIndex leaf = 0;
  };
  struct Place {
    std::vector<std::string> values;
    std::vector<Amount> used;  ///< by workloads outside trials, by column
    std::vector<Leaf> leaves;
  };
  struct Change {
    PlaceId place = 0;
    PodProfilePtr pods;
    std::int64_t count = 0;
    bool assumed = false;
    const TopologyTree* only = nullptr;  ///< if set, in this tree only
    bool tried = false;                  ///< made in a trial
  };
  struct CachedView {
    std::unique_ptr<CapacityView> view;
    std::uint64_t used = 0;
    std::uint64_t version = 0;  ///< of the cached placements
    std::vector<std::pair<PlacementRequest, PlacementResult>> placements;
  };
  using Views = std::map<std::pair<const TopologyTree*, CapacityKey>, CachedView>;

  bool concerns_flavor(const api::StringMap& labels) const;
  void mark_stale(const api::StringMap& labels);
  void mark_stale_topology(const std::string& name);
  std::vector<FlavorId> drop_pod(const api::ObjectKey& key);
  static bool offers(const TopologyNode& node, ResourceId resource);
  void add_to_node(const std::string& node, const std::vector<ResourceAmount>& requests, int sign);
  std::vector<FlavorId> flavors_of_node(const std::string& node) const;
  void detach(TopologyTree* tree);
  void rebuild(FlavorId id, FlavorState* state);
  void fill(TopologyTree* tree, const std::vector<std::vector<TopologyNodePtr>>& members);
  void change(const PodPlaces& pods, std::int64_t sign, bool assumed);
  void apply(const Change& change);
  std::size_t column(ResourceId resource);
  void widen();
  std::shared_ptr<const NodeFilter> filter(const TopologyTree& tree, const PodProfile& pods);
  void forget_oldest_view();

  Names& names_;
  bool exact_;
  std::map<std::string, std::vector<std::string>> topologies_;
  std::map<FlavorId, FlavorState> flavors_;
  std::map<std::string, NodeState> nodes_;
  std::map<api::ObjectKey, PodState> pods_;
  std::map<std::string, std::map<ResourceId, Amount>> pod_usage_;  ///< by node
  std::unordered_map<std::string, std::vector<Leaf>> leaves_of_node_;
  ColumnMap columns_;
  std::deque<Place> places_;
  std::unordered_map<std::string, PlaceId> place_ids_;
  std::vector<Change> trial_;
  TrialMarks trials_;
  Views views_;
  CachedView* last_view_ = nullptr;
  std::map<std::pair<const TopologyTree*, std::uint64_t>, std::shared_ptr<const NodeFilter>>
      filters_;
  std::uint64_t uses_ = 0;
};

}  // namespace regatta::admission
