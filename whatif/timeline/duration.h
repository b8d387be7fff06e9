#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::whatif {

/// "90s", "1h30m", "1.5h", "250ms", "2d", or a plain number of seconds. Never negative, at most ten
/// years.
Result<Duration> parse_duration(std::string_view text);

/// The two largest units: "1h30m", "45s", "2d3h", "250ms", "0s".
std::string format_duration(Duration value);

}  // namespace regatta::whatif
