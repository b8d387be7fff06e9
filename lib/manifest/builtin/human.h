#pragma once

#include "lib/base/human.h"

#include <string>
#include <string_view>

namespace regatta::manifest::builtin {

/// The time since an RFC 3339 text; "<unknown>" when it is empty or malformed.
std::string age_of(std::string_view since, TimePoint now);

}  // namespace regatta::manifest::builtin
