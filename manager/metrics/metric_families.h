#pragma once

#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <functional>
#include <optional>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <string>
#include <string_view>

/// The building blocks of the manager's metrics, and how Kueue measures waiting times.
namespace regatta::manager {

using MetricLabels = prometheus::Labels;
using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

Counters& counter_family(prometheus::Registry& registry, const char* name, const char* help);
Gauges& gauge_family(prometheus::Registry& registry, const char* name, const char* help);
Histograms& histogram_family(prometheus::Registry& registry, const char* name, const char* help);

/// The LocalQueue of a Workload as labels, or unset where LocalQueues have no series of their own.
using LocalQueueLabels = std::function<std::optional<MetricLabels>(const api::Workload&)>;

/// A series of ClusterQueues, and the same for LocalQueues: "kueue_x" and "kueue_local_queue_x".
template <class Family>
struct Twins {
  Family& of_queue;
  Family& of_local;

  /// `labels`: with cluster_queue. `record` is called with each family and its labels.
  template <class Record>
  void each(MetricLabels labels, const std::optional<MetricLabels>& local, Record record) const {
    record(of_queue, labels);
    if (!local) return;
    labels.erase("cluster_queue");
    labels.insert(local->begin(), local->end());
    record(of_local, labels);
  }
};
using CounterTwins = Twins<Counters>;
using HistogramTwins = Twins<Histograms>;

/// `name`: without "kueue_".
CounterTwins counter_twins(prometheus::Registry& registry, const std::string& name,
                           const char* help);
HistogramTwins histogram_twins(prometheus::Registry& registry, const std::string& name,
                               const char* help);
void count(const CounterTwins& twins, const MetricLabels& labels,
           const std::optional<MetricLabels>& local);
void observe(const HistogramTwins& twins, const MetricLabels& labels,
             const std::optional<MetricLabels>& local,
             const prometheus::Histogram::BucketBoundaries& bounds, double value);

/// Drops the series that have all of these labels: their object is deleted, and series of objects
/// that come and go must not accumulate.
void forget_series(Counters& family, const MetricLabels& about);
void forget_series(Gauges& family, const MetricLabels& about);
void forget_series(Histograms& family, const MetricLabels& about);
template <class Family>
void forget_series(const Twins<Family>& twins, const MetricLabels& about) {
  forget_series(twins.of_queue, about);
  forget_series(twins.of_local, about);
}

/// 1, 2.5, 5, 10 … doubling: `count` bounds.
prometheus::Histogram::BucketBoundaries wait_buckets(int count);
/// `first`, twice that, and so on: `count` bounds.
prometheus::Histogram::BucketBoundaries doubling_buckets(double first, int count);

/// Never negative.
double seconds_between(TimePoint from, TimePoint to);

/// The condition, when it is true in `after` and was not in `before`; else null.
const api::Condition* newly_true(const api::Workload& before, const api::Workload& after,
                                 std::string_view type);
/// The ClusterQueue that holds or held its reservation, or empty.
std::string queue_of(const api::Workload& before, const api::Workload& after);
std::string priority_of(const api::Workload& workload);

}  // namespace regatta::manager
