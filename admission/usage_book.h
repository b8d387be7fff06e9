#pragma once

/// The reservations of workloads, their usage in the quota tree, and the places of their pods.
///
///   a workload holds at most one reservation
///   a reservation counts in the tree, in the topologies and in the list of its ClusterQueue;
///   while that ClusterQueue does not exist, or cannot be read, it counts in the topologies alone
///   (an orphan): its pods may run

#include "admission/history_book.h"
#include "admission/queue_book.h"
#include "admission/topology/requests.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

class UsageBook {
 public:
  UsageBook(WorkloadTable& workloads, Topologies& topologies, QueueBook& queues,
            HistoryBook& history)
      : workloads_(workloads), topologies_(topologies), queues_(queues), history_(history) {}
  UsageBook(const UsageBook&) = delete;
  UsageBook& operator=(const UsageBook&) = delete;

  /// Requires that the workload holds no reservation, and that `reservation` names its
  /// ClusterQueue.
  void reserve(WorkloadId id, std::unique_ptr<Reservation> reservation);
  /// Requires that the workload holds a reservation, in a ClusterQueue or as an orphan.
  void release(WorkloadId id);
  /// Gives the pods of some pod sets new places.
  void move_pods(WorkloadId id, const std::vector<PodSetPlaces>& places);

  /// A reservation in a ClusterQueue that does not exist (yet).
  void reserve_orphan(WorkloadId id, const std::string& cluster_queue,
                      std::unique_ptr<Reservation> reservation);
  /// adopt(): the ClusterQueue exists now, and its orphans count. orphan(): it goes, and its
  /// reservations become orphans.
  void adopt(const QueueInfo& queue);
  void orphan(const QueueInfo& queue);

  /// Workloads with quota whose pods are not all ready.
  std::size_t not_ready() const { return not_ready_; }

 private:
  void count_places(const Reservation& reservation, bool add);
  void drop_from_list(WorkloadEntry* entry, QueueInfo* queue);

  WorkloadTable& workloads_;
  Topologies& topologies_;
  QueueBook& queues_;
  HistoryBook& history_;
  std::map<std::string, std::set<WorkloadId>> orphans_;  ///< by name of the ClusterQueue
  std::uint64_t last_serial_ = 0;
  std::size_t not_ready_ = 0;
};

}  // namespace regatta::admission
