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
  /// LocalQueues that have series of their own; unset: no LocalQueue has.
  std::optional<api::Selector> local_queues;
  std::vector<CustomMetricLabel> custom_labels{};
  bool cohorts = true;           ///< series of Cohorts
  bool creation_latency = true;  ///< how long a job waits for its Workload
};

/// Kueue's gauges of ClusterQueues, LocalQueues and Cohorts, as of now. A deleted object has none.
std::vector<prometheus::MetricFamily> queue_gauges(Core& core, const WorkloadCounts& counts,
                                                   const QueueGaugesConfig& config);

}  // namespace regatta::manager
