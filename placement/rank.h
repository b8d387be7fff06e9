#pragma once

#include "placement/affinity.h"
#include "placement/nominate.h"
#include "placement/room.h"
#include "placement/take.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::placement {

/// What the hub knows of a worker when it nominates, without what the workload itself has there.
/// All of it may be missing but the name.
struct WorkerFacts {
  std::string name;
  bool connected = false;
  std::shared_ptr<const api::StringMap> labels;  ///< of its MultiKueueCluster; null: none
  std::optional<std::set<std::string>> kinds;    ///< that it serves, as WorkloadFacts::kind
  std::shared_ptr<const QueueFacts> queue;       ///< that it would enter; null: not known
  std::string closed;      ///< why no queue there takes it now: "has no LocalQueue a/b"; or empty
  Duration queue_age{};    ///< since `queue` and `closed` were known to be so
  bool says_full = false;  ///< it has the workload, and no room for it
  Amounts in_flight;       ///< nominated here, and not in queue->used yet
  int workloads = 0;       ///< of this hub's queue: there, or in flight
  std::optional<Duration> admits_after;  ///< observed, from nomination to admission
  std::optional<std::int64_t> price;     ///< in any unit that all workers share
  std::string region;
  std::optional<Duration> latency;
};

/// Workers of a fleet, owned by the caller: facts of a thousand are not copied for each workload.
using WorkerList = std::vector<const WorkerFacts*>;

/// A worker said no: it refused the job, evicted it, or did not admit it in time.
struct RefusalFacts {
  std::string why;
  Duration ago{};
};

/// The workload to nominate workers for.
struct WorkloadFacts {
  // Only expressions look at these.
  api::ObjectKey key;
  std::string queue;  ///< its LocalQueue
  api::StringMap labels;
  std::vector<Amounts> pod_sets;  ///< what all pods of each set ask for together
  std::string kind;               ///< "batch/v1 Job"; empty: it needs none
  std::int32_t priority = 0;
  Duration waited{};   ///< since it got quota on the hub
  std::string region;  ///< where its data is; empty: anywhere
  Affinity affinity;
  std::map<std::string, RefusalFacts> refusals;  ///< the last of each worker
  std::vector<std::string> nominated;            ///< status.nominatedClusterNames now
};

/// What a worker is judged by. Each gives an order; the next one decides where it leaves a tie.
enum class Scorer {
  capacity,  ///< RoomKind: room now, then by borrowing, not known, by preempting, then none
  cost,      ///< the lowest price
  spread,    ///< the fewest workloads
  locality,  ///< the workload's region, then the lowest latency
  wait,      ///< the fewest waiting workloads that go before it, then the shortest admits_after
};

class Expressions;

struct RankPolicy {
  std::vector<Scorer> scorers;
  /// Of users (expressions.h): their filter comes after all others, their score before all scorers.
  /// Null: none.
  std::shared_ptr<const Expressions> expressions;
  std::optional<Steps> steps;  ///< nullopt: all places at once
  /// What is known of a queue is not believed for longer. A watch on which nothing happens tells
  /// about once a minute that it is alive.
  Duration stale_after = std::chrono::minutes(2);
  /// So long a worker that said no is not asked again.
  Duration refusal_counts_for = std::chrono::minutes(10);
  /// Of more able workers whose room is not known than may be nominated at a time, others have
  /// their turn after so long.
  Duration page = std::chrono::minutes(10);
};

/// How that dispatcher compares workers; nullopt when it does not. The best one is asked first, and
/// one more every half minute.
std::optional<RankPolicy> policy_of(Dispatcher dispatcher);

/// How many workloads wait in the queue that go before this one.
std::int64_t waiting_before(const WorkloadFacts& workload, const QueueFacts& queue);

struct LeftOut {
  std::string cluster;
  std::string why;  ///< a predicate: "is not connected"
};

struct Ranking {
  /// What status.nominatedClusterNames should be. Those that it has already come first, in their
  /// order, so that a score that changes writes nothing and takes no copy away.
  std::vector<std::string> clusters;
  std::vector<LeftOut> left_out;       ///< every other worker, in the order of the input
  std::optional<Duration> look_again;  ///< when the answer may change although no fact did
};

/// Nominates workers for a workload that has quota and no worker: filters, then scores. Pure.
///
/// `workers` are those of the MultiKueueConfig, in its order, which decides the last ties. What the
/// workload prefers goes before the scorers. Of what is missing nothing bad is assumed: a worker
/// whose queue is not known, or not lately, is never taken for full. It is left out only for a
/// workload that must not borrow or preempt and is not nominated there yet, since nothing shows
/// that it would do neither. What is missing to a scorer comes after what is
/// there; but a worker whose copies were never seen waiting counts as quick.
///
/// With steps, a nominated worker that says that it is full leaves its place to another one that
/// may have room. When all `nominated_max` places are taken, it gives it to one that is known to
/// have room. Of more than `nominated_max` workers whose room is not known, as many as that have
/// their turn at a time; which ones follows from the workload and the time of its reservation.
Ranking rank(const WorkloadFacts& workload, const WorkerList& workers, const RankPolicy& policy);

/// What the workload has been nominated for stays, whatever other workers have.
struct Unchanged {
  std::optional<Duration> look_again;  ///< as in Ranking
};

/// `nominated` are the facts of all that it is nominated for. nullopt: rank() may change the
/// nominations, so all workers have to be looked at. A large fleet is asked less with it.
std::optional<Unchanged> unchanged(const WorkloadFacts& workload, const WorkerList& nominated,
                                   const RankPolicy& policy);

}  // namespace regatta::placement
