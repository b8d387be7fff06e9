#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta {
namespace {

const std::string& text_of(const Json* value) {
  static const std::string none;
  return value && value->is_string() ? value->get_ref<const std::string&>() : none;
}

}  // namespace

const Json* member(const Json& value, std::string_view name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

const Json* member(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* here = &value;
  for (const std::string_view name : path) {
    here = member(*here, name);
    if (!here) return nullptr;
  }
  return here;
}

const Json& at_or_null(const Json& value, std::string_view name) {
  static const Json nothing;
  const Json* found = member(value, name);
  return found ? *found : nothing;
}

const Json* object_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_object() ? found : nullptr;
}

const Json* list_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_array() ? found : nullptr;
}

const Json& list_or_empty(const Json& value, std::string_view name) {
  static const Json none = Json::array();
  const Json* found = list_at(value, name);
  return found ? *found : none;
}

const Json& object_or_empty(const Json& value, std::initializer_list<std::string_view> path) {
  static const Json none = Json::object();
  const Json* found = member(value, path);
  return found && found->is_object() ? *found : none;
}

const std::string& text_at(const Json& value, std::string_view name) {
  return text_of(member(value, name));
}

const std::string& text_at(const Json& value, std::initializer_list<std::string_view> path) {
  return text_of(member(value, path));
}

const std::string* string_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_string() ? &found->get_ref<const std::string&>() : nullptr;
}

std::optional<std::int64_t> integer_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  if (!found || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool true_at(const Json& value, std::string_view name) {
  const Json* found = member(value, name);
  return found && found->is_boolean() && found->get<bool>();
}

}  // namespace regatta
