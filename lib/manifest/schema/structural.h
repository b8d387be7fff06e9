#pragma once

#include "lib/manifest/schema/schema.h"

namespace regatta::manifest {

/// At most so many unknown fields of one object are reported; further ones are dropped silently.
constexpr std::size_t unknown_fields_max = 100;

/// Removes what `schema` does not name. apiVersion, kind and metadata of the root and of embedded
/// resources are kept, metadata's own unknown fields are not. The paths of what was removed
/// ("spec.foo", "spec.items[0].bar") are appended to `unknown` when given, those below metadata
/// first.
void prune(Json& object, const Schema& schema, std::vector<std::string>* unknown = nullptr);

/// The schema of a whole custom resource: the one that its CustomResourceDefinition has, with
/// apiVersion, kind and `object_meta` in place.
SchemaPtr complete_schema(const Schema& custom_resource, SchemaPtr object_meta);

/// The paths that prune() would remove, for strict field validation. The object stays as it is.
std::vector<std::string> unknown_fields(const Json& object, const Schema& schema);

/// Fills in defaults below `value`, and removes nulls that the schema neither allows nor defaults.
void set_schema_defaults(Json& value, const Schema& schema);

/// The path ("spec.size") of every member that a JSON text names twice in one object. Malformed
/// text has none.
std::vector<std::string> duplicate_fields(std::string_view json_text);

}  // namespace regatta::manifest
