#include "whatif/scenario/scenario.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace regatta::whatif {
namespace {

using admission::Config;
using admission::PreemptionStrategy;

Error invalid(std::string_view where, std::string_view problem) {
  return Error(Errc::invalid, std::string(where) + ": " + std::string(problem));
}

struct Gate {
  std::string_view name;
  bool Config::* field = nullptr;  ///< null: accepted, without effect here
};

constexpr std::array gates{
    Gate{"FlavorFungibility", &Config::flavor_fungibility},
    Gate{"FlavorFungibilityPreserveScanProgress", &Config::preserve_scan_progress},
    Gate{"PartialAdmission", &Config::partial_admission},
    Gate{"PrioritySortingWithinCohort", &Config::priority_sorting_within_cohort},
    Gate{"SchedulingEquivalenceHashing", &Config::equivalence_hashing},
    Gate{"RecomputeAssignmentUponPreemptionTargetsOverlap", &Config::recompute_on_target_overlap},
    Gate{"FairSharingPreemptWithinNominal", &Config::fair_sharing_preempt_within_nominal},
    Gate{"FairSharingPrioritizeNonBorrowing", &Config::fair_sharing_prioritize_non_borrowing},
    Gate{"AdmissionFairSharing"},
    Gate{"ConcurrentAdmission"},
    Gate{"ElasticJobsViaWorkloadSlices"},
    Gate{"ElasticJobsViaWorkloadSlicesWithTAS"},
    Gate{"MultiKueueOrchestratedPreemption"},
    Gate{"PrioritizePreemptorWorkloads"},
    Gate{"PriorityBoost"},
    Gate{"QuotaCheckStrategy"},
    Gate{"ReclaimablePods"},
    Gate{"SchedulerLibraryIntegration"},
    Gate{"TASBalancedPlacement"},
    Gate{"TASCacheNodeMatchResults"},
    Gate{"TASCacheTopologyTree"},
    Gate{"TASCachingRemainingResources"},
    Gate{"TASFailedNodeReplacement"},
    Gate{"TASHandleOverlappingFlavors"},
    Gate{"TASMultiLayerTopology"},
    Gate{"TASFailedNodeReplacementFailFast", &Config::topology_replace_or_evict},
    Gate{"TASProfileMixed", &Config::topology_mixed_profile},
    Gate{"TASRecomputeAssignmentWithinSchedulingCycle", &Config::topology_recompute_in_cycle},
    Gate{"TASRespectNodeAffinityPreferred"},
    Gate{"TopologyAwareScheduling"},
    Gate{"UnadmittedWorkloadsExplicitStatus"},
    Gate{"UnadmittedWorkloadsObservability"},
    Gate{"VectorizedResourceRequests"},
};

Status read_gates(const Json& json, Config* config) {
  if (!json.is_object()) return invalid("config.featureGates", "expected an object");
  for (const auto& [name, value] : json.items()) {
    const std::string where = "config.featureGates." + name;
    const auto gate =
        std::find_if(gates.begin(), gates.end(), [&](const Gate& g) { return g.name == name; });
    if (gate == gates.end()) return invalid(where, "no such feature gate");
    if (!value.is_boolean()) return invalid(where, "expected true or false");
    if (gate->field) config->*(gate->field) = value.get<bool>();
  }
  return ok();
}

Status read_fair_sharing(const Json& json, Config* config) {
  if (json.is_null()) return ok();
  if (!json.is_object()) return invalid("config.fairSharing", "expected an object or null");
  config->fair_sharing.emplace();
  const auto list = json.find("preemptionStrategies");
  if (list == json.end() || list->is_null()) return ok();
  const std::string where = "config.fairSharing.preemptionStrategies";
  if (!list->is_array()) return invalid(where, "expected a list");
  if (list->empty()) return ok();
  config->fair_sharing->strategies.clear();
  for (const Json& name : *list) {
    if (name == "LessThanInitialShare") {
      config->fair_sharing->strategies.push_back(PreemptionStrategy::LessThanInitialShare);
    } else if (name == "LessThanOrEqualToFinalShare") {
      config->fair_sharing->strategies.push_back(PreemptionStrategy::LessThanOrEqualToFinalShare);
    } else {
      return invalid(where, "write LessThanOrEqualToFinalShare or LessThanInitialShare");
    }
  }
  return ok();
}

}  // namespace

Result<Config> read_scenario_config(const Json& json) {
  Config config;
  // The format's rule for re-activation: the reference's own triggers, without their delay.
  config.reactivate_on_any_release = false;
  config.exact_hosts_within_cycle = false;
  config.reactivation_delay = std::chrono::milliseconds(0);
  if (json.is_null()) return config;
  if (!json.is_object()) return invalid("config", "expected an object");
  for (const auto& [key, value] : json.items()) {
    Status read = ok();
    if (key == "fairSharing") {
      read = read_fair_sharing(value, &config);
    } else if (key == "featureGates") {
      if (!value.is_null()) read = read_gates(value, &config);
    } else if (key == "quotaCheckStrategy") {
      const bool ignore = value == "IgnoreUndeclared";
      if (!ignore && value != "BlockUndeclared") {
        return invalid("config.quotaCheckStrategy", "write BlockUndeclared or IgnoreUndeclared");
      }
      config.ignore_undeclared_resources = ignore;
    } else {
      return invalid("config." + key, "unknown field");
    }
    if (!read) return read.error();
  }
  return config;
}

}  // namespace regatta::whatif
