#include "manager/metrics/metric_families.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::manager {
namespace {

/// Drops the series that have all labels of `about`. Remove() needs the series itself, and Add()
/// returns it: `make` are the further arguments that Add() requires.
template <class Family, class... Make>
void forget(Family& family, const MetricLabels& about, const Make&... make) {
  for (const prometheus::MetricFamily& collected : family.Collect()) {
    for (const prometheus::ClientMetric& metric : collected.metric) {
      MetricLabels labels;
      for (const auto& label : metric.label) labels[label.name] = label.value;
      if (std::includes(labels.begin(), labels.end(), about.begin(), about.end())) {
        family.Remove(&family.Add(labels, make...));
      }
    }
  }
}

}  // namespace

Counters& counter_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Gauges& gauge_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Histograms& histogram_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

CounterTwins counter_twins(prometheus::Registry& registry, const std::string& name,
                           const char* help) {
  return {counter_family(registry, ("kueue_" + name).c_str(), help),
          counter_family(registry, ("kueue_local_queue_" + name).c_str(), help)};
}
HistogramTwins histogram_twins(prometheus::Registry& registry, const std::string& name,
                               const char* help) {
  return {histogram_family(registry, ("kueue_" + name).c_str(), help),
          histogram_family(registry, ("kueue_local_queue_" + name).c_str(), help)};
}

void count(const CounterTwins& twins, const MetricLabels& labels,
           const std::optional<MetricLabels>& local) {
  twins.each(labels, local,
             [](Counters& family, const MetricLabels& of) { family.Add(of).Increment(); });
}

void observe(const HistogramTwins& twins, const MetricLabels& labels,
             const std::optional<MetricLabels>& local,
             const prometheus::Histogram::BucketBoundaries& bounds, double value) {
  twins.each(labels, local, [&](Histograms& family, const MetricLabels& of) {
    family.Add(of, bounds).Observe(value);
  });
}

void forget_series(Counters& family, const MetricLabels& about) {
  forget(family, about);
}
void forget_series(Gauges& family, const MetricLabels& about) {
  forget(family, about);
}
void forget_series(Histograms& family, const MetricLabels& about) {
  forget(family, about, prometheus::Histogram::BucketBoundaries());
}

prometheus::Histogram::BucketBoundaries wait_buckets(int count) {
  prometheus::Histogram::BucketBoundaries bounds = doubling_buckets(2.5, count - 1);
  bounds.insert(bounds.begin(), 1);
  return bounds;
}

prometheus::Histogram::BucketBoundaries doubling_buckets(double first, int count) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = first; static_cast<int>(bounds.size()) < count; bound *= 2) {
    bounds.push_back(bound);
  }
  return bounds;
}

double seconds_between(TimePoint from, TimePoint to) {
  return std::max(0.0, static_cast<double>((to - from).count()) / 1000.0);
}

const api::Condition* newly_true(const api::Workload& before, const api::Workload& after,
                                 std::string_view type) {
  if (api::is_true(before.status.conditions, type)) return nullptr;
  const api::Condition* now = api::find_condition(after.status.conditions, type);
  return now && now->status == api::ConditionStatus::True ? now : nullptr;
}

std::string queue_of(const api::Workload& before, const api::Workload& after) {
  if (after.status.admission) return after.status.admission->cluster_queue;
  return before.status.admission ? before.status.admission->cluster_queue : std::string();
}

std::string priority_of(const api::Workload& workload) {
  return workload.spec.priority_class_ref ? workload.spec.priority_class_ref->name : std::string();
}

}  // namespace regatta::manager
