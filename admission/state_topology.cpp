#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// Pods come and go all the time: room they leave is looked at that often.
constexpr std::chrono::seconds pod_batch{10};

}  // namespace

void State::upsert(const api::Topology& topology) {
  const bool known = topologies_.has_topology(topology.metadata.name);
  if (!topologies_.set_topology(topology.metadata.name, topology.spec.levels)) return;
  if (known) {
    reactivate_all(TimePoint{});
  } else {
    refresh_all_activity();
  }
}

void State::erase_topology(const std::string& name) {
  if (topologies_.erase_topology(name)) refresh_all_activity();
}

void State::upsert(const api::Node& node, TimePoint now) {
  if (topologies_.upsert(node)) reactivate_all(now + config_.reactivation_delay);
}

void State::erase_node(const std::string& name, TimePoint now) {
  if (topologies_.erase_node(name)) reactivate_all(now + config_.reactivation_delay);
}

void State::upsert(const api::Pod& pod, TimePoint now) {
  reactivate_users(topologies_.upsert(pod), now + pod_batch);
}

void State::erase_pod(const api::ObjectKey& key, TimePoint now) {
  reactivate_users(topologies_.erase_pod(key), now + pod_batch);
}

void State::reactivate_at(NodeId node, TimePoint when) {
  const auto [it, added] = reactivations_.try_emplace(node, when);
  if (!added) it->second = std::min(it->second, when);
}

void State::reactivate_all(TimePoint when) {
  for (const auto& [name, id] : queue_ids_) {
    if (queues_[id]->active) reactivate_at(queues_[id]->node, when);
  }
}

void State::reactivate_users(const std::vector<FlavorId>& flavors, TimePoint when) {
  if (flavors.empty()) return;
  for (const auto& [name, id] : queue_ids_) {
    for (const QueueInfo::Group& group : queues_[id]->groups) {
      const auto& used = group.flavors;
      const bool uses = std::any_of(used.begin(), used.end(), [&](FlavorId flavor) {
        return std::find(flavors.begin(), flavors.end(), flavor) != flavors.end();
      });
      if (uses) reactivate_at(queues_[id]->node, when);
    }
  }
}

bool State::uses_multikueue(const QueueInfo& queue) const {
  const auto& rules = queue.spec.admission_checks;
  return std::any_of(rules.begin(), rules.end(), [&](const api::AdmissionCheckRule& rule) {
    const auto check = checks_.find(rule.name);
    return check != checks_.end() && check->second.controller == api::multikueue_controller_name;
  });
}

bool State::delays_topology(const QueueInfo& queue, FlavorId flavor, bool reserved) const {
  if (queue.spec.admission_checks.empty()) return false;
  if (uses_multikueue(queue)) return true;
  if (reserved) return false;
  const std::string& name = names_.flavors.name(flavor);
  const auto& rules = queue.spec.admission_checks;
  return std::any_of(rules.begin(), rules.end(), [&](const api::AdmissionCheckRule& rule) {
    const auto check = checks_.find(rule.name);
    if (check == checks_.end() || check->second.controller != api::provisioning_controller_name) {
      return false;
    }
    const auto& listed = rule.on_flavors;
    return listed.empty() || std::find(listed.begin(), listed.end(), name) != listed.end();
  });
}

void State::count_places(const Reservation& reservation, bool add) {
  for (const PodSetReservation& pod_set : reservation.pod_sets) {
    for (const PodPlaces& places : pod_set.places) {
      add ? topologies_.add(places) : topologies_.remove(places);
    }
  }
}

void State::read_places(const api::PodSetAssignment& assignment, const PodProfilePtr& pods,
                        PodSetReservation* pod_set) {
  pod_set->delayed_topology = assignment.delayed_topology_request;
  if (!assignment.topology_assignment || pods == nullptr) return;
  std::set<std::string> flavors;
  for (const auto& [resource, flavor] : assignment.flavors) flavors.insert(flavor);
  const auto& levels = assignment.topology_assignment->levels;
  const bool by_hostname = !levels.empty() && levels.back() == api::labels::hostname;
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

}  // namespace regatta::admission
