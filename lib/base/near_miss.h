#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regatta {

/// `; did you mean "bindAddress"?` when one of `known` is so close that it was probably meant, else
/// empty.
std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& known);

}  // namespace regatta
