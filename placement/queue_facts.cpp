#include "placement/queue_facts.h"

#include "admission/quota.h"
#include "lib/api/names.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

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
    std::vector<admission::QuotaForest::QueueUsage> usages;
    usages.reserve(worker.cluster_queues.size());
    for (const auto& queue : worker.cluster_queues) {
      usages.push_back({queues_.at(queue->metadata.name), usage_of(*queue)});
    }
    forest_.add_usages(usages);
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
  /// A worker's status may list many flavors, in any order and more than once.
  std::vector<admission::FrAmount> usage_of(const Queue& queue) {
    std::vector<admission::FrAmount> used;
    for (const api::FlavorUsage& flavor : queue.status.flavors_reservation) {
      for (const api::ResourceUsage& usage : flavor.resources) {
        const auto amount = api::resource_amount(usage.name, usage.total);
        if (amount > 0) used.push_back({pair(flavor.name, usage.name), amount});
      }
    }
    std::sort(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.fr < b.fr; });
    return used;
  }

  admission::Names names_;
  admission::QuotaForest forest_;
  std::map<std::string, NodeId> cohorts_, queues_;
};

/// The worker may say anything: no count is negative, and no sum is beyond the type.
void count_pending(const Queue& queue, const WorkerQueues& worker, QueueFacts* out) {
  std::int64_t others = queue.status.pending_workloads;
  const auto ours = worker.waiting.find(queue.metadata.name);
  if (ours != worker.waiting.end()) {
    out->pending = ours->second;
    for (const auto& [priority, count] : ours->second) others -= count;
  }
  if (others <= 0) return;
  int& of_zero = out->pending[0];
  of_zero =
      static_cast<int>(std::min<std::int64_t>(of_zero + others, std::numeric_limits<int>::max()));
}

/// Of its nominal quota, it gets back what others have borrowed.
void add_reclaimable(const Queue& queue, QueueFacts* out) {
  if (queue.spec.preemption.reclaim_within_cohort != api::ReclaimPolicy::Any) return;
  for (auto& group : out->groups) {
    for (FlavorFacts& flavor : group) {
      for (auto& [resource, quota] : flavor.resources) {
        if (quota.borrowable >= 0) continue;
        quota.preemptable[std::numeric_limits<std::int32_t>::min()] =
            admission::minus(0, quota.borrowable);
      }
    }
  }
}

using ByPriority = std::map<std::int32_t, std::int64_t>;
using ByFlavorAndResource = std::map<std::pair<std::string_view, std::string_view>, ByPriority>;

/// What is held of each ClusterQueue. The names are those of `worker`.
std::map<std::string_view, ByFlavorAndResource> held_by_queue(const WorkerQueues& worker) {
  std::map<std::string_view, ByFlavorAndResource> all;
  for (const WorkerQueues::Held& held : worker.held) {
    if (held.amount <= 0) continue;
    std::int64_t& sum = all[held.cluster_queue][{held.flavor, held.resource}][held.priority];
    sum = admission::plus(sum, held.amount);
  }
  return all;
}

void add_preemptable(const Queue& queue, const ByFlavorAndResource& held, QueueFacts* out) {
  if (queue.spec.preemption.within_cluster_queue == api::WithinQueuePolicy::Never) return;
  for (auto& group : out->groups) {
    for (FlavorFacts& flavor : group) {
      for (auto& [resource, quota] : flavor.resources) {
        const auto found = held.find({flavor.name, resource});
        if (found == held.end()) continue;
        for (const auto& [priority, amount] : found->second) {
          std::int64_t& sum = quota.preemptable[priority];
          sum = admission::plus(sum, amount);
        }
      }
    }
  }
}

}  // namespace

std::map<std::string, QueueFacts> queue_facts(const WorkerQueues& worker) {
  std::map<std::string, QueueFacts> all;
  Trees trees(worker);
  const auto held = held_by_queue(worker);
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
    const auto found = held.find(queue->metadata.name);
    if (found != held.end()) add_preemptable(*queue, found->second, &out);
  }
  return all;
}

void give_back(QueueFacts* queue, const std::string& flavor, const std::string& resource,
               std::int64_t amount, std::int32_t priority) {
  if (amount <= 0) return;
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
