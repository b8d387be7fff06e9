#include "admission/fair_share.h"
#include "admission/state.h"
#include "lib/api/names.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace regatta::admission {
namespace {

std::int64_t rounded_share(double share) {
  if (!std::isfinite(share)) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::ceil(share));
}

}  // namespace

QueueInfo* State::queue_named(const std::string& name) {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? nullptr : queues_[it->second].get();
}

const QueueInfo* State::find_queue(const std::string& name) const {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? nullptr : queues_[it->second].get();
}

const FlavorInfo* State::flavor(FlavorId id) const {
  return id < flavor_of_id_.size() ? flavor_of_id_[id] : nullptr;
}

const api::StringMap* State::namespace_labels(const std::string& ns) const {
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? nullptr : &it->second;
}

bool State::is_explicit_cohort(NodeId node) const {
  const auto it = cohorts_.find(forest_.node(node).name);
  return it != cohorts_.end() && it->second.node == node && it->second.exists;
}

void State::touch(const QueueInfo& queue) {
  if (!std::exchange(queue.touched, true)) touched_queues_.push_back(queue.id);
}

void State::touch(LocalQueueId id) {
  if (!std::exchange(local_queues_[id].touched, true)) touched_local_queues_.push_back(id);
}

void State::name_touched() {
  for (const QueueId id : std::exchange(touched_queues_, {})) {
    queues_[id]->touched = false;
    changes_.cluster_queues.insert(queues_[id]->name);
  }
  for (const LocalQueueId id : std::exchange(touched_local_queues_, {})) {
    local_queues_[id].touched = false;
    changes_.local_queues.insert(local_queues_[id].key);
  }
}

Changes State::take_changes() {
  name_touched();
  return std::exchange(changes_, {});
}

void State::refresh_ready(QueueInfo* queue) {
  const bool ready = queue->active && queue->pending.waiting() > 0;
  if (queue->ready == ready) return;
  queue->ready = ready;
  ready ? ++ready_count_ : --ready_count_;
  if (ranks_stale_) return;
  ready ? ready_.insert(queue->rank) : ready_.erase(queue->rank);
}

/// After ClusterQueues came or went, when their order is asked for: loading many must not be
/// quadratic.
void State::rank_queues() {
  if (!std::exchange(ranks_stale_, false)) return;
  queues_by_rank_.clear();
  ready_.clear();
  for (const auto& [name, id] : queue_ids_) {
    QueueInfo& queue = *queues_[id];
    queue.rank = static_cast<std::uint32_t>(queues_by_rank_.size());
    queues_by_rank_.push_back(id);
    if (queue.ready) ready_.insert(queue.rank);
  }
}

void State::refresh_activity(QueueInfo* queue) {
  const bool active = !queue->deleting && problems(*queue).empty();
  if (active != queue->active) touch(*queue);
  queue->active = active;
  bool any = false;
  queue->topology_only = true;
  for (const QueueInfo::Group& group : queue->groups) {
    for (const FlavorId id : group.flavors) {
      const FlavorInfo* info = flavor(id);
      any = true;
      if (info == nullptr || info->spec.topology_name.empty()) queue->topology_only = false;
    }
  }
  queue->topology_only = queue->topology_only && any;
  refresh_ready(queue);
}

void State::refresh_all_activity() {
  for (const auto& [name, id] : queue_ids_) {
    QueueInfo& queue = *queues_[id];
    const bool was_active = queue.active;
    refresh_activity(&queue);
    if (queue.active && !was_active) reactivate_at(queue.node, TimePoint{});
    touch(queue);
  }
}

State::Problems State::check_problems(const QueueInfo& queue) const {
  std::vector<std::string> missing;
  std::vector<std::string> inactive;
  std::vector<std::string> multikueue;
  std::vector<std::string> per_flavor;
  std::vector<std::string> provisioning;
  std::set<std::string> flavors;
  for (const auto& group : queue.spec.resource_groups) {
    for (const auto& flavor : group.flavors) flavors.insert(flavor.name);
  }
  for (const api::AdmissionCheckRule& rule : queue.spec.admission_checks) {
    const auto it = checks_.find(rule.name);
    if (it == checks_.end()) {
      missing.push_back(rule.name);
      continue;
    }
    if (!it->second.active) inactive.push_back(rule.name);
    if (it->second.controller == api::provisioning_controller_name) {
      provisioning.push_back(rule.name);
    }
    if (it->second.controller != api::multikueue_controller_name) continue;
    multikueue.push_back(rule.name);
    const std::set<std::string> listed(rule.on_flavors.begin(), rule.on_flavors.end());
    if (!listed.empty() && listed != flavors) per_flavor.push_back(rule.name);
  }
  for (auto* names : {&missing, &inactive, &multikueue, &per_flavor, &provisioning}) {
    std::sort(names->begin(), names->end());
  }
  Problems problems;
  const auto add = [&](bool when, std::string_view reason, const std::string& text) {
    if (when) problems.emplace_back(reason, text);
  };
  namespace reasons = api::reasons;
  add(!missing.empty(), reasons::admission_check_not_found,
      "references missing AdmissionCheck(s): " + joined(missing, ","));
  add(!inactive.empty(), reasons::admission_check_inactive,
      "references inactive AdmissionCheck(s): " + joined(inactive, ","));
  add(multikueue.size() > 1, reasons::multiple_multikueue_checks,
      "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: " +
          joined(multikueue, ","));
  add(!per_flavor.empty(), reasons::multikueue_check_per_flavor,
      "Cannot specify MultiKueue AdmissionCheck per flavor, found: " + joined(per_flavor, ","));
  std::vector<std::string> both = multikueue;
  both.insert(both.end(), provisioning.begin(), provisioning.end());
  add(!multikueue.empty() && !provisioning.empty(), reasons::multikueue_with_provisioning,
      "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: " +
          joined(both, ", "));
  return problems;
}

State::Problems State::problems(const QueueInfo& queue) const {
  Problems problems;
  if (queue.spec.stop_policy != api::StopPolicy::None) {
    problems.emplace_back(api::reasons::stopped, "is stopped");
  }
  std::vector<std::string> missing;
  Problems topologies;
  for (const auto& group : queue.spec.resource_groups) {
    for (const auto& flavor : group.flavors) {
      const auto it = flavors_.find(flavor.name);
      if (it == flavors_.end()) {
        missing.push_back(flavor.name);
        continue;
      }
      const std::string& topology = it->second.spec.topology_name;
      if (topology.empty() || topologies_.has_topology(topology)) continue;
      if (uses_multikueue(queue)) continue;  // places are a matter of the workers
      topologies.emplace_back(
          api::reasons::topology_not_found,
          "there is no Topology \"" + topology + "\" for TAS flavor \"" + flavor.name + "\"");
    }
  }
  if (!missing.empty()) {
    problems.emplace_back(api::reasons::flavor_not_found,
                          "references missing ResourceFlavor(s): " + joined(missing, ","));
  }
  for (auto& problem : check_problems(queue)) problems.push_back(std::move(problem));
  for (auto& problem : topologies) problems.push_back(std::move(problem));
  return problems;
}

Activity State::activity(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return {};
  if (queue->deleting) {
    return {false, std::string(api::reasons::terminating),
            "Can't admit new workloads; clusterQueue is terminating"};
  }
  const Problems found = problems(*queue);
  if (found.empty()) return {true, std::string(api::reasons::ready), "Can admit new workloads"};
  std::vector<std::string> texts;
  for (const auto& problem : found) texts.push_back(problem.second);
  return {false, found.front().first, "Can't admit new workloads: " + joined(texts, ", ") + "."};
}

Activity State::local_queue_activity(const api::ObjectKey& key) const {
  const auto it = local_queue_ids_.find(key);
  if (it == local_queue_ids_.end() || !local_queues_[it->second].exists) return {};
  const api::LocalQueueSpec& spec = local_queues_[it->second].spec;
  if (spec.stop_policy != api::StopPolicy::None) {
    return {false, std::string(api::reasons::stopped), "LocalQueue is stopped"};
  }
  const QueueInfo* queue = find_queue(spec.cluster_queue);
  if (queue != nullptr && queue->active) {
    return {true, std::string(api::reasons::ready), "Can submit new workloads to localQueue"};
  }
  const auto reason = queue == nullptr ? api::reasons::cluster_queue_does_not_exist
                                       : api::reasons::cluster_queue_is_inactive;
  return {false, std::string(reason), "Can't submit new workloads to clusterQueue"};
}

std::vector<FrAmount> State::usage_of(std::span<const WorkloadId> ids, bool admitted_only) const {
  std::vector<FrAmount> usage;
  for (const WorkloadId id : ids) {
    const auto& reservation = workloads_[id].reservation;
    if (reservation == nullptr || (admitted_only && !reservation->admitted)) continue;
    for (const FrAmount& used : reservation->usage) add_amount(&usage, used.fr, used.amount);
  }
  return usage;
}

std::vector<api::FlavorUsage> State::usage_to_api(const QueueInfo& queue,
                                                  std::span<const FrAmount> usage,
                                                  bool borrowed) const {
  std::vector<api::FlavorUsage> flavors;
  for (const auto& group : queue.spec.resource_groups) {
    for (const auto& flavor : group.flavors) {
      api::FlavorUsage& entry = flavors.emplace_back();
      entry.name = flavor.name;
      for (const auto& quota : flavor.resources) {
        Amount total = 0;
        for (const FrAmount& used : usage) {
          if (names_.flavor_name(used.fr) == flavor.name &&
              names_.resource_name(used.fr) == quota.name) {
            total = used.amount;
          }
        }
        api::ResourceUsage& resource = entry.resources.emplace_back();
        resource.name = quota.name;
        resource.total = api::resource_quantity(quota.name, total);
        if (!borrowed) continue;
        const Amount nominal = api::resource_amount(quota.name, quota.nominal_quota);
        const Amount over =
            queue.spec.cohort_name.empty() ? 0 : std::max<Amount>(0, minus(total, nominal));
        resource.borrowed = api::resource_quantity(quota.name, over);
      }
    }
  }
  return flavors;
}

api::ClusterQueueStatus State::status(const std::string& cluster_queue) const {
  api::ClusterQueueStatus status;
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return status;
  status.flavors_reservation = usage_to_api(*queue, usage_of(queue->reserved, false), true);
  status.flavors_usage = usage_to_api(*queue, usage_of(queue->reserved, true), true);
  status.pending_workloads = static_cast<std::int32_t>(queue->pending.size());
  status.reserving_workloads = static_cast<std::int32_t>(queue->reserved.size());
  status.admitted_workloads = static_cast<std::int32_t>(queue->admitted);
  if (config_.fair_sharing) {
    status.fair_sharing.emplace().weighted_share = rounded_share(share_of_queue(cluster_queue));
  }
  return status;
}

api::LocalQueueStatus State::status(const api::ObjectKey& local_queue) const {
  api::LocalQueueStatus status;
  const auto it = local_queue_ids_.find(local_queue);
  if (it == local_queue_ids_.end()) return status;
  const LocalQueueInfo& info = local_queues_[it->second];
  status.pending_workloads = static_cast<std::int32_t>(info.pending);
  status.reserving_workloads = static_cast<std::int32_t>(info.reserving);
  status.admitted_workloads = static_cast<std::int32_t>(info.admitted);
  const QueueInfo* queue = find_queue(info.spec.cluster_queue);
  if (queue == nullptr) return status;
  if (orders_by_usage(info) && info.history.sampled) {
    auto& sharing = status.fair_sharing.emplace().admission_fair_sharing_status.emplace();
    for (const auto& [resource, value] : info.history.sampled->consumed) {
      sharing.consumed_resources[resource] = to_quantity(value);
    }
    sharing.last_update = info.history.sampled->at;
  }
  std::vector<WorkloadId> mine;
  for (const WorkloadId id : queue->reserved) {
    if (workloads_[id].local_queue == it->second) mine.push_back(id);
  }
  status.flavors_reservation = usage_to_api(*queue, usage_of(mine, false), false);
  status.flavors_usage = usage_to_api(*queue, usage_of(mine, true), false);
  return status;
}

std::vector<std::string> State::cohorts_above(const std::string& cluster_queue) const {
  std::vector<std::string> names;
  const QueueInfo* queue = find_queue(cluster_queue);
  if (queue == nullptr) return names;
  for (const NodeId up : forest().ancestors(queue->node)) names.push_back(forest().node(up).name);
  return names;
}

std::pair<std::size_t, std::size_t> State::pending_of(const api::ObjectKey& local_queue) const {
  std::pair<std::size_t, std::size_t> counts;
  const auto it = local_queue_ids_.find(local_queue);
  if (it == local_queue_ids_.end()) return counts;
  const LocalQueueInfo& info = local_queues_[it->second];
  for (const WorkloadId id : info.members) {
    if (is_waiting(workloads_[id])) ++counts.first;
  }
  counts.second = info.pending > counts.first ? info.pending - counts.first : 0;
  return counts;
}

double State::share_of_queue(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  return queue == nullptr ? 0 : share_of(forest(), names_, queue->node).value();
}

double State::share_of_cohort(const std::string& cohort) const {
  const auto it = cohorts_.find(cohort);
  return it == cohorts_.end() ? 0 : share_of(forest(), names_, it->second.node).value();
}

api::CohortStatus State::cohort_status(const std::string& cohort) const {
  api::CohortStatus status;
  if (config_.fair_sharing) {
    status.fair_sharing.emplace().weighted_share = rounded_share(share_of_cohort(cohort));
  }
  return status;
}

bool State::flavor_in_use(const std::string& flavor) const {
  const auto names_it = [&](const std::vector<api::ResourceGroup>& groups) {
    for (const auto& group : groups) {
      for (const auto& quotas : group.flavors) {
        if (quotas.name == flavor) return true;
      }
    }
    return false;
  };
  return std::any_of(queue_ids_.begin(), queue_ids_.end(), [&](const auto& entry) {
    return names_it(queues_[entry.second]->spec.resource_groups);
  });
}

bool State::check_in_use(const std::string& check) const {
  return std::any_of(queue_ids_.begin(), queue_ids_.end(), [&](const auto& entry) {
    const auto& rules = queues_[entry.second]->spec.admission_checks;
    return std::any_of(rules.begin(), rules.end(),
                       [&](const auto& rule) { return rule.name == check; });
  });
}

bool State::has_reservations(const std::string& cluster_queue) const {
  const QueueInfo* queue = find_queue(cluster_queue);
  return queue != nullptr && !queue->reserved.empty();
}

std::vector<std::string> State::required_checks(const api::ClusterQueueSpec& spec,
                                                const std::set<std::string>* assigned) {
  std::set<std::string> all;
  for (const auto& group : spec.resource_groups) {
    for (const auto& flavor : group.flavors) all.insert(flavor.name);
  }
  std::vector<std::string> checks;
  for (const api::AdmissionCheckRule& rule : spec.admission_checks) {
    const std::set<std::string> on(rule.on_flavors.begin(), rule.on_flavors.end());
    const auto listed = [&](const std::string& flavor) { return on.contains(flavor); };
    const bool wanted =
        on.empty() ||
        (assigned == nullptr ? std::all_of(all.begin(), all.end(), listed)
                             : std::any_of(assigned->begin(), assigned->end(), listed));
    if (wanted) checks.push_back(rule.name);
  }
  std::sort(checks.begin(), checks.end());
  return checks;
}

std::vector<std::string> State::required_checks(const api::Workload& workload) const {
  const bool reserved = api::is_true(workload.status.conditions, api::conditions::quota_reserved) &&
                        workload.status.admission.has_value();
  const QueueInfo* queue =
      find_queue(reserved ? workload.status.admission->cluster_queue : cluster_queue_of(workload));
  if (queue == nullptr) return {};
  if (!reserved) return required_checks(queue->spec, nullptr);
  std::set<std::string> flavors;
  for (const auto& pod_set : workload.status.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : pod_set.flavors) flavors.insert(flavor);
  }
  return required_checks(queue->spec, &flavors);
}

std::string State::cluster_queue_of(const api::Workload& workload) const {
  const auto it =
      local_queue_ids_.find(api::ObjectKey(workload.metadata.ns, workload.spec.queue_name));
  if (it == local_queue_ids_.end() || !local_queues_[it->second].exists) return {};
  return local_queues_[it->second].spec.cluster_queue;
}

std::vector<std::string> State::cluster_queues() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : queue_ids_) names.push_back(name);
  return names;
}

std::vector<api::ObjectKey> State::local_queues_of(const std::string& cluster_queue) const {
  std::vector<api::ObjectKey> keys;
  for (const auto& [key, id] : local_queue_ids_) {
    const LocalQueueInfo& queue = local_queues_[id];
    if (queue.exists && queue.spec.cluster_queue == cluster_queue) keys.push_back(key);
  }
  return keys;
}

}  // namespace regatta::admission
