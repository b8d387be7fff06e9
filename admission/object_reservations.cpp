/// The part of ObjectBook that reads the reservation of a Workload.

#include "admission/objects.h"
#include "lib/api/names.h"
#include "lib/api/placed.h"
#include "lib/api/reclaimable.h"

#include <algorithm>
#include <set>

namespace regatta::admission {
namespace {

/// The usage of the pod sets together, by (flavor, resource).
std::vector<FrAmount> usage_of(const std::vector<PodSetReservation>& pod_sets, Names* names) {
  std::vector<FrAmount> usage;
  for (const PodSetReservation& pod_set : pod_sets) {
    for (const ResourceFlavorChoice& choice : pod_set.flavors) {
      for (const ResourceAmount& used : pod_set.usage) {
        if (used.resource != choice.resource) continue;
        add_amount(&usage, names->pair(choice.flavor, choice.resource), used.amount);
      }
    }
  }
  return usage;
}

/// When an elastic job shrinks, its reclaimable pods are counted anew a moment later, and are fewer
/// then, unless there are none. Until then they are of its former size; and so they may be when
/// both are seen at once, or when nothing of it was seen before. `admitted` is the size that was
/// admitted.
Reclaimed reclaimed_of(const api::Workload& workload, const api::PodSet& pod_set,
                       std::int32_t admitted, const Reclaimed& former) {
  const std::int32_t pods = api::reclaimable_count(workload.status.reclaimable_pods, pod_set.name);
  const std::int32_t size = pod_set.count;
  if (former.of == 0) return {pods, std::max(admitted, size), size};
  const bool anew = pods != former.pods && size >= former.size;
  return {pods, anew ? size : std::max(former.of, size), size};
}

}  // namespace

void ObjectBook::read_places(const api::PodSetAssignment& assignment, const PodProfilePtr& pods,
                             PodSetReservation* pod_set) {
  pod_set->delayed_topology = assignment.delayed_topology_request;
  if (!assignment.topology_assignment || pods == nullptr) return;
  std::set<std::string> flavors;
  for (const auto& [resource, flavor] : assignment.flavors) flavors.insert(flavor);
  const auto& levels = assignment.topology_assignment->levels;
  const bool by_hostname = api::lowest_is_hostname(levels);
  std::vector<FlavorId> in_order;
  for (const std::string& name : flavors) {
    const FlavorId id = names_.flavors.intern(name);
    const FlavorInfo* info = flavor(id);
    const bool known = info != nullptr && !info->spec.topology_name.empty();
    in_order.insert(known ? in_order.begin() : in_order.end(), id);
  }
  for (const FlavorId id : in_order) {
    auto places = topologies_.from_api(*assignment.topology_assignment, id, pods);
    if (places) pod_set->places.push_back(std::move(*places));
    if (by_hostname) break;  // hosts are the same in all flavors
  }
}

std::unique_ptr<Reservation> ObjectBook::read_reservation(const api::Workload& workload,
                                                          const Shape& shape,
                                                          const std::vector<Reclaimed>& former) {
  const api::Admission& admission = *workload.status.admission;
  auto reservation = std::make_unique<Reservation>();
  const auto* reserved =
      api::find_condition(workload.status.conditions, api::conditions::quota_reserved);
  reservation->reserved_at = reserved->last_transition_time;
  reservation->admitted = api::is_true(workload.status.conditions, api::conditions::admitted);
  reservation->evicted = api::is_true(workload.status.conditions, api::conditions::evicted);
  reservation->pods_ready = api::is_true(workload.status.conditions, api::conditions::pods_ready);
  for (const api::PodSetAssignment& assignment : admission.pod_set_assignments) {
    const std::size_t at = reservation->pod_sets.size();
    PodSetReservation& pod_set = reservation->pod_sets.emplace_back();
    pod_set.name = assignment.name;
    pod_set.count = assignment.count.value_or(1);
    std::int32_t held = pod_set.count;
    for (std::size_t i = 0; i < workload.spec.pod_sets.size(); ++i) {
      const api::PodSet& wanted = workload.spec.pod_sets[i];
      if (wanted.name != pod_set.name) continue;
      if (!assignment.count) pod_set.count = held = wanted.count;
      read_places(assignment, shape.pod_sets[i].pods, &pod_set);
      pod_set.reclaimed = reclaimed_of(workload, wanted, pod_set.count,
                                       former.size() > at ? former[at] : Reclaimed());
      held = std::min(pod_set.remaining(), wanted.count);
    }
    for (const auto& [resource, quantity] : assignment.resource_usage) {
      Amount amount = api::resource_amount(resource, quantity);
      if (held != pod_set.count && pod_set.count > 0) {
        amount = times(amount / pod_set.count, held);
      }
      const ResourceId id = names_.resources.intern(resource);
      pod_set.usage.push_back({id, amount});
      const auto flavor = assignment.flavors.find(resource);
      if (flavor == assignment.flavors.end()) continue;
      pod_set.flavors.push_back({id, names_.flavors.intern(flavor->second)});
    }
  }
  reservation->usage = usage_of(reservation->pod_sets, &names_);
  return reservation;
}

}  // namespace regatta::admission
