#pragma once

/// Workloads that have quota and need places for their pods: either their admission checks have
/// become ready, or they lost nodes. Each is tried soon, then with doubling delays (second_pass.h).

#include "admission/objects.h"
#include "admission/queue_book.h"
#include "admission/topology/requests.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

struct PlacesTask {
  std::set<std::string> lost;       ///< hosts; empty when the workload has no places yet
  bool bound_to_pod = false;        ///< the workload is one Pod, which cannot move
  std::vector<PodProfilePtr> pods;  ///< by pod set, with what checks add
  int tries = 0;
  TimePoint due{};
  bool ready = false;
};

/// What a cycle decided about a workload's places, until it is written or given up.
struct PlacesDecision {
  std::uint64_t number = 0;
  std::vector<PodSetPlaces> places;  ///< empty: an eviction
};

class PlacesBook {
 public:
  PlacesBook(ObjectBook& objects, const WorkloadTable& workloads, const QueueBook& queues)
      : objects_(objects), workloads_(workloads), queues_(queues) {}
  PlacesBook(const PlacesBook&) = delete;
  PlacesBook& operator=(const PlacesBook&) = delete;

  /// Adds or removes the workload's task, as the workload that was read says.
  void read(WorkloadId id, const api::Workload& workload, TimePoint now);
  void drop(WorkloadId id);
  /// Places are decided on: until the decision is settled the workload has no task, whatever is
  /// read meanwhile. Returns the number of the decision.
  std::uint64_t decide(WorkloadId id, std::vector<PodSetPlaces> places);
  /// The decision that is not settled yet, or null.
  const PlacesDecision* decision(WorkloadId id) const;
  /// The places are given up, and the workload still has no task. False when that was another
  /// decision.
  bool give_up(WorkloadId id, std::uint64_t decision);
  void settle(WorkloadId id, std::uint64_t decision);
  /// The reservation ends, and with it what was decided on.
  void forget(WorkloadId id);
  /// No place was found: tries again later.
  void retry(WorkloadId id, TimePoint now);

  /// Whether a workload is due.
  bool due() const { return ready_count_ > 0; }
  void flush(TimePoint now);
  std::optional<TimePoint> next() const;
  /// Takes the workloads that are due, the most urgent first.
  std::vector<WorkloadId> pop();
  const PlacesTask& task(WorkloadId id) const { return tasks_.at(id); }

 private:
  ObjectBook& objects_;
  const WorkloadTable& workloads_;
  const QueueBook& queues_;
  std::map<WorkloadId, PlacesTask> tasks_;
  std::map<WorkloadId, PlacesDecision> decisions_;
  std::uint64_t last_decision_ = 0;
  std::size_t ready_count_ = 0;
};

}  // namespace regatta::admission
