#include "lib/api/likeness.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace regatta::api {
namespace {

/// Stands before the characters that replace some of the base.
struct Edit {
  std::uint32_t kept = 0;      ///< characters of the base that stay, since the previous edit
  std::uint32_t dropped = 0;   ///< characters of the base that are replaced
  std::uint32_t inserted = 0;  ///< characters that follow and take their place
};

void append(std::string& out, Edit edit, std::string_view inserted) {
  edit.inserted = static_cast<std::uint32_t>(inserted.size());
  std::array<char, sizeof edit> bytes;
  std::memcpy(bytes.data(), &edit, sizeof edit);
  out.append(bytes.data(), bytes.size()).append(inserted);
}

/// How many characters are the same at the beginning.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  constexpr std::size_t step = sizeof(std::uint64_t);
  const std::size_t length = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (length - at >= step && std::memcmp(a.data() + at, b.data() + at, step) == 0) at += step;
  while (at < length && a[at] == b[at]) ++at;
  return at;
}

/// The text up to the next quotation mark: the rest of a string, or what stands between strings.
std::string_view token(std::string_view text) {
  return text.substr(0, text.find('"'));
}

}  // namespace

std::optional<std::string> differences(std::string_view base, std::string_view text) {
  const std::size_t affordable = text.size() / 2;
  std::string out;
  Edit edit;
  while (base != text) {
    // What is the same is passed over, up to the token that differs.
    const std::size_t same = base.substr(0, common_prefix(base, text)).rfind('"') + 1;
    const std::string_view was = token(base.substr(same));
    const std::string_view is = token(text.substr(same));
    edit.kept = static_cast<std::uint32_t>(same);
    edit.dropped = static_cast<std::uint32_t>(was.size());
    append(out, edit, is);
    if (out.size() > affordable) return std::nullopt;
    base.remove_prefix(same + was.size());
    text.remove_prefix(same + is.size());
    if (base.empty() != text.empty()) return std::nullopt;
  }
  out.shrink_to_fit();
  return out;
}

std::string text_from(std::string_view base, std::string_view differences) {
  std::string out;
  out.reserve(base.size() + differences.size());
  while (!differences.empty()) {
    Edit edit;
    std::memcpy(&edit, differences.data(), sizeof edit);
    differences.remove_prefix(sizeof edit);
    out.append(base.substr(0, edit.kept)).append(differences.substr(0, edit.inserted));
    base.remove_prefix(std::size_t(edit.kept) + edit.dropped);
    differences.remove_prefix(edit.inserted);
  }
  return out.append(base);
}

}  // namespace regatta::api
