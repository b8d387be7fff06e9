#pragma once

#include "lib/api/labels.h"
#include "lib/api/quantity.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

struct ResourceQuota {
  std::string name;
  Quantity nominal_quota;
  std::optional<Quantity> borrowing_limit;
  std::optional<Quantity> lending_limit;
  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};

struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;
  friend bool operator==(const FlavorQuotas&, const FlavorQuotas&) = default;
};

struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;
  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

enum class QueueingStrategy : std::uint8_t { StrictFIFO, BestEffortFIFO };
enum class StopPolicy : std::uint8_t { None, Hold, HoldAndDrain };
enum class FlavorFungibilityPolicy : std::uint8_t { MayStopSearch, TryNextFlavor };
enum class FungibilityPreference : std::uint8_t {
  BorrowingOverPreemption,
  PreemptionOverBorrowing
};
enum class ReclaimPolicy : std::uint8_t { Never, LowerPriority, Any };
enum class BorrowPolicy : std::uint8_t { Never, LowerPriority };
enum class WithinQueuePolicy : std::uint8_t { Never, LowerPriority, LowerOrNewerEqualPriority };
enum class AdmissionMode : std::uint8_t { UsageBasedAdmissionFairSharing, NoAdmissionFairSharing };
enum class MigrationMode : std::uint8_t { TryPreferredFlavors, RetainFirstAdmission };

struct FlavorFungibility {
  FlavorFungibilityPolicy when_can_borrow = FlavorFungibilityPolicy::MayStopSearch;
  FlavorFungibilityPolicy when_can_preempt = FlavorFungibilityPolicy::TryNextFlavor;
  std::optional<FungibilityPreference> preference;
  friend bool operator==(const FlavorFungibility&, const FlavorFungibility&) = default;
};

struct BorrowWithinCohort {
  BorrowPolicy policy = BorrowPolicy::Never;
  std::optional<std::int32_t> max_priority_threshold;
  friend bool operator==(const BorrowWithinCohort&, const BorrowWithinCohort&) = default;
};

struct ClusterQueuePreemption {
  ReclaimPolicy reclaim_within_cohort = ReclaimPolicy::Never;
  BorrowWithinCohort borrow_within_cohort;
  WithinQueuePolicy within_cluster_queue = WithinQueuePolicy::Never;
  friend bool operator==(const ClusterQueuePreemption&, const ClusterQueuePreemption&) = default;
};

/// An admission check and the flavors that it applies to; no flavors means all.
struct AdmissionCheckRule {
  std::string name;
  std::vector<std::string> on_flavors;
  friend bool operator==(const AdmissionCheckRule&, const AdmissionCheckRule&) = default;
};

struct FairSharing {
  Quantity weight{1};
  friend bool operator==(const FairSharing&, const FairSharing&) = default;
};

struct AdmissionScope {
  AdmissionMode admission_mode = AdmissionMode::UsageBasedAdmissionFairSharing;
  friend bool operator==(const AdmissionScope&, const AdmissionScope&) = default;
};

struct MigrationConstraints {
  std::string last_acceptable_flavor_name;
  friend bool operator==(const MigrationConstraints&, const MigrationConstraints&) = default;
};

struct ConcurrentAdmissionPolicy {
  MigrationMode mode = MigrationMode::TryPreferredFlavors;  ///< migration.mode
  std::optional<MigrationConstraints> constraints;          ///< migration.constraints
  friend bool operator==(const ConcurrentAdmissionPolicy&,
                         const ConcurrentAdmissionPolicy&) = default;
};

struct ClusterQueueSpec {
  std::vector<ResourceGroup> resource_groups;
  std::string cohort_name;
  QueueingStrategy queueing_strategy = QueueingStrategy::BestEffortFIFO;
  /// Absent selects no namespace; present and empty selects all.
  std::optional<LabelSelector> namespace_selector;
  FlavorFungibility flavor_fungibility;
  ClusterQueuePreemption preemption;
  std::vector<AdmissionCheckRule> admission_checks;  ///< admissionChecksStrategy.admissionChecks
  StopPolicy stop_policy = StopPolicy::None;
  std::optional<FairSharing> fair_sharing;
  std::optional<AdmissionScope> admission_scope;
  std::optional<ConcurrentAdmissionPolicy> concurrent_admission_policy;
  friend bool operator==(const ClusterQueueSpec&, const ClusterQueueSpec&) = default;
};

struct ResourceUsage {
  std::string name;
  Quantity total;
  std::optional<Quantity> borrowed;  ///< ClusterQueue only
  friend bool operator==(const ResourceUsage&, const ResourceUsage&) = default;
};

struct FlavorUsage {
  std::string name;
  std::vector<ResourceUsage> resources;
  friend bool operator==(const FlavorUsage&, const FlavorUsage&) = default;
};

struct AdmissionFairSharingStatus {
  std::map<std::string, Quantity> consumed_resources;
  TimePoint last_update{};
  friend bool operator==(const AdmissionFairSharingStatus&,
                         const AdmissionFairSharingStatus&) = default;
};

struct FairSharingStatus {
  std::int64_t weighted_share = 0;
  std::optional<AdmissionFairSharingStatus> admission_fair_sharing_status;  ///< LocalQueue only
  friend bool operator==(const FairSharingStatus&, const FairSharingStatus&) = default;
};

struct ClusterQueueStatus {
  Conditions conditions;
  std::vector<FlavorUsage> flavors_reservation;
  std::vector<FlavorUsage> flavors_usage;
  std::int32_t pending_workloads = 0;
  std::int32_t reserving_workloads = 0;
  std::int32_t admitted_workloads = 0;
  std::optional<FairSharingStatus> fair_sharing;
  friend bool operator==(const ClusterQueueStatus&, const ClusterQueueStatus&) = default;
};

struct ClusterQueue {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ClusterQueueSpec spec;
  ClusterQueueStatus status;
  friend bool operator==(const ClusterQueue&, const ClusterQueue&) = default;
};

struct CohortSpec {
  std::string parent_name;
  std::vector<ResourceGroup> resource_groups;
  std::optional<FairSharing> fair_sharing;
  friend bool operator==(const CohortSpec&, const CohortSpec&) = default;
};

struct CohortStatus {
  std::optional<FairSharingStatus> fair_sharing;
  friend bool operator==(const CohortStatus&, const CohortStatus&) = default;
};

struct Cohort {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  CohortSpec spec;
  CohortStatus status;
  friend bool operator==(const Cohort&, const Cohort&) = default;
};

struct LocalQueueSpec {
  std::string cluster_queue;
  StopPolicy stop_policy = StopPolicy::None;
  std::optional<FairSharing> fair_sharing;
  friend bool operator==(const LocalQueueSpec&, const LocalQueueSpec&) = default;
};

using LocalQueueStatus = ClusterQueueStatus;

struct LocalQueue {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  LocalQueueSpec spec;
  LocalQueueStatus status;
  friend bool operator==(const LocalQueue&, const LocalQueue&) = default;
};

}  // namespace regatta::api
