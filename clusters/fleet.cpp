#include "clusters/fleet.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/joined.h"

#include <algorithm>

namespace regatta::clusters {
namespace {

constexpr int workers = 4;
constexpr Duration close_idle_every = std::chrono::seconds(30);
/// How often a kubeconfig file is read again. There is no notification when it changes.
constexpr Duration file_interval = std::chrono::seconds(10);
/// How often the Active condition of an unreachable cluster is updated with the count of attempts.
constexpr Duration attempts_interval = std::chrono::minutes(1);
/// A worker that is lost again so soon after its return was not really back.
constexpr Duration relapse_within = std::chrono::minutes(1);
/// The wall clock and the steady one may part by so much before one of them counts as set.
constexpr Duration clock_drift = std::chrono::seconds(1);
constexpr const char* load_failed = "load client config failed: ";

/// The API may lack ClusterProfiles, and get them later.
kube::InformerOptions profile_options(const std::string& ns) {
  kube::InformerOptions options;
  options.ns = ns;
  options.absent_retry = std::chrono::seconds(30);
  return options;
}

bool from_file(const api::MultiKueueCluster& cluster) {
  const auto& source = cluster.spec.cluster_source.kube_config;
  return source && source->location_type == api::LocationType::Path;
}

}  // namespace

Fleet::Fleet(LocalCluster& local, Connector& connector, TaskScope& scope, RemoteClusterDeps deps,
             std::optional<ProfileSource> profiles)
    : local_(local),
      connector_(connector),
      scope_(scope),
      deps_(std::move(deps)),
      log_(local.log.named("clusters")),
      queue_(local.clock, scope, Backoff{Duration(100), std::chrono::seconds(30)}) {
  deps_.templates = &local.templates();
  deps_.siblings = this;
  deps_.hub_uid = [this] { return local_.uid(); };
  if (profiles) {
    plugins_ = std::move(profiles->plugins);
    profiles_ = std::make_unique<kube::Informer<api::ClusterProfile>>(
        std::move(profiles->informer), profile_options(local.system_namespace));
  }
  local_.multikueue_clusters.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        // Status writes are our own and say nothing new.
        if (before && after && before->metadata.generation == after->metadata.generation &&
            before->metadata.deleting() == after->metadata.deleting()) {
          return;
        }
        queue_.add(key.name);
      });
  follow_sources();
  // What a worker lacks is what it lacks of the hub's kinds of jobs.
  local_.jobs.on_health([this] {
    for (const auto& [name, member] : members_) queue_.add(name);
  });
}

void Fleet::start() {
  if (profiles_) scope_.spawn("informer clusterprofiles", profiles_->run());
  for (int i = 0; i < workers; ++i) scope_.spawn("clusters", work());
  scope_.spawn("idle connections", close_idle_connections());
}

const Fleet::Member* Fleet::find(const std::string& cluster) const {
  const auto found = by_name_.find(cluster);
  return found == by_name_.end() ? nullptr : found->second;
}

const RemoteCluster* Fleet::connection_of(const std::string& cluster) const {
  const Member* member = find(cluster);
  return member ? member->remote.get() : nullptr;
}

bool Fleet::may_exist(const std::string& cluster) const {
  const api::ObjectKey key(cluster);
  const auto found = local_.multikueue_clusters.get(key);
  return local_.multikueue_clusters.unreadable(key) || (found && !found->metadata.deleting());
}

bool Fleet::heard_all() const {
  if (heard_all_) return true;
  if (!local_.multikueue_clusters.undecodable().empty()) return false;
  const auto clusters = local_.multikueue_clusters.list();
  heard_all_ = std::all_of(clusters.begin(), clusters.end(), [this](const auto& cluster) {
    const Member* member = find(cluster->metadata.name);
    return cluster->metadata.deleting() || (member && member->heard);
  });
  return heard_all_;
}

Task<> Fleet::work() {
  for (;;) {
    std::string name = co_await queue_.next();
    const Status done = co_await reconcile(name);
    if (queue_.finish(name, done)) {
      log_.warning("cluster status not written",
                   {{"cluster", name}, {"error", done.error().what()}});
    }
  }
}

/// A worker that has nothing to do keeps the connection of its watch alone.
Task<> Fleet::close_idle_connections() {
  for (;;) {
    co_await local_.clock.sleep_for(close_idle_every);
    for (const auto& [name, member] : members_) {
      if (member.remote) member.remote->close_idle();
    }
  }
}

Task<Status> Fleet::reconcile(std::string name) {
  const auto cluster = local_.multikueue_clusters.get(api::ObjectKey(name));
  if (!cluster || cluster->metadata.deleting()) {
    const auto found = members_.find(name);
    if (found == members_.end()) co_return ok();
    disconnect(&found->second);
    by_name_.erase(name);
    members_.erase(found);
    announce(name);
    co_return ok();
  }
  const auto [it, fresh] = members_.try_emplace(name);
  if (fresh) {
    by_name_.emplace(name, &it->second);
    it->second.lost_at = local_.clock.steady();
    // The grace of a worker that was lost before this process started continues.
    const api::Condition* active =
        api::find_condition(cluster->status.conditions, api::conditions::active);
    const bool known_lost = active && active->status == api::ConditionStatus::False;
    const TimePoint now = local_.clock.now();
    it->second.lost_since = known_lost ? std::min(active->last_transition_time, now) : now;
    it->second.lost_earlier = now - *it->second.lost_since;
  }
  connect(&it->second, name, *cluster);
  update_loss(&it->second, name);
  if (from_file(*cluster)) queue_.add_after(name, file_interval);
  if (it->second.remote && !it->second.ready()) queue_.add_after(name, attempts_interval);

  const auto wanted = condition(it->second, *cluster);
  api::MultiKueueCluster after = *cluster;
  bool news = write_notices(it->second, &after);
  if (wanted) {
    news = api::set_condition(&after.status.conditions, *wanted, local_.clock.now()) || news;
  }
  if (!news) co_return ok();
  co_return co_await local_.write_status(local_.multikueue_clusters, *cluster, std::move(after));
}

void Fleet::open(Member* member, const std::string& name,
                 std::variant<WorkerConnection, ConnectFailure> opened) {
  if (const auto* failure = std::get_if<ConnectFailure>(&opened)) {
    disconnect(member);
    member->failure = *failure;
    return;
  }
  WorkerConnection& connection = std::get<WorkerConnection>(opened);
  member->failure.reset();
  // A worker that is not ready gets a new connection: the old credentials may be why it is not.
  if (member->ready() && member->remote->server() == connection.server) {
    log_.info("credentials replaced", {{"cluster", name}});
    member->remote->replace(std::move(connection));
    for (const auto& handler : credentials_handlers_) handler(name);
    return;
  }
  leave(member->remote.get());
  log_.info("connecting", {{"cluster", name}, {"server", connection.url}});
  member->remote = std::make_shared<RemoteCluster>(deps_, name, std::move(connection));
  connect_handlers(member->remote.get(), name);
  member->remote->start(scope_);
  if (follows_queues_) member->remote->follow_queues();
}

void Fleet::connect_handlers(RemoteCluster* remote, const std::string& name) {
  remote->on_workload = [this, remote, name](const api::ObjectKey& key) {
    holders_.look(*remote, key);
    for (const auto& handler : workload_handlers_) handler(name, key);
  };
  remote->on_elastic = [this, remote](const jobs::JobId& job) {
    holders_.look_at_elastic(*remote, job);
    for (const auto& handler : elastic_handlers_) handler(job);
  };
  remote->on_unreadable_jobs = [this, remote] { holders_.look_at_unreadable_jobs(*remote); };
  remote->on_ready_change = [this, remote, name] {
    if (const auto member = members_.find(name); member != members_.end()) {
      member->second.wavered |= !remote->ready();
    }
    queue_.add(name);
  };
  remote->on_queues = [this, name](const std::string& cluster_queue) {
    for (const auto& handler : queue_handlers_) handler(name, cluster_queue);
  };
}

void Fleet::follow_queues() {
  if (std::exchange(follows_queues_, true)) return;
  for (const auto& [name, member] : members_) {
    if (member.remote) member.remote->follow_queues();
  }
}

void Fleet::leave(RemoteCluster* remote) {
  if (!remote) return;
  holders_.forget(*remote);
  remote->stop();
}

void Fleet::disconnect(Member* member) {
  leave(member->remote.get());
  member->remote.reset();
  member->kubeconfig_digest.clear();
}

std::optional<Duration> Fleet::Member::lost_for(const Clock& clock) const {
  if (!lost_since) return std::nullopt;
  return lost_earlier + (clock.steady() - lost_at);
}

std::optional<TimePoint> Fleet::Member::lost_since_for(TimePoint sent, const Clock& clock) const {
  const auto lasted = lost_for(clock);
  if (!lasted) return std::nullopt;
  TimePoint since = clock.now() - *lasted;
  // The two clocks drift apart by little. What is written into conditions does not follow that.
  if (std::chrono::abs(since - *lost_since) < clock_drift) since = *lost_since;
  return since - lost_before.after(sent);
}

void Fleet::update_loss(Member* member, const std::string& name) {
  const bool ready = member->ready();
  const SteadyPoint here = local_.clock.steady();
  member->heard |= ready;
  if (ready && member->lost_since) {
    member->lost_since.reset();
    member->lost_before.add(local_.clock.now(), here - member->lost_at);
    member->ready_at = here;
  } else if (!ready && !member->lost_since) {
    if (here >= member->ready_at + relapse_within) member->lost_before.clear();
    member->lost_at = here;
    member->lost_earlier = {};
    member->lost_since = local_.clock.now();
  }
  std::vector<std::string> lacking;
  if (member->remote) lacking = member->remote->unserved();
  const std::uint64_t withdrawals = member->remote ? member->remote->withdrawals() : 0;
  const bool lacks_others = std::exchange(member->unserved, lacking) != lacking;
  const bool other_kinds =
      std::exchange(member->withdrawals, withdrawals) != withdrawals || lacks_others;
  // What was planned while the worker was away passed it over, however short that was.
  const bool wavered = std::exchange(member->wavered, false);
  if (std::exchange(member->was_ready, ready) == ready) {
    if ((other_kinds || wavered) && ready) announce(name);
    return;
  }
  if (ready) {
    log_.info("connected", {{"cluster", name}});
  } else {
    const auto problem = member->remote ? member->remote->problem() : std::nullopt;
    log_.warning("lost", {{"cluster", name},
                          {"error", problem ? problem->what() : std::string("no kubeconfig")}});
  }
  announce(name);
}

void Fleet::tell(const std::string& cluster, std::string_view type, std::optional<Notice> notice) {
  const auto found = members_.find(cluster);
  if (found == members_.end()) return;
  auto& known = found->second.notices;
  const auto [it, fresh] = known.try_emplace(std::string(type));
  if (!fresh && it->second == notice) return;
  const auto object = local_.multikueue_clusters.get(api::ObjectKey(cluster));
  const bool begins = notice && !it->second;
  if (begins && object && !api::is_true(object->status.conditions, type)) {
    local_.events.event(kube::reference_to(*object), kube::EventType::warning, notice->reason,
                        notice->message);
    log_.warning("notice", {{"cluster", cluster}, {"condition", type}, {"text", notice->message}});
  }
  it->second = std::move(notice);
  queue_.add(cluster);
}

bool Fleet::told(const std::string& cluster, std::string_view type) const {
  const Member* member = find(cluster);
  if (!member) return false;
  const auto found = member->notices.find(std::string(type));
  if (found != member->notices.end()) return found->second.has_value();
  const auto object = local_.multikueue_clusters.get(api::ObjectKey(cluster));
  return object && api::is_true(object->status.conditions, type);
}

bool Fleet::write_notices(const Member& member, api::MultiKueueCluster* cluster) const {
  bool news = false;
  api::Conditions* conditions = &cluster->status.conditions;
  for (const auto& [type, notice] : member.notices) {
    news = set_notice(conditions, type, notice, cluster->metadata.generation, local_.clock.now()) ||
           news;
  }
  return news;
}

void Fleet::announce(const std::string& name) {
  ++changes_;
  for (const auto& handler : connection_handlers_) handler(name);
}

/// For the message of a worker that is connected.
std::string Fleet::kinds_lacking(const RemoteCluster& remote) const {
  std::vector<std::string> useless;
  std::string withdrawn;
  for (const auto& kind : local_.jobs.kinds().all()) {
    if (!kind->dispatched() || remote.jobs.serves(*kind)) continue;
    if (const Error* why = remote.jobs.withdrawn(*kind)) {
      withdrawn +=
          "; " + kind->resource().group_resource() + " can no longer be followed: " + why->what();
    } else if (local_.jobs.serves(*kind)) {
      useless.push_back(kind->resource().group_resource());
    }
  }
  return (useless.empty() ? "" : "; no use for: " + joined(useless, ", ")) + withdrawn;
}

std::optional<api::Condition> Fleet::condition(const Member& member,
                                               const api::MultiKueueCluster& cluster) const {
  api::Condition wanted;
  wanted.type = std::string(api::conditions::active);
  wanted.observed_generation = cluster.metadata.generation;
  if (member.ready()) {
    wanted.status = api::ConditionStatus::True;
    wanted.reason = std::string(api::reasons::active);
    wanted.message = "Connected" + kinds_lacking(*member.remote);
    return wanted;
  }
  wanted.status = api::ConditionStatus::False;
  if (member.failure) {
    wanted.reason = member.failure->reason;
    wanted.message = load_failed + member.failure->message;
    return wanted;
  }
  const auto problem = member.remote ? member.remote->problem() : std::nullopt;
  if (!problem) return std::nullopt;  // nothing failed yet: the condition stays as it is
  const bool too_large = problem->code() == Errc::too_large;
  wanted.reason = std::string(too_large ? api::reasons::worker_limit_exceeded
                                        : api::reasons::client_connection_failed);
  wanted.message = problem->what();
  if (const int attempts = member.remote->failures(); attempts > 0) {
    wanted.message += "; connection attempts: " + std::to_string(attempts) +
                      ", next connection attempt: " + format_rfc3339(member.remote->next_attempt());
  }
  return wanted;
}

}  // namespace regatta::clusters
