#pragma once

#include "lib/base/json.h"

#include <string>
#include <string_view>

namespace regatta {

/// What a writer escapes besides what JSON demands.
enum class Escapes {
  none,
  html,  ///< as Go does: <, >, & and U+2028/9
};

/// Appends compact text with sorted keys; invalid UTF-8 is replaced.
void append_json(std::string& out, const Json& value, Escapes escapes);

/// Appends printable ASCII as a JSON string: in quotes, with quotes and backslashes escaped.
void append_quoted(std::string& out, std::string_view text);

}  // namespace regatta
