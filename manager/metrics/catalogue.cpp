#include "manager/metrics/catalogue.h"

#include "manager/metrics/metric_families.h"

#include <algorithm>
#include <iterator>

namespace regatta::manager {
namespace {

/// Name, kind, labels, objects of custom labels, and buckets.
constexpr std::string_view kueue_metrics[] = {
    "kueue_admission_attempt_duration_seconds histogram result,replica_role - seconds",
    "kueue_admission_attempts_total counter result,replica_role -",
    "kueue_admission_checks_wait_time_seconds histogram cluster_queue,priority_class,replica_role "
    "c waits14",
    "kueue_admission_cycle_preemption_skips gauge cluster_queue,replica_role c",
    "kueue_admission_wait_time_seconds histogram cluster_queue,priority_class,replica_role c "
    "waits16",
    "kueue_admitted_active_workloads gauge cluster_queue,replica_role cw",
    "kueue_admitted_until_ready_wait_time_seconds histogram "
    "cluster_queue,priority_class,replica_role c waits14",
    "kueue_admitted_workloads_total counter cluster_queue,priority_class,replica_role c",
    "kueue_build_info gauge git_version,git_commit,build_date,go_version,compiler,platform -",
    "kueue_cluster_queue_borrowing_limit gauge cohort,cluster_queue,flavor,resource,replica_role c",
    "kueue_cluster_queue_info gauge cluster_queue,parent_cohort,root_cohort,replica_role c",
    "kueue_cluster_queue_lending_limit gauge cohort,cluster_queue,flavor,resource,replica_role c",
    "kueue_cluster_queue_nominal_quota gauge cohort,cluster_queue,flavor,resource,replica_role c",
    "kueue_cluster_queue_resource_pending gauge cluster_queue,resource,replica_role c",
    "kueue_cluster_queue_resource_reservation gauge "
    "cohort,cluster_queue,flavor,resource,replica_role c",
    "kueue_cluster_queue_resource_usage gauge cohort,cluster_queue,flavor,resource,replica_role c",
    "kueue_cluster_queue_status gauge cluster_queue,status,replica_role c",
    "kueue_cluster_queue_weighted_share gauge cluster_queue,cohort,replica_role c",
    "kueue_cohort_info gauge cohort,parent_cohort,root_cohort,replica_role h",
    "kueue_cohort_subtree_admitted_active_workloads gauge cohort,replica_role c",
    "kueue_cohort_subtree_admitted_workloads_total counter cohort,priority_class,replica_role h",
    "kueue_cohort_subtree_quota gauge cohort,flavor,resource,replica_role h",
    "kueue_cohort_subtree_resource_reservations gauge cohort,flavor,resource,replica_role h",
    "kueue_cohort_weighted_share gauge cohort,replica_role h",
    "kueue_evicted_workloads_once_total counter "
    "cluster_queue,reason,underlying_cause,priority_class,replica_role c",
    "kueue_evicted_workloads_total counter "
    "cluster_queue,reason,underlying_cause,priority_class,replica_role c",
    "kueue_execution_time_seconds histogram cluster_queue,priority_class,replica_role c waits16",
    "kueue_finished_workloads gauge cluster_queue,replica_role c",
    "kueue_finished_workloads_total counter cluster_queue,priority_class,replica_role c",
    "kueue_local_queue_admission_checks_wait_time_seconds histogram "
    "name,namespace,priority_class,replica_role l waits14",
    "kueue_local_queue_admission_fair_sharing_usage gauge "
    "name,namespace,cluster_queue,replica_role l",
    "kueue_local_queue_admission_wait_time_seconds histogram "
    "name,namespace,priority_class,replica_role lw waits14",
    "kueue_local_queue_admitted_active_workloads gauge name,namespace,replica_role lw",
    "kueue_local_queue_admitted_until_ready_wait_time_seconds histogram "
    "name,namespace,priority_class,replica_role l waits14",
    "kueue_local_queue_admitted_workloads_total counter name,namespace,priority_class,replica_role "
    "lw",
    "kueue_local_queue_evicted_workloads_total counter "
    "name,namespace,reason,underlying_cause,priority_class,replica_role l",
    "kueue_local_queue_execution_time_seconds histogram name,namespace,priority_class,replica_role "
    "l waits16",
    "kueue_local_queue_finished_workloads gauge name,namespace,replica_role l",
    "kueue_local_queue_finished_workloads_total counter name,namespace,priority_class,replica_role "
    "l",
    "kueue_local_queue_pending_workloads gauge name,namespace,status,replica_role l",
    "kueue_local_queue_quota_reserved_wait_time_seconds histogram "
    "name,namespace,priority_class,replica_role l waits14",
    "kueue_local_queue_quota_reserved_workloads_total counter "
    "name,namespace,priority_class,replica_role l",
    "kueue_local_queue_ready_wait_time_seconds histogram "
    "name,namespace,priority_class,replica_role l waits14",
    "kueue_local_queue_reserving_active_workloads gauge name,namespace,replica_role l",
    "kueue_local_queue_resource_reservation gauge name,namespace,flavor,resource,replica_role l",
    "kueue_local_queue_resource_usage gauge name,namespace,flavor,resource,replica_role l",
    "kueue_local_queue_status gauge name,namespace,active,replica_role l",
    "kueue_local_queue_unadmitted_workloads gauge "
    "name,namespace,cluster_queue,reason,underlying_cause,replica_role l",
    "kueue_pending_scheduling_hashes gauge cluster_queue,status,replica_role c",
    "kueue_pending_workloads gauge cluster_queue,status,replica_role cw",
    "kueue_pod_scheduling_gate_removal_seconds histogram name,cluster_queue,is_group,replica_role "
    "c seconds",
    "kueue_pods_ready_to_evicted_time_seconds histogram "
    "cluster_queue,reason,underlying_cause,replica_role c waits14",
    "kueue_preempted_workloads_total counter preempting_cluster_queue,reason,replica_role c",
    "kueue_preemption_target_recomputations_total counter cluster_queue,result,replica_role c",
    "kueue_quota_reserved_wait_time_seconds histogram cluster_queue,priority_class,replica_role c "
    "waits14",
    "kueue_quota_reserved_workloads_total counter cluster_queue,priority_class,replica_role c",
    "kueue_ready_wait_time_seconds histogram cluster_queue,priority_class,replica_role c waits14",
    "kueue_reserving_active_workloads gauge cluster_queue,replica_role c",
    "kueue_unadmitted_workloads gauge cluster_queue,reason,underlying_cause,replica_role c",
    "kueue_workload_creation_latency_seconds histogram job_kind,replica_role l latency",
    "kueue_workload_eviction_latency_seconds histogram cluster_queue,reason,replica_role c waits14",
    "multikueue_workloads_admitted_total counter cluster_queue,cluster,replica_role -",
    "multikueue_workloads_dispatched_total counter cluster_queue,cluster,replica_role -"};

/// Regatta's own, with Kueue's way to write them.
constexpr std::string_view own_metrics[] = {
    "regatta_worker_admission_wait_time_seconds histogram cluster,replica_role - steps",
    "regatta_worker_cache_age_seconds gauge cluster,replica_role -",
    "regatta_worker_connected gauge cluster,replica_role -",
    "regatta_worker_nomination_wait_time_seconds histogram cluster,replica_role - steps",
    "regatta_worker_queue_nominal_quota gauge cluster_queue,cluster,resource,replica_role -",
    "regatta_worker_queue_pending_workloads gauge cluster_queue,cluster,replica_role -",
    "regatta_worker_queue_resource_reservation gauge cluster_queue,cluster,resource,replica_role -",
    "regatta_worker_rejections_total counter cluster,resource,reason,replica_role -",
    "regatta_worker_removed_objects_total counter cluster,resource,replica_role -",
    "regatta_worker_request_duration_seconds histogram cluster,verb,replica_role - requests",
    "regatta_worker_requests_total counter cluster,verb,code,replica_role -",
    "regatta_worker_start_wait_time_seconds histogram cluster,replica_role - steps"};

constexpr std::string_view of_library[] = {
    "certwatcher_read_certificate_errors_total counter - -",
    "certwatcher_read_certificate_total counter - -",
    "controller_runtime_active_workers gauge controller -",
    "controller_runtime_conversion_webhook_panics_total counter - -",
    "controller_runtime_max_concurrent_reconciles gauge controller -",
    "controller_runtime_reconcile_errors_total counter controller -",
    "controller_runtime_reconcile_panics_total counter controller -",
    "controller_runtime_reconcile_time_seconds histogram controller -",
    "controller_runtime_reconcile_timeouts_total counter controller -",
    "controller_runtime_reconcile_total counter controller,result -",
    "controller_runtime_terminal_reconcile_errors_total counter controller -",
    "controller_runtime_webhook_latency_seconds histogram webhook -",
    "controller_runtime_webhook_panics_total counter - -",
    "controller_runtime_webhook_requests_in_flight gauge webhook -",
    "controller_runtime_webhook_requests_total counter webhook,code -",
    "leader_election_master_status gauge name -",
    "rest_client_requests_total counter code,method,host -",
    "workqueue_adds_total counter name,controller -",
    "workqueue_depth gauge name,controller,priority -",
    "workqueue_longest_running_processor_seconds gauge name,controller -",
    "workqueue_queue_duration_seconds histogram name,controller -",
    "workqueue_retries_total counter name,controller -",
    "workqueue_unfinished_work_seconds gauge name,controller -",
    "workqueue_work_duration_seconds histogram name,controller -"};

/// The gate without which the metric is not exported, or empty.
std::string_view gate_of(std::string_view name) {
  if (name.starts_with("kueue_local_queue_")) return "LocalQueueMetrics";
  if (name == "kueue_workload_creation_latency_seconds") return "MetricForWorkloadCreationLatency";
  return "";
}

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<double> buckets_named(std::string_view name) {
  if (name == "waits14") return wait_buckets(14);
  if (name == "waits16") return wait_buckets(16);
  if (name == "latency") return doubling_buckets(0.01, 11);
  if (name == "steps") return doubling_buckets(0.05, 16);
  if (name == "requests") return doubling_buckets(0.001, 16);
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

MetricInfo parse(std::string_view row) {
  const std::vector<std::string> parts = split(row, ' ');
  MetricInfo info;
  info.name = parts[0];
  info.kind = parts[1] == "counter"     ? MetricKind::counter
              : parts[1] == "histogram" ? MetricKind::histogram
                                        : MetricKind::gauge;
  if (parts[2] != "-") info.labels = split(parts[2], ',');
  if (parts[3] != "-") info.custom = parts[3];
  if (parts.size() > 4) info.buckets = buckets_named(parts[4]);
  return info;
}

const std::vector<MetricInfo>& all_metrics() {
  static const std::vector<MetricInfo> all = [] {
    std::vector<MetricInfo> out;
    std::ranges::transform(kueue_metrics, std::back_inserter(out), parse);
    return out;
  }();
  return all;
}

}  // namespace

std::vector<MetricInfo> metric_catalogue(const std::function<bool(std::string_view)>& enabled) {
  std::vector<MetricInfo> out;
  for (const MetricInfo& info : all_metrics()) {
    const std::string_view gate = gate_of(info.name);
    if (gate.empty() || enabled(gate)) out.push_back(info);
  }
  return out;
}

const MetricInfo* find_metric(std::string_view name) {
  const auto& all = all_metrics();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const MetricInfo* find_own_metric(std::string_view name) {
  static const std::vector<MetricInfo> all = [] {
    std::vector<MetricInfo> out;
    std::ranges::transform(own_metrics, std::back_inserter(out), parse);
    return out;
  }();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<MetricInfo> library_metrics() {
  std::vector<MetricInfo> out;
  std::ranges::transform(of_library, std::back_inserter(out), parse);
  return out;
}

}  // namespace regatta::manager
