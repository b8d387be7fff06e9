#include "manager/metric_families.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::manager {

Counters& counter_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Gauges& gauge_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Histograms& histogram_family(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

prometheus::Histogram::BucketBoundaries wait_buckets(int count) {
  prometheus::Histogram::BucketBoundaries bounds = {1};
  for (double bound = 2.5; static_cast<int>(bounds.size()) < count; bound *= 2) {
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

TimePoint waits_since(const api::Workload& workload) {
  const api::Condition* requeued =
      api::find_condition(workload.status.conditions, api::conditions::requeued);
  if (requeued && requeued->status == api::ConditionStatus::True) {
    return requeued->last_transition_time;
  }
  return workload.metadata.creation_timestamp.value_or(TimePoint());
}

std::string queue_of(const api::Workload& before, const api::Workload& after) {
  if (after.status.admission) return after.status.admission->cluster_queue;
  return before.status.admission ? before.status.admission->cluster_queue : std::string();
}

std::string priority_of(const api::Workload& workload) {
  return workload.spec.priority_class_ref ? workload.spec.priority_class_ref->name : std::string();
}

}  // namespace regatta::manager
