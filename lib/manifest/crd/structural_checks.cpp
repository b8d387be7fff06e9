#include "lib/api/field_errors.h"
#include "lib/base/json_access.h"
#include "lib/manifest/crd/definition_checks.h"
#include "lib/manifest/crd/rules.h"
#include "lib/manifest/schema/pattern.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace regatta::manifest {
namespace {

constexpr int depth_max = 100;

/// Finds the mistakes of one schema and everything below it.
class StructuralCheck {
 public:
  explicit StructuralCheck(FieldErrors& errors) : errors_(errors) {}

  enum class Level { root, item, field };

  void check(const Json& schema, const std::string& path, Level level, int depth = 0) {
    if (!schema.is_object() || depth > depth_max) return;
    check_supported(schema, path);
    check_kind_of_schema(schema, path, level);
    check_list_type(schema, path);
    check_list_keys(schema, path);
    check_map_type(schema, path);
    check_set_items(schema, path);
    check_rules(schema, path);
    if (level == Level::root || true_at(schema, "x-kubernetes-embedded-resource")) {
      check_resource_root(schema, path, level == Level::root);
    }
    for (const auto& [name, child] : object_or_empty(schema, {"properties"}).items()) {
      check(child, path + ".properties[" + name + "]", Level::field, depth + 1);
    }
    if (const Json* items = member(schema, "items")) {
      check(*items, path + ".items", Level::item, depth + 1);
    }
    if (const Json* members = member(schema, "additionalProperties")) {
      if (level == Level::root) {
        forbidden(path + ".additionalProperties", "must not be used at the root");
      }
      check(*members, path + ".additionalProperties", Level::field, depth + 1);
    }
    check_junctors(schema, schema, path, path, depth);
  }

 private:
  void required(std::string field, const std::string& why) {
    errors_.push_back({"FieldValueRequired", std::move(field), "Required value: " + why});
  }
  void forbidden(std::string field, const std::string& why) {
    errors_.push_back({"FieldValueForbidden", std::move(field), "Forbidden: " + why});
  }
  void invalid(std::string field, const Json& value, const std::string& why) {
    const std::string shown = value.is_string()
                                  ? api::json_quotes(value.get_ref<const std::string&>())
                                  : dump_json(value);
    errors_.push_back(
        {"FieldValueInvalid", std::move(field), "Invalid value: " + shown + ": " + why});
  }
  void not_supported(std::string field, const std::string& value, const std::string& supported) {
    errors_.push_back(
        {"FieldValueNotSupported", std::move(field),
         "Unsupported value: " + api::json_quotes(value) + ": supported values: " + supported});
  }

  /// Parts of JSON Schema that definitions may not use, anywhere.
  void check_supported(const Json& schema, const std::string& path) {
    for (const char* name :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      if (member(schema, name)) {
        forbidden(path + "." + name, std::string(name) + " is not supported");
      }
    }
    const std::string type = text_at(schema, "type");
    static const std::set<std::string> types = {"array",  "boolean", "integer",
                                                "number", "object",  "string"};
    if (type == "null") {
      forbidden(path + ".type", "type cannot be set to null, use nullable as an alternative");
    }
    if (!type.empty() && !types.contains(type)) {
      not_supported(path + ".type", type,
                    R"("array", "boolean", "integer", "number", "object", "string")");
    }
    if (!list_or_empty(schema, "items").empty()) {
      forbidden(path + ".items", "items must be a schema object and not an array");
    }
    if (true_at(schema, "uniqueItems")) {
      forbidden(path + ".uniqueItems",
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    const Json* members = member(schema, "additionalProperties");
    const bool open = members && members->is_boolean() && members->get<bool>();
    if (members && !open && !object_or_empty(schema, {"properties"}).empty()) {
      forbidden(path + ".additionalProperties",
                "additionalProperties and properties are mutual exclusive");
    }
    check_pattern(schema, path);
    const Json* keeps = member(schema, "x-kubernetes-preserve-unknown-fields");
    if (keeps && keeps->is_boolean() && !keeps->get<bool>()) {
      invalid(path + ".x-kubernetes-preserve-unknown-fields", false, "must be true or undefined");
    }
  }

  void check_pattern(const Json& schema, const std::string& path) {
    const std::string pattern = text_at(schema, "pattern");
    if (pattern.empty()) return;
    if (const auto compiled = Pattern::compile(pattern); !compiled) {
      invalid(path + ".pattern", pattern,
              "must be a valid regular expression, but isn't: " + compiled.error().what());
    }
  }

  void check_kind_of_schema(const Json& schema, const std::string& path, Level level) {
    const std::string type = text_at(schema, "type");
    const bool embedded = true_at(schema, "x-kubernetes-embedded-resource");
    const bool number_or_text = true_at(schema, "x-kubernetes-int-or-string");
    const bool open = true_at(schema, "x-kubernetes-preserve-unknown-fields");
    if (embedded && type != "object") {
      must_be(schema, path, "object", "x-kubernetes-embedded-resource is true");
    } else if (type.empty() && !number_or_text && !open) {
      required(path + ".type", std::string("must not be empty ") +
                                   (level == Level::root   ? "at the root"
                                    : level == Level::item ? "for specified array items"
                                                           : "for specified object fields"));
    }
    if (level == Level::root && !type.empty() && type != "object") {
      invalid(path + ".type", type, "must be object at the root");
    }
    if (type == "array" && !member(schema, "items")) {
      required(path + ".items", "must be specified");
    }
    const char* if_both = "must be false if x-kubernetes-int-or-string is true";
    if (number_or_text && open) {
      invalid(path + ".x-kubernetes-preserve-unknown-fields", true, if_both);
    }
    if (number_or_text && embedded) {
      invalid(path + ".x-kubernetes-embedded-resource", true, if_both);
    }
    if (!embedded) return;
    if (member(schema, "additionalProperties")) {
      forbidden(path + ".additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (!open && object_or_empty(schema, {"properties"}).empty()) {
      required(path + ".properties",
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    }
  }

  /// Checks that the type is `wanted`; a missing type and a wrong one give different errors.
  void must_be(const Json& schema, const std::string& path, const std::string& wanted,
               const std::string& condition) {
    const std::string type = text_at(schema, "type");
    const std::string why = "must be " + wanted + " if " + condition;
    if (type.empty()) return required(path + ".type", why);
    if (type != wanted) invalid(path + ".type", type, why);
  }

  void check_list_type(const Json& schema, const std::string& path) {
    const Json& keys = list_or_empty(schema, "x-kubernetes-list-map-keys");
    const std::string list_type = text_at(schema, "x-kubernetes-list-type");
    const std::string field = path + ".x-kubernetes-list-type";
    const char* needs_map = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (list_type.empty()) {
      if (!keys.empty()) required(field, needs_map);
      return;
    }
    must_be(schema, path, "array", "x-kubernetes-list-type is specified");
    if (list_type != "atomic" && list_type != "set" && list_type != "map") {
      not_supported(field, list_type, R"("atomic", "map", "set")");
    }
    if (list_type != "map" && !keys.empty()) invalid(field, list_type, needs_map);
  }

  void check_list_keys(const Json& schema, const std::string& path) {
    if (text_at(schema, "x-kubernetes-list-type") != "map") return;
    const Json& keys = list_or_empty(schema, "x-kubernetes-list-map-keys");
    const std::string field = path + ".x-kubernetes-list-map-keys";
    if (keys.empty()) required(field, "must not be empty if x-kubernetes-list-type is map");
    const Json* items = member(schema, "items");
    if (!items)
      return required(path + ".items", "must have a schema if x-kubernetes-list-type is map");
    if (text_at(*items, "type") != "object") {
      return invalid(path + ".items.type", text_at(*items, "type"),
                     "must be object if parent array's x-kubernetes-list-type is map");
    }
    const Json& properties = object_or_empty(*items, {"properties"});
    const Json& needed = list_or_empty(*items, "required");
    std::set<std::string> seen;
    for (const Json& key : keys) {
      if (!key.is_string()) continue;
      const std::string& name = key.get_ref<const std::string&>();
      if (!seen.insert(name).second) invalid(field, keys, "must not contain duplicate entries");
      const Json* property = member(properties, name.c_str());
      if (!property) {
        invalid(field, keys, "entries must all be names of item properties");
        continue;
      }
      const std::string place = path + ".items.properties[" + name + "]";
      const std::string type = text_at(*property, "type");
      if (type == "array" || type == "object") {
        invalid(place + ".type", text_at(*items, "type"),
                "must be a scalar type if parent array's x-kubernetes-list-type is map");
      }
      const bool sure = std::find(needed.begin(), needed.end(), key) != needed.end();
      if (!sure && !member(*property, "default")) {
        required(place + ".default",
                 "this property is in x-kubernetes-list-map-keys, so it must have a default or be "
                 "a required property");
      }
      if (true_at(*property, "nullable")) {
        forbidden(place + ".nullable",
                  "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
      }
    }
  }

  void check_map_type(const Json& schema, const std::string& path) {
    const std::string map_type = text_at(schema, "x-kubernetes-map-type");
    if (map_type.empty()) return;
    must_be(schema, path, "object", "x-kubernetes-map-type is specified");
    if (map_type != "atomic" && map_type != "granular") {
      not_supported(path + ".x-kubernetes-map-type", map_type, R"("atomic", "granular")");
    }
  }

  void check_set_items(const Json& schema, const std::string& path) {
    const std::string list_type = text_at(schema, "x-kubernetes-list-type");
    const Json* items = member(schema, "items");
    if (!items || (list_type != "set" && list_type != "map")) return;
    if (true_at(*items, "nullable")) {
      forbidden(path + ".items.nullable",
                "cannot be nullable when x-kubernetes-list-type is " + list_type);
    }
    if (list_type != "set") return;
    const char* why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const std::string type = text_at(*items, "type");
    const std::string inner = text_at(*items, "x-kubernetes-list-type");
    if (type == "array" && !inner.empty() && inner != "atomic") {
      forbidden(path + ".items.x-kubernetes-list-type", why);
    }
    if (type == "object" && text_at(*items, "x-kubernetes-map-type") != "atomic") {
      forbidden(path + ".items.x-kubernetes-map-type", why);
    }
  }

  /// Checks rules as far as that is possible without compiling them.
  void check_rules(const Json& schema, const std::string& path) {
    const Json& rules = list_or_empty(schema, "x-kubernetes-validations");
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const std::string place = path + ".x-kubernetes-validations[" + std::to_string(i) + "]";
      check_rule(rules[i], place);
    }
  }

  static bool blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  }

  void check_rule(const Json& rule, const std::string& place) {
    const std::string text = text_at(rule, "rule");
    const std::string message = text_at(rule, "message");
    const std::string expression = text_at(rule, "messageExpression");
    const std::string field_path = text_at(rule, "fieldPath");
    if (blank(text)) {
      required(place + ".rule", "rule is not specified");
    } else if (!message.empty() && blank(message)) {
      invalid(place + ".message", message, "message must be non-empty if specified");
    } else if (message.find('\n') != std::string::npos) {
      invalid(place + ".message", message, "message must not contain line breaks");
    } else if (text.find('\n') != std::string::npos && message.empty()) {
      required(place + ".message", "message must be specified if rule contains line breaks");
    }
    if (!expression.empty() && blank(expression)) {
      required(place + ".messageExpression", "messageExpression must be non-empty if specified");
    }
    const std::string reason = text_at(rule, "reason");
    static const std::set<std::string> reasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                  "FieldValueInvalid", "FieldValueRequired"};
    if (!reason.empty() && !reasons.contains(reason)) {
      not_supported(place + ".reason", reason,
                    R"("FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", )"
                    R"("FieldValueDuplicate")");
    }
    if (!field_path.empty() && blank(field_path)) {
      invalid(place + ".fieldPath", field_path, "fieldPath must be non-empty if specified");
    }
  }

  /// Checks kind, apiVersion and metadata of a schema that describes a whole resource.
  void check_resource_root(const Json& schema, const std::string& path, bool root) {
    const Json& properties = object_or_empty(schema, {"properties"});
    for (const char* name : {"kind", "apiVersion"}) {
      const Json* property = member(properties, name);
      if (!property || text_at(*property, "type") == "string") continue;
      invalid(path + ".properties[" + name + "].type", text_at(*property, "type"),
              "must be string");
    }
    const Json* metadata = member(properties, "metadata");
    if (!metadata) return;
    const std::string place = path + ".properties[metadata]";
    if (text_at(*metadata, "type") != "object") {
      invalid(place + ".type", text_at(*metadata, "type"), "must be object");
    }
    if (!root) return;
    static const std::set<std::string> harmless = {"type", "properties", "default"};
    bool restricts = false;
    for (const auto& [name, value] : metadata->items()) restricts |= !harmless.contains(name);
    for (const auto& [name, value] : object_or_empty(*metadata, {"properties"}).items()) {
      restricts |= name != "name" && name != "generateName";
    }
    if (restricts) {
      forbidden(place,
                "must not specify anything other than name and generateName, but metadata is "
                "implicitly specified");
    }
  }

  /// anyOf, allOf, oneOf and not may only restrict what stands outside of them.
  void check_junctors(const Json& schema, const Json& structure, const std::string& path,
                      const std::string& structure_path, int depth) {
    const bool number_or_text = true_at(structure, "x-kubernetes-int-or-string");
    for (const char* name : {"allOf", "anyOf", "oneOf"}) {
      const Json& parts = list_or_empty(schema, name);
      if (number_or_text && std::string_view(name) == "anyOf") continue;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        nested(parts[i], structure, path + "." + name + "[" + std::to_string(i) + "]",
               structure_path, depth + 1);
      }
    }
    if (const Json* part = member(schema, "not")) {
      nested(*part, structure, path + ".not", structure_path, depth + 1);
    }
  }

  void nested(const Json& part, const Json& structure, const std::string& path,
              const std::string& structure_path, int depth) {
    if (!part.is_object() || depth > depth_max) return;
    check_supported(part, path);
    for (const char* name : {"type", "title", "description"}) {
      if (!text_at(part, name).empty()) {
        forbidden(path + "." + name, "must be empty to be structural");
      }
    }
    for (const char* name : {"additionalProperties", "default", "externalDocs",
                             "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
      if (member(part, name)) {
        forbidden(path + "." + name, "must be undefined to be structural");
      }
    }
    for (const char* name : {"nullable", "x-kubernetes-preserve-unknown-fields",
                             "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"}) {
      if (true_at(part, name)) forbidden(path + "." + name, "must be false to be structural");
    }
    for (const char* name : {"x-kubernetes-list-map-keys", "x-kubernetes-validations"}) {
      if (!list_or_empty(part, name).empty()) {
        forbidden(path + "." + name, "must be empty to be structural");
      }
    }
    const Json& properties = object_or_empty(part, {"properties"});
    if (member(properties, "metadata")) {
      forbidden(path + ".properties[metadata]", "must not be specified in a nested context");
    }
    for (const auto& [name, child] : properties.items()) {
      const std::string step = ".properties[" + name + "]";
      below(child, member(object_or_empty(structure, {"properties"}), name.c_str()), path + step,
            structure_path + step, depth);
    }
    if (const Json* items = member(part, "items"); items && items->is_object()) {
      below(*items, member(structure, "items"), path + ".items", structure_path + ".items", depth);
    }
    check_junctors(part, structure, path, structure_path, depth);
  }

  void below(const Json& child, const Json* structure, const std::string& path,
             const std::string& structure_path, int depth) {
    static const Json none = Json::object();
    if (!structure) required(structure_path, "because it is defined in " + path);
    nested(child, structure ? *structure : none, path, structure ? structure_path : path,
           depth + 1);
  }

  FieldErrors& errors_;
};

}  // namespace

void check_structural(const Json& schema, const std::string& path, FieldErrors& errors) {
  const auto nullable = schema.find("nullable");
  if (nullable != schema.end() && *nullable == true) {
    errors.push_back({"FieldValueForbidden", path + ".nullable",
                      "Forbidden: nullable cannot be true at the root"});
  }
  StructuralCheck(errors).check(schema, path, StructuralCheck::Level::root);
}

}  // namespace regatta::manifest
