#pragma once

/// Texts by which equal shapes and profiles are recognised: two are equal if their texts are.

#include "lib/api/labels.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

/// Writes the length, too, so that fields cannot run into each other.
inline void write(std::string* to, std::string_view field) {
  *to += std::to_string(field.size());
  *to += ':';
  *to += field;
}

inline void write(std::string* to, const std::vector<api::LabelSelectorRequirement>& requirements) {
  *to += '[';
  for (const auto& requirement : requirements) {
    write(to, requirement.key);
    write(to, requirement.op);
    *to += std::to_string(requirement.values.size());
    for (const auto& value : requirement.values) write(to, value);
  }
  *to += ']';
}

}  // namespace regatta::admission
