#pragma once

#include <string>

namespace regatta {

/// The text, or as much of it as fits into so many bytes together with " ...". Valid UTF-8 stays
/// valid.
std::string limited_text(std::string text, std::size_t bytes_max);

}  // namespace regatta
