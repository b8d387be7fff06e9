#pragma once

#include "lib/base/clock.h"

namespace regatta::kube {

/// Lets `burst` through at once and `qps` a second in the long run, first come first served.
class TokenBucket {
 public:
  /// qps 0: no limit.
  TokenBucket(Clock& clock, double qps, int burst);

  /// Waits for the caller's turn. The turn of a cancelled caller is lost.
  Task<> take();
  /// Takes a token if there is one now.
  bool try_take();

 private:
  void refill();

  Clock& clock_;
  double qps_;
  double burst_;
  double tokens_;  ///< negative: turns given out in advance
  SteadyPoint refilled_;
};

}  // namespace regatta::kube
