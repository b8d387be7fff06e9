#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regatta::api {

/// How `text` differs from `base`, for text_from(), where both are JSON that differs in a few of
/// its strings or numbers; nullopt when they differ in more, so that nothing would be saved.
std::optional<std::string> differences(std::string_view base, std::string_view text);

/// The text that differs from `base` by `differences`.
std::string text_from(std::string_view base, std::string_view differences);

}  // namespace regatta::api
