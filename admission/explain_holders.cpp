#include "admission/explain_flavors.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// With more holders than this, enough_when_gone() gives no answer.
constexpr std::size_t holders_max = 10'000;

bool is_met(const ExplainContext& context, const Demand& demand) {
  return context.trial.forest().available(context.queue.node, demand.fr) >= demand.value;
}

std::vector<FrId> short_of(const ExplainContext& context, std::span<const Demand> demands) {
  std::vector<FrId> frs;
  for (const Demand& demand : demands) {
    if (!is_met(context, demand)) frs.push_back(demand.fr);
  }
  std::sort(frs.begin(), frs.end());
  return frs;
}

bool holds_some(const WorkloadEntry& workload, const std::vector<FrId>& frs) {
  const auto& usage = workload.reservation->usage;
  return std::any_of(usage.begin(), usage.end(), [&](const FrAmount& used) {
    return used.amount > 0 && std::binary_search(frs.begin(), frs.end(), used.fr);
  });
}

/// ClusterQueues that share quota with that of the workload, its own included.
std::vector<const QueueInfo*> queues_of_tree(const ExplainContext& context) {
  const QuotaForest& forest = context.trial.forest();
  std::vector<const QueueInfo*> queues;
  for (const NodeId node : forest.queues_of_tree(forest.node(context.queue.node).root)) {
    queues.push_back(&context.trial.access().queue(context.trial.access().queue_of_node(node)));
  }
  return queues;
}

}  // namespace

Holder holder_of(const CycleAccess& access, WorkloadId id, std::optional<FlavorId> flavor) {
  const WorkloadEntry& workload = access.workloads()[id];
  Holder holder;
  holder.key = workload.key;
  holder.cluster_queue = access.queue(workload.reservation->queue).name;
  holder.priority = workload.priority;
  holder.since = workload.reservation->reserved_at;
  holder.evicted = workload.reservation->evicted;
  for (const FrAmount& used : workload.reservation->usage) {
    if (used.amount == 0 || (flavor && access.names().flavor_of(used.fr) != *flavor)) continue;
    holder.amounts.emplace_back(access.names().resource_name(used.fr), used.amount);
  }
  std::sort(holder.amounts.begin(), holder.amounts.end());
  return holder;
}

PreemptionChances chances_of(const ExplainContext& context, std::span<const Demand> demands) {
  const QuotaForest& forest = context.trial.forest();
  const CycleAccess& access = context.trial.access();
  const std::vector<FrId> frs = short_of(context, demands);
  const VictimRule within = VictimRule::within_queue(context.queue, context.workload());
  const VictimRule reclaim = VictimRule::reclaim(context.queue, context.workload());
  PreemptionChances chances;
  for (const Demand& demand : demands) {
    const bool is_short = std::binary_search(frs.begin(), frs.end(), demand.fr);
    const bool beyond = forest.borrowing_with(context.queue.node, demand.fr, demand.value);
    chances.beyond_nominal = chances.beyond_nominal || (is_short && beyond);
  }
  for (const QueueInfo* queue : queues_of_tree(context)) {
    const bool own = queue->id == context.queue.id;
    const bool borrows = std::any_of(
        frs.begin(), frs.end(), [&](FrId fr) { return forest.borrowing_with(queue->node, fr, 0); });
    for (const WorkloadId id : queue->reserved) {
      const WorkloadEntry& held = access.workloads()[id];
      if (!holds_some(held, frs)) continue;
      if (own) {
        ++chances.own;
        chances.own_allowed += within.allows(held);
      } else {
        ++chances.others;
        chances.others_borrow += borrows;
        chances.others_allowed += borrows && reclaim.allows(held);
      }
    }
  }
  return chances;
}

std::vector<WorkloadId> enough_when_gone(const ExplainContext& context,
                                         std::span<const Demand> demands) {
  const CycleAccess& access = context.trial.access();
  const std::vector<FrId> frs = short_of(context, demands);
  std::vector<WorkloadId> holders;
  for (const QueueInfo* queue : queues_of_tree(context)) {
    for (const WorkloadId id : queue->reserved) {
      if (holds_some(access.workloads()[id], frs)) holders.push_back(id);
    }
  }
  if (holders.size() > holders_max) return {};
  std::sort(holders.begin(), holders.end(), [&](WorkloadId a, WorkloadId b) {
    const WorkloadEntry& left = access.workloads()[a];
    const WorkloadEntry& right = access.workloads()[b];
    const Reservation& left_held = *left.reservation;
    const Reservation& right_held = *right.reservation;
    if (left_held.evicted != right_held.evicted) return left_held.evicted;
    if (left_held.reserved_at != right_held.reserved_at) {
      return left_held.reserved_at < right_held.reserved_at;
    }
    return left.key < right.key;
  });
  const auto all_met = [&] {
    return std::all_of(demands.begin(), demands.end(),
                       [&](const Demand& demand) { return is_met(context, demand); });
  };
  const Trial::Nested nested(context.trial);
  std::vector<WorkloadId> gone;
  for (const WorkloadId id : holders) {
    if (all_met()) break;
    context.trial.remove(id);
    gone.push_back(id);
  }
  if (!all_met()) return {};
  // The last one is needed. Some of the earlier ones may be needless.
  for (std::size_t i = gone.size() - std::min<std::size_t>(1, gone.size()); i-- > 0;) {
    context.trial.restore(gone[i]);
    if (all_met()) {
      gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      context.trial.remove(gone[i]);
    }
  }
  return gone;
}

}  // namespace regatta::admission
