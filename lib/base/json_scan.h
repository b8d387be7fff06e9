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

/// The highest bit of each byte that does not stand in a JSON string as it is. The lowest of them
/// is right; above it others may be marked, too.
template <char... More>
constexpr std::uint64_t marks(std::uint64_t word) {
  constexpr std::uint64_t highest = each('\x80');
  const std::uint64_t controls = (word - each(' ')) & ~word;
  const std::uint64_t always = zeros(word ^ each('"')) | zeros(word ^ each('\\'));
  // Beyond ASCII the highest bit is a mark itself.
  return ((word | controls | always) | ... | zeros(word ^ each(More))) & highest;
}

inline std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// The first four bytes and the last four ones.
inline std::uint64_t ends_of(std::string_view text) {
  std::uint32_t ends[2];
  std::memcpy(&ends[0], text.data(), sizeof ends[0]);
  std::memcpy(&ends[1], text.data() + text.size() - sizeof ends[1], sizeof ends[1]);
  return ends[0] | std::uint64_t(ends[1]) << 32;
}

/// How many bytes are below the lowest mark.
inline std::size_t bytes_below(std::uint64_t marks) {
  return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
}

}  // namespace scan

/// How many bytes at the beginning of `text` a JSON string has as they are: ASCII without control
/// characters, quotes, backslashes, and without `More`. It looks at eight bytes at a time.
template <char... More>
std::size_t plain_prefix(std::string_view text) {
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::size_t step = sizeof(std::uint64_t);
    for (; text.size() - at >= step; at += step) {
      const std::uint64_t found = scan::marks<More...>(scan::word_at(text.data() + at));
      if (found != 0) return at + scan::bytes_below(found);
    }
    const std::size_t left = text.size() - at;
    if (at != 0 && left != 0) {  // a last word, over the end of the one before, which has no mark
      at = text.size() - step;
      const std::uint64_t found = scan::marks<More...>(scan::word_at(text.data() + at));
      return found == 0 ? text.size() : at + scan::bytes_below(found);
    }
    if (left >= step / 2) {  // its beginning and its end, which may overlap
      const std::uint64_t word = scan::ends_of(text);
      if (scan::marks<More...>(word) == 0) return text.size();
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
