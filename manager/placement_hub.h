#pragma once

#include "controllers/placement_controller.h"
#include "lib/kube/events.h"

#include <string>

namespace regatta::manager {

struct PlacementHubConfig {
  std::string system_namespace = "kueue-system";
  std::string instance = "regatta-placement";  ///< the reporting instance of Events
  controllers::PlacementConfig placement{.every_workload = true};
};

struct PlacementHubDeps {
  kube::Client& client;
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
class PlacementHub {
 public:
  PlacementHub(PlacementHubDeps deps, PlacementHubConfig config);

  /// Fills the caches; returns when they are complete.
  Task<> sync();
  bool synced() const { return synced_; }
  /// Starts to act. Call it after sync(); of several replicas only the leader does.
  void start();
  bool idle() const { return placement_.idle(); }

 private:
  controllers::PlacementDeps placement_deps();
  Task<Status> write_workload(api::ObjectKey key, clusters::Wanted<api::WorkloadStatus> wanted);
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
  bool synced_ = false;
};

/// What to apply as kueue-admission so that the status of `object` becomes `wanted` in its
/// nominations and checks, and nothing else of that manager is given up. Null when that manager has
/// applied nothing to it.
Json nomination_to_apply(const Json& object, const api::Workload& wanted);

}  // namespace regatta::manager
