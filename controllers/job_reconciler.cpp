#include "controllers/job_reconciler.h"

#include "lib/api/names.h"

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
        if (before) enqueue_owners(*before);
        if (after) enqueue_owners(*after);
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
  const auto enqueue_class = [this](const std::string& name) {
    for (const JobId& job : cluster_.jobs.ids_by_index(by_priority_class, name)) queue_.add(job);
  };
  cluster_.workload_priority_classes.on_change(
      [enqueue_class](const api::ObjectKey& key) { enqueue_class("workload/" + key.name); });
  cluster_.priority_classes.on_change(
      [enqueue_class](const api::ObjectKey& key) { enqueue_class("pod/" + key.name); });
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
  queue_.open();
  for (const JobPtr& job : cluster_.jobs.list()) queue_.add(jobs::id_of(*job));
  for (const jobs::WorkloadPtr& workload : cluster_.workloads.list()) enqueue_owners(*workload);
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("jobs", work());
}

void JobReconciler::enqueue_owners(const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  const jobs::JobKind* kind = owner ? cluster_.jobs.kinds().find(*owner) : nullptr;
  if (kind) queue_.add(JobId{kind, api::ObjectKey(workload.metadata.ns, owner->name)});
  const std::string key = workload.metadata.key().str();
  for (const JobId& job : cluster_.jobs.ids_by_index(clusters::by_prebuilt, key)) {
    queue_.add(job);
  }
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

Task<Status> JobReconciler::reconcile(JobId id) {
  JobPtr job = cluster_.jobs.get(id);
  if (!job) {
    told_.erase(id);
    co_return co_await release_orphans(std::move(id));
  }
  const jobs::JobView seen = jobs::read_job(cluster_.objects(), job, config_, cluster_.clock.now());
  for (jobs::JobAction& action : jobs::plan_job(seen)) {
    const Status done = co_await apply(job, std::move(action));
    if (!done) co_return done.error();
  }
  co_return ok();
}

/// The job is gone, so its Workloads lose their finalizer.
Task<Status> JobReconciler::release_orphans(JobId id) {
  for (const WorkloadPtr& workload : cluster_.objects().workloads_of(id)) {
    if (!workload->metadata.has_finalizer(api::finalizers::resource_in_use)) continue;
    jobs::ReleaseWorkload release{workload};
    const Status done = co_await run(nullptr, std::move(release));
    if (!done) co_return done.error();
  }
  co_return ok();
}

void JobReconciler::note(const GenericJob& job, kube::EventType type, std::string_view reason,
                         std::string message) {
  cluster_.events.event(kube::reference_to(job.kind().resource(), job.metadata()), type,
                        std::string(reason), std::move(message));
}

Task<Status> JobReconciler::apply(JobPtr job, jobs::JobAction action) {
  return std::visit([&](auto&& a) { return run(std::move(job), std::move(a)); }, std::move(action));
}

Task<Status> JobReconciler::run(JobPtr job, jobs::CreateWorkload action) {
  const std::string name = action.workload.metadata.name;
  const auto created = co_await cluster_.create_workload(std::move(action.workload));
  if (!created) {
    if (created.error().code() == Errc::invalid) {
      note(*job, kube::EventType::warning, api::events::error_workload_compose,
           "Workload " + name + " was refused: " + created.error().what());
    }
    // A Workload that exists already is ours, from a create with a lost reply. Its event is on the
    // way.
    co_return created.error().within("creating workload " + name);
  }
  note(*job, kube::EventType::normal, api::events::created_workload,
       "Created Workload: " + created->str());
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::DeleteWorkload action) {
  const Status removed = co_await cluster_.remove_workload(action.workload);
  if (!removed) co_return removed;
  note(*job, kube::EventType::normal, api::events::deleted_workload,
       "Deleted not matching Workload: " + action.workload->metadata.key().str());
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::AdoptWorkload action) {
  return cluster_.update_metadata(action.workload->metadata.key(), [job](api::Workload& workload) {
    if (workload.metadata.controller()) return false;
    workload.metadata.owner_references.push_back(jobs::owner_reference_to(*job));
    workload.metadata.labels[std::string(api::labels::job_uid)] = job->metadata().uid;
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr job, jobs::UpdateWorkload action) {
  const api::WorkloadSpec spec = action.spec;
  const auto change = [spec](api::Workload& workload) {
    workload.spec = spec;
    return true;
  };
  const Status done = co_await cluster_.update_spec(action.workload->metadata.key(), change);
  if (done) note(*job, kube::EventType::normal, api::events::updated_workload, action.message);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::FinishWorkload action) {
  const api::ObjectKey key = action.workload->metadata.key();
  const std::string reason = action.reason;
  const std::string message = action.message;
  const TimePoint now = cluster_.clock.now();
  const auto change = [reason, message, now](api::Workload& workload) {
    return api::set_condition(&workload.status.conditions,
                              {std::string(api::conditions::finished),
                               api::ConditionStatus::True,
                               workload.metadata.generation,
                               {},
                               reason,
                               message},
                              now);
  };
  const Status done = co_await cluster_.update_status(key, change);
  // A dispatched job has events enough already.
  const bool dispatched =
      job->not_managed_reason().empty() ||
      !job->metadata().label(std::string(api::labels::multikueue_origin)).empty();
  if (done && !dispatched) {
    note(*job, kube::EventType::normal, api::events::finished_workload,
         "Workload '" + key.str() + "' is declared finished");
  }
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::ReleaseWorkload action) {
  const Status done =
      co_await cluster_.update_metadata(action.workload->metadata.key(), [](api::Workload& w) {
        return std::erase(w.metadata.finalizers, api::finalizers::resource_in_use) > 0;
      });
  if (!done && done.error().code() == Errc::not_found) co_return ok();
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::SetReclaimable action) {
  const auto pods = action.pods;
  return cluster_.update_status(action.workload->metadata.key(), [pods](api::Workload& workload) {
    workload.status.reclaimable_pods = pods;
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr, jobs::DropReservation action) {
  const TimePoint now = cluster_.clock.now();
  return cluster_.update_status(action.workload->metadata.key(), [now](api::Workload& workload) {
    jobs::drop_reservation(&workload, now);
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr job, jobs::StopJob action) {
  const Json patch = action.step.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*job), action.step.status, change);
  if (done && action.step.last) {
    note(*job, kube::EventType::normal, api::events::stopped, action.message);
  }
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::StartJob action) {
  const Json patch = action.patch;
  // A job that ran on a worker may have ended before it is started here.
  bool startable = false;
  const auto change = [&](const GenericJob& stored) {
    startable = stored.suspended() && !stored.finished();
    return startable ? std::optional<Json>(patch) : std::nullopt;
  };
  const Status done = co_await cluster_.patch_job(jobs::id_of(*job), false, change);
  if (done && startable) note(*job, kube::EventType::normal, api::events::started, action.message);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, jobs::QueueJob action) {
  const Json patch = action.patch;
  const auto change = [patch](const GenericJob&) { return std::optional<Json>(patch); };
  return cluster_.patch_job(jobs::id_of(*job), false, change);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::DeleteJob action) {
  const Status removed = co_await cluster_.remove_job(job);
  if (!removed) co_return removed;
  note(*job, kube::EventType::normal, api::events::deleted, action.message);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::GateWorkload action) {
  const std::string gates = action.gates;
  const auto change = [gates](api::Workload& workload) {
    const std::string annotation(api::annotations::admission_gated_by);
    if (gates.empty()) return workload.metadata.annotations.erase(annotation) > 0;
    workload.metadata.annotations[annotation] = gates;
    return true;
  };
  const Status done = co_await cluster_.update_metadata(action.workload->metadata.key(), change);
  if (done) {
    note(*job, kube::EventType::normal, api::events::updated_workload,
         "Updated workload AdmissionGatedBy to \"" + gates + "\"");
  }
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, jobs::SetPodsReady action) {
  const api::PodsReadiness readiness = action.readiness;
  const TimePoint now = cluster_.clock.now();
  const auto change = [readiness, now](api::Workload& workload) {
    return api::set_pods_ready(&workload, readiness, now);
  };
  return cluster_.update_status(action.workload->metadata.key(), change);
}

Task<Status> JobReconciler::run(JobPtr job, jobs::LookAgain action) {
  queue_.add_after(jobs::id_of(*job), action.after);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::Tell action) {
  std::string& last = told_[jobs::id_of(*job)];
  if (last != action.message) {
    last = action.message;
    note(*job, kube::EventType::normal, action.reason, action.message);
  }
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, jobs::Complain action) {
  note(*job, kube::EventType::warning, action.reason, action.message);
  co_return ok();
}

}  // namespace regatta::controllers
