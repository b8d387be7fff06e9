#pragma once

#include "lab/cluster/discovery.h"
#include "lab/cluster/owner_graph.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/informer_core.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

struct GarbageCollectorDeps {
  kube::Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

struct GarbageCollectorOptions {
  /// Time between two discoveries, besides those after changes of CustomResourceDefinitions.
  Duration rediscover = std::chrono::seconds(30);
  int workers = 4;
  /// A client that deletes an owner often deletes the owner's dependents as well. This is the time
  /// for it.
  Duration patience{50};
};

/// Carries out owner references as kube-controller-manager's garbage collector does: dependents of
/// a deleted object are deleted, in the background or foreground, or are orphaned. Keeps only the
/// metadata of every object.
class GarbageCollector {
 public:
  GarbageCollector(GarbageCollectorDeps deps, GarbageCollectorOptions options = {});
  GarbageCollector(const GarbageCollector&) = delete;
  ~GarbageCollector();

  /// Runs until cancelled.
  Task<> run();

 private:
  struct Monitor;

  Task<> find_resources();
  /// Returns when the served resources may have changed.
  Task<> definitions_changed();
  void watch(const DiscoveredResource& resource);
  Task<> work();
  Task<Status> collect(std::string uid);
  Task<Result<OwnerState>> state_of(const GraphNode& node, const api::OwnerReference& owner);
  Task<Status> remove(const GraphNode& node, std::string policy);
  Task<Status> strike_owners(const GraphNode& node, std::set<std::string> uids);
  Task<Status> strike_finalizer(const GraphNode& node, std::string finalizer);
  Task<Status> orphan_dependents(const GraphNode& node);
  /// Applies `change` to the present metadata of the object, if it is still the same object.
  Task<Status> patch_metadata(const GraphNode& node, std::function<bool(Json&)> change);
  const Monitor* monitor_of(const api::OwnerReference& owner) const;
  std::size_t blocking_dependents(const GraphNode& node) const;
  void note_gone(const std::string& uid);

  GarbageCollectorDeps deps_;
  GarbageCollectorOptions options_;
  OwnerGraph graph_;
  std::set<std::string> gone_;          ///< uids of recently deleted objects
  std::deque<std::string> gone_order_;  ///< the oldest first
  std::vector<std::unique_ptr<Monitor>> monitors_;
  bool definitions_changed_ = false;
  Wakeup definitions_;
  TaskScope scope_;
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::lab
