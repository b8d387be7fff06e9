#include "lib/manifest/object_meta.h"

#include "lib/manifest/failure.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest {
namespace {

constexpr std::size_t generated_prefix_max = 58;
constexpr std::size_t annotations_bytes_max = 256 * 1024;

FieldError bad(std::string field, std::string_view value, const std::string& why) {
  return {"FieldValueInvalid", std::move(field), "Invalid value: " + in_quotes(value) + ": " + why};
}

void check_keys(const Json* map, const char* field, FieldErrors& errors) {
  if (!map || !map->is_object()) return;
  for (const auto& [key, value] : map->items()) {
    for (const std::string& why : api::check_qualified_name(key)) {
      errors.push_back(bad(field, key, why));
    }
    if (field != std::string_view("metadata.labels") || !value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    for (const std::string& why : api::check_label_value(text)) {
      errors.push_back(bad(field, text, why));
    }
  }
}

void check_annotations(const Json* annotations, FieldErrors& errors) {
  if (!annotations || !annotations->is_object()) return;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations->items()) {
    bytes += key.size();
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  check_keys(annotations, "metadata.annotations", errors);
  if (bytes > annotations_bytes_max) {
    errors.push_back({"FieldValueTooLong", "metadata.annotations",
                      "Too long: may not be more than 262144 bytes"});
  }
}

void check_finalizers(const Json* finalizers, FieldErrors& errors) {
  if (!finalizers || !finalizers->is_array()) return;
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    const Json& item = (*finalizers)[i];
    if (!item.is_string()) continue;
    const std::string& name = item.get_ref<const std::string&>();
    const std::string field = "metadata.finalizers[" + std::to_string(i) + "]";
    for (const std::string& why : api::check_qualified_name(name)) {
      errors.push_back(bad(field, name, why));
    }
    const bool standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    if (!standard && name.find('/') == std::string::npos) {
      errors.push_back(
          bad(field, name, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
}

void check_owners(const Json* owners, FieldErrors& errors) {
  if (!owners || !owners->is_array()) return;
  int controllers = 0;
  for (const Json& owner : *owners) {
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (!text_at(owner, field).empty()) continue;
      const bool version = field == std::string_view("apiVersion");
      errors.push_back(bad(std::string("metadata.ownerReferences.") + field, "",
                           version ? "version must not be empty" : "must not be empty"));
    }
    if (text_at(owner, "apiVersion") == "v1" && text_at(owner, "kind") == "Event") {
      errors.push_back(bad("metadata.ownerReferences", "/v1, Kind=Event",
                           "/v1, Kind=Event is disallowed from being an owner"));
    }
    const Json* controller = member(owner, "controller");
    if (controller && controller->is_boolean() && controller->get<bool>()) ++controllers;
  }
  if (controllers > 1) {
    errors.push_back({"FieldValueInvalid", "metadata.ownerReferences",
                      "Invalid value: " + owners->dump() +
                          ": Only one reference can have Controller set to true."});
  }
}

}  // namespace

std::string generated_name(std::string_view prefix, Rng& rng) {
  return std::string(prefix.substr(0, generated_prefix_max)) + rng.name_suffix();
}

std::string drop_repeated_owners(Json& object) {
  const Json* found = member(object, {"metadata", "ownerReferences"});
  if (!found || !found->is_array() || found->size() < 2) return {};
  Json kept = Json::array();
  std::set<std::string> repeated;
  for (const Json& owner : *found) {
    if (std::find(kept.begin(), kept.end(), owner) == kept.end()) {
      kept.push_back(owner);
    } else {
      repeated.insert(text_at(owner, "uid"));
    }
  }
  if (repeated.empty()) return {};
  metadata_of(object)["ownerReferences"] = std::move(kept);
  std::string uids;
  for (const std::string& uid : repeated) uids += (uids.empty() ? "" : ", ") + uid;
  return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
         "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
         "duplicate UID(s) observed: " +
         uids;
}

void start_metadata(Json& object, TimePoint now, Rng& rng) {
  Json& metadata = metadata_of(object);
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                            "resourceVersion", "generation"}) {
    metadata.erase(field);
  }
  std::erase_if(metadata.get_ref<Json::object_t&>(),
                [](const auto& entry) { return entry.second.is_null(); });
  metadata["uid"] = rng.uuid();
  metadata["creationTimestamp"] = format_rfc3339(now);
  if (text_at(metadata, "name").empty()) {
    const std::string prefix = text_at(metadata, "generateName");
    if (!prefix.empty()) metadata["name"] = generated_name(prefix, rng);
  }
}

void keep_system_metadata(Json& object, const Json& old) {
  Json& metadata = metadata_of(object);
  const Json* before = member(old, "metadata");
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp", "generation",
                            "deletionGracePeriodSeconds", "generateName", "namespace"}) {
    const Json* value = before ? member(*before, field) : nullptr;
    if (value) {
      metadata[field] = *value;
    } else {
      metadata.erase(field);
    }
  }
  metadata.erase("selfLink");
}

FieldErrors validate_metadata(const Json& object, const ResourceType& type) {
  FieldErrors errors;
  const Json empty = Json::object();
  const Json* metadata = member(object, "metadata");
  if (!metadata) metadata = &empty;
  const std::string prefix = text_at(*metadata, "generateName");
  if (!prefix.empty()) {
    // A dash at the end of the prefix is not the end of the name: a suffix follows it.
    std::string shown = prefix;
    if (shown.size() > 1 && shown.back() == '-') shown.back() = 'a';
    for (const std::string& why : name_errors(type, shown)) {
      errors.push_back(bad("metadata.generateName", prefix, why));
    }
  }
  const std::string name = text_at(*metadata, "name");
  if (name.empty()) {
    errors.push_back({"FieldValueRequired", "metadata.name",
                      "Required value: name or generateName is required"});
  } else {
    for (const std::string& why : name_errors(type, name)) {
      errors.push_back(bad("metadata.name", name, why));
    }
  }
  check_keys(member(*metadata, "labels"), "metadata.labels", errors);
  check_annotations(member(*metadata, "annotations"), errors);
  check_owners(member(*metadata, "ownerReferences"), errors);
  check_finalizers(member(*metadata, "finalizers"), errors);
  return errors;
}

FieldErrors validate_metadata_update(const Json& object, const Json& old,
                                     const ResourceType& type) {
  FieldErrors errors = validate_metadata(object, type);
  const Json* finalizers = member(object, {"metadata", "finalizers"});
  if (is_deleting(old) && finalizers && finalizers->is_array()) {
    const Json* before = member(old, {"metadata", "finalizers"});
    Json added = Json::array();
    for (const Json& item : *finalizers) {
      if (!before || std::find(before->begin(), before->end(), item) == before->end()) {
        added.push_back(item);
      }
    }
    if (!added.empty()) {
      errors.push_back({"FieldValueForbidden", "metadata.finalizers",
                        "Forbidden: no new finalizers can be added if the object is being "
                        "deleted, found new finalizers []string{" +
                            added.dump().substr(1, added.dump().size() - 2) + "}"});
    }
  }
  return errors;
}

api::Complaints name_errors(const ResourceType& type, std::string_view name) {
  switch (type.strategy->name_rule()) {
    case NameRule::label:
      return api::check_dns1123_label(name);
    case NameRule::label_rfc1035:
      return api::check_dns1035_label(name);
    case NameRule::path_segment:
      if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
      if (name.find('/') != std::string_view::npos) return {"may not contain '/'"};
      if (name.find('%') != std::string_view::npos) return {"may not contain '%'"};
      return {};
    case NameRule::subdomain:
      break;
  }
  return api::check_dns1123_subdomain(name);
}

}  // namespace regatta::manifest
