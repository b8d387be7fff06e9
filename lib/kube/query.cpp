#include "lib/kube/query.h"

namespace regatta::kube {
namespace {

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (unreserved(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += digits[byte >> 4];
    encoded += digits[byte & 15];
  }
  return encoded;
}

void Query::add(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text_ += text_.empty() ? '?' : '&';
  text_ += name;
  text_ += '=';
  text_ += percent_encode(value);
}

}  // namespace regatta::kube
