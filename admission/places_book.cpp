#include "admission/places_book.h"

#include "admission/status_reader.h"
#include "lib/api/names.h"

#include <algorithm>
#include <utility>

namespace regatta::admission {
namespace {

constexpr std::chrono::seconds retry_first{1};
constexpr std::chrono::seconds retry_longest{30};

/// Whether one Pod owns the workload, which ends with that Pod.
bool bound_to_pod(const api::Workload& workload) {
  const auto& owners = workload.metadata.owner_references;
  return owners.size() == 1 && owners.front().kind == "Pod" && owners.front().api_version == "v1" &&
         workload.metadata.annotation(std::string(api::annotations::is_group_workload)) != "true";
}

/// Whether the ClusterQueue asks for none of the checks that the workload once waited for.
bool needs_no_checks(const api::Workload& workload, const api::ClusterQueueSpec& queue) {
  std::set<std::string> assigned;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : assignment.flavors) assigned.insert(flavor);
  }
  return required_checks(queue, &assigned).empty();
}

bool waits_for_places(const api::Workload& workload, const api::ClusterQueueSpec& queue) {
  const auto& checks = workload.status.admission_checks;
  const auto ready = [](const auto& check) { return check.state == api::CheckState::Ready; };
  if (!std::all_of(checks.begin(), checks.end(), ready)) return false;
  if (checks.empty() && !needs_no_checks(workload, queue)) return false;
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

void PlacesBook::read(WorkloadId id, const api::Workload& workload, TimePoint now) {
  if (decision(id) != nullptr) return drop(id);
  const WorkloadEntry& entry = workloads_[id];
  const bool admitted = api::is_true(workload.status.conditions, api::conditions::admitted);
  const bool held = entry.reservation != nullptr && entry.reservation->queue != no_id &&
                    !entry.reservation->evicted;
  std::set<std::string> lost;
  if (held && admitted) lost = lost_hosts(workload);
  bool delayed = false;
  if (held && !admitted) {
    const api::ClusterQueueSpec& queue = queues_.queue(entry.reservation->queue).spec;
    delayed = waits_for_places(workload, queue) && !objects_.uses_multikueue(queue);
  }
  if (lost.empty() && !delayed) return drop(id);
  const auto [it, added] = tasks_.try_emplace(id);
  PlacesTask& task = it->second;
  task.lost = std::move(lost);
  task.bound_to_pod = bound_to_pod(workload);
  task.pods = objects_.pods_after_checks(workload, *entry.shape);
  if (added) task.due = now + retry_first;
}

void PlacesBook::drop(WorkloadId id) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;
  if (it->second.ready) --ready_count_;
  tasks_.erase(it);
}

std::uint64_t PlacesBook::decide(WorkloadId id, std::vector<PodSetPlaces> places) {
  drop(id);
  decisions_[id] = {++last_decision_, std::move(places)};
  return last_decision_;
}

const PlacesDecision* PlacesBook::decision(WorkloadId id) const {
  const auto it = decisions_.find(id);
  return it == decisions_.end() ? nullptr : &it->second;
}

bool PlacesBook::give_up(WorkloadId id, std::uint64_t decision) {
  const auto it = decisions_.find(id);
  if (it == decisions_.end() || it->second.number != decision) return false;
  it->second.places.clear();
  return true;
}

void PlacesBook::settle(WorkloadId id, std::uint64_t decision) {
  const auto it = decisions_.find(id);
  if (it != decisions_.end() && it->second.number == decision) decisions_.erase(it);
}

void PlacesBook::forget(WorkloadId id) {
  drop(id);
  decisions_.erase(id);
}

void PlacesBook::retry(WorkloadId id, TimePoint now) {
  PlacesTask& task = tasks_.at(id);
  task.tries = std::min(task.tries + 1, 10);
  task.due = now + std::min(retry_first * (1 << task.tries), retry_longest);
}

void PlacesBook::flush(TimePoint now) {
  for (auto& [id, task] : tasks_) {
    if (task.ready || task.due > now) continue;
    task.ready = true;
    ++ready_count_;
  }
}

std::optional<TimePoint> PlacesBook::next() const {
  std::optional<TimePoint> next;
  for (const auto& [id, task] : tasks_) {
    if (!task.ready && (!next || task.due < *next)) next = task.due;
  }
  return next;
}

std::vector<WorkloadId> PlacesBook::pop() {
  std::vector<WorkloadId> ids;
  if (ready_count_ == 0) return ids;
  for (auto& [id, task] : tasks_) {
    if (std::exchange(task.ready, false)) ids.push_back(id);
  }
  ready_count_ = 0;
  std::sort(ids.begin(), ids.end(), [&](WorkloadId a, WorkloadId b) {
    const WorkloadEntry& left = workloads_[a];
    const WorkloadEntry& right = workloads_[b];
    if (left.priority != right.priority) return left.priority > right.priority;
    return std::tie(left.order_time, left.key) < std::tie(right.order_time, right.key);
  });
  return ids;
}

}  // namespace regatta::admission
