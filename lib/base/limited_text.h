#pragma once

#include <string>

namespace regatta {

/// The text, or what of it fits into so many bytes with " ..." behind it: valid UTF-8 stays valid.
std::string limited_text(std::string text, std::size_t bytes_max);

}  // namespace regatta
