#pragma once

#include <string>
#include <string_view>

namespace regatta {

/// The texts one after the other, with `between` behind each that something follows.
template <class Texts>
std::string joined(const Texts& texts, std::string_view between = ", ") {
  std::string out;
  for (const auto& text : texts) {
    if (!out.empty()) out += between;
    out += text;
  }
  return out;
}

}  // namespace regatta
