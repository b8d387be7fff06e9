#include "manager/core_config.h"

#include "jobs/integrations/described.h"
#include "jobs/integrations/external.h"
#include "lib/api/own_names.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace regatta::manager {
namespace {

/// Long enough for a busy worker with room to admit; too short to notice when the worker has no
/// room.
constexpr Duration head_start{100};

controllers::DispatcherConfig dispatch_config(const MultiKueueConfiguration& given) {
  controllers::DispatcherConfig config;
  config.plan.nomination.dispatcher = placement::dispatcher_of(given.dispatcher_name);
  config.plan.nomination.step_size = static_cast<int>(given.incremental_step_size);
  config.plan.worker_lost_timeout = given.worker_lost_timeout;
  config.plan.give_up_after = given.dispatch_timeout;
  config.plan.attempts_max =
      static_cast<std::int32_t>(std::min<std::int64_t>(given.dispatch_attempts, INT32_MAX));
  config.gc_interval = given.gc_interval;
  config.brake.share = double(given.brake_share_percent) / 100;
  config.brake.at_least = static_cast<std::size_t>(given.brake_at_least);
  config.plan.head_start = head_start;
  return config;
}

Result<placement::ManagedClusterRules> managed_cluster_rules(
    const ManagedClustersConfiguration& given) {
  placement::ManagedClusterRules rules;
  rules.request = given.accounts == "Request";
  if (given.connection == "Proxy") rules.connection = placement::Connection::proxy;
  if (given.connection == "ClusterProfile") {
    rules.connection = placement::Connection::cluster_profile;
  }
  rules.account = given.account;
  rules.token_validity = given.token_validity;
  rules.proxy_url = given.proxy_url;
  rules.proxy_ca_config_map = given.proxy_ca_config_map;
  if (given.selector) {
    auto selector = api::Selector::from(*given.selector);
    if (!selector) return selector.error().within("multiKueue.managedClusters.selector");
    rules.selector = std::move(*selector);
  }
  return rules;
}

kube::ListLimits limits_of(const WorkerLimits& given) {
  kube::ListLimits limits;
  limits.objects_max = static_cast<std::size_t>(given.objects);
  limits.bytes_max = static_cast<std::size_t>(given.bytes);
  limits.pages_max = static_cast<std::size_t>(given.pages);
  limits.setting = "multiKueue.workerLimits";
  return limits;
}

std::vector<admission::PreemptionStrategy> strategies_of(const FairSharing& given) {
  std::vector<admission::PreemptionStrategy> strategies;
  for (const std::string& name : given.preemption_strategies) {
    strategies.push_back(name == "LessThanInitialShare"
                             ? admission::PreemptionStrategy::LessThanInitialShare
                             : admission::PreemptionStrategy::LessThanOrEqualToFinalShare);
  }
  return strategies;
}

std::map<std::string, admission::ResourceTransformation> transformations_of(
    const ResourcesConfig& given) {
  std::map<std::string, admission::ResourceTransformation> transformations;
  for (const ResourceTransformation& one : given.transformations) {
    admission::ResourceTransformation& rule = transformations[one.input];
    rule.retain = one.strategy == TransformationStrategy::Retain;
    rule.multiply_by = one.multiply_by;
    rule.outputs = one.outputs;
  }
  return transformations;
}

admission::Config admission_config(const Configuration& given) {
  admission::Config config;
  if (given.fair_sharing) {
    config.fair_sharing.emplace();
    config.fair_sharing->strategies = strategies_of(*given.fair_sharing);
  }
  if (given.admission_fair_sharing && given.gates.enabled("AdmissionFairSharing")) {
    admission::AdmissionFairSharingConfig& sharing = config.admission_fair_sharing.emplace();
    sharing.usage_half_life = given.admission_fair_sharing->usage_half_life_time;
    sharing.usage_sampling_interval = given.admission_fair_sharing->usage_sampling_interval;
    sharing.resource_weights = given.admission_fair_sharing->resource_weights;
  }
  if (given.wait_for_pods_ready &&
      given.wait_for_pods_ready->requeuing_strategy.timestamp == RequeuingTimestamp::Creation) {
    config.requeuing_timestamp = admission::RequeuingTimestamp::Creation;
  }
  config.ignore_undeclared_resources =
      given.gates.enabled("QuotaCheckStrategy") &&
      given.resources.quota_check_strategy == QuotaCheckStrategy::IgnoreUndeclared;
  config.exclude_resource_prefixes = given.resources.exclude_resource_prefixes;
  config.transformations = transformations_of(given.resources);
  const FeatureGates& gates = given.gates;
  config.flavor_fungibility = gates.enabled("FlavorFungibility");
  config.preserve_scan_progress = gates.enabled("FlavorFungibilityPreserveScanProgress");
  config.partial_admission = gates.enabled("PartialAdmission");
  config.priority_sorting_within_cohort = gates.enabled("PrioritySortingWithinCohort");
  config.equivalence_hashing = gates.enabled("SchedulingEquivalenceHashing");
  config.recompute_on_target_overlap =
      gates.enabled("RecomputeAssignmentUponPreemptionTargetsOverlap");
  config.reject_resource_claims = gates.enabled("KueueDRARejectWorkloadsWhenDRADisabled");
  config.fair_sharing_preempt_within_nominal = gates.enabled("FairSharingPreemptWithinNominal");
  config.fair_sharing_prioritize_non_borrowing = gates.enabled("FairSharingPrioritizeNonBorrowing");
  return config;
}

/// The settings for the life of workloads besides admission.
void set_lifecycle(const Configuration& given, CoreConfig* core) {
  lifecycle::LifecycleConfig& lifecycle = core->workloads.lifecycle;
  const FeatureGates& gates = given.gates;
  if (given.wait_for_pods_ready) {
    const WaitForPodsReady& wait = *given.wait_for_pods_ready;
    const RequeuingStrategy& requeuing = wait.requeuing_strategy;
    lifecycle::PodsReadyPolicy& policy = lifecycle.wait_for_pods_ready.emplace();
    policy.timeout = wait.timeout;
    if (wait.recovery_timeout > Duration(0)) policy.recovery_timeout = wait.recovery_timeout;
    policy.backoff_limit_count = requeuing.backoff_limit_count;
    policy.backoff_base_seconds = requeuing.backoff_base_seconds;
    policy.backoff_max_seconds = requeuing.backoff_max_seconds;
    core->scheduler.wait_for_pods_ready = true;
    core->jobs.policy.wait_for_pods_ready = true;
    const bool hurry = wait.block_admission || wait.timeout < std::chrono::seconds(10);
    if (hurry) core->jobs.policy.pods_ready_after = Duration(0);
    core->scheduler.admission.block_admission = wait.block_admission;
  }
  lifecycle.retain_finished = given.workload_retention.after_finished;
  core->jobs.policy.retain_deactivated = given.workload_retention.after_deactivated_by_kueue;
  core->jobs.policy.labels_to_copy = given.integrations.label_keys_to_copy;
  core->jobs.policy.reclaimable_pods = gates.enabled("ReclaimablePods");
  core->jobs.policy.names_in_labels = !gates.enabled("WorkloadIdentifierAnnotations");
  core->jobs.policy.brief_names = gates.enabled("ShortWorkloadNames");
  core->jobs.policy.elastic = gates.enabled("ElasticJobsViaWorkloadSlices");
  core->jobs.policy.partial_admission = gates.enabled("PartialAdmission");
  core->jobs.policy.queue_labels = gates.enabled("AssignQueueLabelsForPods");
  core->jobs.policy.admission_gates = gates.enabled("AdmissionGatedBy");
  core->jobs.default_priority_class = gates.enabled("WorkloadPriorityClassDefaulting");
  lifecycle.admission_gates = gates.enabled("AdmissionGatedBy");
  core->scheduler.admission.preemption_gates = gates.enabled("MultiKueueOrchestratedPreemption");
  lifecycle.preemption_gates = gates.enabled("MultiKueueOrchestratedPreemption");
  core->jobs.policy.finish_orphans = gates.enabled("FinishOrphanedWorkloads");
  lifecycle.finish_orphans = gates.enabled("FinishOrphanedWorkloads");
  lifecycle.explicit_status = gates.enabled("UnadmittedWorkloadsExplicitStatus");
}

void set_topology(const FeatureGates& gates, CoreConfig* core) {
  core->topology = gates.enabled("TopologyAwareScheduling");
  core->jobs.topology.enabled = core->topology;
  core->jobs.topology.multi_layer = gates.enabled("TASMultiLayerTopology");
  core->nodes.health.replace = gates.enabled("TASFailedNodeReplacement");
  core->nodes.health.on_pod_termination = gates.enabled("TASReplaceNodeOnPodTermination");
  core->nodes.health.on_taints = gates.enabled("TASReplaceNodeOnNodeTaints");
  admission::Config& admission = core->scheduler.admission;
  admission.topology_mixed_profile = gates.enabled("TASProfileMixed");
  admission.topology_recompute_in_cycle =
      gates.enabled("TASRecomputeAssignmentWithinSchedulingCycle");
  admission.topology_replace_or_evict = gates.enabled("TASFailedNodeReplacementFailFast");
}

using KindList = std::vector<std::shared_ptr<const jobs::JobKind>>;

/// Those of the described kinds that are listed.
Status add_described(const Integrations& integrations, KindList* kinds) {
  const auto described = jobs::described_kinds(integrations.described_kinds);
  std::vector<std::string> wrong;
  for (const api::FieldError& error : described.errors) wrong.push_back(error.text());
  if (!wrong.empty()) return Error(Errc::invalid, joined(wrong, "\n"));
  for (const auto& kind : described.kinds) {
    if (integrations.enabled(kind->framework())) kinds->push_back(kind);
  }
  return ok();
}

/// A kind that is there already stays as it is. One that is described has no other controller.
Status add_external(const std::string& name, bool dispatched, const KindList& described,
                    KindList* kinds) {
  auto kind = jobs::external_kind(name, dispatched);
  if (!kind) return kind.error();
  const api::ResourceInfo& resource = (*kind)->resource();
  if (jobs::JobKinds(described).find(resource.group, resource.kind)) {
    return Error(Errc::invalid, "conflicts with integrations.describedKinds");
  }
  if (!jobs::JobKinds(*kinds).find(resource.group, resource.kind)) {
    kinds->push_back(std::move(*kind));
  }
  return ok();
}

Result<jobs::JobKinds> kinds_of(const Configuration& config) {
  std::vector<std::string> frameworks = config.integrations.frameworks;
  if (!config.gates.enabled(spark_gate)) std::erase(frameworks, spark_framework);
  const bool names_in_labels = !config.gates.enabled("WorkloadIdentifierAnnotations");
  KindList kinds = jobs::enabled_kinds(frameworks, names_in_labels).all(), described;
  if (Status done = add_described(config.integrations, &described); !done) return done.error();
  kinds.insert(kinds.end(), described.begin(), described.end());
  // What is also sent to workers comes first.
  if (config.gates.enabled("MultiKueueAdaptersForCustomJobs")) {
    for (const std::string& name : config.multi_kueue.external_frameworks) {
      const Status done = add_external(name, true, described, &kinds);
      if (!done) return done.error().within("multiKueue.externalFrameworks: " + name);
    }
  }
  for (const std::string& name : config.integrations.external_frameworks) {
    const Status done = add_external(name, false, described, &kinds);
    if (!done) return done.error().within("integrations.externalFrameworks: " + name);
  }
  return jobs::JobKinds(std::move(kinds));
}

}  // namespace

Result<CoreConfig> core_config(const Configuration& config, std::string instance) {
  CoreConfig core;
  core.system_namespace = config.ns;
  core.instance = std::move(instance);
  auto kinds = kinds_of(config);
  if (!kinds) return kinds.error();
  core.kinds = std::move(*kinds);
  core.multikueue = config.gates.enabled("MultiKueue");
  core.origin = config.multi_kueue.origin;
  core.dispatch = dispatch_config(config.multi_kueue);
  core.placement.every_workload = config.multi_kueue.dispatcher_name == api::dispatchers::placement;
  if (config.gates.enabled("MultiKueueClusterProfile")) core.plugins = config.multi_kueue.plugins;
  if (config.multi_kueue.managed_clusters) {
    auto rules = managed_cluster_rules(*config.multi_kueue.managed_clusters);
    if (!rules) return rules.error();
    core.managed_clusters = std::move(*rules);
  }
  core.worker_limits = limits_of(config.multi_kueue.worker_limits);
  core.dispatch.plan.nomination.by_name =
      !config.gates.enabled("MultiKueueIncrementalDispatcherRespectConfigOrder");
  core.quota_automation = config.gates.enabled("MultiKueueManagerQuotaAutomation");
  core.dispatch.plan.preemption_gates = config.gates.enabled("MultiKueueOrchestratedPreemption");
  core.dispatch.workload_by_label = !config.gates.enabled("WorkloadIdentifierAnnotations");
  core.scheduler.admission = admission_config(config);
  const auto& concurrency = config.controller.group_kind_concurrency;
  if (concurrency.contains("Job.batch")) core.jobs.workers = concurrency.at("Job.batch");
  if (concurrency.contains("Workload.kueue.x-k8s.io")) {
    core.workloads.workers = concurrency.at("Workload.kueue.x-k8s.io");
    core.dispatch.workers = core.workloads.workers;
  }
  set_topology(config.gates, &core);
  set_lifecycle(config, &core);
  core.provisioning.cleanup_on_eviction =
      config.gates.enabled("CleanupProvisioningRequestsOnEviction");
  core.jobs.manage_without_queue_name = config.manage_jobs_without_queue_name;
  if (config.managed_jobs_namespace_selector) {
    auto selector = api::Selector::from(*config.managed_jobs_namespace_selector);
    if (!selector) return selector.error().within("managedJobsNamespaceSelector");
    core.jobs.namespaces = std::move(*selector);
  }
  return core;
}

}  // namespace regatta::manager
