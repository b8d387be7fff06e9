#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::manifest {

/// The member of an object; null when there is none, it is JSON null, or `value` is no object.
const Json* member(const Json& value, std::string_view name);
const Json* member(const Json& value, std::string_view first, std::string_view second);

/// The member of an object, or JSON null.
const Json& at_or_null(const Json& value, std::string_view name);
/// Whether the member is true.
bool true_at(const Json& value, std::string_view name);

/// The member if it is a string, else null.
const std::string* string_member(const Json& value, std::string_view name);
/// The string, or empty.
std::string string_or_empty(const Json& value, std::string_view name);
std::string string_or_empty(const Json& value, std::string_view first, std::string_view second);
std::optional<std::int64_t> integer_member(const Json& value, std::string_view name);

/// Whether the array member holds that string.
bool list_has(const Json& value, std::string_view list, std::string_view text);

/// metadata of an object, made when missing or of the wrong type.
Json& metadata_of(Json& object);

/// Whether metadata.deletionTimestamp is set.
bool is_deleting(const Json& object);

}  // namespace regatta::manifest
