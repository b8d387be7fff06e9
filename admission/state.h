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
///                   take_changes(): whose status to reconcile
///
/// A workload admitted by a cycle holds its quota at once ("assumed"), before the API knows.
/// Reading it back with its reservation confirms it; forget() returns it to its queue.
///
/// When quota may have become free, the parked workloads of the whole cohort tree go back to their
/// queues: that is requested by the events below, batched, and done by flush().

#include "admission/config.h"
#include "admission/pod_defaults.h"
#include "admission/queues.h"
#include "admission/quota.h"
#include "admission/topology/requests.h"
#include "admission/usage_history.h"
#include "admission/victim_order.h"
#include "admission/workload.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

/// Objects whose status may have changed since the last take_changes().
struct Changes {
  std::set<std::string> cluster_queues;
  std::set<std::string> cohorts;
  std::set<api::ObjectKey> local_queues;
};

/// The Active condition of a ClusterQueue or LocalQueue.
struct Activity {
  bool active = false;
  std::string reason;
  std::string message;
  friend bool operator==(const Activity&, const Activity&) = default;
};

struct FlavorInfo {
  FlavorId id = 0;
  api::ResourceFlavorSpec spec;
};

/// A ClusterQueue as the cycle needs it.
struct QueueInfo {
  struct Group {
    std::vector<ResourceId> resources;
    std::vector<FlavorId> flavors;  ///< in order of preference
  };

  QueueInfo(std::string name, WorkloadTable* table) : name(std::move(name)), pending(table) {}

  std::string name;
  QueueId id = no_id;
  NodeId node = no_node;
  bool deleting = false;
  bool active = false;
  bool topology_only = false;  ///< every flavor has a topology: it is implied for all pods
  api::ClusterQueueSpec spec;
  std::optional<api::Selector> namespaces;  ///< absent: none
  std::vector<Group> groups;
  std::vector<FrId> frs;  ///< all it has quota for, sorted
  PendingQueue pending;
  std::vector<WorkloadId> reserved;  ///< no order; see WorkloadEntry::position
  VictimOrder victims;               ///< the same, in the order of preemption
  std::size_t admitted = 0;
  mutable bool touched = false;  ///< named by the next take_changes()
  std::uint32_t rank = 0;        ///< among all, by name; see State::rank_queues()
  bool ready = false;            ///< active, and somebody waits

  const Group* group_of(ResourceId resource) const;
};

struct LocalQueueInfo {
  api::ObjectKey key;
  bool exists = false;
  api::LocalQueueSpec spec;
  QueueId queue = no_id;  ///< the ClusterQueue; no_id when it does not exist
  std::size_t pending = 0;
  std::size_t reserving = 0;
  std::size_t admitted = 0;
  bool touched = false;          ///< named by the next take_changes()
  UsageHistory history;          ///< with admission fair sharing
  Consumption in_use;            ///< the same: what its admitted workloads hold
  std::set<WorkloadId> members;  ///< its workloads that could be queued or hold quota
};

/// A workload that has quota and needs places: its check is ready now, or it lost nodes.
struct PlacesTask {
  std::set<std::string> lost;       ///< hosts; empty: it has no places yet
  bool bound_to_pod = false;        ///< ends with its Pod, which cannot move
  std::vector<PodProfilePtr> pods;  ///< by pod set, with what checks add
  int tries = 0;
  TimePoint due{};
  bool ready = false;
};

/// What the pod sets count for, by (flavor, resource).
std::vector<FrAmount> usage_of_pod_sets(const std::vector<PodSetReservation>& pod_sets,
                                        Names* names);

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
  /// Whether some active ClusterQueue has somebody waiting, i.e. whether a cycle has work.
  bool has_heads() const { return ready_count_ > 0 || places_due(); }
  /// Whether somebody with quota needs places now; that waits for nobody's pods to be ready.
  bool places_due() const { return places_ready_ > 0; }

  /// Workloads with quota whose pods are not all ready.
  std::size_t not_ready() const { return not_ready_; }
  /// The reason why the workload is not even looked at: one like it did not fit, and nothing has
  /// changed since. Empty when it has its turn coming.
  std::string bypassed(const api::ObjectKey& key) const;

  // Admission fair sharing
  /// Lets the past of every LocalQueue decay, as their statuses say from then on. To be called
  /// every sampling interval.
  void sample_usage(TimePoint now);
  /// By which a LocalQueue has its turn: weighted, with what its admissions cost at once. Nothing
  /// where turns do not go by that.
  std::optional<double> usage_of(const api::ObjectKey& local_queue) const;

  // Status
  Changes take_changes();
  Activity activity(const std::string& cluster_queue) const;
  Activity local_queue_activity(const api::ObjectKey& key) const;
  /// Counts, flavorsReservation, flavorsUsage and, with fair sharing, the share. No conditions.
  api::ClusterQueueStatus status(const std::string& cluster_queue) const;
  api::LocalQueueStatus status(const api::ObjectKey& local_queue) const;
  /// The Cohorts above a ClusterQueue, the nearest first.
  std::vector<std::string> cohorts_above(const std::string& cluster_queue) const;
  /// Workloads of a LocalQueue that wait in the heap, and those found inadmissible. Looks at each.
  std::pair<std::size_t, std::size_t> pending_of(const api::ObjectKey& local_queue) const;
  /// Weighted share before rounding: of a ClusterQueue, of a Cohort. Infinite for weight zero.
  double share_of_queue(const std::string& cluster_queue) const;
  double share_of_cohort(const std::string& cohort) const;
  /// With fair sharing the share as status.fairSharing has it; nothing without.
  api::CohortStatus cohort_status(const std::string& cohort) const;
  /// Whether some ClusterQueue has quota of that flavor; whether one uses that check.
  bool flavor_in_use(const std::string& flavor) const;
  bool check_in_use(const std::string& check) const;
  /// Whether a workload holds quota in it: a deleted ClusterQueue must wait for that.
  bool has_reservations(const std::string& cluster_queue) const;
  /// Names of the checks a workload needs: with a reservation those of its flavors, without those
  /// that are for all flavors. Sorted.
  std::vector<std::string> required_checks(const api::Workload& workload) const;
  /// The same for a set of assigned flavors; null: none are assigned yet.
  static std::vector<std::string> required_checks(const api::ClusterQueueSpec& spec,
                                                  const std::set<std::string>* assigned);
  /// The ClusterQueue that the workload's LocalQueue leads to, or empty.
  std::string cluster_queue_of(const api::Workload& workload) const;
  std::vector<std::string> cluster_queues() const;
  std::vector<api::ObjectKey> local_queues_of(const std::string& cluster_queue) const;
  /// What a workload without reservation asks for, as status.resourceRequests has it.
  std::vector<api::PodSetRequest> resource_requests(const api::ObjectKey& workload) const;

  // For the cycle and its parts
  const Config& config() const { return config_; }
  Names& names() { return names_; }
  const Names& names() const { return names_; }
  /// Settled.
  QuotaForest& forest() const {
    forest_.settle();
    return forest_;
  }
  Topologies& topologies() { return topologies_; }
  const Topologies& topologies() const { return topologies_; }
  /// Pods get their places later, or on another cluster: with MultiKueue, and until the machines of
  /// a ProvisioningRequest are there.
  bool delays_topology(const QueueInfo& queue, FlavorId flavor, bool reserved) const;
  bool uses_multikueue(const QueueInfo& queue) const;
  WorkloadTable& workloads() { return workloads_; }
  const WorkloadTable& workloads() const { return workloads_; }
  QueueInfo& queue(QueueId id) { return *queues_[id]; }
  const QueueInfo& queue(QueueId id) const { return *queues_[id]; }
  /// Who holds quota in it, in the order of preemption.
  VictimOrder::Sections victims_in(QueueId id) {
    const PendingQueue::Usage* usage = queues_[id]->pending.usage();
    return queues_[id]->victims.sections(workloads_, queues_[id]->reserved,
                                         {usage, usage == nullptr ? 0 : usage_epoch_});
  }
  /// Those whom the running cycle asked to go, as far as they are to be thought gone (leaving.h).
  IdSet& asked() { return asked_; }
  const IdSet& asked() const { return asked_; }
  QueueId queue_of_node(NodeId node) const { return node_queue_[node]; }
  const QueueInfo* find_queue(const std::string& name) const;
  const LocalQueueInfo& local_queue(LocalQueueId id) const { return local_queues_[id]; }
  const FlavorInfo* flavor(FlavorId id) const;
  const api::StringMap* namespace_labels(const std::string& ns) const;
  bool is_explicit_cohort(NodeId node) const;

  /// One head per active ClusterQueue that has one, by name of the ClusterQueue.
  std::vector<WorkloadId> pop_heads();
  /// Number of the cycle that pop_heads() began.
  std::uint64_t cycle() const { return cycle_; }
  /// Workloads with quota whose places are due, the most urgent first.
  std::vector<WorkloadId> pop_second_passes();
  const PlacesTask& places_task(WorkloadId id) const { return places_tasks_.at(id); }
  void drop_places_task(WorkloadId id);
  /// No place yet: again later, with doubling delays.
  void retry_places(WorkloadId id, TimePoint now);
  void move_pods(WorkloadId id, std::vector<PodSetPlaces> places);
  /// Where a head goes that was not admitted.
  /// `why`: the reason to tell workloads like it that are parked with it.
  void requeue(WorkloadId id, bool immediate, bool park_all_alike, TimePoint now,
               std::string_view why = {});
  /// The workload with quota in the same ClusterQueue whose place this one takes, or no_id.
  WorkloadId replaced_by(WorkloadId id) const;
  /// Next in its queue until it is gone: its preemptions are under way.
  void make_sticky(WorkloadId id);
  /// Records the reservation and counts its usage.
  void assume(WorkloadId id, std::unique_ptr<Reservation> reservation);

 private:
  struct CohortInfo {
    NodeId node = no_node;
    bool exists = false;  ///< there is a Cohort object
    api::CohortSpec spec;
  };
  struct CheckInfo {
    bool active = false;
    std::string controller;
  };

  QueueInfo* queue_named(const std::string& name);
  NodeId cohort_node(const std::string& name);
  void drop_unused_cohort(const std::string& name);
  std::vector<Quota> quotas_of(const std::vector<api::ResourceGroup>& groups);
  using Problems = std::vector<std::pair<std::string, std::string>>;  ///< reason, text
  Problems problems(const QueueInfo& queue) const;
  Problems check_problems(const QueueInfo& queue) const;
  void apply_spec(QueueInfo* queue, const api::ClusterQueueSpec& spec);
  void adopt(QueueInfo* queue, TimePoint now);
  Affected waiting_in_namespace(const std::string& ns) const;
  Affected waiting_with_class(const std::string& runtime_class) const;
  bool read_spec(WorkloadId id, const api::Workload& workload);
  void update_pending(WorkloadId id, const api::Workload& workload, TimePoint now);
  void update_reserved(WorkloadId id, const api::Workload& workload, TimePoint now);
  void refresh_activity(QueueInfo* queue);
  void refresh_all_activity();
  void refresh_ready(QueueInfo* queue);
  void rank_queues();
  void touch(const QueueInfo& queue);
  void touch(LocalQueueId id);
  void name_touched();
  LocalQueueId local_queue_id(const api::ObjectKey& key);
  QueueInfo* queue_for(const WorkloadEntry& entry);
  void reroute(LocalQueueId id, TimePoint now);
  void enqueue(WorkloadId id, TimePoint now);
  void dequeue(WorkloadId id);
  void count_pending(const WorkloadEntry& entry, int delta);
  void reserve(WorkloadId id, std::unique_ptr<Reservation> reservation);
  void release(WorkloadId id);
  bool orders_by_usage(const LocalQueueInfo& queue) const;
  Consumption penalty_of(const WorkloadEntry& entry) const;
  void charge(WorkloadId id);
  void discharge(LocalQueueId payer, const Consumption& penalty);
  void settle_charge(LocalQueueId payer, const Consumption& penalty, TimePoint now);
  void count_in_use(LocalQueueInfo* queue, const Reservation& reservation, int sign);
  void refresh_usage(LocalQueueInfo* queue);
  void read_history(LocalQueueInfo* queue, const api::LocalQueueStatus& status, TimePoint now);
  void reactivate_at(NodeId node, TimePoint when);
  void reactivate_all(TimePoint when);
  void reactivate_users(const std::vector<FlavorId>& flavors, TimePoint when);
  std::vector<PodProfilePtr> pods_after_checks(const api::Workload& workload, const Shape& shape);
  void read_places_task(WorkloadId id, const api::Workload& workload, TimePoint now);
  void flush_places(TimePoint now);
  void count_places(const Reservation& reservation, bool add);
  void read_places(const api::PodSetAssignment& assignment, const PodProfilePtr& pods,
                   PodSetReservation* pod_set);
  void reactivate_after(WorkloadId id, QueueId queue, TimePoint now);
  std::unique_ptr<Reservation> read_reservation(const api::Workload& workload, const Shape& shape);
  void reactivate_tree(NodeId node, TimePoint now);
  bool passes_namespace(const QueueInfo& queue, LocalQueueId id) const;
  std::vector<FrAmount> usage_of(std::span<const WorkloadId> ids, bool admitted_only) const;
  std::vector<api::FlavorUsage> usage_to_api(const QueueInfo& queue,
                                             std::span<const FrAmount> usage, bool borrowed) const;

  Config config_;
  Names names_;
  mutable QuotaForest forest_;  ///< settled lazily: loading many queues must not be quadratic
  Topologies topologies_;
  WorkloadTable workloads_;
  IdSet asked_;  ///< empty between cycles
  ShapeRegistry shapes_;
  PodDefaults pod_defaults_;
  std::map<std::string, api::StringMap> namespaces_;
  std::map<std::string, FlavorInfo> flavors_;
  std::map<std::string, CheckInfo> checks_;
  std::vector<const FlavorInfo*> flavor_of_id_;
  /// Reservations in a ClusterQueue that is not there (yet).
  std::map<std::string, std::set<WorkloadId>> orphans_;
  std::map<std::string, CohortInfo> cohorts_;
  std::vector<std::unique_ptr<QueueInfo>> queues_;
  std::map<std::string, QueueId> queue_ids_;
  std::vector<QueueId> node_queue_;
  std::deque<LocalQueueInfo> local_queues_;
  std::map<api::ObjectKey, LocalQueueId> local_queue_ids_;
  std::vector<QueueId> queues_by_rank_;
  bool ranks_stale_ = false;
  IdSet ready_;  ///< ranks of ClusterQueues that are; not while ranks are stale
  std::size_t ready_count_ = 0;
  std::map<NodeId, TimePoint> reactivations_;
  std::map<WorkloadId, PlacesTask> places_tasks_;
  std::size_t places_ready_ = 0;
  std::uint64_t cycle_ = 0;
  std::uint64_t last_serial_ = 0;
  std::uint64_t usage_epoch_ = 0;  ///< moves when the usage of a LocalQueue does
  std::size_t not_ready_ = 0;
  Changes changes_;
  std::vector<QueueId> touched_queues_;
  std::vector<LocalQueueId> touched_local_queues_;
};

}  // namespace regatta::admission
