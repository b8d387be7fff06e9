#include "lib/manifest/builtin/access.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

bool empty_value(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return true;
    case Json::value_t::string:
      return value.get_ref<const std::string&>().empty();
    case Json::value_t::boolean:
      return !value.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return value.get<std::int64_t>() == 0;
    default:
      return value.empty();
  }
}

bool missing(const Json& object, std::string_view name) {
  return object.is_object() && member(object, name) == nullptr;
}

std::string with_detail(std::string text, std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

}  // namespace

Json& object_in(Json& object, std::string_view name) {
  if (!object.is_object()) object = Json::object();
  Json& there = object[std::string(name)];
  if (!there.is_object()) there = Json::object();
  return there;
}

void default_to(Json& object, std::string_view name, const char* value) {
  if (missing(object, name)) object[std::string(name)] = value;
}

void default_to(Json& object, std::string_view name, std::int64_t value) {
  if (missing(object, name)) object[std::string(name)] = value;
}

void default_to(Json& object, std::string_view name, bool value) {
  if (missing(object, name)) object[std::string(name)] = value;
}

void default_object(Json& object, std::string_view name) {
  if (missing(object, name)) object[std::string(name)] = Json::object();
}

void drop_empty(Json& object, std::string_view name) {
  if (!object.is_object()) return;
  const auto found = object.find(name);
  if (found != object.end() && empty_value(*found)) object.erase(found);
}

void copy_member(Json& to, const Json& from, std::string_view name) {
  if (const Json* value = member(from, name)) {
    to[std::string(name)] = *value;
  } else if (to.is_object()) {
    to.erase(std::string(name));
  }
}

bool same_member(const Json& a, const Json& b, std::string_view name) {
  const Json* left = member(a, name);
  const Json* right = member(b, name);
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

const Json* condition_in(const Json& conditions, std::string_view type) {
  if (!conditions.is_array()) return nullptr;
  for (const Json& condition : conditions) {
    if (text_at(condition, "type") == type) return &condition;
  }
  return nullptr;
}

bool condition_true(const Json& object, std::string_view type) {
  const Json* conditions = member(object, {"status", "conditions"});
  if (conditions == nullptr) return false;
  const Json* found = condition_in(*conditions, type);
  return found != nullptr && text_at(*found, "status") == "True";
}

FieldError invalid(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueInvalid", std::move(field),
          with_detail("Invalid value: " + dump_json(value), detail)};
}

FieldError invalid_bare(std::string field, std::string_view detail) {
  return {"FieldValueInvalid", std::move(field), "Invalid value: " + std::string(detail)};
}

FieldError required(std::string field, std::string_view detail) {
  return {"FieldValueRequired", std::move(field), with_detail("Required value", detail)};
}

FieldError forbidden(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", std::move(field), with_detail("Forbidden", detail)};
}

FieldError duplicate(std::string field, const Json& value) {
  return {"FieldValueDuplicate", std::move(field), "Duplicate value: " + dump_json(value)};
}

FieldError not_supported(std::string field, const Json& value,
                         std::initializer_list<std::string_view> supported) {
  std::string text = "Unsupported value: " + dump_json(value) + ": supported values: ";
  bool first = true;
  for (const std::string_view one : supported) {
    if (!first) text += ", ";
    first = false;
    text.append("\"").append(one).append("\"");
  }
  return {"FieldValueNotSupported", std::move(field), std::move(text)};
}

FieldError not_found(std::string field, const std::string& value) {
  return {"FieldValueNotFound", std::move(field), "Not found: " + dump_json(value)};
}

void invalid_each(const std::string& field, const Json& value, const api::Complaints& complaints,
                  FieldErrors* errors) {
  for (const std::string& why : complaints) errors->push_back(invalid(field, value, why));
}

void check_labels(const Json& labels, const std::string& field, FieldErrors* errors) {
  for (const auto& [key, value] : labels.items()) {
    invalid_each(field, key, api::check_qualified_name(key), errors);
    if (!value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    invalid_each(field, value, api::check_label_value(text), errors);
  }
}

FieldError too_long(std::string field, std::size_t bytes_max) {
  return {"FieldValueTooLong", std::move(field),
          "Too long: may not be more than " + std::to_string(bytes_max) + " bytes"};
}

void check_not_negative(const Json& object, std::string_view name, const std::string& path,
                        FieldErrors* errors) {
  const auto value = integer_at(object, name);
  if (value && *value < 0) {
    errors->push_back(invalid(join_path(path, name), *value, "must be greater than or equal to 0"));
  }
}

void check_immutable(const Json& object, const Json& old, std::string_view name,
                     const std::string& path, FieldErrors* errors) {
  if (same_member(object, old, name)) return;
  const Json* value = member(object, name);
  errors->push_back(
      invalid(join_path(path, name), value == nullptr ? Json() : *value, "field is immutable"));
}

std::string join_path(std::string_view path, std::string_view name) {
  std::string out(path);
  if (!out.empty()) out += '.';
  return out.append(name);
}

std::string index_path(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::string key_path(std::string_view path, std::string_view key) {
  return std::string(path).append("[").append(key).append("]");
}

}  // namespace regatta::manifest::builtin
