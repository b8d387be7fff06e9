/// State, the part that remembers what LocalQueues have used: admission fair sharing.

#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// Amounts count thousandths of cores, and units of everything else.
Billionths billionths_of(const std::string& resource, Amount amount) {
  return Billionths(amount) * (resource == "cpu" ? 1'000'000 : 1'000'000'000);
}

bool is_nothing(const Consumption& consumption) {
  return std::all_of(consumption.begin(), consumption.end(),
                     [](const auto& entry) { return entry.second == 0; });
}

double seconds_between(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

bool State::orders_by_usage(const LocalQueueInfo& queue) const {
  if (!config_.admission_fair_sharing) return false;
  const QueueInfo* target = find_queue(queue.spec.cluster_queue);
  return target != nullptr && target->spec.admission_scope.has_value() &&
         target->spec.admission_scope->admission_mode ==
             api::AdmissionMode::UsageBasedAdmissionFairSharing;
}

void State::refresh_usage(LocalQueueInfo* queue) {
  const double weight =
      queue->spec.fair_sharing ? approximate(queue->spec.fair_sharing->weight) : 1;
  UsageHistory& history = queue->history;
  history.usage = weighted_usage(history.now.consumed, history.penalty, weight,
                                 config_.admission_fair_sharing->resource_weights);
  ++usage_epoch_;
}

/// What the status remembers counts where this process knows nothing yet.
void State::read_history(LocalQueueInfo* queue, const api::LocalQueueStatus& status,
                         TimePoint now) {
  if (!config_.admission_fair_sharing) return;
  if (UsageHistory& history = queue->history; !history.sampled) {
    history.now.at = now;
    if (status.fair_sharing && status.fair_sharing->admission_fair_sharing_status) {
      const auto& stored = *status.fair_sharing->admission_fair_sharing_status;
      for (const auto& [resource, quantity] : stored.consumed_resources) {
        history.now.consumed[resource] += to_billionths(quantity);
      }
      history.now.at = stored.last_update;
    }
    history.sampled = history.now;
  }
  refresh_usage(queue);
}

Consumption State::penalty_of(const WorkloadEntry& entry) const {
  Consumption requests;
  const QueueInfo* queue = find_queue(local_queues_[entry.local_queue].spec.cluster_queue);
  const auto counts = [&](ResourceId resource) {
    return !config_.ignore_undeclared_resources || queue == nullptr ||
           queue->group_of(resource) != nullptr;
  };
  for (const PodSetShape& pod_set : entry.shape->pod_sets) {
    for (const ResourceAmount& request : pod_set.requests) {
      if (!counts(request.resource)) continue;
      const std::string& resource = names_.resources.name(request.resource);
      requests[resource] += billionths_of(resource, request.amount);
    }
  }
  return entry_penalty(requests, *config_.admission_fair_sharing);
}

/// An admission counts at once, before any of its usage shows.
void State::charge(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  LocalQueueInfo& queue = local_queues_[entry.local_queue];
  if (!orders_by_usage(queue)) return;
  auto penalty = std::make_shared<const Consumption>(penalty_of(entry));
  queue.history.penalty = sum(std::move(queue.history.penalty), *penalty);
  entry.reservation->penalty = std::move(penalty);
  refresh_usage(&queue);
}

/// Takes back what was charged, whatever the workload asks for by now.
void State::discharge(LocalQueueId payer, const Consumption& penalty) {
  LocalQueueInfo& queue = local_queues_[payer];
  for (const auto& [resource, value] : penalty) {
    Billionths& pending = queue.history.penalty[resource];
    pending = std::max<Billionths>(0, pending - value);
  }
  refresh_usage(&queue);
}

/// The workload is admitted: its penalty becomes part of what its LocalQueue consumed.
void State::settle_charge(LocalQueueId payer, const Consumption& penalty, TimePoint now) {
  LocalQueueInfo& queue = local_queues_[payer];
  UsageHistory::Sample& at = queue.history.now;
  const double half_life = config_.admission_fair_sharing->usage_half_life.count();
  at.consumed =
      sum(decayed(at.consumed, queue.in_use, seconds_between(at.at, now), half_life), penalty);
  at.at = now;
  discharge(payer, penalty);
}

void State::count_in_use(LocalQueueInfo* queue, const Reservation& reservation, int sign) {
  if (!config_.admission_fair_sharing) return;
  for (const FrAmount& used : reservation.usage) {
    const std::string& resource = names_.resource_name(used.fr);
    queue->in_use[resource] += sign * billionths_of(resource, used.amount);
  }
}

std::optional<double> State::usage_of(const api::ObjectKey& local_queue) const {
  const auto it = local_queue_ids_.find(local_queue);
  if (it == local_queue_ids_.end()) return {};
  const LocalQueueInfo& queue = local_queues_[it->second];
  if (!queue.exists || !orders_by_usage(queue)) return {};
  return queue.history.usage;
}

void State::sample_usage(TimePoint now) {
  if (!config_.admission_fair_sharing) return;
  const double half_life = config_.admission_fair_sharing->usage_half_life.count();
  for (LocalQueueId id = 0; id < local_queues_.size(); ++id) {
    LocalQueueInfo& queue = local_queues_[id];
    if (!queue.exists || !orders_by_usage(queue)) continue;
    UsageHistory& history = queue.history;
    const double elapsed = seconds_between(history.now.at, now);
    history.now.consumed = half_life == 0
                               ? Consumption()
                               : decayed(history.now.consumed, queue.in_use, elapsed, half_life);
    history.now.at = now;
    refresh_usage(&queue);
    // A LocalQueue that nobody uses needs no new status.
    const bool idle = is_nothing(history.now.consumed) && history.sampled &&
                      is_nothing(history.sampled->consumed);
    if (idle) continue;
    history.sampled = history.now;
    touch(id);
  }
}

}  // namespace regatta::admission
