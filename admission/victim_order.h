#pragma once

/// The workloads of one ClusterQueue that hold quota, in the order in which preemption takes them:
/// evicted ones first, then lower priority, then later reservation, then UID.
///
/// Preemption reads the list from the front and stops when it has enough, so nothing is collected
/// or sorted for a search. The first search makes the list. Each later search first merges new
/// reservations into it and drops ended ones by their serial numbers. An entry has everything that
/// a search needs of most workloads.

#include "admission/id_set.h"
#include "admission/workload.h"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace regatta::admission {

class WorkloadTable;

/// The part of a workload's place in the order that numbers decide.
struct VictimKey {
  std::int64_t priority = 0;
  TimePoint reserved_at{};
  std::uint64_t uid_start = 0;  ///< first bytes of the UID, as a number that orders like the UID
  std::uint64_t serial = 0;     ///< of the reservation
  double local_usage = 0;       ///< of its LocalQueue, with admission fair sharing
  WorkloadId id = no_id;
  Holding held;
};

/// With admission fair sharing, workloads of LocalQueues that used more are preempted first.
struct VictimRanking {
  const std::function<double(LocalQueueId)>* usage = nullptr;
  std::uint64_t epoch = 0;  ///< increases with every change of usage
};

class VictimOrder {
 public:
  /// added(): the workload got a reservation. removed(): the reservation with that serial ended.
  void added(const WorkloadTable& table, WorkloadId id);
  void removed(std::uint64_t serial);

  /// The evicted workloads and the others; valid until a reservation comes or goes. `all` are the
  /// workloads that hold quota in the ClusterQueue.
  struct Sections {
    std::span<const VictimKey> evicted;
    std::span<const VictimKey> others;
    bool by_priority = true;  ///< within each section, priority never falls
  };
  Sections sections(const WorkloadTable& table, const std::vector<WorkloadId>& all,
                    VictimRanking ranking = {});

  /// Leaves leading entries that are in `asked` out of sections(), until forget_asked().
  void skip_asked(const IdSet& asked);
  void forget_asked() { asked_ = {}; }

 private:
  void rebuild(const WorkloadTable& table, const std::vector<WorkloadId>& all);
  void merge(const WorkloadTable& table);

  bool kept_ = false;
  VictimRanking ranking_;  ///< the list is sorted by it
  std::vector<VictimKey> sorted_;
  std::vector<VictimKey> added_;
  std::vector<std::uint64_t> gone_;  ///< serials of ended reservations that are still in a list
  std::size_t first_other_ = 0;      ///< in sorted_: where the entries that are not evicted begin
  std::array<std::size_t, 2> asked_{};
};

/// A total order within and across ClusterQueues. The rule that own workloads come last is not part
/// of it.
bool victim_before(const WorkloadTable& table, const VictimKey& a, const VictimKey& b);

}  // namespace regatta::admission
