#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::manager {

/// metav1.Duration as Go writes it: "1h30m", "-1.5s", "0". Digits below a millisecond are cut off.
Result<Duration> parse_duration(std::string_view text);

/// "15m0s", "1.5s", "0s".
std::string format_go_duration(Duration duration);

}  // namespace regatta::manager
