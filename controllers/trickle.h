#pragma once

#include "lib/api/meta.h"
#include "lib/base/clock.h"

#include <optional>
#include <set>

namespace regatta::controllers {

/// Spaces out writes that are not urgent: one in each `interval`, first come, first served. A key
/// that has to wait keeps its turn.
class Trickle {
 public:
  explicit Trickle(Duration interval) : interval_(interval) {}

  /// Nothing when it is the key's turn, else the time to wait before the next call.
  std::optional<Duration> wait(const api::ObjectKey& key, TimePoint now) {
    if (turns_.erase(key) > 0) return std::nullopt;
    const TimePoint turn = std::max(next_, now);
    next_ = turn + interval_;
    if (turn <= now) return std::nullopt;
    turns_.insert(key);
    return turn - now;
  }

  void forget(const api::ObjectKey& key) { turns_.erase(key); }

 private:
  Duration interval_;
  TimePoint next_{};
  std::set<api::ObjectKey> turns_;  ///< keys that have a turn and wait for it
};

}  // namespace regatta::controllers
