#pragma once

#include "lib/base/clock.h"

#include <string>

namespace regatta {

/// A duration the way kubectl's tables write it: "59s", "2m5s", "3h12m", "2d4h", "45d", "2y10d".
std::string human_duration(Duration d);

}  // namespace regatta
