#pragma once

#include "dispatch/admission_times.h"
#include "dispatch/ranking.h"
#include "jobs/lookup.h"
#include "lib/api/multikueue.h"
#include "placement/claims.h"
#include "placement/expressions.h"
#include "placement/queue_facts.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::dispatch {

/// A worker as its watches show it: its queues, and this hub's workloads there.
class WorkerPicture {
 public:
  virtual ~WorkerPicture() = default;
  /// How long ago the queues were last known to be as they are here; nullopt: they may not be read.
  virtual std::optional<Duration> queue_age() const = 0;
  virtual std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues() const = 0;
  virtual std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const = 0;
  virtual std::vector<std::shared_ptr<const api::Cohort>> cohorts() const = 0;
  virtual std::vector<std::shared_ptr<const api::LocalQueue>> local_queues() const = 0;
  virtual std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const = 0;
  virtual std::vector<jobs::WorkloadPtr> copies() const = 0;
  virtual jobs::WorkloadPtr copy(const api::ObjectKey& key) const = 0;
  /// How long the worker usually takes to answer; nullopt where nothing is asked.
  virtual std::optional<Duration> latency() const { return std::nullopt; }
};

/// The workers: connections in the manager, other clusters of the same simulation in
/// `regatta simulate`.
class FleetPicture {
 public:
  virtual ~FleetPicture() = default;
  /// The hub's object for the worker, or null.
  virtual std::shared_ptr<const api::MultiKueueCluster> cluster(const std::string& name) const = 0;
  struct Seen {
    bool connected = false;
    bool serves = true;                           ///< jobs of that kind, as far as is known
    std::shared_ptr<const WorkerPicture> worker;  ///< null when nothing is known of it
  };
  /// `kind` may be null.
  virtual Seen look(const std::string& name, const jobs::JobKind* kind) const = 0;
};

/// What dispatchers that compare workers know of them: what their queues show, and what this hub
/// has sent there that they do not show yet. The caller tells what happened; nothing is watched.
class RoomBook {
 public:
  RoomBook(const jobs::Lookup& hub, const FleetPicture& fleet) : hub_(hub), fleet_(fleet) {}
  RoomBook(const RoomBook&) = delete;

  // What happened

  /// The hub's Workload changed; null when it is gone.
  void note_workload(const api::ObjectKey& key, const api::Workload* workload);
  /// The worker's copy of it changed.
  void note_copy(const std::string& cluster, const api::ObjectKey& key);
  /// A ClusterQueue of the worker changed; empty: something else of its queues did.
  void note_queue(const std::string& cluster, const std::string& cluster_queue);
  /// The worker was connected anew, or lost, or the hub's object for it changed.
  void note_cluster(const std::string& cluster) { workers_.erase(cluster); }
  /// These nominations are about to be written.
  void nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                const std::vector<std::string>& clusters);

  // What follows

  /// What is known of these clusters for the workload. `status` is its status, or the one it is
  /// about to get.
  std::shared_ptr<const Comparison> comparison(const api::Workload& workload,
                                               const api::WorkloadStatus& status,
                                               const std::vector<std::string>& clusters) const;
  /// What annotations of the Workload and of its job ask for.
  Result<placement::Affinity> affinity_of(const api::Workload& workload) const;

 private:
  using QueuePtr = std::shared_ptr<const placement::QueueFacts>;
  /// Where workloads of a LocalQueue go on a worker.
  struct Way {
    std::string closed;  ///< as WorkerFacts::closed
    std::string cluster_queue;
    QueuePtr queue;  ///< null: there is none
  };
  /// What comparisons need of a worker, looked up and counted once.
  struct Worker {
    std::shared_ptr<const api::StringMap> labels;
    std::string region;
    std::optional<std::int64_t> price;
    bool queues_counted = false;
    std::map<std::string, QueuePtr> by_cluster_queue;
    std::map<api::ObjectKey, Way> ways;  ///< by LocalQueue, of those that were asked for
  };

  api::StringMap annotations_of(const api::Workload& workload) const;
  placement::ExpressionCache::Compiled expressions_of(const api::WorkloadStatus& status) const;
  /// The workload that workers are compared for.
  struct Asking {
    api::ObjectKey key;
    api::ObjectKey local_queue;
    std::int32_t priority = 0;
    const jobs::JobKind* kind = nullptr;
  };
  Worker& known(const std::string& cluster) const;
  static const Way& way_of(Worker* worker, const WorkerPicture& picture,
                           const api::ObjectKey& local_queue);
  void add_facts(const Asking& asking, placement::WorkerFacts* facts) const;
  void add_queue(const Asking& asking, Worker* worker, const WorkerPicture& picture,
                 placement::WorkerFacts* facts) const;
  QueuePtr without(const Asking& asking, const std::string& cluster, const WorkerPicture& picture,
                   const QueuePtr& queue) const;

  const jobs::Lookup& hub_;
  const FleetPicture& fleet_;
  placement::Claims claims_;
  AdmissionTimes admission_times_;
  /// Until they or their queues change.
  mutable std::unordered_map<std::string, Worker> workers_;
  mutable placement::ExpressionCache expressions_;
};

}  // namespace regatta::dispatch
