#include "lib/net/encoding.h"

#include <array>
#include <cstdint>

namespace regatta::net {
namespace {

constexpr std::string_view standard_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k <= have; ++k) out += alphabet[group >> (18 - 6 * k) & 63];
    if (pad) out.append(3 - have, '=');
  }
  return out;
}

Result<std::string> decode(std::string_view text, std::string_view alphabet, bool padded) {
  std::array<int, 256> digits;
  digits.fill(-1);
  for (int i = 0; i < 64; ++i) digits[static_cast<unsigned char>(alphabet[std::size_t(i)])] = i;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t count = 0, padding = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=' && padded) {
      ++padding;
      continue;
    }
    const int digit = digits[static_cast<unsigned char>(c)];
    if (digit < 0 || padding != 0) {
      return Error(Errc::invalid, "illegal base64 data at byte " + std::to_string(at));
    }
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++count % 4 == 0) {
      out += {char(group >> 16), char(group >> 8), char(group)};
      group = 0;
    }
  }
  const std::size_t rest = count % 4;
  if (rest == 1 || (padded && padding != (4 - rest) % 4)) {
    return Error(Errc::invalid, "base64 data is cut short");
  }
  if (rest >= 2) out += char(group >> (rest == 2 ? 4 : 10));
  if (rest == 3) out += char(group >> 2);
  return out;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  return encode(bytes, standard_alphabet, true);
}
Result<std::string> base64_decode(std::string_view text) {
  return decode(text, standard_alphabet, true);
}
std::string base64url_encode(std::string_view bytes) {
  return encode(bytes, url_alphabet, false);
}
Result<std::string> base64url_decode(std::string_view text) {
  return decode(text, url_alphabet, false);
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (alnum || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[c & 15];
    }
  }
  return out;
}

}  // namespace regatta::net
