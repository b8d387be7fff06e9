#pragma once

/// What LocalQueues have used, for admission fair sharing: charges admissions at once, turns them
/// into consumption when they are complete, and lets the past decay. Does nothing where turns do
/// not go by usage.

#include "admission/config.h"
#include "admission/queue_book.h"

#include <optional>

namespace regatta::admission {

class HistoryBook {
 public:
  HistoryBook(const Config& config, const Names& names, WorkloadTable& workloads, QueueBook& queues)
      : config_(config), names_(names), workloads_(workloads), queues_(queues) {}
  HistoryBook(const HistoryBook&) = delete;
  HistoryBook& operator=(const HistoryBook&) = delete;

  /// What the status remembers counts where this process knows nothing yet.
  void read(LocalQueueInfo* queue, const api::LocalQueueStatus& status, TimePoint now);

  /// An admission counts at once, before any of its usage shows.
  void charge(WorkloadId id);
  /// Takes back what was charged, whatever the workload asks for by now.
  void discharge(LocalQueueId payer, const Consumption& penalty);
  /// The workload is admitted: its penalty becomes part of what its LocalQueue consumed.
  void settle_charge(LocalQueueId payer, const Consumption& penalty, TimePoint now);
  /// A reservation of an admitted workload comes, or goes with a sign of -1.
  void count_in_use(LocalQueueInfo* queue, const Reservation& reservation, int sign);
  void sample(TimePoint now);

  /// Whether the LocalQueue's workloads have their turn by what it used.
  bool orders_by_usage(const LocalQueueInfo& queue) const;
  /// Moves when the usage of a LocalQueue does.
  std::uint64_t epoch() const { return epoch_; }

 private:
  Consumption penalty_of(const WorkloadEntry& entry) const;
  void refresh_usage(LocalQueueInfo* queue);

  const Config& config_;
  const Names& names_;
  WorkloadTable& workloads_;
  QueueBook& queues_;
  std::uint64_t epoch_ = 0;
};

}  // namespace regatta::admission
