#include "controllers/dispatcher.h"

#include "controllers/live_slices.h"
#include "dispatch/objects.h"
#include "dispatch/order.h"
#include "dispatch/parts.h"
#include "dispatch/ranking.h"
#include "jobs/composed_job.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/kube/status.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

/// What kind of request to a worker an action is; nullopt when it goes to the hub.
std::optional<WorkerVerb> verb_of(const dispatch::Action& action) {
  if (std::holds_alternative<dispatch::RemoveRemote>(action)) return WorkerVerb::remove;
  if (std::holds_alternative<dispatch::CreateCopy>(action)) return WorkerVerb::create_copy;
  if (std::holds_alternative<dispatch::CreateJob>(action)) return WorkerVerb::create_job;
  if (std::holds_alternative<dispatch::OpenGate>(action)) return WorkerVerb::open_gate;
  if (std::holds_alternative<dispatch::UpdateCopy>(action) ||
      std::holds_alternative<dispatch::UpdateJob>(action) ||
      std::holds_alternative<dispatch::DeactivateRemote>(action) ||
      std::holds_alternative<dispatch::RemoveStrays>(action)) {
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

/// So often, at most, workloads that wait are planned again because workers have other room; and so
/// many of them at a time.
constexpr Duration room_interval{500};
constexpr std::size_t room_batch = 100;
/// So often, at most, workloads are planned again because workers come and go: a thousand of them
/// may do so at once.
constexpr Duration connections_interval{100};
constexpr Duration next_look_at_unreadable = std::chrono::minutes(1);

/// Index of the hub's Workloads by the recorded cluster, "" for those that wait for one.
constexpr const char* by_place = "place";

std::vector<std::string> place_of(const api::Workload& workload) {
  const api::WorkloadStatus& status = workload.status;
  const bool finished = api::is_true(status.conditions, api::conditions::finished);
  // What is left of an ended one on a worker is found there.
  if (status.admission_checks.empty() || finished) return {};
  if (status.cluster_name) return {*status.cluster_name};
  const bool asks = api::is_true(status.conditions, api::conditions::quota_reserved);
  if (!asks && !workload.metadata.deleting()) return {};
  return {std::string()};
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
      room_(deps.local, deps.fleet, config_.plan),
      connection_changed_(deps.scope.executor()),
      room_changed_(deps.scope.executor()),
      head_starts_(config_.plan.head_start),
      requests_(
          {deps.local.clock, deps.scope, log_,
           [this](const api::ObjectKey& key, Duration after) { queue_.add_after(key, after); },
           [this](const std::string& cluster) {
             if (const auto worker = remote(cluster)) worker->suspect();
           }}),
      queue_(deps.local.clock, deps.scope, Backoff{Duration(20), std::chrono::seconds(30)},
             Intake::closed) {
  clusters::LocalCluster& local = deps_.local;
  local.workloads.on_transition([this](const api::ObjectKey& key, const jobs::WorkloadPtr& before,
                                       const jobs::WorkloadPtr& after) {
    wake_followers(before, after);
    wake_slices(before, after);
    if (!after) {
      copied_.erase(key);
      refused_status_.erase(key);
      without_quota_.erase(key);
      compared_.erase(key);
      requests_.forget(key);
      watch_.forget();
    }
    queue_.add(key);
  });
  local.jobs.on_change([this](const jobs::JobId& job) { wake_workloads_of(job); });
  // A hub that went back to an older state may lack the size that the job there names, while
  // another size waits for that job.
  deps_.fleet.on_elastic([this](const jobs::JobId& job) { wake_workloads_of(job); });
  local.workloads.add_index(by_place, place_of);
  local.checks.on_transition([this](const auto&, const auto& before, const auto& after) {
    // Whether a check is Active is told of workers, which tell of themselves.
    const bool same = before && after &&
                      before->metadata.generation == after->metadata.generation &&
                      before->metadata.annotations == after->metadata.annotations &&
                      before->metadata.deleting() == after->metadata.deleting();
    if (!same) enqueue_all();
  });
  // Nothing was done for their workloads meanwhile.
  local.checks.on_unreadable([this](const auto&) { enqueue_all(); });
  local.selection.on_change([this] { enqueue_all(); });
  deps_.fleet.on_workload([this](const std::string& cluster, const api::ObjectKey& key) {
    wake_slices(cluster, key);
    rouse_for_other_name(cluster, key);
    // The garbage collection removes copies that have no Workload on the hub; it looks twice first.
    if (deps_.local.workloads.get(key)) queue_.add(key);
  });
  deps_.fleet.on_credentials([this](const std::string& name) { requests_.allowed_anew(name); });
  deps_.fleet.on_connection([this](const std::string& cluster) {
    requests_.allowed_anew(cluster);
    watch_.look(cluster);
    connections_.insert(cluster);
    connection_changed_.notify_all();
  });
  // The operator allows removals, or adopts another hub's objects.
  local.multikueue_clusters.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        if (!before || !after) return;
        const bool labels = room_.in_use() && before->metadata.labels != after->metadata.labels;
        if (!labels && before->metadata.annotations == after->metadata.annotations) return;
        watch_.look(key.name);
        enqueue_all();
        enqueue_of({key.name});
      });
}

/// The job of a copy that was made through another name of this worker will be there, too.
void Dispatcher::rouse_for_other_name(const std::string& cluster, const api::ObjectKey& workload) {
  const auto worker = remote(cluster);
  const auto copy = worker ? worker->workloads.get(workload) : nullptr;
  if (!copy) return;
  const std::string& through = made_through(copy->metadata);
  if (through.empty() || through == cluster) return;
  if (const jobs::JobPtr job = owner_of(workload)) worker->jobs.rouse(job->kind());
}

void Dispatcher::wake_workloads_of(const jobs::JobId& job) {
  const std::string owner = clusters::owner_name(job);
  for (const auto& key : deps_.local.workloads.keys_by_index(clusters::by_owner, owner)) {
    queue_.add(key);
  }
}

/// The cluster of one Workload of a job decides where the others go.
void Dispatcher::wake_followers(const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& after) {
  const jobs::WorkloadPtr& either = after ? after : before;
  if (!either || !jobs::group_index_of(*either)) return;
  const auto cluster = [](const jobs::WorkloadPtr& one) {
    return one ? one->status.cluster_name : std::nullopt;
  };
  if (after && cluster(before) == cluster(after)) return;
  const auto parent = jobs::parent_of(deps_.local.jobs.kinds(), *either);
  if (parent) wake_workloads_of(*parent);
}

std::vector<api::ObjectKey> Dispatcher::slices_of(const api::Workload& slice) const {
  const api::OwnerReference* owner = slice.metadata.controller();
  const jobs::JobKind* kind = owner ? deps_.local.jobs.kinds().find(*owner) : nullptr;
  if (!kind) return {slice.metadata.key()};
  const std::string name = clusters::owner_name({kind, {slice.metadata.ns, owner->name}});
  const auto& keys = deps_.local.workloads.keys_by_index(clusters::by_owner, name);
  return {keys.begin(), keys.end()};
}

/// When one slice loses or gets its place, it is another's turn.
void Dispatcher::wake_slices(const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& after) {
  const jobs::WorkloadPtr& either = after ? after : before;
  if (!either || !jobs::is_slice(*either)) return;
  const bool same =
      before && after && dispatch::footing_of(*before) == dispatch::footing_of(*after);
  if (same) return;
  for (const api::ObjectKey& key : slices_of(*either)) queue_.add(key);
}

/// While a larger slice waits for the worker, the job there names an earlier one, and goes with it.
void Dispatcher::wake_slices(const std::string& cluster, const api::ObjectKey& workload) {
  if (const auto known = deps_.local.workloads.get(workload)) {
    if (!jobs::is_slice(*known)) return;
    for (const api::ObjectKey& key : slices_of(*known)) queue_.add(key);
    return;
  }
  const auto worker = remote(cluster);
  if (!worker) return;
  const HubIdentity identity(deps_.local, *worker);
  for (const jobs::JobPtr& job : worker->jobs.by_index(clusters::by_workload, workload.str())) {
    if (!jobs::is_marked_elastic(*job)) continue;
    for (const auto& key : slices_on_hub(*job, deps_.local, identity)) queue_.add(key);
  }
}

void Dispatcher::start() {
  leading_since_ = deps_.local.clock.steady();
  queue_.open();
  room_.on_room = [this](const std::string&) {
    if (!std::exchange(room_news_, true)) room_changed_.notify_all();
  };
  room_.start();
  deps_.scope.spawn("room", follow_room());
  enqueue_all();
  deps_.scope.spawn("connections", follow_connections());
  deps_.scope.spawn("hearing", end_hearing());
  for (int i = 0; i < config_.workers; ++i) deps_.scope.spawn("dispatch", work());
  if (config_.gc_interval > Duration(0)) deps_.scope.spawn("garbage", collect_garbage());
}

void Dispatcher::enqueue_all() {
  for (const auto& workload : deps_.local.workloads.list()) {
    if (!workload->status.admission_checks.empty()) queue_.add(workload->metadata.key());
  }
}

Task<> Dispatcher::end_hearing() {
  co_await deps_.local.clock.sleep_for(config_.plan.hear_within);
  if (deps_.fleet.heard_all()) co_return;
  for (const auto& workload : deps_.local.workloads.list()) {
    const api::Conditions& all = workload->status.conditions;
    const bool held = api::is_true(all, api::conditions::evicted) &&
                      api::is_true(all, api::conditions::quota_reserved);
    if (held) queue_.add(workload->metadata.key());
  }
}

void Dispatcher::enqueue_of(const std::set<std::string>& clusters) {
  const auto& workloads = deps_.local.workloads;
  for (const api::ObjectKey& key : workloads.keys_by_index(by_place, "")) queue_.add(key);
  for (const std::string& cluster : clusters) {
    for (const api::ObjectKey& key : workloads.keys_by_index(by_place, cluster)) queue_.add(key);
    const auto* member = deps_.fleet.find(cluster);
    if (!member) enqueue_ended_on(cluster);
    if (member && member->ready()) enqueue_held(*member->remote);
  }
}

/// The end of a job that only a worker knew is told by its Workload when that worker is gone.
void Dispatcher::enqueue_ended_on(const std::string& cluster) {
  for (const auto& workload : deps_.local.workloads.list()) {
    const api::WorkloadStatus& status = workload->status;
    const bool finished = api::is_true(status.conditions, api::conditions::finished);
    if (finished && status.cluster_name == cluster) queue_.add(workload->metadata.key());
  }
}

/// Of what the worker has, the hub may have ended the workloads meanwhile.
void Dispatcher::enqueue_held(const clusters::RemoteCluster& worker) {
  if (worker.jobs.any_unreadable()) return enqueue_all();
  for (const auto& copy : worker.workloads.list()) queue_.add(copy->metadata.key());
  for (const auto& [key, error] : worker.workloads.undecodable()) queue_.add(key);
  const HubIdentity identity(deps_.local, worker);
  for (const jobs::JobPtr& job : worker.jobs.list()) {
    for (std::string& name : jobs::workloads_of_copy(*job)) {
      queue_.add(api::ObjectKey(job->metadata().ns, std::move(name)));
    }
    if (!jobs::is_marked_elastic(*job)) continue;
    for (const auto& key : slices_on_hub(*job, deps_.local, identity)) queue_.add(key);
  }
}

Task<> Dispatcher::follow_connections() {
  for (;;) {
    while (connections_.empty()) co_await connection_changed_.wait();
    enqueue_of(std::exchange(connections_, {}));
    // What waited for the last of the workers goes on.
    if (!heard_all_ && deps_.fleet.heard_all()) {
      heard_all_ = true;
      enqueue_all();
    }
    co_await deps_.local.clock.sleep_for(connections_interval);
  }
}

jobs::JobPtr Dispatcher::owner_of(const api::ObjectKey& workload) const {
  const auto found = deps_.local.workloads.get(workload);
  return found ? jobs::owner_of(deps_.local.objects(), *found) : nullptr;
}

std::shared_ptr<clusters::RemoteCluster> Dispatcher::remote(const std::string& cluster) const {
  const auto* member = deps_.fleet.find(cluster);
  return member ? member->remote : nullptr;
}

void Dispatcher::nominate_first(const api::Workload& workload, api::WorkloadStatus* status) {
  if (!status->nominated_cluster_names.empty() || status->cluster_name) return;
  const jobs::Lookup& hub = deps_.local.objects();
  const api::AdmissionCheckState* check = dispatch::multikueue_check(hub, *status);
  const auto config = check ? dispatch::config_of(hub, check->name) : nullptr;
  if (!config) return;
  if (const auto place = dispatch::place_of_replaced(hub, workload)) {
    status->cluster_name = *place;
    return;
  }
  dispatch::GroupView group;
  group.local.dispatcher = dispatch::named_dispatcher(hub, check->name);
  const auto& states = status->admission_checks;
  group.local.placed = std::any_of(states.begin(), states.end(), [&](const auto& state) {
    return dispatch::names_placement(hub, state.name);
  });
  const TimePoint now = deps_.local.clock.now();
  group.local.quota_reserved_at = now;
  group.local.uid = workload.metadata.uid;
  group.local.follows = dispatch::followed_cluster(hub, workload);
  const bool compares = room_.compares(group.local);
  const bool many = config->spec.clusters.size() > placement::nominated_max;
  const jobs::JobPtr job = compares || many ? jobs::owner_of(hub, workload) : nullptr;
  if (many && !compares) group.roster = workers_.roster(config, job ? &job->kind() : nullptr);
  if (!group.roster) group.config_order = config->spec.clusters;
  if (!group.roster && !compares) {
    for (const std::string& name : group.config_order) {
      const auto* member = deps_.fleet.find(name);
      dispatch::ClusterView& view = group.clusters[name];
      view.connected = member && member->ready();
      if (job && member && member->remote) {
        view.kind_served = member->remote->jobs.serves(job->kind());
      }
    }
  }
  if (compares) {
    group.comparison = room_.book().comparison(workload, *status, group.config_order);
    const dispatch::Refusals refusals = dispatch::refusals_of(workload);
    if (refusals.until > now) group.local.refused_by = refusals.clusters;
    group.local.refused_until = refusals.until;
  }
  const dispatch::SetNominated first = dispatch::nomination_of(group, now, config_.plan).nominated;
  status->nominated_cluster_names = first.clusters;
  if (first.clusters.empty()) return;
  if (group.comparison) room_.nominate(workload, *status, first.clusters);
  // Nothing is sent before the other checks are Ready.
  if (!dispatch::other_checks_ready(hub, *status, check)) return;
  dispatch::set_state(status, workload.metadata.generation, dispatch::racing_state(first), now);
}

bool Dispatcher::may_still_run(const api::ObjectKey& key) const {
  const TimePoint now = deps_.local.clock.now();
  dispatch::GroupView group =
      dispatch::read_group(deps_.local.objects(), workers_, foreign_, key, now, config_.plan);
  add_leading(now, &group.local);
  return dispatch::may_still_run(group, now, config_.plan);
}

void Dispatcher::add_leading(TimePoint now, dispatch::LocalView* local) const {
  // Jobs are looked at before start().
  const SteadyPoint steady = deps_.local.clock.steady();
  const Duration leading = steady - leading_since_.value_or(steady);
  local->leading_since = now - leading;
  local->unheard = leading < config_.plan.hear_within && !deps_.fleet.heard_all();
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
    for (const auto& [name, member] : deps_.fleet.members()) {
      if (!member.ready()) continue;
      watch_.look(name);
      const auto over = [](const jobs::WorkloadPtr& workload) {
        return !workload || workload->metadata.deleting() || lifecycle::is_finished(*workload);
      };
      for (const auto& copy : member.remote->workloads.list()) {
        const api::ObjectKey key = copy->metadata.key();
        if (over(deps_.local.workloads.get(key))) queue_.add(key);
      }
      for (const auto& job : member.remote->jobs.list()) {
        const std::vector<std::string> names = jobs::workloads_of_copy(*job);
        bool known = false;
        for (const std::string& name : names) {
          const api::ObjectKey key(job->metadata().ns, name);
          const jobs::WorkloadPtr workload = deps_.local.workloads.get(key);
          known = known || workload || member.remote->workloads.get(key);
          // The brake may have held until now.
          const bool left = workload && (over(workload) || dispatch::never_sent(*workload));
          if (left) queue_.add(key);
        }
        // Of a job that may have several only those count that are somewhere.
        if (!known && !names.empty() && !names.front().empty()) {
          queue_.add({job->metadata().ns, names.front()});
        }
      }
    }
  }
}

void Dispatcher::add_attempts(const api::ObjectKey& key, TimePoint now,
                              dispatch::GroupView* group) {
  dispatch::LocalView& local = group->local;
  const bool over =
      local.deleted || local.finished || !local.quota_reserved || !local.cluster_name.empty();
  const SteadyPoint moment = deps_.local.clock.steady();
  if (over) head_starts_.end(key);
  if (const auto asked = requests_.oldest(key, WorkerVerb::create_copy); asked && !over) {
    // The watch may show the copy before the answer comes. The head start begins then.
    if (const std::string* first = dispatch::any_copy(*group)) {
      head_starts_.begin(key, *first, moment);
    } else if (moment - asked->since >= head_starts_.patience(asked->worker)) {
      head_starts_.give_up(key, asked->worker, asked->since, moment);
    }
  }
  head_starts_.add_to(group, key, now, moment);
  for (auto& [name, view] : group->clusters) {
    view.reading = failing(name, key, WorkerVerb::read, now);
    if (local.evicted) view.stopping = failing(name, key, WorkerVerb::edit, now);
    const bool asks = !over || (local.takes_over && !local.finished && !local.evicted);
    if (!asks || view.copy) continue;
    view.busy = requests_.full(name);
    view.copying = failing(name, key, WorkerVerb::create_copy, now);
  }
  // What failed in an earlier attempt is no reason to end the next one.
  if (local.cluster_name.empty()) return requests_.forget(key, WorkerVerb::create_job);
  if (!local.takes_over) requests_.forget(key, WorkerVerb::create_copy);
  const auto host = group->clusters.find(local.cluster_name);
  if (host == group->clusters.end()) return;
  // A creation whose answer was lost had happened.
  if (host->second.job == dispatch::RemoteJob::ours && !host->second.job_incomplete) {
    return requests_.forget(key, WorkerVerb::create_job);
  }
  host->second.creating_job = failing(host->first, key, WorkerVerb::create_job, now);
  if (!host->second.creating_job) return;
  const auto* failed = requests_.failure(host->first, key, WorkerVerb::create_job);
  // The request that is under way may succeed.
  if (requests_.under_way(host->first, key, WorkerVerb::create_job)) return;
  // A worker that fails for longer than it may be lost refuses the job, too.
  const Duration past = now - host->second.creating_job->since;
  if (kube::is_refusal(failed->error) || past >= config_.plan.worker_lost_timeout) {
    host->second.job_refused = failed->error.what();
  }
}

std::optional<dispatch::Failing> Dispatcher::failing(const std::string& cluster,
                                                     const api::ObjectKey& key, WorkerVerb verb,
                                                     TimePoint now) const {
  const auto* failed = requests_.failure(cluster, key, verb);
  if (!failed || failed->error.code() == Errc::conflict) return std::nullopt;
  const Duration past = deps_.local.clock.steady() - failed->first;
  return dispatch::Failing{now - past, failed->error.what()};
}

/// Which gates may be open although no copy shows it. Only a worker that waits for its gate makes a
/// difference.
void Dispatcher::add_gates(const api::ObjectKey& key, dispatch::GroupView* group) const {
  const bool awaited = std::any_of(group->clusters.begin(), group->clusters.end(), [](auto& one) {
    return one.second.copy && one.second.copy->blocked_since;
  });
  if (!awaited) return;
  for (auto& [name, view] : group->clusters) {
    if (!view.copy) continue;
    const auto* failed = requests_.failure(name, key, WorkerVerb::open_gate);
    view.copy->gate_opening = requests_.under_way(name, key, WorkerVerb::open_gate) ||
                              (failed && unanswered(failed->error));
  }
}

bool Dispatcher::waits_for_former(const api::ObjectKey& key) const {
  if (planned_.empty()) return false;
  const auto workload = deps_.local.workloads.get(key);
  if (!workload || workload->status.cluster_name || !jobs::is_slice(*workload)) return false;
  const auto former = jobs::find_replaced(deps_.local.objects(), *workload);
  return former && planned_.contains(former->metadata.key());
}

Task<Status> Dispatcher::reconcile(api::ObjectKey key) {
  if (waits_for_former(key)) {
    queue_.add_after(key, Duration(100));
    co_return ok();
  }
  const TimePoint now = deps_.local.clock.now();
  foreign_.expire(deps_.local.clock.steady());
  dispatch::GroupView group =
      dispatch::read_group(deps_.local.objects(), workers_, foreign_, key, now, config_.plan);
  complete(key, now, &group);
  const bool held = group.local.evicted && group.local.quota_reserved;
  if (held && config_.on_stopped && !dispatch::may_still_run(group, now, config_.plan)) {
    config_.on_stopped(key);
  }
  dispatch::Plan todo = config_.planner(group, now, config_.plan);
  claim(key, todo);
  if (!todo.actions.empty() && log_.enabled(LogLevel::debug)) {
    log_.debug("plan", {{"workload", key.str()}, {"actions", dispatch::describe(todo)}});
  }
  const std::optional<Duration> look_again = todo.look_again;
  look_at_foreign(key, group);
  if (const auto workload = deps_.local.workloads.get(key)) {
    planned_[key] = dispatch::footing_of(*workload);
  }
  const Status done = co_await apply_all(key, group.local, std::move(todo.actions));
  planned_.erase(key);
  if (look_again) queue_.add_after(key, *look_again);
  co_return done;
}

/// No watch tells that a job is gone which is not ours. The worker is tried again in its time.
void Dispatcher::look_at_foreign(const api::ObjectKey& key, const dispatch::GroupView& group) {
  const bool in_the_way = !group.with_foreign_job.empty() ||
                          std::any_of(group.clusters.begin(), group.clusters.end(), [](auto& one) {
                            return one.second.job == dispatch::RemoteJob::foreign;
                          });
  const auto end = in_the_way ? foreign_.next_end() : std::nullopt;
  if (end) queue_.add_after(key, *end - deps_.local.clock.steady());
}

/// `now` is the moment of the plan, also when reading took a while: what ends now has ended.
void Dispatcher::complete(const api::ObjectKey& key, TimePoint now, dispatch::GroupView* group) {
  dispatch::LocalView& local = group->local;
  local.certainty = certainty_on_hub(deps_.local, key);
  add_leading(now, &local);
  add_brake(key, group);
  add_gates(key, group);
  add_attempts(key, now, group);
  add_comparison(key, group);
  add_quota_loss(key, group);
  if (const auto refused = refused_status_.find(key); refused != refused_status_.end()) {
    const Duration past = deps_.local.clock.steady() - refused->second.since;
    local.status_refused = dispatch::Failing{now - past, refused->second.why};
  }
  tell_unreadable(key, now, group);
}

void Dispatcher::add_quota_loss(const api::ObjectKey& key, dispatch::GroupView* group) {
  const auto worker = group->clusters.find(group->local.cluster_name);
  if (worker == group->clusters.end() || !worker->second.job_without_quota) {
    without_quota_.erase(key);
    return;
  }
  const SteadyPoint now = deps_.local.clock.steady();
  worker->second.job_without_quota_for = now - without_quota_.try_emplace(key, now).first->second;
}

void Dispatcher::add_comparison(const api::ObjectKey& key, dispatch::GroupView* group) {
  const bool compared = dispatch::is_compared(group->local, config_.plan);
  const auto workload = compared ? deps_.local.workloads.get(key) : nullptr;
  if (!workload) {
    if (!compared_.empty()) compared_.erase(key);
    return;
  }
  compared_.insert(key);
  const auto compare = [&](const std::vector<std::string>& clusters) {
    group->comparison = room_.book().comparison(*workload, workload->status, clusters);
  };
  const std::vector<std::string>& nominated = group->local.nominated;
  if (group->config_order.size() > placement::nominated_max && !nominated.empty()) {
    compare(nominated);
    group->unchanged = dispatch::unchanged_of(*group, deps_.local.clock.now(), config_.plan);
    if (group->unchanged) return;
  }
  compare(group->config_order);
}

/// Workloads that are planned before this nomination is written know of it.
void Dispatcher::claim(const api::ObjectKey& key, const dispatch::Plan& todo) {
  if (!room_.in_use()) return;
  const auto workload = deps_.local.workloads.get(key);
  for (const dispatch::Action& action : todo.actions) {
    const auto* nominated = std::get_if<dispatch::SetNominated>(&action);
    if (nominated && workload) room_.nominate(*workload, workload->status, nominated->clusters);
  }
}

Task<> Dispatcher::follow_room() {
  api::ObjectKey last;
  for (;;) {
    while (!room_news_) co_await room_changed_.wait();
    room_news_ = false;
    // Those that were not looked at have their turn with the next news, which a worker that admits
    // or ends anything brings.
    auto next = compared_.upper_bound(last);
    for (std::size_t i = 0; i < std::min(room_batch, compared_.size()); ++i) {
      if (next == compared_.end()) next = compared_.begin();
      last = *next++;
      queue_.add(last);
    }
    co_await deps_.local.clock.sleep_for(room_interval);
  }
}

/// Asks whether the brake holds only where the hub has lost something.
void Dispatcher::add_brake(const api::ObjectKey& key, dispatch::GroupView* group) {
  const auto& workloads = deps_.local.workloads;
  const auto workload = workloads.get(key);
  const bool vanished = !workload && workloads.absence(key) != kube::Absence::deleted;
  const bool unsent = workload && dispatch::never_sent(*workload);
  if (!vanished && !unsent) return;
  for (auto& [name, view] : group->clusters) {
    const bool runs = view.job == dispatch::RemoteJob::ours && !view.job_ended;
    if (!vanished && !runs) continue;
    const auto worker = remote(name);
    const jobs::JobPtr job = runs && worker ? remote_job_of(*worker, key, deps_.local) : nullptr;
    const auto parts = job ? jobs::objects_of(job) : std::vector<jobs::JobPtr>();
    const bool lost = vanished || std::any_of(parts.begin(), parts.end(), [&](const auto& one) {
                        return record_lost(deps_.local, *one, key);
                      });
    if (lost) view.removals_held = watch_.holds_removals(name);
  }
}

/// Requests to workers are only started here. What depends on the outcome of one is left to the
/// turn that follows it.
Task<Status> Dispatcher::apply_all(api::ObjectKey key, const dispatch::LocalView& planned,
                                   std::vector<dispatch::Action> actions) {
  std::set<std::string> stopping;
  for (dispatch::Action& action : actions) {
    if (dispatch::waits_for(action, stopping, planned)) break;
    if (!verb_of(action)) {
      const Status done = co_await apply_one(key, std::move(action));
      if (!done) co_return done;
      continue;
    }
    if (const std::string* cluster = dispatch::stops_job_on(action)) stopping.insert(*cluster);
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
  if (is_created(*worker, key)) requests_.settle(cluster, key, WorkerVerb::create_job);
  const auto* removal = std::get_if<dispatch::RemoveRemote>(&action);
  if (const auto copy = worker->workloads.get(key); copy && removal && removal->useless) {
    requests_.made_useless(cluster, key, WorkerVerb::create_copy, copy->metadata.uid,
                           Error(Errc::invalid,
                                 "the copy was changed, stopped or ended there "
                                 "before it was admitted"));
  }
  // Edits are observed, and what is observed wakes. What was read may change nothing in the caches.
  const bool wake =
      (verb == WorkerVerb::remove && dispatch::stops_job_on(action)) || verb == WorkerVerb::read;
  requests_.send(cluster, key, verb, apply_one(key, std::move(action)), wake);
}

bool Dispatcher::is_created(const clusters::RemoteCluster& worker,
                            const api::ObjectKey& workload) const {
  const jobs::JobPtr there = remote_job_of(worker, workload, deps_.local);
  if (!there || !there->composed()) return there != nullptr;
  const auto found = deps_.local.workloads.get(workload);
  const jobs::JobPtr job = found ? jobs::owner_of(deps_.local.objects(), *found) : nullptr;
  return !job || dispatch::parts_to_create(job, there, *found).empty();
}

Task<Status> Dispatcher::apply_one(api::ObjectKey key, dispatch::Action action) {
  return std::visit([&](auto&& a) { return run(key, std::forward<decltype(a)>(a)); },
                    std::move(action));
}

void Dispatcher::tell_unreadable(const api::ObjectKey& key, TimePoint now,
                                 dispatch::GroupView* group) {
  const SteadyPoint moment = deps_.local.clock.steady();
  const auto known = unreadable_.find(key);
  const std::map<std::string, SteadyPoint> before =
      known == unreadable_.end() ? std::map<std::string, SteadyPoint>() : known->second;
  std::map<std::string, SteadyPoint> after;
  const auto look = [&](const std::string& place, dispatch::Certainty certainty,
                        const std::string& what) -> std::optional<TimePoint> {
    if (certainty != dispatch::Certainty::unreadable) return std::nullopt;
    const auto earlier = before.find(place);
    const SteadyPoint since = earlier == before.end() ? moment : earlier->second;
    after[place] = since;
    if (earlier != before.end()) return now - (moment - since);
    log_.error("cannot be read", {{"workload", key.str()}, {"cluster", place}});
    deps_.local.events.event(
        {api::Workload::resource.api_version(), "Workload", key.ns, key.name, "", ""},
        kube::EventType::warning, "MultiKueue",
        what +
            " cannot be read: nothing is removed or started for it until it can. A newer "
            "version of Kueue may have written it, or this hub under another origin, or another "
            "hub has it by now; the manager's log says which field it is");
    return now;
  };
  look("", group->local.certainty, "The Workload or its admission check");
  for (auto& [name, cluster] : group->clusters) {
    const char* what = cluster.unknown ? "The MultiKueueCluster of worker cluster \""
                                       : "The copy of the Workload or its job on worker cluster \"";
    cluster.unreadable_since = look(name, cluster.certainty, what + name + "\"");
  }
  if (after.empty()) {
    if (known != unreadable_.end()) unreadable_.erase(known);
    return;
  }
  unreadable_[key] = std::move(after);
  // Nothing tells when such an object goes.
  queue_.add_after(key, next_look_at_unreadable);
}

void Dispatcher::note(const api::ObjectKey& key, bool warning, std::string message) {
  const auto workload = deps_.local.workloads.get(key);
  if (!workload) return;
  deps_.local.events.event(kube::reference_to(*workload),
                           warning ? kube::EventType::warning : kube::EventType::normal,
                           "MultiKueue", std::move(message));
}

}  // namespace regatta::controllers
