#include "lab/apiserver/definitions.h"

#include "lab/apiserver/conversions.h"
#include "lab/apiserver/managed.h"
#include "lab/terms.h"
#include "lib/manifest/crd/definition.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::apiserver {
namespace {

constexpr const char* definitions_shelf = "customresourcedefinitions.apiextensions.k8s.io";
constexpr std::string_view server_manager = "kube-apiserver";

void set_condition(Json& definition, const char* type, const char* reason, const char* message,
                   TimePoint now) {
  Json& conditions = definition["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  Json* found = nullptr;
  for (Json& condition : conditions) {
    if (text_at(condition, "type") == type) found = &condition;
  }
  if (!found) {
    conditions.push_back({{"type", type}, {"lastTransitionTime", format_rfc3339(now)}});
    found = &conditions.back();
  }
  (*found)["status"] = "True";
  (*found)["reason"] = reason;
  (*found)["message"] = message;
}

std::string shelf_name(const Json& definition) {
  return text_at(definition, {"metadata", "name"});
}

std::shared_ptr<const Schema> unowned(const Schema* schema) {
  return std::shared_ptr<const Schema>(std::shared_ptr<const Schema>(), schema);
}

}  // namespace

void Definitions::add_type() {
  ResourceType type;
  type.group = "apiextensions.k8s.io";
  type.version = "v1";
  type.kind = "CustomResourceDefinition";
  type.plural = "customresourcedefinitions";
  type.singular = "customresourcedefinition";
  type.namespaced = false;
  type.short_names = {"crd", "crds"};
  type.categories = {"api-extensions"};
  type.subresources = {{"status", status_verbs(), "", "", ""}};
  type.storage_version_hash = "jfWCUB31mvA=";
  type.strategy = definition_strategy();
  type.schema = unowned(builtin_schema(type.group, type.version, type.kind));
  core_.registry.add(type);
  type_ = core_.registry.find(type.group, type.version, type.plural);
}

std::vector<Json> Definitions::all() const {
  std::vector<Json> definitions;
  for (const auto& [key, object] : core_.store.shelf(definitions_shelf).objects()) {
    definitions.push_back(object->value());
  }
  return definitions;
}

Json Definitions::definition(const std::string& name) const {
  const StoredPtr stored = core_.store.shelf(definitions_shelf).find("", name);
  return stored ? stored->value() : Json();
}

void Definitions::restore() {
  for (const Json& definition : all()) {
    if (is_established(definition)) serve(definition);
  }
}

void Definitions::after_write(const ResourceType& type, const std::string& name,
                              const Json* object) {
  if (busy_) return;
  busy_ = true;
  if (type.group_resource() == definitions_shelf) {
    if (object && !is_deleting(*object)) establish_in_time(name, *object);
  } else if (type.custom && !object) {
    finish_if_empty(type.group_resource());
  }
  busy_ = false;
}

void Definitions::put_status(Json definition, const Json& before) {
  track_update(definition, before,
               {*type_, std::string(server_manager), "status", core_.clock.now()});
  writer_.put_internal(*type_, std::move(definition));
}

void Definitions::establish_in_time(const std::string& name, const Json& definition) {
  if (!delayed_) return establish(name);
  const SteadyPoint then = core_.clock.steady() + core_.options.definition_delay;
  core_.storage_starts[name] = then;
  // What is served goes on being served, as it is now.
  if (is_established(definition)) return establish(name);
  waiting_.emplace_back(then, name);
  written_.notify_all();
}

Task<> Definitions::run() {
  delayed_ = core_.options.definition_delay > Duration(0);
  for (const Json& definition : all()) {
    if (is_established(definition) || is_deleting(definition)) continue;
    establish_in_time(text_at(definition, {"metadata", "name"}), definition);
  }
  for (;;) {
    while (waiting_.empty()) co_await written_.wait();
    const auto [then, name] = waiting_.front();
    co_await core_.clock.sleep_until(then);
    waiting_.pop_front();
    const Json present = definition(name);
    if (present.is_null() || is_deleting(present)) continue;
    busy_ = true;
    establish(name);
    busy_ = false;
    core_.storage_starts[name] = core_.clock.steady() + core_.options.definition_delay;
  }
}

void Definitions::establish(const std::string& name) {
  for (int round = 0; round < 2; ++round) {
    const Json before = definition(name);
    Json after = before;
    if (!update_definition_status(after, all(), core_.clock.now())) break;
    put_status(std::move(after), before);
  }
  const Json current = definition(name);
  if (is_established(current)) {
    serve(current);
  } else {
    stop_serving(current);
  }
}

void Definitions::serve(const Json& definition) {
  Result<std::vector<ResourceType>> types = resource_types(definition, nullptr);
  if (!types) return;
  const std::string group = text_at(definition, {"spec", "group"});
  const Json* names = member(definition, {"spec", "names"});
  const std::string plural = names ? text_at(*names, "plural") : "";
  std::set<std::string> served;
  for (ResourceType& type : *types) {
    served.insert(type.version);
    if (type.schema) type.schema = complete_schema(*type.schema, unowned(object_meta_schema()));
    core_.store.shelf(type.store_name());
    core_.conversions->attach(definition, type);
    core_.registry.add(std::move(type));
  }
  for (const ResourceTypePtr& type : core_.registry.all()) {
    if (type->group == group && type->plural == plural && served.count(type->version) == 0) {
      core_.registry.remove(type->group, type->version, type->plural);
    }
  }
}

void Definitions::stop_serving(const Json& definition) {
  const std::string group = text_at(definition, {"spec", "group"});
  const Json* names = member(definition, {"spec", "names"});
  const std::string plural = names ? text_at(*names, "plural") : "";
  for (const ResourceTypePtr& type : core_.registry.all()) {
    if (type->custom && type->group == group && type->plural == plural) {
      core_.registry.remove(type->group, type->version, type->plural);
    }
  }
}

Answer<Deleted> Definitions::remove(const Target& target, const DeleteOptions& options) {
  Json current = definition(target.name);
  if (current.is_null()) return not_found(*target.type, target.name);
  Deleted deleted;
  deleted.uid = text_at(current, {"metadata", "uid"});
  if (is_deleting(current) || options.dry_run) {
    deleted.object = std::make_unique<Json>(std::move(current));
    return deleted;
  }
  busy_ = true;
  Json& metadata = metadata_of(current);
  metadata["deletionTimestamp"] = format_rfc3339(core_.clock.now());
  if (!list_has(metadata, "finalizers", definition_finalizer)) {
    metadata["finalizers"].push_back(definition_finalizer);
  }
  set_condition(current, "Terminating", "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                "soon",
                core_.clock.now());
  writer_.put_internal(*type_, current);
  deleted.object = std::make_unique<Json>(definition(target.name));
  clean_up(target.name);
  busy_ = false;
  return deleted;
}

void Definitions::clean_up(const std::string& name) {
  const Json before = definition(name);
  const ResourceTypePtr type = [this, &before]() -> ResourceTypePtr {
    for (const ResourceTypePtr& candidate : core_.registry.all()) {
      if (candidate->custom && candidate->group_resource() == shelf_name(before)) return candidate;
    }
    return nullptr;
  }();
  if (type) {
    Json progressing = before;
    set_condition(progressing, "Terminating", "InstanceDeletionInProgress",
                  "CustomResource deletion is in progress", core_.clock.now());
    put_status(std::move(progressing), before);
    std::vector<StoredPtr> objects;
    for (const auto& [key, object] : core_.store.shelf(type->store_name()).objects()) {
      objects.push_back(object);
    }
    for (const StoredPtr& object : objects) {
      writer_.remove_internal({type, object->ns(), object->name(), ""});
    }
  }
  finish_if_empty(name);
}

void Definitions::finish_if_empty(const std::string& name) {
  // Called after every deletion of a custom resource: the definition is large, so it is not copied.
  const StoredPtr stored = core_.store.shelf(definitions_shelf).find("", name);
  if (!stored || !is_deleting(stored->value())) return;
  const Json& current = stored->value();
  const Shelf* shelf = core_.store.find_shelf(shelf_name(current));
  if (shelf && !shelf->objects().empty()) return;
  const Json* finalizers = member(current, {"metadata", "finalizers"});
  if (finalizers && finalizers->size() > 1) return;
  stop_serving(current);
  core_.store.drop_shelf(shelf_name(current));
  writer_.erase_internal(*type_, "", name);
}

std::optional<Failure> Definitions::refuse_create(Core& core, const ResourceType& type,
                                                  const std::string& name) {
  if (!type.custom) return std::nullopt;
  const auto starts = core.storage_starts.find(type.group_resource());
  if (starts != core.storage_starts.end() && core.clock.steady() < starts->second) {
    Failure failure{429, "TooManyRequests", "storage is (re)initializing"};
    failure.details.emplace();
    failure.details->retry_after_seconds = 1;
    return failure;
  }
  const StoredPtr definition = core.store.shelf(definitions_shelf).find("", type.group_resource());
  if (!definition || !is_deleting(definition->value())) return std::nullopt;
  return forbidden(type, name,
                   "create not allowed while custom resource definition is terminating");
}

}  // namespace regatta::apiserver
