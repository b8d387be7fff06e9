#pragma once

#include <string>
#include <string_view>

namespace regatta {

/// Lower-case hex of the SHA-1 of `data`; for names only, never for security.
std::string sha1_hex(std::string_view data);
std::string sha256_hex(std::string_view data);
/// The 32 bytes of HMAC-SHA256.
std::string hmac_sha256(std::string_view key, std::string_view data);

}  // namespace regatta
