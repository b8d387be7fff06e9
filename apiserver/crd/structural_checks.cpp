#include "apiserver/crd/definition_checks.h"
#include "apiserver/crd/rules.h"

#include <nlohmann/json.hpp>

#include <array>

namespace regatta::apiserver {
namespace {

std::string text_of(const Json& schema, const char* key) {
  const auto at = schema.find(key);
  return at != schema.end() && at->is_string() ? at->get<std::string>() : std::string();
}
bool flag_of(const Json& schema, const char* key) {
  const auto at = schema.find(key);
  return at != schema.end() && at->is_boolean() && at->get<bool>();
}

void required(FieldErrors& errors, std::string field, const std::string& why) {
  errors.push_back({"FieldValueRequired", std::move(field), "Required value: " + why});
}
void forbidden(FieldErrors& errors, std::string field, const std::string& why) {
  errors.push_back({"FieldValueForbidden", std::move(field), "Forbidden: " + why});
}

void check_type(const Json& schema, const std::string& path, bool root, const char* place,
                FieldErrors& errors) {
  const auto type = text_of(schema, "type");
  const bool may_be_untyped = flag_of(schema, "x-kubernetes-int-or-string") ||
                              flag_of(schema, "x-kubernetes-preserve-unknown-fields");
  if (type.empty() && (root || !may_be_untyped)) {
    required(errors, path + ".type", std::string("must not be empty ") + place);
  } else if (root && type != "object") {
    errors.push_back({"FieldValueInvalid", path + ".type",
                      "Invalid value: " + go_json_string(type) + ": must be object at the root"});
  }
  if (type == "array" && !schema.contains("items")) {
    required(errors, path + ".items", "must be specified");
  }
}

void check_lists(const Json& schema, const std::string& path, FieldErrors& errors) {
  const auto list_type = text_of(schema, "x-kubernetes-list-type");
  if (list_type.empty()) return;
  if (list_type != "atomic" && list_type != "set" && list_type != "map") {
    errors.push_back({"FieldValueNotSupported", path + ".x-kubernetes-list-type",
                      "Unsupported value: " + go_json_string(list_type) +
                          ": supported values: \"atomic\", \"map\", \"set\""});
  }
  const auto keys = schema.find("x-kubernetes-list-map-keys");
  const bool has_keys = keys != schema.end() && keys->is_array() && !keys->empty();
  if (list_type == "map" && !has_keys) {
    required(errors, path + ".x-kubernetes-list-map-keys",
             "must not be empty if x-kubernetes-list-type is map");
  }
  if (list_type != "map" && has_keys) {
    forbidden(errors, path + ".x-kubernetes-list-map-keys",
              "must not be set if x-kubernetes-list-type is not map");
  }
}

void check(const Json& schema, const std::string& path, bool root, const char* place, int depth,
           FieldErrors& errors) {
  if (!schema.is_object() || depth > 100) return;
  check_type(schema, path, root, place, errors);
  check_lists(schema, path, errors);
  if (schema.contains("$ref")) forbidden(errors, path + ".$ref", "$ref is not supported");
  if (flag_of(schema, "uniqueItems")) {
    forbidden(errors, path + ".uniqueItems",
              "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  }
  if (schema.contains("properties") && schema.contains("additionalProperties")) {
    forbidden(errors, path + ".additionalProperties",
              "additionalProperties and properties are mutual exclusive");
  }
  if (const auto properties = schema.find("properties");
      properties != schema.end() && properties->is_object()) {
    for (const auto& [name, child] : properties->items()) {
      check(child, path + ".properties[" + name + "]", false, "for specified object fields",
            depth + 1, errors);
    }
  }
  if (const auto items = schema.find("items"); items != schema.end()) {
    check(*items, path + ".items", false, "for specified array items", depth + 1, errors);
  }
  if (const auto members = schema.find("additionalProperties"); members != schema.end()) {
    check(*members, path + ".additionalProperties", false, "for specified object fields", depth + 1,
          errors);
  }
}

}  // namespace

void check_structural(const Json& schema, const std::string& path, FieldErrors& errors) {
  check(schema, path, true, "at the root", 0, errors);
}

}  // namespace regatta::apiserver
