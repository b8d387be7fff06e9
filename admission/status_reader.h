#pragma once

/// Reads from State: statuses, activity, counts, and why a workload waits. Changes nothing.
///
/// A reader needs a settled quota tree: State::reader() settles it. Get a new reader after every
/// change of State.

#include "admission/books.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::admission {

/// The Active condition of a ClusterQueue or LocalQueue.
struct Activity {
  bool active = false;
  std::string reason;
  std::string message;
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// Names of the checks that a workload with the flavors `assigned` needs in a ClusterQueue, sorted.
/// `assigned` is null when none are assigned yet.
std::vector<std::string> required_checks(const api::ClusterQueueSpec& spec,
                                         const std::set<std::string>* assigned);

class StatusReader {
 public:
  Activity activity(const std::string& cluster_queue) const;
  Activity local_queue_activity(const api::ObjectKey& key) const;
  /// Counts, flavorsReservation, flavorsUsage and, with fair sharing, the share. No conditions.
  api::ClusterQueueStatus status(const std::string& cluster_queue) const;
  api::LocalQueueStatus status(const api::ObjectKey& local_queue) const;
  /// The share as status.fairSharing has it; empty without fair sharing.
  api::CohortStatus cohort_status(const std::string& cohort) const;

  // Queues and Cohorts
  std::vector<std::string> cluster_queues() const;
  std::vector<api::ObjectKey> local_queues_of(const std::string& cluster_queue) const;
  /// The Cohorts above a ClusterQueue, the nearest first.
  std::vector<std::string> cohorts_above(const std::string& cluster_queue) const;
  /// Cohorts that have an object, and those that only members name. A Cohort whose object was
  /// deleted is not among them, although members may still name it.
  struct CohortSeen {
    std::string name;
    NodeId node = no_node;
    bool has_object = false;
  };
  std::vector<CohortSeen> cohorts() const;
  bool shows_cohort(const std::string& name) const;
  /// Weighted share of a ClusterQueue or a Cohort, before rounding. Infinite for a borrower of
  /// weight zero.
  double share_of_queue(const std::string& cluster_queue) const;
  double share_of_cohort(const std::string& cohort) const;
  /// The weighted usage that orders a LocalQueue, including the charges of its reservations. Absent
  /// where usage does not order workloads.
  std::optional<double> usage_of(const api::ObjectKey& local_queue) const;
  /// How many workloads of a LocalQueue wait in the heap, and how many are inadmissible. Takes time
  /// linear in their number.
  std::pair<std::size_t, std::size_t> pending_of(const api::ObjectKey& local_queue) const;
  /// The workloads that wait in a ClusterQueue, and the one that a cycle has taken out, in no
  /// order.
  std::vector<WorkloadId> pending_ids(const QueueInfo& queue) const;
  std::size_t local_queue_count() const { return books_->queues.locals().size(); }
  /// Null when there is no such LocalQueue.
  const LocalQueueInfo* find_local_queue(const api::ObjectKey& key) const;
  const LocalQueueInfo& local_queue(LocalQueueId id) const { return books_->queues.local(id); }
  LocalQueueId local_queue_id(const api::ObjectKey& key) const {
    return books_->queues.find_local(key);
  }
  /// Whether a ClusterQueue has quota of that flavor, or uses that check.
  bool flavor_in_use(const std::string& flavor) const;
  bool check_in_use(const std::string& check) const;
  /// Whether a workload holds quota in the ClusterQueue: if so, its deletion must wait.
  bool has_reservations(const std::string& cluster_queue) const;

  // Workloads
  /// Names of the checks a workload needs, sorted. With a reservation these are the checks of its
  /// flavors, without one the checks for all flavors.
  std::vector<std::string> required_checks(const api::Workload& workload) const;
  /// The ClusterQueue that the workload's LocalQueue leads to, or empty.
  std::string cluster_queue_of(const api::Workload& workload) const;
  /// The requests of a workload without reservation, as status.resourceRequests has them.
  std::vector<api::PodSetRequest> resource_requests(const api::ObjectKey& workload) const;
  /// Why the workload is parked without a turn of its own: a workload like it did not fit, and
  /// nothing has changed since. Empty when it is not parked.
  std::string bypassed(const api::ObjectKey& key) const;

  // Numbers, for metrics
  const Config& config() const { return books_->config; }
  const Names& names() const { return books_->names; }
  const QuotaForest& forest() const { return books_->queues.forest(); }
  const WorkloadTable& workloads() const { return books_->workloads; }
  const QueueInfo& queue(QueueId id) const { return books_->queues.queue(id); }
  QueueId queue_of_node(NodeId node) const { return books_->queues.queue_of_node(node); }
  /// Null when there is none.
  const QueueInfo* find_queue(const std::string& name) const { return books_->queues.find(name); }

 private:
  friend class State;
  explicit StatusReader(const Books& settled) : books_(&settled) {}

  const LocalQueueInfo* find_local(const api::ObjectKey& key) const;
  api::AdmissionFairSharingStatus consumption(const QueueInfo& queue,
                                              const UsageHistory::Sample& sample) const;
  std::vector<FrAmount> usage_of(std::span<const WorkloadId> ids, bool admitted_only) const;
  std::vector<api::FlavorUsage> usage_to_api(const QueueInfo& queue,
                                             std::span<const FrAmount> usage, bool borrowed) const;

  const Books* books_;
};

}  // namespace regatta::admission
