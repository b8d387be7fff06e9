#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace regatta::whatif {

/// Kinds of things that happen at a time known in advance.
enum class Due : std::uint8_t {
  look,      ///< at a workload's status, after a backoff or a limit
  answer,    ///< an admission check answers; `detail` is its index
  ready,     ///< the pods of a job become ready
  end,       ///< a job ends
  reclaim,   ///< a job will not need all of its pods again
  stopped,   ///< a job that was asked to stop has stopped
  flush,     ///< a cluster reactivates parked workloads
  dispatch,  ///< the hub plans a workload again
};

struct Wake {
  TimePoint at{};
  std::uint64_t order = 0;  ///< by arrival, for equal times
  Due due = Due::look;
  std::uint32_t cluster = 0;
  std::uint32_t course = 0;
  std::uint32_t epoch = 0;  ///< of the course; void when the course has a newer one
  std::uint32_t detail = 0;
};

class Agenda {
 public:
  void add(Wake wake) {
    wake.order = order_++;
    wakes_.push(wake);
  }
  std::optional<TimePoint> next() const {
    return wakes_.empty() ? std::nullopt : std::optional(wakes_.top().at);
  }
  /// The next wake, if it is due by `now`.
  std::optional<Wake> pop(TimePoint now) {
    if (wakes_.empty() || wakes_.top().at > now) return std::nullopt;
    const Wake wake = wakes_.top();
    wakes_.pop();
    return wake;
  }

 private:
  struct Later {
    bool operator()(const Wake& a, const Wake& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  std::priority_queue<Wake, std::vector<Wake>, Later> wakes_;
  std::uint64_t order_ = 0;
};

}  // namespace regatta::whatif
