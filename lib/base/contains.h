#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace regatta {

/// Whether the list has that name.
inline bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The same for other values.
template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace regatta
