#pragma once

#include "clusters/job_store.h"
#include "clusters/local_lookup.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/api/template_pool.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/events.h"
#include "lib/kube/informer.h"
#include "lib/runtime/key_lock.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <set>
#include <string>

namespace regatta::clusters {

struct LocalClusterDeps {
  kube::Client& client;
  kube::EventRecorder& events;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
  std::string system_namespace;  ///< where kubeconfig Secrets are: "kueue-system"
  jobs::JobKinds kinds;          ///< the kinds that are followed
  /// When false, flavors are read as if they named no topology.
  bool topology = true;
};

/// The cluster that this manager manages: its client and one informer for each kind that Regatta
/// reads. Every controller shares it, so that each object is watched and held in memory once.
///
/// Workloads and jobs are written through the functions below alone: each holds the lock of its
/// object around "read the store, patch, observe() the answer", so that no part of this process
/// conflicts with another.
class LocalCluster {
 public:
  explicit LocalCluster(LocalClusterDeps deps);

  /// Spawns every informer.
  void start(TaskScope& scope);
  Task<> wait_synced();
  /// Lists everything anew; returns when every cache is as new as the server was at the call. A
  /// process that begins to lead needs it: its watches may have been dead while another one wrote.
  Task<> catch_up();

  /// Takes the lock of one Workload, lets `change` edit a copy of what the store has, and writes
  /// the difference in its status: one merge patch, or no request when nothing changed. `change`
  /// returns false to write nothing. not_found when the Workload is gone.
  Task<Status> update_status(api::ObjectKey key, std::function<bool(api::Workload&)> change);
  /// The same for labels, annotations, finalizers and owner references.
  Task<Status> update_metadata(api::ObjectKey key, std::function<bool(api::Workload&)> change);
  /// The same for spec.
  Task<Status> update_spec(api::ObjectKey key, std::function<bool(api::Workload&)> change);

  Task<Result<api::ObjectKey>> create_workload(api::Workload workload);
  /// Deletes the Workload with this uid; ok when it is gone already.
  Task<Status> remove_workload(jobs::WorkloadPtr workload);

  /// Reads one Workload from the API into the store, for use when it is unknown whether a write
  /// happened.
  Task<Status> refresh(api::ObjectKey key);
  /// The same, and tells the cache when there is no such Workload, or one that cannot be decoded.
  Task<Status> confirm(api::ObjectKey key);
  /// Whether a write of the Workload may have happened that the cache does not have.
  bool unsure(const api::ObjectKey& key) const { return unsure_.contains(key); }

  /// Takes the lock of one job, asks `change` for a merge patch of what the store has (nullopt or
  /// an empty object: nothing to write), sends it to the job or its status, and observes the
  /// answer.
  Task<Status> patch_job(jobs::JobId id, bool status,
                         std::function<std::optional<Json>(const jobs::GenericJob&)> change);
  /// Deletes the job with this uid and the objects that it owns; ok when it is gone already.
  Task<Status> remove_job(jobs::JobPtr job);

  /// What tells this cluster from others: the UID of its namespace kube-system. Empty if unknown.
  std::string uid() const;

  /// The objects that decisions read.
  const jobs::Lookup& objects() const { return lookup_; }

  kube::Client& client;
  kube::EventRecorder& events;
  Clock& clock;
  Log log;
  const std::string system_namespace;

 private:
  api::TemplatePool templates_;  ///< declared before the informers, which fill it

 public:
  kube::Informer<api::Workload> workloads;
  JobStore jobs;
  kube::Informer<api::ClusterQueue> cluster_queues;
  kube::Informer<api::LocalQueue> local_queues;
  kube::Informer<api::Cohort> cohorts;
  kube::Informer<api::ResourceFlavor> flavors;
  kube::Informer<api::Topology> topologies;
  kube::Informer<api::AdmissionCheck> checks;
  kube::Informer<api::MultiKueueCluster> multikueue_clusters;
  kube::Informer<api::MultiKueueConfig> multikueue_configs;
  kube::Informer<api::WorkloadPriorityClass> workload_priority_classes;
  kube::Informer<api::PriorityClass> priority_classes;
  kube::Informer<api::Namespace> namespaces;
  kube::Informer<api::LimitRange> limit_ranges;
  kube::Informer<api::RuntimeClass> runtime_classes;
  kube::Informer<api::Secret> secrets;  ///< of the system namespace only
  /// Nodes and pods are followed once a ResourceFlavor names a topology. They are reduced by
  /// keep_for_placement(). Pods that ended are not kept.
  kube::Informer<api::Node> nodes;
  kube::Informer<api::Pod> pods;

 private:
  Task<Status> update(api::ObjectKey key, std::function<bool(api::Workload&)> change,
                      kube::PatchScope scope);
  Task<> watch_places(TaskScope& scope);
  bool uses_topology() const;

  LocalLookup lookup_{*this};
  KeyLocks<api::ObjectKey> workload_locks_;
  KeyLocks<jobs::JobId> job_locks_;
  std::set<api::ObjectKey> unsure_;
  Wakeup flavor_changed_;
};

/// Index of LocalCluster::workloads: owner_name() of the controlling owner.
inline constexpr const char* by_owner = "owner";
/// "batch/Job/namespace/name".
std::string owner_name(const jobs::JobId& owner);
/// Index of LocalCluster::workloads: "namespace/queueName".
inline constexpr const char* by_local_queue = "local-queue";
/// Index of LocalCluster::jobs: "namespace/name" of the prebuilt Workload that the job names.
inline constexpr const char* by_prebuilt = "prebuilt";

/// Index of LocalCluster::pods: "namespace/name" of the Workload of a placed pod.
inline constexpr const char* by_pods_workload = "workload";
/// Index of LocalCluster::pods: the hostname to which a placed pod must go, while no node runs it.
inline constexpr const char* by_wanted_host = "wanted-host";

}  // namespace regatta::clusters
