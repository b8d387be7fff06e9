#pragma once

#include "controllers/managed_cluster_controller.h"
#include "controllers/placement_controller.h"
#include "lib/kube/events.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::manager {

struct PlacementHubConfig {
  std::string system_namespace = "kueue-system";
  std::string instance = "regatta-placement";  ///< the reporting instance of Events
  controllers::PlacementConfig placement{.every_workload = true};
  /// Complete (managed_cluster_rules.h); nullopt: no workers are made of ManagedClusters.
  std::optional<placement::ManagedClusterRules> managed_clusters;
};

struct PlacementHubDeps {
  kube::Client& client;
  kube::Client& worker_client;  ///< makes workers of ManagedClusters, under its own field manager
  Clock& clock;
  Rng& rng;
  TaskScope& scope;
  Log log;
};

/// Lets Placements nominate on a hub that another program manages: Kueue, or a manager of Regatta
/// whose dispatcher is external.
///
/// Kueue writes its part of a Workload's status by server-side apply, with the manager
/// kueue-admission, and clears the nominations by leaving them out. So what is written here is
/// applied with the same manager: all that it applied last, and the nominations. On a hub that does
/// not use server-side apply, the difference is written as a merge patch.
///
/// It makes workers of ManagedClusters, too, if the configuration says so: the hub's manager may
/// not know how.
class PlacementHub {
 public:
  PlacementHub(PlacementHubDeps deps, PlacementHubConfig config);

  /// Fills the caches; returns when they are complete.
  Task<> sync();
  bool synced() const { return synced_; }
  /// Starts to act. Call it after sync(), where there are no other replicas.
  void start();
  /// The same for a replica that has become the leader: first its caches show all that the hub had
  /// by then. An error of kube::CatchUp: nothing was started, and another replica should lead.
  Task<Status> take_over();
  bool idle() const {
    return placement_.idle() && (!managed_clusters_ || managed_clusters_->idle());
  }

 private:
  controllers::PlacementDeps placement_deps();
  Task<Status> write_workload(api::ObjectKey key, clusters::Wanted<api::WorkloadStatus> wanted);
  void make_workers();
  Task<> prepare_workers();
  Task<> find_hub_uid();
  bool is_true(const std::string& member, std::string_view type) const;
  Task<Status> tell(std::string member, std::optional<clusters::Notice> notice);
  Task<Status> write_check(api::AdmissionCheck before, api::AdmissionCheck after);

  PlacementHubDeps deps_;
  PlacementHubConfig config_;
  kube::Client& client_;
  kube::EventRecorder events_;
  kube::Informer<api::Workload> workloads_;
  kube::Informer<api::LocalQueue> local_queues_;
  kube::Informer<api::ClusterQueue> cluster_queues_;
  kube::Informer<api::AdmissionCheck> checks_;
  kube::Informer<api::MultiKueueCluster> multikueue_clusters_;
  kube::Informer<api::MultiKueueConfig> multikueue_configs_;
  clusters::ClusterSelection selection_;
  controllers::PlacementController placement_;
  // Null, and empty, without ManagedClusters.
  std::unique_ptr<kube::Informer<api::Secret>> secrets_;
  std::unique_ptr<controllers::ManagedClusterController> managed_clusters_;
  std::string hub_uid_;
  bool synced_ = false;
};

/// What to apply as kueue-admission so that the status of `object` becomes `wanted` in its
/// nominations and checks, and nothing else of that manager is given up. Null when that manager has
/// applied nothing to it.
Json nomination_to_apply(const Json& object, const api::Workload& wanted);

}  // namespace regatta::manager
