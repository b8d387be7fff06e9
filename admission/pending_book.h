#pragma once

/// Which workloads wait for quota, and where. PendingBook puts them into the queues of their
/// ClusterQueues, hands out the heads, and reactivates parked workloads when quota may have become
/// free.

#include "admission/config.h"
#include "admission/id_set.h"
#include "admission/objects.h"
#include "admission/queue_book.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

class PendingBook {
 public:
  PendingBook(const Config& config, const ObjectBook& objects, WorkloadTable& workloads,
              QueueBook& queues)
      : config_(config), objects_(objects), workloads_(workloads), queues_(queues) {}
  PendingBook(const PendingBook&) = delete;
  PendingBook& operator=(const PendingBook&) = delete;

  /// Queues a workload without reservation. It is delayed during its backoff, and parked when
  /// workloads of its shape and priority are parked.
  void enqueue(WorkloadId id, TimePoint now);
  /// Removes the workload from its queue, if it is in one.
  void dequeue(WorkloadId id);
  /// Moves the workloads of a LocalQueue to its present ClusterQueue.
  void reroute(LocalQueueId id, TimePoint now);

  /// One head of each active ClusterQueue that has one, by name of the ClusterQueue.
  std::vector<WorkloadId> pop_heads();
  /// The number of the cycle that the last pop_heads() began.
  std::uint64_t cycle() const { return cycle_; }
  /// Puts a head that was not admitted back into its queue. `why` is the reason that workloads
  /// parked with it report.
  void requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
               std::string_view why = {});
  /// Makes the workload the first of its queue, because its victims are being preempted.
  void make_sticky(WorkloadId id);
  /// Ends make_sticky(), if the workload is the sticky one of that ClusterQueue.
  void drop_sticky(WorkloadId id, QueueId queue);
  /// Whether a workload waits in an active ClusterQueue.
  bool has_heads() const { return ready_count_ > 0; }

  /// queues_changed(): ClusterQueues came or went. refresh_ready(): a ClusterQueue became active or
  /// inactive, or the number of its waiting workloads changed.
  void queues_changed() { ranks_stale_ = true; }
  void refresh_ready(QueueInfo* queue);

  // Reactivation
  void reactivate_at(NodeId node, TimePoint when);
  /// Reactivates for all active ClusterQueues.
  void reactivate_all(TimePoint when);
  /// Reactivates for ClusterQueues with one of these flavors.
  void reactivate_users(const std::vector<FlavorId>& flavors, TimePoint when);
  /// Reactivates for ClusterQueues that take workloads from a namespace with these labels.
  void reactivate_matching(const api::StringMap& labels, TimePoint when);
  /// Carries out the reactivations that are due.
  void flush(TimePoint now);

 private:
  void count_pending(const WorkloadEntry& entry, int delta);
  void rank_queues();
  void reactivate_tree(NodeId root, TimePoint now);
  bool passes_namespace(const QueueInfo& queue, LocalQueueId id) const;

  const Config& config_;
  const ObjectBook& objects_;
  WorkloadTable& workloads_;
  QueueBook& queues_;
  std::vector<QueueId> queues_by_rank_;
  bool ranks_stale_ = false;
  IdSet ready_;  ///< ranks of ready ClusterQueues; not kept while ranks are stale
  std::size_t ready_count_ = 0;
  std::uint64_t cycle_ = 0;
};

}  // namespace regatta::admission
