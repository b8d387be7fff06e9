#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regatta::visibility {

/// A request target in its parts, without percent signs.
struct Target {
  std::vector<std::string> path;  ///< "/apis/x/" is {"apis", "x"}
  std::vector<std::pair<std::string, std::string>> query;

  /// The first value of a parameter, or null.
  const std::string* first(std::string_view name) const;
};

Target parse_target(std::string_view target);

/// A percent sign that begins no byte stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace regatta::visibility
