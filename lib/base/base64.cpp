#include "lib/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace regatta {
namespace {

bool is_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

Error illegal_at(std::size_t at) {
  return Error(Errc::invalid, "illegal base64 data at input byte " + std::to_string(at));
}

/// OpenSSL skips blanks, takes '-' for the end and '=' for a digit, and counts the padding as
/// bytes. So `groups` must be whole groups of checked digits.
std::string decode_groups(const std::string& groups, std::size_t padding) {
  std::string out(groups.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(groups.data()),
                  static_cast<int>(groups.size()));
  out.resize(out.size() - padding);
  return out;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  out.pop_back();
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string groups;
  groups.reserve(text.size());
  std::size_t padding = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == '\r') continue;
    const std::size_t have = groups.size() % 4;
    const bool fits = c == '=' ? have >= 2 : padding == 0 && is_digit(c);
    if (!fits) return illegal_at(at);
    if (c == '=') ++padding;
    groups += c;
  }
  if (const std::size_t rest = groups.size() % 4; rest != 0) {
    return illegal_at(padding == 0 ? text.size() - rest : text.size());
  }
  return decode_groups(groups, padding);
}

std::string base64url_encode(std::string_view bytes) {
  std::string out = base64_encode(bytes);
  out.erase(std::find(out.begin(), out.end(), '='), out.end());
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

Result<std::string> base64url_decode(std::string_view text) {
  const std::size_t foreign = text.find_first_of("+/=\r\n");
  if (foreign != text.npos) return illegal_at(foreign);
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  if (text.size() % 4 != 1) standard.append((4 - text.size() % 4) % 4, '=');
  return base64_decode(standard);
}

}  // namespace regatta
