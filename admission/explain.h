#pragma once

/// Why one workload waits, or where it went.
///
/// explain() asks what a cycle would find if the workload had its turn now, and asks it in full:
/// every flavor, not only those up to the first good one. All of it is supposed and taken back:
/// State decides afterwards what it would have decided without. Sentences are made of the answer
/// elsewhere.

#include "admission/flavor_assigner.h"
#include "admission/preemption.h"
#include "admission/state.h"
#include "admission/topology/assignment.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

/// Where the workload stands. What comes first here hides what comes after.
enum class Standing : std::uint8_t {
  finished,
  evicted,           ///< has to go, and holds its quota until its job has stopped
  admitted,          ///< runs, or may
  waits_for_checks,  ///< holds quota; its admission checks are not all ready
  inactive,          ///< spec.active is false
  on_hold,           ///< its job holds it back
  gated,             ///< an annotation names who holds it back
  waits_for_replacement_pods,
  no_local_queue,
  local_queue_stopped,
  no_cluster_queue,
  cluster_queue_inactive,
  failed_checks,  ///< a check said Retry or Rejected, and has not been reset
  namespace_missing,
  namespace_mismatch,
  misconfigured,  ///< its requests can never be granted
  backoff,        ///< has its next turn later
  // It may have its turn, and would:
  fits,
  preempts,             ///< the `victims`
  waits_for_preempted,  ///< all victims are on their way out
  waits_for_quota,      ///< nobody may be preempted for it
  exceeds_quota,        ///< more than its ClusterQueue could ever give
  no_flavor,            ///< no flavor suits its pods
  topology_placement_failed,
  waits_for_pods_ready,  ///< fits, but nobody is admitted before all pods of others are ready
};
/// In snake_case.
std::string_view name_of(Standing standing);

/// Its place among all that wait in a queue, those included that wait for something to change.
struct LinePlace {
  std::size_t place = 0;  ///< 1: the next; 0: it is not in line
  std::size_t of = 0;
};

/// One resource of one flavor, as the workload sees it.
struct QuotaLine {
  std::string resource;
  Amount requested = 0;   ///< by the pod sets that have to share the flavor
  Amount before = 0;      ///< what earlier pod sets would take of the same
  Amount nominal = 0;     ///< of its ClusterQueue
  Amount used = 0;        ///< by its ClusterQueue
  Amount available = 0;   ///< now, with what can be borrowed
  Amount borrowable = 0;  ///< the part of `available` that others own
  Amount lent = 0;        ///< its ClusterQueue's own, unused there, and in use elsewhere
  Amount maximum = 0;     ///< if nobody used anything
  Amount missing = 0;     ///< now
  Amount raise = 0;       ///< so much more nominal quota is enough, also when too much is used
  bool limited = false;   ///< so much more borrowing limit is as good
};

/// A workload that holds quota.
struct Holder {
  api::ObjectKey key;
  std::string cluster_queue;
  std::int64_t priority = 0;
  TimePoint since{};
  bool evicted = false;                                 ///< on its way out
  std::vector<std::pair<std::string, Amount>> amounts;  ///< by resource, of the flavor in question
};

enum class FlavorVerdict : std::uint8_t {
  fits,
  borrows,         ///< fits, with quota of others
  reclaims,        ///< by preempting in other ClusterQueues
  preempts,        ///< by preempting in its own ClusterQueue
  no_candidates,   ///< preemption is thinkable, but nobody may be preempted
  short_of_quota,  ///< and preemption is out of the question
  exceeds_maximum,
  untolerated_taint,
  affinity_mismatch,
  topology_only,  ///< the flavor is for workloads that ask for a topology
  no_topology,    ///< the workload asks for a topology, and the flavor has none
  no_level,       ///< the flavor's topology lacks a level that the workload asks for
  topology_full,  ///< enough quota, but no place in the topology
  not_found,      ///< there is no such ResourceFlavor
  not_looked_at,  ///< something else was decided before; the quota lines are right nevertheless
};
std::string_view name_of(FlavorVerdict verdict);

/// Who holds what a workload lacks, and whether it may take it.
struct PreemptionChances {
  std::size_t own = 0;             ///< workloads of its ClusterQueue that hold some
  std::size_t own_allowed = 0;     ///< of those, by withinClusterQueue
  std::size_t others = 0;          ///< workloads of other ClusterQueues of the tree that hold some
  std::size_t others_borrow = 0;   ///< of those, in ClusterQueues beyond their nominal quota
  std::size_t others_allowed = 0;  ///< of those again, by reclaimWithinCohort
  bool beyond_nominal = false;     ///< it would have to borrow itself, hence may not reclaim
};

struct FlavorTry {
  std::string flavor;
  FlavorVerdict verdict = FlavorVerdict::not_looked_at;
  bool chosen = false;  ///< what the workload would get, or preempt for
  /// What does not match: the taint ("key=value:NoSchedule"), labels, the topology's answer.
  std::string detail;
  std::vector<QuotaLine> lines;
  PreemptionChances chances;
  /// When all of these are gone, the flavor has enough; those that hold quota the longest come
  /// first. Empty when nothing is missing or that would not help.
  std::vector<Holder> enough_when_gone;
};

/// The flavors for the resources of one group, by order of preference.
struct GroupTry {
  std::vector<std::string> resources;
  std::vector<FlavorTry> flavors;
};

struct PodSetTry {
  std::vector<std::string> pod_sets;   ///< several when they must share flavors
  std::int32_t count = 0;              ///< pods, all together
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
  std::optional<TimePoint> since;  ///< absent: its controller has said nothing yet
  std::optional<std::int32_t> requeue_after_seconds;
  std::int32_t retries = 0;
};

/// Flavors of one pod set that holds quota.
struct PodSetHeld {
  std::string name;
  std::int32_t count = 0;
  std::map<std::string, std::string> flavors;  ///< by resource
  api::ResourceList usage;
  TopologyDomains places;  ///< where it has a topology
};

constexpr std::size_t explain_names_max = 10;  ///< workloads listed in any one place

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
  std::vector<api::ObjectKey> ahead;  ///< the next first; at most explain_names_max
  bool sticky = false;                ///< next whatever its priority: its preemptions are under way
  bool parked = false;                ///< waits for something to change
  std::optional<api::ObjectKey> parked_like;  ///< with that one, which asks for the same

  std::string detail;  ///< of the standing: who gates it, which selector, what is misconfigured
  std::optional<TimePoint> requeue_at;
  std::int32_t requeues = 0;

  std::string reason;  ///< as QuotaReserved=False would have it
  std::string message;
  std::vector<PodSetTry> tries;
  api::ClusterQueuePreemption preemption;
  std::optional<std::int32_t> fewer_pods;  ///< it would run with that many pods in all
  std::vector<Victim> victims;

  std::vector<CheckView> checks;
  std::vector<PodSetHeld> held;
  std::optional<TimePoint> reserved_at;
  std::optional<TimePoint> admitted_at;

  /// What was written about it last, and by whom it was evicted.
  std::optional<api::Condition> last_pending, last_eviction, last_preemption, end;
};

/// `workload` as it was read last; it need not be known to `state` when it has ended.
Explanation explain(State& state, const api::Workload& workload, TimePoint now);

}  // namespace regatta::admission
