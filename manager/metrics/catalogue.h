#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The metrics that dashboards and alerts made for Kueue read: names, types, labels and buckets.
namespace regatta::manager {

enum class MetricKind { counter, gauge, histogram };

struct MetricInfo {
  std::string name;
  MetricKind kind = MetricKind::gauge;
  std::vector<std::string> labels;  ///< in the order in which Kueue declares them
  /// Of which objects the custom labels are: any of "clhw", for ClusterQueue, LocalQueue, Cohort
  /// and Workload, in the order of their labels.
  std::string custom;
  std::vector<double> buckets;  ///< upper bounds, of a histogram
};

/// All of them, by name. `enabled`: whether a feature gate is on.
std::vector<MetricInfo> metric_catalogue(const std::function<bool(std::string_view)>& enabled);

/// "kueue_" is part of the name. Null when there is no such metric.
const MetricInfo* find_metric(std::string_view name);

/// The same for the metrics that only Regatta has.
const MetricInfo* find_own_metric(std::string_view name);

/// The metrics of Kueue's library that dashboards read, too: these are not exported.
std::vector<MetricInfo> library_metrics();

}  // namespace regatta::manager
