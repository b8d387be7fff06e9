#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "dispatch/ranking.h"
#include "placement/claims.h"
#include "placement/queue_facts.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::controllers {

/// What dispatchers that compare workers know of them: their queues, from watches, and what this
/// hub has sent there that they do not show yet. It watches nothing and keeps nothing before such a
/// dispatcher is in use, by the configuration or by an annotation of a check.
class WorkerRoom {
 public:
  WorkerRoom(clusters::LocalCluster& hub, clusters::Fleet& fleet, const dispatch::PlanConfig& plan);
  WorkerRoom(const WorkerRoom&) = delete;

  /// The queues of a worker changed, so that it may have room now.
  std::function<void(const std::string& cluster)> on_room;

  /// Begins to act.
  void start();
  bool in_use() const { return in_use_; }
  /// Whether the dispatcher of the workload compares workers.
  bool compares(const dispatch::LocalView& local) const;

  /// What is known of these clusters for the workload. `status` is its status, or the one it is
  /// about to get.
  std::shared_ptr<const dispatch::Comparison> comparison(
      const api::Workload& workload, const api::WorkloadStatus& status,
      const std::vector<std::string>& clusters) const;
  /// What annotations of the Workload and of its job ask for.
  Result<placement::Affinity> affinity_of(const api::Workload& workload) const;
  /// These nominations are about to be written.
  void nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                const std::vector<std::string>& clusters);

 private:
  struct Worker {
    std::map<std::string, placement::QueueFacts> facts;  ///< by ClusterQueue
  };

  void use_if_wanted();
  void note_workload(const api::ObjectKey& key, const api::Workload* workload);
  void note_copy(const std::string& cluster, const api::ObjectKey& key);
  void note_queue(const std::string& cluster, const std::string& cluster_queue);
  api::StringMap annotations_of(const api::Workload& workload) const;
  const Worker& worker(const std::string& cluster, const clusters::RemoteCluster& remote) const;
  placement::WorkerFacts facts_of(const std::string& cluster, const api::Workload& workload,
                                  std::int32_t priority) const;
  void add_queue(const clusters::RemoteCluster& remote, const api::Workload& workload,
                 std::int32_t priority, placement::WorkerFacts* facts) const;
  void leave_out(const clusters::RemoteCluster& remote, const api::ObjectKey& key,
                 std::int32_t priority, placement::QueueFacts* queue) const;

  clusters::LocalCluster& hub_;
  clusters::Fleet& fleet_;
  const dispatch::PlanConfig& plan_;
  bool started_ = false;
  bool in_use_ = false;
  placement::Claims claims_;
  mutable std::map<std::string, Worker> workers_;  ///< until their queues change
};

}  // namespace regatta::controllers
