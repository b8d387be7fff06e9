#include "jobs/plan.h"

#include "jobs/elastic.h"
#include "jobs/plan_group.h"
#include "jobs/plan_rules.h"
#include "jobs/plan_serving.h"
#include "jobs/read_job.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/api/own_names.h"
#include "lib/api/owner_reference.h"
#include "lib/api/reclaimable.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

using api::conditions::admitted;
using api::conditions::evicted;
using api::conditions::quota_reserved;

bool is_finished(const api::Workload& w) {
  return api::is_true(w.status.conditions, api::conditions::finished);
}

bool matches(const JobView& view, const api::Workload& workload) {
  // A job whose runtime is gone keeps its Workload.
  if (view.without_runtime) return true;
  // A job that runs, or that has a prebuilt Workload, keeps the time limit of its Workload.
  if (!view.prebuilt && view.job->suspended()) {
    const auto limit = max_execution_seconds(*view.job);
    if (limit && workload.spec.maximum_execution_time_seconds != *limit) return false;
  }
  if (view.policy.partial_admission) return is_as_admitted(view, workload);
  // Its Workload was made without the least numbers of pods.
  api::Workload completed = workload;
  const auto sets = view.job->pod_sets(view.topology);
  for (std::size_t i = 0; sets && i < std::min(sets->size(), completed.spec.pod_sets.size()); ++i) {
    completed.spec.pod_sets[i].min_count = (*sets)[i].min_count;
  }
  return is_as_admitted(view, completed);
}

/// The next step that stops the job, if a step is left.
std::optional<JobAction> stop(const JobView& view, const api::Workload* workload,
                              std::string message) {
  if (auto action = terminate(view, workload, message)) return action;
  auto step = view.job->next_stop_step(workload, view.policy.restore_at_once);
  if (!step) return {};
  return StopJob{std::move(*step), std::move(message)};
}

/// Deletes the Workloads that the job owns and no longer matches, all but `kept`.
std::vector<JobAction> drop_others(const JobView& view, const WorkloadPtr& kept) {
  std::vector<JobAction> out;
  for (const WorkloadPtr& workload : view.owned) {
    if (workload == kept || is_finished(*workload)) continue;
    if (!workload->metadata.deleting()) {
      out.push_back(DeleteWorkload{workload});
    } else if (workload->metadata.has_finalizer(api::finalizers::resource_in_use)) {
      out.push_back(ReleaseWorkload{workload});
    }
  }
  return out;
}

/// The job stops; its Workload keeps the quota until then.
std::optional<JobAction> evicted_workload(const JobView& view, const WorkloadPtr& workload) {
  const api::Condition* condition = api::find_condition(workload->status.conditions, evicted);
  if (auto step = stop(view, workload.get(), condition->message)) return step;
  const bool held = view.job->suspended() || view.job->composed();
  const bool stopped = held && !view.job->active() && !view.may_run_on_worker;
  if (!stopped || !has_reservation(*workload)) return {};
  return DropReservation{workload};
}

std::vector<JobAction> start(const JobView& view, const WorkloadPtr& workload) {
  if (view.infos_error && view.infos_error->code() == Errc::invalid) {
    return {FinishWorkload{workload, std::string(api::reasons::failed_to_start),
                           view.infos_error->what()}};
  }
  if (view.infos_error || view.infos.empty() || view.without_runtime) return {};
  if (view.dispatched && view.job->waits_on_hub()) return {};
  return start_writes(view, workload);
}

std::vector<JobAction> suspended_job(const JobView& view, const WorkloadPtr& workload) {
  if (api::is_true(workload->status.conditions, admitted) && workload->status.admission) {
    return start(view, workload);
  }
  if (has_reservation(*workload)) return in_order({tell_checks(view, *workload)});
  // The queue name of the job may change while its Workload waits.
  if (view.prebuilt || view.queue_name == workload->spec.queue_name) return {};
  api::WorkloadSpec spec = workload->spec;
  spec.queue_name = view.queue_name;
  return {UpdateWorkload{workload, std::move(spec), ""}};
}

/// No Workload matches the job, which does not run: make one, or bring an older one up to date.
std::vector<JobAction> make_workload(const JobView& view) {
  // A job that changed before it had a reservation keeps its Workload.
  const auto reusable = std::find_if(view.owned.begin(), view.owned.end(), [](const auto& w) {
    return !has_reservation(*w) && !is_finished(*w) && !w->metadata.deleting();
  });
  Result<api::Workload> wanted = build_workload(view);
  if (!wanted) {
    if (view.missing_workload_class) {
      return {Complain{std::string(api::events::workload_priority_class_not_found),
                       wanted.error().what()}};
    }
    return in_order({tell_obstacle(view, wanted.error())});
  }
  if (reusable != view.owned.end()) {
    std::vector<JobAction> out = drop_others(view, *reusable);
    const std::string name = (*reusable)->metadata.key().str();
    out.push_back(UpdateWorkload{*reusable, wanted->spec,
                                 "Updated not matching Workload for suspended job: " + name});
    return out;
  }
  std::vector<JobAction> out = drop_others(view, nullptr);
  // The name is derived from the job, so the new Workload waits until the old one is gone.
  const bool free = is_elastic(view) ? !slices_of(view).latest : view.owned.empty();
  if (free) out.push_back(CreateWorkload{std::move(*wanted)});
  return out;
}

/// The pods of a suspended job run on a worker, and stop when the Workload of their job goes.
/// nullopt when there is none, as on a hub that was restored to a state with the job's status but
/// without its Workload: the dispatch of a new Workload removes those pods first.
std::optional<std::vector<JobAction>> end_dispatched(const JobView& view) {
  std::vector<JobAction> out;
  const bool dispatched =
      view.job->waits_on_hub() ? view.dispatched : view.job->not_managed_reason().empty();
  if (dispatched && view.owned.empty()) return std::nullopt;
  for (const WorkloadPtr& workload : view.owned) {
    const bool goes = workload->metadata.deleting() || is_finished(*workload);
    if (dispatched && !goes) out.push_back(DeleteWorkload{workload});
  }
  return out;
}

/// No Workload matches the job: stop it if it runs, then make a new Workload.
std::vector<JobAction> without_workload(const JobView& view) {
  // The prebuilt Workload does not exist yet. The job must not run before it does.
  if (view.prebuilt) return in_order({stop(view, nullptr, "missing workload")});
  if (!view.job->suspended()) {
    const WorkloadPtr original = view.owned.empty() ? nullptr : view.owned.front();
    auto step = stop(
        view, original.get(),
        original ? "No matching Workload; restoring pod templates according to existent Workload"
                 : "Missing Workload; unable to restore pod templates");
    if (step) return {std::move(*step)};
  }
  if (view.job->active()) {
    if (auto actions = end_dispatched(view)) return *actions;
  }
  return make_workload(view);
}

/// What was made for the job as it once was holds no quota any more.
std::vector<JobAction> ended_without_workload(const JobView& view) {
  std::vector<JobAction> out = drop_others(view, nullptr);
  if (auto action = let_go(view.job)) out.push_back(std::move(*action));
  return out;
}

/// Whether the job may take the Workload: what a hub has sent belongs to a job that it has sent. A
/// manager of the hub before or after this one, as upstream's, may put no mark on what it sends.
bool made_by_one_hub(const api::Workload& workload, const GenericJob& job) {
  const std::string label(api::labels::multikueue_origin);
  const std::string& origin = workload.metadata.label(label);
  if (!origin.empty() && job.metadata().label(label) != origin) return false;
  const std::string mark(api::annotations::hub_uid);
  const std::string& hub = workload.metadata.annotation(mark);
  const std::string& of_job = job.metadata().annotation(mark);
  return hub.empty() || of_job.empty() || of_job == hub;
}

/// What has to be done before the prebuilt Workload belongs to this job and matches it; nullopt
/// when it does.
std::optional<std::vector<JobAction>> claim_prebuilt(const JobView& view,
                                                     const WorkloadPtr& workload) {
  using Actions = std::vector<JobAction>;
  const api::OwnerReference* owner = workload->metadata.controller();
  if (owner ? !is_controlled_by(*workload, *view.job) : !made_by_one_hub(*workload, *view.job)) {
    return in_order({stop(view, nullptr, "The prebuilt workload belongs to another job")});
  }
  if (!owner && !is_finished(*workload)) return Actions{AdoptWorkload{workload}};
  const bool synced = has_prebuilt_slices(view) ? matches_prebuilt_slice(view, *workload)
                                                : matches(view, *workload);
  if (!is_finished(*workload) && !synced) {
    return Actions{FinishWorkload{workload, std::string(api::reasons::out_of_sync),
                                  "The prebuilt workload is out of sync with its user job"}};
  }
  if (owner) return std::nullopt;
  return Actions{AdoptWorkload{workload}};
}

/// The Workload of the job finished: the job is stopped if it still runs.
std::vector<JobAction> finished_workload(const JobView& view, const WorkloadPtr& workload,
                                         bool job_ended) {
  std::optional<JobAction> step;
  // The hub will name the slice that took over.
  const bool replaced = has_prebuilt_slices(view) && was_replaced(*workload);
  if (!job_ended && !replaced) step = stop(view, workload.get(), "Workload is finished");
  std::vector<JobAction> out = in_order({std::move(step)});
  if (workload->metadata.has_finalizer(api::finalizers::resource_in_use) &&
      (job_ended || replaced || !view.job->active())) {
    out.push_back(ReleaseWorkload{workload});
  }
  if (auto action = let_go(view.job); job_ended && action) out.push_back(std::move(*action));
  return out;
}

/// The Workload is being deleted: stop the job, then release the Workload.
std::optional<JobAction> deleted_workload(const JobView& view, const WorkloadPtr& workload) {
  if (auto step = stop(view, workload.get(), "Workload is deleted")) return step;
  // Some kinds count pods of a job that has ended.
  if (view.job->active() && !view.job->finished()) return {};
  return ReleaseWorkload{workload};
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

/// Nothing runs any more of a job that is on its way out: its Workloads give their quota back, even
/// if something keeps the job for long.
std::vector<JobAction> finish_all(const JobView& view) {
  std::vector<JobAction> out;
  const GenericJob& job = *view.job;
  // Of what runs on workers, the hub says what becomes of it.
  const bool elsewhere = view.dispatched || view.prebuilt || job.not_managed_reason().empty();
  const bool wanted = view.policy.finish_orphans && !job.composed() && !job.serving();
  if (!wanted || elsewhere || job.active()) return out;
  for (const WorkloadPtr& workload : view.owned) {
    if (is_finished(*workload)) continue;
    out.push_back(FinishWorkload{workload, std::string(api::reasons::owner_not_found),
                                 "The workload's owner no longer exists"});
  }
  return out;
}

/// The manager of a worker has evicted a job of a hub, which runs it again. By now the Workload may
/// have quota again.
bool was_taken_back(const JobView& view) {
  return api::made_on_hub(view.job->metadata()) && view.job->lost_place();
}

/// What is left of such a job goes, and the quota of an eviction. The hub makes another one.
std::vector<JobAction> clear_away(const JobView& view, const WorkloadPtr& workload) {
  std::vector<JobAction> out;
  const bool leaves = api::is_true(workload->status.conditions, evicted);
  if (has_reservation(*workload) && leaves) out.push_back(DropReservation{workload});
  if (auto action = let_go(view.job)) out.push_back(std::move(*action));
  if (!view.job->metadata().deleting()) {
    out.push_back(DeleteJob{"Deleted job: it lost its place, and its hub runs it again"});
  }
  return out;
}

/// A job of a hub has ended and is deleted, as by its own controller: the hub learns how it ended
/// from its Workload.
std::optional<JobAction> tell_end(const JobView& view) {
  const WorkloadPtr& workload = view.prebuilt_workload;
  const auto end = view.job->finished();
  if (!end || !workload || !is_controlled_by(*workload, *view.job)) return {};
  if (is_finished(*workload) || workload->metadata.deleting()) return {};
  if (was_taken_back(view)) return {};
  const std::string reason(end->success ? api::reasons::succeeded : api::reasons::failed);
  return FinishWorkload{workload, reason, end->message};
}

/// What keeps the job may do so for long: an eviction is carried out meanwhile.
std::vector<JobAction> give_way(const JobView& view) {
  std::vector<JobAction> out;
  for (const WorkloadPtr& workload : view.owned) {
    const bool leaves = api::is_true(workload->status.conditions, evicted);
    if (!leaves || !has_reservation(*workload) || is_finished(*workload)) continue;
    if (auto step = evicted_workload(view, workload)) out.push_back(std::move(*step));
  }
  return out;
}

/// nullopt for a job that is kept and has ended: its Workload learns how.
std::optional<std::vector<JobAction>> deleted_job(const JobView& view) {
  auto letting_go = let_go(view.job);
  if (!letting_go) {
    if (auto action = tell_end(view)) return std::vector<JobAction>{std::move(*action)};
    auto ends = finish_all(view);
    if (ends.empty()) ends = release_all(view);
    return ends.empty() ? give_way(view) : ends;
  }
  if (view.job->active()) return std::vector<JobAction>();
  if (view.job->finished()) return std::nullopt;
  std::vector<JobAction> out = release_all(view);
  out.push_back(std::move(*letting_go));
  return out;
}

}  // namespace

WorkloadPtr matching_workload(const JobView& view) {
  if (view.prebuilt) return view.prebuilt_workload;
  if (is_elastic(view)) return matching_slice(view);
  for (const WorkloadPtr& workload : view.owned) {
    if (is_finished(*workload) || matches(view, *workload)) return workload;
  }
  return nullptr;
}

std::optional<std::string> waits_for(const JobView& view, const std::vector<JobAction>& plan) {
  if (!view.managed || view.job->metadata().deleting()) return std::nullopt;
  if (const ComposedJob* group = view.job->composed()) {
    if (view.prebuilt && view.owned.empty()) return "prebuilt workload not found";
    const auto obstacle = view.owned.empty() ? group->obstacle() : std::nullopt;
    if (obstacle && obstacle->retried) return obstacle->message;
  } else if (view.prebuilt && !view.job->serving()) {
    const api::OwnerReference* owner =
        view.prebuilt_workload ? view.prebuilt_workload->metadata.controller() : nullptr;
    const bool foreign = owner && owner->uid != view.job->metadata().uid;
    if (!view.prebuilt_workload || foreign) return "prebuilt workload not found";
    const api::Workload& workload = *view.prebuilt_workload;
    const bool synced = has_prebuilt_slices(view) ? matches_prebuilt_slice(view, workload)
                                                  : matches(view, workload);
    if (!is_finished(workload) && !synced) return "prebuilt workload not found";
  }
  if (view.invalid) return view.invalid->what();
  const auto extra = std::count_if(plan.begin(), plan.end(), [](const JobAction& action) {
    return std::holds_alternative<DeleteWorkload>(action);
  });
  if (extra > 0 && matching_workload(view)) {
    return "extra workloads: deleted " + std::to_string(extra) + " workloads";
  }
  if (view.infos_error && view.infos_error->code() != Errc::invalid) {
    return view.infos_error->what();
  }
  return std::nullopt;
}

namespace {

/// A job has one Workload, unless it is elastic. Then it has slices, which end one after the other.
std::vector<JobAction> end_others(const JobView& view, const WorkloadPtr& kept) {
  if (has_prebuilt_slices(view)) return end_replaced(view, *kept);
  return is_elastic(view) ? std::vector<JobAction>() : drop_others(view, kept);
}

/// Rules for jobs that act through Pods, before or instead of the others.
std::optional<std::vector<JobAction>> plan_of_pods(const JobView& view) {
  if (view.job->serving()) return plan_serving(view);
  return view.job->composed() ? plan_group(view) : std::nullopt;
}

/// A Workload with quota asks for pods again that it has given back.
bool takes_pods_back(const JobAction& action) {
  const auto& to = std::get<SetReclaimable>(action);
  if (!has_reservation(*to.workload)) return false;
  const auto& before = to.workload->status.reclaimable_pods;
  return std::any_of(before.begin(), before.end(), [&](const api::ReclaimablePod& one) {
    return api::reclaimable_count(to.pods, one.name) < one.count;
  });
}

/// Rules 9 to 13: the job and its Workload are in order, and each follows the other.
std::vector<JobAction> follow_workload(const JobView& view, const WorkloadPtr& workload) {
  const GenericJob& job = *view.job;
  // 9. Priority, gate and readiness of the pods follow the job.
  if (auto action = follow_priority(view, workload)) return {*action};
  if (auto action = follow_gate(view, workload)) return {*action};
  if (!grows(view)) {
    if (auto action = follow_pods(view, workload)) return {*action};
  }
  // 10. The Workload is evicted, and still has quota or its job is not suspended yet.
  if (api::is_true(workload->status.conditions, evicted) &&
      (has_reservation(*workload) || !job.suspended())) {
    return in_order({evicted_workload(view, workload)});
  }
  // 11. The job is suspended: it waits, or is to be started, or was deactivated and is deleted
  // later.
  if (job.suspended()) {
    std::vector<JobAction> actions = in_order({retain_deactivated(view, *workload)});
    for (JobAction& one : suspended_job(view, workload)) actions.push_back(std::move(one));
    return actions;
  }
  // 12. A stop was begun for a reason that is gone. It goes on to its end; then the job starts.
  if (job.stopping()) return in_order({stop(view, workload.get(), "The stop was begun")});
  // 13. The job runs without being admitted. A slice that took over may still wait for its checks.
  const bool may_run = api::is_true(workload->status.conditions, admitted);
  if (may_run || took_over(view, *workload)) return {};
  return in_order({stop(view, workload.get(), "Not admitted by cluster queue")});
}

std::vector<JobAction> apply_rules(const JobView& view) {
  const GenericJob& job = *view.job;
  // 1. The job is not managed, unless the default queue takes it. What a managed job made does not
  // run before that job is admitted.
  if (!view.default_queue.empty()) return {QueueJob{job.queue_patch(view.default_queue)}};
  if (view.held_by_maker && !job.suspended() && !job.finished()) {
    Json patch = job.suspend_patch();
    if (patch.empty()) return {};
    patch["metadata"]["uid"] = job.metadata().uid;
    return {HoldJob{std::move(patch)}};
  }
  if (!view.managed) return {};
  // 2. The job is being deleted: its Workloads are released. A job that is kept runs to its end.
  if (job.metadata().deleting()) {
    if (auto actions = deleted_job(view)) return *actions;
  }
  if (auto actions = plan_of_pods(view)) return *actions;
  if (is_elastic(view)) {
    if (auto action = note_size(view)) return {*action};
    if (auto actions = plan_slices(view); !actions.empty()) return actions;
  }
  const WorkloadPtr workload = matching_workload(view);
  const auto end = job.finished();
  // 3. The job has no matching Workload. One that ended needs none.
  if (!workload) return end ? ended_without_workload(view) : without_workload(view);
  // 4. A prebuilt Workload must belong to this job and match it.
  if (view.prebuilt && !job.composed()) {
    if (auto actions = claim_prebuilt(view, workload)) return *actions;
  }
  if (auto actions = end_others(view, workload); !actions.empty()) return actions;
  // 5. The Workload finished.
  if (is_finished(*workload)) return finished_workload(view, workload, end.has_value());
  // 6. The Workload is being deleted.
  if (workload->metadata.deleting()) return in_order({deleted_workload(view, workload)});
  // 7. The job ended.
  if (end && was_taken_back(view)) return clear_away(view, workload);
  if (end) {
    const std::string reason(end->success ? api::reasons::succeeded : api::reasons::failed);
    return in_order({FinishWorkload{workload, reason, end->message}, let_go(view.job)});
  }
  // 8. The Workload learns which pods the job will not need again. That it takes pods back may be
  // refused while it holds quota, which must not keep it from the rest.
  const std::optional<JobAction> reclaim = follow_reclaimable(view, workload);
  if (reclaim && !takes_pods_back(*reclaim)) return {*reclaim};
  std::vector<JobAction> actions = follow_workload(view, workload);
  if (reclaim && actions.empty()) actions.push_back(*reclaim);
  return actions;
}

}  // namespace

std::vector<JobAction> plan_job(const JobView& view) {
  std::vector<JobAction> actions = apply_rules(view);
  const bool lacks_class = view.managed && view.missing_workload_class && !view.job->finished();
  if (actions.empty() && lacks_class) {
    actions.push_back(Complain{std::string(api::events::workload_priority_class_not_found),
                               view.invalid->what()});
  }
  const bool told = !actions.empty() && std::holds_alternative<Complain>(actions.back());
  const std::string unread = view.managed && !told ? view.job->unread() : std::string();
  if (!unread.empty()) {
    actions.push_back(Complain{std::string(api::events::unreadable_job), unread});
  }
  return actions;
}

}  // namespace regatta::jobs
