#include "admission/queue_book.h"

#include "lib/base/check.h"

#include <algorithm>
#include <utility>

namespace regatta::admission {
namespace {

Amount quota_amount(const std::string& resource, const api::Quantity& quantity) {
  return api::resource_amount(resource, quantity);
}

double weight_of(const std::optional<api::FairSharing>& sharing) {
  if (!sharing) return 1;
  // Rounded only once: equal shares must be equal to the last bit.
  return static_cast<double>(static_cast<long double>(to_billionths(sharing->weight)) / 1e9L);
}

}  // namespace

QueueBook::QueueBook(const Config& config, Names& names, WorkloadTable& workloads,
                     const ObjectBook& objects)
    : config_(config), names_(names), workloads_(workloads), objects_(objects) {}

const QueueInfo::Group* QueueInfo::group_of(ResourceId resource) const {
  for (const Group& group : groups) {
    const auto& covered = group.resources;
    if (std::find(covered.begin(), covered.end(), resource) != covered.end()) return &group;
  }
  return nullptr;
}

QueueInfo& QueueBook::add(const std::string& name) {
  const auto id = static_cast<QueueId>(queues_.size());
  QueueInfo& queue = *queues_.emplace_back(std::make_unique<QueueInfo>(name, &workloads_));
  queue.id = id;
  queue.node = forest_.add_node(name, true);
  set_node_queue(queue.node, id);
  queue_ids_[name] = id;
  return queue;
}

void QueueBook::set_node_queue(NodeId node, QueueId queue) {
  node_queue_.resize(std::max<std::size_t>(node_queue_.size(), node + 1), no_id);
  node_queue_[node] = queue;
}

void QueueBook::set_spec(QueueInfo* queue, const api::ClusterQueueSpec& spec) {
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

void QueueBook::forget_name(const QueueInfo& queue) {
  queue_ids_.erase(queue.name);
}

void QueueBook::remove(QueueInfo* queue) {
  REGATTA_CHECK(queue->reserved.empty(), queue->name + " is removed and has reservations");
  const std::string cohort = queue->spec.cohort_name;
  name_touched();  // while the id still has a name
  reactivations_.forget(queue->node);
  set_node_queue(queue->node, no_id);
  forest_.remove_node(queue->node);
  if (!cohort.empty()) drop_unused_cohort(cohort);
  queues_[queue->id].reset();
}

void QueueBook::refresh_activity(QueueInfo* queue) {
  const bool active = !queue->deleting && objects_.problems(queue->spec).empty();
  if (active != queue->active) {
    touch(*queue);
    for (LocalQueueId id = 0; id < local_queues_.size(); ++id) {
      if (local_queues_[id].queue == queue->id) touch(id);
    }
  }
  queue->active = active;
  bool any = false;
  queue->topology_only = true;
  for (const QueueInfo::Group& group : queue->groups) {
    for (const FlavorId id : group.flavors) {
      const FlavorInfo* info = objects_.flavor(id);
      any = true;
      if (info == nullptr || info->spec.topology_name.empty()) queue->topology_only = false;
    }
  }
  queue->topology_only = queue->topology_only && any;
}

QueueInfo* QueueBook::find(const std::string& name) {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? nullptr : queues_[it->second].get();
}

const QueueInfo* QueueBook::find(const std::string& name) const {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? nullptr : queues_[it->second].get();
}

NodeId QueueBook::cohort_node(const std::string& name) {
  CohortInfo& cohort = cohorts_[name];
  if (cohort.node == no_node) {
    cohort.node = forest_.add_node(name, false);
    forest_.set_weight(cohort.node, 0);  // matters only when a Cohort object exists
    set_node_queue(cohort.node, no_id);
  }
  return cohort.node;
}

/// Removes the Cohort if it has neither an object nor members.
void QueueBook::drop_unused_cohort(const std::string& name) {
  const auto it = cohorts_.find(name);
  if (it == cohorts_.end() || it->second.exists) return;
  const QuotaNode& node = forest_.node(it->second.node);
  if (!node.child_cohorts.empty() || !node.child_queues.empty()) return;
  reactivations_.forget(it->second.node);
  forest_.remove_node(it->second.node);
  cohorts_.erase(it);
}

std::vector<Quota> QueueBook::quotas_of(const std::vector<api::ResourceGroup>& groups) {
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

NodeId QueueBook::upsert(const api::Cohort& cohort) {
  const NodeId node = cohort_node(cohort.metadata.name);
  CohortInfo& info = cohorts_[cohort.metadata.name];
  if (info.exists && info.spec == cohort.spec) return no_node;
  const std::string old_parent = info.spec.parent_name;
  info.exists = true;
  info.deleted = false;
  info.spec = cohort.spec;
  forest_.set_quotas(node, quotas_of(cohort.spec.resource_groups));
  forest_.set_weight(node, weight_of(cohort.spec.fair_sharing));
  const std::string& parent = cohort.spec.parent_name;
  forest_.set_parent(node, parent.empty() ? no_node : cohort_node(parent));
  if (!old_parent.empty() && old_parent != parent) drop_unused_cohort(old_parent);
  changes_.cohorts.insert(cohort.metadata.name);
  return node;
}

void QueueBook::erase_cohort(const std::string& name) {
  const auto it = cohorts_.find(name);
  if (it == cohorts_.end() || !it->second.exists) return;
  const std::string parent = it->second.spec.parent_name;
  it->second.exists = false;
  it->second.deleted = true;
  it->second.spec = {};
  forest_.set_quotas(it->second.node, {});
  forest_.set_weight(it->second.node, 0);
  forest_.set_parent(it->second.node, no_node);
  drop_unused_cohort(name);
  if (!parent.empty()) drop_unused_cohort(parent);
}

NodeId QueueBook::cohort(const std::string& name) const {
  const auto it = cohorts_.find(name);
  return it == cohorts_.end() ? no_node : it->second.node;
}

LocalQueueId QueueBook::local_queue_id(const api::ObjectKey& key) {
  const auto [it, added] =
      local_queue_ids_.try_emplace(key, static_cast<LocalQueueId>(local_queues_.size()));
  if (added) local_queues_.emplace_back().key = key;
  return it->second;
}

LocalQueueId QueueBook::find_local(const api::ObjectKey& key) const {
  const auto it = local_queue_ids_.find(key);
  return it == local_queue_ids_.end() ? no_id : it->second;
}

QueueId QueueBook::target_of(const LocalQueueInfo& local) const {
  if (!local.exists || local.spec.stop_policy != api::StopPolicy::None) return no_id;
  const QueueInfo* target = find(local.spec.cluster_queue);
  return target == nullptr ? no_id : target->id;
}

QueueInfo* QueueBook::queue_for(const WorkloadEntry& entry) {
  if (entry.local_queue == no_id) return nullptr;
  const QueueId id = local_queues_[entry.local_queue].queue;
  return id == no_id ? nullptr : queues_[id].get();
}

void QueueBook::name_cohort(NodeId node) {
  const auto found = cohorts_.find(forest_.node(node).name);
  if (found != cohorts_.end() && found->second.exists) changes_.cohorts.insert(found->first);
}

/// The share of a Cohort changes with what is used below it.
void QueueBook::name_cohorts_above(NodeId node, std::set<NodeId>* seen) {
  for (NodeId up = forest_.node(node).parent; up != no_node; up = forest_.node(up).parent) {
    if (!seen->insert(up).second) return;
    name_cohort(up);
  }
}

/// One that has lost its last ClusterQueue has none through which it would be named.
void QueueBook::name_cohorts_below(NodeId root) {
  std::vector<NodeId> left{root};
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    if (!forest_.node(node).is_queue) name_cohort(node);
    const std::vector<NodeId>& below = forest_.node(node).child_cohorts;
    left.insert(left.end(), below.begin(), below.end());
  }
}

void QueueBook::name_touched() {
  std::set<NodeId> seen;
  touched_queues_.for_each([&](QueueId id) {
    changes_.cluster_queues.insert(queues_[id]->name);
    if (config_.fair_sharing) name_cohorts_above(queues_[id]->node, &seen);
  });
  touched_queues_.clear();
  touched_local_queues_.for_each(
      [&](LocalQueueId id) { changes_.local_queues.insert(local_queues_[id].key); });
  touched_local_queues_.clear();
}

/// With another quota somewhere in a tree, other parts of the tree have other shares.
void QueueBook::settle() {
  for (const NodeId root : forest_.settle()) {
    if (!config_.fair_sharing) return;
    for (const NodeId node : forest_.queues_of_tree(root)) touch(queue(queue_of_node(node)));
    name_cohorts_below(root);
  }
}

Changes QueueBook::take_changes() {
  name_touched();
  return std::exchange(changes_, {});
}

}  // namespace regatta::admission
