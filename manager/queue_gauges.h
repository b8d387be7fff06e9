#pragma once

#include "lib/api/labels.h"
#include "manager/config/configuration.h"
#include "manager/core.h"
#include "manager/workload_counts.h"

#include <optional>
#include <prometheus/metric_family.h>
#include <string>
#include <vector>

namespace regatta::manager {

struct QueueGaugesConfig {
  std::string role;        ///< value of replica_role: leader, follower or standalone
  bool resources = false;  ///< quotas and usage of ClusterQueues
  /// LocalQueues that have series of their own; none: none.
  std::optional<api::Selector> local_queues;
  std::vector<CustomMetricLabel> custom_labels{};
  bool cohorts = true;           ///< series of Cohorts
  bool creation_latency = true;  ///< how long jobs wait for their Workloads
};

/// Kueue's gauges of ClusterQueues, LocalQueues and Cohorts as they are now. What is gone has none.
std::vector<prometheus::MetricFamily> queue_gauges(Core& core, const WorkloadCounts& counts,
                                                   const QueueGaugesConfig& config);

}  // namespace regatta::manager
