#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regatta::api {

/// The differences of `text` from `base`, as text_from() takes them. Both are JSON and differ in a
/// few strings or numbers; nullopt when they differ so much that nothing would be saved.
std::optional<std::string> differences(std::string_view base, std::string_view text);

/// The text that differs from `base` by `differences`.
std::string text_from(std::string_view base, std::string_view differences);

}  // namespace regatta::api
