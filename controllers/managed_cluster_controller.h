#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "lib/api/managed_clusters.h"
#include "lib/runtime/work_queue.h"
#include "placement/managed_clusters.h"

#include <map>
#include <memory>
#include <string>

namespace regatta::controllers {

/// Makes workers of the ManagedClusters of Open Cluster Management (placement/managed_clusters.h).
/// It watches what it needs of them on the hub, and asks no worker. What is lacking is told by the
/// condition `CredentialsLacking` of the MultiKueueCluster; where there is none, by an Event of the
/// ManagedCluster once it has lasted for half a minute.
class ManagedClusterController {
 public:
  /// `informers`: for those of its own. Their client writes, too. It sets the namespace of
  /// `rules`.
  ManagedClusterController(clusters::LocalCluster& hub, clusters::Fleet& fleet,
                           kube::InformerDeps informers, TaskScope& scope,
                           placement::ManagedClusterRules rules);
  /// The informers of the hub must have synced.
  void start();
  bool idle() const { return queue_.idle(); }

 private:
  struct Told {
    placement::ManagedClusterLack lack;
    SteadyPoint since{};
    bool said = false;
  };

  void watch_hub();
  void watch_clusters();
  Task<> run();
  Task<> work();
  Task<Status> reconcile(std::string name);
  Task<Status> confirm(std::string name);
  Task<Status> carry_out(std::string name, placement::ManagedClusterPlan* plan);
  Task<Result<std::string>> write(const placement::ManagedClusterStep* step);
  placement::ManagedClusterView view_of(const std::string& name) const;
  std::size_t workloads_at(const std::string& name) const;
  std::string other_member_of(const std::string& name) const;
  void tell(const std::string& name, const placement::ManagedClusterPlan& plan);
  void tell_by_event(const std::string& name, const placement::ManagedClusterLack& lack);
  void enqueue_all();

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  TaskScope& scope_;
  placement::ManagedClusterRules rules_;
  Log log_;
  kube::Client& client_;
  kube::Informer<api::ManagedCluster> managed_clusters_;
  kube::Informer<api::ManagedServiceAccount> accounts_;
  kube::Informer<api::ClusterPermission> permissions_;
  kube::Informer<api::Secret> tokens_;  ///< of the accounts
  /// Null where the rules do not need them.
  std::unique_ptr<kube::Informer<api::ClusterProfile>> profiles_;
  std::unique_ptr<kube::Informer<api::ConfigMap>> authority_;
  std::map<std::string, Told> told_;  ///< by ManagedCluster, of what Events tell
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::controllers
