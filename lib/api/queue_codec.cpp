#include "lib/api/cluster_queue.h"
#include "lib/api/field_lister.h"

namespace regatta::api {

template <>
struct EnumText<QueueingStrategy> {
  static constexpr std::string_view texts[] = {"StrictFIFO", "BestEffortFIFO"};
};
template <>
struct EnumText<StopPolicy> {
  static constexpr std::string_view texts[] = {"None", "Hold", "HoldAndDrain"};
};
template <>
struct EnumText<FlavorFungibilityPolicy> {
  static constexpr std::string_view texts[] = {"MayStopSearch", "TryNextFlavor"};
};
template <>
struct EnumText<FungibilityPreference> {
  static constexpr std::string_view texts[] = {"BorrowingOverPreemption",
                                               "PreemptionOverBorrowing"};
};
template <>
struct EnumText<ReclaimPolicy> {
  static constexpr std::string_view texts[] = {"Never", "LowerPriority", "Any"};
};
template <>
struct EnumText<BorrowPolicy> {
  static constexpr std::string_view texts[] = {"Never", "LowerPriority"};
};
template <>
struct EnumText<WithinQueuePolicy> {
  static constexpr std::string_view texts[] = {"Never", "LowerPriority",
                                               "LowerOrNewerEqualPriority"};
};
template <>
struct EnumText<AdmissionMode> {
  static constexpr std::string_view texts[] = {"UsageBasedAdmissionFairSharing",
                                               "NoAdmissionFairSharing"};
};
template <>
struct EnumText<MigrationMode> {
  static constexpr std::string_view texts[] = {"TryPreferredFlavors", "RetainFirstAdmission"};
};

template <class V, Is<ResourceQuota> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("nominalQuota", o.nominal_quota);
  v("borrowingLimit", o.borrowing_limit);
  v("lendingLimit", o.lending_limit);
}

template <class V, Is<FlavorQuotas> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("resources", o.resources);
}

template <class V, Is<ResourceGroup> T>
void fields(V& v, T& o) {
  v("coveredResources", o.covered_resources);
  v("flavors", o.flavors);
}

template <class V, Is<FlavorFungibility> T>
void fields(V& v, T& o) {
  v("whenCanBorrow", o.when_can_borrow);
  v("whenCanPreempt", o.when_can_preempt);
  v("preference", o.preference);
}

template <class V, Is<BorrowWithinCohort> T>
void fields(V& v, T& o) {
  v("policy", o.policy);
  v("maxPriorityThreshold", o.max_priority_threshold);
}

template <class V, Is<ClusterQueuePreemption> T>
void fields(V& v, T& o) {
  v("reclaimWithinCohort", o.reclaim_within_cohort);
  v("borrowWithinCohort", o.borrow_within_cohort);
  v("withinClusterQueue", o.within_cluster_queue);
}

template <class V, Is<AdmissionCheckRule> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("onFlavors", o.on_flavors);
}

template <class V, Is<FairSharing> T>
void fields(V& v, T& o) {
  v("weight", o.weight);
}

template <class V, Is<AdmissionScope> T>
void fields(V& v, T& o) {
  v("admissionMode", o.admission_mode);
}

template <class V, Is<MigrationConstraints> T>
void fields(V& v, T& o) {
  v("lastAcceptableFlavorName", o.last_acceptable_flavor_name);
}

template <class V, Is<ConcurrentAdmissionPolicy> T>
void fields(V& v, T& o) {
  v.inside("migration", [&](auto& migration) {
    migration("mode", o.mode);
    migration("constraints", o.constraints);
  });
}

template <class V, Is<ClusterQueueSpec> T>
void fields(V& v, T& o) {
  v("resourceGroups", o.resource_groups);
  v("cohortName", o.cohort_name);
  v("queueingStrategy", o.queueing_strategy);
  v("namespaceSelector", o.namespace_selector);
  v("flavorFungibility", o.flavor_fungibility);
  v("preemption", o.preemption);
  v.inside("admissionChecksStrategy",
           [&](auto& strategy) { strategy("admissionChecks", o.admission_checks); });
  v("stopPolicy", o.stop_policy);
  v("fairSharing", o.fair_sharing);
  v("admissionScope", o.admission_scope);
  v("concurrentAdmissionPolicy", o.concurrent_admission_policy);
}

template <class V, Is<ResourceUsage> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("total", o.total);
  v("borrowed", o.borrowed);
}

template <class V, Is<FlavorUsage> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("resources", o.resources);
}

template <class V, Is<AdmissionFairSharingStatus> T>
void fields(V& v, T& o) {
  v.always("consumedResources", o.consumed_resources);
  v("lastUpdate", o.last_update);
}

template <class V, Is<FairSharingStatus> T>
void fields(V& v, T& o) {
  v("weightedShare", o.weighted_share);
  v("admissionFairSharingStatus", o.admission_fair_sharing_status);
}

template <class V, Is<ClusterQueueStatus> T>
void fields(V& v, T& o) {
  v("conditions", o.conditions);
  v("flavorsReservation", o.flavors_reservation);
  v("flavorsUsage", o.flavors_usage);
  v.always("pendingWorkloads", o.pending_workloads);
  v.always("reservingWorkloads", o.reserving_workloads);
  v.always("admittedWorkloads", o.admitted_workloads);
  v("fairSharing", o.fair_sharing);
}

template <class V, Is<ClusterQueue> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<CohortSpec> T>
void fields(V& v, T& o) {
  v("parentName", o.parent_name);
  v("resourceGroups", o.resource_groups);
  v("fairSharing", o.fair_sharing);
}

template <class V, Is<CohortStatus> T>
void fields(V& v, T& o) {
  v("fairSharing", o.fair_sharing);
}

template <class V, Is<Cohort> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<LocalQueueSpec> T>
void fields(V& v, T& o) {
  v("clusterQueue", o.cluster_queue);
  v("stopPolicy", o.stop_policy);
  v("fairSharing", o.fair_sharing);
}

template <class V, Is<LocalQueue> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

REGATTA_API_CODEC(ClusterQueue);
template std::vector<std::string> field_paths<ClusterQueue>();
REGATTA_API_CODEC(Cohort);
template std::vector<std::string> field_paths<Cohort>();
REGATTA_API_CODEC(LocalQueue);
template std::vector<std::string> field_paths<LocalQueue>();

}  // namespace regatta::api
