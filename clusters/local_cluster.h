#pragma once

#include "clusters/cluster_selection.h"
#include "clusters/job_store.h"
#include "clusters/local_lookup.h"
#include "clusters/runtime_store.h"
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

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

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
  /// When false, this cluster is no hub: MultiKueueClusters, MultiKueueConfigs and Secrets are not
  /// watched, as if there were none.
  bool hub = true;
};

/// Decides what a part of a Workload should be; nullopt when the part may stay as it is.
template <class Part>
using Wanted = std::function<std::optional<Part>(const api::Workload&)>;

/// The cluster that this manager manages: its client and one informer for each kind that Regatta
/// reads. Every controller shares it, so that each object is watched and held in memory once.
///
/// What is followed here is written through the functions below alone. Those for Workloads and jobs
/// hold the lock of the object around "read the store, patch, observe() the answer", so that no
/// part of this process conflicts with another.
class LocalCluster {
 public:
  explicit LocalCluster(LocalClusterDeps deps);

  /// Spawns every informer.
  void start(TaskScope& scope);
  Task<> wait_synced();
  /// Lists everything anew; returns when every cache is as new as the server was at the call. A
  /// process that begins to lead needs it: its watches may have been dead while another one wrote.
  /// Errors: those of kube::CatchUp.
  Task<Status> catch_up();

  /// Takes the lock of one Workload, asks `wanted` what the status of what the store has should be
  /// (nullopt: it stays as it is), and writes the difference: one merge patch, or no request when
  /// there is none. not_found when the Workload is gone.
  Task<Status> update_status(api::ObjectKey key, Wanted<api::WorkloadStatus> wanted);
  /// The same for labels, annotations, finalizers and owner references.
  Task<Status> update_metadata(api::ObjectKey key, Wanted<api::ObjectMeta> wanted);
  /// The same for spec.
  Task<Status> update_spec(api::ObjectKey key, Wanted<api::WorkloadSpec> wanted);
  /// The same for what was decided on that very Workload: `conflict` when another one has its name
  /// by the time of the write, as copies on workers have that a hub sends again.
  Task<Status> update_status(jobs::WorkloadPtr workload, Wanted<api::WorkloadStatus> wanted);
  Task<Status> update_metadata(jobs::WorkloadPtr workload, Wanted<api::ObjectMeta> wanted);
  Task<Status> update_spec(jobs::WorkloadPtr workload, Wanted<api::WorkloadSpec> wanted);

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
  /// answer. When it is unknown whether that happened, the job is read.
  Task<Status> patch_job(jobs::JobId id, bool status,
                         std::function<std::optional<Json>(const jobs::GenericJob&)> change);
  /// Whether a write of the job may have happened that the cache does not have.
  bool unsure(const jobs::JobId& id) const { return unsure_jobs_.contains(id); }
  bool unsure_of_jobs() const { return !unsure_jobs_.empty(); }
  /// Reads one object of a composed job from the API server, and tells the cache; null when it is
  /// gone.
  Task<Result<jobs::JobPtr>> fetch_job(jobs::JobId id);
  /// Reads the owners of the job that the cache does not have, their owners and so on, so that the
  /// job is not taken for one that no other job made. The error of the first that cannot be read;
  /// a kind that may not be read is known by its watch alone.
  Task<Status> fetch_makers(jobs::JobPtr job);
  /// Deletes the job with this uid and the objects that it owns; ok when it is gone already.
  Task<Status> remove_job(jobs::JobPtr job);

  /// Writes the difference between `before`, as it was read from `store`, and `after` in the
  /// status, and observes the answer in `store`; ok without a request when there is none. For the
  /// kinds that a single controller writes.
  template <class T>
  Task<Status> write_status(kube::Informer<T>& store, T before, T after);
  /// The same for labels, annotations, finalizers and owner references.
  template <class T>
  Task<Status> write_metadata(kube::Informer<T>& store, T before, T after);
  /// The same for all of the object but its status.
  template <class T>
  Task<Status> write_object(kube::Informer<T>& store, T before, T after);
  /// Sends a merge patch to the status, whatever version the object has.
  template <class T>
  Task<Status> patch_status(kube::Informer<T>& store, api::ObjectKey key, std::string patch);

  /// Sends a merge patch to a pod of the store, and observes the answer. When the store is
  /// outdated, or it is unknown whether the write happened, the pod is read.
  Task<Status> patch_pod(api::ObjectKey key, std::string patch);
  /// Sends a strategic merge patch to the status of a pod.
  Task<Status> patch_pod_status(api::ObjectKey key, std::string patch);
  /// What tells this cluster from others: the UID of its namespace kube-system. Empty if unknown.
  std::string uid() const;

  /// The objects that decisions read.
  const jobs::Lookup& objects() const { return lookup_; }
  /// What objects share, so that equal ones take little memory.
  api::TemplatePool& templates() { return templates_; }

  kube::EventRecorder& events;
  Clock& clock;
  Log log;
  const std::string system_namespace;

 private:
  kube::Client& client_;
  const bool hub_;
  api::TemplatePool templates_;  ///< declared before the informers, which fill it

 public:
  kube::Informer<api::Workload> workloads;
  JobStore jobs;
  RuntimeStore runtimes;
  kube::Informer<api::ClusterQueue> cluster_queues;
  kube::Informer<api::LocalQueue> local_queues;
  kube::Informer<api::Cohort> cohorts;
  kube::Informer<api::ResourceFlavor> flavors;
  kube::Informer<api::Topology> topologies;
  kube::Informer<api::AdmissionCheck> checks;
  kube::Informer<api::MultiKueueCluster> multikueue_clusters;
  kube::Informer<api::MultiKueueConfig> multikueue_configs;
  ClusterSelection selection;  ///< of workers, by the two before
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
  template <class Part>
  Task<Status> update(api::ObjectKey key, Wanted<Part> wanted, Part api::Workload::* part,
                      kube::PatchScope scope);
  template <class Part>
  Task<Status> update_one(jobs::WorkloadPtr workload, Wanted<Part> wanted,
                          Part api::Workload::* part, kube::PatchScope scope);
  template <class T>
  Task<Status> written(kube::Informer<T>& store, Task<Result<T>> write);
  Task<> watch_places(TaskScope& scope);
  /// workloads.vouch(), once for all that ask for it meanwhile.
  Task<> vouch();
  bool uses_topology() const;

  LocalLookup lookup_{*this};
  KeyLocks<api::ObjectKey> workload_locks_;
  KeyLocks<jobs::JobId> job_locks_;
  /// Workloads that the cache lacks and that were asked for one by one, lately.
  struct Asked {
    SteadyPoint since;
    int times = 0;
  };
  Asked asked_;
  bool vouching_ = false;
  Wakeup vouched_;
  std::set<api::ObjectKey> unsure_;
  std::set<jobs::JobId> unsure_jobs_;
  Wakeup flavor_changed_;
};

template <class T>
Task<Status> LocalCluster::written(kube::Informer<T>& store, Task<Result<T>> write) {
  static_assert(!std::is_same_v<T, api::Workload>, "a Workload is written under its lock");
  Result<T> answer = co_await std::move(write);
  if (!answer) co_return answer.error();
  store.observe(std::move(*answer));
  co_return ok();
}

template <class T>
Task<Status> LocalCluster::write_status(kube::Informer<T>& store, T before, T after) {
  return written(store, client_.patch_status(std::move(before), std::move(after)));
}

template <class T>
Task<Status> LocalCluster::write_metadata(kube::Informer<T>& store, T before, T after) {
  return written(store, client_.patch_metadata(std::move(before), std::move(after)));
}

template <class T>
Task<Status> LocalCluster::write_object(kube::Informer<T>& store, T before, T after) {
  return written(store, client_.patch_object(std::move(before), std::move(after)));
}

template <class T>
Task<Status> LocalCluster::patch_status(kube::Informer<T>& store, api::ObjectKey key,
                                        std::string patch) {
  kube::WriteOptions options;
  options.subresource = "status";
  return written(store, client_.patch<T>(std::move(key), kube::PatchType::merge, std::move(patch),
                                         std::move(options)));
}

/// Index of LocalCluster::workloads: owner_name() of the controlling owner, or of the group of jobs
/// to which it belongs by its name.
inline constexpr const char* by_owner = "owner";
/// "batch/Job/namespace/name".
std::string owner_name(const jobs::JobId& owner);
/// Index of LocalCluster::workloads: "namespace/queueName".
inline constexpr const char* by_local_queue = "local-queue";
/// Index of LocalCluster::jobs: "namespace/name" of the prebuilt Workload that the job names.
inline constexpr const char* by_prebuilt = "prebuilt";
/// jobs by the runtime that they refer to: RuntimeRef::str().
inline constexpr const char* by_runtime = "runtime";

/// Index of LocalCluster::pods: "namespace/name" of the Workload of a placed pod.
inline constexpr const char* by_pods_workload = "workload";
/// Index of LocalCluster::pods: first_slice_of() a pod that a node runs, placed or not.
inline constexpr const char* by_bound_workload = "bound-workload";
/// Index of LocalCluster::pods: the hostname to which a placed pod must go, while no node runs it.
inline constexpr const char* by_wanted_host = "wanted-host";

}  // namespace regatta::clusters
