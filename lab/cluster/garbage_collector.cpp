#include "lab/cluster/garbage_collector.h"

#include "lib/api/core.h"
#include "lib/base/json_access.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/worker.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::lab {

namespace {

constexpr std::size_t gone_max = 4096;
/// Least time between two discoveries, because definitions often come in numbers.
constexpr Duration discovery_pause = std::chrono::milliseconds(200);

/// An owner that exists but was not seen yet may be deleted before it is: nothing would tell then.
constexpr Duration unseen_owner_pause = std::chrono::seconds(1);

constexpr Backoff try_again{std::chrono::milliseconds(50), std::chrono::seconds(30)};

api::OwnerReference owner_of(const Json& value) {
  api::OwnerReference owner;
  owner.api_version = text_at(value, "apiVersion");
  owner.kind = text_at(value, "kind");
  owner.name = text_at(value, "name");
  owner.uid = text_at(value, "uid");
  owner.controller = true_at(value, "controller");
  owner.block_owner_deletion = true_at(value, "blockOwnerDeletion");
  return owner;
}

/// The parts of the metadata that the graph needs.
Result<api::ObjectMeta> meta_of(const Json& object) {
  const auto found = object.is_object() ? object.find("metadata") : object.end();
  if (!object.is_object() || found == object.end()) {
    return Error(Errc::invalid, "metadata: missing");
  }
  const Json& value = *found;
  api::ObjectMeta meta;
  meta.name = text_at(value, "name");
  meta.ns = text_at(value, "namespace");
  meta.uid = text_at(value, "uid");
  meta.resource_version = text_at(value, "resourceVersion");
  const Result<TimePoint> deleted = parse_rfc3339(text_at(value, "deletionTimestamp"));
  if (deleted) meta.deletion_timestamp = *deleted;
  for (const Json& owner : value.value("ownerReferences", Json::array())) {
    meta.owner_references.push_back(owner_of(owner));
  }
  for (const Json& finalizer : value.value("finalizers", Json::array())) {
    if (finalizer.is_string()) meta.finalizers.push_back(finalizer.get<std::string>());
  }
  return meta;
}

Result<kube::InformerCore::Decoded> decode_meta(const Json& object, const void*) {
  Result<api::ObjectMeta> meta = meta_of(object);
  if (!meta) return meta.error();
  kube::InformerCore::Decoded out;
  out.key = meta->key();
  out.resource_version = meta->resource_version;
  out.object = std::make_shared<const api::ObjectMeta>(std::move(*meta));
  return out;
}

/// Whether a change does not matter to the graph, as most do not.
bool same_in_graph(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  return a.uid == b.uid && a.owner_references == b.owner_references &&
         a.finalizers == b.finalizers && a.deleting() == b.deleting();
}

std::string group_of(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

bool same_resource(const DiscoveredResource& a, const DiscoveredResource& b) {
  return a.group == b.group && a.plural == b.plural;
}

/// Events are left out: there are thousands of them, and they own nothing.
bool collectable(const DiscoveredResource& resource) {
  return resource.can("list") && resource.can("watch") && resource.can("delete") &&
         resource.plural != "events";
}

/// Drops items of a list; whether there were any.
template <class Predicate>
bool erase_items(Json& metadata, const char* name, Predicate drop) {
  Json kept = Json::array();
  const Json before = list_or_empty(metadata, name);
  for (const Json& item : before) {
    if (!drop(item)) kept.push_back(item);
  }
  const bool changed = kept.size() != before.size();
  metadata[name] = std::move(kept);
  return changed;
}

}  // namespace

struct GarbageCollector::Monitor {
  DiscoveredResource resource;
  std::unique_ptr<kube::InformerCore> informer;
};

GarbageCollector::GarbageCollector(GarbageCollectorDeps deps, GarbageCollectorOptions options)
    : deps_(std::move(deps)),
      options_(options),
      definitions_(deps_.executor),
      scope_(deps_.executor),
      queue_(deps_.clock, scope_, try_again) {}

GarbageCollector::~GarbageCollector() = default;

Task<> GarbageCollector::run() {
  scope_.spawn("resources", find_resources());
  for (int i = 0; i < options_.workers; ++i) scope_.spawn("worker", work());
  co_await scope_.run_until_cancelled();
}

/// The resources that a server serves follow its definitions with a delay. So after each change of
/// a definition discovery is repeated, with growing pauses.
Task<> GarbageCollector::find_resources() {
  const Backoff look_again{discovery_pause, options_.rediscover};
  for (int looks = 1;; ++looks) {
    const auto found = co_await discover(deps_.client);
    if (!found) {
      deps_.log.info("discovery failed, trying again", {{"error", found.error().what()}});
    } else {
      for (const DiscoveredResource& resource : *found) {
        const bool known = std::any_of(monitors_.begin(), monitors_.end(), [&](const auto& one) {
          return same_resource(one->resource, resource);
        });
        if (!known && collectable(resource)) watch(resource);
      }
    }
    co_await deps_.clock.sleep_for(discovery_pause);
    const Duration rest = look_again.after(looks) - discovery_pause;
    const bool changed = co_await first_of(deps_.clock.sleep_for(rest), definitions_changed()) == 1;
    if (changed) looks = 0;
  }
}

Task<> GarbageCollector::definitions_changed() {
  while (!definitions_changed_) co_await definitions_.wait();
  definitions_changed_ = false;
}

void GarbageCollector::watch(const DiscoveredResource& resource) {
  const std::size_t index = monitors_.size();
  auto monitor = std::make_unique<Monitor>();
  monitor->resource = resource;
  kube::InformerDeps deps{deps_.client, deps_.clock, deps_.rng, deps_.executor, deps_.log};
  kube::InformerOptions options;
  options.metadata_only = true;
  monitor->informer = std::make_unique<kube::InformerCore>(
      std::move(deps), monitor->resource.info(), std::move(options), decode_meta,
      kube::InformerCore::TypeInfo());
  monitor->informer->on_change([this, index](const api::ObjectKey&,
                                             const kube::InformerCore::Object& before,
                                             const kube::InformerCore::Object& after) {
    const auto old = std::static_pointer_cast<const api::ObjectMeta>(before);
    const auto now = std::static_pointer_cast<const api::ObjectMeta>(after);
    if (monitors_[index]->resource.plural == "customresourcedefinitions") {
      definitions_changed_ = true;
      definitions_.notify_all();
    }
    if (old && now && same_in_graph(*old, *now)) return;
    std::set<std::string> next;
    if (old && (!now || now->uid != old->uid)) {
      next = graph_.erase(old->uid);
      note_gone(old->uid);
    }
    if (now) next.merge(graph_.put(graph_node(*now, index)));
    for (const std::string& uid : next) queue_.add_after(uid, options_.patience);
  });
  scope_.spawn("monitor", monitor->informer->run());
  monitors_.push_back(std::move(monitor));
}

void GarbageCollector::note_gone(const std::string& uid) {
  if (!gone_.insert(uid).second) return;
  gone_order_.push_back(uid);
  if (gone_order_.size() <= gone_max) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

Task<> GarbageCollector::work() {
  const auto step = [this](const std::string& uid) { return collect(uid); };
  const auto told = [this](const std::string&, const Error& error) {
    deps_.log.info("collecting failed, trying again", {{"error", error.what()}});
  };
  return work_through(queue_, step, told);
}

Task<Status> GarbageCollector::collect(std::string uid) {
  const GraphNode* found = graph_.find(uid);
  if (found == nullptr) co_return ok();
  const GraphNode node = *found;
  std::vector<OwnerState> states;
  std::set<std::string> not_solid;
  if (!node.deleting) {
    for (const api::OwnerReference& owner : node.owners) {
      const Result<OwnerState> state = co_await state_of(node, owner);
      if (!state) co_return state.error();
      if (*state != OwnerState::solid) not_solid.insert(owner.uid);
      states.push_back(*state);
    }
  }
  const std::size_t dependents = graph_.dependents(uid).size();
  switch (plan_collection(node, states, dependents, blocking_dependents(node))) {
    case Collection::nothing:
      co_return ok();
    case Collection::remove_background:
      co_return co_await remove(node, "Background");
    case Collection::remove_foreground:
      co_return co_await remove(node, "Foreground");
    case Collection::drop_references:
      co_return co_await strike_owners(node, not_solid);
    case Collection::orphan:
      co_return co_await orphan_dependents(node);
    case Collection::release:
      co_return co_await strike_finalizer(node, "foregroundDeletion");
    case Collection::end_dependents:
      for (const std::string& dependent : graph_.dependents(uid)) queue_.add(dependent);
      co_return ok();
  }
  co_return ok();
}

const GarbageCollector::Monitor* GarbageCollector::monitor_of(
    const api::OwnerReference& owner) const {
  const std::string group = group_of(owner.api_version);
  for (const auto& monitor : monitors_) {
    if (monitor->resource.group == group && monitor->resource.kind == owner.kind) {
      return monitor.get();
    }
  }
  return nullptr;
}

std::size_t GarbageCollector::blocking_dependents(const GraphNode& node) const {
  std::size_t count = 0;
  for (const std::string& uid : graph_.dependents(node.uid)) {
    const GraphNode* dependent = graph_.find(uid);
    if (dependent == nullptr) continue;
    for (const api::OwnerReference& owner : dependent->owners) {
      if (owner.uid == node.uid && owner.block_owner_deletion.value_or(false)) ++count;
    }
  }
  return count;
}

Task<Result<OwnerState>> GarbageCollector::state_of(const GraphNode& node,
                                                    const api::OwnerReference& owner) {
  if (const GraphNode* known = graph_.find(owner.uid)) {
    co_return known->waits_for_dependents ? OwnerState::waiting : OwnerState::solid;
  }
  if (gone_.contains(owner.uid)) co_return OwnerState::absent;
  const Monitor* monitor = monitor_of(owner);
  // The owner is of a kind that cannot be read, so it may exist: nothing is deleted.
  if (monitor == nullptr) co_return OwnerState::solid;
  api::ObjectKey key(monitor->resource.namespaced ? node.key.ns : "", owner.name);
  kube::GetOptions options;
  const auto answer =
      co_await deps_.client.get_raw(monitor->resource.info(), std::move(key), std::move(options));
  if (!answer) {
    if (answer.error().code() == Errc::not_found) co_return OwnerState::absent;
    co_return answer.error().within("looking for owner " + owner.name);
  }
  const Result<Json> object = parse_json(*answer);
  if (!object) co_return object.error();
  const Result<api::ObjectMeta> meta = meta_of(*object);
  if (!meta) co_return meta.error();
  if (meta->uid != owner.uid) co_return OwnerState::absent;
  queue_.add_after(node.uid, unseen_owner_pause);
  co_return OwnerState::solid;
}

Task<Status> GarbageCollector::remove(const GraphNode& node, std::string policy) {
  kube::DeleteOptions options;
  options.uid = node.uid;
  options.propagation_policy = std::move(policy);
  const Status removed = co_await deps_.client.remove(monitors_[node.resource]->resource.info(),
                                                      node.key, std::move(options));
  if (removed || removed.error().code() == Errc::not_found ||
      removed.error().code() == Errc::conflict) {
    co_return ok();  // deleted, or replaced by another object of the same name
  }
  co_return removed.error().within("removing " + node.key.str());
}

Task<Status> GarbageCollector::patch_metadata(const GraphNode& node,
                                              std::function<bool(Json&)> change) {
  const api::ResourceInfo resource = monitors_[node.resource]->resource.info();
  kube::GetOptions options;
  const auto answer = co_await deps_.client.get_raw(resource, node.key, std::move(options));
  if (!answer) {
    co_return answer.error().code() == Errc::not_found ? ok() : Status(answer.error());
  }
  const Result<Json> object = parse_json(*answer);
  if (!object) co_return object.error();
  const Result<api::ObjectMeta> meta = meta_of(*object);
  if (!meta) co_return meta.error();
  if (meta->uid != node.uid) co_return ok();
  Json metadata = (*object)["metadata"];
  if (!change(metadata)) co_return ok();
  Json patch = Json::object();
  Json& wanted = patch["metadata"];
  wanted["uid"] = node.uid;
  wanted["resourceVersion"] = meta->resource_version;
  for (const char* name : {"ownerReferences", "finalizers"}) {
    const auto value = metadata.find(name);
    wanted[name] = value == metadata.end() || value->empty() ? Json() : *value;
  }
  std::string body = dump_json(patch);
  const auto written =
      co_await deps_.client.patch_raw(resource, node.key, kube::PatchType::merge, std::move(body));
  if (!written && written.error().code() != Errc::not_found) {
    co_return written.error().within("changing " + node.key.str());
  }
  co_return ok();
}

Task<Status> GarbageCollector::strike_owners(const GraphNode& node, std::set<std::string> uids) {
  std::function<bool(Json&)> change = [uids = std::move(uids)](Json& metadata) {
    return erase_items(metadata, "ownerReferences",
                       [&uids](const Json& owner) { return uids.contains(text_at(owner, "uid")); });
  };
  return patch_metadata(node, std::move(change));
}

Task<Status> GarbageCollector::strike_finalizer(const GraphNode& node, std::string finalizer) {
  std::function<bool(Json&)> change = [finalizer = std::move(finalizer)](Json& metadata) {
    return erase_items(metadata, "finalizers",
                       [&finalizer](const Json& one) { return one == finalizer; });
  };
  return patch_metadata(node, std::move(change));
}

Task<Status> GarbageCollector::orphan_dependents(const GraphNode& node) {
  const std::set<std::string> dependents = graph_.dependents(node.uid);
  for (const std::string& uid : dependents) {
    const GraphNode* found = graph_.find(uid);
    if (found == nullptr) continue;
    const GraphNode dependent = *found;
    std::set<std::string> owners = {node.uid};
    const Status struck = co_await strike_owners(dependent, std::move(owners));
    if (!struck) co_return struck;
  }
  co_return co_await strike_finalizer(node, "orphan");
}

}  // namespace regatta::lab
