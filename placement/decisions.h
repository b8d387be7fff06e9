#pragma once

#include "lib/api/placements.h"
#include "lib/base/error.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What Placements have decided: which clusters, in which order, and what is wrong when there are
/// none. Pure functions.
namespace regatta::placement {

/// Cluster names of all parts of a decision, best first: by group index, by the group's name where
/// an index has several, by score where every cluster of a group has one, by the part's number, by
/// place in its list. Each cluster once. The error says which part has labels that cannot be read.
Result<std::vector<std::string>> in_order(
    const std::vector<std::shared_ptr<const api::PlacementDecision>>& parts);
/// The same for parts of SIG Multicluster, by decision-index: the names of ClusterProfiles.
Result<std::vector<std::string>> in_order(
    const std::vector<std::shared_ptr<const api::ProfilePlacementDecision>>& parts);

/// A Placement by its name, or decisions of SIG Multicluster by their key.
struct Reference {
  bool by_key = false;
  std::string ns;
  std::string name;  ///< of the Placement, or the key
  std::string str() const;
  friend auto operator<=>(const Reference&, const Reference&) = default;
};

struct DecisionView {
  Reference reference;
  /// Whether the API is served; empty: it is not known yet. `unreadable` says why it cannot be
  /// read.
  std::optional<bool> served;
  std::string unreadable;
  std::shared_ptr<const api::Placement> placement;  ///< null: none, or the reference is a key
  std::size_t parts = 0;                            ///< objects with decisions
  Result<std::vector<std::string>> clusters = std::vector<std::string>();  ///< in_order() of them
  std::vector<std::string> last_known;  ///< what judge() said last that is worth keeping
};

enum class Standing {
  unknown,         ///< the caches are being filled
  decided,         ///< there are clusters
  kept,            ///< decisions went or cannot be read: the last ones known count
  nothing_chosen,  ///< there is a decision, and it names no cluster
  undecided,       ///< there is no decision yet
  not_found,       ///< there is no such Placement
  unreadable,      ///< decisions cannot be read, and none are known from before
  not_served,
};

struct Verdict {
  Standing standing = Standing::unknown;
  std::vector<std::string> clusters;  ///< best first; empty unless `decided` or `kept`
  std::string message;                ///< one sentence for conditions and events
  bool has_clusters() const { return !clusters.empty(); }
};

Verdict judge(const DecisionView& view);

/// The Active condition of an admission check that names this Placement.
api::Condition placement_check_condition(const Verdict& verdict, std::int64_t generation);

}  // namespace regatta::placement
