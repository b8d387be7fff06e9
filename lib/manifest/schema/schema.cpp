#include "lib/manifest/schema/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regatta::manifest {
namespace {

constexpr int schema_depth_max = 200;

std::optional<SchemaType> type_of(std::string_view name) {
  if (name.empty()) return SchemaType::any;
  for (const auto type : {SchemaType::object, SchemaType::array, SchemaType::string,
                          SchemaType::integer, SchemaType::number, SchemaType::boolean}) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

/// Reads one schema; the first failure is kept with its path.
class Parser {
 public:
  Result<SchemaPtr> parse(const Json& json) {
    auto out = schema(json, "", 0);
    if (failed_) return Error(Errc::invalid, error_);
    return out;
  }

 private:
  void fail(const std::string& path, const std::string& why) {
    if (std::exchange(failed_, true)) return;
    error_ = path.empty() ? why : path + ": " + why;
  }
  static std::string join(const std::string& path, std::string_view field) {
    return path.empty() ? std::string(field) : path + "." + std::string(field);
  }

  const Json* find(const Json& json, const char* key) const {
    const auto at = json.find(key);
    return at == json.end() || at->is_null() ? nullptr : &*at;
  }
  void read(const Json& json, const char* key, const std::string& path, std::string& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_string()) return fail(join(path, key), "must be a string");
    out = value->get<std::string>();
  }
  void read(const Json& json, const char* key, const std::string& path, bool& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_boolean()) return fail(join(path, key), "must be a boolean");
    out = value->get<bool>();
  }
  void read(const Json& json, const char* key, const std::string& path,
            std::optional<double>& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_number()) return fail(join(path, key), "must be a number");
    out = value->get<double>();
  }
  void read(const Json& json, const char* key, const std::string& path,
            std::optional<std::int64_t>& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_number_integer()) return fail(join(path, key), "must be an integer");
    out = value->get<std::int64_t>();
  }
  void read(const Json& json, const char* key, const std::string& path,
            std::vector<std::string>& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_array()) return fail(join(path, key), "must be a list of strings");
    for (const auto& item : *value) {
      if (!item.is_string()) return fail(join(path, key), "must be a list of strings");
      out.push_back(item.get<std::string>());
    }
  }

  void read(const Json& json, const char* key, const std::string& path, int depth,
            std::vector<SchemaPtr>& out) {
    const auto* value = find(json, key);
    if (!value) return;
    if (!value->is_array()) return fail(join(path, key), "must be a list of schemas");
    for (std::size_t i = 0; i < value->size(); ++i) {
      out.push_back(schema((*value)[i], join(path, key) + "[" + std::to_string(i) + "]", depth));
    }
  }

  SchemaPtr schema(const Json& json, const std::string& path, int depth) {
    if (!json.is_object()) {
      fail(path, "must be an object");
      return nullptr;
    }
    if (depth > schema_depth_max) {
      fail(path, "nests too deeply");
      return nullptr;
    }
    auto out = std::make_shared<Schema>();
    read_basics(json, path, *out);
    read_bounds(json, path, *out);
    read_extensions(json, path, *out);
    read_children(json, path, depth, *out);
    summarize(*out);
    return out;
  }

  void read_basics(const Json& json, const std::string& path, Schema& out) {
    std::string type;
    read(json, "type", path, type);
    if (const auto known = type_of(type)) {
      out.type = *known;
    } else {
      fail(join(path, "type"), "unknown type \"" + type + "\"");
    }
    read(json, "format", path, out.format);
    read(json, "title", path, out.title);
    read(json, "description", path, out.description);
    read(json, "nullable", path, out.nullable);
    read(json, "required", path, out.required);
    if (const auto* value = find(json, "default")) {
      out.default_value = std::make_shared<const Json>(*value);
    }
    if (const auto* values = find(json, "enum"); values && values->is_array()) {
      out.enum_values.assign(values->begin(), values->end());
    }
  }

  void read_bounds(const Json& json, const std::string& path, Schema& out) {
    read(json, "pattern", path, out.pattern);
    if (!out.pattern.empty()) {
      auto compiled = Pattern::compile(out.pattern);
      if (compiled) {
        out.compiled_pattern = *compiled;
      } else {
        fail(join(path, "pattern"), compiled.error().what());
      }
    }
    read(json, "minimum", path, out.minimum);
    read(json, "maximum", path, out.maximum);
    read(json, "multipleOf", path, out.multiple_of);
    read(json, "exclusiveMinimum", path, out.exclusive_minimum);
    read(json, "exclusiveMaximum", path, out.exclusive_maximum);
    read(json, "minLength", path, out.min_length);
    read(json, "maxLength", path, out.max_length);
    read(json, "minItems", path, out.min_items);
    read(json, "maxItems", path, out.max_items);
    read(json, "minProperties", path, out.min_properties);
    read(json, "maxProperties", path, out.max_properties);
    read(json, "uniqueItems", path, out.unique_items);
  }

  void read_extensions(const Json& json, const std::string& path, Schema& out) {
    read(json, "x-kubernetes-preserve-unknown-fields", path, out.preserve_unknown_fields);
    read(json, "x-kubernetes-int-or-string", path, out.int_or_string);
    read(json, "x-kubernetes-embedded-resource", path, out.embedded_resource);
    read(json, "x-kubernetes-list-map-keys", path, out.list_map_keys);
    read(json, "x-kubernetes-patch-strategy", path, out.patch_strategy);
    read(json, "x-kubernetes-patch-merge-key", path, out.patch_merge_key);
    std::string text;
    read(json, "x-kubernetes-list-type", path, text);
    if (text == "set") out.list_type = ListType::set;
    if (text == "map") out.list_type = ListType::map;
    if (text == "atomic") out.list_type = ListType::atomic;
    text.clear();
    read(json, "x-kubernetes-map-type", path, text);
    if (text == "atomic") out.map_type = MapType::atomic;
    if (text == "granular") out.map_type = MapType::granular;
    if (const auto* rules = find(json, "x-kubernetes-validations"); rules && rules->is_array()) {
      for (const auto& rule : *rules) read_rule(rule, path, out);
    }
    if (const auto* kinds = find(json, "x-kubernetes-group-version-kind");
        kinds && kinds->is_array()) {
      for (const auto& kind : *kinds) {
        auto& added = out.group_version_kinds.emplace_back();
        read(kind, "group", path, added.group);
        read(kind, "version", path, added.version);
        read(kind, "kind", path, added.kind);
      }
    }
  }

  void read_rule(const Json& json, const std::string& path, Schema& out) {
    if (!json.is_object()) return fail(join(path, "x-kubernetes-validations"), "must be objects");
    auto& rule = out.rules.emplace_back();
    read(json, "rule", path, rule.rule);
    read(json, "message", path, rule.message);
    read(json, "messageExpression", path, rule.message_expression);
    read(json, "reason", path, rule.reason);
    read(json, "fieldPath", path, rule.field_path);
    if (const auto* value = find(json, "optionalOldSelf"); value && value->is_boolean()) {
      rule.optional_old_self = value->get<bool>();
    }
  }

  void read_children(const Json& json, const std::string& path, int depth, Schema& out) {
    if (const auto* properties = find(json, "properties")) {
      if (!properties->is_object()) return fail(join(path, "properties"), "must be an object");
      for (const auto& [name, child] : properties->items()) {
        out.properties[name] =
            schema(child, join(path, "properties") + "[" + name + "]", depth + 1);
      }
    }
    if (const auto* items = find(json, "items")) {
      out.items = schema(*items, join(path, "items"), depth + 1);
    }
    if (const auto* additional = find(json, "additionalProperties")) {
      if (additional->is_boolean()) {
        out.additional_properties_any = additional->get<bool>();
      } else {
        out.additional_properties =
            schema(*additional, join(path, "additionalProperties"), depth + 1);
      }
    }
    read(json, "oneOf", path, depth + 1, out.one_of);
    read(json, "anyOf", path, depth + 1, out.any_of);
    read(json, "allOf", path, depth + 1, out.all_of);
    if (const auto* child = find(json, "not")) {
      out.not_schema = schema(*child, join(path, "not"), depth + 1);
    }
  }

  static void summarize(Schema& out) {
    out.rules_below = !out.rules.empty();
    auto look = [&out](const SchemaPtr& child) {
      if (!child) return;
      out.defaults_below |= child->default_value || child->defaults_below;
      out.rules_below |= child->rules_below;
    };
    for (const auto& [name, child] : out.properties) look(child);
    look(out.items);
    look(out.additional_properties);
  }

  bool failed_ = false;
  std::string error_;
};

template <class T>
void put(Json& out, const char* key, const T& value) {
  if (!(value == T{})) out[key] = value;
}
template <class T>
void put(Json& out, const char* key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

/// Bounds are doubles here and whole numbers in nearly every document.
void put_number(Json& out, const char* key, const std::optional<double>& value) {
  if (!value) return;
  if (std::abs(*value) < 9e15 && *value == std::trunc(*value)) {
    out[key] = static_cast<std::int64_t>(*value);
  } else {
    out[key] = *value;
  }
}

Json child_to_json(const Schema& child, bool with_refs) {
  if (with_refs && !child.ref_name.empty()) {
    const Json reference = {{"$ref", "#/components/schemas/" + child.ref_name}};
    Json out = {{"allOf", Json::array({reference})}};
    put(out, "description", child.description);
    put(out, "x-kubernetes-patch-strategy", child.patch_strategy);
    put(out, "x-kubernetes-patch-merge-key", child.patch_merge_key);
    if (child.default_value) out["default"] = *child.default_value;
    return out.size() == 1 ? reference : out;
  }
  return schema_to_json(child, with_refs);
}

void put_children(Json& out, const char* key, const std::vector<SchemaPtr>& children,
                  bool with_refs) {
  for (const auto& child : children) out[key].push_back(schema_to_json(*child, with_refs));
}

void put_extensions(Json& out, const Schema& schema) {
  put(out, "x-kubernetes-preserve-unknown-fields", schema.preserve_unknown_fields);
  put(out, "x-kubernetes-int-or-string", schema.int_or_string);
  put(out, "x-kubernetes-embedded-resource", schema.embedded_resource);
  put(out, "x-kubernetes-patch-strategy", schema.patch_strategy);
  put(out, "x-kubernetes-patch-merge-key", schema.patch_merge_key);
  put(out, "x-kubernetes-list-map-keys", schema.list_map_keys);
  if (schema.list_type) {
    out["x-kubernetes-list-type"] = *schema.list_type == ListType::map   ? "map"
                                    : *schema.list_type == ListType::set ? "set"
                                                                         : "atomic";
  }
  if (schema.map_type) {
    out["x-kubernetes-map-type"] = *schema.map_type == MapType::atomic ? "atomic" : "granular";
  }
  for (const auto& rule : schema.rules) {
    Json json = {{"rule", rule.rule}};
    put(json, "message", rule.message);
    put(json, "messageExpression", rule.message_expression);
    put(json, "reason", rule.reason);
    put(json, "fieldPath", rule.field_path);
    put(json, "optionalOldSelf", rule.optional_old_self);
    out["x-kubernetes-validations"].push_back(std::move(json));
  }
  for (const auto& kind : schema.group_version_kinds) {
    out["x-kubernetes-group-version-kind"].push_back(
        {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
  }
}

}  // namespace

std::string_view name_of(SchemaType type) {
  switch (type) {
    case SchemaType::any:
      return "";
    case SchemaType::object:
      return "object";
    case SchemaType::array:
      return "array";
    case SchemaType::string:
      return "string";
    case SchemaType::integer:
      return "integer";
    case SchemaType::number:
      return "number";
    case SchemaType::boolean:
      return "boolean";
  }
  return "";
}

const Schema* Schema::member(std::string_view name) const {
  const auto at = properties.find(name);
  if (at != properties.end()) return at->second.get();
  return additional_properties.get();
}

bool Schema::keeps_unknown_members() const {
  return preserve_unknown_fields || additional_properties_any ||
         (type == SchemaType::any && properties.empty() && !items && !int_or_string);
}

Result<SchemaPtr> parse_schema(const Json& schema) {
  return Parser().parse(schema);
}

Json schema_to_json(const Schema& schema, bool with_refs) {
  Json out = Json::object();
  put(out, "type", std::string(name_of(schema.type)));
  put(out, "format", schema.format);
  put(out, "title", schema.title);
  put(out, "description", schema.description);
  put(out, "nullable", schema.nullable);
  put(out, "required", schema.required);
  if (schema.default_value) out["default"] = *schema.default_value;
  put(out, "enum", schema.enum_values);
  put(out, "pattern", schema.pattern);
  put_number(out, "minimum", schema.minimum);
  put_number(out, "maximum", schema.maximum);
  put_number(out, "multipleOf", schema.multiple_of);
  put(out, "exclusiveMinimum", schema.exclusive_minimum);
  put(out, "exclusiveMaximum", schema.exclusive_maximum);
  put(out, "minLength", schema.min_length);
  put(out, "maxLength", schema.max_length);
  put(out, "minItems", schema.min_items);
  put(out, "maxItems", schema.max_items);
  put(out, "minProperties", schema.min_properties);
  put(out, "maxProperties", schema.max_properties);
  put(out, "uniqueItems", schema.unique_items);
  for (const auto& [name, child] : schema.properties) {
    out["properties"][name] = child_to_json(*child, with_refs);
  }
  if (schema.items) out["items"] = child_to_json(*schema.items, with_refs);
  if (schema.additional_properties) {
    out["additionalProperties"] = child_to_json(*schema.additional_properties, with_refs);
  } else if (schema.additional_properties_any) {
    out["additionalProperties"] = true;
  }
  put_children(out, "oneOf", schema.one_of, with_refs);
  put_children(out, "anyOf", schema.any_of, with_refs);
  put_children(out, "allOf", schema.all_of, with_refs);
  if (schema.not_schema) out["not"] = schema_to_json(*schema.not_schema, with_refs);
  put_extensions(out, schema);
  return out;
}

MemberType member_type(const Schema* schema, std::string_view name) {
  if (!schema) return MemberType{true, false, nullptr};
  auto found = schema->properties.find(name);
  if (found != schema->properties.end()) return MemberType{true, true, found->second.get()};
  if (schema->additional_properties) {
    return MemberType{true, false, schema->additional_properties.get()};
  }
  bool open = schema->additional_properties_any || schema->keeps_unknown_members() ||
              schema->embedded_resource || !schema->has_members();
  return MemberType{open, false, nullptr};
}

}  // namespace regatta::manifest
