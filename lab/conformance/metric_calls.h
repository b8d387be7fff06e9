#pragma once

#include "lib/base/json.h"
#include "manager/config/configuration.h"
#include "manager/metrics/metric_families.h"

#include <map>
#include <memory>
#include <prometheus/metric_family.h>
#include <string>
#include <vector>

namespace regatta::lab {

/// The custom labels of a scenario; none when the gate is off.
std::vector<manager::CustomMetricLabel> configured_labels(const Json& scenario);
/// Names for a metric whose MetricInfo::custom is `sources`: by source, then as configured.
std::vector<std::string> custom_names(const std::vector<manager::CustomMetricLabel>& labels,
                                      const std::string& sources);

/// Plays calls of the functions with which the reference reports its metrics, on families made as
/// the manager makes them.
class MetricCalls {
 public:
  explicit MetricCalls(const Json& scenario);
  Status call(const std::string& function, const Json& args);
  std::vector<prometheus::MetricFamily> collect() const { return registry_.Collect(); }

 private:
  struct Arguments;
  Status report(const std::string& op, const Arguments& args);
  void write(const std::string& metric, manager::MetricLabels labels, const Arguments& args,
             double value);
  void clear(const std::string& metric, const manager::MetricLabels& about);
  bool enabled(std::string_view gate) const;

  std::map<std::string, bool> gates_;
  std::vector<manager::CustomMetricLabel> custom_;
  prometheus::Registry registry_;
  std::map<std::string, manager::Counters*> counters_;
  std::map<std::string, manager::Gauges*> gauges_;
  std::map<std::string, manager::Histograms*> histograms_;
};

/// The samples as lines of text, sorted by metric: of Kueue's metrics that the scenario's gates
/// leave.
Json samples_of(const std::vector<prometheus::MetricFamily>& families, const Json& scenario);

}  // namespace regatta::lab
