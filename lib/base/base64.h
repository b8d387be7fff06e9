#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta {

/// RFC 4648 with padding, as Secrets and kubeconfig files hold it.
std::string base64_encode(std::string_view bytes);

/// Reads the standard alphabet with padding. Line breaks are skipped, as Go skips them, and nothing
/// else is. `invalid` with the position of the first wrong byte.
Result<std::string> base64_decode(std::string_view text);

/// The alphabet of URLs without padding, as web tokens hold it; nothing is skipped.
std::string base64url_encode(std::string_view bytes);
Result<std::string> base64url_decode(std::string_view text);

}  // namespace regatta
