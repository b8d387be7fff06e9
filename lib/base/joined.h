#pragma once

#include <string>
#include <string_view>

namespace regatta {

/// The texts in order, with `between` between each two.
template <class Texts>
std::string joined(const Texts& texts, std::string_view between = ", ") {
  std::string out;
  std::string_view gap;
  for (const auto& text : texts) {
    out.append(gap).append(text);
    gap = between;
  }
  return out;
}

}  // namespace regatta
