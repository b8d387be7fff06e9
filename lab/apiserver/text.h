#pragma once

#include "lib/base/json.h"

#include <string>
#include <string_view>

namespace regatta::apiserver {

/// Compact JSON as Go writes it: <, >, & and U+2028/9 escaped, metadata before its siblings and in
/// declaration order.
std::string kubernetes_text(const Json& value);
/// The same for one object, without kind and apiVersion. `metadata_bytes` is set to its length up
/// to the end of the metadata.
std::string members_text(const Json& object, std::size_t* metadata_bytes = nullptr);
/// An object with its keys sorted, those of metadata in declaration order.
std::string metadata_ordered_text(const Json& object);
/// Indents compact JSON by two spaces a level and keeps its order.
std::string indented(std::string_view compact);

/// Joins kind, apiVersion and the members into an object's text, in the order for built-in or
/// custom types.
std::string object_text(std::string_view kind, std::string_view api_version,
                        std::string_view members, bool custom);

}  // namespace regatta::apiserver
