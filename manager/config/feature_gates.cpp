#include "manager/config/feature_gates.h"

#include "lib/base/check.h"
#include "lib/base/near_miss.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace regatta::manager {
namespace {

constexpr auto alpha = GateStage::alpha;
constexpr auto beta = GateStage::beta;
constexpr auto ga = GateStage::ga;
constexpr auto deprecated = GateStage::deprecated;

/// Sorted by name.
constexpr FeatureGateInfo gates[] = {
    {"AdmissionFairSharing", beta, true, "0.15"},
    {"AdmissionGatedBy", beta, true, "0.19"},
    {"AssignQueueLabelsForPods", beta, true, "0.17"},
    {"CleanupProvisioningRequestsOnEviction", beta, true, "0.19"},
    {"ConcurrentAdmission", alpha, false, "0.18"},
    {"CustomMetricLabels", alpha, false, "0.17"},
    {"DeferRayServiceFinalizationForRedisCleanup", beta, true, "0.19"},
    {"DisableWaitForPodsReady", alpha, false, "0.19"},
    {"ElasticJobsViaWorkloadSlices", beta, true, "0.18"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", alpha, false, "0.17"},
    {"FailureRecoveryPolicy", alpha, false, "0.15"},
    {"FairSharingPreemptWithinNominal", beta, true, "0.17"},
    {"FairSharingPrioritizeNonBorrowing", beta, true, "0.17"},
    {"FastQuotaReleaseInPodIntegration", alpha, false, "0.17"},
    {"FinishOrphanedWorkloads", beta, true, "0.18"},
    {"FlavorFungibility", beta, true, "0.5"},
    {"FlavorFungibilityPreserveScanProgress", beta, true, "0.20"},
    {"KueueDRAIntegration", beta, true, "0.18"},
    {"KueueDRAIntegrationConsumableCapacity", alpha, false, "0.19"},
    {"KueueDRAIntegrationExtendedResource", beta, true, "0.19"},
    {"KueueDRAIntegrationPartitionableDevices", beta, true, "0.19"},
    {"KueueDRARejectWorkloadsWhenDRADisabled", beta, true, "0.18"},
    {"LWSImmutableGroupSize", beta, true, "0.20"},
    {"LocalQueueMetrics", beta, true, "0.17"},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", ga, true, "0.19", true},
    {"MetricForWorkloadCreationLatency", beta, true, "0.18"},
    {"MetricsForCohorts", beta, true, "0.18"},
    {"MultiKueue", beta, true, "0.9"},
    {"MultiKueueAdaptersForCustomJobs", beta, true, "0.15"},
    {"MultiKueueBatchJobWithManagedBy", ga, true, "0.17", true},
    {"MultiKueueClusterProfile", alpha, false, "0.15"},
    {"MultiKueueIncrementalDispatcherConfig", beta, true, "0.19"},
    {"MultiKueueIncrementalDispatcherRespectConfigOrder", beta, true, "0.19"},
    {"MultiKueueKubeConfigPathValidation", beta, true, "0.20"},
    {"MultiKueueManagerQuotaAutomation", alpha, false, "0.18"},
    {"MultiKueueOrchestratedPreemption", alpha, false, "0.17"},
    {"MultiKueueRedoAdmissionOnEvictionInWorker", ga, true, "0.18", true},
    {"MultiKueueRemoteSpecSync", beta, true, "0.20"},
    {"MultiKueueWaitForWorkloadAdmitted", ga, true, "0.18", true},
    {"PartialAdmission", beta, true, "0.5"},
    {"PodIntegrationValidateGroupOwner", beta, true, "0.18"},
    {"PrioritizePreemptorWorkloads", alpha, false, "0.20"},
    {"PriorityBoost", alpha, false, "0.17"},
    {"PrioritySortingWithinCohort", beta, true, "0.6"},
    {"QuotaCheckStrategy", beta, true, "0.19"},
    {"ReclaimablePods", beta, true, "0.15"},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", beta, true, "0.20"},
    {"RejectUpdatesToCQWithInvalidOnFlavors", alpha, false, "0.18"},
    {"RemoveFinalizersWithStrictPatch", beta, true, "0.17"},
    {"SchedulerLibraryIntegration", alpha, false, "0.19"},
    {"SchedulingEquivalenceHashing", beta, true, "0.18"},
    {"ShortWorkloadNames", alpha, false, "0.17"},
    {"SkipAncestorCheckForDeletedWorkloads", beta, true, "0.20"},
    {"SkipReassignmentForPodOwnedWorkloads", beta, true, "0.19"},
    {"SparkApplicationIntegration", alpha, false, "0.17"},
    {"TASAssignmentsEncodingByHostnamePrefix", beta, true, "0.19"},
    {"TASBalancedPlacement", alpha, false, "0.15"},
    {"TASCacheNodeMatchResults", beta, true, "0.19"},
    {"TASCacheTopologyTree", beta, true, "0.20"},
    {"TASCachingRemainingResources", beta, true, "0.19"},
    {"TASFailedNodeReplacement", beta, true, "0.14"},
    {"TASFailedNodeReplacementFailFast", beta, true, "0.14"},
    {"TASHandleOverlappingFlavors", beta, true, "0.18"},
    {"TASMultiLayerTopology", beta, true, "0.19"},
    {"TASProfileMixed", beta, true, "0.15"},
    {"TASRecomputeAssignmentWithinSchedulingCycle", beta, true, "0.19"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", deprecated, false, "0.19"},
    {"TASReplaceNodeOnNodeTaints", beta, true, "0.17"},
    {"TASReplaceNodeOnPodTermination", beta, true, "0.14"},
    {"TASRespectNodeAffinityPreferred", alpha, false, "0.18"},
    {"TASValidateWorkloadSliceSize", beta, true, "0.20"},
    {"TLSOptions", ga, true, "0.20", true},
    {"TopologyAwareScheduling", beta, true, "0.14"},
    {"UnadmittedWorkloadsExplicitStatus", beta, false, "0.19"},
    {"UnadmittedWorkloadsObservability", beta, true, "0.19"},
    {"ValidateRayAndSparkJobUpdates", beta, true, "0.18"},
    {"VectorizedResourceRequests", beta, true, "0.19"},
    {"VisibilityOnDemand", beta, true, "0.9"},
    {"WorkloadIdentifierAnnotations", beta, true, "0.18"},
    {"WorkloadPriorityClassDefaulting", beta, true, "0.20"},
    {"WorkloadRequestUseMergePatch", alpha, false, "0.14"},
    {"WorkloadValidateResourcesAreNonNegative", beta, true, "0.20"},
    {"WorkloadValidationForPodSetMetadata", beta, true, "0.20"},
};

struct Prerequisite {
  std::string_view gate;
  std::string_view needs;
};

/// Further prerequisites: every TAS gate needs TopologyAwareScheduling, every KueueDRAIntegration
/// gate needs KueueDRAIntegration.
constexpr Prerequisite prerequisites[] = {
    {"ElasticJobsViaWorkloadSlicesWithTAS", "ElasticJobsViaWorkloadSlices"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", "TopologyAwareScheduling"},
    {"FlavorFungibilityPreserveScanProgress", "FlavorFungibility"},
    {"TASFailedNodeReplacementFailFast", "TASFailedNodeReplacement"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", "TASFailedNodeReplacement"},
    {"TASReplaceNodeOnPodTermination", "TASFailedNodeReplacement"},
    {"UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability"},
};

std::vector<std::string_view> prerequisites_of(std::string_view gate) {
  std::vector<std::string_view> needed;
  for (const Prerequisite& p : prerequisites) {
    if (p.gate == gate) needed.push_back(p.needs);
  }
  if (gate.starts_with("TAS")) needed.push_back("TopologyAwareScheduling");
  constexpr std::string_view dra = "KueueDRAIntegration";
  if (gate.starts_with(dra) && gate != dra) needed.push_back(dra);
  return needed;
}

const FeatureGateInfo* find(std::string_view name) {
  const auto it = std::lower_bound(
      std::begin(gates), std::end(gates), name,
      [](const FeatureGateInfo& gate, std::string_view n) { return gate.name < n; });
  return it != std::end(gates) && it->name == name ? it : nullptr;
}

/// The gates that have an effect here, by name; docs/operations.md lists them too.
constexpr std::string_view with_effect[] = {
    "AdmissionFairSharing",
    "AdmissionGatedBy",
    "CleanupProvisioningRequestsOnEviction",
    "CustomMetricLabels",
    "DisableWaitForPodsReady",
    "ElasticJobsViaWorkloadSlices",
    "FairSharingPreemptWithinNominal",
    "FairSharingPrioritizeNonBorrowing",
    "FinishOrphanedWorkloads",
    "FlavorFungibility",
    "FlavorFungibilityPreserveScanProgress",
    "KueueDRARejectWorkloadsWhenDRADisabled",
    "LocalQueueMetrics",
    "MetricForWorkloadCreationLatency",
    "MetricsForCohorts",
    "MultiKueue",
    "MultiKueueIncrementalDispatcherRespectConfigOrder",
    "MultiKueueKubeConfigPathValidation",
    "MultiKueueOrchestratedPreemption",
    "PartialAdmission",
    "PrioritySortingWithinCohort",
    "QuotaCheckStrategy",
    "ReclaimablePods",
    "RecomputeAssignmentUponPreemptionTargetsOverlap",
    "SchedulingEquivalenceHashing",
    "ShortWorkloadNames",
    "TASFailedNodeReplacement",
    "TASFailedNodeReplacementFailFast",
    "TASMultiLayerTopology",
    "TASProfileMixed",
    "TASRecomputeAssignmentWithinSchedulingCycle",
    "TASReplaceNodeOnNodeTaints",
    "TASReplaceNodeOnPodTermination",
    "TopologyAwareScheduling",
    "UnadmittedWorkloadsExplicitStatus",
    "WorkloadPriorityClassDefaulting",
};

std::string unknown(const std::string& name) {
  std::vector<std::string_view> names;
  for (const FeatureGateInfo& gate : gates) names.push_back(gate.name);
  return "unrecognized feature gate: " + name + did_you_mean(name, names);
}

bool is_stage(std::string_view name) {
  return name == "AllAlpha" || name == "AllBeta";
}

/// Stages first, so that a gate that is named itself wins within one source.
Status put(const GateSettings& source, GateSettings* into) {
  for (const auto& [name, on] : source) {
    if (!is_stage(name)) continue;
    const GateStage stage = name == "AllAlpha" ? GateStage::alpha : GateStage::beta;
    for (const FeatureGateInfo& gate : gates) {
      if (gate.stage == stage) into->insert_or_assign(std::string(gate.name), on);
    }
  }
  for (const auto& [name, on] : source) {
    if (is_stage(name)) continue;
    const FeatureGateInfo* gate = find(name);
    if (!gate) return Error(Errc::invalid, unknown(name));
    if (gate->locked && on != gate->enabled) {
      const auto text = [](bool value) { return value ? "true" : "false"; };
      return Error(Errc::invalid, "cannot set feature gate " + name + " to " + text(on) +
                                      ", feature is locked to " + text(gate->enabled));
    }
    into->insert_or_assign(name, on);
  }
  return ok();
}

}  // namespace

std::span<const FeatureGateInfo> all_feature_gates() {
  return gates;
}

std::span<const std::string_view> feature_gates_with_effect() {
  return with_effect;
}

Result<GateSettings> parse_feature_gates_flag(std::string_view text) {
  GateSettings settings;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    if (value != "true" && value != "false") {
      return Error(Errc::invalid, "--feature-gates: \"" + std::string(item) +
                                      "\" is not of the form Name=true or Name=false");
    }
    settings.insert_or_assign(std::string(item.substr(0, equals)), value == "true");
  }
  return settings;
}

Result<FeatureGates> FeatureGates::make(const GateSettings& file, const GateSettings& flag) {
  FeatureGates made;
  const Status from_file = put(file, &made.settings_);
  if (!from_file) return from_file.error().within("featureGates");
  const Status from_flag = put(flag, &made.settings_);
  if (!from_flag) return from_flag.error().within("--feature-gates");
  for (const GateSettings* source : {&file, &flag}) {
    for (const auto& [name, on] : *source) {
      if (!on || is_stage(name) || !made.switched_on(name)) continue;
      for (const std::string_view needed : prerequisites_of(name)) {
        if (made.enabled(needed)) continue;
        return Error(Errc::invalid,
                     "feature gate " + name + " needs " + std::string(needed) + ", which is off");
      }
    }
  }
  return made;
}

bool FeatureGates::switched_on(std::string_view name) const {
  const FeatureGateInfo* gate = find(name);
  REGATTA_CHECK(gate, "there is no feature gate " + std::string(name));
  const auto it = settings_.find(std::string(name));
  return it == settings_.end() ? gate->enabled : it->second;
}

std::vector<std::string> FeatureGates::without_effect() const {
  std::vector<std::string> names;
  for (const auto& [name, on] : settings_) {
    if (on == find(name)->enabled) continue;
    if (!std::binary_search(std::begin(with_effect), std::end(with_effect), name)) {
      names.push_back(name);
    }
  }
  return names;
}

bool FeatureGates::enabled(std::string_view name) const {
  if (!switched_on(name)) return false;
  const auto needed = prerequisites_of(name);
  return std::all_of(needed.begin(), needed.end(),
                     [&](std::string_view other) { return enabled(other); });
}

}  // namespace regatta::manager
