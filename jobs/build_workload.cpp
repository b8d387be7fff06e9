#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/naming.h"
#include "jobs/plan.h"
#include "jobs/plan_rules.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/owner_reference.h"

/// What plans make of Workloads: new ones, and other versions of those that there are.
namespace regatta::jobs {
namespace {

/// Name and owners of a new Workload.
api::ObjectMeta owned_metadata(const JobView& view) {
  const GenericJob& job = *view.job;
  api::Workload made;
  api::ObjectMeta& metadata = made.metadata;
  metadata.ns = job.metadata().ns;
  metadata.finalizers.emplace_back(api::finalizers::resource_in_use);
  if (const ComposedJob* group = job.composed()) {
    metadata.name = job.metadata().name;
    metadata.annotations[std::string(api::annotations::is_group_workload)] = "true";
    return shared_metadata(made, group->roster(nullptr).kept);
  }
  const api::ResourceInfo& kind = job.kind().resource();
  metadata.name = workload_name(kind.kind, kind.group, job.metadata().name, job.metadata().uid, {},
                                view.policy.brief_names);
  metadata.labels[std::string(api::labels::job_uid)] = job.metadata().uid;
  metadata.owner_references.push_back(api::controller_reference(kind, job.metadata()));
  return metadata;
}

/// `owned`: the name and the owners.
Result<api::Workload> workload_of(const JobView& view, api::ObjectMeta owned) {
  const GenericJob& job = *view.job;
  if (view.invalid) return *view.invalid;
  Result<std::vector<api::PodSet>> sets = job.pod_sets(view.topology);
  if (!sets) return sets.error();
  const auto limit = max_execution_seconds(job);
  if (!limit) return limit.error();
  api::Workload workload;
  api::ObjectMeta& metadata = workload.metadata;
  metadata = std::move(owned);
  for (const auto& [key, value] : job.metadata().annotations) {
    if (key.starts_with(api::annotations::provisioning_request_prefix)) {
      metadata.annotations[key] = value;
    }
  }
  const std::string gate(api::annotations::admission_gated_by);
  if (const std::string& by = job.metadata().annotation(gate); !by.empty()) {
    if (view.policy.admission_gates) metadata.annotations[gate] = by;
  }
  for (const std::string& label : view.policy.labels_to_copy) {
    const auto found = job.metadata().labels.find(label);
    if (found != job.metadata().labels.end()) metadata.labels.insert(*found);
  }
  if (is_elastic(view)) metadata = marked_as_slice(view, std::move(metadata));
  workload.spec.pod_sets = std::move(*sets);
  for (api::PodSet& set : workload.spec.pod_sets)
    set.pod_template = with_unique_env(set.pod_template);
  if (!view.policy.partial_admission) {
    for (api::PodSet& set : workload.spec.pod_sets) set.min_count.reset();
  }
  workload.spec.queue_name = view.queue_name;
  workload.spec.priority_class_ref = view.priority_class;
  workload.spec.priority = view.priority;
  workload.spec.maximum_execution_time_seconds = *limit;
  return workload;
}

/// The owner is no controller, as Pods of the group become owners, too.
api::ObjectMeta group_metadata(const JobView& view, const ServingGroup& group) {
  const api::ResourceInfo& kind = view.job->kind().resource();
  const api::ObjectMeta& job = view.job->metadata();
  api::ObjectMeta metadata;
  metadata.ns = job.ns;
  metadata.name = group.name;
  metadata.labels[std::string(api::labels::job_uid)] = job.uid;
  api::StringMap& notes = metadata.annotations;
  notes[std::string(api::annotations::is_group_workload)] = "true";
  notes[std::string(api::annotations::job_owner_name)] = job.name;
  notes[std::string(api::annotations::job_owner_gvk)] =
      kind.api_version() + ", Kind=" + std::string(kind.kind);
  if (group.index) {
    notes[std::string(api::annotations::component_workload_index)] = std::to_string(*group.index);
  }
  api::OwnerReference owner = api::controller_reference(kind, job);
  owner.controller.reset();
  owner.block_owner_deletion.reset();
  metadata.owner_references.push_back(std::move(owner));
  return metadata;
}

}  // namespace

Result<api::Workload> build_workload(const JobView& view) {
  return workload_of(view, owned_metadata(view));
}

Result<api::Workload> build_group_workload(const JobView& view, const ServingGroup& group) {
  return workload_of(view, group_metadata(view, group));
}

api::ObjectMeta released_metadata(const api::Workload& workload) {
  api::ObjectMeta metadata = workload.metadata;
  std::erase(metadata.finalizers, api::finalizers::resource_in_use);
  return metadata;
}

api::ObjectMeta adopted_metadata(const api::Workload& workload, const GenericJob& job) {
  api::ObjectMeta metadata = workload.metadata;
  metadata.owner_references.push_back(
      api::controller_reference(job.kind().resource(), job.metadata()));
  metadata.labels[std::string(api::labels::job_uid)] = job.metadata().uid;
  return metadata;
}

api::ObjectMeta gated_metadata(const api::Workload& workload, const std::string& gates) {
  const std::string annotation(api::annotations::admission_gated_by);
  api::ObjectMeta metadata = workload.metadata;
  metadata.annotations.erase(annotation);
  if (!gates.empty()) metadata.annotations[annotation] = gates;
  return metadata;
}

api::WorkloadStatus drop_reservation(const api::Workload& workload, TimePoint now) {
  api::WorkloadStatus status = workload.status;
  const api::Condition* eviction = api::find_condition(status.conditions, api::conditions::evicted);
  const std::int64_t generation = workload.metadata.generation;
  const std::string reason = eviction ? eviction->reason : "Pending";
  const std::string message = eviction ? eviction->message : "The reservation was dropped";
  status.admission.reset();
  api::set_condition(&status.conditions,
                     {std::string(api::conditions::quota_reserved),
                      api::ConditionStatus::False,
                      generation,
                      {},
                      std::string(api::reasons::pending_evaluation),
                      message},
                     now);
  api::end_admission(&status, generation, now);
  if (api::find_condition(status.conditions, api::conditions::pods_ready)) {
    api::set_pods_ready(&status, generation, api::PodsReadiness::wait_for_start, now);
  }
  const bool requeue = reason == api::reasons::preempted || reason == api::reasons::node_failures;
  api::set_condition(&status.conditions,
                     {std::string(api::conditions::requeued),
                      requeue ? api::ConditionStatus::True : api::ConditionStatus::False,
                      generation,
                      {},
                      reason,
                      message},
                     now);
  return status;
}

namespace {

/// The record of the worker goes with the quota, and no check stays Ready for it.
void leave_worker(api::WorkloadStatus* status, std::int64_t generation, const std::string& message,
                  TimePoint now) {
  status->cluster_name.reset();
  status->nominated_cluster_names.clear();
  for (api::AdmissionCheckState& check : status->admission_checks) {
    if (check.state == api::CheckState::Pending) continue;
    check.state = api::CheckState::Pending;
    check.message = message;
    check.last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  }
  if (!api::find_condition(status->conditions, api::conditions::dispatched)) return;
  api::set_condition(&status->conditions,
                     {std::string(api::conditions::dispatched),
                      api::ConditionStatus::False,
                      generation,
                      {},
                      std::string(api::reasons::on_hold),
                      message},
                     now);
}

}  // namespace

api::WorkloadStatus held_status(const api::Workload& workload, const std::string& message,
                                TimePoint now) {
  api::WorkloadStatus status = workload.status;
  const std::int64_t generation = workload.metadata.generation;
  const bool held = !message.empty();
  status.admission.reset();
  api::set_condition(&status.conditions,
                     {std::string(api::conditions::quota_reserved),
                      api::ConditionStatus::False,
                      generation,
                      {},
                      std::string(held ? api::reasons::on_hold : api::reasons::pending_evaluation),
                      held ? message : "Workload is pending evaluation in the scheduling queue"},
                     now);
  if (api::is_true(status.conditions, api::conditions::admitted)) {
    api::end_admission(&status, generation, now);
  }
  if (status.cluster_name) leave_worker(&status, generation, message, now);
  return status;
}

}  // namespace regatta::jobs
