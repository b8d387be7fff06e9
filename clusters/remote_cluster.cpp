#include "clusters/remote_cluster.h"

#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/template_pool.h"
#include "lib/base/contains.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/deadline.h"

#include <set>

namespace regatta::clusters {
namespace {

/// A kind without jobs on the worker is listed so rarely in the end.
constexpr Duration rest_of_kinds = std::chrono::minutes(10);
constexpr Duration removal_belief = std::chrono::seconds(5);
/// How long a probe waits for its answer.
constexpr Duration probe_wait = std::chrono::seconds(3);

/// The status of what serves is no news for the hub, and it may have many Workloads.
bool only_serves_on(const jobs::JobPtr& before, const jobs::JobPtr& after) {
  if (!before || !after || !after->serving()) return false;
  const api::ObjectMeta &a = before->metadata(), &b = after->metadata();
  return a.uid == b.uid && a.generation == b.generation && a.labels == b.labels &&
         a.annotations == b.annotations && a.deleting() == b.deleting();
}

kube::Informer<api::Workload>::Transform sharing(api::TemplatePool* templates) {
  if (!templates) return nullptr;
  return [templates](api::Workload& copy) { templates->share(&copy); };
}

}  // namespace

/// The connection that requests use. It can be exchanged while the client stays the same.
class RemoteCluster::Link final : public net::HttpSender, public kube::Credentials {
 public:
  explicit Link(WorkerConnection connection) { set(std::move(connection)); }

  void set(WorkerConnection connection) {
    current_ = std::make_shared<const WorkerConnection>(std::move(connection));
  }

  Task<Result<net::HttpResponse>> send(net::HttpRequest request,
                                       net::SendOptions options) override {
    const auto held = current_;  // outlives an exchange
    co_return co_await held->sender->send(std::move(request), options);
  }

  void close_idle() override { current_->sender->close_idle(); }

  Task<Result<std::string>> bearer_token() override {
    const auto held = current_;
    if (!held->credentials) co_return std::string();
    co_return co_await held->credentials->bearer_token();
  }

  void rejected() override {
    if (current_->credentials) current_->credentials->rejected();
  }

 private:
  std::shared_ptr<const WorkerConnection> current_;
};

RemoteCluster::RemoteCluster(RemoteClusterDeps deps, std::string name, WorkerConnection connection)
    : deps_(std::move(deps)),
      name_(std::move(name)),
      server_(connection.server),
      link_(std::make_shared<Link>(connection)),
      client([this, &connection] {
        kube::ClientDeps d = client_deps();
        d.config.base_path = connection.base_path;
        return d;
      }()),
      workloads(informer_deps("workloads"), options(), sharing(deps_.templates)),
      jobs(job_store_deps()),
      stopping_(deps_.executor),
      health_news_(deps_.executor) {
  workloads.add_index(by_replaced, [](const api::Workload& copy) {
    const std::string& replaced = jobs::replaced_slice(copy);
    return replaced.empty() ? std::vector<std::string>() : std::vector<std::string>{replaced};
  });
  jobs.add_index(by_workload, [](const jobs::GenericJob& job) {
    std::vector<std::string> keys = jobs::workloads_of_copy(job);
    for (std::string& key : keys) key = job.metadata().ns + "/" + key;
    return keys;
  });
}

kube::ClientDeps RemoteCluster::client_deps() {
  kube::ClientConfig config;
  // A worker that takes longer is treated as one that does not answer.
  config.timeout = std::chrono::seconds(10);
  // The client never retries: a create that was right a second ago may make a second Job now.
  config.retries_max = 0;
  config.write_gate = deps_.write_gate;
  config.list_limits = deps_.limits;
  config.observer = [this](const kube::RequestSeen& seen) {
    // The time of a list says how much there is to tell.
    if (seen.http_status != 0 && seen.verb != "list") answers_after_.add(seen.took);
    if (deps_.observer) deps_.observer(name_, seen);
  };
  return kube::ClientDeps{*link_, deps_.clock, deps_.rng, link_, std::move(config)};
}

JobStoreDeps RemoteCluster::job_store_deps() {
  JobStoreDeps store;
  store.kinds = deps_.kinds;
  store.informer = [this](const jobs::JobKind& kind) {
    return informer_deps(std::string(kind.resource().plural));
  };
  store.options = options();
  // A worker that lets the hub have some kinds is used for these.
  store.options.forbidden_is_absent = true;
  store.options.rest = rest_of_kinds;
  store.pool = deps_.templates;
  return store;
}

kube::InformerDeps RemoteCluster::informer_deps(const std::string& what) {
  return kube::InformerDeps{client, deps_.clock, deps_.rng, deps_.executor,
                            deps_.log.named("remote." + name_ + "." + what)};
}

kube::InformerOptions RemoteCluster::options() const {
  kube::InformerOptions options;
  options.label_selector = std::string(api::labels::multikueue_origin) + "=" + deps_.origin;
  // A worker that comes back is believed when its objects have been listed, not before.
  options.list_after_loss = true;
  return options;
}

void RemoteCluster::start(TaskScope& scope) {
  scope_ = &scope;
  workloads.on_transition([this](const api::ObjectKey& key, const auto& before, const auto& after) {
    const bool gone = before && (!after || before->metadata.uid != after->metadata.uid);
    if (gone) removing_workloads_.erase(before->metadata.uid);
    if (!stopped_ && on_workload) on_workload(key);
  });
  workloads.on_unreadable([this](const api::ObjectKey& key) {
    if (!stopped_ && on_workload) on_workload(key);
  });
  jobs.on_unreadable([this] {
    if (!stopped_ && on_unreadable_jobs) on_unreadable_jobs();
  });
  jobs.on_transition([this](const jobs::JobId& id, const auto& before, const auto& after) {
    const auto elastic = [](const jobs::JobPtr& job) {
      return job && jobs::is_marked_elastic(*job);
    };
    const bool was = elastic(before), is = elastic(after);
    if (was != is && !stopped_ && on_elastic) on_elastic(id);
    const api::ObjectMeta& metadata = after ? after->metadata() : before->metadata();
    const bool gone = before && (!after || before->metadata().uid != metadata.uid);
    if (gone) {
      job_removals_.erase(before->metadata().uid);
      jobs_read_.erase(before->metadata().uid);
    }
    if (stopped_ || !on_workload || only_serves_on(before, after)) return;
    std::vector<std::string> names = jobs::workloads_of_copy(after ? *after : *before);
    if (before && after) {
      std::set<std::string> more;
      for (std::string& name : jobs::workloads_of_copy(*before)) more.insert(std::move(name));
      for (const std::string& name : names) more.erase(name);
      names.insert(names.end(), more.begin(), more.end());
    }
    for (const std::string& name : names) on_workload(api::ObjectKey(metadata.ns, name));
  });
  workloads.on_health([this] { health_changed(); });
  jobs.on_health([this] { health_changed(); });
  const auto self = shared_from_this();
  scope.spawn("remote workloads of " + name_, run_for(self, workloads.run()));
  jobs.for_each_informer([&](const jobs::JobKind& kind, JobStore::Informer& informer) {
    scope.spawn("remote " + std::string(kind.resource().plural) + " of " + name_,
                run_for(self, informer.run()));
  });
}

void RemoteCluster::follow_queues() {
  if (queues_ || stopped_ || !scope_) return;
  queues_ = std::make_unique<RemoteQueues>(
      [this](const std::string& resource) { return informer_deps(resource); });
  const auto changed = [this](const std::string& cluster_queue) {
    if (!stopped_ && on_queues) on_queues(cluster_queue);
  };
  queues_->cluster_queues.on_change([changed](const auto& key) { changed(key.name); });
  queues_->local_queues.on_change([changed](const auto&) { changed(""); });
  queues_->cohorts.on_change([changed](const auto&) { changed(""); });
  queues_->cluster_queues.on_health([this] { queues_health_changed(); });
  queues_->local_queues.on_health([this] { queues_health_changed(); });
  const auto self = shared_from_this();
  const auto follow = [&](const std::string& resource, Task<> informer) {
    scope_->spawn("remote " + resource + " of " + name_, run_for(self, std::move(informer)));
  };
  follow("clusterqueues", queues_->cluster_queues.run());
  follow("localqueues", queues_->local_queues.run());
  follow("cohorts", queues_->cohorts.run());
}

void RemoteCluster::queues_health_changed() {
  const auto withheld = queues_->withheld();
  if (std::exchange(was_withheld_, withheld.has_value()) || !withheld) return;
  deps_.log.named("remote." + name_)
      .info("workers are compared without the queues of this one, which may not be read",
            {{"cluster", name_}, {"resource", *withheld}});
}

/// stop() ends the informer, which `self` outlives.
Task<> RemoteCluster::run_for([[maybe_unused]] std::shared_ptr<RemoteCluster> self,
                              Task<> informer) {
  co_await std::move(informer);
}

Task<> RemoteCluster::wait_stopped() {
  while (!stopped_) co_await stopping_.wait();
}

void RemoteCluster::stop() {
  stopped_ = true;
  stopping_.notify_all();
  workloads.stop();
  jobs.stop();
  if (queues_) queues_->stop();
}

void RemoteCluster::replace(WorkerConnection connection) {
  link_->set(std::move(connection));
  // The open watches would continue with the old credentials for minutes and hide that the new ones
  // do not work.
  if (scope_) scope_->spawn("check of " + name_, check_credentials(shared_from_this()));
}

void RemoteCluster::close_idle() {
  link_->close_idle();
}

bool RemoteCluster::ready() const {
  const kube::InformerHealth& health = workloads.health();
  // Between two watches an informer is not connected and has no error. That is healthy.
  const bool current = health.synced && (health.connected || !health.last_error);
  return !stopped_ && !unanswered_ && current && jobs.current();
}

std::optional<TimePoint> RemoteCluster::lost_since(const jobs::JobKind& kind) const {
  for (const auto& [withdrawn, since] : withdrawn_) {
    if (withdrawn == &kind) return deps_.clock.now() - (deps_.clock.steady() - since);
  }
  return std::nullopt;
}

std::optional<TimePoint> RemoteCluster::heard() const {
  const auto& of_workloads = workloads.health().last_event;
  const auto of_jobs = jobs.heard();
  if (!of_workloads || !of_jobs) return std::nullopt;
  return std::min(*of_workloads, *of_jobs);
}

std::optional<Error> RemoteCluster::problem() const {
  if (const auto& error = workloads.health().last_error) {
    if (error->code() != Errc::not_found) return error->within("workloads");
    return Error(Errc::not_found,
                 "workloads: the cluster does not serve kueue.x-k8s.io/v1beta2, install Kueue's "
                 "CRDs there: " +
                     error->what());
  }
  if (jobs.worst_health().last_error) return jobs.worst_health().last_error->within("jobs");
  if (unanswered_) return unanswered_;
  return std::nullopt;
}

std::vector<std::string> RemoteCluster::unserved() const {
  std::vector<std::string> lacking;
  for (const auto& kind : jobs.kinds().all()) {
    if (!jobs.serves(*kind)) lacking.push_back(kind->resource().group_resource());
  }
  return lacking;
}

int RemoteCluster::failures() const {
  return std::max(workloads.health().failures, jobs.worst_health().failures);
}

TimePoint RemoteCluster::next_attempt() const {
  const auto& worst = jobs.worst_health().failures > workloads.health().failures
                          ? jobs.worst_health()
                          : workloads.health();
  return worst.next_attempt;
}

void RemoteCluster::health_changed() {
  if (stopped_) return;
  const bool connected = workloads.health().connected;
  if (std::exchange(was_connected_, connected) != connected && connected) {
    // Of a worker that comes back it is not known what happened, to kinds without a watch either.
    if (std::exchange(was_ever_connected_, true)) jobs.list_resting();
  }
  const std::uint64_t withdrawals = withdrawals_;
  note_withdrawn();
  health_news_.notify_all();
  const bool now_ready = ready();
  bool changed = std::exchange(was_ready_, now_ready) != now_ready || withdrawals_ != withdrawals;
  std::vector<std::string> lacking = unserved();
  if (lacking != were_unserved_) changed = true;
  were_unserved_ = std::move(lacking);
  if ((changed || !now_ready) && on_ready_change) on_ready_change();
}

void RemoteCluster::note_withdrawn() {
  for (const auto& kind : jobs.kinds().all()) {
    const bool news = jobs.withdrawn(*kind)
                          ? withdrawn_.try_emplace(kind.get(), deps_.clock.steady()).second
                          : withdrawn_.erase(kind.get()) > 0;
    if (news) ++withdrawals_;
  }
}

void RemoteCluster::note(const Error& error) {
  const bool no_answer = error.code() == Errc::timeout || error.code() == Errc::unavailable;
  if (no_answer && !error.details()) suspect();
}

void RemoteCluster::suspect() {
  if (suspected_ || unanswered_ || stopped_ || !scope_) return;
  suspected_ = true;
  scope_->spawn("probe of " + name_, probe(shared_from_this()));
}

void RemoteCluster::doubt(const Error& error) {
  if (unanswered_ || stopped_) return;
  unanswered_ = error;
  health_changed();
  scope_->spawn("recovery of " + name_, recover(shared_from_this()));
}

/// Sends a cheap request that succeeds only if the worker answers and the credentials are accepted:
/// a list that is empty, however many copies the worker has, and needs the rights of the watches.
/// API servers ignore a limit at version "0", where they answer from memory.
Task<Status> RemoteCluster::ask() {
  kube::ListOptions options;
  options.label_selector = std::string(api::labels::multikueue_origin) + "=" + deps_.origin +
                           ",multikueue.regatta.dev/probe";
  options.resource_version = "0";
  const kube::OnItem ignore = [](const Json&, std::size_t) {};
  const auto answer =
      co_await client.list_raw(api::Workload::resource, "", std::move(options), ignore);
  if (!answer) co_return answer.error().within("workloads");
  co_return ok();
}

Task<> RemoteCluster::check_credentials(std::shared_ptr<RemoteCluster> self) {
  const Status answer = co_await self->ask();
  if (!answer) self->doubt(answer.error());
}

Task<> RemoteCluster::probe(std::shared_ptr<RemoteCluster> self) {
  Status answer = ok();
  for (int attempt = 0; attempt < 2; ++attempt) {
    Task<Result<bool>> asked = self->answers();
    const SteadyPoint deadline = self->deps_.clock.steady() + probe_wait;
    const auto told = co_await with_deadline(self->deps_.clock, deadline, std::move(asked));
    answer = told ? ok() : Status(told.error());
    if (answer || answer.error().code() != Errc::timeout) break;
  }
  self->suspected_ = false;
  if (!answer) self->doubt(answer.error());
}

/// Whether the worker's API server is there. It may be too busy to serve, and says so.
Task<Result<bool>> RemoteCluster::answers() {
  const Status answer = co_await ask();
  if (answer) co_return true;
  if (answer.error().details() && answer.error().code() == Errc::unavailable) co_return false;
  co_return answer.error();
}

Task<> RemoteCluster::recover(std::shared_ptr<RemoteCluster> self) {
  const Backoff backoff{Duration(200), std::chrono::seconds(20)};
  for (int attempt = 1; !self->stopped_; ++attempt) {
    co_await self->deps_.clock.sleep_for(backoff.after(attempt));
    const Status answer = co_await self->ask();
    if (answer) break;
    self->unanswered_ = answer.error();
  }
  // The watches may be dead without a sign, and a request without an answer may have happened.
  Task<> listing = self->catch_up();
  Task<> stopping = self->wait_stopped();
  co_await first_of(std::move(listing), std::move(stopping));
  self->unanswered_.reset();
  self->health_changed();
}

template <class Cache, class Key, class Decode>
Task<Status> RemoteCluster::confirm_in(Cache& cache, api::ResourceInfo resource,
                                       api::ObjectKey name, Key key, Decode decode) {
  if (cache.get(key) || cache.absence(key) != kube::Absence::unseen) co_return ok();
  co_return co_await read_into(cache, std::move(resource), std::move(name), std::move(key),
                               std::move(decode));
}

template <class Cache, class Key, class Decode>
Task<Status> RemoteCluster::read_into(Cache& cache, api::ResourceInfo resource, api::ObjectKey name,
                                      Key key, Decode decode) {
  const auto before = cache.get(key);
  auto text = co_await client.get_raw(resource, name);
  if (!text && text.error().code() == Errc::not_found) {
    cache.observe_absent(key, before);
    co_return ok();
  }
  if (!text) {
    note(text.error());
    co_return text.error().within("reading " + resource.group_resource() + " on " + name_);
  }
  auto found = decode(std::move(*text));
  if (!found) {
    cache.observe_unreadable(key, found.error());
  } else if (const api::ObjectMeta& metadata = kube::metadata_of(**found); !is_ours(metadata)) {
    if (is_of_former_origin(metadata)) {
      const std::string label(api::labels::multikueue_origin);
      cache.observe_unreadable(key, Error(Errc::invalid, "this hub made it with origin \"" +
                                                             metadata.label(label) + "\""));
    } else {
      cache.observe_absent(key, before);
    }
  } else {
    cache.observe(std::move(*found));
    if (cache.get(key)) co_return ok();
    // The cache follows the worker beyond this version and yet lacks the object.
    cache.list_anew();
    health_changed();
    co_return Error(Errc::unavailable, "the cache of " + name_ + " lacks " + name.str());
  }
  co_return ok();
}

Task<Status> RemoteCluster::confirm(api::ObjectKey workload, std::vector<jobs::JobId> objects) {
  using Copy = kube::Answered<api::Workload>;
  const auto copy = [](std::string text) -> Result<Copy> {
    auto found = api::decode<api::Workload>(text);
    if (!found) return found.error();
    return Copy{std::make_shared<const api::Workload>(std::move(*found)), text.size()};
  };
  kube::ObjectInformer<api::Workload>& copies = workloads;
  Status done = co_await confirm_in(copies, api::Workload::resource, workload, workload, copy);
  for (const jobs::JobId& one : objects) {
    if (!done) break;
    const auto decode = [this, kind = one.kind](std::string text) {
      return jobs.decode(*kind, std::move(text));
    };
    done = co_await confirm_in(jobs, one.kind->resource(), one.key, one, decode);
  }
  co_return done;
}

Task<Status> RemoteCluster::read_anew(std::vector<jobs::JobId> objects) {
  for (const jobs::JobId& one : objects) {
    const auto decode = [this, &one](std::string text) {
      auto found = jobs.decode(*one.kind, std::move(text));
      const jobs::JobPtr shown = jobs.get(one);
      if (found && shown && shown->metadata().uid == (*found)->metadata().uid) {
        jobs_read_[shown->metadata().uid] = (*found)->metadata().resource_version;
      }
      return found;
    };
    const Status done = co_await read_into(jobs, one.kind->resource(), one.key, one, decode);
    if (!done) co_return done;
  }
  co_return ok();
}

bool RemoteCluster::was_read(const jobs::GenericJob& job) const {
  const auto found = jobs_read_.find(job.metadata().uid);
  return found != jobs_read_.end() && found->second == job.metadata().resource_version;
}

bool RemoteCluster::is_ours(const api::ObjectMeta& metadata) const {
  return metadata.label(std::string(api::labels::multikueue_origin)) == deps_.origin;
}

/// What this hub made before its origin was changed is there, although no watch shows it.
bool RemoteCluster::is_of_former_origin(const api::ObjectMeta& metadata) const {
  const std::string& mark = metadata.annotation(std::string(api::annotations::hub_uid));
  if (mark.empty() || !deps_.hub_uid) return false;
  const std::string uid = deps_.hub_uid();
  return uid.empty() || uid == mark;
}

Task<> RemoteCluster::catch_up() {
  std::vector<Task<>> all;
  all.push_back(workloads.catch_up());
  jobs.for_each_informer([&](const jobs::JobKind& kind, JobStore::Informer& informer) {
    all.push_back(catch_up_with(informer, kind));
  });
  co_await all_of(std::move(all));
}

/// Of a kind that is withdrawn there may never be a list again.
Task<> RemoteCluster::catch_up_with(JobStore::Informer& informer, const jobs::JobKind& kind) {
  Task<> listing = informer.catch_up();
  Task<> refused = wait_withdrawn(kind);
  co_await first_of(std::move(listing), std::move(refused));
}

Task<> RemoteCluster::wait_withdrawn(const jobs::JobKind& kind) {
  while (!jobs.withdrawn(kind)) co_await health_news_.wait();
}

bool RemoteCluster::removing_workload(const api::Workload& workload) const {
  // The copy is being deleted and its finalizer still holds it: our removal was not enough.
  const bool held = workload.metadata.has_finalizer(api::finalizers::resource_in_use);
  if (held && workload.metadata.deleting()) return false;
  const auto found = removing_workloads_.find(workload.metadata.uid);
  return found != removing_workloads_.end() && deps_.clock.steady() < found->second;
}

void RemoteCluster::removal_begins(const api::Workload& workload) {
  // It may be gone already: the request that took its finalizer away took a while.
  const auto shown = workloads.get(workload.metadata.key());
  if (!shown || shown->metadata.uid != workload.metadata.uid) return;
  removing_workloads_[workload.metadata.uid] = SteadyPoint::min();
}

bool RemoteCluster::removal_begun(const api::Workload& workload) const {
  return removing_workloads_.contains(workload.metadata.uid);
}

Duration RemoteCluster::removing_job_for(const jobs::GenericJob& job) const {
  const auto found = job_removals_.find(job.metadata().uid);
  const SteadyPoint now = deps_.clock.steady();
  if (found == job_removals_.end() || found->second.believed_until <= now) return Duration(0);
  return found->second.believed_until - now;
}

void RemoteCluster::removed_workload(const api::Workload& workload) {
  const auto found = removing_workloads_.find(workload.metadata.uid);
  if (found == removing_workloads_.end()) return;  // the DELETED event came before the answer
  found->second = deps_.clock.steady() + removal_belief;
}

void RemoteCluster::job_removal_begins(const jobs::GenericJob& job) {
  if (!jobs.get(jobs::id_of(job))) return;
  job_removals_.try_emplace(job.metadata().uid, JobRemoval{deps_.clock.steady()});
}

std::optional<TimePoint> RemoteCluster::job_removal_asked(const jobs::GenericJob& job) const {
  const auto found = job_removals_.find(job.metadata().uid);
  if (found == job_removals_.end()) return std::nullopt;
  return deps_.clock.now() - (deps_.clock.steady() - found->second.asked);
}

void RemoteCluster::removed_job(const jobs::GenericJob& job) {
  const auto found = job_removals_.find(job.metadata().uid);
  if (found == job_removals_.end()) return;  // the DELETED event came before the answer
  found->second.believed_until = deps_.clock.steady() + removal_belief;
}

}  // namespace regatta::clusters
