#include "controllers/dispatcher.h"

#include "dispatch/objects.h"
#include "jobs/read_job.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/check.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {
namespace {

/// How often the status of a running Job is copied.
constexpr Duration status_interval{1000};
constexpr const char* changed_meanwhile = "the workload changed meanwhile";

/// What kind of request to a worker an action is; nullopt when it goes to the hub.
std::optional<WorkerVerb> verb_of(const dispatch::Action& action) {
  if (std::holds_alternative<dispatch::RemoveRemote>(action)) return WorkerVerb::remove;
  if (std::holds_alternative<dispatch::CreateCopy>(action)) return WorkerVerb::create_copy;
  if (std::holds_alternative<dispatch::CreateJob>(action)) return WorkerVerb::create_job;
  if (std::holds_alternative<dispatch::OpenGate>(action)) return WorkerVerb::open_gate;
  if (std::holds_alternative<dispatch::UpdateCopyPriority>(action) ||
      std::holds_alternative<dispatch::DeactivateRemote>(action)) {
    return WorkerVerb::edit;
  }
  const auto* confirm = std::get_if<dispatch::Confirm>(&action);
  if (confirm && !confirm->cluster.empty()) return WorkerVerb::read;
  return std::nullopt;
}

/// The worker of such an action.
std::string worker_of(const dispatch::Action& action) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.cluster; }) return a.cluster;
        return std::string();
      },
      action);
}

/// No start of a Job and no write to the hub may come before this one has succeeded.
bool blocks(const dispatch::Action& action) {
  if (const auto* remove = std::get_if<dispatch::RemoveRemote>(&action)) return remove->holds_job;
  return std::holds_alternative<dispatch::DeactivateRemote>(action);
}

/// The worker does not take the job and never will: a policy, a quota of objects, a webhook. That
/// our credentials are no longer good is not the job's fault.
bool refuses(const Error& error) {
  const bool unknown_user = error.details() && error.details()->http_status == 401;
  return error.code() == Errc::invalid || (error.code() == Errc::denied && !unknown_user);
}

/// The worker may have done what was asked all the same.
bool unanswered(const Error& error) {
  return !error.details() || error.details()->http_status >= 500;
}

}  // namespace

Dispatcher::Dispatcher(DispatcherDeps deps, DispatcherConfig config)
    : deps_(deps),
      config_(std::move(config)),
      log_(deps.local.log.named("dispatch")),
      workers_(deps.fleet, deps.local),
      watch_(deps.local, deps.fleet, config_.origin, config_.brake),
      requests_(
          {deps.local.clock, deps.scope, log_,
           [this](const api::ObjectKey& key, Duration after) { queue_.add_after(key, after); },
           [this](const std::string& cluster) {
             if (const auto worker = remote(cluster)) worker->suspect();
           }}),
      queue_(deps.local.clock, deps.scope, Backoff{Duration(20), std::chrono::seconds(30)},
             Intake::closed) {
  clusters::LocalCluster& local = deps_.local;
  local.workloads.on_transition([this](const api::ObjectKey& key, const auto&, const auto& after) {
    if (!after) {
      copied_.erase(key);
      requests_.forget(key);
      watch_.forget();
    }
    queue_.add(key);
  });
  local.jobs.on_change([this](const jobs::JobId& id) {
    const std::string owner = clusters::owner_name(id);
    for (const auto& workload : deps_.local.workloads.keys_by_index(clusters::by_owner, owner)) {
      queue_.add(workload);
    }
  });
  local.checks.on_change([this](const api::ObjectKey&) { enqueue_all(""); });
  local.multikueue_configs.on_change([this](const api::ObjectKey&) { enqueue_all(""); });
  deps_.fleet.on_workload([this](const std::string&, const api::ObjectKey& key) {
    // The garbage collection removes copies that have no Workload on the hub; it looks twice first.
    if (deps_.local.workloads.get(key)) queue_.add(key);
  });
  deps_.fleet.on_connection([this](const std::string& cluster) {
    watch_.look(cluster);
    enqueue_all(cluster);
  });
  // The operator allows removals, or adopts another hub's objects.
  local.multikueue_clusters.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        if (!before || !after || before->metadata.annotations == after->metadata.annotations)
          return;
        watch_.look(key.name);
        enqueue_all(key.name);
      });
}

void Dispatcher::start() {
  leading_since_ = deps_.local.clock.steady();
  queue_.open();
  enqueue_all("");
  for (int i = 0; i < config_.workers; ++i) deps_.scope.spawn("dispatch", work());
  if (config_.gc_interval > Duration(0)) deps_.scope.spawn("garbage", collect_garbage());
}

void Dispatcher::enqueue_all(const std::string& cluster) {
  for (const auto& workload : deps_.local.workloads.list()) {
    if (!workload->status.admission_checks.empty()) queue_.add(workload->metadata.key());
  }
  const auto* member = deps_.fleet.find(cluster);
  if (!member || !member->ready()) return;
  for (const auto& copy : member->remote->workloads.list()) queue_.add(copy->metadata.key());
}

jobs::JobPtr Dispatcher::owner_of(const api::ObjectKey& workload) const {
  const auto found = deps_.local.workloads.get(workload);
  return found ? jobs::owner_of(deps_.local.objects(), *found) : nullptr;
}

std::shared_ptr<clusters::RemoteCluster> Dispatcher::remote(const std::string& cluster) const {
  const auto* member = deps_.fleet.find(cluster);
  return member ? member->remote : nullptr;
}

std::vector<std::string> Dispatcher::first_nomination(const std::string& check) const {
  if (config_.plan.nomination.dispatcher == placement::Dispatcher::external) return {};
  const auto found = deps_.local.checks.get(api::ObjectKey(check));
  if (!found || found->spec.controller_name != api::multikueue_controller_name) return {};
  const auto config = dispatch::config_of(deps_.local.objects(), check);
  if (!config) return {};
  placement::NominationInput input;
  input.config_order = config->spec.clusters;
  for (const std::string& name : config->spec.clusters) {
    const auto* member = deps_.fleet.find(name);
    if (member && member->ready()) input.connected.insert(name);
  }
  return placement::nominate(input, input.quota_reserved_at, config_.plan.nomination).clusters;
}

Task<> Dispatcher::work() {
  for (;;) {
    api::ObjectKey key = co_await queue_.next();
    const Status done = co_await reconcile(key);
    if (queue_.finish(key, done)) {
      log_.warning("not dispatched", {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

Task<> Dispatcher::collect_garbage() {
  for (;;) {
    co_await deps_.local.clock.sleep_for(config_.gc_interval);
    requests_.prune();
    for (const auto& [name, member] : deps_.fleet.members()) {
      if (!member.ready()) continue;
      watch_.look(name);
      const auto orphaned = [this](const api::ObjectKey& key) {
        const auto workload = deps_.local.workloads.get(key);
        return !workload || workload->metadata.deleting();
      };
      for (const auto& copy : member.remote->workloads.list()) {
        if (orphaned(copy->metadata.key())) queue_.add(copy->metadata.key());
      }
      for (const auto& job : member.remote->jobs.list()) {
        const api::ObjectMeta& metadata = job->metadata();
        const api::ObjectKey key(metadata.ns, jobs::prebuilt_workload(metadata));
        if (!key.name.empty() && orphaned(key)) queue_.add(key);
      }
    }
  }
}

void Dispatcher::add_attempts(const api::ObjectKey& key, TimePoint now,
                              dispatch::GroupView* group) {
  dispatch::LocalView& local = group->local;
  const bool over =
      local.deleted || local.finished || !local.quota_reserved || !local.cluster_name.empty();
  if (over) racing_.erase(key);
  // A worker that does not answer keeps its head start no longer than one that does.
  const auto asked = requests_.oldest(key, WorkerVerb::create_copy);
  if (!over && asked && deps_.local.clock.steady() - *asked >= WorkerRequests::silence) {
    racing_.try_emplace(key, *asked);
  }
  if (const auto racing = racing_.find(key); racing != racing_.end()) {
    local.racing_since = now - (deps_.local.clock.steady() - racing->second);
  }
  // What failed in an earlier attempt is no reason to end the next one.
  if (local.cluster_name.empty()) return requests_.forget(key, WorkerVerb::create_job);
  const auto host = group->clusters.find(local.cluster_name);
  if (host == group->clusters.end()) return;
  const auto* failed = requests_.failure(host->first, key, WorkerVerb::create_job);
  if (!failed || failed->error.code() == Errc::conflict) return;
  const Duration past = deps_.local.clock.steady() - failed->first;
  host->second.job_failing_since = now - past;
  host->second.job_failure = failed->error.what();
  // The request that is under way may succeed.
  if (requests_.under_way(host->first, key, WorkerVerb::create_job)) return;
  // A worker that fails for longer than it may be lost refuses the job, too.
  if (refuses(failed->error) || past >= config_.plan.worker_lost_timeout) {
    host->second.job_refused = failed->error.what();
  }
}

Task<Status> Dispatcher::reconcile(api::ObjectKey key) {
  const TimePoint now = deps_.local.clock.now();
  foreign_.expire(deps_.local.clock.steady());
  dispatch::GroupView group =
      dispatch::read_group(deps_.local.objects(), workers_, foreign_, key, now);
  complete(key, &group);
  dispatch::Plan todo = config_.planner(group, now, config_.plan);
  if (!todo.actions.empty() && log_.enabled(LogLevel::debug)) {
    log_.debug("plan", {{"workload", key.str()}, {"actions", dispatch::describe(todo)}});
  }
  const std::optional<Duration> look_again = todo.look_again;
  if (const auto workload = deps_.local.workloads.get(key)) {
    planned_[key] = dispatch::footing_of(*workload);
  }
  const Status done = co_await apply_all(key, std::move(todo.actions));
  planned_.erase(key);
  if (look_again) queue_.add_after(key, *look_again);
  co_return done;
}

void Dispatcher::complete(const api::ObjectKey& key, dispatch::GroupView* group) {
  const TimePoint now = deps_.local.clock.now();
  const auto& workloads = deps_.local.workloads;
  dispatch::LocalView& local = group->local;
  local.certainty = certainty_on_hub(deps_.local, key);
  local.leading_since = now - (deps_.local.clock.steady() - leading_since_);
  local.vanished = !workloads.get(key) && workloads.absence(key) != kube::Absence::deleted;
  if (local.vanished) {
    for (auto& [name, view] : group->clusters) view.removals_held = watch_.holds_removals(name);
  }
  for (auto& [name, view] : group->clusters) {
    if (!view.copy) continue;
    const auto* failed = requests_.failure(name, key, WorkerVerb::open_gate);
    view.copy->gate_opening = requests_.under_way(name, key, WorkerVerb::open_gate) ||
                              (failed && unanswered(failed->error));
  }
  add_attempts(key, now, group);
  tell_unreadable(key, *group);
}

/// Requests to workers are only started here. What depends on the outcome of one is left to the
/// turn that follows it.
Task<Status> Dispatcher::apply_all(api::ObjectKey key, std::vector<dispatch::Action> actions) {
  bool blocked = false;
  for (dispatch::Action& action : actions) {
    if (!verb_of(action)) {
      if (blocked) break;
      const Status done = co_await apply_one(key, std::move(action));
      if (!done) co_return done;
      continue;
    }
    if (blocked && std::holds_alternative<dispatch::CreateJob>(action)) break;
    blocked = blocked || blocks(action);
    send(key, std::move(action));
  }
  co_return ok();
}

void Dispatcher::send(const api::ObjectKey& key, dispatch::Action action) {
  const std::string cluster = worker_of(action);
  const WorkerVerb verb = *verb_of(action);
  const auto worker = remote(cluster);
  if (!worker) return;
  // What the watch shows was done, whether it was answered or not.
  if (worker->workloads.get(key)) requests_.settle(cluster, key, WorkerVerb::create_copy);
  if (remote_job_of(*worker, key, deps_.local))
    requests_.settle(cluster, key, WorkerVerb::create_job);
  // Edits are observed, and what is observed wakes. What was read may change nothing in the caches.
  const bool wake = (verb == WorkerVerb::remove && blocks(action)) || verb == WorkerVerb::read;
  requests_.send(cluster, key, verb, apply_one(key, std::move(action)), wake);
}

Task<Status> Dispatcher::apply_one(api::ObjectKey key, dispatch::Action action) {
  return std::visit([&](auto&& a) { return run(key, std::forward<decltype(a)>(a)); },
                    std::move(action));
}

bool Dispatcher::on_footing(const api::ObjectKey& key, const api::Workload* workload) const {
  const auto planned = planned_.find(key);
  return workload && planned != planned_.end() &&
         dispatch::footing_of(*workload) == planned->second;
}

Task<Status> Dispatcher::write_workload(api::ObjectKey key,
                                        clusters::Wanted<api::WorkloadStatus> wanted) {
  bool changed = false;
  const auto guarded = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    changed = !on_footing(key, &workload);
    return changed ? std::nullopt : wanted(workload);
  };
  const Status done = co_await deps_.local.update_status(key, guarded);
  if (done && changed) co_return Error(Errc::conflict, changed_meanwhile);
  co_return done;
}

Task<Status> Dispatcher::write_job(
    api::ObjectKey key, jobs::JobPtr job,
    std::function<std::optional<Json>(const jobs::GenericJob&)> change) {
  bool changed = false;
  const auto guarded = [&](const jobs::GenericJob& stored) -> std::optional<Json> {
    const auto workload = deps_.local.workloads.get(key);
    changed = !on_footing(key, workload.get()) || stored.metadata().uid != job->metadata().uid;
    return changed ? std::nullopt : change(stored);
  };
  const Status done = co_await deps_.local.patch_job(jobs::id_of(*job), true, guarded);
  if (done && changed) co_return Error(Errc::conflict, changed_meanwhile);
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RemoveRemote action) {
  const auto worker = remote(action.cluster);
  if (!worker) co_return ok();
  // A conflict means that another object has the name by now, or that nothing was done. The watch
  // will show which, and the next plan decides.
  const auto gone = [](const Status& done) {
    return done || done.error().code() == Errc::not_found;
  };
  const auto job = remote_job_of(*worker, key, deps_.local);
  if (job && !worker->removing_job(*job)) {
    kube::DeleteOptions options;
    options.uid = job->metadata().uid;
    options.propagation_policy = "Background";
    const Status done =
        co_await worker->client.remove(job->kind().resource(), job->metadata().key(), options);
    if (!gone(done)) {
      worker->note(done.error());
      co_return done.error().within("removing job on " + action.cluster);
    }
    worker->removed_job(*job);
  }
  const auto copy = worker->workloads.get(key);
  if (!copy || worker->removing_workload(*copy)) co_return ok();
  if (!HubIdentity(deps_.local, action.cluster).may_own(copy->metadata)) co_return ok();
  if (copy->metadata.has_finalizer(api::finalizers::resource_in_use)) {
    Json left = copy->metadata.finalizers;
    left.erase(std::find(left.begin(), left.end(), api::finalizers::resource_in_use));
    const Json patch = {
        {"metadata", {{"uid", copy->metadata.uid}, {"finalizers", std::move(left)}}}};
    const auto stripped = co_await worker->client.patch_raw(
        api::Workload::resource, key, kube::PatchType::merge, dump_json(patch));
    if (!stripped && stripped.error().code() != Errc::not_found) {
      worker->note(stripped.error());
      co_return stripped.error().within("releasing copy on " + action.cluster);
    }
  }
  if (copy->metadata.deleting()) co_return ok();
  kube::DeleteOptions options;
  options.uid = copy->metadata.uid;
  const Status done = co_await worker->client.remove<api::Workload>(key, options);
  if (!gone(done)) {
    worker->note(done.error());
    co_return done.error().within("removing copy on " + action.cluster);
  }
  worker->removed_workload(*copy);
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CreateCopy action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  Json copy = dispatch::remote_copy(*workload, config_.origin, config_.plan.preemption_gates);
  dispatch::stamp(&copy, workload->metadata.uid, deps_.local.uid());
  worker->workloads.may_appear(key);
  auto created =
      co_await worker->client.create_raw(api::Workload::resource, key.ns, dump_json(copy));
  // The head start also passes when the worker refuses: the others must not wait for it for ever.
  if (deps_.local.workloads.get(key)) racing_.try_emplace(key, deps_.local.clock.steady());
  if (!created) {
    worker->note(created.error());
    if (created.error().code() == Errc::already_exists && worker->workloads.get(key)) {
      co_return ok();  // created earlier; that reply was lost
    }
    co_return created.error().within("copying to " + action.cluster);
  }
  auto stored = api::decode<api::Workload>(*created);
  if (stored) worker->workloads.observe(std::move(*stored));
  if (config_.on_dispatched) {
    const auto& admission = workload->status.admission;
    config_.on_dispatched(admission ? admission->cluster_queue : "", action.cluster);
  }
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::UpdateCopyPriority action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  const Json whole = api::to_json(*workload);
  const Json spec = whole.value("spec", Json::object());
  Json patch = Json::object();
  for (const char* field : {"priority", "priorityClassRef"}) {
    patch["spec"][field] = spec.value(field, Json());
  }
  auto written =
      co_await worker->client.patch<api::Workload>(key, kube::PatchType::merge, dump_json(patch));
  if (!written) {
    worker->note(written.error());
    co_return written.error().within("updating priority on " + action.cluster);
  }
  worker->workloads.observe(std::move(*written));
  co_return ok();
}

Task<Status> Dispatcher::write_copy(std::shared_ptr<clusters::RemoteCluster> worker,
                                    jobs::WorkloadPtr copy, api::WorkloadStatus status,
                                    std::string doing) {
  api::Workload after = *copy;
  after.status = std::move(status);
  auto written = co_await worker->client.patch_status(*copy, std::move(after));
  if (!written) {
    worker->note(written.error());
    co_return written.error().within(doing);
  }
  worker->workloads.observe(std::move(*written));
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::OpenGate action) {
  const auto worker = remote(action.cluster);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  if (!copy) co_return ok();
  co_return co_await write_copy(worker, copy, dispatch::open_gate(*copy, deps_.local.clock.now()),
                                "opening the preemption gate on " + action.cluster);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::SetNominated action) {
  const TimePoint now = deps_.local.clock.now();
  const dispatch::TellState racing{std::string(api::reasons::racing),
                                   "Worker clusters are asked to admit the workload"};
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    if (workload.status.cluster_name) return {};
    api::WorkloadStatus status = dispatch::with_state(workload, racing, now);
    status.nominated_cluster_names = action.clusters;
    return status;
  };
  co_return co_await write_workload(std::move(key), wanted);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RecordWinner action) {
  const TimePoint now = deps_.local.clock.now();
  bool recorded = false;
  const auto worker = remote(action.cluster);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  const auto wanted = [&](const api::Workload& workload) {
    auto status = dispatch::record_winner(
        workload, dispatch::multikueue_check(deps_.local.objects(), workload), action, now,
        copy.get());
    recorded = status.has_value();
    return status;
  };
  const Status done = co_await write_workload(key, wanted);
  if (!done) co_return done;
  if (!recorded) co_return Error(Errc::conflict, changed_meanwhile);
  note(key, false, action.message);
  const auto workload = deps_.local.workloads.get(key);
  if (config_.on_admitted && workload && workload->status.admission) {
    config_.on_admitted(workload->status.admission->cluster_queue, action.cluster);
  }
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::SetCheck action) {
  const TimePoint now = deps_.local.clock.now();
  const dispatch::TellState rejected{std::string(api::reasons::rejected), action.message};
  std::string said;
  const auto wanted = [&](const api::Workload& workload) {
    said.clear();
    const api::AdmissionCheckState* check =
        dispatch::multikueue_check(deps_.local.objects(), workload);
    auto status = dispatch::set_check(workload, check, action, now);
    if (!status) return status;
    said = api::find_check(&*status, check->name)->message;
    api::Workload next = workload;
    next.status = std::move(*status);
    if (!action.refused_by.empty()) {
      next.status = dispatch::with_refusal(next, action.refused_by, action.refusal, now);
    }
    if (action.state == dispatch::CheckState::rejected) {
      next.status = dispatch::with_state(next, rejected, now);
    }
    return std::optional(std::move(next.status));
  };
  const Status done = co_await write_workload(key, wanted);
  if (done && !said.empty()) note(key, action.warning, said);
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CreateJob action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  // Other writes came before this one, and a cluster may have come back meanwhile.
  if (!may_create_job(key, action.cluster)) {
    co_return Error(Errc::conflict, "the picture changed before the job was created");
  }
  REGATTA_CHECK(holds_start_lock(*workload, action.cluster),
                key.str() + " would start on " + action.cluster + ", which is not its cluster");
  const jobs::JobKind& kind = job->kind();
  Json wanted = job->remote_job(*workload, config_.origin);
  dispatch::stamp(&wanted, job->metadata().uid, deps_.local.uid());
  worker->jobs.may_appear(jobs::id_of(*job));
  auto created = co_await worker->client.create_raw(kind.resource(), key.ns, dump_json(wanted));
  if (!created) {
    worker->note(created.error());
    if (created.error().code() == Errc::already_exists) {
      co_return co_await adopt_or_note_foreign(worker, jobs::id_of(*job), created.error());
    }
    co_return created.error().within("creating job on " + action.cluster);
  }
  auto stored = worker->jobs.decode(kind, std::move(*created));
  if (stored) worker->jobs.observe(std::move(*stored));
  co_return ok();
}

bool Dispatcher::holds_start_lock(const api::Workload& workload, const std::string& cluster) const {
  const auto* check = dispatch::multikueue_check(deps_.local.objects(), workload);
  return workload.status.cluster_name == cluster && check && check->state == api::CheckState::Ready;
}

bool Dispatcher::may_create_job(const api::ObjectKey& key, const std::string& cluster) const {
  const auto workload = deps_.local.workloads.get(key);
  if (!workload || !holds_start_lock(*workload, cluster)) return false;
  const dispatch::Footing footing = dispatch::footing_of(*workload);
  if (!footing.reserved || footing.evicted || footing.finished || footing.deleting) return false;
  for (const auto& [name, member] : deps_.fleet.members()) {
    if (name == cluster) continue;
    if (requests_.under_way(name, key, WorkerVerb::create_job)) return false;
    if (member.ready() && remote_job_of(*member.remote, key, deps_.local)) return false;
  }
  return true;
}

/// A Job of that name exists on the worker: ours, from a create with a lost reply, or a foreign
/// one.
Task<Status> Dispatcher::adopt_or_note_foreign(std::shared_ptr<clusters::RemoteCluster> worker,
                                               jobs::JobId job, Error already_exists) {
  auto text = co_await worker->client.get_raw(job.kind->resource(), job.key);
  if (!text) co_return already_exists;
  auto found = worker->jobs.decode(*job.kind, std::move(*text));
  if (!found) co_return already_exists;
  const std::string label(api::labels::multikueue_origin);
  const HubIdentity identity(deps_.local, worker->name());
  if ((*found)->metadata().label(label) == config_.origin &&
      identity.may_own((*found)->metadata())) {
    worker->jobs.observe(std::move(*found));
    co_return ok();
  }
  log_.warning("a job of that name is not ours", {{"cluster", worker->name()}, {"job", job.str()}});
  foreign_.add(worker->name(), job, deps_.local.clock.steady());
  co_return already_exists;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CopyJobStatus action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  const auto theirs = remote_job_of(*worker, key, deps_.local);
  const auto copy = worker->workloads.get(key);
  const TimePoint now = deps_.local.clock.now();
  // Counts of a Job with many pods need not be copied at each change. That the Job runs, or no
  // longer runs, is copied at once.
  if (!action.final && theirs && theirs->active()) {
    const SteadyPoint here = deps_.local.clock.steady();
    const auto last = copied_.find(key);
    if (last != copied_.end() && here < last->second + status_interval) {
      queue_.add_after(key, last->second + status_interval - here);
      co_return ok();
    }
    copied_[key] = here;
  }
  // How a Job ended is made up only when it is gone, and only a connected worker tells that.
  const bool last =
      theirs ? theirs->finished().has_value() : deps_.fleet.find(action.cluster)->ready();
  if (action.final && !last) {
    co_return Error(Errc::conflict, "the last status of the job is not known yet");
  }
  const auto change = [&](const jobs::GenericJob& mine) -> std::optional<Json> {
    if (theirs) return mine.status_patch(*theirs);
    if (!action.final || !copy) return std::nullopt;
    const api::Condition* end =
        api::find_condition(copy->status.conditions, api::conditions::finished);
    if (!end) return std::nullopt;
    return mine.final_patch(end->reason == api::reasons::succeeded, end->message, now);
  };
  const Status done = co_await write_job(key, job, change);
  if (!done && done.error().code() == Errc::not_found) co_return ok();
  co_return done;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::ReleaseJob) {
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  const auto change = [](const jobs::GenericJob& mine) {
    return std::optional<Json>(mine.release_patch());
  };
  co_return co_await write_job(key, job, change);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::DeactivateRemote action) {
  const auto worker = remote(action.cluster);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  if (!copy) co_return ok();
  co_return co_await write_copy(worker, copy,
                                dispatch::deactivate(*copy, action, deps_.local.clock.now()),
                                "deactivating on " + action.cluster);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::FinishLocal action) {
  const TimePoint now = deps_.local.clock.now();
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    if (lifecycle::is_finished(workload)) return {};
    return lifecycle::finished_status(workload, action.reason, action.message, now);
  };
  co_return co_await write_workload(std::move(key), wanted);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::Confirm action) {
  if (action.cluster.empty()) {
    const Status done = co_await deps_.local.confirm(key);
    // What was read may change nothing in the cache, so the workload is planned again in any case.
    if (done) queue_.add(key);
    co_return done;
  }
  const auto worker = remote(action.cluster);
  if (!worker) co_return ok();
  const jobs::JobPtr job = owner_of(key);
  co_return co_await worker->confirm(key, job ? std::optional(jobs::id_of(*job)) : std::nullopt);
}

void Dispatcher::tell_unreadable(const api::ObjectKey& key, const dispatch::GroupView& group) {
  const auto look = [&](const std::string& place, dispatch::Certainty certainty) {
    if (certainty != dispatch::Certainty::unreadable) {
      if (!unreadable_.empty()) unreadable_.erase({key, place});
      return;
    }
    if (!unreadable_.insert({key, place}).second) return;
    const std::string what =
        place.empty() ? "The Workload or its admission check"
                      : "The copy of the Workload or its job on worker cluster \"" + place + "\"";
    log_.error("cannot be read", {{"workload", key.str()}, {"cluster", place}});
    deps_.local.events.event(
        {api::Workload::resource.api_version(), "Workload", key.ns, key.name, "", ""},
        kube::EventType::warning, "MultiKueue",
        what +
            " cannot be read: nothing is removed or started for it until it can. A newer "
            "version of Kueue may have written it; the manager's log says which field it is");
  };
  look("", group.local.certainty);
  for (const auto& [name, cluster] : group.clusters) look(name, cluster.certainty);
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::TellState action) {
  const TimePoint now = deps_.local.clock.now();
  const auto wanted = [&](const api::Workload& workload) {
    return std::optional(dispatch::with_state(workload, action, now));
  };
  co_return co_await write_workload(std::move(key), wanted);
}

void Dispatcher::note(const api::ObjectKey& key, bool warning, std::string message) {
  const auto workload = deps_.local.workloads.get(key);
  if (!workload) return;
  deps_.local.events.event(kube::reference_to(*workload),
                           warning ? kube::EventType::warning : kube::EventType::normal,
                           "MultiKueue", std::move(message));
}

}  // namespace regatta::controllers
