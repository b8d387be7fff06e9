#pragma once

/// What admission keeps of a Workload. The API object itself is not kept: a pending workload is its
/// key, its place in the order, and a pointer to a shape it shares with all workloads like it.

#include "admission/config.h"
#include "admission/quota.h"
#include "admission/topology/pods.h"
#include "admission/units/names.h"
#include "admission/usage_history.h"
#include "lib/api/pod.h"
#include "lib/api/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

using WorkloadId = std::uint32_t;
using QueueId = std::uint32_t;
using LocalQueueId = std::uint32_t;
constexpr std::uint32_t no_id = UINT32_MAX;

struct PodSetShape {
  std::string name;
  std::int32_t count = 0;  ///< reclaimable pods taken off
  std::optional<std::int32_t> min_count;
  std::vector<ResourceAmount> requests;  ///< of all `count` pods, by resource name
  std::vector<api::Toleration> tolerations;
  api::StringMap node_selector;
  std::optional<std::vector<api::NodeSelectorTerm>> node_affinity;
  std::string group;  ///< pod sets of one group get the same flavors; empty: alone
  std::optional<api::PodSetTopologyRequest> topology;
  PodProfilePtr pods;  ///< one pod, as nodes see it
};

/// Everything about a workload that its flavors depend on, besides priority. Immutable, shared.
struct Shape {
  std::uint64_t id = 0;  ///< never used twice
  std::string text;      ///< equal texts, equal shapes
  std::vector<PodSetShape> pod_sets;
  std::vector<std::string> runtime_classes;
  /// Key of the workload whose place it takes: only what it asks for beyond that is charged.
  api::ObjectKey replaces;
  std::string invalid;  ///< why it can never run ("resources validation failed: …"), or empty
};
using ShapePtr = std::shared_ptr<const Shape>;

class PodDefaults;

/// Makes shapes. Most workloads look like one seen before: those cost one look at their pod specs.
class ShapeRegistry {
 public:
  ShapeRegistry();
  /// The shape of the workload as it would be admitted now; always with the same configuration. A
  /// shape lives as long as its holders.
  ShapePtr intern(const api::Workload& workload, const Config& config, const PodDefaults& defaults,
                  Names* names);
  std::size_t size() const;
  PodProfiles& profiles() { return profiles_; }

 private:
  struct Shapes;
  std::shared_ptr<Shapes> shapes_;
  std::uint64_t last_id_ = 0;
  PodProfiles profiles_;
};

struct ResourceFlavorChoice {
  ResourceId resource = 0;
  FlavorId flavor = 0;
  friend bool operator==(const ResourceFlavorChoice&, const ResourceFlavorChoice&) = default;
};

struct PodSetReservation {
  std::string name;
  std::int32_t count = 0;
  std::vector<ResourceFlavorChoice> flavors;
  std::vector<ResourceAmount> usage;  ///< of all `count` pods, resources with a flavor only
  /// Where the pods are. One, or as many as the pod set has flavors when it is not known which of
  /// them has the topology.
  std::vector<PodPlaces> places;
  std::string delayed_topology;  ///< "", Pending, Ready
};

/// Quota held by a workload.
struct Reservation {
  QueueId queue = no_id;
  std::vector<PodSetReservation> pod_sets;
  std::vector<FrAmount> usage;  ///< what it counts for, by fr
  TimePoint reserved_at{};
  bool admitted = false;  ///< all admission checks passed too
  bool assumed = false;   ///< decided by a cycle, not yet read back
  bool evicted = false;   ///< asked to go
  bool pods_ready = false;
  std::shared_ptr<const Consumption> penalty;  ///< what it was charged and is pending, if anything
  std::uint64_t serial = 0;                    ///< never used twice; see victim_order.h
};

/// What a reservation takes up: enough to suppose its workload gone without looking at either.
/// Valid as long as the reservation.
struct Holding {
  QueueId queue = no_id;
  bool evicted = false;
  bool has_places = false;  ///< or will have
  std::span<const FrAmount> usage;
};
Holding holding_of(const Reservation& reservation);

/// How far the search for flavors came: the next cycle goes on from there.
struct ScanProgress {
  std::uint64_t cycle = 0;
  std::uint64_t generation = 0;  ///< of the ClusterQueue
  std::uint64_t shape = 0;
  std::int64_t priority = 0;
  /// Per pod set: index of the last flavor tried per resource; -1 when the list was exhausted.
  std::vector<std::map<ResourceId, int>> tried;
  bool pending_flavors() const;
};

struct PendingClass;
class Topologies;

enum class Place : std::uint8_t {
  nowhere,   ///< not queued: inactive, gated, or its LocalQueue is missing or stopped
  queued,    ///< in the heap of its ClusterQueue, or parked beside it: see queues.h
  delayed,   ///< its backoff is not over
  in_cycle,  ///< popped by the cycle that runs
  reserved,  ///< holds quota
};

struct WorkloadEntry {
  api::ObjectKey key;
  std::string uid;
  ShapePtr shape;
  std::int64_t priority = 0;
  TimePoint order_time{};  ///< its place in the queue; see queue_order_time()
  std::int64_t generation = 0;
  LocalQueueId local_queue = no_id;
  Place place = Place::nowhere;
  bool admissible = false;      ///< may be queued at all
  bool gated = false;           ///< a preemption gate of it is closed
  bool failed_checks = false;   ///< an admission check says Retry or Rejected
  bool requeued_false = false;  ///< Requeued=False: its controller has not released it yet
  bool evicted = false;
  bool was_queued = false;      ///< seen waiting, not only admitted
  std::size_t wake_digest = 0;  ///< of conditions that unpark it when they change
  std::optional<TimePoint> requeue_at;
  /// Of pod sets as specified, where partial admission may ask and reclaimable pods took some off.
  std::unique_ptr<const std::vector<std::int32_t>> full_counts;
  PendingClass* pending_class = nullptr;
  std::uint32_t position = 0;  ///< in its class, or in the list of its ClusterQueue's reservations
  std::unique_ptr<Reservation> reservation;
  std::unique_ptr<ScanProgress> progress;
};

/// When the workload joined the line: eviction by readiness timeout or by an admission check moves
/// it to the time of the eviction, everything else leaves it at its creation.
TimePoint queue_order_time(const api::Workload& workload, const Config& config);

/// Whether it may wait for quota at all: not finished, active, no reservation, not gated, not on
/// hold, not waiting for replacement pods.
bool is_admissible(const api::Workload& workload);

/// Amounts of one pod set, reclaimable pods taken off.
std::int32_t count_after_reclaim(const api::Workload& workload, const api::PodSet& pod_set);

/// The reservation as the API writes it.
api::Admission to_api(const Reservation& reservation, const std::string& cluster_queue,
                      const Names& names, const Topologies& topologies);

}  // namespace regatta::admission
