#pragma once

#include "lib/base/json.h"

#include <string>
#include <string_view>

/// Values in the notations of Go's fmt package, which recorded error messages are made of.
namespace regatta::manifest {

/// %v: `map[a:1 b:[x y]]`.
std::string go_plain(const Json& value);
/// %#v: `map[string]interface {}{"a":1}`.
std::string go_syntax(const Json& value);
/// %T: `map[string]interface {}`, `string`, `int64` …
std::string go_type(const Json& value);
/// %q.
std::string go_quoted(std::string_view text);

}  // namespace regatta::manifest
