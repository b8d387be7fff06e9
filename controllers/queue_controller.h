#pragma once

#include "clusters/local_cluster.h"
#include "controllers/known_users.h"
#include "controllers/scheduler.h"
#include "lib/runtime/work_queue.h"

#include <string>

namespace regatta::controllers {

/// Writes status and finalizers of ClusterQueues, LocalQueues, Cohorts, ResourceFlavors, Topologies
/// and AdmissionChecks. Counts change with every workload, so they are written at most twice a
/// second for each queue.
class QueueController {
 public:
  QueueController(clusters::LocalCluster& cluster, Scheduler& scheduler, TaskScope& scope,
                  Duration batch = Duration(500));
  void start();
  bool idle() const { return queue_.idle() && queues_.idle() && flavors_.idle(); }

 private:
  /// The kind, e.g. "ClusterQueue", and the object's key.
  using Item = std::pair<std::string, api::ObjectKey>;

  Task<> work();
  Task<> sample_usage();
  Task<Status> reconcile(Item item);
  Task<Status> cluster_queue(api::ObjectKey key);
  Task<Status> local_queue(api::ObjectKey key);
  Task<Status> cohort(api::ObjectKey key);
  Task<Status> flavor(Item item);
  Task<Status> topology(Item item);
  Task<Status> check(Item item);
  template <class T>
  Task<Status> keep_finalizer(kube::Informer<T>& informer, std::shared_ptr<const T> object,
                              bool in_use);
  /// keep_finalizer() of an object that `users` may use.
  template <class T, class Users>
  Task<Status> keep_finalizer(kube::Informer<T>& informer, Item item, bool in_use, Users& users);
  template <class T, class QueueStatus>
  Task<Status> write_queue(kube::Informer<T>& informer, std::shared_ptr<const T> stored,
                           QueueStatus status, admission::Activity activity);
  void take_changes();
  void look_at(Item item, bool only_status);

  clusters::LocalCluster& cluster_;
  Scheduler& scheduler_;
  TaskScope& scope_;
  Duration batch_;
  Log log_;
  WorkQueue<Item> queue_;
  KnownUsers<api::ClusterQueue, Item> queues_;     ///< of ResourceFlavors and AdmissionChecks
  KnownUsers<api::ResourceFlavor, Item> flavors_;  ///< of Topologies
};

}  // namespace regatta::controllers
