#pragma once

#include "lib/manifest/schema/schema.h"

namespace regatta::manifest {

/// The schema of a built-in kind (`core` is the empty group), null when it is not known. The whole
/// object: apiVersion, kind, metadata, spec …; metadata has ref_name
/// io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.
const Schema* builtin_schema(std::string_view group, std::string_view version,
                             std::string_view kind);
/// A type by its OpenAPI name, e.g. io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.
const Schema* builtin_type(std::string_view ref_name);
/// The schema of ObjectMeta.
const Schema* object_meta_schema();
/// Every type of the catalogue by OpenAPI name.
const std::map<std::string, SchemaPtr, std::less<>>& builtin_types();

}  // namespace regatta::manifest
