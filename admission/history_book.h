#pragma once

/// What LocalQueues have used, for admission fair sharing. HistoryBook charges a reservation at
/// once, turns the charge into consumption when the workload is admitted, and decays past
/// consumption. It does nothing unless the configuration turns admission fair sharing on.

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

  /// Takes the history from the status, if this process has none yet.
  void read(LocalQueueInfo* queue, const api::LocalQueueStatus& status, TimePoint now);

  /// Charges a reservation before any of its usage shows.
  void charge(WorkloadId id);
  /// Takes back a charge, even if the workload asks for something else by now.
  void discharge(LocalQueueId payer, const Consumption& penalty);
  /// To be called when the workload is admitted: its charge becomes consumption of its LocalQueue.
  void settle_charge(LocalQueueId payer, const Consumption& penalty, TimePoint now);
  /// Counts a reservation of an admitted workload, or stops counting it when `sign` is -1.
  void count_in_use(LocalQueueInfo* queue, const Reservation& reservation, int sign);
  void sample(TimePoint now);

  /// Whether the usage of the LocalQueue is recorded: if it leads to a ClusterQueue, because usage
  /// may order workloads there later.
  bool records_usage(const LocalQueueInfo& queue) const;
  /// Whether the usage of the LocalQueue decides when its workloads have their turn.
  bool orders_by_usage(const LocalQueueInfo& queue) const;
  /// Increases whenever the usage of a LocalQueue changes.
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
