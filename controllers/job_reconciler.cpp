#include "controllers/job_reconciler.h"

#include "jobs/composed_job.h"
#include "jobs/job_notes.h"
#include "jobs/naming.h"
#include "lib/api/names.h"
#include "lib/kube/status.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {

using clusters::LocalCluster;
using jobs::GenericJob;
using jobs::JobId;
using jobs::JobPtr;
using jobs::WorkloadPtr;

namespace {
/// Index of jobs: "workload/<WorkloadPriorityClass>" or "pod/<PriorityClass>", empty for none.
constexpr const char* by_priority_class = "priority-class";
/// Pods that end within this time give their quota back in one write.
constexpr Duration together{1000};
/// Index of jobs: the uid of the object that controls the job.
constexpr const char* by_maker = "maker";

/// Whether a Workload that cannot be decoded may be the job's. Names of Workloads differ in their
/// last five characters between the lives and the generations of one job.
bool has_unreadable_workload(const clusters::LocalCluster& cluster, const jobs::GenericJob& job) {
  const auto& unreadable = cluster.workloads.undecodable();
  if (unreadable.empty()) return false;
  const std::size_t digits = 5;
  const auto stem = [digits](std::string name) {
    name.resize(name.size() - std::min(name.size(), digits));
    return name;
  };
  const api::ObjectMeta& metadata = job.metadata();
  const api::ResourceInfo& kind = job.kind().resource();
  const auto made = [&](bool brief) {
    return stem(jobs::workload_name(kind.kind, kind.group, metadata.name, metadata.uid, {}, brief));
  };
  const std::string prebuilt = job.composed() ? metadata.name : jobs::prebuilt_workload(metadata);
  return std::any_of(unreadable.begin(), unreadable.end(), [&](const auto& entry) {
    const api::ObjectKey& key = entry.first;
    if (key.ns != metadata.ns) return false;
    if (!prebuilt.empty()) return key.name == prebuilt;
    return stem(key.name) == made(false) || stem(key.name) == made(true);
  });
}

/// Whether no pod set of the Workload holds more with these reclaimable pods than it does now.
bool gives_back(const api::Workload& workload, const std::vector<api::ReclaimablePod>& pods) {
  const auto& before = workload.status.reclaimable_pods;
  return std::all_of(before.begin(), before.end(), [&](const api::ReclaimablePod& was) {
    return std::any_of(pods.begin(), pods.end(), [&](const api::ReclaimablePod& is) {
      return is.name == was.name && is.count >= was.count;
    });
  });
}

}  // namespace

JobReconciler::JobReconciler(LocalCluster& cluster, TaskScope& scope, JobReconcilerConfig config)
    : cluster_(cluster),
      scope_(scope),
      config_(std::move(config)),
      log_(cluster.log.named("jobs")),
      queue_(cluster.clock, scope, Backoff{Duration(20), std::chrono::seconds(30)},
             Intake::closed) {
  cluster_.jobs.on_change([this](const JobId& id) { queue_.add(id); });
  cluster_.workloads.on_transition(
      [this](const api::ObjectKey&, const auto& before, const auto& after) {
        if (before && !after) note_loss(*before);
        if (before) enqueue_owners(*before);
        if (after) enqueue_owners(*after);
        const auto admitted = [](const WorkloadPtr& workload) {
          return workload && api::is_true(workload->status.conditions, api::conditions::admitted);
        };
        if (admitted(before) != admitted(after)) enqueue_made_by(after ? *after : *before);
      });
  // One that the cache never held goes without a change.
  cluster_.workloads.on_unreadable([this](const api::ObjectKey& key) {
    if (cluster_.workloads.unreadable(key)) return;
    for (const JobId& id : std::exchange(with_unreadable_, {})) queue_.add(id);
  });
  watch_needs();
}

/// Jobs are planned again when an object appears or changes that they may have waited for.
void JobReconciler::watch_needs() {
  cluster_.jobs.add_index(by_priority_class, [](const GenericJob& job) {
    const std::string label = job.metadata().label(std::string(api::labels::priority_class));
    if (!label.empty()) return std::vector<std::string>{"workload/" + label};
    return std::vector<std::string>{"pod/" + job.pod_priority_class(),
                                    "workload/" + std::string(jobs::default_priority_class)};
  });
  cluster_.jobs.add_index(by_maker, [](const GenericJob& job) {
    const api::OwnerReference* maker = job.metadata().controller();
    return maker ? std::vector<std::string>{maker->uid} : std::vector<std::string>();
  });
  const auto enqueue_class = [this](const std::string& name) {
    for (const JobId& job : cluster_.jobs.ids_by_index(by_priority_class, name)) queue_.add(job);
  };
  cluster_.workload_priority_classes.on_change(
      [enqueue_class](const api::ObjectKey& key) { enqueue_class("workload/" + key.name); });
  cluster_.priority_classes.on_change(
      [enqueue_class](const api::ObjectKey& key) { enqueue_class("pod/" + key.name); });
  cluster_.runtimes.on_change([this](const jobs::RuntimeRef& ref) {
    for (const JobId& job : cluster_.jobs.ids_by_index(clusters::by_runtime, ref.str())) {
      queue_.add(job);
    }
  });
  cluster_.flavors.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (before || !after) return;
    for (const jobs::WorkloadPtr& workload : cluster_.workloads.list()) {
      if (workload->status.admission) enqueue_owners(*workload);
    }
  });
  cluster_.namespaces.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const bool same = before && after && before->metadata.labels == after->metadata.labels;
    if (!after || same) return;
    for (const JobPtr& job : cluster_.jobs.list()) {
      if (job->metadata().ns == key.name) queue_.add(jobs::id_of(*job));
    }
  });
}

void JobReconciler::start() {
  started_ = true;
  queue_.open();
  for (const JobPtr& job : cluster_.jobs.list()) queue_.add(jobs::id_of(*job));
  for (const jobs::WorkloadPtr& workload : cluster_.workloads.list()) enqueue_owners(*workload);
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("jobs", work());
}

void JobReconciler::enqueue_owners(const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner) {
    if (const auto group = jobs::group_of(cluster_.jobs.kinds(), workload)) queue_.add(*group);
    const auto parent = jobs::parent_of(cluster_.jobs.kinds(), workload);
    parent ? queue_.add(*parent) : enqueue_named(workload);
  }
  const jobs::JobKind* kind = owner ? cluster_.jobs.kinds().find(*owner) : nullptr;
  if (kind) queue_.add(JobId{kind, api::ObjectKey(workload.metadata.ns, owner->name)});
  const std::string key = workload.metadata.key().str();
  for (const JobId& job : cluster_.jobs.ids_by_index(clusters::by_prebuilt, key)) {
    queue_.add(job);
  }
}

/// On a worker no serving job owns the Workloads that the hub has made of it; they name it.
void JobReconciler::enqueue_named(const api::Workload& workload) {
  const std::string& name =
      workload.metadata.annotation(std::string(api::annotations::job_owner_name));
  if (name.empty()) return;
  for (const auto& kind : cluster_.jobs.kinds().all()) {
    if (kind->serves()) queue_.add(JobId{kind.get(), api::ObjectKey(workload.metadata.ns, name)});
  }
}

/// Most Workloads go after their job. A standby makes none, and its caches are brought up to date
/// before it does.
void JobReconciler::note_loss(const api::Workload& gone) {
  if (!started_) return;
  const JobPtr job = jobs::owner_of(cluster_.objects(), gone);
  if (job) bereft_.insert(jobs::id_of(*job));
}

/// Whether the server has the job, too. A Workload may have gone because its owner did, and while a
/// watch of jobs is silent each new one would go as well, for ever. So the job is read once for
/// each Workload that it has lost. Of a composed job one member is enough: its Workload stays with
/// any of them. A kind that may not be read is believed to be there.
Task<Result<bool>> JobReconciler::is_there(JobPtr job) {
  const JobId id = jobs::id_of(*job);
  if (!bereft_.contains(id)) co_return true;
  bool there = false;
  for (const JobPtr& one : jobs::objects_of(job)) {
    const auto found = co_await cluster_.fetch_job(jobs::id_of(*one));
    if (!found && !kube::is_forbidden(found.error())) co_return found.error();
    there = !found || (*found && (*found)->metadata().uid == one->metadata().uid);
    if (there) break;
  }
  bereft_.erase(id);
  co_return there;
}

/// What a job made may run only while that job is admitted.
void JobReconciler::enqueue_made_by(const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  if (!owner) return;
  for (const JobId& made : cluster_.jobs.ids_by_index(by_maker, owner->uid)) queue_.add(made);
}

void JobReconciler::look(const api::ObjectKey& workload) {
  if (const WorkloadPtr found = cluster_.workloads.get(workload)) enqueue_owners(*found);
}

Task<> JobReconciler::work() {
  for (;;) {
    JobId id = co_await queue_.next();
    const Status done = co_await reconcile(id);
    if (queue_.finish(id, done)) {
      log_.warning("job not reconciled", {{"job", id.str()}, {"error", done.error().what()}});
    }
  }
}

/// A job that may have been started is not taken for one that waits, nor is a composed job of which
/// a member may have been.
Task<Status> JobReconciler::settle(JobId id) {
  if (!cluster_.unsure_of_jobs()) co_return ok();
  std::vector<JobId> written = {id};
  if (const JobPtr job = cluster_.jobs.get(id)) {
    for (const JobPtr& one : jobs::objects_of(job)) written.push_back(jobs::id_of(*one));
  }
  for (const JobId& one : written) {
    if (!cluster_.unsure(one)) continue;
    const auto read = co_await cluster_.fetch_job(one);
    if (!read && cluster_.unsure(one)) co_return read.error();
  }
  co_return ok();
}

Task<Status> JobReconciler::reconcile(JobId id) {
  const Status released = co_await release_orphans(id);
  if (!released) co_return released;
  const Status settled = co_await settle(id);
  if (!settled) co_return settled;
  JobPtr job = cluster_.jobs.get(id);
  with_unreadable_.erase(id);
  if (!job) {
    told_.erase(id);
    bereft_.erase(id);
    co_return ok();
  }
  // Without its Workload a job would be stopped.
  if (has_unreadable_workload(cluster_, *job)) {
    with_unreadable_.insert(std::move(id));
    co_return ok();
  }
  const Status known = co_await cluster_.fetch_makers(job);
  if (!known) co_return known;
  jobs::JobView seen = jobs::read_job(cluster_.objects(), job, config_, cluster_.clock.now());
  seen.may_run_on_worker = may_run_on_worker(seen);
  std::vector<jobs::JobAction> plan = jobs::plan_job(seen);
  const bool tells = log_.enabled(LogLevel::debug);
  if (const auto reason = tells ? jobs::waits_for(seen, plan) : std::nullopt) {
    log_.debug("job waits", {{"job", id.str()}, {"for", *reason}});
  }
  for (jobs::JobAction& action : plan) {
    const Status done = co_await apply(job, std::move(action));
    if (!done) co_return done.error();
  }
  co_return ok();
}

/// Only of an evicted Workload that still has quota does it matter.
bool JobReconciler::may_run_on_worker(const jobs::JobView& seen) const {
  if (!config_.may_run_on_worker || !seen.job->not_managed_reason().empty()) return false;
  return std::any_of(seen.owned.begin(), seen.owned.end(), [this](const WorkloadPtr& workload) {
    const bool evicted = api::is_true(workload->status.conditions, api::conditions::evicted);
    return evicted && api::is_true(workload->status.conditions, api::conditions::quota_reserved) &&
           config_.may_run_on_worker(workload->metadata.key());
  });
}

/// The job is gone, so its Workloads lose their finalizer. When another job has its name by now,
/// those that are being deleted do: either cache may be older than the other one, and what belongs
/// to a job that is not seen yet is not being deleted. While the API does not serve a kind, none of
/// its jobs is seen.
Task<Status> JobReconciler::release_orphans(JobId id) {
  const JobPtr namesake = cluster_.jobs.get(id);
  if (cluster_.jobs.unreadable(id)) co_return ok();
  const bool unseen = !namesake && id.kind->followed() && !cluster_.jobs.serves(*id.kind);
  for (const WorkloadPtr& workload : cluster_.objects().workloads_of(id)) {
    if (!workload->metadata.has_finalizer(api::finalizers::resource_in_use)) continue;
    if (unseen && !workload->metadata.deleting()) continue;
    const bool left = jobs::left_by_owner(*workload, namesake.get());
    if (!left) continue;
    jobs::ReleaseWorkload release{workload};
    const Status done = co_await run(nullptr, std::move(release));
    if (!done) co_return done.error();
  }
  co_return ok();
}

void JobReconciler::note(const GenericJob& job, const jobs::JobAction& action) {
  for (jobs::JobNote& note : jobs::notes_of(job, action)) {
    cluster_.events.event(kube::reference_to(*note.resource, *note.about),
                          note.warning ? kube::EventType::warning : kube::EventType::normal,
                          std::move(note.reason), std::move(note.message));
  }
}

Task<Status> JobReconciler::apply(JobPtr job, jobs::JobAction action) {
  return std::visit([&](auto&& a) { return run(std::move(job), std::forward<decltype(a)>(a)); },
                    std::move(action));
}

Task<Status> JobReconciler::run(JobPtr job, jobs::CreateWorkload action) {
  const std::string name = action.workload.metadata.name;
  const auto there = co_await is_there(job);
  if (!there) co_return there.error().within("reading the job before creating workload " + name);
  if (!*there) co_return ok();  // the cache knows by now
  const auto created = co_await cluster_.create_workload(action.workload);
  if (!created) {
    if (created.error().code() == Errc::invalid) {
      note(*job, jobs::Complain{std::string(api::events::error_workload_compose),
                                "Workload " + name + " was refused: " + created.error().what()});
    }
    // A Workload that exists already is ours, from a create with a lost reply. Its event is on the
    // way.
    co_return created.error().within("creating workload " + name);
  }
  note(*job, std::move(action));
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::DeleteWorkload action) {
  const Status removed = co_await cluster_.remove_workload(action.workload);
  if (!removed) co_return removed;
  note(*job, action);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::AdoptWorkload action) {
  const auto wanted = [job](const api::Workload& workload) -> std::optional<api::ObjectMeta> {
    if (workload.metadata.controller()) return {};
    return jobs::adopted_metadata(workload, *job);
  };
  return cluster_.update_metadata(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::UpdateWorkload action) {
  // It may have got quota, for what it asked before, or a user may have changed it.
  bool changed = false;
  const auto wanted = [&](const api::Workload& stored) -> std::optional<api::WorkloadSpec> {
    const api::Workload& planned = *action.workload;
    changed = stored.metadata.generation != planned.metadata.generation ||
              lifecycle::is_reserved(stored) != lifecycle::is_reserved(planned);
    return changed ? std::nullopt : std::optional(action.spec);
  };
  const Status done = co_await cluster_.update_spec(action.workload, wanted);
  if (done && changed) {
    co_return Error(Errc::conflict,
                    "workload " + action.workload->metadata.key().str() + " changed meanwhile");
  }
  if (done) note(*job, action);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::FinishWorkload action) {
  const TimePoint now = cluster_.clock.now();
  const auto wanted = [&action, now](const api::Workload& workload) {
    return lifecycle::finished_status(workload, action.reason, action.message, now);
  };
  const Status done = co_await cluster_.update_status(action.workload, wanted);
  if (done) note(*job, action);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::ReleaseWorkload action) {
  const Status done = co_await cluster_.update_metadata(action.workload, jobs::released_metadata);
  if (!done && done.error().code() == Errc::not_found) co_return ok();
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::SetReclaimable action) {
  const api::ObjectKey key = action.workload->metadata.key();
  const SteadyPoint here = cluster_.clock.steady();
  std::erase_if(reclaimed_, [here](const auto& one) { return one.second + together <= here; });
  const auto last = reclaimed_.find(key);
  // This comes before what else is to be done, of which only an eviction is urgent. A Workload that
  // needs more than it holds does not wait either.
  if (last != reclaimed_.end() && gives_back(*action.workload, action.pods) &&
      !api::is_true(action.workload->status.conditions, api::conditions::evicted)) {
    queue_.add_after(jobs::id_of(*job), last->second + together - here);
    co_return ok();
  }
  reclaimed_[key] = here;
  const auto wanted = [pods = action.pods](const api::Workload& workload) {
    api::WorkloadStatus status = workload.status;
    status.reclaimable_pods = pods;
    return status;
  };
  co_return co_await cluster_.update_status(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr, jobs::DropReservation action) {
  const TimePoint now = cluster_.clock.now();
  const bool evicted = lifecycle::is_evicted(*action.workload);
  const auto wanted = [now, evicted](const api::Workload& workload) {
    const bool still = lifecycle::is_evicted(workload) == evicted;
    return still ? std::optional(jobs::drop_reservation(workload, now)) : std::nullopt;
  };
  return cluster_.update_status(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::StopJob action) {
  const Json patch = action.step.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*job), action.step.status, change);
  if (done) note(*job, action);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::TerminateJob action) {
  Written done = co_await each(std::move(action.writes), &JobReconciler::terminate_one);
  note(*job, jobs::TerminateJob{std::move(done.jobs), action.message});
  co_return done.status;
}

Task<Status> JobReconciler::run(JobPtr, jobs::LetJobGo action) {
  const Written done = co_await each(std::move(action.writes), &JobReconciler::let_go_one);
  co_return done.status;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::StartJob action) {
  Written done = co_await each(std::move(action.writes), &JobReconciler::start_one);
  note(*job, jobs::StartJob{std::move(done.jobs), action.message});
  co_return done.status;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::HoldJob action) {
  const Json patch = action.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*job), false, change);
  if (done) note(*job, action);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::QueueJob action) {
  const Json patch = action.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  return cluster_.patch_job(jobs::id_of(*job), false, change);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::NoteSize action) {
  const Json patch = action.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  return cluster_.patch_job(jobs::id_of(*job), false, change);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::DeleteJob action) {
  const Status removed = co_await cluster_.remove_job(job);
  if (!removed) co_return removed;
  note(*job, action);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::DropExcess action) {
  std::vector<jobs::JobWrite> writes;
  for (const JobPtr& one : action.members) writes.push_back({one, Json::object()});
  const Written done = co_await each(std::move(writes), &JobReconciler::drop_one);
  if (done.status) note(*job, std::move(action));
  co_return done.status;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::ShareWorkload action) {
  const auto wanted = [members = action.members](const api::Workload& workload) {
    return jobs::shared_metadata(workload, members);
  };
  const Status done = co_await cluster_.update_metadata(action.workload, wanted);
  if (done) note(*job, std::move(action));
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::AwaitReplacement action) {
  const TimePoint now = cluster_.clock.now();
  const auto wanted = [condition = action.condition, now](const api::Workload& workload) {
    api::WorkloadStatus status = workload.status;
    api::set_condition(&status.conditions, condition, now);
    return status;
  };
  return cluster_.update_status(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr, jobs::RetireWorkload action) {
  return cluster_.remove_workload(action.workload);
}

Task<Status> JobReconciler::run(JobPtr, jobs::HoldWorkload action) {
  const TimePoint now = cluster_.clock.now();
  const auto wanted = [message = action.message, now](const api::Workload& workload) {
    return jobs::held_status(workload, message, now);
  };
  return cluster_.update_status(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr, jobs::PatchPods action) {
  const Written done = co_await each(std::move(action.writes), &JobReconciler::patch_one);
  co_return done.status;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::GateWorkload action) {
  const std::string gates = action.gates;
  const auto wanted = [gates](const api::Workload& workload) {
    return jobs::gated_metadata(workload, gates);
  };
  const Status done = co_await cluster_.update_metadata(action.workload, wanted);
  if (done) note(*job, action);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::SetPodsReady action) {
  const api::PodsReadiness readiness = action.readiness;
  const TimePoint now = cluster_.clock.now();
  const auto wanted = [readiness, now](const api::Workload& workload) {
    api::WorkloadStatus status = workload.status;
    api::set_pods_ready(&status, workload.metadata.generation, readiness, now);
    return status;
  };
  return cluster_.update_status(action.workload, wanted);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::LookAgain action) {
  queue_.add_after(jobs::id_of(*job), action.after);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::Tell action) {
  std::string& last = told_[jobs::id_of(*job)];
  if (last != action.message) {
    last = action.message;
    note(*job, action);
  }
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::Complain action) {
  // A group is planned anew with each pod that joins it, and a status is written often.
  const bool often = job->composed() || !job->unread().empty();
  std::string* last = often ? &told_[jobs::id_of(*job)] : nullptr;
  if (last && *last == action.message) co_return ok();
  if (last) *last = action.message;
  note(*job, action);
  co_return ok();
}

}  // namespace regatta::controllers
