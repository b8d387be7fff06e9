#pragma once

#include "lib/api/quantity.h"

#include <cstdint>
#include <map>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manager {

/// Gauges that are computed for one answer, by family.
class GaugePage {
 public:
  /// `role` is the label replica_role of each sample.
  explicit GaugePage(std::string role);
  void add(const char* name, const char* help, prometheus::Labels labels, double value);
  std::vector<prometheus::MetricFamily> families() &&;

 private:
  std::string role_;
  std::map<std::string, prometheus::MetricFamily> families_;
};

/// An amount as admission counts it: cpu in cores, which it counts in thousandths; infinite when it
/// has no limit.
double cores_or_units(std::string_view resource, std::int64_t amount);
/// The same of a quantity.
double gauge_value(std::string_view resource, const api::Quantity& quantity);

}  // namespace regatta::manager
