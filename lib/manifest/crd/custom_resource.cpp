#include "lib/manifest/crd/custom_resource.h"

#include "lib/base/human.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/structural.h"
#include "lib/manifest/schema/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regatta::manifest {
namespace {

const Json* member_named(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

void copy_or_erase(Json& to, const Json& from, const char* name) {
  if (const auto* value = member_named(from, name)) {
    to[name] = *value;
  } else if (to.is_object()) {
    to.erase(name);
  }
}

/// Sets every member except those in `mine` back to its old value. It compares before it copies:
/// that is cheaper, and mostly nothing differs.
void restore_members(Json& object, const Json& old, std::initializer_list<std::string_view> mine) {
  const auto is_mine = [&](const std::string& name) {
    return std::find(mine.begin(), mine.end(), name) != mine.end();
  };
  for (auto it = object.begin(); it != object.end();) {
    const bool extra = !is_mine(it.key()) && !old.contains(it.key());
    it = extra ? object.erase(it) : std::next(it);
  }
  for (const auto& [name, value] : old.items()) {
    if (is_mine(name)) continue;
    Json& kept = object[name];
    if (kept != value) kept = value;
  }
}

std::int64_t generation_of(const Json& object) {
  const auto* metadata = member_named(object, "metadata");
  const auto* generation = metadata ? member_named(*metadata, "generation") : nullptr;
  return generation && generation->is_number_integer() ? generation->get<std::int64_t>() : 0;
}

bool has_text(const Json& object, const char* name) {
  const auto* value = member_named(object, name);
  return value && value->is_string() && !value->get_ref<const std::string&>().empty();
}

/// Whether anything besides metadata (and, with a status subresource, status) differs.
bool differs(const Json& a, const Json& b, bool has_status) {
  auto ignored = [has_status](const std::string& key) {
    return key == "metadata" || (has_status && key == "status");
  };
  auto all_in = [&](const Json& one, const Json& other) {
    for (auto field = one.begin(); field != one.end(); ++field) {
      if (ignored(field.key())) continue;
      const auto at = other.find(field.key());
      if (at == other.end() || *at != *field) return false;
    }
    return true;
  };
  return !all_in(a, b) || !all_in(b, a);
}

std::string go_type(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "map[string]interface {}";
    case Json::value_t::array:
      return "[]interface {}";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "bool";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "int64";
    case Json::value_t::number_float:
      return "float64";
    default:
      return "<nil>";
  }
}

std::string go_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) < 9e15 && number == std::trunc(number)) {
      return std::to_string(static_cast<std::int64_t>(number));
    }
  }
  return dump_json(value);
}

/// Checks the number at a scale path. A value that cannot be read is an error even where the schema
/// accepts it, as clients of the scale subresource expect a number.
void check_replicas(const Json& object, const std::string& path, FieldErrors& errors) {
  const auto parsed = JsonPath::parse(path);
  if (!parsed) return;
  const auto* value = &object;
  auto fail = [&](const char* expected) {
    errors.push_back({"FieldValueInvalid", path,
                      "Invalid value: 0: " + path + " accessor error: " + go_text(*value) +
                          " is of the type " + go_type(*value) + ", expected " + expected});
  };
  for (const auto& name : parsed->fields()) {
    if (!value->is_object()) return fail("map[string]interface{}");
    value = member_named(*value, name.c_str());
    if (!value) return;
  }
  if (!value->is_number_integer()) return fail("int64");
  if (value->get<std::int64_t>() < 0) {
    errors.push_back(
        {"FieldValueInvalid", path,
         "Invalid value: " + dump_json(*value) + ": should be a non-negative integer"});
  }
}

}  // namespace

void CustomResourceStrategy::set_defaults(Json& object) const {
  prune(object, *settings_.schema);
  set_schema_defaults(object, *settings_.schema);
}

void CustomResourceStrategy::prepare_for_create(Json& object, TimePoint) const {
  if (settings_.has_status) object.erase("status");
  metadata_of(object)["generation"] = 1;
}

void CustomResourceStrategy::prepare_for_update(Json& object, const Json& old, TimePoint) const {
  if (settings_.has_status) copy_or_erase(object, old, "status");
  const auto changed = differs(object, old, settings_.has_status);
  metadata_of(object)["generation"] = generation_of(old) + (changed ? 1 : 0);
}

void CustomResourceStrategy::prepare_for_status_update(Json& object, const Json& old,
                                                       TimePoint) const {
  restore_members(object, old, {"status", "metadata"});
  if (const auto* metadata = member_named(old, "metadata")) {
    restore_members(metadata_of(object), *metadata, {"managedFields", "resourceVersion"});
  }
}

FieldErrors CustomResourceStrategy::validate(const Json& object, const Json* old,
                                             bool status_only) const {
  FieldErrors errors;
  const auto* status_schema = settings_.schema->member("status");
  if (!status_only) {
    validate_schema(object, old, *settings_.schema, "", errors);
  } else if (const auto* status = member_named(object, "status"); status && status_schema) {
    validate_schema(*status, old ? member_named(*old, "status") : nullptr, *status_schema, "status",
                    errors);
  }
  if (settings_.scale) check_scale(object, errors);
  const auto* metadata = member_named(object, "metadata");
  const bool named =
      metadata && (has_text(*metadata, "name") || has_text(*metadata, "generateName"));
  if (settings_.rules.empty()) return errors;
  if (blocks_rules(errors) || !named) {
    errors.push_back(rules_not_checked());
  } else {
    settings_.rules.check(object, old, errors);
  }
  return errors;
}

void CustomResourceStrategy::check_scale(const Json& object, FieldErrors& errors) const {
  check_replicas(object, settings_.scale->spec_replicas, errors);
  check_replicas(object, settings_.scale->status_replicas, errors);
}

FieldErrors CustomResourceStrategy::validate_create(const Json& object) const {
  return validate(object, nullptr, false);
}
FieldErrors CustomResourceStrategy::validate_update(const Json& object, const Json& old) const {
  return validate(object, &old, false);
}
FieldErrors CustomResourceStrategy::validate_status_update(const Json& object,
                                                           const Json& old) const {
  return validate(object, &old, true);
}

std::vector<TableColumn> CustomResourceStrategy::columns() const {
  std::vector<TableColumn> out = {
      {"Name", "string", "name", "Name of the object, unique within its namespace.", 0}};
  for (const auto& column : settings_.columns) out.push_back(column.column);
  return out;
}

std::vector<Json> CustomResourceStrategy::cells(const Json& object, TimePoint now) const {
  std::vector<Json> out;
  const auto* metadata = member_named(object, "metadata");
  const auto* name = metadata ? member_named(*metadata, "name") : nullptr;
  out.push_back(name ? *name : Json(""));
  for (const auto& column : settings_.columns) {
    const auto* value = column.path.first(object);
    const auto& type = column.column.type;
    if (!value || value->is_null()) {
      out.emplace_back(nullptr);
    } else if (type == "date") {
      const auto time = value->is_string() ? parse_rfc3339(value->get_ref<const std::string&>())
                                           : Result<TimePoint>(Error(Errc::invalid, "not a time"));
      out.emplace_back(time ? human_duration(now - *time) : "<invalid>");
    } else if (type == "string" && !value->is_string()) {
      out.emplace_back(dump_json(*value));
    } else if (type == "integer" && value->is_number_float()) {
      out.emplace_back(value->get<std::int64_t>());
    } else {
      out.push_back(*value);
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> CustomResourceStrategy::selectable_fields(
    const Json& object) const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& field : settings_.selectable) {
    const auto path = JsonPath::parse("." + field);
    const auto* value = path ? path->first(object) : nullptr;
    out.emplace_back(field, !value               ? ""
                            : value->is_string() ? value->get<std::string>()
                                                 : dump_json(*value));
  }
  return out;
}

}  // namespace regatta::manifest
