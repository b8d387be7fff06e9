#include "manager/config/feature_gates.h"

#include "lib/api/field_errors.h"
#include "lib/base/check.h"
#include "lib/base/joined.h"
#include "lib/base/near_miss.h"
#include "manager/config/kubernetes_gates.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace regatta::manager {
namespace {

using enum GateStage;

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

/// Sorted by gate.
constexpr GateNeed needs[] = {
    {"ElasticJobsViaWorkloadSlicesWithTAS", "ElasticJobsViaWorkloadSlices"},
    {"ElasticJobsViaWorkloadSlicesWithTAS", "TopologyAwareScheduling"},
    {"FlavorFungibilityPreserveScanProgress", "FlavorFungibility"},
    {"KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegration"},
    {"KueueDRAIntegrationExtendedResource", "KueueDRAIntegration"},
    {"KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegration"},
    {"TASBalancedPlacement", "TopologyAwareScheduling"},
    {"TASFailedNodeReplacement", "TopologyAwareScheduling"},
    {"TASFailedNodeReplacementFailFast", "TopologyAwareScheduling"},
    {"TASFailedNodeReplacementFailFast", "TASFailedNodeReplacement"},
    {"TASHandleOverlappingFlavors", "TopologyAwareScheduling"},
    {"TASMultiLayerTopology", "TopologyAwareScheduling"},
    {"TASProfileMixed", "TopologyAwareScheduling"},
    {"TASRecomputeAssignmentWithinSchedulingCycle", "TopologyAwareScheduling"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", "TopologyAwareScheduling"},
    {"TASReplaceNodeDueToNotReadyOverFixedTime", "TASFailedNodeReplacement"},
    {"TASReplaceNodeOnNodeTaints", "TopologyAwareScheduling"},
    {"TASReplaceNodeOnPodTermination", "TopologyAwareScheduling"},
    {"TASReplaceNodeOnPodTermination", "TASFailedNodeReplacement"},
    {"TASRespectNodeAffinityPreferred", "TopologyAwareScheduling"},
    {"UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability"},
};

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
    "AssignQueueLabelsForPods",
    "CleanupProvisioningRequestsOnEviction",
    "CustomMetricLabels",
    "DisableWaitForPodsReady",
    "ElasticJobsViaWorkloadSlices",
    "FairSharingPreemptWithinNominal",
    "FairSharingPrioritizeNonBorrowing",
    "FinishOrphanedWorkloads",
    "FlavorFungibility",
    "FlavorFungibilityPreserveScanProgress",
    "KueueDRAIntegrationConsumableCapacity",
    "KueueDRAIntegrationPartitionableDevices",
    "KueueDRARejectWorkloadsWhenDRADisabled",
    "LWSImmutableGroupSize",
    "LocalQueueMetrics",
    "MetricForWorkloadCreationLatency",
    "MetricsForCohorts",
    "MultiKueue",
    "MultiKueueAdaptersForCustomJobs",
    "MultiKueueClusterProfile",
    "MultiKueueIncrementalDispatcherRespectConfigOrder",
    "MultiKueueKubeConfigPathValidation",
    "MultiKueueManagerQuotaAutomation",
    "MultiKueueOrchestratedPreemption",
    "PartialAdmission",
    "PrioritySortingWithinCohort",
    "QuotaCheckStrategy",
    "ReclaimablePods",
    "RecomputeAssignmentUponPreemptionTargetsOverlap",
    "RejectUpdatesToCQWithInvalidOnFlavors",
    "SchedulingEquivalenceHashing",
    "ShortWorkloadNames",
    "SparkApplicationIntegration",
    "TASAssignmentsEncodingByHostnamePrefix",
    "TASFailedNodeReplacement",
    "TASFailedNodeReplacementFailFast",
    "TASMultiLayerTopology",
    "TASProfileMixed",
    "TASRecomputeAssignmentWithinSchedulingCycle",
    "TASReplaceNodeOnNodeTaints",
    "TASReplaceNodeOnPodTermination",
    "TASValidateWorkloadSliceSize",
    "TopologyAwareScheduling",
    "UnadmittedWorkloadsExplicitStatus",
    "ValidateRayAndSparkJobUpdates",
    "VisibilityOnDemand",
    "WorkloadIdentifierAnnotations",
    "WorkloadPriorityClassDefaulting",
    "WorkloadValidateResourcesAreNonNegative",
    "WorkloadValidationForPodSetMetadata",
};

constexpr std::string_view all_alpha = "AllAlpha";
constexpr std::string_view all_beta = "AllBeta";

/// A gate of Kueue or of Kubernetes.
struct Known {
  GateStage stage;
  bool enabled;
  bool locked;
};

std::optional<Known> known(std::string_view name) {
  if (const FeatureGateInfo* gate = find(name)) {
    return Known{gate->stage, gate->enabled, gate->locked};
  }
  const auto all = kubernetes_gates();
  const auto it = std::lower_bound(
      all.begin(), all.end(), name,
      [](const KubernetesGate& gate, std::string_view n) { return gate.name < n; });
  if (it == all.end() || it->name != name) return std::nullopt;
  return Known{it->stage, it->enabled, it->locked};
}

/// What settings make of a gate: it is named itself, or its stage is, or it has its default.
bool state_of(std::string_view name, const GateSettings& settings) {
  const auto own = settings.find(name);
  if (own != settings.end()) return own->second;
  const Known gate = known(name).value();
  const bool staged = gate.stage == GateStage::alpha || gate.stage == GateStage::beta;
  const auto stage = settings.find(gate.stage == GateStage::alpha ? all_alpha : all_beta);
  return staged && stage != settings.end() ? stage->second : gate.enabled;
}

std::vector<std::string> refused(const GateSettings& settings) {
  std::vector<std::string> out;
  for (const auto& [name, on] : settings) {
    if (name == all_alpha || name == all_beta) continue;
    const auto gate = known(name);
    if (!gate) return {"unrecognized feature gate: " + name};
    if (gate->locked && on != gate->enabled) {
      const auto text = [](bool value) { return value ? "true" : "false"; };
      out.push_back("cannot set feature gate " + name + " to " + text(on) +
                    ", feature is locked to " + text(gate->enabled));
    }
  }
  return out;
}

/// Gates that are on although what they need is off.
std::vector<std::string> contradictions(const GateSettings& settings) {
  std::vector<std::pair<std::string_view, std::string>> missing;
  for (const auto& table : {std::span<const GateNeed>(needs), kubernetes_gate_needs()}) {
    for (const auto& [gate, needed] : table) {
      if (!state_of(gate, settings) || state_of(needed, settings)) continue;
      if (missing.empty() || missing.back().first != gate) missing.emplace_back(gate, "");
      std::string& list = missing.back().second;
      list += (list.empty() ? "" : " ") + std::string(needed);
    }
  }
  std::vector<std::string> out;
  for (const auto& [gate, list] : missing) {
    out.push_back(std::string(gate) + " is enabled, but depends on features that are disabled: [" +
                  list + "]");
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::optional<bool> as_boolean(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

Error error_of(const std::vector<std::string>& problems) {
  const std::string text = joined(problems);
  return Error(Errc::invalid, problems.size() == 1 ? text : "[" + text + "]");
}

}  // namespace

std::span<const FeatureGateInfo> all_feature_gates() {
  return gates;
}

std::span<const std::string_view> feature_gates_with_effect() {
  return with_effect;
}

std::string similar_feature_gate(std::string_view name) {
  if (known(name) || name == all_alpha || name == all_beta) return "";
  std::vector<std::string_view> names;
  for (const FeatureGateInfo& gate : gates) names.push_back(gate.name);
  return did_you_mean(name, names);
}

Result<GateSettings> parse_feature_gates_flag(std::string_view text) {
  GateSettings settings;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    const std::string name(trimmed(item.substr(0, equals)));
    if (equals == std::string_view::npos) {
      return Error(Errc::invalid, "missing bool value for " + name);
    }
    const std::string value(trimmed(item.substr(equals + 1)));
    const auto on = as_boolean(value);
    if (!on) {
      return Error(Errc::invalid, "invalid value of " + name + "=" + value +
                                      ", err: strconv.ParseBool: parsing " + api::in_quotes(value) +
                                      ": invalid syntax");
    }
    settings.insert_or_assign(name, *on);
  }
  return settings;
}

Result<FeatureGates> FeatureGates::make(GateSettings settings) {
  auto problems = refused(settings);
  if (problems.empty()) problems = contradictions(settings);
  if (!problems.empty()) return error_of(problems);
  FeatureGates made;
  made.settings_ = std::move(settings);
  return made;
}

bool FeatureGates::enabled(std::string_view name) const {
  REGATTA_CHECK(find(name), "there is no feature gate " + std::string(name));
  return state_of(name, settings_);
}

std::vector<std::string> FeatureGates::without_effect() const {
  std::vector<std::string> names;
  for (const auto& [name, on] : settings_) {
    const auto gate = known(name);
    if (!gate || on == gate->enabled) continue;
    if (!std::binary_search(std::begin(with_effect), std::end(with_effect), name)) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace regatta::manager
