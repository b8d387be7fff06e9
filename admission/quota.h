#pragma once

/// The quota tree: which ClusterQueues and Cohorts own how much quota, how much they use, and how
/// much is left for each.
///
/// Leaves are ClusterQueues, inner nodes are Cohorts. Every node holds one Cell per (flavor,
/// resource) known below it, sorted by id. A cell knows the index of its parent's cell, so a walk
/// to the root needs no look-ups. Three numbers flow upwards:
///
///   local quota    what a node keeps to itself: its subtree's quota beyond the lending limit
///   subtree quota  own nominal quota plus what every child does not keep to itself
///   usage          of a ClusterQueue: what its workloads reserve;
///                  of a Cohort: what its children use beyond what they keep to themselves
///
/// A scheduling cycle works on the live tree: it begins a trial, adds and removes usage, and rolls
/// back. A trial costs only what it touched; nothing is copied.
///
/// Changes of the structure (set_quotas, set_parent, …) only mark trees; settle() recomputes them.
/// Everything under "Usage" and "Capacity" requires a settled forest and leaves it settled.
///
/// A tree is usable as a whole or not at all: where the parents of a Cohort lead into a circle, or
/// too many Cohorts stand one below another, every node of the tree is cyclic.
///
/// Usage of a ClusterQueue is never negative, except
///   within a trial, which may lower the usage of a ClusterQueue after removing its workloads;
///   when a Workload's status had a negative amount, or a sum overflowed.

#include "admission/units/counted.h"
#include "admission/units/trial_marks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regatta::admission {

using NodeId = std::uint32_t;
constexpr NodeId no_node = UINT32_MAX;
constexpr std::uint32_t no_cell = UINT32_MAX;

/// How many Cohorts may stand one below another. A tree with more counts as a circle: walks to the
/// root and back are short, whatever the objects say.
constexpr std::size_t cohorts_in_a_row_max = 100;

struct Quota {
  FrId fr = 0;
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit;
  std::optional<Amount> lending_limit;
  friend bool operator==(const Quota&, const Quota&) = default;
};

struct Cell {
  FrId fr = 0;
  std::uint32_t parent = no_cell;  ///< index in the parent node's cells
  bool declared = false;           ///< some node of the subtree has a quota for it
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit;
  std::optional<Amount> lending_limit;
  Amount subtree = 0;
  Amount usage = 0;

  Amount local_quota() const {
    if (!lending_limit) return 0;
    return std::max<Amount>(0, minus(subtree, *lending_limit));
  }
  Amount local_available() const { return std::max<Amount>(0, minus(local_quota(), usage)); }
};

struct QuotaNode {
  std::string name;
  bool is_queue = false;
  bool alive = false;
  bool in_order = true;  ///< the children are by name, as they are in a settled tree
  bool cyclic = false;   ///< its tree has a circle or is too deep: nothing here can be admitted
  NodeId parent = no_node;
  NodeId root = no_node;
  int height = 0;                     ///< distance to the deepest node below; 0 for a leaf
  double weight = 1;                  ///< for fair sharing
  std::uint64_t generation = 0;       ///< increases when quotas are recomputed or usage is released
  std::vector<NodeId> child_cohorts;  ///< by name, in a settled tree
  std::vector<NodeId> child_queues;   ///< by name, in a settled tree
  std::vector<Quota> quotas;
  std::vector<Cell> cells;          ///< by fr
  std::uint32_t cells_over = 0;     ///< number of cells with more usage than subtree quota
  std::vector<NodeId> over;         ///< children with such cells, unordered
  std::uint32_t over_position = 0;  ///< position in the parent's `over`
};

class QuotaForest {
 public:
  // Structure
  NodeId add_node(std::string name, bool is_queue);
  /// The node must have no children and no usage. Like every change of the structure, it is not
  /// allowed within a trial.
  void remove_node(NodeId id);
  void set_quotas(NodeId id, std::vector<Quota> quotas);
  void set_weight(NodeId id, double weight) { nodes_[id].weight = weight; }
  void set_parent(NodeId id, NodeId parent);
  /// Recomputes every tree that changed, and returns their roots.
  std::vector<NodeId> settle() { return dirty_.empty() ? std::vector<NodeId>() : rebuild_dirty(); }
  bool settled() const { return dirty_.empty(); }

  const QuotaNode& node(NodeId id) const { return nodes_[id]; }
  void bump_generation(NodeId queue) { ++nodes_[queue].generation; }
  /// The ClusterQueues in the tree of `id`, by name within each Cohort.
  std::vector<NodeId> queues_of_tree(NodeId id) const;
  /// "/root/…/queue". Not for cyclic nodes, whose path may have no begin.
  std::string path(NodeId id) const;
  /// Whether the parents of a cyclic node have no end. Otherwise its tree is too deep.
  bool leads_into_circle(NodeId id) const;
  bool is_ancestor(NodeId ancestor, NodeId id) const;

  // Usage of a ClusterQueue. The two functions are inverse, as long as nothing saturates.
  void add_usage(NodeId queue, std::span<const FrAmount> usage);
  struct QueueUsage {
    NodeId queue = no_node;
    std::vector<FrAmount> usage;
  };
  /// The same for many ClusterQueues, outside trials. Trees in which some of them use what they
  /// have no quota for are recomputed once, and not for each of them.
  void add_usages(std::span<const QueueUsage> usages);
  void remove_usage(NodeId queue, std::span<const FrAmount> usage);
  /// Lowers the usage of the ClusterQueue without changing that of its Cohorts, inside a trial.
  /// cycle.cpp does this where Kueue reserves a negative amount.
  void lower_own_usage(NodeId queue, FrId fr, Amount by);

  /// Trials nest. roll_back() undoes every change of usage since the begin_trial() that returned
  /// `mark`, exactly.
  std::size_t begin_trial();
  void roll_back(std::size_t mark);

  // Capacity
  /// Index of the cell, or no_cell.
  std::uint32_t find(NodeId id, FrId fr) const;
  const Cell& cell(NodeId id, std::uint32_t index) const { return nodes_[id].cells[index]; }
  /// The Cohorts above a node, the nearest first. Empty for a cyclic node, whose chain of parents
  /// may have no end.
  std::vector<NodeId> ancestors(NodeId id) const;
  /// What the ClusterQueue can still use, including what it can borrow; never negative.
  Amount available(NodeId queue, FrId fr) const;
  struct Headroom {
    Amount now = 0;                 ///< like available(), but negative when too much is used
    Amount with_any_borrowing = 0;  ///< if the ClusterQueue had no borrowing limit
  };
  Headroom headroom(NodeId queue, FrId fr) const;
  /// What the node could use if nothing were in use.
  Amount potential_available(NodeId id, FrId fr) const;
  /// Whether `more` on top of its usage makes the ClusterQueue exceed its nominal quota, or the
  /// Cohort its subtree quota.
  bool borrowing_with(NodeId id, FrId fr, Amount more) const;
  Amount usage(NodeId id, FrId fr) const;
  Amount nominal(NodeId id, FrId fr) const;
  /// Whether usage is within the subtree quota for all `frs`.
  bool within_nominal(NodeId id, std::span<const FrId> frs) const;
  /// Whether the requests fit the subtree's own quota. `rest` becomes what the parent has to
  /// provide of each request.
  bool fits_in_quota(NodeId id, std::span<const FrAmount> requests,
                     std::vector<FrAmount>* rest) const;

  struct Height {
    int height = 0;            ///< of the lowest subtree in which the request fits; 0: no borrowing
    bool may_reclaim = false;  ///< that subtree has a parent, from which it could reclaim
  };
  Height lowest_fitting_subtree(NodeId queue, FrId fr, Amount value) const;

 private:
  struct Change {
    NodeId node;
    std::uint32_t index;  ///< of the cell, if no cells were added since
    FrId fr;
    Amount before;  ///< usage
  };

  NodeId find_root(NodeId id) const;
  bool too_deep(NodeId root) const;
  void mark(NodeId id) { dirty_.push_back(id); }
  std::vector<NodeId> rebuild_dirty();
  void mark_cyclic(std::vector<NodeId> open);
  void rebuild(NodeId id, NodeId root);
  void order_children(NodeId id);
  void link_children(NodeId id);
  void note_exactness(std::span<const FrAmount> added);
  void apply(NodeId queue, FrId fr, Amount delta);
  void check_sums(NodeId queue, FrId fr) const;
  void set_usage(NodeId id, Cell* cell, Amount usage) {
    if (trials_.open()) {
      const auto index = static_cast<std::uint32_t>(cell - nodes_[id].cells.data());
      trial_.push_back({id, index, cell->fr, cell->usage});
    }
    write_usage(id, cell, usage);
  }
  void write_usage(NodeId id, Cell* cell, Amount usage) {
    const bool was_over = cell->usage > cell->subtree;
    cell->usage = usage;
    if (was_over != usage > cell->subtree) crossed(id, !was_over);
  }
  void crossed(NodeId id, bool is_over);
  void list_over(NodeId id);
  void unlist_over(NodeId id);
  void add(NodeId id, std::uint32_t index, Amount value);
  void remove(NodeId id, std::uint32_t index, Amount value);
  Amount available_at(NodeId id, std::uint32_t index) const;
  Amount potential_at(NodeId id, std::uint32_t index) const;

  std::vector<QuotaNode> nodes_;
  std::vector<NodeId> free_;
  std::vector<NodeId> dirty_;
  std::vector<Change> trial_;
  TrialMarks trials_;
  std::vector<NodeId> rebuilt_;  ///< roots of trees that were rebuilt within a trial
  bool exact_ = true;            ///< so far no amount was negative and no sum saturated
};

}  // namespace regatta::admission
