#pragma once

#include <optional>
#include <string_view>

namespace regatta::visibility {

enum class Media {
  json,
  yaml,
  discovery,  ///< JSON of an aggregated discovery document
};

/// The first media type of an Accept header that can be served, or nullopt when there is none.
/// `discovery`: whether the page exists as an aggregated discovery document, too. A media type with
/// parameters that do not apply stands for the plain one when it is JSON or YAML.
std::optional<Media> negotiate(std::string_view accept, bool discovery);

}  // namespace regatta::visibility
