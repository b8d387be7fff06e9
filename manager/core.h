#pragma once

#include "clusters/connector.h"
#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "controllers/dispatcher.h"
#include "controllers/elastic_ungater.h"
#include "controllers/job_reconciler.h"
#include "controllers/managed_cluster_controller.h"
#include "controllers/multikueue_check_controller.h"
#include "controllers/node_controller.h"
#include "controllers/placement_controller.h"
#include "controllers/provide_controller.h"
#include "controllers/provisioning_check_controller.h"
#include "controllers/queue_controller.h"
#include "controllers/quota_controller.h"
#include "controllers/scheduler.h"
#include "controllers/topology_ungater.h"
#include "controllers/unsupported_fields.h"
#include "controllers/workload_controller.h"
#include "jobs/integrations/integrations.h"
#include "lib/kube/events.h"

#include <memory>

namespace regatta::manager {

struct CoreDeps {
  kube::Client& client;  ///< of the cluster it manages
  clusters::Connector& connector;
  Clock& clock;
  Rng& rng;
  TaskScope& scope;  ///< stopped and joined before the core is destroyed
  Log log;
  /// Asked before each write, here and on workers; null: they may leave. Of `client` too, whose
  /// owner sees to it.
  const net::SendGate* write_gate = nullptr;
};

struct CoreConfig {
  std::string system_namespace = "kueue-system";
  std::string instance = "regatta";  ///< the reporting instance of Events
  bool multikueue = true;
  std::string origin = "multikueue";
  jobs::JobKinds kinds = jobs::enabled_kinds({});
  bool topology = true;  ///< false: topologies that flavors name have no effect
  controllers::SchedulerConfig scheduler;
  controllers::JobReconcilerConfig jobs;
  controllers::TopologyUngaterConfig ungater;
  controllers::NodeControllerConfig nodes;
  controllers::DispatcherConfig dispatch;
  /// Workers may come from ClusterProfiles, with credentials of these plugins; unset: they may not.
  std::optional<std::vector<api::ExecPlugin>> plugins;
  kube::ListLimits worker_limits;  ///< of what each worker has
  controllers::WorkloadControllerConfig workloads;
  controllers::ProvisioningCheckConfig provisioning;
  controllers::PlacementConfig placement;
  /// Workers are made of ManagedClusters; Core sets jobs and write_kubeconfig. Unset: they are not.
  std::optional<placement::ManagedClusterRules> managed_clusters;
  bool quota_automation = false;  ///< the gate MultiKueueManagerQuotaAutomation
  Duration status_batch = std::chrono::seconds(1);
  /// Called for each request to a worker; may be null.
  std::function<void(const std::string& cluster, const kube::RequestSeen&)> on_remote_request;
};

/// Everything that a manager does for its cluster, hub or worker: the informers, the scheduler, the
/// controllers, and with MultiKueue the connections to workers and the dispatcher. Its state is in
/// the API server: it may be stopped at any point, and another manager goes on.
class Core {
 public:
  Core(CoreDeps deps, CoreConfig config);

  /// Fills the caches; returns when they are complete.
  Task<> sync();
  /// Starts to act. Call it after sync(); of several replicas only the leader does.
  void start();
  /// The same for a process that takes over from another one: first the caches are brought up to
  /// what the API server has now. Watches of a standby may have been dead for minutes. An error of
  /// kube::CatchUp: nothing was started, and another replica should lead.
  Task<Status> take_over();

  bool synced() const { return synced_; }
  /// Nothing is being worked on; only timers and events can start something.
  bool idle() const;

  clusters::LocalCluster& local() { return local_; }
  controllers::Scheduler& scheduler() { return scheduler_; }
  clusters::Fleet& fleet() { return fleet_; }

 private:
  CoreDeps deps_;
  CoreConfig config_;
  kube::EventRecorder events_;
  clusters::LocalCluster local_;
  /// What was sent to a worker may come late: the next leader does not rely on having seen it.
  net::UncountedGate worker_gate_;
  clusters::Fleet fleet_;
  controllers::Dispatcher dispatcher_;
  controllers::Scheduler scheduler_;
  controllers::WorkloadController workloads_;
  controllers::QueueController queues_;
  controllers::UnsupportedFields unsupported_;
  controllers::MultiKueueCheckController checks_;
  controllers::QuotaController quota_;
  controllers::ProvideController provide_;
  std::unique_ptr<controllers::ManagedClusterController>
      managed_clusters_;  ///< null: not asked for
  controllers::ProvisioningCheckController provisioning_;
  controllers::PlacementController placement_;
  controllers::ElasticUngater elastic_;
  controllers::TopologyUngater ungater_;
  controllers::NodeController nodes_;
  controllers::JobReconciler jobs_;
  bool synced_ = false;
};

}  // namespace regatta::manager
