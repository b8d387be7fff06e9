#pragma once

#include "lib/api/meta.h"
#include "lib/api/resource.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

/// What the garbage collector knows of one object.
struct GraphNode {
  std::string uid;
  std::size_t resource = 0;  ///< index of its resource
  api::ObjectKey key;
  std::vector<api::OwnerReference> owners;
  bool deleting = false;
  bool waits_for_dependents = false;  ///< finalizer foregroundDeletion
  bool orphans_dependents = false;    ///< finalizer orphan
};

GraphNode graph_node(const api::ObjectMeta& meta, std::size_t resource);

/// Objects and who owns whom, by uid.
class OwnerGraph {
 public:
  /// Both return whose turn it is to be looked at.
  std::set<std::string> put(GraphNode node);
  std::set<std::string> erase(const std::string& uid);

  const GraphNode* find(const std::string& uid) const;
  /// Uids of the objects that name it as their owner.
  const std::set<std::string>& dependents(const std::string& uid) const;

 private:
  std::map<std::string, GraphNode> nodes_;
  std::map<std::string, std::set<std::string>> dependents_;
};

/// What an owner reference turned out to be worth.
enum class OwnerState {
  solid,    ///< the owner exists
  waiting,  ///< it is being deleted in the foreground, and waits for its dependents
  absent,   ///< it is gone, or never was
};

enum class Collection {
  nothing,
  remove_background,
  remove_foreground,
  drop_references,  ///< the owners that are not solid are struck from its list
  orphan,           ///< its dependents lose their reference, then it its finalizer
  release,          ///< nothing holds it any more: its foregroundDeletion finalizer goes
  end_dependents,   ///< its dependents are looked at, since it waits for them
};

/// The decision about one object:
///  1. one that is to orphan its dependents does so;
///  2. one that waits for its dependents is released when there are none that block it;
///  3. one that is being deleted otherwise is left alone;
///  4. with a solid owner it stays, and forgets owners that are not;
///  5. with none it goes: in the foreground if an owner waits for it and it has dependents itself.
Collection plan_collection(const GraphNode& node, const std::vector<OwnerState>& owners,
                           std::size_t dependents, std::size_t blocking_dependents);

}  // namespace regatta::lab
