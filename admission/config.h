#pragma once

#include "lib/api/quantity.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::admission {

enum class PreemptionStrategy : std::uint8_t { LessThanOrEqualToFinalShare, LessThanInitialShare };

/// Fair sharing is on when the configuration has this.
struct FairSharingConfig {
  std::vector<PreemptionStrategy> strategies{PreemptionStrategy::LessThanOrEqualToFinalShare,
                                             PreemptionStrategy::LessThanInitialShare};
};

/// When the configuration has this, ClusterQueues with an admission scope prefer LocalQueues that
/// used little.
struct AdmissionFairSharingConfig {
  std::chrono::duration<double> usage_half_life{0};
  std::chrono::duration<double> usage_sampling_interval = std::chrono::minutes(5);
  std::map<std::string, double> resource_weights;  ///< 1 for other resources
};

/// Which time orders a workload that was evicted because its pods did not become ready.
enum class RequeuingTimestamp : std::uint8_t { Eviction, Creation };

/// How a request of one resource counts: as `outputs` per unit, instead of itself or in addition.
struct ResourceTransformation {
  bool retain = true;       ///< the request itself counts, too
  std::string multiply_by;  ///< resource whose request, if there is one, scales the outputs
  std::map<std::string, api::Quantity> outputs;  ///< factors by resource
  friend bool operator==(const ResourceTransformation&, const ResourceTransformation&) = default;
};

/// What the manager's configuration file and feature gates say about admission.
struct Config {
  std::optional<FairSharingConfig> fair_sharing;
  std::optional<AdmissionFairSharingConfig> admission_fair_sharing;
  RequeuingTimestamp requeuing_timestamp = RequeuingTimestamp::Eviction;
  /// Whether a requested resource that the ClusterQueue does not cover is ignored; else it prevents
  /// admission.
  bool ignore_undeclared_resources = false;
  std::vector<std::string> exclude_resource_prefixes;
  std::map<std::string, ResourceTransformation> transformations;  ///< by input resource
  /// Reactivations of one tree are batched for this long.
  std::chrono::milliseconds reactivation_delay{1000};

  /// waitForPodsReady.blockAdmission: no workload is admitted while a workload with quota has pods
  /// that are not ready.
  bool block_admission = false;
  /// A workload with a closed preemption gate does not preempt.
  bool preemption_gates = false;

  /// Quota that any workload releases reactivates the parked workloads. Kueue does not do so when
  /// the workload was admitted before the manager started; false reproduces that.
  bool reactivate_on_any_release = true;
  /// Within a cycle, a host that belongs to several flavors is filled only once, and never with
  /// more pods than it allows. Kueue counts a cycle's decisions separately for each flavor and pod
  /// set, does not count "pods", and has no room for pods without requests; false reproduces that.
  bool exact_hosts_within_cycle = true;

  // Feature gates
  bool flavor_fungibility = true;
  bool preserve_scan_progress = true;
  bool partial_admission = true;
  bool priority_sorting_within_cohort = true;
  bool equivalence_hashing = true;
  bool recompute_on_target_overlap = true;
  bool fair_sharing_preempt_within_nominal = true;
  bool fair_sharing_prioritize_non_borrowing = true;
  bool topology_mixed_profile = true;
  bool topology_recompute_in_cycle = true;
  bool topology_replace_or_evict = true;
  /// Devices of resource claims are not counted. True: a workload with resource claims is refused.
  /// False: it is admitted, and its devices count nothing.
  bool reject_resource_claims = true;
};

}  // namespace regatta::admission
