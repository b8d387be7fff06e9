#include "admission/workload.h"

#include "admission/topology/topologies.h"
#include "lib/api/names.h"
#include "lib/api/reclaimable.h"

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr std::string_view admission_gated_by = "kueue.x-k8s.io/admission-gated-by";

}  // namespace

std::int32_t count_after_reclaim(const api::Workload& workload, const api::PodSet& pod_set) {
  const std::vector<api::ReclaimablePod>& reclaimable = workload.status.reclaimable_pods;
  return std::max(0, pod_set.count - api::reclaimable_count(reclaimable, pod_set.name));
}

bool ScanProgress::pending_flavors() const {
  for (const auto& pod_set : tried) {
    for (const auto& [resource, index] : pod_set) {
      if (index != -1) return true;
    }
  }
  return false;
}

bool backoff_over(const WorkloadEntry& entry, TimePoint now) {
  return !entry.requeued_false && !entry.refused && (!entry.requeue_at || *entry.requeue_at <= now);
}

TimePoint queue_order_time(const api::Workload& workload, const Config& config) {
  const auto* evicted = api::find_condition(workload.status.conditions, api::conditions::evicted);
  if (evicted != nullptr && evicted->status == api::ConditionStatus::True) {
    const bool timed_out = evicted->reason == api::reasons::pods_ready_timeout &&
                           config.requeuing_timestamp == RequeuingTimestamp::Eviction;
    if (timed_out || evicted->reason == api::reasons::admission_check) {
      return evicted->last_transition_time;
    }
  }
  const auto* preempted =
      api::find_condition(workload.status.conditions, api::conditions::preempted);
  if (!config.priority_sorting_within_cohort && preempted != nullptr &&
      preempted->status == api::ConditionStatus::True &&
      preempted->reason == api::reasons::in_cohort_reclaim_while_borrowing) {
    return preempted->last_transition_time + std::chrono::milliseconds(1);
  }
  return workload.metadata.creation_timestamp.value_or(TimePoint{});
}

bool is_admissible(const api::Workload& workload) {
  const api::Conditions& conditions = workload.status.conditions;
  const auto* reserved = api::find_condition(conditions, api::conditions::quota_reserved);
  const bool on_hold = reserved != nullptr && reserved->status == api::ConditionStatus::False &&
                       reserved->reason == api::reasons::on_hold;
  return workload.spec.active && !on_hold && !api::is_true(conditions, api::conditions::finished) &&
         !api::is_true(conditions, api::conditions::quota_reserved) &&
         !api::is_true(conditions, api::conditions::waiting_for_replacement_pods) &&
         workload.metadata.annotation(std::string(admission_gated_by)).empty();
}

Holding holding_of(const Reservation& reservation) {
  const auto& pod_sets = reservation.pod_sets;
  const bool has_places =
      std::any_of(pod_sets.begin(), pod_sets.end(), [](const PodSetReservation& pod_set) {
        return !pod_set.places.empty() || !pod_set.delayed_topology.empty();
      });
  return {reservation.queue, reservation.evicted, has_places, reservation.usage};
}

api::Admission to_api(const Reservation& reservation, const std::string& cluster_queue,
                      const Names& names, const Topologies& topologies) {
  api::Admission admission;
  admission.cluster_queue = cluster_queue;
  for (const PodSetReservation& pod_set : reservation.pod_sets) {
    api::PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
    assignment.name = pod_set.name;
    assignment.count = pod_set.count;
    for (const ResourceFlavorChoice& choice : pod_set.flavors) {
      assignment.flavors.emplace(names.resources.name(choice.resource),
                                 names.flavors.name(choice.flavor));
    }
    for (const ResourceAmount& used : pod_set.usage) {
      const std::string& resource = names.resources.name(used.resource);
      assignment.resource_usage.emplace(resource, api::resource_quantity(resource, used.amount));
    }
    if (!pod_set.places.empty()) {
      assignment.topology_assignment = topologies.to_api(pod_set.places.front());
    }
    assignment.delayed_topology_request = pod_set.delayed_topology;
  }
  return admission;
}

}  // namespace regatta::admission
