#pragma once

#include <string>
#include <string_view>

namespace regatta {

/// What is wrong with a text that is no JSON, in the words that Kubernetes' components have for it:
/// "invalid character 'o' in literal null (expecting 'u')". They name the first byte that cannot be
/// part of any document. Empty when nothing is wrong; the values of numbers and the validity of
/// UTF-8 are not looked at.
std::string json_syntax_error(std::string_view text);

}  // namespace regatta
