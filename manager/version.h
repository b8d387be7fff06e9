#pragma once

#include <string_view>

namespace regatta::manager {

inline constexpr std::string_view version = REGATTA_VERSION;

}  // namespace regatta::manager
