#include "jobs/plan.h"

#include "jobs/elastic.h"
#include "jobs/naming.h"
#include "jobs/plan_rules.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

using api::conditions::admitted;
using api::conditions::evicted;
using api::conditions::quota_reserved;

bool is_finished(const api::Workload& w) {
  return api::is_true(w.status.conditions, api::conditions::finished);
}

bool owned_by(const api::Workload& workload, const GenericJob& job) {
  const api::OwnerReference* owner = workload.metadata.controller();
  return owner && owner->uid == job.metadata().uid;
}

bool matches(const JobView& view, const api::Workload& workload) {
  // A job that runs, or that has a prebuilt Workload, keeps the time limit of its Workload.
  if (!view.prebuilt && view.job->suspended()) {
    const auto limit = max_execution_seconds(*view.job);
    if (limit && workload.spec.maximum_execution_time_seconds != *limit) return false;
  }
  const bool running = has_reservation(workload) && !view.infos.empty();
  return view.job->equivalent(workload, running ? &view.infos : nullptr);
}

/// Adds the next step that stops the job, if a step is left.
void stop(std::vector<JobAction>* out, const JobView& view, const api::Workload* workload,
          std::string message) {
  if (auto step = view.job->next_stop_step(workload)) {
    out->push_back(StopJob{std::move(*step), std::move(message)});
  }
}

/// Deletes the Workloads that the job owns and no longer matches, all but `kept`.
void drop_others(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& kept) {
  for (const WorkloadPtr& workload : view.owned) {
    if (workload == kept || is_finished(*workload)) continue;
    if (!workload->metadata.deleting()) {
      out->push_back(DeleteWorkload{workload});
    } else if (workload->metadata.has_finalizer(api::finalizers::resource_in_use)) {
      out->push_back(ReleaseWorkload{workload});
    }
  }
}

void evicted_workload(std::vector<JobAction>* out, const JobView& view,
                      const WorkloadPtr& workload) {
  const api::Condition* condition = api::find_condition(workload->status.conditions, evicted);
  stop(out, view, workload.get(), condition->message);
  const bool stopped = out->empty() && view.job->suspended();
  if (stopped && !view.job->active() && has_reservation(*workload)) {
    out->push_back(DropReservation{workload});
  }
}

void start(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload) {
  if (view.infos_error && view.infos_error->code() == Errc::invalid) {
    out->push_back(FinishWorkload{workload, std::string(api::reasons::failed_to_start),
                                  view.infos_error->what()});
    return;
  }
  if (view.infos_error || view.infos.empty()) return;
  Result<Json> patch = view.job->start_patch(view.infos);
  if (!patch) {
    out->push_back(
        FinishWorkload{workload, std::string(api::reasons::failed_to_start), patch.error().what()});
    return;
  }
  out->push_back(StartJob{std::move(*patch),
                          "Admitted by clusterQueue " + workload->status.admission->cluster_queue});
}

void suspended_job(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload) {
  if (api::is_true(workload->status.conditions, admitted) && workload->status.admission) {
    return start(out, view, workload);
  }
  if (has_reservation(*workload)) return tell_checks(out, view, *workload);
  // The queue name of the job may change while its Workload waits.
  if (view.prebuilt) return;
  if (view.queue_name == workload->spec.queue_name) return;
  api::WorkloadSpec spec = workload->spec;
  spec.queue_name = view.queue_name;
  out->push_back(
      UpdateWorkload{workload, std::move(spec),
                     "Updated queue of the Workload: " + workload->metadata.key().str()});
}

/// No Workload matches the job: stop it if it runs, then make a new Workload.
std::vector<JobAction> without_workload(const JobView& view) {
  std::vector<JobAction> out;
  if (view.prebuilt) {
    // The prebuilt Workload does not exist yet. The job must not run before it does.
    stop(&out, view, nullptr, "missing workload");
    return out;
  }
  if (!view.job->suspended()) {
    const WorkloadPtr original = view.owned.empty() ? nullptr : view.owned.front();
    stop(&out, view, original.get(),
         original ? "No matching Workload; restoring pod templates according to existent Workload"
                  : "Missing Workload; unable to restore pod templates");
    if (!out.empty()) return out;
  }
  if (view.job->active()) {
    // The pods run on a worker, and stop when the Workload of their job goes.
    const bool dispatched = view.job->not_managed_reason().empty();
    for (const WorkloadPtr& workload : view.owned) {
      const bool goes = workload->metadata.deleting() || is_finished(*workload);
      if (dispatched && !goes) out.push_back(DeleteWorkload{workload});
    }
    return out;
  }
  // A job that changed before it had a reservation keeps its Workload.
  const auto reusable = std::find_if(view.owned.begin(), view.owned.end(), [](const auto& w) {
    return !has_reservation(*w) && !is_finished(*w) && !w->metadata.deleting();
  });
  Result<api::Workload> wanted = build_workload(view);
  if (!wanted) {
    const std::string_view reason = view.missing_workload_class
                                        ? api::events::workload_priority_class_not_found
                                        : api::events::error_workload_compose;
    out.push_back(Complain{std::string(reason), wanted.error().what()});
    return out;
  }
  if (reusable != view.owned.end()) {
    drop_others(&out, view, *reusable);
    const std::string name = (*reusable)->metadata.key().str();
    out.push_back(UpdateWorkload{*reusable, wanted->spec,
                                 "Updated not matching Workload for suspended job: " + name});
    return out;
  }
  drop_others(&out, view, nullptr);
  // The name is derived from the job, so the new Workload waits until the old one is gone.
  const bool free = is_elastic(view) ? !slices_of(view).latest : view.owned.empty();
  if (free) out.push_back(CreateWorkload{std::move(*wanted)});
  return out;
}

/// Whether the job owns the prebuilt Workload and matches it. Otherwise adds what has to be done.
bool claim_prebuilt(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload) {
  const api::OwnerReference* owner = workload->metadata.controller();
  if (owner && !owned_by(*workload, *view.job)) {
    stop(out, view, nullptr, "The prebuilt workload belongs to another job");
    return false;
  }
  if (!is_finished(*workload) && !matches(view, *workload)) {
    out->push_back(FinishWorkload{workload, std::string(api::reasons::out_of_sync),
                                  "The prebuilt workload is out of sync with its user job"});
    return false;
  }
  if (owner) return true;
  out->push_back(AdoptWorkload{workload});
  return false;
}

/// The Workload of the job finished: the job is stopped if it still runs.
void finished_workload(std::vector<JobAction>* out, const JobView& view,
                       const WorkloadPtr& workload, bool job_ended) {
  if (!job_ended) stop(out, view, workload.get(), "Workload is finished");
  if (workload->metadata.has_finalizer(api::finalizers::resource_in_use) &&
      (job_ended || !view.job->active())) {
    out->push_back(ReleaseWorkload{workload});
  }
}

std::vector<JobAction> release_all(const JobView& view) {
  std::vector<JobAction> out;
  for (const WorkloadPtr& workload : view.owned) {
    if (workload->metadata.has_finalizer(api::finalizers::resource_in_use)) {
      out.push_back(ReleaseWorkload{workload});
    }
  }
  return out;
}

}  // namespace

Result<api::Workload> build_workload(const JobView& view) {
  const GenericJob& job = *view.job;
  if (view.invalid) return *view.invalid;
  Result<std::vector<api::PodSet>> sets = job.pod_sets(view.topology);
  if (!sets) return sets.error();
  const auto limit = max_execution_seconds(job);
  if (!limit) return limit.error();
  api::Workload workload;
  api::ObjectMeta& metadata = workload.metadata;
  metadata.name =
      workload_name(job.kind().resource().kind, job.kind().resource().group, job.metadata().name,
                    job.metadata().uid, {}, view.policy.brief_names);
  metadata.ns = job.metadata().ns;
  metadata.labels[std::string(api::labels::job_uid)] = job.metadata().uid;
  metadata.finalizers.emplace_back(api::finalizers::resource_in_use);
  metadata.owner_references.push_back(owner_reference_to(job));
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
  if (is_elastic(view)) mark_slice(view, &workload);
  workload.spec.pod_sets = std::move(*sets);
  workload.spec.queue_name = view.queue_name;
  workload.spec.priority_class_ref = view.priority_class;
  workload.spec.priority = view.priority;
  workload.spec.maximum_execution_time_seconds = *limit;
  return workload;
}

WorkloadPtr matching_workload(const JobView& view) {
  if (view.prebuilt) return view.prebuilt_workload;
  if (is_elastic(view)) return matching_slice(view);
  for (const WorkloadPtr& workload : view.owned) {
    if (is_finished(*workload) || matches(view, *workload)) return workload;
  }
  return nullptr;
}

std::vector<JobAction> plan_job(const JobView& view) {
  std::vector<JobAction> out;
  const GenericJob& job = *view.job;
  // 1. The job is not managed, unless the default queue takes it.
  if (!view.default_queue.empty()) {
    out.push_back(QueueJob{job.queue_patch(view.default_queue)});
    return out;
  }
  if (!view.managed) return out;
  // 2. The job is being deleted: its Workloads are released.
  if (job.metadata().deleting()) return release_all(view);
  const bool elastic = is_elastic(view);
  if (elastic) out = plan_slices(view);
  if (!out.empty()) return out;
  const WorkloadPtr workload = matching_workload(view);
  const auto end = view.job->finished();
  // 3. The job has no matching Workload. One that ended needs none.
  if (!workload) {
    if (end) return out;
    return without_workload(view);
  }
  // 4. A prebuilt Workload must belong to this job and match it.
  if (view.prebuilt && !claim_prebuilt(&out, view, workload)) return out;
  if (!elastic) drop_others(&out, view, workload);
  if (!out.empty()) return out;
  // 5. The Workload finished.
  if (is_finished(*workload)) {
    finished_workload(&out, view, workload, end.has_value());
    return out;
  }
  // 6. The Workload is being deleted: stop the job, then release the Workload.
  if (workload->metadata.deleting()) {
    stop(&out, view, workload.get(), "Workload is deleted");
    if (out.empty() && !view.job->active()) out.push_back(ReleaseWorkload{workload});
    return out;
  }
  // 7. The job ended.
  if (end) {
    const std::string reason(end->success ? api::reasons::succeeded : api::reasons::failed);
    out.push_back(FinishWorkload{workload, reason, end->message});
    return out;
  }
  // 8. The Workload learns which pods the job will not need again.
  if (follow_reclaimable(&out, view, workload)) return out;
  // 9. Priority, gate and readiness of the pods follow the job.
  if (follow_priority(&out, view, workload)) return out;
  if (follow_gate(&out, view, workload)) return out;
  if (!grows(view) && follow_pods(&out, view, workload)) return out;
  // 10. The Workload is evicted, and still has quota or its job is not suspended yet.
  if (api::is_true(workload->status.conditions, evicted) &&
      (has_reservation(*workload) || !view.job->suspended())) {
    evicted_workload(&out, view, workload);
    return out;
  }
  // 11. The job is suspended: it waits, or is to be started, or was deactivated and is deleted
  // later.
  if (view.job->suspended()) {
    retain_deactivated(&out, view, *workload);
    suspended_job(&out, view, workload);
    return out;
  }
  // 12. The job runs without being admitted. A slice that took over may still wait for its checks.
  const bool may_run = api::is_true(workload->status.conditions, admitted);
  if (!may_run && !took_over(view, *workload)) {
    stop(&out, view, workload.get(), "Not admitted by cluster queue");
  }
  return out;
}

void drop_reservation(api::Workload* workload, TimePoint now) {
  api::WorkloadStatus& status = workload->status;
  const api::Condition* eviction = api::find_condition(status.conditions, evicted);
  const std::int64_t generation = workload->metadata.generation;
  const std::string reason = eviction ? eviction->reason : "Pending";
  const std::string message = eviction ? eviction->message : "The reservation was dropped";
  status.admission.reset();
  api::set_condition(&status.conditions,
                     {std::string(quota_reserved),
                      api::ConditionStatus::False,
                      generation,
                      {},
                      std::string(api::reasons::pending_evaluation),
                      message},
                     now);
  api::end_admission(workload, now);
  if (api::find_condition(status.conditions, api::conditions::pods_ready)) {
    api::set_pods_ready(workload, api::PodsReadiness::wait_for_start, now);
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
}

namespace {

std::string text(const CreateWorkload& a) {
  return "create workload " + a.workload.metadata.name;
}
std::string text(const DeleteWorkload& a) {
  return "delete workload " + a.workload->metadata.name;
}
std::string text(const AdoptWorkload& a) {
  return "adopt workload " + a.workload->metadata.name;
}
std::string text(const UpdateWorkload& a) {
  return "update workload " + a.workload->metadata.name;
}
std::string text(const FinishWorkload& a) {
  return "finish workload " + a.reason + " (" + a.message + ")";
}
std::string text(const ReleaseWorkload& a) {
  return "release workload " + a.workload->metadata.name;
}
std::string text(const SetReclaimable& a) {
  return "reclaimable " + std::to_string(a.pods.empty() ? 0 : a.pods.front().count);
}
std::string text(const DropReservation&) {
  return "drop reservation";
}
std::string text(const StopJob& a) {
  return std::string(a.step.last ? "stop job (" : "stop job, more to come (") + a.message + ")";
}
std::string text(const StartJob& a) {
  return "start job (" + a.message + ")";
}
std::string text(const QueueJob&) {
  return "put job into the default queue";
}
std::string text(const DeleteJob&) {
  return "delete job";
}
std::string text(const GateWorkload& a) {
  return "gate workload by \"" + a.gates + "\"";
}
std::string text(const SetPodsReady& a) {
  switch (a.readiness) {
    case api::PodsReadiness::wait_for_start:
      return "pods ready: waiting for start";
    case api::PodsReadiness::started:
      return "pods ready: started";
    case api::PodsReadiness::wait_for_recovery:
      return "pods ready: waiting for recovery";
    case api::PodsReadiness::recovered:
      return "pods ready: recovered";
  }
  return "";
}
std::string text(const LookAgain& a) {
  return "look again after " + std::to_string(a.after.count()) + " ms";
}
std::string text(const Tell& a) {
  return "tell " + a.reason + " (" + a.message + ")";
}
std::string text(const Complain& a) {
  return "complain " + a.reason + " (" + a.message + ")";
}

}  // namespace

std::string describe(const std::vector<JobAction>& actions) {
  std::string out;
  for (const JobAction& action : actions) {
    const std::string one = std::visit([](const auto& a) { return text(a); }, action);
    out += (out.empty() ? "" : ", ") + one;
  }
  return out;
}

}  // namespace regatta::jobs
