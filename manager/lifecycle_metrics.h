#pragma once

#include "manager/metrics/metric_families.h"

#include <string>

namespace regatta::manager {

/// Kueue's metrics of readiness, eviction, preemption and execution. They follow the changes of
/// Workloads, whichever component wrote them.
class LifecycleMetrics {
 public:
  LifecycleMetrics(prometheus::Registry& registry, std::string role, LocalQueueLabels local = {});

  void set_role(std::string role) { role_ = std::move(role); }
  void changed(const api::Workload& before, const api::Workload& after);
  /// `reason` is that of the Preempted condition.
  void preempted(const std::string& preempting_queue, const std::string& reason);
  /// See forget_series().
  void forget(const MetricLabels& about);

 private:
  void became_ready(const api::Workload& before, const api::Workload& after);
  void was_admitted(const api::Workload& before, const api::Workload& after);
  void was_evicted(const api::Workload& before, const api::Workload& after);
  void gave_quota_back(const api::Workload& before, const api::Workload& after);
  void ended(const api::Workload& before, const api::Workload& after);
  MetricLabels labels(const std::string& queue) const;
  MetricLabels labels(const api::Workload& before, const api::Workload& after) const;

  std::optional<MetricLabels> local(const api::Workload& workload) const;

  std::string role_;
  LocalQueueLabels local_;
  CounterTwins evicted_;
  Counters &evicted_once_, &preempted_;
  HistogramTwins ready_wait_, admitted_until_ready_, checks_wait_, execution_;
  Histograms &eviction_latency_, &ready_to_evicted_;
};

}  // namespace regatta::manager
