#pragma once

#include "clusters/notice.h"
#include "lib/api/kueue.h"
#include "lib/api/managed_clusters.h"
#include "lib/kube/events.h"
#include "lib/kube/informer.h"
#include "lib/runtime/work_queue.h"
#include "placement/managed_clusters.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace regatta::controllers {

/// The hub, whose manager need not be of Regatta.
struct ManagedClusterDeps {
  kube::Informer<api::Secret>& secrets;  ///< of the rules' namespace
  kube::Informer<api::MultiKueueCluster>& multikueue_clusters;
  kube::Informer<api::Workload>& workloads;
  kube::InformerDeps informers;  ///< for those of the controller. Their client writes, too.
  kube::EventRecorder& events;
  TaskScope& scope;
  /// Of the hub's namespace kube-system; empty: not known.
  std::function<std::string()> hub_uid;
  /// Whether the worker of that name is connected, so that what is nominated may come there.
  std::function<bool(const std::string&)> is_connected;
  /// Whether its condition `CredentialsLacking` is True, as far as is known.
  std::function<bool(const std::string&)> is_told;
  /// Makes that condition True with an Event, or False. Of a worker that is not known yet nothing
  /// is told; look() at it then.
  std::function<Task<Status>(std::string name, std::optional<clusters::Notice> notice)> tell;
};

/// Makes workers of the ManagedClusters of Open Cluster Management (placement/managed_clusters.h).
/// It watches what it needs of them on the hub, and asks no worker. What is lacking is told by the
/// condition `CredentialsLacking` of the MultiKueueCluster; where there is none, by an Event of the
/// ManagedCluster once it has lasted for half a minute.
class ManagedClusterController {
 public:
  ManagedClusterController(ManagedClusterDeps deps, placement::ManagedClusterRules rules);
  /// The informers of the hub must have synced.
  void start();
  /// The worker of that name is known, or was connected or lost.
  void look(const std::string& name) { queue_.add(name); }
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
  Task<Status> tell(std::string name, const placement::ManagedClusterPlan* plan);
  void tell_by_event(const std::string& name, const placement::ManagedClusterLack& lack);
  void enqueue_all();

  ManagedClusterDeps hub_;
  placement::ManagedClusterRules rules_;
  Clock& clock_;
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
