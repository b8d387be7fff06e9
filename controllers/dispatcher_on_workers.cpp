// What the dispatcher asks of workers. controllers/worker_requests.h carries these requests.
#include "controllers/dispatcher.h"
#include "controllers/live_slices.h"
#include "dispatch/objects.h"
#include "dispatch/parts.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "jobs/remote_object.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/check.h"
#include "lib/base/contains.h"
#include "lib/kube/object_limits.h"
#include "lib/runtime/deadline.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {
namespace {

/// So many objects of one job are written at a time.
constexpr std::size_t together_max = 8;

/// A conflict means that another object has the name by now, or that nothing was done. The watch
/// will show which, and the next plan decides.
bool gone(const Status& done) {
  return done || done.error().code() == Errc::not_found;
}

Task<> store(Task<Status> request, Status* into) {
  *into = co_await std::move(request);
}

/// Runs all of them, some at a time. The first error; those that are left are not begun then.
Task<Status> each_of(std::vector<Task<Status>> requests) {
  std::vector<Status> done(requests.size(), ok());
  for (std::size_t begin = 0; begin < requests.size(); begin += together_max) {
    const std::size_t end = std::min(requests.size(), begin + together_max);
    std::vector<Task<>> some;
    for (std::size_t i = begin; i < end; ++i) {
      some.push_back(store(std::move(requests[i]), &done[i]));
    }
    co_await all_of(std::move(some));
    for (std::size_t i = begin; i < end; ++i) {
      if (!done[i]) co_return done[i];
    }
  }
  co_return ok();
}

Task<Status> remove_object(std::shared_ptr<clusters::RemoteCluster> worker, jobs::JobPtr object) {
  kube::DeleteOptions options;
  options.uid = object->metadata().uid;
  options.propagation_policy = "Background";
  const jobs::JobId id = jobs::id_of(*object);
  const jobs::JobPtr before = worker->jobs.get(id);
  worker->job_removal_begins(*object);
  const Status done =
      co_await worker->client.remove(object->kind().resource(), object->metadata().key(), options);
  if (!gone(done)) {
    worker->note(done.error());
    co_return done.error().within("removing job on " + worker->name());
  }
  worker->removed_job(*object);
  // A watch that has fallen silent does not say so.
  if (!done) worker->jobs.observe_absent(id, before);
  co_return ok();
}

/// The copy that this name of the worker shows may win before its removal arrives, through the
/// worker's other name or with another leader.
bool may_win(const api::Workload& copy, const std::string& name, const api::Workload& workload) {
  const bool over = !lifecycle::is_reserved(workload) || lifecycle::is_evicted(workload) ||
                    lifecycle::is_finished(workload);
  const auto& recorded = workload.status.cluster_name;
  return !over && (!recorded || *recorded == name || *recorded == made_through(copy.metadata));
}

}  // namespace

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RemoveRemote action) {
  const auto worker = remote(action.cluster);
  if (!worker) co_return ok();
  const jobs::JobPtr job = remote_job_of(*worker, key, deps_.local);
  const bool others =
      job && (under_other_slice(*job, key) || is_shared(*worker, *job, key, deps_.local));
  if (job && !others) {
    std::vector<Task<Status>> removals;
    for (const jobs::JobPtr& one : jobs::objects_of(job)) {
      if (!worker->removing_job(*one)) removals.push_back(remove_object(worker, one));
    }
    const Status done = co_await each_of(std::move(removals));
    if (!done) co_return done;
  }
  const auto copy = worker->workloads.get(key);
  if (!copy || worker->removing_workload(*copy)) co_return ok();
  if (!HubIdentity(deps_.local, *worker).may_own(*copy)) co_return ok();
  const bool held = copy->metadata.has_finalizer(api::finalizers::resource_in_use);
  if (held) {
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
  // One that the worker admits in this moment takes over from the slice under which the job runs.
  const bool may_take_over = jobs::is_slice(*copy) && !lifecycle::is_reserved(*copy);
  // The worker notes in the copy that it has the Job before it starts that, so a removal that
  // arrives later is refused.
  const auto workload = deps_.local.workloads.get(key);
  const bool wins = !held && workload && may_win(*copy, action.cluster, *workload);
  if (may_take_over || wins) options.resource_version = copy->metadata.resource_version;
  worker->removal_begins(*copy);
  const Status done = co_await worker->client.remove<api::Workload>(key, options);
  if (!gone(done)) {
    worker->note(done.error());
    co_return done.error().within("removing copy on " + action.cluster);
  }
  worker->removed_workload(*copy);
  if (!done) worker->workloads.observe_absent(key, copy);
  co_return ok();
}

/// Its copies have a gate that stays closed.
bool Dispatcher::must_not_preempt(const api::Workload& workload) const {
  if (!compared_.contains(workload.metadata.key())) return false;
  const auto affinity = room_.book().affinity_of(workload);
  return affinity && !affinity->limits.may_preempt;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CreateCopy action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  // No other worker is asked for a larger slice.
  const bool only = workload->status.cluster_name == action.cluster;
  const bool gated = (config_.plan.preemption_gates && !only) || must_not_preempt(*workload);
  const std::string replaced = slice_to_replace(*worker, deps_.local, *workload);
  Json copy = dispatch::remote_copy(*workload, config_.origin, gated, replaced);
  dispatch::stamp(&copy, workload->metadata.uid, deps_.local.uid(), worker->name());
  dispatch::stamp_attempt(&copy, *workload);
  worker->workloads.may_appear(key);
  if (const jobs::JobPtr job = owner_of(key)) worker->jobs.rouse(job->kind());
  const SteadyPoint asked = deps_.local.clock.steady();
  auto created =
      co_await worker->client.create_raw(api::Workload::resource, key.ns, dump_json(copy));
  const SteadyPoint moment = deps_.local.clock.steady();
  const bool copied = created || created.error().code() == Errc::already_exists;
  head_starts_.answered(action.cluster, copied, moment - asked, moment);
  // The head start also passes when the worker refuses: the others must not wait for it for ever.
  if (deps_.local.workloads.get(key)) {
    head_starts_.begin(key, action.cluster, moment);
  }
  if (!created) {
    worker->note(created.error());
    if (created.error().code() == Errc::already_exists && worker->workloads.get(key)) {
      co_return ok();  // created earlier; that reply was lost
    }
    co_return created.error().within("copying to " + action.cluster);
  }
  auto stored = api::decode<api::Workload>(*created);
  if (stored) worker->workloads.observe(std::move(*stored), kube::counted_bytes(*created));
  if (config_.on_dispatched) {
    const auto& admission = workload->status.admission;
    config_.on_dispatched(admission ? admission->cluster_queue : "", action.cluster);
  }
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::UpdateCopy action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  if (!workload || !copy) co_return ok();
  const Json whole = api::to_json(*workload);
  const Json spec = whole.value("spec", Json::object());
  Json patch = Json::object();
  patch["metadata"]["uid"] = copy->metadata.uid;
  for (const char* field : {"priority", "priorityClassRef"}) {
    patch["spec"][field] = spec.value(field, Json());
  }
  if (jobs::is_slice(*workload)) {
    patch["spec"]["podSets"] = spec.value("podSets", Json());
    const std::string replaced = slice_to_replace(*worker, deps_.local, *workload);
    if (!replaced.empty()) {
      const std::string annotation(api::annotations::workload_slice_replacement_for);
      patch["metadata"]["annotations"][annotation] = key.ns + "/" + replaced;
    }
  }
  auto written =
      co_await worker->client.patch<api::Workload>(key, kube::PatchType::merge, dump_json(patch));
  if (!written) {
    worker->note(written.error());
    co_return written.error().within("updating copy on " + action.cluster);
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

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::CreateJob action) {
  const auto worker = remote(action.cluster);
  const auto workload = deps_.local.workloads.get(key);
  if (!worker || !workload) co_return ok();
  const jobs::JobPtr job = owner_of(key);
  if (!job) co_return ok();
  std::vector<Task<Status>> creations;
  const jobs::JobPtr there = remote_job_of(*worker, key, deps_.local);
  for (const jobs::JobPtr& one : dispatch::parts_to_create(job, there, *workload)) {
    creations.push_back(create_object(worker, key, one));
  }
  co_return co_await each_of(std::move(creations));
}

/// A copy that is left from a hub whose place this one took goes to a Job with the same mark.
std::string Dispatcher::hub_of_copy(const clusters::RemoteCluster& worker,
                                    const api::ObjectKey& key) const {
  static const std::string mark(api::annotations::hub_uid);
  const auto copy = worker.workloads.get(key);
  const bool ours = copy && HubIdentity(deps_.local, worker).may_own(*copy);
  const std::string hub = ours ? copy->metadata.annotation(mark) : std::string();
  return hub.empty() ? deps_.local.uid() : hub;
}

Task<Status> Dispatcher::create_object(std::shared_ptr<clusters::RemoteCluster> worker,
                                       api::ObjectKey key, jobs::JobPtr object) {
  const auto workload = deps_.local.workloads.get(key);
  // Other writes came before this one, and a cluster may have come back meanwhile.
  if (!workload || !may_create_job(key, worker->name())) {
    co_return Error(Errc::conflict, "the picture changed before the job was created");
  }
  REGATTA_CHECK(holds_start_lock(*workload, worker->name()),
                key.str() + " would start on " + worker->name() + ", which is not its cluster");
  const jobs::JobKind& kind = object->kind();
  Json wanted = object->remote_job(*workload, config_.origin);
  if (config_.workload_by_label) jobs::name_workload_by_label(&wanted);
  dispatch::stamp(&wanted, object->metadata().uid, hub_of_copy(*worker, key), worker->name());
  worker->jobs.may_appear(jobs::id_of(*object));
  auto created = co_await worker->client.create_raw(kind.resource(), key.ns, dump_json(wanted));
  if (!created) {
    worker->note(created.error());
    if (created.error().code() == Errc::already_exists) {
      co_return co_await adopt_or_note_foreign(worker, key, jobs::id_of(*object), created.error());
    }
    co_return created.error().within("creating job on " + worker->name());
  }
  auto stored = worker->jobs.decode(kind, std::move(*created));
  if (stored) worker->jobs.observe(std::move(*stored));
  co_return ok();
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::UpdateJob action) {
  const auto worker = remote(action.cluster);
  const jobs::JobPtr there = worker ? remote_job_of(*worker, key, deps_.local) : nullptr;
  const jobs::JobPtr job = owner_of(key);
  const auto workload = deps_.local.workloads.get(key);
  if (!there || !job || !workload) co_return ok();
  const Json patch =
      dispatch::job_update(*job, *there, *workload, named_slice_is_over(deps_.local, *there));
  if (patch.empty()) co_return ok();
  const jobs::JobKind& kind = there->kind();
  auto written = co_await worker->client.patch_raw(kind.resource(), there->metadata().key(),
                                                   kube::PatchType::merge, dump_json(patch));
  if (!written) {
    worker->note(written.error());
    Error error = written.error().within("updating job on " + action.cluster);
    if (error.code() == Errc::denied) note(key, true, error.what());
    co_return error;
  }
  auto stored = worker->jobs.decode(kind, std::move(*written));
  if (stored) worker->jobs.observe(std::move(*stored));
  co_return ok();
}

/// The cache of the hub may be behind, so each object is asked for before its namesake goes.
Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::RemoveStrays action) {
  const auto worker = remote(action.cluster);
  const jobs::JobPtr there = worker ? remote_job_of(*worker, key, deps_.local) : nullptr;
  const jobs::JobPtr job = owner_of(key);
  if (!there || !job) co_return ok();
  std::vector<Task<Status>> removals;
  for (const jobs::JobPtr& one : strays_on(*worker, deps_.local, there, job)) {
    removals.push_back(remove_stray(worker, one));
  }
  co_return co_await each_of(std::move(removals));
}

Task<Status> Dispatcher::remove_stray(std::shared_ptr<clusters::RemoteCluster> worker,
                                      jobs::JobPtr object) {
  const auto found = co_await deps_.local.fetch_job(jobs::id_of(*object));
  if (!found) co_return found.error();
  if (*found) {
    const api::ObjectMeta& ours = (*found)->metadata();
    const HubIdentity identity(deps_.local, *worker);
    if (!ours.deleting() && !identity.of_another_life(object->metadata(), ours.uid)) co_return ok();
  }
  co_return co_await remove_object(worker, object);
}

bool Dispatcher::holds_start_lock(const api::Workload& workload, const std::string& cluster) const {
  const auto* check = dispatch::multikueue_check(deps_.local.objects(), workload.status);
  return workload.status.cluster_name == cluster && check && check->state == api::CheckState::Ready;
}

bool Dispatcher::may_create_job(const api::ObjectKey& key, const std::string& cluster) const {
  const auto workload = deps_.local.workloads.get(key);
  if (!workload || !holds_start_lock(*workload, cluster)) return false;
  const dispatch::Footing footing = dispatch::footing_of(*workload);
  if (!footing.reserved || footing.evicted || footing.finished || footing.deleting) return false;
  // An earlier slice of an elastic job may have asked a worker for it.
  std::vector<api::ObjectKey> asked{key};
  if (jobs::is_slice(*workload)) asked = slices_of(*workload);
  for (const api::ObjectKey& one : asked) {
    if (requests_.under_way_elsewhere(cluster, one, WorkerVerb::create_job)) return false;
  }
  const std::set<std::string> holders = may_hold(deps_.fleet, key, owner_of(key));
  return std::none_of(holders.begin(), holders.end(), [&](const std::string& name) {
    const auto* member = name == cluster ? nullptr : deps_.fleet.find(name);
    if (!member || !member->ready()) return false;
    const jobs::JobPtr there = remote_job_of(*member->remote, key, deps_.local);
    return there && member->follows(there->kind());
  });
}

/// A Job of that name exists on the worker: ours, from a create with a lost reply, or a foreign
/// one, or that of an earlier Workload of the name, which is removed for that Workload.
Task<Status> Dispatcher::adopt_or_note_foreign(std::shared_ptr<clusters::RemoteCluster> worker,
                                               api::ObjectKey workload, jobs::JobId job,
                                               Error already_exists) {
  auto text = co_await worker->client.get_raw(job.kind->resource(), job.key);
  if (!text) co_return already_exists;
  auto found = worker->jobs.decode(*job.kind, std::move(*text));
  if (!found) co_return already_exists;
  const std::string label(api::labels::multikueue_origin);
  const HubIdentity identity(deps_.local, *worker);
  if ((*found)->metadata().label(label) == config_.origin && identity.may_own(**found)) {
    const bool wanted = contains(jobs::workloads_of_copy(**found), workload.name);
    worker->jobs.observe(std::move(*found));
    if (wanted) co_return ok();
    co_return already_exists;
  }
  log_.warning("a job of that name is not ours", {{"cluster", worker->name()}, {"job", job.str()}});
  foreign_.add(worker->name(), job, deps_.local.clock.steady());
  co_return already_exists;
}

Task<Status> Dispatcher::run(api::ObjectKey key, dispatch::DeactivateRemote action) {
  const auto worker = remote(action.cluster);
  const auto copy = worker ? worker->workloads.get(key) : nullptr;
  if (!copy) co_return ok();
  co_return co_await write_copy(worker, copy,
                                dispatch::deactivate(*copy, action, deps_.local.clock.now()),
                                "deactivating on " + action.cluster);
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
  std::vector<jobs::JobId> objects;
  if (const jobs::JobPtr job = owner_of(key)) {
    for (const jobs::JobPtr& one : jobs::objects_of(job)) objects.push_back(jobs::id_of(*one));
  }
  if (action.job_anew) co_return co_await worker->read_anew(std::move(objects));
  co_return co_await worker->confirm(key, std::move(objects));
}

}  // namespace regatta::controllers
