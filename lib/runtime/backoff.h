#pragma once

#include "lib/base/clock.h"

#include <algorithm>

namespace regatta {

/// Exponential backoff: the n-th failure (from 1) waits base * 2^(n-1), at most `limit`.
struct Backoff {
  Duration base{5};
  Duration limit{std::chrono::seconds(60)};

  Duration after(int failures) const {
    const int doublings = std::clamp(failures - 1, 0, 30);
    if (base.count() > (limit.count() >> doublings)) return limit;
    return Duration(base.count() << doublings);
  }
};

}  // namespace regatta
