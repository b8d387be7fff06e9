#pragma once

#include <prometheus/metric_family.h>
#include <string>
#include <vector>

namespace regatta::manager {

/// Counters, gauges and histograms in Prometheus' text format. A value is written with as many
/// digits as it takes to read the same value again; prometheus-cpp writes 16 digits of 17.
std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace regatta::manager
