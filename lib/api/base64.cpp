#include "lib/api/base64.h"

#include <cstdint>

namespace regatta::api {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padding = k > 1 && i + k > bytes.size();
      out += padding ? '=' : alphabet[group >> (18 - 6 * k) & 63u];
    }
  }
  return out;
}

Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int have = 0, padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    const int value = c == '=' ? 0 : value_of(c);
    if (value < 0 || (padding > 0 && c != '=') || (c == '=' && have < 2)) {
      return Error(Errc::invalid, "illegal base64 data at input byte " + std::to_string(i));
    }
    if (c == '=') ++padding;
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++have < 4) continue;
    for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(group >> (16 - 8 * k));
    group = 0;
    have = 0;
    if (padding > 0) {
      while (i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) ++i;
      if (i + 1 == text.size()) return out;
      return Error(Errc::invalid, "illegal base64 data at input byte " + std::to_string(i + 1));
    }
  }
  if (have == 0) return out;
  return Error(Errc::invalid, "illegal base64 data at input byte " + std::to_string(text.size()));
}

}  // namespace regatta::api
