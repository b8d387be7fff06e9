#pragma once

#include <string>
#include <string_view>

namespace regatta {

/// Appends printable ASCII as a JSON string: in quotes, with quotes and backslashes escaped.
void append_quoted(std::string& out, std::string_view text);

}  // namespace regatta
