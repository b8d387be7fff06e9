#include "visibility/target.h"

#include <charconv>

namespace regatta::visibility {
namespace {

std::string decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      unsigned byte = 0;
      const char* end = text.data() + i + 3;
      if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr == end) {
        out += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    out += plus_is_space && text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

template <class Each>
void split(std::string_view text, char mark, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark), text.size());
    if (end > 0) each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

const std::string* Target::first(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string percent_decoded(std::string_view text) {
  return decoded(text, false);
}

Target parse_target(std::string_view target) {
  Target out;
  const std::size_t mark = std::min(target.find('?'), target.size());
  split(target.substr(0, mark), '/',
        [&](std::string_view part) { out.path.push_back(decoded(part, false)); });
  if (mark == target.size()) return out;
  split(target.substr(mark + 1), '&', [&](std::string_view part) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view value = equals < part.size() ? part.substr(equals + 1) : "";
    out.query.emplace_back(decoded(part.substr(0, equals), true), decoded(value, true));
  });
  return out;
}

}  // namespace regatta::visibility
