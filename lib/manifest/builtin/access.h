#pragma once

#include "lib/api/validation.h"
#include "lib/base/json_access.h"
#include "lib/manifest/strategy.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace regatta::manifest::builtin {

/// The member as an object. A missing member is made, and one of another type is replaced.
Json& object_in(Json& object, std::string_view name);

/// Sets the member when it is missing or null.
void default_to(Json& object, std::string_view name, const char* value);
void default_to(Json& object, std::string_view name, std::int64_t value);
void default_to(Json& object, std::string_view name, bool value);
void default_object(Json& object, std::string_view name);

/// Drops the member when it is what Go leaves out: null, "", 0, false, [] or {}.
void drop_empty(Json& object, std::string_view name);
/// Copies the member of `from`, or drops it when that has none.
void copy_member(Json& to, const Json& from, std::string_view name);
/// Whether both have the same value there; missing and null are the same.
bool same_member(const Json& a, const Json& b, std::string_view name);

/// The condition of that type in a list of conditions, or null.
const Json* condition_in(const Json& conditions, std::string_view type);
/// Whether status.conditions holds that type with status True.
bool condition_true(const Json& object, std::string_view type);

// Causes, worded as the API server words them.
FieldError invalid(std::string field, const Json& value, std::string_view detail);
/// Like invalid(), without the value in the message.
FieldError invalid_bare(std::string field, std::string_view detail);
FieldError required(std::string field, std::string_view detail = {});
FieldError forbidden(std::string field, std::string_view detail);
FieldError duplicate(std::string field, const Json& value);
FieldError not_supported(std::string field, const Json& value,
                         std::initializer_list<std::string_view> supported);
FieldError not_found(std::string field, const std::string& value);
/// Appends one cause for each complaint about the value.
void invalid_each(const std::string& field, const Json& value, const api::Complaints& complaints,
                  FieldErrors* errors);
/// Checks keys and values of labels, or of a node selector.
void check_labels(const Json& labels, const std::string& field, FieldErrors* errors);
FieldError too_long(std::string field, std::size_t bytes_max);

/// Appends "must be greater than or equal to 0" for a member that is negative.
void check_not_negative(const Json& object, std::string_view name, const std::string& path,
                        FieldErrors* errors);
/// Appends "field is immutable" when the member differs.
void check_immutable(const Json& object, const Json& old, std::string_view name,
                     const std::string& path, FieldErrors* errors);

std::string join_path(std::string_view path, std::string_view name);
std::string index_path(std::string_view path, std::size_t index);
std::string key_path(std::string_view path, std::string_view key);

}  // namespace regatta::manifest::builtin
