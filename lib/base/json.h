#pragma once

#include "lib/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace regatta {

using Json = nlohmann::json;

/// Deepest nesting accepted; a deeper document is refused, wherever it comes from.
constexpr int json_depth_max = 500;

/// Reads one JSON document. `invalid` with the position when it is malformed, nests deeper than
/// json_depth_max, or is followed by anything but white space. Duplicate keys: the last wins.
Result<Json> parse_json(std::string_view text);

/// Empties a list or an object. The destructor does that, too, but moves all that is below into a
/// list first, which takes twice as many instructions for the tree of an object. `value` must not
/// nest deeper than json_depth_max.
void discard(Json* value);

/// Compact text, keys sorted. Invalid UTF-8 is replaced; it never throws.
std::string dump_json(const Json& value);

/// Indented by two spaces, for people and golden files.
std::string dump_json_pretty(const Json& value);

}  // namespace regatta
