#include "admission/history_book.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// An Amount is in thousandths of cores, and in units of every other resource.
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

bool HistoryBook::records_usage(const LocalQueueInfo& queue) const {
  return config_.admission_fair_sharing && queues_.find(queue.spec.cluster_queue) != nullptr;
}

bool HistoryBook::orders_by_usage(const LocalQueueInfo& queue) const {
  if (!config_.admission_fair_sharing) return false;
  const QueueInfo* target = queues_.find(queue.spec.cluster_queue);
  return target != nullptr && target->spec.admission_scope.has_value() &&
         target->spec.admission_scope->admission_mode ==
             api::AdmissionMode::UsageBasedAdmissionFairSharing;
}

void HistoryBook::refresh_usage(LocalQueueInfo* queue) {
  const double weight =
      queue->spec.fair_sharing ? approximate(queue->spec.fair_sharing->weight) : 1;
  UsageHistory& history = queue->history;
  history.usage = weighted_usage(history.now.consumed, history.penalty, weight,
                                 config_.admission_fair_sharing->resource_weights);
  ++epoch_;
}

void HistoryBook::read(LocalQueueInfo* queue, const api::LocalQueueStatus& status, TimePoint now) {
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

Consumption HistoryBook::penalty_of(const WorkloadEntry& entry) const {
  Consumption requests;
  const QueueInfo* queue = queues_.find(queues_.local(entry.local_queue).spec.cluster_queue);
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

void HistoryBook::charge(WorkloadId id) {
  WorkloadEntry& entry = workloads_[id];
  LocalQueueInfo& queue = queues_.local(entry.local_queue);
  if (!records_usage(queue)) return;
  auto penalty = std::make_shared<const Consumption>(penalty_of(entry));
  queue.history.penalty = sum(std::move(queue.history.penalty), *penalty);
  entry.reservation->penalty = std::move(penalty);
  refresh_usage(&queue);
}

void HistoryBook::discharge(LocalQueueId payer, const Consumption& penalty) {
  LocalQueueInfo& queue = queues_.local(payer);
  for (const auto& [resource, value] : penalty) {
    Billionths& pending = queue.history.penalty[resource];
    pending = std::max<Billionths>(0, pending - value);
  }
  refresh_usage(&queue);
}

void HistoryBook::settle_charge(LocalQueueId payer, const Consumption& penalty, TimePoint now) {
  LocalQueueInfo& queue = queues_.local(payer);
  UsageHistory::Sample& at = queue.history.now;
  const double half_life = config_.admission_fair_sharing->usage_half_life.count();
  at.consumed =
      sum(decayed(at.consumed, queue.in_use, seconds_between(at.at, now), half_life), penalty);
  at.at = now;
  discharge(payer, penalty);
}

void HistoryBook::count_in_use(LocalQueueInfo* queue, const Reservation& reservation, int sign) {
  if (!config_.admission_fair_sharing) return;
  for (const FrAmount& used : reservation.usage) {
    const std::string& resource = names_.resource_name(used.fr);
    queue->in_use[resource] += sign * billionths_of(resource, used.amount);
  }
}

void HistoryBook::sample(TimePoint now) {
  if (!config_.admission_fair_sharing) return;
  const double half_life = config_.admission_fair_sharing->usage_half_life.count();
  for (LocalQueueId id = 0; id < queues_.locals().size(); ++id) {
    LocalQueueInfo& queue = queues_.local(id);
    if (!queue.exists || !records_usage(queue)) continue;
    UsageHistory& history = queue.history;
    const double elapsed = seconds_between(history.now.at, now);
    history.now.consumed = half_life == 0
                               ? Consumption()
                               : decayed(history.now.consumed, queue.in_use, elapsed, half_life);
    history.now.at = now;
    refresh_usage(&queue);
    // An unused LocalQueue needs no new status.
    const bool idle = is_nothing(history.now.consumed) && history.sampled &&
                      is_nothing(history.sampled->consumed);
    if (idle) continue;
    history.sampled = history.now;
    queues_.touch(id);
  }
}

}  // namespace regatta::admission
