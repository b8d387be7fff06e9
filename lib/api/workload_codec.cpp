#include "lib/api/field_lister.h"
#include "lib/api/pod_fields.h"
#include "lib/api/workload.h"

namespace regatta::api {

template <>
struct EnumText<CheckState> {
  static constexpr std::string_view texts[] = {"Pending", "Ready", "Retry", "Rejected"};
};

template <class V, Is<PodSetTopologyConstraint> T>
void fields(V& v, T& o) {
  v("topology", o.topology);
  v("size", o.size);
}

template <class V, Is<PodSetTopologyRequest> T>
void fields(V& v, T& o) {
  v("required", o.required);
  v("preferred", o.preferred);
  v("unconstrained", o.unconstrained);
  v("podIndexLabel", o.pod_index_label);
  v("subGroupIndexLabel", o.sub_group_index_label);
  v("subGroupCount", o.sub_group_count);
  v("podSetGroupName", o.pod_set_group_name);
  v("podSetSliceRequiredTopology", o.pod_set_slice_required_topology);
  v("podSetSliceSize", o.pod_set_slice_size);
  v("podsetSliceRequiredTopologyConstraints", o.slice_constraints);
}

template <class V, Is<PodSet> T>
void fields(V& v, T& o) {
  v.always("name", o.name);
  v("template", o.pod_template);
  v("count", o.count);
  v("minCount", o.min_count);
  v("topologyRequest", o.topology_request);
}

template <class V, Is<PriorityClassRef> T>
void fields(V& v, T& o) {
  v("group", o.group);
  v("kind", o.kind);
  v("name", o.name);
}

template <class V, Is<WorkloadSpec> T>
void fields(V& v, T& o) {
  if constexpr (std::same_as<V, FieldReader>) v.limit("podSets", pod_sets_max);
  v("podSets", o.pod_sets);
  v("queueName", o.queue_name);
  v("priorityClassRef", o.priority_class_ref);
  v("priority", o.priority);
  v("active", o.active);
  v("maximumExecutionTimeSeconds", o.maximum_execution_time_seconds);
  v.names("preemptionGates", o.preemption_gates);
}

template <class V, Is<TopologySliceValues::Individual> T>
void fields(V& v, T& o) {
  v("prefix", o.prefix);
  v("suffix", o.suffix);
  v("roots", o.roots);
}

template <class V, Is<TopologySliceValues> T>
void fields(V& v, T& o) {
  v("universal", o.universal);
  v("individual", o.individual);
}

template <class V, Is<TopologySlicePodCounts> T>
void fields(V& v, T& o) {
  v("universal", o.universal);
  v("individual", o.individual);
}

template <class V, Is<TopologyAssignmentSlice> T>
void fields(V& v, T& o) {
  v("domainCount", o.domain_count);
  v("valuesPerLevel", o.values_per_level);
  v("podCounts", o.pod_counts);
}

template <class V, Is<TopologyAssignment> T>
void fields(V& v, T& o) {
  v.always("levels", o.levels);
  v.always("slices", o.slices);
}

template <class V, Is<PodSetAssignment> T>
void fields(V& v, T& o) {
  v.always("name", o.name);
  v("flavors", o.flavors);
  v("resourceUsage", o.resource_usage);
  v("count", o.count);
  v("topologyAssignment", o.topology_assignment);
  v("delayedTopologyRequest", o.delayed_topology_request);
}

template <class V, Is<Admission> T>
void fields(V& v, T& o) {
  v("clusterQueue", o.cluster_queue);
  v("podSetAssignments", o.pod_set_assignments);
}

template <class V, Is<RequeueState> T>
void fields(V& v, T& o) {
  v("count", o.count);
  v("requeueAt", o.requeue_at);
}

template <class V, Is<ReclaimablePod> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("count", o.count);
}

template <class V, Is<PodSetUpdate> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("labels", o.labels);
  v("annotations", o.annotations);
  v("nodeSelector", o.node_selector);
  v("tolerations", o.tolerations);
}

template <class V, Is<AdmissionCheckState> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("state", o.state);
  v("lastTransitionTime", o.last_transition_time);
  v.always("message", o.message);
  v("requeueAfterSeconds", o.requeue_after_seconds);
  v("retryCount", o.retry_count);
  v("podSetUpdates", o.pod_set_updates);
}

template <class V, Is<PodSetRequest> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("resources", o.resources);
}

template <class V, Is<WorkloadEviction> T>
void fields(V& v, T& o) {
  v("reason", o.reason);
  v.always("underlyingCause", o.underlying_cause);
  v("count", o.count);
}

template <class V, Is<PreemptionGateState> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("position", o.position);
  v("lastTransitionTime", o.last_transition_time);
}

template <class V, Is<WorkloadStatus> T>
void fields(V& v, T& o) {
  v("conditions", o.conditions);
  v("admission", o.admission);
  v("requeueState", o.requeue_state);
  v("reclaimablePods", o.reclaimable_pods);
  v("admissionChecks", o.admission_checks);
  v("resourceRequests", o.resource_requests);
  v("accumulatedPastExecutionTimeSeconds", o.accumulated_past_execution_time_seconds);
  v.inside("schedulingStats", [&](auto& stats) { stats("evictions", o.evictions); });
  v("nominatedClusterNames", o.nominated_cluster_names);
  v("clusterName", o.cluster_name);
  v.names("unhealthyNodes", o.unhealthy_nodes);
  v("preemptionGates", o.preemption_gates);
}

template <class V, Is<Workload> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  if constexpr (std::same_as<V, FieldReader>) {
    v("spec", o.spec);
    if (const Json* spec = v.find("spec")) {
      o.raw_spec = RawJson(dump_json(*spec));
      std::vector<PodTemplate*> templates;
      for (PodSet& set : o.spec.pod_sets) templates.push_back(&set.pod_template);
      PodTemplate::place_within(o.raw_spec, templates);
    }
  } else {
    v.over("spec", o.raw_spec, o.spec);
  }
  v("status", o.status);
}

std::string_view text_of(CheckState state) {
  return EnumText<CheckState>::texts[std::size_t(state)];
}

const AdmissionCheckState* find_check(const WorkloadStatus& status, std::string_view name) {
  for (const AdmissionCheckState& check : status.admission_checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

AdmissionCheckState* find_check(WorkloadStatus* status, std::string_view name) {
  return const_cast<AdmissionCheckState*>(find_check(*status, name));
}

void leave_out_common(WorkloadStatus* a, WorkloadStatus* b) {
  const auto compare = [&](auto member) {
    if (a->*member == b->*member) a->*member = b->*member = {};
  };
  compare(&WorkloadStatus::conditions);
  compare(&WorkloadStatus::admission);
  compare(&WorkloadStatus::requeue_state);
  compare(&WorkloadStatus::reclaimable_pods);
  compare(&WorkloadStatus::admission_checks);
  compare(&WorkloadStatus::resource_requests);
  compare(&WorkloadStatus::accumulated_past_execution_time_seconds);
  compare(&WorkloadStatus::evictions);
  compare(&WorkloadStatus::nominated_cluster_names);
  compare(&WorkloadStatus::cluster_name);
  compare(&WorkloadStatus::unhealthy_nodes);
  compare(&WorkloadStatus::preemption_gates);
}

REGATTA_API_CODEC(Workload);
template std::vector<std::string> field_paths<Workload>();

}  // namespace regatta::api
