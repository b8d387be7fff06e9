#pragma once

#include <string_view>

namespace regatta::manifest {

/// Whether `text` has the OpenAPI string format `format`; formats we do not know are not checked.
bool has_format(std::string_view text, std::string_view format);

}  // namespace regatta::manifest
