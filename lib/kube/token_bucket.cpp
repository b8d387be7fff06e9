#include "lib/kube/token_bucket.h"

#include <algorithm>

namespace regatta::kube {

TokenBucket::TokenBucket(Clock& clock, double qps, int burst)
    : clock_(clock),
      qps_(std::max(qps, 0.0)),
      burst_(std::max(burst, 1)),
      tokens_(burst_),
      refilled_(clock.steady()) {}

void TokenBucket::refill() {
  const SteadyPoint now = clock_.steady();
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  tokens_ = std::min(burst_, tokens_ + seconds * qps_);
  refilled_ = now;
}

bool TokenBucket::try_take() {
  if (qps_ == 0) return true;
  refill();
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

Task<> TokenBucket::take() {
  if (qps_ == 0) co_return;
  refill();
  tokens_ -= 1;
  if (tokens_ >= 0) co_return;
  const double seconds = -tokens_ / qps_;
  co_await clock_.sleep_for(std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds)));
}

}  // namespace regatta::kube
