#pragma once

/// Which workloads wait, and where: puts them into the queues of their ClusterQueues, hands out the
/// heads, and brings parked workloads back when quota may have become free.

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

  /// Queues a workload that has no reservation, where its backoff and its likes say.
  void enqueue(WorkloadId id, TimePoint now);
  /// Takes it out from wherever it waits.
  void dequeue(WorkloadId id);
  /// Puts the workloads of a LocalQueue where they belong now.
  void reroute(LocalQueueId id, TimePoint now);

  /// One head per active ClusterQueue that has one, by name of the ClusterQueue.
  std::vector<WorkloadId> pop_heads();
  /// Number of the cycle that pop_heads() began.
  std::uint64_t cycle() const { return cycle_; }
  /// Where a head goes that was not admitted.
  /// `why`: the reason to tell workloads like it that are parked with it.
  void requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
               std::string_view why = {});
  /// Next in its queue until it is gone: its preemptions are under way.
  void make_sticky(WorkloadId id);
  /// Its turn is over, if that was because it was sticky there.
  void drop_sticky(WorkloadId id, QueueId queue);
  /// Whether an active ClusterQueue has a workload waiting.
  bool has_heads() const { return ready_count_ > 0; }

  /// ClusterQueues came or went; what one is, or how many wait there, changed.
  void queues_changed() { ranks_stale_ = true; }
  void refresh_ready(QueueInfo* queue);

  // Reactivation
  void reactivate_at(NodeId node, TimePoint when);
  /// Of all active ClusterQueues.
  void reactivate_all(TimePoint when);
  /// Of ClusterQueues with one of these flavors.
  void reactivate_users(const std::vector<FlavorId>& flavors, TimePoint when);
  /// Of ClusterQueues that take workloads from a namespace with these labels.
  void reactivate_matching(const api::StringMap& labels, TimePoint when);
  /// Does the reactivations that are due.
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
  IdSet ready_;  ///< ranks of ClusterQueues that are; not while ranks are stale
  std::size_t ready_count_ = 0;
  std::uint64_t cycle_ = 0;
};

/// Whether the workload may be looked at again.
bool backoff_over(const WorkloadEntry& entry, TimePoint now);

}  // namespace regatta::admission
