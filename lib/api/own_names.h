#pragma once

#include <string_view>

/// Well-known strings of Regatta's own, in a domain of its own. Kueue's are in names.h.
namespace regatta::api {

namespace annotations {
/// On copies and jobs on workers: the UID of the namespace kube-system of the hub that made them.
constexpr std::string_view hub_uid = "multikueue.regatta.dev/hub-uid";
/// Of a copy or a job: the MultiKueueCluster that the hub made it through.
constexpr std::string_view worker = "multikueue.regatta.dev/worker";
/// On copies on workers: when the hub's Workload had got its quota, which says for which attempt
/// the copy was made.
constexpr std::string_view quota_reserved_at = "multikueue.regatta.dev/quota-reserved-at";
/// On a MultiKueueCluster: the UID of another hub whose objects there are this hub's from now on.
constexpr std::string_view adopt_hub = "multikueue.regatta.dev/adopt-hub";
/// On a MultiKueueCluster: so many workloads that the hub lacks may be removed there.
constexpr std::string_view remove_vanished = "multikueue.regatta.dev/remove-vanished";
/// On a Workload, a job, a LocalQueue or a ClusterQueue: the Placement that chooses its workers.
constexpr std::string_view placement = "multikueue.regatta.dev/placement";
/// In the same places: the decision-key or placement-key of decisions of multicluster.x-k8s.io.
constexpr std::string_view placement_key = "multikueue.regatta.dev/placement-key";
/// On a MultiKueueCluster: the name of its ManagedCluster or ClusterProfile, when that differs.
constexpr std::string_view managed_cluster = "multikueue.regatta.dev/managed-cluster";
/// On a MultiKueueCluster: what the hub creates there if it is lacking, separated by commas, and
/// the ClusterQueue of LocalQueues whose own one is not there.
constexpr std::string_view provide = "multikueue.regatta.dev/provide";
constexpr std::string_view provide_cluster_queue = "multikueue.regatta.dev/provide-cluster-queue";
/// On an AdmissionCheck of MultiKueue: the dispatcher of its workloads, as dispatcherName has it.
constexpr std::string_view dispatcher = "multikueue.regatta.dev/dispatcher";
/// On the same, for dispatchers that compare workers: expressions in CEL over `workload` and
/// `worker`. Which workers may have a workload, and which of them are asked first.
constexpr std::string_view worker_filter = "multikueue.regatta.dev/worker-filter";
constexpr std::string_view worker_score = "multikueue.regatta.dev/worker-score";
/// On a MultiKueueConfig: a label selector. The MultiKueueClusters that it matches count as listed,
/// after those of spec.clusters.
constexpr std::string_view select_clusters = "multikueue.regatta.dev/select-clusters";
// On a Workload or a job, for dispatchers that compare workers. Label selectors, and names
// separated by commas, of MultiKueueClusters.
constexpr std::string_view cluster_selector = "multikueue.regatta.dev/cluster-selector";
constexpr std::string_view preferred_cluster_names =
    "multikueue.regatta.dev/preferred-cluster-names";
constexpr std::string_view preferred_cluster_selector =
    "multikueue.regatta.dev/preferred-cluster-selector";
/// "true" or "false": how it may not get room on a worker.
constexpr std::string_view must_not_borrow = "multikueue.regatta.dev/must-not-borrow";
constexpr std::string_view must_not_preempt = "multikueue.regatta.dev/must-not-preempt";
/// Where the data of a workload is: a value of the label topology.kubernetes.io/region.
constexpr std::string_view region = "multikueue.regatta.dev/region";
/// On a job in a queue of workers: "true" when it runs on the hub instead.
constexpr std::string_view run_on_hub = "multikueue.regatta.dev/run-on-hub";
/// On a MultiKueueCluster: a quantity in any unit that all workers share.
constexpr std::string_view price = "multikueue.regatta.dev/price";
}  // namespace annotations

namespace dispatchers {
/// Every name in this domain is of a dispatcher of Regatta's own.
constexpr std::string_view domain = "multikueue.regatta.dev/";
/// Placements choose the workers of every workload.
constexpr std::string_view placement = "multikueue.regatta.dev/placement";
// These compare workers: placement/rank.h.
constexpr std::string_view capacity = "multikueue.regatta.dev/capacity";
constexpr std::string_view cost = "multikueue.regatta.dev/cost";
constexpr std::string_view spread = "multikueue.regatta.dev/spread";
constexpr std::string_view locality = "multikueue.regatta.dev/locality";
}  // namespace dispatchers

namespace conditions {
// Of a MultiKueueCluster
constexpr std::string_view removals_held = "RemovalsHeld";
constexpr std::string_view origin_shared = "OriginShared";
constexpr std::string_view same_cluster = "SameCluster";
constexpr std::string_view needs_lacking = "NeedsLacking";
// Of a Workload
/// How far MultiKueue has got with it, as one sentence on its dispatch as a whole.
constexpr std::string_view dispatched = "Dispatched";
/// Which workers refuse its job.
constexpr std::string_view refused_by_workers = "RefusedByWorkers";
}  // namespace conditions

namespace reasons {
// RemovalsHeld
constexpr std::string_view vanished_on_hub = "VanishedOnHub";
// OriginShared
constexpr std::string_view other_hub = "OtherHub";
// SameCluster
constexpr std::string_view other_name = "OtherName";
// NeedsLacking
constexpr std::string_view not_provided = "NotProvided";
constexpr std::string_view resolved = "Resolved";
// Dispatched
constexpr std::string_view dispatched = "Dispatched";
constexpr std::string_view racing = "Racing";
constexpr std::string_view no_worker_connected = "NoWorkerConnected";
constexpr std::string_view no_worker_accepts = "NoWorkerAccepts";
constexpr std::string_view no_worker_fits = "NoWorkerFits";
constexpr std::string_view no_worker_nominated = "NoWorkerNominated";
constexpr std::string_view worker_lost = "WorkerLost";
constexpr std::string_view copy_unknown = "CopyUnknown";
constexpr std::string_view waiting_for_first_group = "WaitingForFirstGroup";
constexpr std::string_view waiting_for_room_to_grow = "WaitingForRoomToGrow";
constexpr std::string_view waiting_for_removal = "WaitingForRemoval";
constexpr std::string_view waiting_for_stop = "WaitingForStop";
constexpr std::string_view waiting_for_last_status = "WaitingForLastStatus";
constexpr std::string_view job_not_created = "JobNotCreated";
constexpr std::string_view removals_held = "RemovalsHeld";
constexpr std::string_view config_missing = "ConfigMissing";
constexpr std::string_view kind_not_managed = "KindNotManaged";
constexpr std::string_view not_dispatched = "NotDispatched";
constexpr std::string_view rejected = "Rejected";
// RefusedByWorkers
constexpr std::string_view job_refused = "JobRefused";
// Active of an AdmissionCheck that names a Placement
constexpr std::string_view placement_not_found = "PlacementNotFound";
constexpr std::string_view placement_error = "PlacementError";
constexpr std::string_view placement_decision_error = "PlacementDecisionError";
constexpr std::string_view no_clusters_available = "NoClustersAvailable";
}  // namespace reasons

/// Event reasons.
namespace events {
/// On a job of a described kind: an expression of the description has no answer for it.
constexpr std::string_view unreadable_job = "UnreadableJob";
constexpr std::string_view nominated_by_placement = "NominatedByPlacement";
constexpr std::string_view not_nominated = "NotNominated";
}  // namespace events

}  // namespace regatta::api
