#include "clusters/job_store.h"

#include "lib/kube/object_limits.h"
#include "lib/kube/outline.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::clusters {

using jobs::GenericJob;
using jobs::JobId;
using jobs::JobPtr;

namespace {

/// Index of the informers of kinds that form groups: "namespace/name" of the group.
constexpr const char* by_group = "group";
/// Index of the informers of kinds that are planned with others: "namespace/name" of the parent.
constexpr const char* by_parent = "parent";

JobId parent_of(const jobs::JobKind& kind, const GenericJob& pod) {
  std::string name = kind.parent_of(pod);
  return {kind.parent_kind(),
          name.empty() ? api::ObjectKey() : api::ObjectKey(pod.metadata().ns, std::move(name))};
}

/// Every server has batch/v1 and v1: one that denies them is no Kubernetes, or not ready.
bool is_everywhere(const api::ResourceInfo& resource) {
  return resource.group == "batch" || resource.group.empty();
}

/// A job is gone when all its members are, and each is asked for that was not seen to go. So all of
/// them must be remembered, or each answer is forgotten for the next one, for ever. That is a
/// few megabytes of names, once so many Pods came and went.
constexpr std::size_t absent_members_max = 16384;

kube::InformerOptions options_for(const jobs::JobKind& kind, kube::InformerOptions options) {
  if (kind.group_kind()) options.absent_max = absent_members_max;
  if (!is_everywhere(kind.resource())) options.absent_retry = absent_retry;
  if (const std::string selector(kind.selector()); !selector.empty()) {
    options.label_selector += (options.label_selector.empty() ? "" : ",") + selector;
  }
  return options;
}

/// An informer that holds objects does not believe that their kind is gone, and has this error.
bool says_withdrawn(const JobStore::Informer& informer) {
  const kube::InformerHealth& health = informer.health();
  if (is_everywhere(informer.resource()) || !health.synced || !health.last_error) return false;
  if (!health.last_error->details()) return false;
  const unsigned status = health.last_error->details()->http_status;
  return status == 404 || status == 403;
}

}  // namespace

JobStore::JobStore(JobStoreDeps deps) : deps_(std::move(deps)) {
  for (const auto& kind : deps_.kinds.all()) {
    if (!kind->followed()) continue;
    const auto decode = [kind, pool = deps_.pool](const Json& value) {
      return kind->decode(value, pool);
    };
    informers_.emplace_back(kind.get(),
                            std::make_unique<Informer>(deps_.informer(*kind), kind->resource(),
                                                       options_for(*kind, deps_.options), decode));
    informers_.back().second->on_health([this, kind = kind.get()] { note_health(*kind); });
    if (kind->parent_kind()) {
      informers_.back().second->add_index(by_parent, [kind](const GenericJob& pod) {
        const JobId parent = parent_of(*kind, pod);
        return parent.key.name.empty() ? std::vector<std::string>()
                                       : std::vector<std::string>{parent.key.str()};
      });
    }
    if (!kind->group_kind()) continue;
    informers_.back().second->add_index(by_group, [](const GenericJob& job) {
      const JobId id = jobs::planned_as(job);
      const bool single = id.kind == &job.kind();
      return single ? std::vector<std::string>() : std::vector<std::string>{id.key.str()};
    });
  }
}

void JobStore::for_each_informer(const std::function<void(const Kind&, Informer&)>& visit) {
  for (auto& [kind, informer] : informers_) visit(*kind, *informer);
}

void JobStore::stop() {
  for (auto& [kind, informer] : informers_) informer->stop();
}

Task<> JobStore::wait_synced() {
  for (auto& [kind, informer] : informers_) co_await informer->wait_synced();
}

void JobStore::list_anew() {
  for (auto& [kind, informer] : informers_) informer->list_anew();
}

void JobStore::rouse(const Kind& kind) {
  if (Informer* informer = informer_of(kind)) informer->rouse();
}

void JobStore::list_resting() {
  for (auto& [kind, informer] : informers_) {
    if (informer->health().resting) informer->list_anew();
  }
}

const kube::InformerHealth& JobStore::worst_health() const {
  static const kube::InformerHealth fine = [] {
    kube::InformerHealth health;
    health.synced = health.connected = true;
    return health;
  }();
  const kube::InformerHealth* worst = &fine;
  for (const auto& [kind, informer] : informers_) {
    if (withdrawn_.contains(kind)) continue;
    const kube::InformerHealth& health = informer->health();
    const auto badness = [](const kube::InformerHealth& one) {
      return std::pair(one.last_error.has_value(), one.failures);
    };
    if (worst == &fine || badness(health) > badness(*worst)) worst = &health;
  }
  return *worst;
}

std::optional<TimePoint> JobStore::heard() const {
  std::optional<TimePoint> oldest = TimePoint::max();
  for (const auto& [kind, informer] : informers_) {
    if (!informer->health().served || informer->health().resting) continue;
    if (withdrawn_.contains(kind)) continue;
    const auto& last = informer->health().last_event;
    if (!last) return std::nullopt;
    oldest = std::min(*oldest, *last);
  }
  return oldest;
}

bool JobStore::current() const {
  return std::all_of(informers_.begin(), informers_.end(), [this](const auto& entry) {
    const kube::InformerHealth& health = entry.second->health();
    // Between two watches an informer is not connected and has no error. That is healthy.
    if (health.resting && !entry.second->caught_up()) return false;
    if (withdrawn_.contains(entry.first)) return true;
    return health.synced && (health.connected || !health.last_error);
  });
}

bool JobStore::serves(const Kind& kind) const {
  const Informer* informer = informer_of(kind);
  return informer && informer->health().served && !withdrawn(kind);
}

const Error* JobStore::withdrawn(const Kind& kind) const {
  const auto found = withdrawn_.find(&kind);
  return found == withdrawn_.end() ? nullptr : &found->second;
}

/// Another error of a kind that was withdrawn does not say that it is back.
void JobStore::note_health(const Kind& kind) {
  const Informer& informer = *find(&kind);
  if (says_withdrawn(informer)) {
    withdrawn_.insert_or_assign(&kind, *informer.health().last_error);
  } else if (!informer.health().last_error) {
    withdrawn_.erase(&kind);
  }
}

void JobStore::add_index(std::string name,
                         std::function<std::vector<std::string>(const GenericJob&)> values) {
  for (auto& [kind, informer] : informers_) {
    if (!kind->parent_kind()) informer->add_index(name, values);
  }
}

void JobStore::on_change(std::function<void(const JobId&)> handler) {
  for (auto& [kind, informer] : informers_) {
    if (kind->parent_kind()) {
      informer->on_transition(
          [kind = kind, handler](const api::ObjectKey&, const JobPtr& before, const JobPtr& after) {
            const JobPtr& pod = after ? after : before;
            const JobId parent = pod ? parent_of(*kind, *pod) : JobId();
            if (!parent.key.name.empty()) handler(parent);
          });
      continue;
    }
    if (!kind->group_kind()) {
      informer->on_change(
          [kind = kind, handler](const api::ObjectKey& key) { handler(JobId{kind, key}); });
      continue;
    }
    informer->on_transition(
        [handler](const api::ObjectKey&, const JobPtr& before, const JobPtr& after) {
          std::set<JobId> changed;
          for (const JobPtr& one : {before, after}) {
            if (one) changed.insert(jobs::planned_as(*one));
          }
          for (const JobId& id : changed) handler(id);
        });
  }
}

void JobStore::on_transition(
    std::function<void(const JobId&, const JobPtr&, const JobPtr&)> handler) {
  for (auto& [kind, informer] : informers_) {
    if (kind->parent_kind()) continue;
    informer->on_transition(
        [kind = kind, handler](const api::ObjectKey& key, const JobPtr& before,
                               const JobPtr& after) { handler(JobId{kind, key}, before, after); });
  }
}

void JobStore::on_health(std::function<void()> handler) {
  for (auto& [kind, informer] : informers_) informer->on_health(handler);
}

void JobStore::on_unreadable(std::function<void()> handler) {
  for (auto& [kind, informer] : informers_) {
    informer->on_unreadable([handler](const api::ObjectKey&) { handler(); });
  }
}

JobStore::Informer* JobStore::find(const Kind* kind) const {
  const auto found = std::find_if(informers_.begin(), informers_.end(),
                                  [kind](const auto& entry) { return entry.first == kind; });
  return found == informers_.end() ? nullptr : found->second.get();
}

JobStore::Informer* JobStore::find_members(const Kind* groups) const {
  if (!groups) return nullptr;
  const auto found = std::find_if(informers_.begin(), informers_.end(), [groups](const auto& one) {
    return one.first->group_kind() == groups;
  });
  return found == informers_.end() ? nullptr : found->second.get();
}

JobStore::Informer* JobStore::informer_of(const Kind& kind) const {
  Informer* informer = find(&kind);
  return informer ? informer : find_members(&kind);
}

JobPtr JobStore::compose(const JobId& id) const {
  const Informer* informer = find_members(id.kind);
  if (!informer) return nullptr;
  const std::vector<JobPtr> members = informer->by_index(by_group, id.key.str());
  return members.empty() ? nullptr : id.kind->compose(id.key, members);
}

JobPtr JobStore::get(const JobId& id) const {
  const Informer* informer = find(id.kind);
  return informer ? informer->get(id.key) : compose(id);
}

/// Of a member that cannot be read it is not known to which group it belongs.
bool JobStore::unreadable(const JobId& id) const {
  if (const Informer* informer = find(id.kind)) return informer->unreadable(id.key);
  const Informer* members = find_members(id.kind);
  if (!members) return false;
  const auto& all = members->undecodable();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& entry) { return entry.first.ns == id.key.ns; });
}

bool JobStore::any_unreadable() const {
  return std::any_of(informers_.begin(), informers_.end(),
                     [](const auto& one) { return !one.second->undecodable().empty(); });
}

kube::Absence JobStore::absence(const JobId& id) const {
  const Informer* informer = find(id.kind);
  return informer ? informer->absence(id.key) : kube::Absence::unseen;
}

std::vector<JobPtr> JobStore::list() const {
  std::vector<JobPtr> all;
  for (const auto& [kind, informer] : informers_) {
    if (kind->parent_kind()) continue;
    std::map<JobId, std::vector<JobPtr>> groups;
    for (JobPtr& job : informer->list()) {
      const JobId id = kind->group_kind() ? jobs::planned_as(*job) : JobId{kind, {}};
      if (id.kind == kind) {
        all.push_back(std::move(job));
      } else {
        groups[id].push_back(std::move(job));
      }
    }
    for (const auto& [id, members] : groups) all.push_back(id.kind->compose(id.key, members));
  }
  return all;
}

std::vector<JobPtr> JobStore::by_index(const std::string& index, const std::string& value) const {
  std::vector<JobPtr> found;
  for (const auto& [kind, informer] : informers_) {
    if (kind->parent_kind()) continue;
    std::set<JobId> groups;
    for (JobPtr& job : informer->by_index(index, value)) {
      const JobId id = kind->group_kind() ? jobs::planned_as(*job) : JobId{kind, {}};
      if (id.kind == kind) {
        found.push_back(std::move(job));
      } else if (groups.insert(id).second) {
        found.push_back(compose(id));
      }
    }
  }
  return found;
}

bool JobStore::any_by_index(const std::string& index, const std::string& value) const {
  return std::any_of(informers_.begin(), informers_.end(), [&](const auto& one) {
    return !one.first->parent_kind() && !one.second->keys_by_index(index, value).empty();
  });
}

std::vector<JobId> JobStore::ids_by_index(const std::string& index,
                                          const std::string& value) const {
  std::vector<JobId> found;
  for (const auto& [kind, informer] : informers_) {
    if (kind->parent_kind()) continue;
    std::set<JobId> groups;
    for (const api::ObjectKey& key : informer->keys_by_index(index, value)) {
      const JobId id =
          kind->group_kind() ? jobs::planned_as(*informer->get(key)) : JobId{kind, key};
      if (id.kind == kind || groups.insert(id).second) found.push_back(id);
    }
  }
  return found;
}

std::vector<JobPtr> JobStore::pods_of(const JobId& parent) const {
  std::vector<JobPtr> found;
  for (const auto& [kind, informer] : informers_) {
    if (kind->parent_kind() != parent.kind) continue;
    for (JobPtr& pod : informer->by_index(by_parent, parent.key.str())) {
      found.push_back(std::move(pod));
    }
  }
  return found;
}

Result<JobStore::Answered> JobStore::decode(const Kind& kind, std::string text) const {
  const std::size_t bytes = kube::counted_bytes(text);
  Result<Json> value = parse_json(kube::without_managed_fields(std::move(text)));
  if (!value) return value.error();
  Result<JobPtr> job = kind.decode(*value, deps_.pool);
  discard(&*value);
  if (!job) return job.error();
  return Answered{std::move(*job), bytes};
}

void JobStore::observe(Answered written) {
  Informer* informer = find(&written->kind());
  if (informer) informer->observe(std::move(written));
}

void JobStore::may_appear(const JobId& id) {
  if (Informer* informer = find(id.kind)) informer->may_appear(id.key);
}

void JobStore::observe_absent(const JobId& id, const JobPtr& before) {
  if (Informer* informer = find(id.kind)) informer->observe_absent(id.key, before);
}

void JobStore::observe_unreadable(const JobId& id, const Error& error) {
  if (Informer* informer = find(id.kind)) informer->observe_unreadable(id.key, error);
}

}  // namespace regatta::clusters
