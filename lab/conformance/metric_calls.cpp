#include "lab/conformance/metric_calls.h"

#include "lib/base/duration.h"
#include "lib/base/json_access.h"
#include "manager/metrics/catalogue.h"
#include "manager/metrics/metrics_text.h"
#include "webhooks/gates.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

namespace regatta::lab {
namespace {

using manager::MetricInfo;
using manager::MetricKind;
using manager::MetricLabels;
using manager::MetricSource;

/// Each line: a function, its arguments, and after ":" the metrics it writes, without "kueue_".
/// An argument is a label, or "lq" (a LocalQueue), "s" (a duration), "s+" (one that is never
/// negative), "_" (of no matter), or the name of a number. A metric takes the number that stands
/// after "=", or the only one. "x[status=a]" is the series with that label; "x[status?a|b]" is
/// series of all these values, 1 for the one that "is" names. Custom labels and role come last.
constexpr std::string_view functions[] = {
    "AdmissionAttempt result s : admission_attempts_total admission_attempt_duration_seconds",
    "ReportMultiKueueWorkloadDispatched cluster_queue cluster : "
    "@multikueue_workloads_dispatched_total",
    "ReportMultiKueueWorkloadAdmitted cluster_queue cluster : @multikueue_workloads_admitted_total",
    "RecordWorkloadCreationLatency job_kind s custom : workload_creation_latency_seconds",
    "RecordPodSchedulingGateRemovalSeconds name cluster_queue is_group s+ : "
    "pod_scheduling_gate_removal_seconds",
    "QuotaReservedWorkload cluster_queue priority_class s custom : quota_reserved_workloads_total "
    "quota_reserved_wait_time_seconds",
    "LocalQueueQuotaReservedWorkload lq priority_class s custom : "
    "local_queue_quota_reserved_workloads_total local_queue_quota_reserved_wait_time_seconds",
    "IncrementFinishedWorkloadTotal cluster_queue priority_class custom : finished_workloads_total",
    "IncrementLocalQueueFinishedWorkloadTotal lq priority_class custom : "
    "local_queue_finished_workloads_total",
    "ReportExecutionTime cluster_queue priority_class s+ custom : execution_time_seconds",
    "ReportLocalQueueExecutionTime lq priority_class s+ custom : "
    "local_queue_execution_time_seconds",
    "ReportFinishedWorkloads cluster_queue n custom : finished_workloads",
    "ReportLocalQueueFinishedWorkloads lq n custom : local_queue_finished_workloads",
    "AdmittedWorkload cluster_queue priority_class s custom : admitted_workloads_total "
    "admission_wait_time_seconds",
    "LocalQueueAdmittedWorkload lq priority_class s custom : local_queue_admitted_workloads_total "
    "local_queue_admission_wait_time_seconds",
    "ReportAdmissionChecksWaitTime cluster_queue priority_class s custom : "
    "admission_checks_wait_time_seconds",
    "ReportLocalQueueAdmissionChecksWaitTime lq priority_class s custom : "
    "local_queue_admission_checks_wait_time_seconds",
    "ReadyWaitTime cluster_queue priority_class s custom : ready_wait_time_seconds",
    "LocalQueueReadyWaitTime lq priority_class s custom : local_queue_ready_wait_time_seconds",
    "ReportAdmittedUntilReadyWaitTime cluster_queue priority_class s custom : "
    "admitted_until_ready_wait_time_seconds",
    "ReportLocalQueueAdmittedUntilReadyWaitTime lq priority_class s custom : "
    "local_queue_admitted_until_ready_wait_time_seconds",
    "ReportPendingWorkloads cluster_queue status n custom : pending_workloads",
    "ReportPendingSchedulingHashes cluster_queue active inadmissible custom : "
    "pending_scheduling_hashes[status=active] pending_scheduling_hashes[status=inadmissible]",
    "ReportWorkloadEvictionLatency cluster_queue reason s+ custom : "
    "workload_eviction_latency_seconds",
    "ReportLocalQueuePendingWorkloads lq active inadmissible custom : "
    "local_queue_pending_workloads[status=active] "
    "local_queue_pending_workloads[status=inadmissible]",
    "ReportEvictedWorkloads cluster_queue reason underlying_cause priority_class custom : "
    "evicted_workloads_total",
    "ReportReplacedWorkloadSlices cluster_queue custom : replaced_workload_slices_total",
    "ReportLocalQueueEvictedWorkloads lq reason underlying_cause priority_class custom : "
    "local_queue_evicted_workloads_total",
    "ReportEvictedWorkloadsOnce cluster_queue reason underlying_cause priority_class custom : "
    "evicted_workloads_once_total",
    "ReportPreemption preempting_cluster_queue reason _ custom : preempted_workloads_total",
    "ReportClusterQueueStatus cluster_queue is custom : "
    "cluster_queue_status[status?active|pending|terminating]",
    "ReportLocalQueueStatus lq is custom : local_queue_status[active?True|False|Unknown]",
    "ReportClusterQueueQuotas cohort cluster_queue flavor resource nominal borrowing lending "
    "custom : cluster_queue_nominal_quota=nominal cluster_queue_borrowing_limit=borrowing "
    "cluster_queue_lending_limit=lending",
    "ReportCohortSubtreeQuota cohort flavor resource n custom : cohort_subtree_quota",
    "ReportCohortSubtreeAdmittedWorkload cohort priority_class custom : "
    "cohort_subtree_admitted_workloads_total",
    "ReportCohortSubtreeResourceReservations cohort flavor resource n custom : "
    "cohort_subtree_resource_reservations",
    "ReportCohortInfo cohort parent_cohort root_cohort custom : cohort_info",
    "ReportClusterQueueInfo cluster_queue parent_cohort root_cohort custom : cluster_queue_info",
    "ReportClusterQueueResourceReservations cohort cluster_queue flavor resource n custom : "
    "cluster_queue_resource_reservation",
    "ReportClusterQueueResourcePending cluster_queue resource n custom : "
    "cluster_queue_resource_pending",
    "ReportLocalQueueResourceReservations lq flavor resource n custom : "
    "local_queue_resource_reservation",
    "ReportClusterQueueResourceUsage cohort cluster_queue flavor resource n custom : "
    "cluster_queue_resource_usage",
    "ReportLocalQueueResourceUsage lq flavor resource n custom : local_queue_resource_usage",
    "ReportLocalQueueAdmissionFairSharingUsage lq cluster_queue n custom : "
    "local_queue_admission_fair_sharing_usage",
    "ReportClusterQueueWeightedShare cluster_queue cohort n custom : cluster_queue_weighted_share",
    "ReportCohortWeightedShare cohort n custom : cohort_weighted_share",
    "ReportCohortSubtreeAdmittedActiveWorkloads cohort n custom : "
    "cohort_subtree_admitted_active_workloads",
    "ReportAdmittedActiveWorkloads cluster_queue n custom : admitted_active_workloads",
    "ReportReservingActiveWorkloads cluster_queue n custom : reserving_active_workloads",
    "ReportLocalQueueAdmittedActiveWorkloads lq n custom : local_queue_admitted_active_workloads",
    "ReportLocalQueueReservingActiveWorkloads lq n custom : local_queue_reserving_active_workloads",
    "ReportPodsReadyToEvictedTimeSeconds cluster_queue reason underlying_cause s custom : "
    "pods_ready_to_evicted_time_seconds",
    "ReportAdmissionCyclePreemptionSkips cluster_queue n custom : admission_cycle_preemption_skips",
    "ReportPreemptionTargetRecomputation cluster_queue result custom : "
    "preemption_target_recomputations_total",
    "ReportUnadmittedWorkload cluster_queue reason underlying_cause custom role n : "
    "unadmitted_workloads",
    "ReportLocalQueueUnadmittedWorkload lq cluster_queue reason underlying_cause custom role n : "
    "local_queue_unadmitted_workloads",
    "ClearPendingWorkloads cluster_queue status custom : -pending_workloads",
    "ClearUnadmittedWorkloadLabelValues cluster_queue reason underlying_cause custom : "
    "-unadmitted_workloads",
    "ClearLocalQueueUnadmittedWorkloadLabelValues lq cluster_queue reason underlying_cause custom "
    ": -local_queue_unadmitted_workloads",
    "ClearClusterQueueMetrics cluster_queue : -admission_cycle_preemption_skips -pending_workloads "
    "-pending_scheduling_hashes -finished_workloads -unadmitted_workloads "
    "-cluster_queue_resource_pending -quota_reserved_workloads_total "
    "-quota_reserved_wait_time_seconds -finished_workloads_total -execution_time_seconds "
    "-pods_ready_to_evicted_time_seconds -admitted_workloads_total -admission_wait_time_seconds "
    "-admission_checks_wait_time_seconds -ready_wait_time_seconds "
    "-admitted_until_ready_wait_time_seconds -evicted_workloads_total "
    "-evicted_workloads_once_total -preempted_workloads_total "
    "-preemption_target_recomputations_total -workload_eviction_latency_seconds "
    "-pod_scheduling_gate_removal_seconds",
    "ClearClusterQueueMetricsOnLabelChange cluster_queue : -replaced_workload_slices_total "
    "-unadmitted_workloads -cluster_queue_weighted_share",
    "ClearLocalQueueMetrics lq : -local_queue_pending_workloads -local_queue_finished_workloads "
    "-local_queue_unadmitted_workloads -local_queue_admission_fair_sharing_usage "
    "-local_queue_quota_reserved_workloads_total -local_queue_quota_reserved_wait_time_seconds "
    "-local_queue_finished_workloads_total -local_queue_execution_time_seconds "
    "-local_queue_admitted_workloads_total -local_queue_admission_wait_time_seconds "
    "-local_queue_admission_checks_wait_time_seconds -local_queue_ready_wait_time_seconds "
    "-local_queue_admitted_until_ready_wait_time_seconds -local_queue_evicted_workloads_total",
    "ClearCohortMetrics cohort : -cohort_weighted_share -cohort_subtree_quota "
    "-cohort_subtree_resource_reservations",
    "ClearCohortAdmittedWorkloadsMetrics cohort : -cohort_subtree_admitted_workloads_total "
    "-cohort_subtree_admitted_active_workloads",
    "ClearCacheMetrics cluster_queue : -reserving_active_workloads -admitted_active_workloads "
    "-cluster_queue_status -unadmitted_workloads",
    "ClearLocalQueueCacheMetrics lq : -local_queue_reserving_active_workloads "
    "-local_queue_admitted_active_workloads -local_queue_status -local_queue_unadmitted_workloads",
    "ClearCohortSubtreeQuota cohort flavor resource : -cohort_subtree_quota",
    "ClearCohortSubtreeResourceReservations cohort flavor resource : "
    "-cohort_subtree_resource_reservations",
    "ClearCohortInfo cohort : -cohort_info",
    "ClearClusterQueueInfo cluster_queue : -cluster_queue_info",
    "ClearClusterQueueResourcePendingMetrics cluster_queue : -cluster_queue_resource_pending",
    "ClearClusterQueueResourceMetrics cluster_queue : -cluster_queue_resource_reservation "
    "-cluster_queue_resource_pending -cluster_queue_resource_usage -cluster_queue_nominal_quota "
    "-cluster_queue_borrowing_limit -cluster_queue_lending_limit",
    "ClearLocalQueueResourceMetrics lq : -local_queue_resource_reservation "
    "-local_queue_resource_usage",
    "ClearClusterQueueResourceQuotas cluster_queue flavor resource : -cluster_queue_nominal_quota "
    "-cluster_queue_borrowing_limit -cluster_queue_lending_limit",
    "ClearClusterQueueResourceUsage cluster_queue flavor resource : -cluster_queue_resource_usage",
    "ClearClusterQueueResourceReservations cluster_queue flavor resource : "
    "-cluster_queue_resource_reservation",
    "ClearGaugeMetricsForRole replica_role : *"};

constexpr const char* numbers[] = {"n",       "active",    "inadmissible",
                                   "nominal", "borrowing", "lending"};

double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text == "Inf" || text == "+Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  return std::nan("");
}

double seconds_of(const Json& value) {
  const auto read = value.is_string() ? parse_go_duration(value.get<std::string>()) : std::nullopt;
  return read ? static_cast<double>(read->count()) / 1e9 : 0;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : dump_json(value);
}

/// The line of a function, in words; empty when there is no such function.
std::vector<std::string> line_of(const std::string& function) {
  for (const std::string_view line : functions) {
    if (!line.starts_with(function + " ")) continue;
    std::istringstream words{std::string(line)};
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

}  // namespace

struct MetricCalls::Arguments {
  MetricLabels labels;
  std::map<std::string, double> numbers;
  std::vector<std::string> custom;
  std::string is;

  void read(const std::string& name, const Json& value) {
    if (name == "_") return;
    if (name == "s" || name == "s+") {
      const double seconds = seconds_of(value);
      numbers["n"] = name == "s+" ? std::max(0.0, seconds) : seconds;
    } else if (std::find(std::begin(lab::numbers), std::end(lab::numbers), name) !=
               std::end(lab::numbers)) {
      numbers[name] = number_of(value);
    } else if (name == "lq") {
      labels["name"] = text_at(value, "name");
      labels["namespace"] = text_at(value, "namespace");
    } else if (name == "custom") {
      for (const Json& one : value.is_array() ? value : Json::array())
        custom.push_back(text_of(one));
    } else if (name == "is") {
      is = text_of(value);
    } else if (name == "role") {
      labels["replica_role"] = value.is_null() ? "standalone" : text_of(value);
    } else {
      labels[name] = text_of(value);
    }
  }
};

std::vector<manager::CustomMetricLabel> configured_labels(const Json& scenario) {
  std::vector<manager::CustomMetricLabel> out;
  if (!true_at(object_or_empty(scenario, {"featureGates"}), "CustomMetricLabels")) return out;
  for (const Json& label : list_or_empty(object_or_empty(scenario, {"config"}), "customLabels")) {
    manager::CustomMetricLabel& one = out.emplace_back();
    const std::string& kind = text_at(label, "sourceKind");
    one.name = text_at(label, "name");
    one.source_kind = kind == "LocalQueue" ? MetricSource::LocalQueue
                      : kind == "Cohort"   ? MetricSource::Cohort
                      : kind == "Workload" ? MetricSource::Workload
                                           : MetricSource::ClusterQueue;
    one.source_label_key = text_at(label, "sourceLabelKey");
    one.source_annotation_key = text_at(label, "sourceAnnotationKey");
    for (const Json& value : list_or_empty(label, "trackedValues")) {
      one.tracked_values.push_back(text_of(value));
    }
  }
  return out;
}

std::vector<std::string> custom_names(const std::vector<manager::CustomMetricLabel>& labels,
                                      const std::string& sources) {
  const std::map<char, MetricSource> kinds = {{'c', MetricSource::ClusterQueue},
                                              {'l', MetricSource::LocalQueue},
                                              {'h', MetricSource::Cohort},
                                              {'w', MetricSource::Workload}};
  std::vector<std::string> out;
  for (const char source : sources) {
    for (const auto& label : labels) {
      if (label.source_kind == kinds.at(source)) out.push_back("custom_" + label.name);
    }
  }
  return out;
}

MetricCalls::MetricCalls(const Json& scenario) : custom_(configured_labels(scenario)) {
  for (const auto& [name, value] : object_or_empty(scenario, {"featureGates"}).items()) {
    gates_[name] = value == true;
  }
}

bool MetricCalls::enabled(std::string_view gate) const {
  const auto found = gates_.find(std::string(gate));
  return found == gates_.end() || found->second;
}

Status MetricCalls::call(const std::string& function, const Json& values) {
  const std::vector<std::string> line = line_of(function);
  if (line.empty()) return Error(Errc::invalid, "there is no function " + function);
  const auto colon = std::find(line.begin(), line.end(), ":");
  Arguments args;
  std::size_t at = 0;
  for (auto name = line.begin() + 1; name != colon && at < values.size(); ++name) {
    args.read(*name, values[at++]);
  }
  // The role is the last argument unless the line says where it is.
  if (at < values.size() && function.rfind("Clear", 0) != 0) args.read("role", values[at]);
  if (!args.labels.contains("replica_role") && function.rfind("Clear", 0) != 0) {
    args.labels["replica_role"] = "standalone";
  }
  if (function == "ReportPendingSchedulingHashes" && !enabled("SchedulingEquivalenceHashing")) {
    return ok();
  }
  for (auto op = colon + 1; op != line.end(); ++op) {
    if (const Status done = report(*op, args); !done) return done;
  }
  return ok();
}

Status MetricCalls::report(const std::string& op, const Arguments& args) {
  if (op == "*") {
    for (const auto& [name, family] : gauges_) clear(name, args.labels);
    return ok();
  }
  if (op.starts_with('-')) {
    MetricLabels about = args.labels;
    // An empty flavor or resource stands for all of them.
    std::erase_if(about, [](const auto& label) {
      return label.second.empty() && (label.first == "resource" || label.first == "flavor");
    });
    if (op == "-preempted_workloads_total") {
      about = {{"preempting_cluster_queue", about["cluster_queue"]}};
    }
    clear("kueue_" + op.substr(1), about);
    return ok();
  }
  const std::size_t end = std::min(op.find_first_of("[="), op.size());
  const std::string metric =
      op.starts_with('@') ? op.substr(1, end - 1) : "kueue_" + op.substr(0, end);
  const auto number = [&](const std::string& name) {
    const auto found = args.numbers.find(name);
    return found == args.numbers.end() ? 1.0 : found->second;
  };
  if (end == op.size()) {
    write(metric, args.labels, args, number("n"));
  } else if (op[end] == '=') {
    write(metric, args.labels, args, number(op.substr(end + 1)));
  } else {
    const std::string inside = op.substr(end + 1, op.size() - end - 2);
    const std::size_t mark = inside.find_first_of("?=");
    std::istringstream values(inside.substr(mark + 1));
    std::string value;
    while (std::getline(values, value, '|')) {
      MetricLabels labels = args.labels;
      labels[inside.substr(0, mark)] = value;
      const bool one_hot = inside[mark] == '?';
      write(metric, labels, args, one_hot ? static_cast<double>(value == args.is) : number(value));
    }
  }
  return ok();
}

void MetricCalls::write(const std::string& metric, MetricLabels labels, const Arguments& args,
                        double value) {
  const MetricInfo* info = manager::find_metric(metric);
  if (info == nullptr) return;  // counted by the reference, and exported by nothing
  const std::vector<std::string> names = custom_names(custom_, info->custom);
  for (std::size_t i = 0; i < std::min(names.size(), args.custom.size()); ++i) {
    labels[names[i]] = args.custom[i];
  }
  const auto family = [&](auto& families, auto make) -> auto& {
    auto& found = families[metric];
    if (found == nullptr) found = &make(registry_, metric.c_str(), "");
    return *found;
  };
  if (info->kind == MetricKind::counter) {
    family(counters_, manager::counter_family).Add(labels).Increment();
  } else if (info->kind == MetricKind::gauge) {
    family(gauges_, manager::gauge_family).Add(labels).Set(value);
  } else {
    family(histograms_, manager::histogram_family).Add(labels, info->buckets).Observe(value);
  }
}

void MetricCalls::clear(const std::string& metric, const MetricLabels& about) {
  if (const auto found = counters_.find(metric); found != counters_.end())
    manager::forget_series(*found->second, about);
  if (const auto found = gauges_.find(metric); found != gauges_.end())
    manager::forget_series(*found->second, about);
  if (const auto found = histograms_.find(metric); found != histograms_.end())
    manager::forget_series(*found->second, about);
}

Json samples_of(const std::vector<prometheus::MetricFamily>& families, const Json& scenario) {
  const Json& gates = object_or_empty(scenario, {"featureGates"});
  std::set<std::string> exported;
  for (const MetricInfo& info : manager::metric_catalogue(
           [&](std::string_view gate) { return at_or_null(gates, gate) != false; })) {
    if (info.name != "kueue_build_info") exported.insert(info.name);
  }
  std::map<std::string, prometheus::MetricFamily> sorted;
  for (const prometheus::MetricFamily& family : families) {
    if (exported.contains(family.name)) sorted[family.name] = family;
  }
  Json out = Json::array();
  for (auto& [name, family] : sorted) {
    for (auto& metric : family.metric) std::sort(metric.label.begin(), metric.label.end());
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
    std::istringstream lines(manager::metrics_text({family}));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) out.push_back(std::move(line));
    }
  }
  return out;
}

}  // namespace regatta::lab
