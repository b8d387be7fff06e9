#include "clusters/job_store.h"

#include "lib/kube/outline.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::clusters {

using jobs::GenericJob;
using jobs::JobId;
using jobs::JobPtr;

namespace {

kube::InformerOptions options_for(const jobs::JobKind& kind, kube::InformerOptions options) {
  // Every server has batch/v1: one that denies it is no Kubernetes, or not ready.
  if (kind.resource().group != "batch") options.absent_retry = absent_retry;
  return options;
}

}  // namespace

JobStore::JobStore(JobStoreDeps deps) : deps_(std::move(deps)) {
  for (const auto& kind : deps_.kinds.all()) {
    const auto decode = [kind, pool = deps_.pool](const Json& value) {
      return kind->decode(value, pool);
    };
    informers_.emplace_back(kind.get(),
                            std::make_unique<Informer>(deps_.informer(*kind), kind->resource(),
                                                       options_for(*kind, deps_.options), decode));
  }
}

void JobStore::for_each_informer(const std::function<void(const Kind&, Informer&)>& visit) {
  for (auto& [kind, informer] : informers_) visit(*kind, *informer);
}

Task<> JobStore::wait_synced() {
  for (auto& [kind, informer] : informers_) co_await informer->wait_synced();
}

Task<> JobStore::catch_up() {
  std::vector<Task<>> all;
  for (auto& [kind, informer] : informers_) all.push_back(informer->catch_up());
  co_await all_of(std::move(all));
}

void JobStore::list_anew() {
  for (auto& [kind, informer] : informers_) informer->list_anew();
}

const kube::InformerHealth& JobStore::worst_health() const {
  static const kube::InformerHealth fine = [] {
    kube::InformerHealth health;
    health.synced = health.connected = true;
    return health;
  }();
  const kube::InformerHealth* worst = &fine;
  for (const auto& [kind, informer] : informers_) {
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
    if (!informer->health().served) continue;
    const auto& last = informer->health().last_event;
    if (!last) return std::nullopt;
    oldest = std::min(*oldest, *last);
  }
  return oldest;
}

bool JobStore::current() const {
  return std::all_of(informers_.begin(), informers_.end(), [](const auto& entry) {
    const kube::InformerHealth& health = entry.second->health();
    // Between two watches an informer is not connected and has no error. That is healthy.
    return health.synced && (health.connected || !health.last_error);
  });
}

bool JobStore::serves(const Kind& kind) const {
  const Informer* informer = find(&kind);
  return informer && informer->health().served;
}

void JobStore::add_index(std::string name,
                         std::function<std::vector<std::string>(const GenericJob&)> values) {
  for (auto& [kind, informer] : informers_) informer->add_index(name, values);
}

void JobStore::on_change(std::function<void(const JobId&)> handler) {
  for (auto& [kind, informer] : informers_) {
    informer->on_change(
        [kind = kind, handler](const api::ObjectKey& key) { handler(JobId{kind, key}); });
  }
}

void JobStore::on_transition(
    std::function<void(const JobId&, const JobPtr&, const JobPtr&)> handler) {
  for (auto& [kind, informer] : informers_) {
    informer->on_transition(
        [kind = kind, handler](const api::ObjectKey& key, const JobPtr& before,
                               const JobPtr& after) { handler(JobId{kind, key}, before, after); });
  }
}

void JobStore::on_health(std::function<void()> handler) {
  for (auto& [kind, informer] : informers_) informer->on_health(handler);
}

JobStore::Informer* JobStore::find(const Kind* kind) const {
  const auto found = std::find_if(informers_.begin(), informers_.end(),
                                  [kind](const auto& entry) { return entry.first == kind; });
  return found == informers_.end() ? nullptr : found->second.get();
}

JobPtr JobStore::get(const JobId& id) const {
  const Informer* informer = find(id.kind);
  return informer ? informer->get(id.key) : nullptr;
}

bool JobStore::unreadable(const JobId& id) const {
  const Informer* informer = find(id.kind);
  return informer && informer->unreadable(id.key);
}

kube::Absence JobStore::absence(const JobId& id) const {
  const Informer* informer = find(id.kind);
  return informer ? informer->absence(id.key) : kube::Absence::unseen;
}

std::vector<JobPtr> JobStore::list() const {
  std::vector<JobPtr> all;
  for (const auto& [kind, informer] : informers_) {
    for (JobPtr& job : informer->list()) all.push_back(std::move(job));
  }
  return all;
}

std::vector<JobPtr> JobStore::by_index(const std::string& index, const std::string& value) const {
  std::vector<JobPtr> found;
  for (const auto& [kind, informer] : informers_) {
    for (JobPtr& job : informer->by_index(index, value)) found.push_back(std::move(job));
  }
  return found;
}

std::vector<JobId> JobStore::ids_by_index(const std::string& index,
                                          const std::string& value) const {
  std::vector<JobId> found;
  for (const auto& [kind, informer] : informers_) {
    for (const api::ObjectKey& key : informer->keys_by_index(index, value)) {
      found.push_back(JobId{kind, key});
    }
  }
  return found;
}

Result<JobPtr> JobStore::decode(const Kind& kind, std::string text) const {
  const Result<Json> value = parse_json(kube::without_managed_fields(std::move(text)));
  if (!value) return value.error();
  return kind.decode(*value, deps_.pool);
}

void JobStore::observe(JobPtr written) {
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
