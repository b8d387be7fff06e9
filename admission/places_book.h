#pragma once

/// Workloads that have quota and need places for their pods: their admission checks are ready now,
/// or they lost nodes. Each is tried soon, then with doubling delays (second_pass.h).

#include "admission/objects.h"
#include "admission/queue_book.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

struct PlacesTask {
  std::set<std::string> lost;       ///< hosts; empty: it has no places yet
  bool bound_to_pod = false;        ///< ends with its Pod, which cannot move
  std::vector<PodProfilePtr> pods;  ///< by pod set, with what checks add
  int tries = 0;
  TimePoint due{};
  bool ready = false;
};

class PlacesBook {
 public:
  PlacesBook(ObjectBook& objects, const WorkloadTable& workloads, const QueueBook& queues)
      : objects_(objects), workloads_(workloads), queues_(queues) {}
  PlacesBook(const PlacesBook&) = delete;
  PlacesBook& operator=(const PlacesBook&) = delete;

  /// Whether the workload, as it was read, needs places.
  void read(WorkloadId id, const api::Workload& workload, TimePoint now);
  void drop(WorkloadId id);
  /// No place yet: again later.
  void retry(WorkloadId id, TimePoint now);

  /// Whether one is due.
  bool due() const { return ready_count_ > 0; }
  void flush(TimePoint now);
  std::optional<TimePoint> next() const;
  /// Those that are due, the most urgent first.
  std::vector<WorkloadId> pop();
  const PlacesTask& task(WorkloadId id) const { return tasks_.at(id); }

 private:
  ObjectBook& objects_;
  const WorkloadTable& workloads_;
  const QueueBook& queues_;
  std::map<WorkloadId, PlacesTask> tasks_;
  std::size_t ready_count_ = 0;
};

}  // namespace regatta::admission
