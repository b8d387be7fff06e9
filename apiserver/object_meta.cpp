#include "apiserver/object_meta.h"

#include "apiserver/failure.h"
#include "apiserver/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

constexpr std::size_t generated_prefix_max = 58;
constexpr std::size_t annotations_bytes_max = 256 * 1024;
constexpr std::size_t label_bytes_max = 63;
constexpr std::size_t subdomain_bytes_max = 253;

bool lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool alnum(char c) {
  return lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

bool is_dns_label(std::string_view text) {
  if (text.empty() || !lower_alnum(text.front()) || !lower_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    if (!is_dns_label(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool is_name_part(std::string_view text) {
  if (text.empty() || !alnum(text.front()) || !alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return alnum(c) || c == '-' || c == '_' || c == '.'; });
}

FieldError bad(std::string field, std::string_view value, const std::string& why) {
  return {"FieldValueInvalid", std::move(field), "Invalid value: " + in_quotes(value) + ": " + why};
}

void check_keys(const Json* map, const char* field, FieldErrors& errors) {
  if (!map || !map->is_object()) return;
  for (const auto& [key, value] : map->items()) {
    for (const std::string& why : qualified_name_errors(key)) {
      errors.push_back(bad(field, key, why));
    }
    if (field != std::string_view("metadata.labels") || !value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    const std::string why = label_value_error(text);
    if (!why.empty()) errors.push_back(bad(field, text, why));
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
    for (const std::string& why : qualified_name_errors(name)) {
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
      if (string_or_empty(owner, field).empty()) {
        errors.push_back(
            bad(std::string("metadata.ownerReferences.") + field, "", "must not be empty"));
      }
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

std::string dns_label_error(std::string_view value) {
  if (value.size() > label_bytes_max) return "must be no more than 63 characters";
  if (is_dns_label(value)) return "";
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
         "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
         "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

std::string subdomain_error(std::string_view value) {
  if (value.size() > subdomain_bytes_max) return "must be no more than 253 characters";
  if (is_subdomain(value)) return "";
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
         "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
         "regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

std::vector<std::string> qualified_name_errors(std::string_view key) {
  std::vector<std::string> errors;
  const std::size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (prefix.empty()) {
      errors.push_back("prefix part must be non-empty");
    } else if (const std::string why = subdomain_error(prefix); !why.empty()) {
      errors.push_back("prefix part " + why);
    }
  }
  if (name.empty()) {
    errors.push_back("name part must be non-empty");
  } else if (name.size() > label_bytes_max) {
    errors.push_back("name part must be no more than 63 bytes");
  }
  if (!is_name_part(name)) {
    errors.push_back(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
        "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  }
  return errors;
}

std::string label_value_error(std::string_view value) {
  if (value.size() > label_bytes_max) return "must be no more than 63 bytes";
  if (value.empty() || is_name_part(value)) return "";
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
         "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
         "'my_value',  or '12345', regex used for validation is "
         "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

std::string generated_name(std::string_view prefix, Rng& rng) {
  return std::string(prefix.substr(0, generated_prefix_max)) + rng.name_suffix();
}

void start_metadata(Json& object, TimePoint now, Rng& rng) {
  Json& metadata = metadata_of(object);
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                            "resourceVersion", "generation"}) {
    metadata.erase(field);
  }
  metadata["uid"] = rng.uuid();
  metadata["creationTimestamp"] = format_rfc3339(now);
  if (string_or_empty(metadata, "name").empty()) {
    const std::string prefix = string_or_empty(metadata, "generateName");
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
  const std::string name = string_or_empty(*metadata, "name");
  if (name.empty()) {
    errors.push_back({"FieldValueRequired", "metadata.name",
                      "Required value: name or generateName is required"});
  } else {
    const std::string why = name_error(type, name);
    if (!why.empty()) errors.push_back(bad("metadata.name", name, why));
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
  const Json* finalizers = member(object, "metadata", "finalizers");
  if (is_deleting(old) && finalizers && finalizers->is_array()) {
    const Json* before = member(old, "metadata", "finalizers");
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

std::string name_error(const ResourceType& type, std::string_view name) {
  switch (type.strategy->name_rule()) {
    case NameRule::label:
    case NameRule::label_rfc1035:
      return dns_label_error(name);
    case NameRule::path_segment:
      if (name == "." || name == "..") return "may not be '" + std::string(name) + "'";
      if (name.find('/') != std::string_view::npos) return "may not contain '/'";
      if (name.find('%') != std::string_view::npos) return "may not contain '%'";
      return "";
    case NameRule::subdomain:
      break;
  }
  return subdomain_error(name);
}

}  // namespace regatta::apiserver
