#pragma once

/// The workloads of one ClusterQueue that hold quota, in the order in which preemption takes them:
/// already leaving first, then lower priority, then later reservation, then UID.
///
/// Preemption reads the list from the front and stops when it has enough, so nothing is collected
/// or sorted for a search. The list is made at the first search and kept up to date from then on:
/// additions are merged in at the next search, and reservations that have gone are dropped then,
/// found by their serial numbers. An entry has all that a search wants to know of most workloads.

#include "admission/id_set.h"
#include "admission/workload.h"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace regatta::admission {

class WorkloadTable;

/// A workload's place in the order, as far as numbers decide it.
struct VictimKey {
  std::int64_t priority = 0;
  TimePoint reserved_at{};
  std::uint64_t uid_start = 0;  ///< first bytes of the UID, as a number that orders like them
  std::uint64_t serial = 0;     ///< of the reservation
  double local_usage = 0;       ///< of its LocalQueue, where that counts
  WorkloadId id = no_id;
  Holding held;
};

/// With admission fair sharing, LocalQueues that used more give first.
struct VictimRanking {
  const std::function<double(LocalQueueId)>* usage = nullptr;
  std::uint64_t epoch = 0;  ///< moves with every change of it
};

class VictimOrder {
 public:
  /// A reservation came, with its serial; one went.
  void added(const WorkloadTable& table, WorkloadId id);
  void removed(std::uint64_t serial);

  /// Those already leaving, and the others; valid until a reservation comes or goes. `all`: whoever
  /// holds quota in the ClusterQueue.
  struct Sections {
    std::span<const VictimKey> evicted;
    std::span<const VictimKey> others;
    bool by_priority = true;  ///< within each, priority never falls
  };
  Sections sections(const WorkloadTable& table, const std::vector<WorkloadId>& all,
                    VictimRanking ranking = {});

  /// A cycle asked some to go: leading entries of those are left out of sections() until
  /// forget_asked().
  void skip_asked(const IdSet& asked);
  void forget_asked() { asked_ = {}; }

 private:
  void rebuild(const WorkloadTable& table, const std::vector<WorkloadId>& all);
  void merge(const WorkloadTable& table);

  bool kept_ = false;
  VictimRanking ranking_;  ///< it was sorted by
  std::vector<VictimKey> sorted_;
  std::vector<VictimKey> added_;
  std::vector<std::uint64_t> gone_;  ///< serials of entries, of both lists, no longer valid
  std::size_t first_other_ = 0;      ///< in sorted_: where those not evicted begin
  std::array<std::size_t, 2> asked_{};
};

/// Total order within and across ClusterQueues, but for the rule that own workloads come last.
bool victim_before(const WorkloadTable& table, const VictimKey& a, const VictimKey& b);

}  // namespace regatta::admission
