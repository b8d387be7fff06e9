#pragma once

#include "lib/api/meta.h"
#include "lib/api/resource.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

/// One object in the graph.
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

/// Objects and their owners, by uid.
class OwnerGraph {
 public:
  /// Both return the objects to look at next.
  std::set<std::string> put(GraphNode node);
  std::set<std::string> erase(const std::string& uid);

  const GraphNode* find(const std::string& uid) const;
  /// Uids of the objects that name `uid` as their owner.
  const std::set<std::string>& dependents(const std::string& uid) const;

 private:
  std::map<std::string, GraphNode> nodes_;
  std::map<std::string, std::set<std::string>> dependents_;
};

/// The state of an owner that a reference names.
enum class OwnerState {
  solid,    ///< the owner exists
  waiting,  ///< it is being deleted in the foreground, and waits for its dependents
  absent,   ///< it is deleted, or never existed
};

enum class Collection {
  nothing,
  remove_background,
  remove_foreground,
  drop_references,  ///< remove the owners that are not solid from its list
  orphan,           ///< remove the reference from its dependents, then its finalizer
  release,          ///< no dependent holds it any more: remove foregroundDeletion
  end_dependents,   ///< look at its dependents, for which it waits
};

/// The decision about one object:
///  1. an object that is to orphan its dependents does so;
///  2. an object that waits for its dependents is released when none of them blocks it;
///  3. an object that is being deleted in another way is left alone;
///  4. an object with a solid owner stays, and loses references to owners that are not;
///  5. an object without one is deleted: in the foreground if an owner waits for it and it has
///     dependents itself.
Collection plan_collection(const GraphNode& node, const std::vector<OwnerState>& owners,
                           std::size_t dependents, std::size_t blocking_dependents);

}  // namespace regatta::lab
