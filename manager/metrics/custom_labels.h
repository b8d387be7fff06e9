#pragma once

#include "lib/api/meta.h"
#include "manager/config/configuration.h"

#include <functional>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <vector>

namespace regatta::manager {

/// The metadata of an object, empty when there is none.
using MetaLookup = std::function<api::ObjectMeta(MetricSource, const api::ObjectKey&)>;

/// The labels of a Workload. They split the series that count Workloads one by one: of those that
/// wait, that are admitted, and that a LocalQueue has had admitted. Empty without any configured.
prometheus::Labels workload_labels(const std::vector<CustomMetricLabel>& labels,
                                   const api::ObjectMeta& workload);

/// Adds the configured labels "custom_<name>" to every series of a ClusterQueue, LocalQueue or
/// Cohort. The value is that of the object's label or annotation now; empty without one.
void add_custom_labels(const std::vector<CustomMetricLabel>& labels, const MetaLookup& meta_of,
                       std::vector<prometheus::MetricFamily>* families);

}  // namespace regatta::manager
