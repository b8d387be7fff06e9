#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

Amount quota_amount(const std::string& resource, const api::Quantity& quantity) {
  return api::resource_amount(resource, quantity);
}

double weight_of(const std::optional<api::FairSharing>& sharing) {
  if (!sharing) return 1;
  // Rounded once: shares that tie must tie to the last bit.
  return static_cast<double>(static_cast<long double>(to_billionths(sharing->weight)) / 1e9L);
}

/// What of a ClusterQueue, when it changes, may let parked workloads in.
bool same_for_admission(const api::ClusterQueueSpec& a, const api::ClusterQueueSpec& b) {
  return a == b;
}

}  // namespace

State::State(Config config)
    : config_(std::move(config)), topologies_(names_, config_.exact_hosts_within_cycle) {}

const QueueInfo::Group* QueueInfo::group_of(ResourceId resource) const {
  for (const Group& group : groups) {
    const auto& covered = group.resources;
    if (std::find(covered.begin(), covered.end(), resource) != covered.end()) return &group;
  }
  return nullptr;
}

void State::upsert(const api::Namespace& ns) {
  const auto [it, added] = namespaces_.try_emplace(ns.metadata.name);
  if (!added && it->second == ns.metadata.labels) return;
  it->second = ns.metadata.labels;
  // Newly matching labels may let parked workloads pass.
  for (const auto& [name, id] : queue_ids_) {
    QueueInfo& queue = *queues_[id];
    if (queue.namespaces && queue.namespaces->matches(ns.metadata.labels)) {
      reactivate_at(queue.node, TimePoint{});
    }
  }
}

void State::erase_namespace(const std::string& name) {
  namespaces_.erase(name);
}

void State::upsert(const api::ResourceFlavor& flavor) {
  FlavorInfo& info = flavors_[flavor.metadata.name];
  info.id = names_.flavors.intern(flavor.metadata.name);
  if (info.id >= flavor_of_id_.size()) flavor_of_id_.resize(info.id + 1, nullptr);
  flavor_of_id_[info.id] = &info;
  const bool changed = info.spec != flavor.spec;
  info.spec = flavor.spec;
  topologies_.set_flavor(info.id, flavor.spec);
  refresh_all_activity();
  if (!changed) return;
  for (const auto& [name, id] : queue_ids_) {
    for (const auto& group : queues_[id]->groups) {
      const auto& used = group.flavors;
      if (std::find(used.begin(), used.end(), info.id) == used.end()) continue;
      reactivate_at(queues_[id]->node, TimePoint{});
    }
  }
}

void State::erase_flavor(const std::string& name) {
  const auto it = flavors_.find(name);
  if (it == flavors_.end()) return;
  flavor_of_id_[it->second.id] = nullptr;
  topologies_.erase_flavor(it->second.id);
  flavors_.erase(it);
  refresh_all_activity();
}

void State::upsert(const api::AdmissionCheck& check) {
  CheckInfo& info = checks_[check.metadata.name];
  info.active = api::is_true(check.status.conditions, api::conditions::active);
  info.controller = check.spec.controller_name;
  refresh_all_activity();
}

void State::erase_check(const std::string& name) {
  if (checks_.erase(name) > 0) refresh_all_activity();
}

NodeId State::cohort_node(const std::string& name) {
  CohortInfo& cohort = cohorts_[name];
  if (cohort.node == no_node) {
    cohort.node = forest_.add_node(name, false);
    forest_.set_weight(cohort.node, 0);  // only matters once it is a Cohort object
    node_queue_.resize(std::max<std::size_t>(node_queue_.size(), cohort.node + 1), no_id);
    node_queue_[cohort.node] = no_id;
  }
  return cohort.node;
}

/// A Cohort nobody declares and nobody belongs to any more does not exist.
void State::drop_unused_cohort(const std::string& name) {
  const auto it = cohorts_.find(name);
  if (it == cohorts_.end() || it->second.exists) return;
  const QuotaNode& node = forest_.node(it->second.node);
  if (!node.child_cohorts.empty() || !node.child_queues.empty()) return;
  reactivations_.erase(it->second.node);
  forest_.remove_node(it->second.node);
  cohorts_.erase(it);
}

std::vector<Quota> State::quotas_of(const std::vector<api::ResourceGroup>& groups) {
  std::vector<Quota> quotas;
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      const FlavorId flavor_id = names_.flavors.intern(flavor.name);
      for (const api::ResourceQuota& resource : flavor.resources) {
        Quota& quota = quotas.emplace_back();
        quota.fr = names_.pair(flavor_id, names_.resources.intern(resource.name));
        quota.nominal = quota_amount(resource.name, resource.nominal_quota);
        if (resource.borrowing_limit) {
          quota.borrowing_limit = quota_amount(resource.name, *resource.borrowing_limit);
        }
        if (resource.lending_limit) {
          quota.lending_limit = quota_amount(resource.name, *resource.lending_limit);
        }
      }
    }
  }
  std::sort(quotas.begin(), quotas.end(),
            [](const Quota& a, const Quota& b) { return a.fr < b.fr; });
  return quotas;
}

void State::upsert(const api::Cohort& cohort, TimePoint now) {
  const NodeId node = cohort_node(cohort.metadata.name);
  CohortInfo& info = cohorts_[cohort.metadata.name];
  if (info.exists && info.spec == cohort.spec) return;
  const std::string old_parent = info.spec.parent_name;
  info.exists = true;
  info.spec = cohort.spec;
  forest_.set_quotas(node, quotas_of(cohort.spec.resource_groups));
  forest_.set_weight(node, weight_of(cohort.spec.fair_sharing));
  const std::string& parent = cohort.spec.parent_name;
  forest_.set_parent(node, parent.empty() ? no_node : cohort_node(parent));
  if (!old_parent.empty() && old_parent != parent) drop_unused_cohort(old_parent);
  changes_.cohorts.insert(cohort.metadata.name);
  reactivate_at(node, now + config_.reactivation_delay);
}

void State::erase_cohort(const std::string& name, TimePoint) {
  const auto it = cohorts_.find(name);
  if (it == cohorts_.end() || !it->second.exists) return;
  const std::string parent = it->second.spec.parent_name;
  it->second.exists = false;
  it->second.spec = {};
  forest_.set_quotas(it->second.node, {});
  forest_.set_weight(it->second.node, 0);
  forest_.set_parent(it->second.node, no_node);
  drop_unused_cohort(name);
  if (!parent.empty()) drop_unused_cohort(parent);
}

void State::upsert(const api::ClusterQueue& object, TimePoint now) {
  const std::string& name = object.metadata.name;
  QueueInfo* queue = queue_named(name);
  const bool created = queue == nullptr;
  if (created) {
    const auto id = static_cast<QueueId>(queues_.size());
    queues_.push_back(std::make_unique<QueueInfo>(name, &workloads_));
    queue = queues_.back().get();
    queue->id = id;
    queue->node = forest_.add_node(name, true);
    node_queue_.resize(std::max<std::size_t>(node_queue_.size(), queue->node + 1), no_id);
    node_queue_[queue->node] = id;
    queue_ids_[name] = id;
    ranks_stale_ = true;
  }
  queue->deleting = object.metadata.deleting();
  if (created || !same_for_admission(queue->spec, object.spec)) {
    apply_spec(queue, object.spec);
    reactivate_at(queue->node, now + config_.reactivation_delay);
  }
  touch(*queue);
  if (created) adopt(queue, now);
  refresh_activity(queue);
}

void State::apply_spec(QueueInfo* queue, const api::ClusterQueueSpec& spec) {
  const std::string old_cohort = queue->spec.cohort_name;
  queue->spec = spec;
  queue->namespaces.reset();
  if (spec.namespace_selector) {
    if (auto selector = api::Selector::from(*spec.namespace_selector))
      queue->namespaces = *selector;
  }
  queue->groups.clear();
  for (const api::ResourceGroup& group : spec.resource_groups) {
    QueueInfo::Group& mine = queue->groups.emplace_back();
    for (const auto& resource : group.covered_resources) {
      mine.resources.push_back(names_.resources.intern(resource));
    }
    for (const auto& flavor : group.flavors) {
      mine.flavors.push_back(names_.flavors.intern(flavor.name));
    }
  }
  std::vector<Quota> quotas = quotas_of(spec.resource_groups);
  queue->frs.clear();
  for (const Quota& quota : quotas) queue->frs.push_back(quota.fr);
  forest_.set_quotas(queue->node, std::move(quotas));
  forest_.set_weight(queue->node, weight_of(spec.fair_sharing));
  const bool by_usage =
      config_.admission_fair_sharing && spec.admission_scope &&
      spec.admission_scope->admission_mode == api::AdmissionMode::UsageBasedAdmissionFairSharing;
  queue->pending.order_by_usage(
      by_usage ? [this](LocalQueueId id) { return local_queues_[id].history.usage; }
               : PendingQueue::Usage());
  const std::string& cohort = spec.cohort_name;
  forest_.set_parent(queue->node, cohort.empty() ? no_node : cohort_node(cohort));
  if (!old_cohort.empty() && old_cohort != cohort) drop_unused_cohort(old_cohort);
}

/// Workloads that were there before their ClusterQueue.
void State::adopt(QueueInfo* queue, TimePoint now) {
  if (const auto it = orphans_.find(queue->name); it != orphans_.end()) {
    const std::set<WorkloadId> ids = std::move(it->second);
    orphans_.erase(it);
    for (const WorkloadId id : ids) {
      auto reservation = std::move(workloads_[id].reservation);
      reservation->queue = queue->id;
      reserve(id, std::move(reservation));
    }
  }
  for (LocalQueueId id = 0; id < local_queues_.size(); ++id) {
    if (local_queues_[id].exists && local_queues_[id].spec.cluster_queue == queue->name) {
      reroute(id, now);
    }
  }
}

void State::erase_cluster_queue(const std::string& name, TimePoint now) {
  QueueInfo* queue = queue_named(name);
  if (queue == nullptr) return;
  for (const WorkloadId id : std::vector<WorkloadId>(queue->reserved)) {
    auto reservation = std::move(workloads_[id].reservation);
    workloads_[id].reservation = std::make_unique<Reservation>(*reservation);
    release(id);
    reservation->queue = no_id;
    workloads_[id].reservation = std::move(reservation);
    workloads_[id].place = Place::reserved;
    orphans_[name].insert(id);
  }
  queue_ids_.erase(name);
  ranks_stale_ = true;
  queue->active = false;
  for (LocalQueueId id = 0; id < local_queues_.size(); ++id) {
    if (local_queues_[id].queue == queue->id) reroute(id, now);
  }
  refresh_ready(queue);
  const std::string cohort = queue->spec.cohort_name;
  name_touched();  // while the id still leads to the name
  reactivations_.erase(queue->node);
  node_queue_[queue->node] = no_id;
  forest_.remove_node(queue->node);
  if (!cohort.empty()) drop_unused_cohort(cohort);
  queues_[queue->id].reset();
}

void State::upsert(const api::LocalQueue& object, TimePoint now) {
  const LocalQueueId id = local_queue_id(object.metadata.key());
  LocalQueueInfo& queue = local_queues_[id];
  if (queue.exists && queue.spec == object.spec) return;
  queue.exists = true;
  queue.spec = object.spec;
  read_history(&queue, object.status, now);
  reroute(id, now);
  touch(id);
}

void State::erase_local_queue(const api::ObjectKey& key) {
  const auto it = local_queue_ids_.find(key);
  if (it == local_queue_ids_.end()) return;
  local_queues_[it->second].exists = false;
  local_queues_[it->second].history = {};  // another one of its name used nothing yet
  reroute(it->second, TimePoint{});
}

/// Puts the workloads of a LocalQueue where they belong now.
void State::reroute(LocalQueueId id, TimePoint now) {
  LocalQueueInfo& queue = local_queues_[id];
  const bool open = queue.exists && queue.spec.stop_policy == api::StopPolicy::None;
  const auto it = open ? queue_ids_.find(queue.spec.cluster_queue) : queue_ids_.end();
  const QueueId target = it == queue_ids_.end() ? no_id : it->second;
  if (target == queue.queue) return;
  std::vector<WorkloadId> moving;
  for (const WorkloadId member : queue.members) {
    if (workloads_[member].reservation == nullptr) moving.push_back(member);
  }
  for (const WorkloadId member : moving) dequeue(member);
  queue.queue = target;
  for (const WorkloadId member : moving) enqueue(member, now);
  touch(id);
}

}  // namespace regatta::admission
