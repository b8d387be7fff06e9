/// The part of StatusReader that answers questions about one queue or workload.

#include "admission/fair_share.h"
#include "admission/status_reader.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {

std::vector<std::string> StatusReader::cluster_queues() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : books_->queues.by_name()) names.push_back(name);
  return names;
}

std::vector<api::ObjectKey> StatusReader::local_queues_of(const std::string& cluster_queue) const {
  std::vector<api::ObjectKey> keys;
  for (const auto& [key, id] : books_->queues.locals_by_key()) {
    const LocalQueueInfo& queue = books_->queues.local(id);
    if (queue.exists && queue.spec.cluster_queue == cluster_queue) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> StatusReader::cohorts_above(const std::string& cluster_queue) const {
  std::vector<std::string> names;
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return names;
  for (const NodeId up : forest().ancestors(queue->node)) names.push_back(forest().node(up).name);
  return names;
}

std::vector<StatusReader::CohortSeen> StatusReader::cohorts() const {
  std::vector<CohortSeen> seen;
  for (const auto& [name, cohort] : books_->queues.cohorts()) {
    if (!cohort.deleted) seen.push_back({name, cohort.node, cohort.exists});
  }
  return seen;
}

bool StatusReader::shows_cohort(const std::string& name) const {
  const auto& all = books_->queues.cohorts();
  const auto found = all.find(name);
  return found != all.end() && !found->second.deleted;
}

double StatusReader::share_of_queue(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  return queue == nullptr ? 0 : share_of(forest(), names(), queue->node).value();
}

double StatusReader::share_of_cohort(const std::string& cohort) const {
  const NodeId node = books_->queues.cohort(cohort);
  return node == no_node ? 0 : share_of(forest(), names(), node).value();
}

std::optional<double> StatusReader::usage_of(const api::ObjectKey& local_queue) const {
  const LocalQueueInfo* queue = find_local(local_queue);
  if (queue == nullptr || !queue->exists) return {};
  if (!books_->history.orders_by_usage(*queue)) return {};
  return queue->history.usage;
}

std::pair<std::size_t, std::size_t> StatusReader::pending_of(
    const api::ObjectKey& local_queue) const {
  std::pair<std::size_t, std::size_t> counts;
  const LocalQueueInfo* info = find_local(local_queue);
  if (info == nullptr) return counts;
  for (const WorkloadId id : info->members) {
    if (is_waiting(workloads()[id])) ++counts.first;
  }
  counts.second = info->pending > counts.first ? info->pending - counts.first : 0;
  return counts;
}

std::vector<WorkloadId> StatusReader::pending_ids(const QueueInfo& queue) const {
  std::vector<WorkloadId> ids = queue.pending.all();
  const WorkloadId head = queue.pending.in_cycle();
  if (head == no_id) return ids;
  const LocalQueueId local = workloads()[head].local_queue;
  if (local != no_id && books_->queues.local(local).queue == queue.id) ids.push_back(head);
  return ids;
}

const LocalQueueInfo* StatusReader::find_local_queue(const api::ObjectKey& key) const {
  const LocalQueueInfo* found = find_local(key);
  return found != nullptr && found->exists ? found : nullptr;
}

bool StatusReader::flavor_in_use(const std::string& flavor) const {
  const auto names_it = [&](const std::vector<api::ResourceGroup>& groups) {
    for (const auto& group : groups) {
      for (const auto& quotas : group.flavors) {
        if (quotas.name == flavor) return true;
      }
    }
    return false;
  };
  return std::any_of(books_->queues.by_name().begin(), books_->queues.by_name().end(),
                     [&](const auto& entry) {
                       return names_it(books_->queues.queue(entry.second).spec.resource_groups);
                     });
}

bool StatusReader::check_in_use(const std::string& check) const {
  return std::any_of(books_->queues.by_name().begin(), books_->queues.by_name().end(),
                     [&](const auto& entry) {
                       const auto& rules = books_->queues.queue(entry.second).spec.admission_checks;
                       return std::any_of(rules.begin(), rules.end(),
                                          [&](const auto& rule) { return rule.name == check; });
                     });
}

bool StatusReader::has_reservations(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  return queue != nullptr && !queue->reserved.empty();
}

std::vector<std::string> StatusReader::required_checks(const api::Workload& workload) const {
  const bool reserved = api::is_true(workload.status.conditions, api::conditions::quota_reserved) &&
                        workload.status.admission.has_value();
  const QueueInfo* queue =
      find_queue(reserved ? workload.status.admission->cluster_queue : cluster_queue_of(workload));
  if (queue == nullptr) return {};
  if (!reserved) return admission::required_checks(queue->spec, nullptr);
  std::set<std::string> flavors;
  for (const auto& pod_set : workload.status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : pod_set.flavors) flavors.insert(flavor);
  }
  return admission::required_checks(queue->spec, &flavors);
}

std::string StatusReader::cluster_queue_of(const api::Workload& workload) const {
  const LocalQueueInfo* local = find_local({workload.metadata.ns, workload.spec.queue_name});
  return local == nullptr || !local->exists ? std::string() : local->spec.cluster_queue;
}

std::vector<api::PodSetRequest> StatusReader::resource_requests(
    const api::ObjectKey& workload) const {
  std::vector<api::PodSetRequest> out;
  const WorkloadId id = workloads().find(workload);
  if (id == no_id || workloads()[id].shape == nullptr) return out;
  for (const PodSetShape& pod_set : workloads()[id].shape->pod_sets) {
    api::PodSetRequest& request = out.emplace_back();
    request.name = pod_set.name;
    for (const ResourceAmount& wanted : pod_set.requests) {
      const std::string& resource = names().resources.name(wanted.resource);
      request.resources.emplace(resource, api::resource_quantity(resource, wanted.amount));
    }
  }
  return out;
}

std::string StatusReader::bypassed(const api::ObjectKey& key) const {
  const WorkloadId id = workloads().find(key);
  if (id == no_id || !is_parked(workloads()[id])) return {};
  const WorkloadEntry& entry = workloads()[id];
  const QueueId queue = books_->queues.local(entry.local_queue).queue;
  if (queue == no_id) return {};
  const PendingQueue& pending = this->queue(queue).pending;
  const api::ObjectKey* first = pending.parked_by(entry);
  // The workload whose turn parked the others knows why, unless it has left the queue meanwhile.
  if (first == nullptr || (*first == key && !entry.parked_unseen)) return {};
  return std::string(pending.parked_for(entry));
}

}  // namespace regatta::admission
