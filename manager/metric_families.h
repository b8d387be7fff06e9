#pragma once

#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <string>
#include <string_view>

/// What the manager's metrics are made of, and how Kueue measures waiting.
namespace regatta::manager {

using MetricLabels = prometheus::Labels;
using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

Counters& counter_family(prometheus::Registry& registry, const char* name, const char* help);
Gauges& gauge_family(prometheus::Registry& registry, const char* name, const char* help);
Histograms& histogram_family(prometheus::Registry& registry, const char* name, const char* help);

/// 1, 2.5, 5, 10 … doubling: `count` bounds.
prometheus::Histogram::BucketBoundaries wait_buckets(int count);

/// Never negative.
double seconds_between(TimePoint from, TimePoint to);

/// The condition, when it is true now and was not before; else null.
const api::Condition* newly_true(const api::Workload& before, const api::Workload& after,
                                 std::string_view type);
/// Since when the Workload waits, or waited: its creation, or its last return to the queue.
TimePoint waits_since(const api::Workload& workload);
/// The ClusterQueue that holds or held its reservation, or empty.
std::string queue_of(const api::Workload& before, const api::Workload& after);
std::string priority_of(const api::Workload& workload);

}  // namespace regatta::manager
