#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/manifest/schema/pattern.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

struct Schema;
/// Schemas are immutable once built and shared freely. A recursive type (JSONSchemaProps) refers to
/// itself without owning. The owner of the root, or the built-in catalogue, which lives as long as
/// the process, keeps the rest alive.
using SchemaPtr = std::shared_ptr<const Schema>;

enum class SchemaType { any, object, array, string, integer, number, boolean };
/// "object", "array" …; empty for any.
std::string_view name_of(SchemaType type);

/// x-kubernetes-list-type; an absent one is atomic to server-side apply.
enum class ListType { atomic, set, map };
/// x-kubernetes-map-type; an absent one is granular.
enum class MapType { granular, atomic };

/// One entry of x-kubernetes-validations, as written.
struct ValidationRule {
  std::string rule;
  std::string message;
  std::string message_expression;
  std::string reason;  ///< FieldValueInvalid (also when empty), FieldValueForbidden, …
  std::string field_path;
  std::optional<bool> optional_old_self;
};

struct GroupVersionKindName {
  std::string group;
  std::string version;
  std::string kind;
};

/// An OpenAPI v3 structural schema, or the parts of one that may stand under oneOf, anyOf, allOf
/// and not.
struct Schema {
  SchemaType type = SchemaType::any;
  std::string format;
  std::string title;
  std::string description;
  bool nullable = false;

  std::map<std::string, SchemaPtr, std::less<>> properties;
  std::vector<std::string> required;
  SchemaPtr items;                  ///< of an array
  SchemaPtr additional_properties;  ///< of a map; null when there is none
  /// `additionalProperties: true`: any member, unchecked (only with preserve_unknown_fields or in
  /// built-in types).
  bool additional_properties_any = false;

  std::shared_ptr<const Json> default_value;  ///< null: no default
  std::vector<Json> enum_values;
  std::string pattern;
  Pattern compiled_pattern;  ///< of `pattern`; matches everything when there is none

  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::int64_t> min_length, max_length;
  std::optional<std::int64_t> min_items, max_items;
  std::optional<std::int64_t> min_properties, max_properties;
  bool unique_items = false;

  std::vector<SchemaPtr> one_of, any_of, all_of;
  SchemaPtr not_schema;

  bool preserve_unknown_fields = false;
  bool int_or_string = false;
  bool embedded_resource = false;
  std::optional<ListType> list_type;
  std::vector<std::string> list_map_keys;
  std::optional<MapType> map_type;
  std::vector<ValidationRule> rules;
  std::string patch_strategy;  ///< x-kubernetes-patch-strategy: "merge", "replace", "retainKeys", …
  std::string patch_merge_key;
  std::vector<GroupVersionKindName> group_version_kinds;
  std::string ref_name;  ///< e.g. io.k8s.api.core.v1.Container, for OpenAPI documents; may be empty

  /// Whether this schema or one below it has a default, or a CEL rule: lets the walks skip the
  /// rest.
  bool defaults_below = false;
  bool rules_below = false;

  /// The schema of member `name`: a property, else additionalProperties, else null.
  const Schema* member(std::string_view name) const;
  /// Whether members without a schema are kept: preserve_unknown_fields or an untyped schema.
  bool keeps_unknown_members() const;
  bool is_map() const { return additional_properties || additional_properties_any; }
  bool has_members() const { return !properties.empty() || is_map(); }
};

/// What a schema (null: anything goes) says of a member.
struct MemberType {
  bool declared = false;  ///< by name, by additionalProperties, or because anything goes
  bool named = false;     ///< it is a property
  const Schema* schema = nullptr;
};
MemberType member_type(const Schema* schema, std::string_view name);

/// Reads an OpenAPI v3 schema (as it stands in a CustomResourceDefinition under openAPIV3Schema).
/// `invalid` names the path of what cannot be read, e.g. `properties[spec].pattern: …`.
Result<SchemaPtr> parse_schema(const Json& schema);

/// The inverse of parse_schema, for OpenAPI documents. With `with_refs`, a schema with a ref_name
/// below the root becomes `{"allOf": [{"$ref": "#/components/schemas/<name>"}]}` or the like.
Json schema_to_json(const Schema& schema, bool with_refs = false);

}  // namespace regatta::manifest
