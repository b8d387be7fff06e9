#pragma once

#include "clusters/local_cluster.h"
#include "manager/config/configuration.h"

#include <prometheus/metric_family.h>
#include <vector>

namespace regatta::manager {

/// Adds to every series of a ClusterQueue, LocalQueue or Cohort the configured labels
/// "custom_<name>", with what the object's label or annotation says now; empty where it says
/// nothing.
void add_custom_labels(const std::vector<CustomMetricLabel>& labels,
                       const clusters::LocalCluster& local,
                       std::vector<prometheus::MetricFamily>* families);

}  // namespace regatta::manager
