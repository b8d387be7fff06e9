#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regatta::apiserver {

/// Unpadded URL-safe base64.
std::string base64url(std::string_view bytes);
/// Accepts both alphabets, padded or not.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace regatta::apiserver
