#pragma once

/// State holds everything that admission knows: quota objects, queues, waiting workloads and
/// admitted workloads.
///
/// It takes API objects as they are read, in any order. It answers questions about status, and
/// cycles (cycle.h) run on it. It does no I/O and has no clock: times are arguments. The same
/// objects lead to the same decisions, in whatever order they came; ties break by UID or name.
///
///   informers ──upsert/erase──▶ State ──run_cycle()──▶ decisions ──▶ API writes
///        ▲                        │  ▲                                   │
///        └── what was written ────┼──┼──────── forget() when a write failed
///                                 ▼
///                   take_changes(): objects whose status to reconcile, with reader()
///
/// A workload that a cycle admits holds its quota at once ("assumed"), before the API knows.
/// Reading the workload back with its reservation confirms it; forget() returns the workload to its
/// queue.
///
/// When quota may have become free, the parked workloads of the whole Cohort tree go back to their
/// queues. The calls below request this, requests are batched, and flush() carries them out.
///
/// State is the entrance. What it knows is kept in books, each with one responsibility (books.h).

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

  // Objects as they were read. Erasing an unknown object does nothing.
  void upsert(const api::Namespace& ns);
  void upsert(const api::ResourceFlavor& flavor);
  void upsert(const api::AdmissionCheck& check);
  void upsert(const api::Topology& topology);
  void upsert(const api::Node& node, TimePoint now);
  /// Takes every Pod of the cluster. A Pod that does not belong to a workload placed by topology
  /// takes capacity from its node.
  void upsert(const api::Pod& pod, TimePoint now);
  /// The same for a Pod that takes exactly this from its node.
  void upsert(const api::Pod& pod, const PodAmounts& takes, TimePoint now);
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

  // What a cluster adds to pod templates. The result lists the waiting workloads whose requests may
  // change: call upsert() again for each of them.
  using Affected = std::vector<api::ObjectKey>;
  Affected upsert(const api::LimitRange& range);
  Affected upsert(const api::RuntimeClass& runtime_class);
  Affected erase_limit_range(const api::ObjectKey& key);
  Affected erase_runtime_class(const std::string& name);

  /// To be called when the API refused the reservation that a cycle decided, or when it was not
  /// written. The workload gives back its quota and is queued again at once. One with another UID
  /// keeps what it has.
  void forget(const api::ObjectKey& key, const std::string& uid, TimePoint now);
  /// forget() for a write that may well fail again: the workload gets no turn before take_back(),
  /// and others may have the quota.
  void set_aside(const api::ObjectKey& key, const std::string& uid, TimePoint now);
  /// To be called with the Workload as the API has it when what a cycle decided about its places is
  /// written, or will not be. Before that the workload keeps the places that it was given, and
  /// nothing is decided about them, whatever upsert() is told.
  void settle_places(const api::Workload& workload, std::uint64_t decision, TimePoint now);
  /// The decision is not written, and a new one would fail again: others may have the places, and
  /// nothing is decided before settle_places().
  void give_up_places(const api::Workload& workload, std::uint64_t decision, TimePoint now);
  /// To be called after upsert() when it is known that the reclaimable pods of this Workload are
  /// counted of its present size, though it was admitted with a larger one.
  void note_recount(const api::Workload& workload, TimePoint now);
  /// Queues a workload that was set aside.
  void take_back(const api::ObjectKey& key, const std::string& uid, TimePoint now);

  // Reactivation
  void request_reactivation(const std::string& cluster_queue, TimePoint now);
  /// When flush() has something to do next, if ever; a time long past when that is now.
  std::optional<TimePoint> next_flush() const;
  /// What a workload that has places takes there for each pod of this pod set; otherwise empty.
  PodAmounts taken_for_a_pod(const api::ObjectKey& workload, const std::string& pod_set) const;
  /// Reactivates what is due, and makes workloads ready whose next search for places is due.
  void flush(TimePoint now);

  // Does a cycle have work?
  /// Whether a workload waits in an active ClusterQueue, or places_due().
  bool has_heads() const { return books_.pending.has_heads() || places_due(); }
  /// Whether a workload with quota needs places now. Config::block_admission does not hold it back.
  bool places_due() const { return books_.places.due(); }
  /// Workloads with quota whose pods are not all ready.
  std::size_t not_ready() const { return books_.usage.not_ready(); }

  /// With admission fair sharing, decays what every LocalQueue used in the past; statuses show the
  /// new values. To be called once per sampling interval.
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
  void keep_decided_places(WorkloadId id);
  void end_reservation(WorkloadId id);
  void reactivate_after(WorkloadId id, QueueId queue, TimePoint now);

  Books books_;
};

}  // namespace regatta::admission
