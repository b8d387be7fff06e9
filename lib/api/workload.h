#pragma once

#include "lib/api/pod.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::api {

struct PodSetTopologyConstraint {
  std::string topology;
  std::int32_t size = 0;
  friend bool operator==(const PodSetTopologyConstraint&,
                         const PodSetTopologyConstraint&) = default;
};

struct PodSetTopologyRequest {
  std::optional<std::string> required;
  std::optional<std::string> preferred;
  std::optional<bool> unconstrained;
  std::optional<std::string> pod_index_label;
  std::optional<std::string> sub_group_index_label;
  std::optional<std::int32_t> sub_group_count;
  std::optional<std::string> pod_set_group_name;
  std::optional<std::string> pod_set_slice_required_topology;
  std::optional<std::int32_t> pod_set_slice_size;
  std::vector<PodSetTopologyConstraint> slice_constraints;
  friend bool operator==(const PodSetTopologyRequest&, const PodSetTopologyRequest&) = default;
};

struct PodSet {
  std::string name = "main";
  PodTemplate pod_template;
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  std::optional<PodSetTopologyRequest> topology_request;
  friend bool operator==(const PodSet&, const PodSet&) = default;
};

struct PriorityClassRef {
  std::string group;  ///< kueue.x-k8s.io or scheduling.k8s.io
  std::string kind;   ///< WorkloadPriorityClass or PriorityClass
  std::string name;
  friend bool operator==(const PriorityClassRef&, const PriorityClassRef&) = default;
};

/// More pod sets than the API allows, which are 18, and few enough that reading them costs little.
/// An object with more of them cannot be read.
constexpr std::size_t pod_sets_max = 64;

struct WorkloadSpec {
  std::vector<PodSet> pod_sets;
  std::string queue_name;
  std::optional<PriorityClassRef> priority_class_ref;
  std::optional<std::int32_t> priority;
  bool active = true;
  std::optional<std::int32_t> maximum_execution_time_seconds;
  std::vector<std::string> preemption_gates;  ///< names
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

/// Node names (or label values) of one level of a slice: one for all domains, or prefix + root +
/// suffix per domain.
struct TopologySliceValues {
  struct Individual {
    std::string prefix;
    std::string suffix;
    std::vector<std::string> roots;
    friend bool operator==(const Individual&, const Individual&) = default;
  };
  std::optional<std::string> universal;
  std::optional<Individual> individual;
  friend bool operator==(const TopologySliceValues&, const TopologySliceValues&) = default;
};

struct TopologySlicePodCounts {
  std::optional<std::int32_t> universal;
  std::vector<std::int32_t> individual;
  friend bool operator==(const TopologySlicePodCounts&, const TopologySlicePodCounts&) = default;
};

struct TopologyAssignmentSlice {
  std::int32_t domain_count = 0;
  std::vector<TopologySliceValues> values_per_level;
  TopologySlicePodCounts pod_counts;
  friend bool operator==(const TopologyAssignmentSlice&, const TopologyAssignmentSlice&) = default;
};

struct TopologyAssignment {
  std::vector<std::string> levels;
  std::vector<TopologyAssignmentSlice> slices;
  friend bool operator==(const TopologyAssignment&, const TopologyAssignment&) = default;
};

struct PodSetAssignment {
  std::string name = "main";
  StringMap flavors;  ///< resource -> flavor
  ResourceList resource_usage;
  std::optional<std::int32_t> count;
  std::optional<TopologyAssignment> topology_assignment;
  std::string delayed_topology_request;  ///< "", Pending, Ready
  friend bool operator==(const PodSetAssignment&, const PodSetAssignment&) = default;
};

struct Admission {
  std::string cluster_queue;
  std::vector<PodSetAssignment> pod_set_assignments;
  friend bool operator==(const Admission&, const Admission&) = default;
};

struct RequeueState {
  std::optional<std::int32_t> count;
  std::optional<TimePoint> requeue_at;
  friend bool operator==(const RequeueState&, const RequeueState&) = default;
};

struct ReclaimablePod {
  std::string name;
  std::int32_t count = 0;
  friend bool operator==(const ReclaimablePod&, const ReclaimablePod&) = default;
};

enum class CheckState : std::uint8_t { Pending, Ready, Retry, Rejected };
/// As the API spells it.
std::string_view text_of(CheckState state);

struct PodSetUpdate {
  std::string name;
  StringMap labels;
  StringMap annotations;
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  friend bool operator==(const PodSetUpdate&, const PodSetUpdate&) = default;
};

struct AdmissionCheckState {
  std::string name;
  CheckState state = CheckState::Pending;
  TimePoint last_transition_time{};
  std::string message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::optional<std::int32_t> retry_count;
  std::vector<PodSetUpdate> pod_set_updates;
  friend bool operator==(const AdmissionCheckState&, const AdmissionCheckState&) = default;
};

struct PodSetRequest {
  std::string name;
  ResourceList resources;
  friend bool operator==(const PodSetRequest&, const PodSetRequest&) = default;
};

struct WorkloadEviction {
  std::string reason;
  std::string underlying_cause;
  std::int32_t count = 0;
  friend bool operator==(const WorkloadEviction&, const WorkloadEviction&) = default;
};

struct PreemptionGateState {
  std::string name;
  std::string position;  ///< Closed or Open
  TimePoint last_transition_time{};
  friend bool operator==(const PreemptionGateState&, const PreemptionGateState&) = default;
};

struct WorkloadStatus {
  Conditions conditions;
  std::optional<Admission> admission;
  std::optional<RequeueState> requeue_state;
  std::vector<ReclaimablePod> reclaimable_pods;
  std::vector<AdmissionCheckState> admission_checks;
  std::vector<PodSetRequest> resource_requests;
  std::optional<std::int32_t> accumulated_past_execution_time_seconds;
  std::vector<WorkloadEviction> evictions;  ///< schedulingStats.evictions
  std::vector<std::string> nominated_cluster_names;
  std::optional<std::string> cluster_name;
  std::vector<std::string> unhealthy_nodes;  ///< names
  std::vector<PreemptionGateState> preemption_gates;
  friend bool operator==(const WorkloadStatus&, const WorkloadStatus&) = default;
};

struct Workload {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  WorkloadSpec spec;
  WorkloadStatus status;
  /// The spec as it was read, unknown fields included; empty for one built here. to_json() writes
  /// the typed spec over it, so that a copy loses nothing.
  RawJson raw_spec;
  friend bool operator==(const Workload&, const Workload&) = default;
};

const AdmissionCheckState* find_check(const WorkloadStatus& status, std::string_view name);
AdmissionCheckState* find_check(WorkloadStatus* status, std::string_view name);

/// Empties each member that is the same in both: what is left has the same difference.
void leave_out_common(WorkloadStatus* a, WorkloadStatus* b);

}  // namespace regatta::api
