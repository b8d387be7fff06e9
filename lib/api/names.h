#pragma once

#include <string_view>

/// Well-known strings of the Kueue API, spelled as Kueue does: both ends of a fleet depend on them.
namespace regatta::api {

constexpr std::string_view kueue_group = "kueue.x-k8s.io";

namespace labels {
constexpr std::string_view queue_name = "kueue.x-k8s.io/queue-name";
constexpr std::string_view priority_class = "kueue.x-k8s.io/priority-class";
constexpr std::string_view max_exec_time_seconds = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr std::string_view prebuilt_workload_name = "kueue.x-k8s.io/prebuilt-workload-name";
constexpr std::string_view job_uid = "kueue.x-k8s.io/job-uid";
constexpr std::string_view managed = "kueue.x-k8s.io/managed";
constexpr std::string_view pod_set = "kueue.x-k8s.io/podset";
constexpr std::string_view cluster_queue_name = "kueue.x-k8s.io/cluster-queue-name";
constexpr std::string_view local_queue_name = "kueue.x-k8s.io/local-queue-name";
constexpr std::string_view pod_group_name = "kueue.x-k8s.io/pod-group-name";
constexpr std::string_view multikueue_origin = "kueue.x-k8s.io/multikueue-origin";
constexpr std::string_view multikueue_worker_workload_pod =
    "kueue.x-k8s.io/multikueue-worker-workload-pod";
constexpr std::string_view namespace_name = "kubernetes.io/metadata.name";
constexpr std::string_view hostname = "kubernetes.io/hostname";
constexpr std::string_view region = "topology.kubernetes.io/region";
constexpr std::string_view job_name = "batch.kubernetes.io/job-name";
constexpr std::string_view job_completion_index = "batch.kubernetes.io/job-completion-index";
constexpr std::string_view job_controller_uid = "batch.kubernetes.io/controller-uid";
constexpr std::string_view legacy_job_name = "job-name";
constexpr std::string_view legacy_controller_uid = "controller-uid";
}  // namespace labels

namespace annotations {
constexpr std::string_view prebuilt_workload_name = labels::prebuilt_workload_name;
constexpr std::string_view queue_name = labels::queue_name;
constexpr std::string_view workload = "kueue.x-k8s.io/workload";
constexpr std::string_view multikueue_origin_uid = "kueue.x-k8s.io/multikueue-origin-uid";
constexpr std::string_view job_owner_gvk = "kueue.x-k8s.io/job-owner-gvk";
constexpr std::string_view job_owner_name = "kueue.x-k8s.io/job-owner-name";
constexpr std::string_view component_workload_index = "kueue.x-k8s.io/component-workload-index";
constexpr std::string_view elastic_job = "kueue.x-k8s.io/elastic-job";
constexpr std::string_view workload_slice_replacement_for =
    "kueue.x-k8s.io/workload-slice-replacement-for";
constexpr std::string_view workload_slice_name = "kueue.x-k8s.io/workload-slice-name";
constexpr std::string_view job_min_parallelism = "kueue.x-k8s.io/job-min-parallelism";
constexpr std::string_view job_completions_equal_parallelism =
    "kueue.x-k8s.io/job-completions-equal-parallelism";
constexpr std::string_view stopping = "kueue.x-k8s.io/stopping";
constexpr std::string_view admission_gated_by = "kueue.x-k8s.io/admission-gated-by";
constexpr std::string_view priority_boost = "kueue.x-k8s.io/priority-boost";
constexpr std::string_view pod_suspending_parent = "kueue.x-k8s.io/pod-suspending-parent";
constexpr std::string_view role_hash = "kueue.x-k8s.io/role-hash";
constexpr std::string_view is_group_workload = "kueue.x-k8s.io/is-group-workload";
constexpr std::string_view pod_group_total_count = "kueue.x-k8s.io/pod-group-total-count";
constexpr std::string_view pod_group_fast_admission = "kueue.x-k8s.io/pod-group-fast-admission";
constexpr std::string_view pod_group_pod_index_label = "kueue.x-k8s.io/pod-group-pod-index-label";
constexpr std::string_view pod_group_serving = "kueue.x-k8s.io/pod-group-serving";
constexpr std::string_view retriable_in_group = "kueue.x-k8s.io/retriable-in-group";
constexpr std::string_view podset_required_topology = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view podset_preferred_topology = "kueue.x-k8s.io/podset-preferred-topology";
constexpr std::string_view podset_unconstrained_topology =
    "kueue.x-k8s.io/podset-unconstrained-topology";
constexpr std::string_view podset_group_name = "kueue.x-k8s.io/podset-group-name";
constexpr std::string_view podset_slice_required_topology =
    "kueue.x-k8s.io/podset-slice-required-topology";
constexpr std::string_view podset_slice_size = "kueue.x-k8s.io/podset-slice-size";
/// JSON: a list of {"topology", "size"}, outermost first.
constexpr std::string_view podset_slice_required_topology_constraints =
    "kueue.x-k8s.io/podset-slice-required-topology-constraints";
constexpr std::string_view pod_index_offset = "kueue.x-k8s.io/pod-index-offset";
/// The only MultiKueueClusters that may run it, separated by commas, as Kueue proposes it.
constexpr std::string_view multikueue_cluster_names = "kueue.x-k8s.io/multikueue-cluster-names";
constexpr std::string_view provisioning_request_prefix = "provreq.kueue.x-k8s.io/";
}  // namespace annotations

namespace finalizers {
constexpr std::string_view resource_in_use = "kueue.x-k8s.io/resource-in-use";
constexpr std::string_view pod_managed = "kueue.x-k8s.io/managed";
}  // namespace finalizers

namespace gates {
constexpr std::string_view admission = "kueue.x-k8s.io/admission";
constexpr std::string_view topology = "kueue.x-k8s.io/topology";
constexpr std::string_view elastic_job = "kueue.x-k8s.io/elastic-job";
/// Name of the preemption gate a hub puts on copies.
constexpr std::string_view multikueue_preemption = "kueue.x-k8s.io/multikueue";
}  // namespace gates

/// The admission check's controllerName, a job's managedBy, and the field manager of writes to it.
constexpr std::string_view multikueue_controller_name = "kueue.x-k8s.io/multikueue";
constexpr std::string_view provisioning_controller_name = "kueue.x-k8s.io/provisioning-request";
constexpr std::string_view job_controller_managed_by = "kubernetes.io/job-controller";
constexpr std::string_view default_origin = "multikueue";
constexpr std::string_view default_local_queue = "default";
constexpr std::string_view kubeconfig_secret_key = "kubeconfig";
constexpr std::string_view default_pod_set_name = "main";
constexpr std::string_view pods_resource = "pods";

namespace dispatchers {
constexpr std::string_view all_at_once = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
constexpr std::string_view incremental = "kueue.x-k8s.io/multikueue-dispatcher-incremental";
}  // namespace dispatchers

namespace field_managers {
constexpr std::string_view admission = "kueue-admission";
constexpr std::string_view multikueue = multikueue_controller_name;
constexpr std::string_view pods_ready = "kueue-job-controller-PodsReady";
constexpr std::string_view reclaimable_pods = "kueue-reclaimable-pods";
constexpr std::string_view pod_termination = "kueue";
}  // namespace field_managers

/// PriorityClassRef groups and kinds.
namespace priority {
constexpr std::string_view workload_group = kueue_group;
constexpr std::string_view workload_kind = "WorkloadPriorityClass";
constexpr std::string_view pod_group = "scheduling.k8s.io";
constexpr std::string_view pod_kind = "PriorityClass";
constexpr std::string_view workload_source = "kueue.x-k8s.io/workloadpriorityclass";
constexpr std::string_view pod_source = "scheduling.k8s.io/priorityclass";
}  // namespace priority

/// Condition types.
namespace conditions {
constexpr std::string_view quota_reserved = "QuotaReserved";
constexpr std::string_view admitted = "Admitted";
constexpr std::string_view evicted = "Evicted";
constexpr std::string_view preempted = "Preempted";
constexpr std::string_view requeued = "Requeued";
constexpr std::string_view pods_ready = "PodsReady";
constexpr std::string_view finished = "Finished";
constexpr std::string_view deactivation_target = "DeactivationTarget";
constexpr std::string_view waiting_for_replacement_pods = "WaitingForReplacementPods";
constexpr std::string_view blocked_on_preemption_gates = "BlockedOnPreemptionGates";
constexpr std::string_view active = "Active";
constexpr std::string_view quota_automation = "MultiKueueManagerQuotaAutomation";
constexpr std::string_view job_complete = "Complete";
constexpr std::string_view job_failed = "Failed";
constexpr std::string_view job_suspended = "Suspended";
constexpr std::string_view job_success_criteria_met = "SuccessCriteriaMet";
constexpr std::string_view job_failure_target = "FailureTarget";
}  // namespace conditions

/// Condition (and event) reasons.
namespace reasons {
// QuotaReserved
constexpr std::string_view quota_reserved = "QuotaReserved";
constexpr std::string_view no_matching_flavor = "NoMatchingFlavor";
constexpr std::string_view waiting_for_quota = "WaitingForQuota";
constexpr std::string_view exceeds_max_quota = "ExceedsMaxQuota";
constexpr std::string_view topology_placement_failed = "TopologyPlacementFailed";
constexpr std::string_view waiting_for_preempted_workloads = "WaitingForPreemptedWorkloads";
constexpr std::string_view misconfigured = "Misconfigured";
constexpr std::string_view suspended = "Suspended";
constexpr std::string_view pending_evaluation = "PendingEvaluation";
constexpr std::string_view waiting_for_pods_ready = "WaitingForPodsReady";
constexpr std::string_view admission_gated = "AdmissionGated";
constexpr std::string_view on_hold = "OnHold";
constexpr std::string_view deactivated = "Deactivated";
constexpr std::string_view pending = "Pending";
constexpr std::string_view inadmissible = "Inadmissible";
constexpr std::string_view waiting = "Waiting";
// Admitted
constexpr std::string_view admitted = "Admitted";
constexpr std::string_view no_reservation = "NoReservation";
constexpr std::string_view unsatisfied_admission_checks = "UnsatisfiedAdmissionChecks";
constexpr std::string_view unsatisfied_checks = "UnsatisfiedChecks";
constexpr std::string_view no_reservation_unsatisfied_checks = "NoReservationUnsatisfiedChecks";
constexpr std::string_view pending_delayed_topology_requests = "PendingDelayedTopologyRequests";
// Evicted
constexpr std::string_view preempted = "Preempted";
constexpr std::string_view pods_ready_timeout = "PodsReadyTimeout";
constexpr std::string_view admission_check = "AdmissionCheck";
constexpr std::string_view cluster_queue_stopped = "ClusterQueueStopped";
constexpr std::string_view local_queue_stopped = "LocalQueueStopped";
constexpr std::string_view node_failures = "NodeFailures";
constexpr std::string_view deactivated_due_to = "DeactivatedDueTo";  ///< followed by the cause
constexpr std::string_view flavor_migration = "FlavorMigration";
constexpr std::string_view evicted_on_manager_cluster = "EvictedOnManagerCluster";
constexpr std::string_view maximum_execution_time_exceeded = "MaximumExecutionTimeExceeded";
constexpr std::string_view requeuing_limit_exceeded = "RequeuingLimitExceeded";
// Preempted
constexpr std::string_view in_cluster_queue = "InClusterQueue";
constexpr std::string_view in_cohort_reclamation = "InCohortReclamation";
constexpr std::string_view in_cohort_fair_sharing = "InCohortFairSharing";
constexpr std::string_view in_cohort_reclaim_while_borrowing = "InCohortReclaimWhileBorrowing";
// Requeued
constexpr std::string_view reactivated = "Reactivated";
constexpr std::string_view backoff_finished = "BackoffFinished";
constexpr std::string_view cluster_queue_restarted = "ClusterQueueRestarted";
constexpr std::string_view local_queue_restarted = "LocalQueueRestarted";
// PodsReady
constexpr std::string_view wait_for_start = "WaitForStart";
constexpr std::string_view wait_for_recovery = "WaitForRecovery";
constexpr std::string_view started = "Started";
constexpr std::string_view recovered = "Recovered";
// Finished
constexpr std::string_view succeeded = "Succeeded";
constexpr std::string_view failed = "Failed";
constexpr std::string_view out_of_sync = "OutOfSync";
constexpr std::string_view owner_not_found = "OwnerNotFound";
constexpr std::string_view failed_to_start = "FailedToStart";
constexpr std::string_view workload_slice_replaced = "WorkloadSliceReplaced";
// WaitingForReplacementPods, BlockedOnPreemptionGates
constexpr std::string_view pods_failed = "PodsFailed";
constexpr std::string_view pods_ready = "PodsReady";
constexpr std::string_view preemption_gated = "PreemptionGated";
// Active of a queue
constexpr std::string_view ready = "Ready";
constexpr std::string_view stopped = "Stopped";
constexpr std::string_view terminating = "Terminating";
constexpr std::string_view unknown = "Unknown";
constexpr std::string_view flavor_not_found = "FlavorNotFound";
constexpr std::string_view admission_check_not_found = "AdmissionCheckNotFound";
constexpr std::string_view admission_check_inactive = "AdmissionCheckInactive";
constexpr std::string_view multiple_multikueue_checks = "MultipleMultiKueueAdmissionChecks";
constexpr std::string_view multikueue_check_per_flavor = "MultiKueueAdmissionCheckAppliedPerFlavor";
constexpr std::string_view multikueue_with_provisioning = "MultiKueueWithProvisioningRequest";
constexpr std::string_view topology_not_found = "TopologyNotFound";
constexpr std::string_view cluster_queue_does_not_exist = "ClusterQueueDoesNotExist";
constexpr std::string_view cluster_queue_is_inactive = "ClusterQueueIsInactive";
// Active of a MultiKueueCluster or AdmissionCheck
constexpr std::string_view active = "Active";
constexpr std::string_view bad_kube_config = "BadKubeConfig";
constexpr std::string_view insecure_kube_config = "InsecureKubeConfig";
constexpr std::string_view bad_cluster_profile = "BadClusterProfile";
constexpr std::string_view bad_rest_config = "BadRestConfig";
constexpr std::string_view cluster_profile_feature_disabled =
    "MultiKueueClusterProfileFeatureDisabled";
constexpr std::string_view client_connection_failed = "ClientConnectionFailed";
constexpr std::string_view worker_limit_exceeded = "WorkerLimitExceeded";
constexpr std::string_view some_active_clusters = "SomeActiveClusters";
constexpr std::string_view no_usable_clusters = "NoUsableClusters";
constexpr std::string_view bad_config = "BadConfig";
// MultiKueueManagerQuotaAutomation
constexpr std::string_view quota_automated = "QuotaAutomated";
constexpr std::string_view not_requested = "NotRequested";
constexpr std::string_view unsupported_configuration = "UnsupportedConfiguration";
}  // namespace reasons

/// Event reasons that are not condition reasons as well.
namespace events {
constexpr std::string_view evicted_due_to = "EvictedDueTo";  ///< followed by the reason
constexpr std::string_view admission_check_rejected = "AdmissionCheckRejected";
constexpr std::string_view admission_check_updated = "AdmissionCheckUpdated";
constexpr std::string_view admission_gate_cleared = "AdmissionGateCleared";
constexpr std::string_view created_workload = "CreatedWorkload";
constexpr std::string_view deleted_workload = "DeletedWorkload";
constexpr std::string_view updated_workload = "UpdatedWorkload";
constexpr std::string_view finished_workload = "FinishedWorkload";
constexpr std::string_view updated_admission_check = "UpdatedAdmissionCheck";
constexpr std::string_view error_workload_compose = "ErrWorkloadCompose";
constexpr std::string_view job_nesting_too_deep = "JobNestingTooDeep";
constexpr std::string_view workload_priority_class_not_found = "WorkloadPriorityClassNotFound";
constexpr std::string_view owner_references_added = "OwnerReferencesAdded";
constexpr std::string_view excess_pod_deleted = "ExcessPodDeleted";
constexpr std::string_view workload_name_conflict = "WorkloadNameConflict";
constexpr std::string_view started = "Started";
constexpr std::string_view stopped = "Stopped";
constexpr std::string_view suspended = "Suspended";
constexpr std::string_view deleted = "Deleted";
constexpr std::string_view second_pass_failed = "SecondPassFailed";
constexpr std::string_view pod_terminated_by_kueue = "PodTerminatedByKueue";
}  // namespace events

}  // namespace regatta::api
