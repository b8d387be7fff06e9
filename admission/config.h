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

/// Presence turns fair sharing on.
struct FairSharingConfig {
  std::vector<PreemptionStrategy> strategies{PreemptionStrategy::LessThanOrEqualToFinalShare,
                                             PreemptionStrategy::LessThanInitialShare};
};

/// Presence makes ClusterQueues with that admission scope prefer LocalQueues that used little.
struct AdmissionFairSharingConfig {
  std::chrono::duration<double> usage_half_life{0};
  std::chrono::duration<double> usage_sampling_interval = std::chrono::minutes(5);
  std::map<std::string, double> resource_weights;  ///< of others: 1
};

/// Which time orders a workload that was evicted because its pods did not become ready.
enum class RequeuingTimestamp : std::uint8_t { Eviction, Creation };

/// What a request of one resource counts as: `outputs` per unit of it, instead of it or besides it.
struct ResourceTransformation {
  bool retain = true;  ///< the request itself counts too
  std::string
      multiply_by;  ///< scales the outputs by the request of this resource, where there is one
  std::map<std::string, api::Quantity> outputs;  ///< factors by resource
  friend bool operator==(const ResourceTransformation&, const ResourceTransformation&) = default;
};

/// What the manager's configuration file and feature gates say about admission.
struct Config {
  std::optional<FairSharingConfig> fair_sharing;
  std::optional<AdmissionFairSharingConfig> admission_fair_sharing;
  RequeuingTimestamp requeuing_timestamp = RequeuingTimestamp::Eviction;
  /// A requested resource that the ClusterQueue does not cover: ignore it, or refuse.
  bool ignore_undeclared_resources = false;
  std::vector<std::string> exclude_resource_prefixes;
  std::map<std::string, ResourceTransformation> transformations;  ///< by input resource
  /// Re-activations of one tree are batched for this long.
  std::chrono::milliseconds reactivation_delay{1000};

  /// waitForPodsReady.blockAdmission: nobody is admitted while a workload with quota has not all
  /// its pods ready.
  bool block_admission = false;
  /// A workload with a closed preemption gate preempts nobody.
  bool preemption_gates = false;

  /// Quota released by any workload reactivates the parked ones. The reference forgets to when the
  /// workload was admitted before its process started: false reproduces that.
  bool reactivate_on_any_release = true;
  /// Within a cycle, hosts that belong to several flavors are filled once, and never with more pods
  /// than they allow. The reference counts what it decided in a cycle for each flavor and pod set
  /// on its own, leaves "pods" out, and never has room for pods that request nothing: false
  /// reproduces that.
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
  /// Nobody counts the devices of resource claims: who has some is refused, or they count nothing.
  bool reject_resource_claims = true;
};

}  // namespace regatta::admission
