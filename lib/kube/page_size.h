#pragma once

#include "lib/base/clock.h"

#include <algorithm>
#include <cstdint>

namespace regatta::kube {

/// How many objects the next page of a list is to have. A server that is slow, or whose objects are
/// large, is asked for fewer, so that a page arrives in time and fits; one that answers soon for
/// more, up to `limit`. API servers take another limit with each page of one list.
class PageSize {
 public:
  /// A limit of 0 asks for everything at once, and stays. `timeout` is that of one request.
  PageSize(std::int64_t first, std::int64_t limit, Duration timeout)
      : limit_(limit), now_(first > 0 ? std::min(first, limit) : limit), timeout_(timeout) {}

  std::int64_t now() const { return now_; }

  /// A page has come.
  void note(Duration took) {
    if (took > timeout_ / 2) {
      now_ = smaller(now_);
    } else if (took < timeout_ / 8) {
      now_ = std::min(2 * now_, limit_);
    }
  }

  /// The page was larger than an answer may be. False when a smaller one cannot be asked for.
  bool shrink() {
    const std::int64_t next = smaller(now_);
    if (next == now_) return false;
    limit_ = now_ = next;
    return true;
  }

  static std::int64_t smaller(std::int64_t size) {
    return std::max(size / 2, std::min(size, least));
  }

 private:
  static constexpr std::int64_t least = 10;

  std::int64_t limit_, now_;
  Duration timeout_;
};

}  // namespace regatta::kube
