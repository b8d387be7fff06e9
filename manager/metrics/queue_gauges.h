#pragma once

#include "admission/status_reader.h"
#include "lib/api/kueue.h"
#include "lib/api/labels.h"
#include "manager/config/configuration.h"
#include "manager/metrics/workload_counts.h"

#include <functional>
#include <memory>
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
  bool cohort_info = true;       ///< where ClusterQueues and Cohorts are in their tree
  bool creation_latency = true;  ///< how long a job waits for its Workload
};

/// What the gauges are made of: the queues as admission knows them, and their objects with the
/// status that is written for them.
struct GaugeSource {
  admission::StatusReader reader;
  std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues;
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues;
  std::function<std::shared_ptr<const api::LocalQueue>(const api::ObjectKey&)> find_local_queue;
  const WorkloadCounts& counts;
  /// Only asked when labels of Workloads are configured.
  std::function<api::ObjectMeta(const api::ObjectKey&)> find_workload;
};

/// Kueue's gauges of ClusterQueues, LocalQueues and Cohorts, as of now. A deleted object has none.
std::vector<prometheus::MetricFamily> queue_gauges(const GaugeSource& source,
                                                   const QueueGaugesConfig& config);

}  // namespace regatta::manager
