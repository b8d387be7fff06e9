#pragma once

/// What admission keeps of a Workload. The API object itself is not kept: a pending workload is a
/// key, a place in the order, and a pointer to a shape that it shares with all workloads like it.

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
  std::int32_t count = 0;  ///< without reclaimable pods
  std::optional<std::int32_t> min_count;
  std::vector<ResourceAmount> requests;  ///< of all `count` pods, by resource name
  std::vector<api::Toleration> tolerations;
  api::StringMap node_selector;
  std::optional<std::vector<api::NodeSelectorTerm>> node_affinity;
  std::string group;  ///< pod sets of one group get the same flavors; empty: no group
  std::optional<api::PodSetTopologyRequest> topology;
  PodProfilePtr pods;  ///< one pod, as nodes see it
};

/// Everything in a workload on which its flavors depend, without its priority. Immutable, shared.
struct Shape {
  std::uint64_t id = 0;  ///< never reused
  std::string text;      ///< equal texts, equal shapes
  std::vector<PodSetShape> pod_sets;
  std::vector<std::string> runtime_classes;
  /// Key of the workload that it replaces: only what it asks for beyond that one is charged.
  api::ObjectKey replaces;
  std::string invalid;  ///< why it can never run ("resources validation failed: …"), or empty
};
using ShapePtr = std::shared_ptr<const Shape>;

class PodDefaults;

/// Makes shapes. Most workloads look like one that was seen before; reading their pod specs once
/// recognises them.
class ShapeRegistry {
 public:
  ShapeRegistry();
  /// The shape with which the workload would be admitted now. The configuration must always be the
  /// same. A shape lives as long as it has holders.
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

/// Reclaimable pods, the size of the pod set that they were counted of as far as is known, and its
/// size now.
struct Reclaimed {
  std::int32_t pods = 0, of = 0, size = 0;
};

struct PodSetReservation {
  std::string name;
  std::int32_t count = 0;
  std::vector<ResourceFlavorChoice> flavors;
  std::vector<ResourceAmount> usage;  ///< of all `count` pods
  Reclaimed reclaimed;
  /// Where the pods are. One entry; or one for each flavor of the pod set, when it is not known
  /// which flavor has the topology.
  std::vector<PodPlaces> places;
  std::string delayed_topology;  ///< "", Pending, Ready
  /// Pods that will yet run: those that were not given back.
  std::int32_t remaining() const {
    return reclaimed.of == 0 ? count : std::clamp(reclaimed.of - reclaimed.pods, 0, count);
  }
};

/// The quota that a workload holds.
struct Reservation {
  QueueId queue = no_id;
  std::vector<PodSetReservation> pod_sets;
  std::vector<FrAmount> usage;  ///< what counts in the quota tree, by fr
  TimePoint reserved_at{};
  bool admitted = false;  ///< all admission checks passed, too
  bool assumed = false;   ///< decided by a cycle, not yet read back
  bool evicted = false;   ///< must end
  bool pods_ready = false;
  std::shared_ptr<const Consumption> penalty;  ///< its charge, until it is admitted
  std::uint64_t serial = 0;                    ///< never reused; see victim_order.h
};

/// What a reservation takes up: enough to remove its workload in a trial without reading either.
/// Valid as long as the reservation.
struct Holding {
  QueueId queue = no_id;
  bool evicted = false;
  bool has_places = false;  ///< or will have places
  std::span<const FrAmount> usage;
};
Holding holding_of(const Reservation& reservation);

/// How far the search for flavors came. The next cycle goes on from there.
struct ScanProgress {
  std::uint64_t cycle = 0;
  std::uint64_t generation = 0;  ///< of the ClusterQueue
  std::uint64_t shape = 0;
  std::int64_t priority = 0;
  /// For each pod set and resource, the index of the last flavor tried; -1 when all were tried.
  std::vector<std::map<ResourceId, int>> tried;
  bool pending_flavors() const;
};

struct PendingClass;
class Topologies;

enum class Place : std::uint8_t {
  nowhere,   ///< not queued: inactive, gated, or its LocalQueue is missing or stopped
  queued,    ///< in the heap of its ClusterQueue, or parked beside it: see queues.h
  delayed,   ///< its backoff is not over
  in_cycle,  ///< popped by the running cycle
  reserved,  ///< holds quota
};

struct WorkloadEntry {
  api::ObjectKey key;
  std::string uid;
  ShapePtr shape;
  std::int64_t priority = 0;
  TimePoint order_time{};  ///< see queue_order_time()
  std::int64_t generation = 0;
  LocalQueueId local_queue = no_id;
  Place place = Place::nowhere;
  bool admissible = false;      ///< may be queued at all
  bool gated = false;           ///< one of its preemption gates is closed
  bool failed_checks = false;   ///< an admission check says Retry or Rejected
  bool requeued_false = false;  ///< Requeued=False: its controller still holds it back
  bool refused = false;         ///< its reservation was not written; see State::set_aside()
  bool evicted = false;
  bool was_queued = false;      ///< this process has seen it wait
  bool parked_unseen = false;   ///< it came to the queue and was parked at once with those like it
  std::size_t wake_digest = 0;  ///< of conditions whose change gives a parked workload a turn
  std::optional<TimePoint> requeue_at;
  /// Specified counts of the pod sets, if partial admission needs them and there are reclaimable
  /// pods.
  std::unique_ptr<const std::vector<std::int32_t>> full_counts;
  PendingClass* pending_class = nullptr;
  std::uint32_t position = 0;  ///< in its class, or in the list of its ClusterQueue's reservations
  std::unique_ptr<Reservation> reservation;
  std::unique_ptr<ScanProgress> progress;
};

/// Whether the workload's backoff is over, and nothing else holds it back.
bool backoff_over(const WorkloadEntry& entry, TimePoint now);

/// The time that orders the workload in its queue. That is its creation, or the eviction by an
/// admission check or, if so configured, by the readiness timeout. Without priority sorting within
/// Cohorts it can also be the time at which the workload was reclaimed while borrowing.
TimePoint queue_order_time(const api::Workload& workload, const Config& config);

/// Whether the workload may wait for quota at all: it is active, and it is not finished, not gated,
/// not on hold, has no reservation, and does not wait for replacement pods.
bool is_admissible(const api::Workload& workload);

/// The number of pods in the pod set without reclaimable ones.
std::int32_t count_after_reclaim(const api::Workload& workload, const api::PodSet& pod_set);

/// The reservation in the form of the API.
api::Admission to_api(const Reservation& reservation, const std::string& cluster_queue,
                      const Names& names, const Topologies& topologies);

}  // namespace regatta::admission
