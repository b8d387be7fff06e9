#pragma once

#include "clusters/local_cluster.h"
#include "manager/config/configuration.h"

#include <prometheus/metric_family.h>
#include <vector>

namespace regatta::manager {

/// Adds the configured labels "custom_<name>" to every series of a ClusterQueue, LocalQueue or
/// Cohort. The value is that of the object's label or annotation now; empty without one.
void add_custom_labels(const std::vector<CustomMetricLabel>& labels,
                       const clusters::LocalCluster& local,
                       std::vector<prometheus::MetricFamily>* families);

}  // namespace regatta::manager
