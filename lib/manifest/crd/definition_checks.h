#pragma once

#include "lib/base/json.h"
#include "lib/manifest/strategy.h"

#include <string>

namespace regatta::manifest {

/// Appends every reason why a schema (as JSON) is not structural, with its path below `path`.
void check_structural(const Json& schema, const std::string& path, FieldErrors& errors);

/// Everything that can be wrong with a CustomResourceDefinition.
FieldErrors check_definition(const Json& definition);
/// A definition is named after what it defines.
FieldErrors check_definition_name(const Json& definition);

}  // namespace regatta::manifest
