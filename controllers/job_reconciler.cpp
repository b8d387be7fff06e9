#include "controllers/job_reconciler.h"

#include "jobs/admission_info.h"
#include "jobs/elastic.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {

using clusters::LocalCluster;
using JobPtr = std::shared_ptr<const api::Job>;

namespace {
/// Index of jobs: "workload/<WorkloadPriorityClass>" or "pod/<PriorityClass>", empty for none.
constexpr const char* by_priority_class = "priority-class";
/// The WorkloadPriorityClass of who names none.
constexpr std::string_view default_class = "default";
/// Jobs made by Jobs are followed up so far.
constexpr int nesting_max = 10;

bool names_queue(const api::Job& job) {
  return !job.metadata.label(std::string(api::labels::queue_name)).empty() ||
         !clusters::prebuilt_workload(job.metadata).empty();
}
}  // namespace

JobReconciler::JobReconciler(LocalCluster& cluster, TaskScope& scope, JobReconcilerConfig config)
    : cluster_(cluster),
      scope_(scope),
      config_(std::move(config)),
      log_(cluster.log.named("jobs")),
      queue_(cluster.clock, scope, Backoff{Duration(20), std::chrono::seconds(30)},
             Intake::closed) {
  cluster_.jobs.on_change([this](const api::ObjectKey& key) { queue_.add(key); });
  cluster_.workloads.on_transition(
      [this](const api::ObjectKey&, const auto& before, const auto& after) {
        if (before) enqueue_owners(*before);
        if (after) enqueue_owners(*after);
      });
  watch_needs();
}

/// What jobs may have waited for.
void JobReconciler::watch_needs() {
  cluster_.jobs.add_index(by_priority_class, [](const api::Job& job) {
    const std::string label = job.metadata.label(std::string(api::labels::priority_class));
    if (!label.empty()) return std::vector<std::string>{"workload/" + label};
    return std::vector<std::string>{"pod/" + job.spec.pod_template.spec().priority_class_name,
                                    "workload/" + std::string(default_class)};
  });
  const auto enqueue_class = [this](const std::string& name) {
    for (const auto& job : cluster_.jobs.keys_by_index(by_priority_class, name)) queue_.add(job);
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
      if (job->metadata.ns == key.name) queue_.add(job->metadata.key());
    }
  });
}

void JobReconciler::start() {
  queue_.open();
  for (const JobPtr& job : cluster_.jobs.list()) queue_.add(job->metadata.key());
  for (const jobs::WorkloadPtr& workload : cluster_.workloads.list()) enqueue_owners(*workload);
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("jobs", work());
}

void JobReconciler::enqueue_owners(const api::Workload& workload) {
  const api::OwnerReference* owner = workload.metadata.controller();
  if (owner && owner->kind == "Job") queue_.add(api::ObjectKey(workload.metadata.ns, owner->name));
  const std::string key = workload.metadata.key().str();
  for (const api::ObjectKey& job : cluster_.jobs.keys_by_index(clusters::by_prebuilt, key)) {
    queue_.add(job);
  }
}

Task<> JobReconciler::work() {
  for (;;) {
    api::ObjectKey key = co_await queue_.next();
    const Status done = co_await reconcile(key);
    if (queue_.finish(key, done)) {
      log_.warning("job not reconciled", {{"job", key.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> JobReconciler::reconcile(api::ObjectKey key) {
  const JobPtr job = cluster_.jobs.get(key);
  if (!job) told_.erase(key);
  if (!job) co_return co_await release_orphans(std::move(key));
  const jobs::JobView seen = view(job);
  for (const jobs::JobAction& action : jobs::plan_job(seen)) {
    const Status done = co_await apply(job, action);
    if (!done) co_return done.error();
  }
  co_return ok();
}

/// A Job that is gone: nothing holds its Workloads any more.
Task<Status> JobReconciler::release_orphans(api::ObjectKey key) {
  const auto orphans =
      cluster_.workloads.by_index(clusters::by_owner, clusters::owner_name("Job", key));
  for (const jobs::WorkloadPtr& workload : orphans) {
    if (!workload->metadata.has_finalizer(api::finalizers::resource_in_use)) continue;
    const jobs::ReleaseWorkload release{workload};
    const Status done = co_await run(nullptr, release);
    if (!done) co_return done.error();
  }
  co_return ok();
}

/// What a Job makes is that Job's to account for.
bool JobReconciler::made_by_managed_job(const api::Job& job) const {
  JobPtr maker;
  const api::Job* made = &job;
  for (int level = 0; level < nesting_max; ++level) {
    const api::OwnerReference* owner = made->metadata.controller();
    if (!owner || owner->kind != "Job" || !owner->api_version.starts_with("batch/")) return false;
    const JobPtr found = cluster_.jobs.get(api::ObjectKey(job.metadata.ns, owner->name));
    if (!found || found->metadata.uid != owner->uid) return false;
    if (config_.manage_without_queue_name || names_queue(*found)) return true;
    maker = found;
    made = maker.get();
  }
  return false;
}

bool JobReconciler::manages(const api::Job& job) const {
  if (!names_queue(job)) {
    if (!config_.manage_without_queue_name || made_by_managed_job(job)) return false;
  }
  return takes_part(job.metadata.ns);
}

bool JobReconciler::takes_part(const std::string& ns) const {
  const auto found = cluster_.namespaces.get(api::ObjectKey(ns));
  return found && config_.namespaces.matches(found->metadata.labels);
}

/// Only a job that came after the queue: one that was there before was meant to run without.
std::string JobReconciler::default_queue_of(const api::Job& job) const {
  const bool free = !names_queue(job) && !made_by_managed_job(job);
  if (!config_.default_queue || !free || jobs::batch_job::finished(job) ||
      job.metadata.deleting()) {
    return {};
  }
  const std::string name(api::default_local_queue);
  const auto queue = cluster_.local_queues.get(api::ObjectKey(job.metadata.ns, name));
  const bool open = queue && !queue->metadata.deleting() &&
                    queue->spec.stop_policy == api::StopPolicy::None &&
                    queue->metadata.creation_timestamp <= job.metadata.creation_timestamp;
  return open && takes_part(job.metadata.ns) ? name : std::string();
}

jobs::JobView JobReconciler::view(JobPtr job) const {
  jobs::JobView view;
  view.topology = config_.topology;
  view.policy = config_.policy;
  view.now = cluster_.clock.now();
  view.default_queue = default_queue_of(*job);
  view.managed = manages(*job);
  view.queue_name = job->metadata.label(std::string(api::labels::queue_name));
  view.owned = cluster_.workloads.by_index(clusters::by_owner,
                                           clusters::owner_name("Job", job->metadata.key()));
  std::erase_if(view.owned, [&job](const jobs::WorkloadPtr& workload) {
    return workload->metadata.controller()->uid != job->metadata.uid;
  });
  if (const std::string name = clusters::prebuilt_workload(job->metadata); !name.empty()) {
    view.prebuilt = true;
    view.prebuilt_workload = cluster_.workloads.get(api::ObjectKey(job->metadata.ns, name));
  }
  view.job = std::move(job);
  read_priority(&view);
  read_admission(&view);
  return view;
}

void JobReconciler::read_admission(jobs::JobView* view) const {
  const jobs::FlavorLookup flavor = [this](const std::string& name) -> const api::ResourceFlavor* {
    return cluster_.flavors.get(api::ObjectKey(name)).get();
  };
  jobs::WorkloadPtr reserved = view->prebuilt_workload;
  for (const jobs::WorkloadPtr& workload : view->owned) {
    if (!reserved && workload->status.admission) reserved = workload;
  }
  if (jobs::is_elastic(*view)) reserved = jobs::slices_of(*view).current;
  if (!reserved) return;
  Result<std::vector<jobs::PodSetInfo>> infos = jobs::admission_infos(*reserved, flavor);
  if (infos) {
    view->infos = std::move(*infos);
  } else {
    view->infos_error = infos.error();
  }
}

/// The class the job names; else the default one, which a Workload keeps once it has it.
std::string JobReconciler::workload_class_of(const jobs::JobView& view) const {
  const std::string label = view.job->metadata.label(std::string(api::labels::priority_class));
  if (!label.empty() || !config_.default_priority_class || view.prebuilt) return label;
  const std::string name(default_class);
  if (!view.owned.empty()) {
    const auto& ref = view.owned.front()->spec.priority_class_ref;
    return ref && ref->kind == api::priority::workload_kind && ref->name == name ? name : "";
  }
  return cluster_.workload_priority_classes.get(api::ObjectKey(name)) ? name : "";
}

void JobReconciler::read_priority(jobs::JobView* view) const {
  const std::string label = workload_class_of(*view);
  if (!label.empty()) {
    const auto found = cluster_.workload_priority_classes.get(api::ObjectKey(label));
    if (!found) {
      view->missing_workload_class = true;
      view->invalid = Error(Errc::invalid, "WorkloadPriorityClass \"" + label +
                                               "\" does not exist: create it or remove the label " +
                                               std::string(api::labels::priority_class));
      return;
    }
    view->priority_class =
        api::PriorityClassRef{std::string(api::kueue_group), "WorkloadPriorityClass", label};
    view->priority = found->value;
    return;
  }
  const std::string& name = view->job->spec.pod_template.spec().priority_class_name;
  std::shared_ptr<const api::PriorityClass> chosen;
  for (const auto& candidate : cluster_.priority_classes.list()) {
    if (!name.empty()
            ? candidate->metadata.name == name
            : candidate->global_default && (!chosen || candidate->value < chosen->value)) {
      chosen = candidate;
    }
  }
  if (!chosen && !name.empty()) {
    view->invalid = Error(Errc::invalid, "PriorityClass \"" + name +
                                             "\" does not exist: create it or remove "
                                             "priorityClassName from the pod template");
  }
  if (!chosen) return;
  view->priority_class =
      api::PriorityClassRef{"scheduling.k8s.io", "PriorityClass", chosen->metadata.name};
  view->priority = chosen->value;
}

void JobReconciler::note(const api::Job& job, kube::EventType type, std::string_view reason,
                         std::string message) {
  cluster_.events.event(kube::reference_to(job), type, std::string(reason), std::move(message));
}

Task<Status> JobReconciler::apply(JobPtr job, const jobs::JobAction& action) {
  return std::visit([&](const auto& a) { return run(job, a); }, action);
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::CreateWorkload& action) {
  auto created = co_await cluster_.client.create(action.workload);
  if (!created) {
    if (created.error().code() == Errc::invalid) {
      note(*job, kube::EventType::warning, api::events::error_workload_compose,
           "Workload " + action.workload.metadata.name + " was refused: " + created.error().what());
    }
    // It exists already: ours, from a reply that was lost; its event is on the way.
    co_return created.error().within("creating workload " + action.workload.metadata.name);
  }
  const std::string key = created->metadata.key().str();
  cluster_.workloads.observe(std::move(*created));
  note(*job, kube::EventType::normal, api::events::created_workload, "Created Workload: " + key);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::DeleteWorkload& action) {
  const api::ObjectMeta& metadata = action.workload->metadata;
  kube::DeleteOptions options;
  options.uid = metadata.uid;
  const Status removed =
      co_await cluster_.client.remove<api::Workload>(metadata.key(), std::move(options));
  if (!removed && removed.error().code() != Errc::not_found) co_return removed.error();
  note(*job, kube::EventType::normal, api::events::deleted_workload,
       "Deleted not matching Workload: " + metadata.key().str());
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::AdoptWorkload& action) {
  return cluster_.update_metadata(action.workload->metadata.key(), [job](api::Workload& workload) {
    if (workload.metadata.controller()) return false;
    api::OwnerReference owner;
    owner.api_version = "batch/v1";
    owner.kind = "Job";
    owner.name = job->metadata.name;
    owner.uid = job->metadata.uid;
    owner.controller = true;
    owner.block_owner_deletion = true;
    workload.metadata.owner_references.push_back(std::move(owner));
    workload.metadata.labels[std::string(api::labels::job_uid)] = job->metadata.uid;
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::UpdateWorkload& action) {
  const api::WorkloadSpec spec = action.spec;
  const auto change = [spec](api::Workload& workload) {
    workload.spec = spec;
    return true;
  };
  const Status done = co_await cluster_.update_spec(action.workload->metadata.key(), change);
  if (done) note(*job, kube::EventType::normal, api::events::updated_workload, action.message);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::FinishWorkload& action) {
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
  // Of a dispatched job enough is told already.
  const bool dispatched = job->spec.managed_by == std::string(api::multikueue_controller_name) ||
                          !job->metadata.label(std::string(api::labels::multikueue_origin)).empty();
  if (done && !dispatched) {
    note(*job, kube::EventType::normal, api::events::finished_workload,
         "Workload '" + key.str() + "' is declared finished");
  }
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, const jobs::ReleaseWorkload& action) {
  const Status done =
      co_await cluster_.update_metadata(action.workload->metadata.key(), [](api::Workload& w) {
        return std::erase(w.metadata.finalizers, api::finalizers::resource_in_use) > 0;
      });
  if (!done && done.error().code() == Errc::not_found) co_return ok();
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr, const jobs::SetReclaimable& action) {
  const auto pods = action.pods;
  return cluster_.update_status(action.workload->metadata.key(), [pods](api::Workload& workload) {
    workload.status.reclaimable_pods = pods;
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr, const jobs::DropReservation& action) {
  const TimePoint now = cluster_.clock.now();
  return cluster_.update_status(action.workload->metadata.key(), [now](api::Workload& workload) {
    jobs::drop_reservation(&workload, now);
    return true;
  });
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::StopJob& action) {
  const Json patch = action.step.patch;
  const auto change = [patch](const api::Job&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(job->metadata.key(), action.step.status, change);
  if (done && action.step.last) {
    note(*job, kube::EventType::normal, api::events::stopped, action.message);
  }
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::StartJob& action) {
  const Json patch = action.patch;
  const auto change = [patch](const api::Job&) { return std::optional<Json>(patch); };
  const Status done = co_await cluster_.patch_job(job->metadata.key(), false, change);
  if (done) note(*job, kube::EventType::normal, api::events::started, action.message);
  co_return done;
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::QueueJob& action) {
  const Json patch = action.patch;
  const auto change = [patch](const api::Job&) { return std::optional<Json>(patch); };
  return cluster_.patch_job(job->metadata.key(), false, change);
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::DeleteJob& action) {
  kube::DeleteOptions options;
  options.uid = job->metadata.uid;
  options.propagation_policy = "Background";
  const Status removed =
      co_await cluster_.client.remove<api::Job>(job->metadata.key(), std::move(options));
  if (!removed && removed.error().code() != Errc::not_found) co_return removed.error();
  note(*job, kube::EventType::normal, api::events::deleted, action.message);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::GateWorkload& action) {
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

Task<Status> JobReconciler::run(JobPtr, const jobs::SetPodsReady& action) {
  const api::PodsReadiness readiness = action.readiness;
  const TimePoint now = cluster_.clock.now();
  const auto change = [readiness, now](api::Workload& workload) {
    return api::set_pods_ready(&workload, readiness, now);
  };
  return cluster_.update_status(action.workload->metadata.key(), change);
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::LookAgain& action) {
  queue_.add_after(job->metadata.key(), action.after);
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::Tell& action) {
  std::string& last = told_[job->metadata.key()];
  if (last != action.message) {
    last = action.message;
    note(*job, kube::EventType::normal, action.reason, action.message);
  }
  co_return ok();
}

Task<Status> JobReconciler::run(JobPtr job, const jobs::Complain& action) {
  note(*job, kube::EventType::warning, action.reason, action.message);
  co_return ok();
}

}  // namespace regatta::controllers
