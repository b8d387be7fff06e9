#include "manager/metrics/custom_labels.h"

#include <algorithm>

namespace regatta::manager {
namespace {

/// Stands for every value that is not among the tracked ones.
constexpr std::string_view untracked = "kueue.x-k8s.io/_UNTRACKED_VALUE_";

/// The object to which a series belongs.
struct Subject {
  MetricSource kind;
  api::ObjectKey key;
};

std::optional<Subject> subject_of(const prometheus::ClientMetric& metric) {
  const auto value = [&](std::string_view name) -> const std::string* {
    const auto found = std::find_if(metric.label.begin(), metric.label.end(),
                                    [&](const auto& label) { return label.name == name; });
    return found == metric.label.end() ? nullptr : &found->value;
  };
  const std::string* ns = value("namespace");
  if (const std::string* name = value("name"); name && ns) {
    return Subject{MetricSource::LocalQueue, {*ns, *name}};
  }
  for (const std::string_view queue : {"cluster_queue", "preempting_cluster_queue"}) {
    if (const std::string* name = value(queue)) {
      return Subject{MetricSource::ClusterQueue, api::ObjectKey(*name)};
    }
  }
  if (const std::string* name = value("cohort")) {
    return Subject{MetricSource::Cohort, api::ObjectKey(*name)};
  }
  return std::nullopt;
}

std::string value_of(const CustomMetricLabel& label, const api::ObjectMeta& meta) {
  const std::string& key = label.source_label_key.empty() ? label.name : label.source_label_key;
  const std::string& value = label.source_annotation_key.empty()
                                 ? meta.label(key)
                                 : meta.annotation(label.source_annotation_key);
  const auto& tracked = label.tracked_values;
  const bool known =
      tracked.empty() || std::find(tracked.begin(), tracked.end(), value) != tracked.end();
  return known ? value : std::string(untracked);
}

}  // namespace

prometheus::Labels workload_labels(const std::vector<CustomMetricLabel>& labels,
                                   const api::ObjectMeta& workload) {
  prometheus::Labels out;
  for (const CustomMetricLabel& label : labels) {
    if (label.source_kind != MetricSource::Workload) continue;
    out["custom_" + label.name] = value_of(label, workload);
  }
  return out;
}

void add_custom_labels(const std::vector<CustomMetricLabel>& labels, const MetaLookup& meta_of,
                       std::vector<prometheus::MetricFamily>* families) {
  for (prometheus::MetricFamily& family : *families) {
    // Series about dispatched workloads have no custom labels.
    if (labels.empty() || family.name.starts_with("multikueue_")) continue;
    for (prometheus::ClientMetric& metric : family.metric) {
      const auto subject = subject_of(metric);
      if (!subject) continue;
      const api::ObjectMeta meta = meta_of(subject->kind, subject->key);
      for (const CustomMetricLabel& label : labels) {
        if (label.source_kind != subject->kind) continue;
        metric.label.push_back({"custom_" + label.name, value_of(label, meta)});
      }
    }
  }
}

}  // namespace regatta::manager
