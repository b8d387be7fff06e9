#pragma once

#include "manager/metric_families.h"

#include <string>

namespace regatta::manager {

/// Kueue's metrics of readiness, eviction, preemption and execution. They follow what is written
/// into Workloads, whoever wrote it.
class LifecycleMetrics {
 public:
  LifecycleMetrics(prometheus::Registry& registry, std::string role);

  void changed(const api::Workload& before, const api::Workload& after);
  /// `reason` of the Preempted condition.
  void preempted(const std::string& preempting_queue, const std::string& reason);

 private:
  void became_ready(const api::Workload& before, const api::Workload& after);
  void was_admitted(const api::Workload& before, const api::Workload& after);
  void was_evicted(const api::Workload& before, const api::Workload& after);
  void gave_quota_back(const api::Workload& before, const api::Workload& after);
  void ended(const api::Workload& before, const api::Workload& after);
  MetricLabels labels(const std::string& queue) const;
  MetricLabels labels(const api::Workload& before, const api::Workload& after) const;

  std::string role_;
  Counters &evicted_, &evicted_once_, &preempted_;
  Histograms &ready_wait_, &admitted_until_ready_, &checks_wait_, &execution_, &eviction_latency_,
      &ready_to_evicted_;
};

}  // namespace regatta::manager
