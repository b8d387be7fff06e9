#pragma once

/// Nodes, what runs on them, and the trees that flavors make of them.
///
///   Node, Pod ──┐
///   Topology ───┼─▶ Topologies ──tree per flavor──▶ view per kind of pod ──place()──▶ leaves
///   Flavor ─────┘        ▲
///                        └── add() / remove(): pods of admitted workloads; trials roll back
///
/// Capacity of a leaf: what its nodes can allocate, less the pods that are no part of a workload
/// placed by topology, less the pods of workloads placed there. Flavors over the same nodes share
/// what is left of a host.
///
/// Trees are rebuilt when nodes, labels or levels changed, by settle(); everything else follows
/// change by change. Placing pods needs a settled object.

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
  /// Not `exact`: Config::exact_hosts_within_cycle.
  Topologies(Names& names, bool exact) : names_(names), exact_(exact) {}
  Topologies(const Topologies&) = delete;
  Topologies& operator=(const Topologies&) = delete;

  // Objects. True when it matters to somebody who waits for room.
  bool set_topology(const std::string& name, const std::vector<std::string>& levels);
  bool erase_topology(const std::string& name);
  bool has_topology(const std::string& name) const { return topologies_.contains(name); }
  void set_flavor(FlavorId id, const api::ResourceFlavorSpec& spec);
  void erase_flavor(FlavorId id);
  /// The node is, or was, one of a flavor with a topology, and something about it changed.
  bool upsert(const api::Node& node);
  bool erase_node(const std::string& name);
  /// Names the flavors with room freed by the pod's change.
  std::vector<FlavorId> upsert(const api::Pod& pod);
  std::vector<FlavorId> erase_pod(const api::ObjectKey& key);

  /// Brings trees up to date; not within a trial.
  void settle();
  /// The flavor's tree; null without a topology, or when its Topology is not there.
  TopologyTree* tree(FlavorId flavor) const;

  // Places
  PlaceId place(FlavorId flavor, bool by_hostname, const std::vector<std::string>& values);
  const std::vector<std::string>& values(PlaceId place) const { return places_[place].values; }
  api::TopologyAssignment to_api(const PodPlaces& pods) const;
  /// The places of an assignment. They mean one flavor's, unless they are hosts.
  Result<PodPlaces> from_api(const api::TopologyAssignment& assignment, FlavorId flavor,
                             PodProfilePtr pods);
  /// Levels as assignments name them: all, or the hostname alone.
  std::shared_ptr<const std::vector<std::string>> assignment_levels(FlavorId flavor) const;

  // Pods of workloads. Exact inverses.
  void add(const PodPlaces& pods) { change(pods, 1, false); }
  void remove(const PodPlaces& pods) { change(pods, -1, false); }
  /// Adds them in the imagined empty cluster too. Only within a trial.
  void assume(const PodPlaces& pods) { change(pods, 1, true); }
  /// Whether all these pods together have room, with so much more of it.
  bool fits(std::span<const PodPlaces* const> pods, const PlaceAmounts& more,
            const PlaceAmounts& even_more) const;

  std::size_t begin_trial();
  void roll_back(std::size_t mark);

  // Views
  CapacityView& view(TopologyTree& tree, const PodProfilePtr& pods, const PodProfilePtr& leader,
                     const SliceShape& slices, bool empty);
  /// A view of one domain only, not kept.
  std::unique_ptr<CapacityView> confined_view(TopologyTree& tree, const PodProfilePtr& pods,
                                              const SliceShape& slices, std::size_t level,
                                              DomainIndex domain);
  /// place() in that view, remembered while nothing changes.
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
    std::vector<Amount> used;  ///< by workloads, by column
    std::vector<Leaf> leaves;
  };
  struct Change {
    PlaceId place = 0;
    PodProfilePtr pods;
    std::int64_t count = 0;
    bool assumed = false;
    const TopologyTree* only = nullptr;  ///< in this tree, no other
    bool tried = false;                  ///< in a trial
  };
  struct CachedView {
    std::unique_ptr<CapacityView> view;
    std::uint64_t used = 0;
    std::uint64_t version = 0;  ///< of the remembered placements
    std::vector<std::pair<PlacementRequest, PlacementResult>> placements;
  };
  using Views = std::map<std::pair<const TopologyTree*, CapacityKey>, CachedView>;

  bool concerns_flavor(const api::StringMap& labels) const;
  void mark_stale(const api::StringMap& labels);
  void mark_stale_topology(const std::string& name);
  std::vector<FlavorId> drop_pod(const api::ObjectKey& key);
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
