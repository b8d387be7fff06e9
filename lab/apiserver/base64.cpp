#include "lab/apiserver/base64.h"

#include "lib/api/base64.h"

#include <algorithm>

namespace regatta::apiserver {

std::string base64url(std::string_view bytes) {
  std::string out = api::encode_base64(bytes);
  out.erase(std::find(out.begin(), out.end(), '='), out.end());
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string plain(text.substr(0, text.find('=')));
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  Result<std::string> bytes = api::decode_base64(plain);
  if (!bytes) return std::nullopt;
  return std::move(*bytes);
}

}  // namespace regatta::apiserver
