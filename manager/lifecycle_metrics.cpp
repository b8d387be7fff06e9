#include "manager/lifecycle_metrics.h"

#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>

namespace regatta::manager {
namespace {

namespace conditions = api::conditions;

/// The eviction that was counted between `before` and `after`, or null.
const api::WorkloadEviction* new_eviction(const api::Workload& before, const api::Workload& after) {
  const auto counted = [&](const api::WorkloadEviction& now) {
    const auto& old = before.status.evictions;
    return std::none_of(old.begin(), old.end(), [&](const api::WorkloadEviction& was) {
      return was.reason == now.reason && was.underlying_cause == now.underlying_cause &&
             was.count >= now.count;
    });
  };
  const auto& all = after.status.evictions;
  const auto found = std::find_if(all.begin(), all.end(), counted);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

LifecycleMetrics::LifecycleMetrics(prometheus::Registry& registry, std::string role,
                                   LocalQueueLabels local)
    : role_(std::move(role)),
      local_(std::move(local)),
      evicted_(counter_twins(registry, "evicted_workloads_total", "Evictions of Workloads")),
      evicted_once_(counter_family(registry, "kueue_evicted_workloads_once_total",
                                   "Workloads evicted for the first time for that reason")),
      preempted_(counter_family(registry, "kueue_preempted_workloads_total",
                                "Workloads preempted, by the ClusterQueue of the preemptor")),
      ready_wait_(histogram_twins(registry, "ready_wait_time_seconds",
                                  "From queueing until all pods are ready")),
      admitted_until_ready_(histogram_twins(registry, "admitted_until_ready_wait_time_seconds",
                                            "From admission until all pods are ready")),
      checks_wait_(histogram_twins(registry, "admission_checks_wait_time_seconds",
                                   "From the reservation to admission")),
      execution_(histogram_twins(registry, "execution_time_seconds",
                                 "How long finished Workloads were admitted, all attempts")),
      eviction_latency_(histogram_family(registry, "kueue_workload_eviction_latency_seconds",
                                         "From an eviction until its quota was given back")),
      ready_to_evicted_(histogram_family(registry, "kueue_pods_ready_to_evicted_time_seconds",
                                         "From ready pods to an eviction")) {}

std::optional<MetricLabels> LifecycleMetrics::local(const api::Workload& workload) const {
  return local_ ? local_(workload) : std::nullopt;
}

MetricLabels LifecycleMetrics::labels(const std::string& queue) const {
  return {{"cluster_queue", queue}, {"replica_role", role_}};
}

MetricLabels LifecycleMetrics::labels(const api::Workload& before,
                                      const api::Workload& after) const {
  MetricLabels all = labels(queue_of(before, after));
  all["priority_class"] = priority_of(after);
  return all;
}

void LifecycleMetrics::changed(const api::Workload& before, const api::Workload& after) {
  was_admitted(before, after);
  became_ready(before, after);
  was_evicted(before, after);
  gave_quota_back(before, after);
  ended(before, after);
}

void LifecycleMetrics::preempted(const std::string& preempting_queue, const std::string& reason) {
  preempted_
      .Add({{"preempting_cluster_queue", preempting_queue},
            {"reason", reason},
            {"replica_role", role_}})
      .Increment();
}

void LifecycleMetrics::forget(const MetricLabels& about) {
  forget_series(evicted_, about);
  for (Counters* family : {&evicted_once_, &preempted_}) forget_series(*family, about);
  for (const HistogramTwins* twins :
       {&ready_wait_, &admitted_until_ready_, &checks_wait_, &execution_}) {
    forget_series(*twins, about);
  }
  for (Histograms* family : {&eviction_latency_, &ready_to_evicted_}) {
    forget_series(*family, about);
  }
}

void LifecycleMetrics::was_admitted(const api::Workload& before, const api::Workload& after) {
  const api::Condition* now = newly_true(before, after, conditions::admitted);
  const api::Condition* reserved =
      api::find_condition(after.status.conditions, conditions::quota_reserved);
  if (!now || !reserved || after.status.admission_checks.empty()) return;
  observe(checks_wait_, labels(before, after), local(after), wait_buckets(14),
          seconds_between(reserved->last_transition_time, now->last_transition_time));
}

void LifecycleMetrics::became_ready(const api::Workload& before, const api::Workload& after) {
  const api::Condition* now = newly_true(before, after, conditions::pods_ready);
  const api::Condition* admitted =
      api::find_condition(after.status.conditions, conditions::admitted);
  // Only a start counts, not a recovery.
  if (!now || now->reason != api::reasons::started || !admitted) return;
  const MetricLabels all = labels(before, after);
  const TimePoint at = now->last_transition_time;
  const auto queue = local(after);
  observe(ready_wait_, all, queue, wait_buckets(14),
          seconds_between(lifecycle::queued_since(after), at));
  observe(admitted_until_ready_, all, queue, wait_buckets(14),
          seconds_between(admitted->last_transition_time, at));
}

void LifecycleMetrics::was_evicted(const api::Workload& before, const api::Workload& after) {
  const api::WorkloadEviction* counted = new_eviction(before, after);
  const api::Condition* evicted = api::find_condition(after.status.conditions, conditions::evicted);
  // A workload without quota lost nothing.
  if (!counted || !evicted || !before.status.admission) return;
  MetricLabels all = labels(before, after);
  all["reason"] = counted->reason;
  all["underlying_cause"] = counted->underlying_cause;
  count(evicted_, all, local(after));
  if (counted->count == 1) evicted_once_.Add(all).Increment();
  const api::Condition* ready =
      api::find_condition(before.status.conditions, conditions::pods_ready);
  if (!ready || ready->status != api::ConditionStatus::True) return;
  all.erase("priority_class");
  ready_to_evicted_.Add(all, wait_buckets(14))
      .Observe(seconds_between(ready->last_transition_time, evicted->last_transition_time));
}

void LifecycleMetrics::gave_quota_back(const api::Workload& before, const api::Workload& after) {
  const api::Condition* evicted = api::find_condition(after.status.conditions, conditions::evicted);
  const api::Condition* reserved =
      api::find_condition(after.status.conditions, conditions::quota_reserved);
  const bool freed = api::is_true(before.status.conditions, conditions::quota_reserved) &&
                     reserved && reserved->status == api::ConditionStatus::False;
  if (!freed || !evicted || evicted->status != api::ConditionStatus::True) return;
  MetricLabels all = labels(queue_of(before, after));
  all["reason"] = evicted->reason;
  eviction_latency_.Add(all, wait_buckets(14))
      .Observe(seconds_between(evicted->last_transition_time, reserved->last_transition_time));
}

void LifecycleMetrics::ended(const api::Workload& before, const api::Workload& after) {
  const api::Condition* end = newly_true(before, after, conditions::finished);
  const api::Condition* admitted =
      api::find_condition(after.status.conditions, conditions::admitted);
  if (!end || !admitted || admitted->status != api::ConditionStatus::True) return;
  const int past = after.status.accumulated_past_execution_time_seconds.value_or(0);
  observe(execution_, labels(before, after), local(after), wait_buckets(16),
          past + seconds_between(admitted->last_transition_time, end->last_transition_time));
}

}  // namespace regatta::manager
