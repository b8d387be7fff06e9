#pragma once

#include "lib/base/clock.h"

#include <vector>

namespace regatta::clusters {

/// Losses of a worker that are over, from the first on. A worker that comes and goes uses up the
/// grace of what it runs while it is away; otherwise that would never be over.
class Losses {
 public:
  static constexpr std::size_t kept_max = 32;

  /// One ended at `over`. When too many are kept, the first two become one, which counts for less.
  void add(TimePoint over, Duration lasted);
  void clear() { all_.clear(); }
  /// For how long the worker was lost of the time after that moment.
  Duration after(TimePoint moment) const;

 private:
  struct Loss {
    TimePoint over;
    Duration lasted;  ///< by the steady clock; what is before `moment` is judged by the other one
  };
  std::vector<Loss> all_;
};

}  // namespace regatta::clusters
