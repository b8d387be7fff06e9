#pragma once

/// How many pods of one kind fit into every domain of a tree.
///
/// A view is computed once and then follows the tree: sync() recounts the leaves that changed since
/// the last sync() and passes differences upwards. Changes of trials, and their end, are followed
/// in the same way, so the cost depends only on the leaves that were touched.

#include "admission/topology/tree.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::admission {

/// How pods keep together: `size` pods in one domain of `level`, and within it groups of the inner
/// sizes in one domain of each lower level.
struct SliceShape {
  std::int32_t size = 1;
  std::size_t level = 0;
  std::vector<std::int32_t> inner;  ///< by level; 0: no groups there; empty: no groups at all
  std::int32_t inner_at(std::size_t at) const { return at < inner.size() ? inner[at] : 0; }
  friend auto operator<=>(const SliceShape&, const SliceShape&) = default;
};

/// The nodes on which the pods can run at all, and what excludes the others.
struct NodeFilter {
  std::vector<std::uint8_t> allowed;  ///< by leaf
  std::map<std::string, int> taints;  ///< "key=value:effect" -> nodes
  int node_selector = 0;
  int affinity = 0;
};
NodeFilter filter_nodes(const TopologyTree& tree, const PodProfile& pods);

/// The columns of resources in ledgers.
class ColumnMap {
 public:
  std::optional<std::size_t> find(ResourceId resource) const {
    if (resource >= columns_.size() || columns_[resource] == 0) return std::nullopt;
    return columns_[resource] - 1;
  }
  /// Adds a column if the resource is new.
  std::size_t at(ResourceId resource);
  std::size_t size() const { return count_; }

 private:
  std::vector<std::uint32_t> columns_;  ///< column plus one, by resource; 0: none
  std::size_t count_ = 0;
};

struct CapacityKey {
  std::uint64_t pods = 0;
  std::uint64_t leader = 0;  ///< 0: none
  bool empty = false;        ///< as if no workload were placed
  SliceShape slices;
  friend auto operator<=>(const CapacityKey&, const CapacityKey&) = default;
};

class CapacityView {
 public:
  struct Counts {
    std::vector<std::int64_t> pods;
    std::vector<std::int64_t> slices;  ///< 0 below the slices' level
    // The same with a leader among the pods; empty without leader.
    std::vector<std::int64_t> pods_with_leader;
    std::vector<std::int64_t> slices_with_leader;
    std::vector<std::uint8_t> leaders;  ///< whether a leader fits
  };

  CapacityView(const TopologyTree& tree, const ColumnMap& columns, PodProfilePtr pods,
               PodProfilePtr leader, SliceShape slices, bool empty,
               std::shared_ptr<const NodeFilter> filter);

  /// Restricts the view to the leaves below one domain.
  void confine(std::size_t level, DomainIndex domain);
  /// Makes the next sync() count everything.
  void start_over() { built_ = false; }
  /// Brings the view up to date with the tree.
  void sync();

  const TopologyTree& tree() const { return tree_; }
  const SliceShape& slices() const { return slices_; }
  bool with_leader() const { return leader_ != nullptr; }
  const Counts& level(std::size_t at) const { return levels_[at]; }
  /// Increases with every change of a count.
  std::uint64_t version() const { return version_; }

  /// ". Total nodes: 6; excluded: resource "cpu": 5, …", or empty when no node is excluded.
  std::string exclusions(const Names& names) const;

 private:
  struct LeafCounts {
    std::int64_t pods = 0;
    std::int64_t pods_with_leader = 0;
    std::uint8_t leader = 0;
  };
  struct Request {
    std::optional<std::size_t> column;  ///< absent: no node has the resource
    Amount amount = 0;
    ResourceId resource = 0;
  };

  std::vector<Request> requests_of(const PodProfile& profile) const;
  std::int64_t fitting(DomainIndex leaf, const std::vector<Request>* minus) const;
  LeafCounts count(DomainIndex leaf) const;
  void rebuild();
  void set_leaf(DomainIndex leaf, const LeafCounts& counts);
  void raise(std::size_t level, DomainIndex domain, std::int64_t pods, std::int64_t slices);
  void sum_children(std::size_t level, DomainIndex domain);
  const LeafLedger& ledger() const { return empty_ ? tree_.empty : tree_.live; }
  std::int64_t rounded(std::size_t level, std::int64_t pods) const;

  const TopologyTree& tree_;
  const ColumnMap& columns_;
  PodProfilePtr pods_;
  PodProfilePtr leader_;
  SliceShape slices_;
  bool empty_;
  std::shared_ptr<const NodeFilter> filter_;
  std::vector<std::uint8_t> outside_;  ///< by leaf, when confined
  std::vector<Request> requests_;
  std::vector<Request> leader_requests_;
  std::size_t column_count_ = 0;
  std::vector<Counts> levels_;
  std::vector<std::uint64_t> seen_;  ///< by leaf: the last sync that recounted it
  std::uint64_t syncs_ = 0;
  std::uint64_t synced_ = 0;
  std::uint64_t version_ = 0;
  bool built_ = false;
};

}  // namespace regatta::admission
