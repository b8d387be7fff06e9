#pragma once

/// Explains why one workload waits, or what became of it.
///
/// explain() finds out what a cycle would find if the workload had its turn now, and for every
/// flavor, not only up to the first good one. It works in a trial that is rolled back, so later
/// decisions are the same with and without it. Other code makes sentences of the answer.

#include "admission/flavor_assigner.h"
#include "admission/preemption.h"
#include "admission/state.h"
#include "admission/topology/assignment.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

/// Where the workload stands. If several values apply, the first of them is given.
enum class Standing : std::uint8_t {
  finished,
  evicted,           ///< holds its quota until its job has stopped
  admitted,          ///< it runs, or may run
  waits_for_checks,  ///< holds quota; its admission checks are not all ready
  inactive,          ///< spec.active is false
  on_hold,           ///< its job holds it back
  gated,             ///< an annotation names the controllers that hold it back
  waits_for_replacement_pods,
  no_local_queue,
  local_queue_stopped,
  no_cluster_queue,
  cluster_queue_inactive,
  failed_checks,  ///< a check said Retry or Rejected, and has not been reset
  namespace_missing,
  namespace_mismatch,
  misconfigured,  ///< its requests can never be granted
  backoff,        ///< its next turn is later
  // The workload may have a turn, in which it:
  fits,
  preempts,             ///< preempts `victims`
  waits_for_preempted,  ///< all victims are evicted already
  waits_for_quota,      ///< it may not preempt any workload
  exceeds_quota,        ///< it asks for more than its ClusterQueue could ever provide
  no_flavor,            ///< no flavor suits its pods
  topology_placement_failed,
  waits_for_pods_ready,  ///< it fits, but waits until all pods of other workloads are ready
};
/// In snake_case.
std::string_view name_of(Standing standing);

/// The workload's place among all workloads that wait in a queue, including parked ones.
struct LinePlace {
  std::size_t place = 0;  ///< 1: it is next; 0: it does not wait there
  std::size_t of = 0;
};

/// One resource of one flavor, as the workload sees it.
struct QuotaLine {
  std::string resource;
  Amount requested = 0;   ///< by the pod sets that have to share the flavor
  Amount before = 0;      ///< what earlier pod sets would take of the same quota
  Amount nominal = 0;     ///< of its ClusterQueue
  Amount used = 0;        ///< by its ClusterQueue
  Amount available = 0;   ///< now, including what can be borrowed
  Amount borrowable = 0;  ///< the part of `available` that other queues own
  Amount lent = 0;        ///< its ClusterQueue's own quota that other queues use
  Amount maximum = 0;     ///< if nothing were in use
  Amount missing = 0;     ///< now
  Amount raise = 0;       ///< this much more nominal quota is enough, even if usage is above quota
  bool limited = false;   ///< this much more borrowing limit is enough, too
};

/// A workload that holds quota.
struct Holder {
  api::ObjectKey key;
  std::string cluster_queue;
  std::int64_t priority = 0;
  TimePoint since{};
  bool evicted = false;                                 ///< its job has not stopped yet
  std::vector<std::pair<std::string, Amount>> amounts;  ///< by resource, of the flavor in question
};

enum class FlavorVerdict : std::uint8_t {
  fits,
  borrows,         ///< fits, with borrowed quota
  reclaims,        ///< by preempting in other ClusterQueues
  preempts,        ///< by preempting in its own ClusterQueue
  no_candidates,   ///< preemption is allowed, but finds no victims
  short_of_quota,  ///< not enough quota, and preemption cannot help
  exceeds_maximum,
  untolerated_taint,
  affinity_mismatch,
  topology_only,  ///< the flavor is for workloads that ask for a topology
  no_topology,    ///< the workload asks for a topology, and the flavor has none
  no_level,       ///< the flavor's topology lacks a level that the workload asks for
  topology_full,  ///< enough quota, but no place in the topology
  not_found,      ///< there is no such ResourceFlavor
  not_looked_at,  ///< not reached; the quota lines are right nevertheless
};
std::string_view name_of(FlavorVerdict verdict);

/// How many workloads hold what a workload lacks, and how many of them it may preempt.
struct PreemptionChances {
  std::size_t own = 0;             ///< workloads of its ClusterQueue that hold some
  std::size_t own_allowed = 0;     ///< of `own`: preemptible by withinClusterQueue
  std::size_t others = 0;          ///< workloads of other ClusterQueues of the tree that hold some
  std::size_t others_borrow = 0;   ///< of `others`: in ClusterQueues above their nominal quota
  std::size_t others_allowed = 0;  ///< of `others_borrow`: preemptible by reclaimWithinCohort
  bool beyond_nominal = false;     ///< it would have to borrow, hence may not reclaim
};

struct FlavorTry {
  std::string flavor;
  FlavorVerdict verdict = FlavorVerdict::not_looked_at;
  bool chosen = false;  ///< what the workload would get, or preempt for
  /// What does not match: the taint ("key=value:NoSchedule"), labels, the topology's answer.
  std::string detail;
  std::vector<QuotaLine> lines;
  PreemptionChances chances;
  /// When all these workloads are gone, the flavor has enough quota. Evicted workloads come first,
  /// then those that have held quota the longest. Empty when nothing is missing or this would not
  /// help.
  std::vector<Holder> enough_when_gone;
};

/// The flavors for the resources of one group, by order of preference.
struct GroupTry {
  std::vector<std::string> resources;
  std::vector<FlavorTry> flavors;
};

struct PodSetTry {
  std::vector<std::string> pod_sets;   ///< several if they must share flavors
  std::int32_t count = 0;              ///< of pods, in all
  std::vector<std::string> uncovered;  ///< resources without quota in the ClusterQueue
  std::vector<GroupTry> groups;
};

struct Victim {
  Holder holder;
  PreemptionReason reason = PreemptionReason::in_cluster_queue;
};

struct CheckView {
  std::string name;
  api::CheckState state = api::CheckState::Pending;
  std::string message;
  std::optional<TimePoint> since;  ///< absent: its controller has not set a state yet
  std::optional<std::int32_t> requeue_after_seconds;
  std::int32_t retries = 0;
};

/// Flavors of one pod set that holds quota.
struct PodSetHeld {
  std::string name;
  std::int32_t count = 0;
  std::map<std::string, std::string> flavors;  ///< by resource
  api::ResourceList usage;
  TopologyDomains places;  ///< if it has a topology
};

constexpr std::size_t explain_names_max = 10;  ///< workloads in one list

struct Explanation {
  api::ObjectKey key;
  Standing standing = Standing::fits;
  std::int64_t priority = 0;
  std::optional<TimePoint> created;

  std::string local_queue;
  std::string cluster_queue;
  std::string path;  ///< in the quota tree: "/root/team/queue"
  Activity queue_activity;
  Activity local_queue_activity;
  bool strict_fifo = false;

  LinePlace in_cluster_queue;
  LinePlace in_local_queue;
  std::vector<api::ObjectKey> ahead;          ///< the next one first; at most explain_names_max
  bool sticky = false;                        ///< next: its victims are being preempted
  bool parked = false;                        ///< it waits for a change
  std::optional<api::ObjectKey> parked_like;  ///< the workload whose turn parked it

  std::string detail;  ///< of the standing: the gate, the selector, what is misconfigured
  std::optional<TimePoint> requeue_at;
  std::int32_t requeues = 0;

  std::string reason;  ///< as in QuotaReserved=False
  std::string message;
  std::vector<PodSetTry> tries;
  api::ClusterQueuePreemption preemption;
  std::optional<std::int32_t> fewer_pods;  ///< it could run with this many pods in all
  std::vector<Victim> victims;

  std::vector<CheckView> checks;
  std::vector<PodSetHeld> held;
  std::optional<TimePoint> reserved_at;
  std::optional<TimePoint> admitted_at;

  /// The last conditions that were written about it.
  std::optional<api::Condition> last_pending, last_eviction, last_preemption, end;
};

/// `workload` is the object as it was read last. `state` need not know it if it has finished.
Explanation explain(State& state, const api::Workload& workload, TimePoint now);

}  // namespace regatta::admission
