#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace regatta {

namespace scan {

constexpr std::uint64_t each(char c) {
  return 0x0101010101010101U * static_cast<unsigned char>(c);
}

/// The highest bit of each byte that is zero. Above the first such byte others may be marked, too.
constexpr std::uint64_t zeros(std::uint64_t word) {
  return (word - each(1)) & ~word;
}

}  // namespace scan

/// How many bytes at the beginning of `text` a JSON string has as they are: ASCII without control
/// characters, quotes, backslashes, and without `More`. It looks at eight bytes at a time.
template <char... More>
std::size_t plain_prefix(std::string_view text) {
  constexpr std::uint64_t highest = 0x8080808080808080U;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, sizeof word);
      const std::uint64_t controls = (word - scan::each(' ')) & ~word;
      const std::uint64_t marks =
          scan::zeros(word ^ scan::each('"')) | scan::zeros(word ^ scan::each('\\'));
      // The lowest mark is right, and beyond ASCII the highest bit is a mark itself.
      const std::uint64_t found =
          ((word | controls | marks) | ... | scan::zeros(word ^ scan::each(More))) & highest;
      if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool plain = c >= 0x20 && c != '"' && c != '\\' && static_cast<unsigned char>(c) < 0x80;
    if (!plain || (... || (c == More))) break;
  }
  return at;
}

/// The first quote or backslash at or after `from`; npos when there is none.
inline std::size_t find_quote_or_backslash(std::string_view text, std::size_t from) {
  for (; from < text.size(); ++from) {
    from += plain_prefix(text.substr(from));
    if (from < text.size() && (text[from] == '"' || text[from] == '\\')) return from;
  }
  return std::string_view::npos;
}

}  // namespace regatta
