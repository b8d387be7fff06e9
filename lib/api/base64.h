#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::api {

/// RFC 4648 with padding, as Secret data is written. Line breaks are skipped, as Go does.
std::string encode_base64(std::string_view bytes);
Result<std::string> decode_base64(std::string_view text);

}  // namespace regatta::api
