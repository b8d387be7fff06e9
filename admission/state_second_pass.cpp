#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr std::chrono::seconds retry_first{1};
constexpr std::chrono::seconds retry_longest{30};

/// Owned by one Pod, without which it ends.
bool bound_to_pod(const api::Workload& workload) {
  const auto& owners = workload.metadata.owner_references;
  return owners.size() == 1 && owners.front().kind == "Pod" && owners.front().api_version == "v1" &&
         workload.metadata.annotation(std::string(api::annotations::is_group_workload)) != "true";
}

bool waits_for_places(const api::Workload& workload) {
  const auto& checks = workload.status.admission_checks;
  const auto ready = [](const auto& check) { return check.state == api::CheckState::Ready; };
  if (checks.empty() || !std::all_of(checks.begin(), checks.end(), ready)) return false;
  const auto& given = workload.status.admission->pod_set_assignments;
  return std::any_of(given.begin(), given.end(), [](const api::PodSetAssignment& assignment) {
    return !assignment.topology_assignment && assignment.delayed_topology_request == "Pending";
  });
}

std::set<std::string> lost_hosts(const api::Workload& workload) {
  std::set<std::string> lost;
  for (const std::string& node : workload.status.unhealthy_nodes) {
    for (const auto& assignment : workload.status.admission->pod_set_assignments) {
      const auto& places = assignment.topology_assignment;
      if (places && pods_on_node(*places, node) > 0) lost.insert(node);
    }
  }
  return lost;
}

}  // namespace

/// Pods as they will be created: with what admission checks add to them.
std::vector<PodProfilePtr> State::pods_after_checks(const api::Workload& workload,
                                                    const Shape& shape) {
  std::vector<PodProfilePtr> out;
  for (const PodSetShape& pod_set : shape.pod_sets) {
    PodProfilePtr pods = pod_set.pods;
    for (const auto& check : workload.status.admission_checks) {
      if (check.state != api::CheckState::Ready) continue;
      for (const api::PodSetUpdate& update : check.pod_set_updates) {
        if (update.name != pod_set.name) continue;
        pods = shapes_.profiles().intern(*pods, update.tolerations, update.node_selector);
      }
    }
    out.push_back(std::move(pods));
  }
  return out;
}

void State::read_places_task(WorkloadId id, const api::Workload& workload, TimePoint now) {
  const WorkloadEntry& entry = workloads_[id];
  const bool admitted = api::is_true(workload.status.conditions, api::conditions::admitted);
  const bool held = entry.reservation != nullptr && entry.reservation->queue != no_id &&
                    !entry.reservation->evicted;
  std::set<std::string> lost;
  if (held && admitted) lost = lost_hosts(workload);
  const bool delayed = held && !admitted && waits_for_places(workload) &&
                       !uses_multikueue(*queues_[entry.reservation->queue]);
  if (lost.empty() && !delayed) return drop_places_task(id);
  const auto [it, added] = places_tasks_.try_emplace(id);
  PlacesTask& task = it->second;
  task.lost = std::move(lost);
  task.bound_to_pod = bound_to_pod(workload);
  task.pods = pods_after_checks(workload, *entry.shape);
  if (added) task.due = now + retry_first;
}

void State::drop_places_task(WorkloadId id) {
  const auto it = places_tasks_.find(id);
  if (it == places_tasks_.end()) return;
  if (it->second.ready) --places_ready_;
  places_tasks_.erase(it);
}

void State::retry_places(WorkloadId id, TimePoint now) {
  PlacesTask& task = places_tasks_.at(id);
  task.tries = std::min(task.tries + 1, 10);
  task.due = now + std::min(retry_first * (1 << task.tries), retry_longest);
}

void State::flush_places(TimePoint now) {
  for (auto& [id, task] : places_tasks_) {
    if (task.ready || task.due > now) continue;
    task.ready = true;
    ++places_ready_;
  }
}

std::vector<WorkloadId> State::pop_second_passes() {
  std::vector<WorkloadId> ids;
  if (places_ready_ == 0) return ids;
  for (auto& [id, task] : places_tasks_) {
    if (std::exchange(task.ready, false)) ids.push_back(id);
  }
  places_ready_ = 0;
  std::sort(ids.begin(), ids.end(), [&](WorkloadId a, WorkloadId b) {
    const WorkloadEntry& left = workloads_[a];
    const WorkloadEntry& right = workloads_[b];
    if (left.priority != right.priority) return left.priority > right.priority;
    return std::tie(left.order_time, left.key) < std::tie(right.order_time, right.key);
  });
  return ids;
}

void State::move_pods(WorkloadId id, std::vector<PodSetPlaces> places) {
  Reservation& held = *workloads_[id].reservation;
  count_places(held, false);
  for (PodSetPlaces& one : places) {
    PodSetReservation& pod_set = held.pod_sets[one.pod_set];
    if (!pod_set.delayed_topology.empty()) pod_set.delayed_topology = "Ready";
    pod_set.places = {std::move(one.places)};
  }
  count_places(held, true);
  drop_places_task(id);
}

}  // namespace regatta::admission
