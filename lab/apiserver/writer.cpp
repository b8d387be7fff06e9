#include "lab/apiserver/writer.h"

#include "lab/apiserver/admission.h"
#include "lab/apiserver/conversions.h"
#include "lab/apiserver/managed.h"
#include "lab/apiserver/patch/managed_fields.h"
#include "lab/terms.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/object_meta.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::apiserver {
namespace {

/// Events are validated as core events, in whichever group they are written.
std::string invalid_group(const ResourceType& type) {
  return type.stored_as.empty() ? type.group : "";
}

bool is_core(const ResourceType& type, std::string_view plural) {
  return type.group.empty() && type.plural == plural;
}

/// Whether an object that is being deleted may be removed now.
bool released(const Json& object, const ResourceType& type) {
  const Json* finalizers = member(object, {"metadata", "finalizers"});
  if (finalizers && !finalizers->empty()) return false;
  if (is_core(type, "namespaces")) {
    const Json* kept = member(object, {"spec", "finalizers"});
    return !kept || kept->empty();
  }
  const Json* metadata = member(object, "metadata");
  const auto grace = metadata ? integer_at(*metadata, "deletionGracePeriodSeconds") : 0;
  return grace.value_or(0) == 0;
}

bool is_version(const std::string& name) {
  return name == "resourceVersion";
}

bool same_metadata(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return a == b;
  auto i = a.begin();
  auto j = b.begin();
  for (;; ++i, ++j) {
    if (i != a.end() && is_version(i.key())) ++i;
    if (j != b.end() && is_version(j.key())) ++j;
    if (i == a.end() || j == b.end()) return i == a.end() && j == b.end();
    if (i.key() != j.key() || *i != *j) return false;
  }
}

/// Equality, without the resourceVersion.
bool same_but_version(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i.key() != j.key()) return false;
    const bool same = i.key() == "metadata" ? same_metadata(*i, *j) : *i == *j;
    if (!same) return false;
  }
  return true;
}

/// Whether clients of this type see the JSON as it is stored.
bool shown_as_stored(const Json& stored, const ResourceType& type) {
  return !type.from_stored && text_at(stored, "kind") == type.kind &&
         text_at(stored, "apiVersion") == type.api_version();
}

void bump_generation(Json& object) {
  Json& metadata = metadata_of(object);
  const auto generation = integer_at(metadata, "generation");
  if (generation && *generation > 0) metadata["generation"] = *generation + 1;
}

std::string default_propagation(const ResourceType& type) {
  return type.group == "batch" && type.plural == "jobs" ? "Orphan" : "";
}

/// Sets the finalizers of a propagation policy; true when they changed.
bool set_policy_finalizers(Json& object, const std::string& policy) {
  if (policy.empty()) return false;
  Json& metadata = metadata_of(object);
  Json wanted = Json::array();
  if (const Json* before = member(metadata, "finalizers"); before && before->is_array()) {
    for (const Json& item : *before) {
      const bool ours = item == "orphan" || item == "foregroundDeletion";
      if (!ours) wanted.push_back(item);
    }
  }
  if (policy == "Orphan") wanted.push_back("orphan");
  if (policy == "Foreground") wanted.push_back("foregroundDeletion");
  const Json before = metadata.value("finalizers", Json::array());
  if (wanted.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = wanted;
  }
  return before != wanted;
}

Failure precondition_failed(const ResourceType& type, const std::string& name,
                            const std::string& why) {
  Failure failure = conflict(type, name, why);
  failure.message = "Operation cannot be fulfilled on " + type.kind +
                    (type.group.empty() ? "" : "." + type.group) + " " + in_quotes(name) + ": " +
                    why;
  failure.details->kind = type.kind;
  return failure;
}

std::optional<Failure> check_preconditions(const ResourceType& type, const std::string& name,
                                           const Json& live, const DeleteOptions& options) {
  const std::string uid = text_at(live, {"metadata", "uid"});
  if (!options.uid.empty() && options.uid != uid) {
    return precondition_failed(type, name,
                               "the UID in the precondition (" + options.uid +
                                   ") does not match the UID in record (" + uid +
                                   "). The object might have been deleted and then recreated");
  }
  const std::string version = text_at(live, {"metadata", "resourceVersion"});
  if (!options.resource_version.empty() && options.resource_version != version) {
    return precondition_failed(type, name,
                               "the ResourceVersion in the precondition (" +
                                   options.resource_version +
                                   ") does not match the ResourceVersion in record (" + version +
                                   "). The object might have been modified");
  }
  return std::nullopt;
}

bool answers_with_object(const ResourceType& type) {
  static const std::set<std::string_view> kinds = {
      "pods",         "serviceaccounts",   "resourcequotas",
      "podtemplates", "persistentvolumes", "persistentvolumeclaims"};
  return type.group.empty() && kinds.count(type.plural) > 0;
}

FieldErrors uid_immutable(const std::string& uid) {
  const FieldError error{"FieldValueInvalid", "metadata.uid",
                         "Invalid value: " + in_quotes(uid) + ": field is immutable"};
  return {error, error};
}

/// Checks the uid and the resourceVersion that a client sent.
std::optional<Failure> check_versions(const Target& target, const Json& object, const Json& live,
                                      bool put) {
  const ResourceType& type = *target.type;
  const std::string version = text_at(object, {"metadata", "resourceVersion"});
  const Result<std::uint64_t> asked = parse_version(version);
  if (!asked) return internal_error(asked.error().what());
  const std::string uid = text_at(object, {"metadata", "uid"});
  const std::string live_uid = text_at(live, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    if (!put) return invalid(type.group, type.kind, target.name, uid_immutable(uid));
    return conflict(
        type, target.name,
        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + live_uid);
  }
  if (put && *asked == 0 && !type.strategy->allow_unconditional_update()) {
    return invalid(type.group, type.plural, target.name,
                   {{"FieldValueInvalid", "metadata.resourceVersion",
                     "Invalid value: 0: must be specified for an update"}});
  }
  if (*asked != 0 && version != text_at(live, {"metadata", "resourceVersion"})) {
    return modified_conflict(type, target.name);
  }
  return std::nullopt;
}

void append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

/// How often an update starts again because the object changed while webhooks were called.
constexpr int update_rounds_max = 5;

/// The largest request that etcd accepts.
constexpr std::size_t stored_bytes_max = 1536 * 1024;

Failure too_large_to_store() {
  return Failure{500, "", "etcdserver: request is too large"};
}

void warn_of_owners(Exchange& exchange, Json& object) {
  std::string warning = drop_repeated_owners(object);
  if (!warning.empty()) exchange.warnings.push_back(std::move(warning));
}

/// CreateOptions or UpdateOptions, as webhooks see them.
Json options_json(const Exchange& exchange, std::string_view operation,
                  const WriteOptions& options) {
  Json json = {{"kind", operation == "CREATE" ? "CreateOptions" : "UpdateOptions"},
               {"apiVersion", "meta.k8s.io/v1"}};
  if (options.dry_run) json["dryRun"] = {"All"};
  if (!options.field_manager.empty()) json["fieldManager"] = options.field_manager;
  const std::string& validation = exchange.info.query.get("fieldValidation");
  if (!validation.empty()) json["fieldValidation"] = validation;
  return json;
}

Json options_json(const DeleteOptions& options) {
  Json json = {{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  if (options.dry_run) json["dryRun"] = {"All"};
  if (options.grace_period_seconds) json["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.propagation_policy.empty()) json["propagationPolicy"] = options.propagation_policy;
  if (!options.uid.empty()) json["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    json["preconditions"]["resourceVersion"] = options.resource_version;
  }
  return json;
}

HookedWrite hooked_write(Exchange& exchange, const Target& target, const char* operation,
                         const WriteOptions& options) {
  return {exchange,           *target.type, target.ns, target.name,
          target.subresource, operation,    nullptr,   options_json(exchange, operation, options),
          options.dry_run};
}

}  // namespace

Json to_stored_version(Json object, const ResourceType& type) {
  if (type.to_stored) return type.to_stored(std::move(object));
  object["apiVersion"] =
      type.group.empty() ? type.storage_version : type.group + "/" + type.storage_version;
  object["kind"] = type.kind;
  return object;
}

Json Written::in(const ResourceType& type) const {
  return stored ? in_version(stored->value(), type) : object;
}

Task<Answer<Written>> ObjectWriter::create(Exchange& exchange, const Target& target, Json object,
                                           const WriteOptions& options, bool tracked) {
  const ResourceType& type = *target.type;
  const TimePoint now = core_.clock.now();
  if (!text_at(object, {"metadata", "resourceVersion"}).empty()) {
    co_return internal_error("resourceVersion should not be set on objects to be created");
  }
  if (type.namespaced) metadata_of(object)["namespace"] = target.ns;
  const std::string sent_name = text_at(object, {"metadata", "name"});
  start_metadata(object, now, core_.rng);
  warn_of_owners(exchange, object);
  type.strategy->set_defaults(object);
  ManagedWrite managed{type, manager_name(options, exchange.request.headers.get("User-Agent")), "",
                       now};
  if (!tracked) track_create(object, managed);
  if (auto refused = admit_create(core_, exchange, type, target.ns, object)) {
    co_return std::move(*refused);
  }
  const bool concerned = hooks_.any(type, "", "CREATE");
  if (concerned) {
    HookedWrite hooked = hooked_write(exchange, target, "CREATE", options);
    hooked.name = sent_name;
    if (auto refused = co_await hooks_.mutate(hooked, &object)) co_return std::move(*refused);
  }
  type.strategy->prepare_for_create(object, now);

  const std::string name = text_at(object, {"metadata", "name"});
  FieldErrors errors = validate_metadata(object, type);
  append(errors, type.strategy->validate_create(object));
  if (!errors.empty()) co_return invalid(invalid_group(type), type.kind, name, std::move(errors));
  for (std::string& warning : type.strategy->warnings(object)) {
    exchange.warnings.push_back(std::move(warning));
  }
  if (concerned) {
    HookedWrite hooked = hooked_write(exchange, target, "CREATE", options);
    hooked.name = name;
    if (auto refused = co_await hooks_.validate(hooked, &object)) co_return std::move(*refused);
  }

  Target at = target;
  at.name = name;
  Json shown = Conversions::concerns(type) && options.dry_run ? object : Json();
  Answer<Json> to_store = co_await to_storage(at, std::move(object));
  if (!to_store) co_return to_store.error();

  Shelf& shelf = shelf_of(type);
  if (const StoredPtr existing = shelf.find(target.ns, name)) {
    Failure failure = already_exists(type, name);
    if (is_deleting(existing->value())) {
      failure.message = "object is being deleted: " + failure.message;
    }
    co_return failure;
  }
  if (options.dry_run) {
    co_return Written{shown.is_null() ? std::move(*to_store) : std::move(shown), true};
  }
  if (exchange.request.body.size() > stored_bytes_max) co_return too_large_to_store();
  StoredPtr stored = put(at, std::move(*to_store));
  notify(type, target.ns, name, &stored->value());
  co_return Written{Json(), true, std::move(stored)};
}

Task<Answer<Written>> ObjectWriter::update(Exchange& exchange, const Target& target,
                                           const Maker& make, UpdateMode mode,
                                           const WriteOptions& options) {
  const std::vector<std::string> warnings = exchange.warnings;
  for (int round = 1;; ++round) {
    bool moved = false;
    Answer<Written> written = co_await update_once(exchange, target, make, mode, options, &moved);
    if (!moved || round == update_rounds_max) co_return written;
    exchange.warnings = warnings;
  }
}

Task<Answer<Written>> ObjectWriter::update_once(Exchange& exchange, const Target& target,
                                                const Maker& make, UpdateMode mode,
                                                const WriteOptions& options, bool* moved) {
  const ResourceType& type = *target.type;
  const StoredPtr current = shelf_of(type).find(target.ns, target.name);
  if (!current) {
    if (!mode.creates) co_return not_found(type, target.name);
    Answer<Json> object = make(nullptr);
    if (!object) co_return object.error();
    metadata_of(*object).erase("resourceVersion");
    co_return co_await create(exchange, target, std::move(*object), options, mode.tracked);
  }
  if (Conversions::concerns(type)) {
    if (auto failed = co_await core_.conversions->prepare(type, {current})) co_return *failed;
  }
  Json converted;
  const bool as_stored = shown_as_stored(current->value(), type);
  if (!as_stored) converted = in_version(current->value(), type);
  const Update update{current, as_stored ? current->value() : converted, mode, options};
  Answer<Json> wanted = make(&update.live);
  if (!wanted) co_return wanted.error();
  Json object = std::move(*wanted);
  if (auto refused = check_versions(target, object, update.live, mode.put)) {
    co_return std::move(*refused);
  }
  if (auto refused = co_await prepare_update(exchange, target, update, object)) {
    co_return std::move(*refused);
  }
  FieldErrors errors = check_update(target, update, object);
  if (!errors.empty()) {
    co_return invalid(invalid_group(type), type.kind, target.name, std::move(errors));
  }
  for (std::string& warning : type.strategy->warnings(object)) {
    exchange.warnings.push_back(std::move(warning));
  }
  if (hooks_.any(type, target.subresource, "UPDATE")) {
    HookedWrite hooked = hooked_write(exchange, target, "UPDATE", options);
    hooked.old = &update.live;
    if (auto refused = co_await hooks_.validate(hooked, &object)) co_return std::move(*refused);
  }
  const bool unchanged = same_but_version(object, update.live);
  if (options.dry_run) co_return Written{std::move(object), false};
  Target at = target;
  Answer<Json> to_store = co_await to_storage(at, std::move(object));
  if (!to_store) co_return to_store.error();
  *moved = shelf_of(type).find(target.ns, target.name) != current;
  if (*moved) co_return modified_conflict(type, target.name);
  if (unchanged) co_return Written{update.live, false};
  co_return store_update(exchange, at, update, std::move(*to_store));
}

Task<std::optional<Failure>> ObjectWriter::prepare_update(Exchange& exchange, const Target& target,
                                                          const Update& update, Json& object) {
  const ResourceType& type = *target.type;
  if (!update.mode.defaulted) type.strategy->set_defaults(object);
  keep_system_metadata(object, update.live);
  warn_of_owners(exchange, object);
  metadata_of(object)["resourceVersion"] = update.live["metadata"]["resourceVersion"];
  if (!update.mode.tracked) {
    const ManagedWrite managed{
        type, manager_name(update.options, exchange.request.headers.get("User-Agent")),
        target.subresource, core_.clock.now()};
    track_update(object, update.live, managed);
  }
  if (!hooks_.any(type, target.subresource, "UPDATE")) co_return std::nullopt;
  HookedWrite hooked = hooked_write(exchange, target, "UPDATE", update.options);
  hooked.old = &update.live;
  auto refused = co_await hooks_.mutate(hooked, &object);
  if (!refused) keep_system_metadata(object, update.live);
  co_return refused;
}

FieldErrors ObjectWriter::check_update(const Target& target, const Update& update,
                                       Json& object) const {
  const ResourceType& type = *target.type;
  const Json& live = update.live;
  const TimePoint now = core_.clock.now();
  const bool status = target.subresource == "status";
  const bool part = target.subresource == "ephemeralcontainers" || target.subresource == "resize";
  if (status) {
    type.strategy->prepare_for_status_update(object, live, now);
  } else if (part) {
    type.strategy->prepare_for_part(target.subresource, object, live);
  } else if (target.subresource != "finalize") {
    type.strategy->prepare_for_update(object, live, now);
  }
  ignore_time_only_change(&object, live);
  FieldErrors errors = validate_metadata_update(object, live, type);
  append(errors, status ? type.strategy->validate_status_update(object, live)
                 : part ? type.strategy->validate_part(target.subresource, object, live)
                        : type.strategy->validate_update(object, live));
  return errors;
}

Task<Answer<Json>> ObjectWriter::to_storage(Target& target, Json object) {
  if (!Conversions::concerns(*target.type)) co_return object;
  const ResourceTypePtr from = target.type;
  target.type = core_.conversions->stored_type(from);
  co_return co_await core_.conversions->convert(std::move(object), *from, *target.type);
}

Answer<Written> ObjectWriter::store_update(Exchange& exchange, const Target& target,
                                           const Update& update, Json object) {
  const ResourceType& type = *target.type;
  if (exchange.request.body.size() > stored_bytes_max) return too_large_to_store();
  if (is_deleting(object) && released(object, type)) {
    erase(target, *update.current, object);
    notify(type, target.ns, target.name, nullptr);
    return Written{std::move(object), false};
  }
  StoredPtr stored = put(target, std::move(object));
  notify(type, target.ns, target.name, &stored->value());
  return Written{Json(), false, std::move(stored)};
}

Task<Answer<Deleted>> ObjectWriter::remove(Exchange& exchange, const Target& target,
                                           const DeleteOptions& options) {
  const ResourceType& type = *target.type;
  for (int round = 1; round <= update_rounds_max && hooks_.any(type, "", "DELETE"); ++round) {
    const StoredPtr current = shelf_of(type).find(target.ns, target.name);
    if (!current) co_return not_found(type, target.name);
    if (Conversions::concerns(type)) {
      if (auto failed = co_await core_.conversions->prepare(type, {current})) co_return *failed;
    }
    const Json old = in_version(current->value(), type);
    if (auto failed = check_preconditions(type, target.name, old, options)) {
      co_return std::move(*failed);
    }
    const HookedWrite hooked{
        exchange,       type, target.ns, target.name, "", "DELETE", &old, options_json(options),
        options.dry_run};
    if (auto refused = co_await hooks_.mutate(hooked, nullptr)) co_return std::move(*refused);
    if (auto refused = co_await hooks_.validate(hooked, nullptr)) co_return std::move(*refused);
    if (shelf_of(type).find(target.ns, target.name) == current) break;
  }
  if (!Conversions::concerns(type)) co_return remove_now(exchange, target, options);
  Target at = target;
  at.type = core_.conversions->stored_type(target.type);
  Answer<Deleted> deleted = remove_now(exchange, at, options);
  if (!deleted || !deleted->object) co_return deleted;
  Answer<Json> shown = co_await core_.conversions->convert(*deleted->object, *at.type, type);
  if (!shown) co_return shown.error();
  *deleted->object = std::move(*shown);
  co_return deleted;
}

Answer<Deleted> ObjectWriter::remove_now(Exchange& exchange, const Target& target,
                                         const DeleteOptions& options) {
  const ResourceType& type = *target.type;
  const StoredPtr current = shelf_of(type).find(target.ns, target.name);
  if (!current) return not_found(type, target.name);
  Json object = in_version(current->value(), type);
  if (auto failed = check_preconditions(type, target.name, object, options)) {
    return std::move(*failed);
  }
  if (type.plural == "customresourcedefinitions" && remove_definition_) {
    return remove_definition_(target, options);
  }
  if (is_core(type, "namespaces")) return remove_namespace(target, *current, object, options);
  if (is_core(type, "pods")) return remove_pod(target, *current, object, options);

  std::string policy = options.propagation_policy;
  if (policy.empty() && !is_deleting(object)) {
    policy = default_propagation(type);
    if (!policy.empty()) {
      exchange.warnings.push_back(
          "child pods are preserved by default when jobs are deleted; set "
          "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
          "suppress this warning");
    }
  }
  Deleted deleted;
  deleted.uid = text_at(object, {"metadata", "uid"});
  const bool changed = set_policy_finalizers(object, policy);
  const Json* finalizers = member(object, {"metadata", "finalizers"});
  if (finalizers && !finalizers->empty()) {
    const bool was_deleting = is_deleting(object);
    if (!was_deleting) {
      metadata_of(object)["deletionTimestamp"] = format_rfc3339(core_.clock.now());
      metadata_of(object)["deletionGracePeriodSeconds"] = 0;
      bump_generation(object);
    }
    if ((changed || !was_deleting) && !options.dry_run) {
      const StoredPtr stored = put(target, object);
      metadata_of(object)["resourceVersion"] = std::to_string(stored->version());
      notify(type, target.ns, target.name, &stored->value());
    }
    deleted.object = std::make_unique<Json>(std::move(object));
    return deleted;
  }
  if (answers_with_object(type)) deleted.object = std::make_unique<Json>(object);
  if (options.dry_run) return deleted;
  erase(target, *current, std::move(object));
  notify(type, target.ns, target.name, nullptr);
  if (deleted.object) {
    metadata_of(*deleted.object)["resourceVersion"] = std::to_string(core_.store.version());
  }
  return deleted;
}

Answer<Deleted> ObjectWriter::remove_namespace(const Target& target, const Stored& current,
                                               Json object, const DeleteOptions& options) {
  const ResourceType& type = *target.type;
  for (const char* kept : {"default", "kube-system", "kube-public"}) {
    if (target.name == kept) {
      return forbidden(type, target.name, "this namespace may not be deleted");
    }
  }
  Deleted deleted;
  deleted.uid = text_at(object, {"metadata", "uid"});
  if (!is_deleting(object)) {
    metadata_of(object)["deletionTimestamp"] = format_rfc3339(core_.clock.now());
    object["status"]["phase"] = "Terminating";
    if (!options.dry_run) {
      const StoredPtr stored = put(target, object);
      metadata_of(object)["resourceVersion"] = std::to_string(stored->version());
      notify(type, target.ns, target.name, &stored->value());
    }
  } else if (released(object, type) && !options.dry_run) {
    erase(target, current, object);
    notify(type, target.ns, target.name, nullptr);
  }
  deleted.object = std::make_unique<Json>(std::move(object));
  return deleted;
}

Answer<Deleted> ObjectWriter::remove_pod(const Target& target, const Stored& current, Json object,
                                         const DeleteOptions& options) {
  const ResourceType& type = *target.type;
  Json& metadata = metadata_of(object);
  const std::string phase = text_at(object, {"status", "phase"});
  const Json* spec = member(object, "spec");
  std::int64_t grace = spec ? integer_at(*spec, "terminationGracePeriodSeconds").value_or(30) : 30;
  if (options.grace_period_seconds) grace = *options.grace_period_seconds;
  const bool unbound = text_at(object, {"spec", "nodeName"}).empty();
  if (unbound || phase == "Succeeded" || phase == "Failed") grace = 0;
  if (grace < 0) grace = 1;

  const bool was_deleting = is_deleting(object);
  bool changed = set_policy_finalizers(object, options.propagation_policy);
  const std::int64_t before =
      integer_at(metadata, "deletionGracePeriodSeconds").value_or(grace + 1);
  if (!was_deleting || grace < before) {
    metadata["deletionTimestamp"] = format_rfc3339(core_.clock.now() + std::chrono::seconds(grace));
    metadata["deletionGracePeriodSeconds"] = grace;
    if (!was_deleting) bump_generation(object);
    changed = true;
  }
  Deleted deleted;
  deleted.uid = text_at(object, {"metadata", "uid"});
  if (changed && !options.dry_run) {
    const StoredPtr stored = put(target, object);
    metadata["resourceVersion"] = std::to_string(stored->version());
    notify(type, target.ns, target.name, &stored->value());
  }
  if (released(object, type) && !options.dry_run) {
    erase(target, current, object);
    metadata["resourceVersion"] = std::to_string(core_.store.version());
    notify(type, target.ns, target.name, nullptr);
  }
  deleted.object = std::make_unique<Json>(std::move(object));
  return deleted;
}

StoredPtr ObjectWriter::put(const Target& target, Json object) {
  return core_.store.put(shelf_of(*target.type), target.ns, target.name,
                         to_stored_version(std::move(object), *target.type));
}

void ObjectWriter::erase(const Target& target, const Stored& current, Json last) {
  core_.store.erase(shelf_of(*target.type), current,
                    to_stored_version(std::move(last), *target.type));
}

void ObjectWriter::put_internal(const ResourceType& type, Json object) {
  const std::string ns = type.namespaced ? text_at(object, {"metadata", "namespace"}) : "";
  const std::string name = text_at(object, {"metadata", "name"});
  Shelf& shelf = shelf_of(type);
  const StoredPtr current = shelf.find(ns, name);
  if (!current && text_at(object, {"metadata", "uid"}).empty()) {
    start_metadata(object, core_.clock.now(), core_.rng);
  }
  if (current && same_but_version(object, current->value())) {
    return;
  }
  const StoredPtr stored =
      core_.store.put(shelf, ns, name, to_stored_version(std::move(object), type));
  notify(type, ns, name, &stored->value());
}

void ObjectWriter::remove_internal(const Target& target) {
  const StoredPtr current = shelf_of(*target.type).find(target.ns, target.name);
  if (!current) return;
  Json object = in_version(current->value(), *target.type);
  const Json* finalizers = member(object, {"metadata", "finalizers"});
  if (!finalizers || finalizers->empty()) {
    erase_internal(*target.type, target.ns, target.name);
    return;
  }
  if (is_deleting(object)) return;
  metadata_of(object)["deletionTimestamp"] = format_rfc3339(core_.clock.now());
  metadata_of(object)["deletionGracePeriodSeconds"] = 0;
  bump_generation(object);
  put_internal(*target.type, std::move(object));
}

void ObjectWriter::erase_internal(const ResourceType& type, const std::string& ns,
                                  const std::string& name) {
  Shelf& shelf = shelf_of(type);
  const StoredPtr current = shelf.find(ns, name);
  if (!current) return;
  core_.store.erase(shelf, *current, current->value());
  notify(type, ns, name, nullptr);
}

void ObjectWriter::notify(const ResourceType& type, const std::string& ns, const std::string& name,
                          const Json* object) {
  if (observer_) observer_(type, ns, name, object);
}

}  // namespace regatta::apiserver
