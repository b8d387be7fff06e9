#include "lib/base/limited_text.h"

#include <algorithm>
#include <string_view>

namespace regatta {

std::string limited_text(std::string text, std::size_t bytes_max) {
  constexpr std::string_view mark = " ...";
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max - std::min(bytes_max, mark.size());
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text.append(mark.substr(0, bytes_max));
}

}  // namespace regatta
