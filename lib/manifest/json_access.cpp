#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest {

const Json* member(const Json& value, std::string_view name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

const Json* member(const Json& value, std::string_view first, std::string_view second) {
  const Json* outer = member(value, first);
  return outer ? member(*outer, second) : nullptr;
}

const Json& at_or_null(const Json& value, std::string_view name) {
  static const Json nothing;
  const Json* found = member(value, name);
  return found ? *found : nothing;
}

bool true_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_boolean() && found->get<bool>();
}

const std::string* string_member(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_string() ? &found->get_ref<const std::string&>() : nullptr;
}

std::string string_or_empty(const Json& value, std::string_view name) {
  const std::string* found = string_member(value, name);
  return found ? *found : std::string();
}

std::string string_or_empty(const Json& value, std::string_view first, std::string_view second) {
  const Json* outer = member(value, first);
  return outer ? string_or_empty(*outer, second) : std::string();
}

std::optional<std::int64_t> integer_member(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  if (!found || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool list_has(const Json& value, std::string_view list, std::string_view text) {
  const Json* found = member(value, list);
  if (!found || !found->is_array()) return false;
  return std::any_of(found->begin(), found->end(), [text](const Json& item) {
    return item.is_string() && item.get_ref<const std::string&>() == text;
  });
}

Json& metadata_of(Json& object) {
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  return metadata;
}

bool is_deleting(const Json& object) {
  return member(object, "metadata", "deletionTimestamp") != nullptr;
}

}  // namespace regatta::manifest
