#pragma once

#include "lib/base/json.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace regatta {

// These functions read JSON that was not checked before. A member that is missing, is JSON null or
// has another type counts as absent, and a value that is no object has no members. Pointers and
// references point into the tree and are valid as long as the tree is unchanged.

/// The member of an object, or null.
const Json* member(const Json& value, std::string_view name);
/// The same along a path.
const Json* member(const Json& value, std::initializer_list<std::string_view> path);
/// The member, or JSON null.
const Json& at_or_null(const Json& value, std::string_view name);

/// The member when it is an object, or an array; else null.
const Json* object_at(const Json& value, std::string_view name);
const Json* list_at(const Json& value, std::string_view name);

/// The array, or an empty one; the object at the end of a path, or an empty one.
const Json& list_or_empty(const Json& value, std::string_view name);
const Json& object_or_empty(const Json& value, std::initializer_list<std::string_view> path);

/// The string, or an empty one.
const std::string& text_at(const Json& value, std::string_view name);
const std::string& text_at(const Json& value, std::initializer_list<std::string_view> path);
/// The string, which may be empty; null when there is none.
const std::string* string_at(const Json& value, std::string_view name);

/// The whole number; one with a fraction or an exponent is none.
std::optional<std::int64_t> integer_at(const Json& value, std::string_view name);
/// Whether the member is true.
bool true_at(const Json& value, std::string_view name);

}  // namespace regatta
