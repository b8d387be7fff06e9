#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::net {

/// RFC 4648 with padding.
std::string base64_encode(std::string_view bytes);
/// Standard alphabet. White space is skipped, padding is required; `invalid` otherwise.
Result<std::string> base64_decode(std::string_view text);

/// The alphabet of URLs, without padding.
std::string base64url_encode(std::string_view bytes);
Result<std::string> base64url_decode(std::string_view text);

/// "a b/c" -> "a%20b%2Fc": escapes everything but unreserved characters.
std::string percent_encode(std::string_view text);

}  // namespace regatta::net
