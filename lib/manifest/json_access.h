#pragma once

#include "lib/base/json_access.h"

namespace regatta::manifest {

/// Whether the array member holds that string.
bool list_has(const Json& value, std::string_view list, std::string_view text);

/// metadata of an object, made when missing or of the wrong type.
Json& metadata_of(Json& object);

/// Whether metadata.deletionTimestamp is set.
bool is_deleting(const Json& object);

}  // namespace regatta::manifest
