#pragma once

/// Everything admission knows: quota objects, queues, workloads waiting and workloads admitted.
///
/// Fed with API objects as they are read, in any order; asked for status, and for cycles (cycle.h).
/// It does no I/O and has no clock: times come in as arguments. The same objects lead to the same
/// decisions whatever order they came in; ties break by name.
///
///   informers ──upsert/erase──▶ State ──run_cycle()──▶ decisions ──▶ API writes
///        ▲                        │  ▲                                   │
///        └── what was written ────┼──┼──────── forget() when a write failed
///                                 ▼
///                   take_changes(): objects whose status to reconcile, with reader()
///
/// A workload admitted by a cycle holds its quota at once ("assumed"), before the API knows.
/// Reading it back with its reservation confirms it; forget() returns it to its queue.
///
/// When quota may have become free, the parked workloads of the whole cohort tree go back to their
/// queues: that is requested by the events below, batched, and done by flush().
///
/// State is the way in; what it knows is kept in books with a responsibility each (books.h).

#include "admission/books.h"
#include "admission/status_reader.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

class State {
 public:
  explicit State(Config config = {});
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Objects, as read. Erasing what is not there does nothing.
  void upsert(const api::Namespace& ns);
  void upsert(const api::ResourceFlavor& flavor);
  void upsert(const api::AdmissionCheck& check);
  void upsert(const api::Topology& topology);
  void upsert(const api::Node& node, TimePoint now);
  /// Every Pod of the cluster: those that are no part of a workload placed by topology take
  /// capacity from their nodes.
  void upsert(const api::Pod& pod, TimePoint now);
  void upsert(const api::Cohort& cohort, TimePoint now);
  void upsert(const api::ClusterQueue& queue, TimePoint now);
  void upsert(const api::LocalQueue& queue, TimePoint now);
  void upsert(const api::Workload& workload, TimePoint now);
  void erase_namespace(const std::string& name);
  void erase_flavor(const std::string& name);
  void erase_check(const std::string& name);
  void erase_topology(const std::string& name);
  void erase_node(const std::string& name, TimePoint now);
  void erase_pod(const api::ObjectKey& key, TimePoint now);
  void erase_cohort(const std::string& name, TimePoint now);
  void erase_cluster_queue(const std::string& name, TimePoint now);
  void erase_local_queue(const api::ObjectKey& key);
  void erase_workload(const api::ObjectKey& key, TimePoint now);

  // After a successful write, upsert() the reply: that confirms the reservation without waiting for
  // the informer.

  // What pods get besides what their templates say. Answers the waiting workloads whose requests
  // that may change: upsert() those once more.
  using Affected = std::vector<api::ObjectKey>;
  Affected upsert(const api::LimitRange& range);
  Affected upsert(const api::RuntimeClass& runtime_class);
  Affected erase_limit_range(const api::ObjectKey& key);
  Affected erase_runtime_class(const std::string& name);

  /// The API refused the reservation that a cycle decided, or the write never happened: the
  /// workload gives back its quota and waits at once for its next turn.
  void forget(const api::ObjectKey& key, TimePoint now);

  // Reactivation
  void request_reactivation(const std::string& cluster_queue, TimePoint now);
  /// When the next requested reactivation is due, if any; long past when that is at once.
  std::optional<TimePoint> next_flush() const;
  /// Does the reactivations that are due.
  void flush(TimePoint now);

  // Whether a cycle has work
  /// Whether an active ClusterQueue has a workload waiting, or places_due().
  bool has_heads() const { return books_.pending.has_heads() || places_due(); }
  /// Whether a workload with quota needs places now; that does not wait until pods are ready.
  bool places_due() const { return books_.places.due(); }
  /// Workloads with quota whose pods are not all ready.
  std::size_t not_ready() const { return books_.usage.not_ready(); }

  /// With admission fair sharing, lets the past of every LocalQueue decay, as their statuses say
  /// from then on. To be called every sampling interval.
  void sample_usage(TimePoint now) { books_.history.sample(now); }

  // Status
  Changes take_changes() { return books_.queues.take_changes(); }
  /// Valid until the next change.
  StatusReader reader();
  const Config& config() const { return books_.config; }

 private:
  friend class CycleAccess;

  void refresh_all_activity();
  void refresh_activity(QueueInfo* queue);
  void adopt(QueueInfo* queue, TimePoint now);
  Affected waiting_in_namespace(const std::string& ns) const;
  Affected waiting_with_class(const std::string& runtime_class) const;
  void read_spec(WorkloadId id, const api::Workload& workload);
  bool reads_the_same(const WorkloadEntry& entry, const api::Workload& workload, TimePoint now);
  void update_pending(WorkloadId id, const api::Workload& workload, TimePoint now);
  void update_reserved(WorkloadId id, const api::Workload& workload, TimePoint now);
  void end_reservation(WorkloadId id);
  void reactivate_after(WorkloadId id, QueueId queue, TimePoint now);

  Books books_;
};

}  // namespace regatta::admission
