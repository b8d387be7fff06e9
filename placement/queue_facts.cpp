#include "placement/queue_facts.h"

#include "admission/quota.h"
#include "lib/api/names.h"

#include <algorithm>
#include <limits>

namespace regatta::placement {
namespace {

using admission::NodeId;
using Queue = api::ClusterQueue;

std::optional<admission::Amount> limit_of(const std::string& resource,
                                          const std::optional<api::Quantity>& limit) {
  if (!limit) return std::nullopt;
  return api::resource_amount(resource, *limit);
}

/// The quota trees of one worker.
class Trees {
 public:
  explicit Trees(const WorkerQueues& worker) {
    for (const auto& cohort : worker.cohorts) {
      const NodeId node = cohort_node(cohort->metadata.name);
      forest_.set_quotas(node, quotas_of(cohort->spec.resource_groups));
      const std::string& parent = cohort->spec.parent_name;
      if (!parent.empty()) forest_.set_parent(node, cohort_node(parent));
    }
    for (const auto& queue : worker.cluster_queues) {
      const NodeId node = forest_.add_node(queue->metadata.name, true);
      queues_[queue->metadata.name] = node;
      forest_.set_quotas(node, quotas_of(queue->spec.resource_groups));
      const std::string& cohort = queue->spec.cohort_name;
      if (!cohort.empty()) forest_.set_parent(node, cohort_node(cohort));
    }
    (void)forest_.settle();
    for (const auto& queue : worker.cluster_queues) use(*queue);
  }

  QuotaFacts facts(const Queue& queue, const std::string& flavor, const std::string& resource) {
    const NodeId node = queues_.at(queue.metadata.name);
    const admission::FrId fr = pair(flavor, resource);
    QuotaFacts out;
    if (forest_.node(node).cyclic) {
      out.most = 0;
      return out;
    }
    out.nominal = forest_.nominal(node, fr);
    out.used = forest_.usage(node, fr);
    out.most = forest_.potential_available(node, fr);
    // What it may still use, counted from its nominal quota on. It may be negative where others
    // have borrowed of that.
    const admission::Amount reach = admission::plus(out.used, forest_.headroom(node, fr).now);
    out.borrowable = admission::minus(reach, out.nominal);
    return out;
  }

 private:
  admission::FrId pair(const std::string& flavor, const std::string& resource) {
    return names_.pair(names_.flavors.intern(flavor), names_.resources.intern(resource));
  }
  NodeId cohort_node(const std::string& name) {
    const auto [found, fresh] = cohorts_.try_emplace(name);
    if (fresh) found->second = forest_.add_node(name, false);
    return found->second;
  }
  std::vector<admission::Quota> quotas_of(const std::vector<api::ResourceGroup>& groups) {
    std::vector<admission::Quota> out;
    for (const api::ResourceGroup& group : groups) {
      for (const api::FlavorQuotas& flavor : group.flavors) {
        for (const api::ResourceQuota& quota : flavor.resources) {
          out.push_back({pair(flavor.name, quota.name),
                         api::resource_amount(quota.name, quota.nominal_quota),
                         limit_of(quota.name, quota.borrowing_limit),
                         limit_of(quota.name, quota.lending_limit)});
        }
      }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.fr < b.fr; });
    return out;
  }
  void use(const Queue& queue) {
    std::vector<admission::FrAmount> used;
    for (const api::FlavorUsage& flavor : queue.status.flavors_reservation) {
      for (const api::ResourceUsage& usage : flavor.resources) {
        const auto amount = api::resource_amount(usage.name, usage.total);
        if (amount > 0) admission::add_amount(&used, pair(flavor.name, usage.name), amount);
      }
    }
    forest_.add_usage(queues_.at(queue.metadata.name), used);
  }

  admission::Names names_;
  admission::QuotaForest forest_;
  std::map<std::string, NodeId> cohorts_, queues_;
};

void count_pending(const Queue& queue, const WorkerQueues& worker, QueueFacts* out) {
  int others = queue.status.pending_workloads;
  const auto ours = worker.waiting.find(queue.metadata.name);
  if (ours != worker.waiting.end()) {
    out->pending = ours->second;
    for (const auto& [priority, count] : ours->second) others -= count;
  }
  if (others > 0) out->pending[0] += others;
}

/// Of its nominal quota, it gets back what others have borrowed.
void add_reclaimable(const Queue& queue, QueueFacts* out) {
  if (queue.spec.preemption.reclaim_within_cohort != api::ReclaimPolicy::Any) return;
  for (auto& group : out->groups) {
    for (FlavorFacts& flavor : group) {
      for (auto& [resource, quota] : flavor.resources) {
        if (quota.borrowable >= 0) continue;
        quota.preemptable[std::numeric_limits<std::int32_t>::min()] = -quota.borrowable;
      }
    }
  }
}

void add_preemptable(const Queue& queue, const WorkerQueues& worker, QueueFacts* out) {
  if (queue.spec.preemption.within_cluster_queue == api::WithinQueuePolicy::Never) return;
  for (const WorkerQueues::Held& held : worker.held) {
    if (held.cluster_queue != queue.metadata.name) continue;
    for (auto& group : out->groups) {
      for (FlavorFacts& flavor : group) {
        const auto quota = flavor.resources.find(held.resource);
        if (flavor.name != held.flavor || quota == flavor.resources.end()) continue;
        quota->second.preemptable[held.priority] += held.amount;
      }
    }
  }
}

}  // namespace

std::map<std::string, QueueFacts> queue_facts(const WorkerQueues& worker) {
  std::map<std::string, QueueFacts> all;
  Trees trees(worker);
  for (const auto& queue : worker.cluster_queues) {
    QueueFacts& out = all[queue->metadata.name];
    for (const api::ResourceGroup& given : queue->spec.resource_groups) {
      auto& group = out.groups.emplace_back();
      for (const api::FlavorQuotas& flavor : given.flavors) {
        FlavorFacts& facts = group.emplace_back();
        facts.name = flavor.name;
        for (const api::ResourceQuota& quota : flavor.resources) {
          facts.resources[quota.name] = trees.facts(*queue, flavor.name, quota.name);
        }
      }
    }
    count_pending(*queue, worker, &out);
    add_reclaimable(*queue, &out);
    add_preemptable(*queue, worker, &out);
  }
  return all;
}

void give_back(QueueFacts* queue, const std::string& flavor, const std::string& resource,
               std::int64_t amount, std::int32_t priority) {
  for (auto& group : queue->groups) {
    for (FlavorFacts& one : group) {
      const auto quota = one.resources.find(resource);
      if (one.name != flavor || quota == one.resources.end()) continue;
      QuotaFacts& facts = quota->second;
      // What it has borrowed is there to be borrowed again: the reach stays.
      facts.used = admission::minus(facts.used, amount);
      const auto held = facts.preemptable.find(priority);
      if (held != facts.preemptable.end()) held->second -= std::min(held->second, amount);
    }
  }
}

std::string closed_because(const api::ClusterQueue& queue) {
  const std::string name = "ClusterQueue " + queue.metadata.name;
  if (queue.metadata.deleting()) return "deletes " + name;
  if (queue.spec.stop_policy != api::StopPolicy::None) return "has stopped " + name;
  if (!api::is_false(queue.status.conditions, api::conditions::active)) return {};
  return "has " + name + ", which is not active";
}

std::string closed_because(const api::LocalQueue& queue) {
  const std::string name = "LocalQueue " + queue.metadata.key().str();
  if (queue.metadata.deleting()) return "deletes " + name;
  if (queue.spec.stop_policy != api::StopPolicy::None) return "has stopped " + name;
  return {};
}

Amounts amounts_of(const api::ResourceList& resources) {
  Amounts out;
  for (const auto& [name, quantity] : resources) out[name] = api::resource_amount(name, quantity);
  return out;
}

void add(Amounts* sum, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    (*sum)[name] = admission::plus((*sum)[name], amount);
  }
}

void subtract(Amounts* sum, const Amounts& less) {
  for (const auto& [name, amount] : less) {
    const auto found = sum->find(name);
    if (found == sum->end()) continue;
    found->second = admission::minus(found->second, amount);
    if (found->second <= 0) sum->erase(found);
  }
}

}  // namespace regatta::placement
