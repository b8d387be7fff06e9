#pragma once

#include "lib/base/clock.h"

#include <string>
#include <string_view>

namespace regatta::apiserver::builtin {

/// A duration the way kubectl's tables write it: "59s", "2m5s", "3h12m", "2d4h", "45d", "2y10d".
std::string human_duration(Duration d);
/// The time since an RFC 3339 text; "<unknown>" when it is empty or malformed.
std::string age_of(std::string_view since, TimePoint now);

}  // namespace regatta::apiserver::builtin
