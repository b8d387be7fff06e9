#pragma once

#include "lib/base/clock.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::placement {

/// Clusters are added in rounds.
struct Steps {
  int size = 3;
  Duration round = std::chrono::minutes(5);
};

struct Taken {
  std::size_t places = 0;  ///< that there are now; `clusters` may be more that had theirs before
  std::vector<std::string> clusters;
  std::optional<Duration> next_round;  ///< when there are more places; nullopt: never
};

/// A part of all that may be asked, from `first` to before `last`.
struct Page {
  std::size_t first = 0, last = 0;
  std::optional<Duration> next;  ///< when the next part has its turn; nullopt: this is all
};

/// Of more than `nominated_max` of them, those whose turn it is; each has it for `length`.
Page page_of(std::size_t able, Duration waited, Duration length);

/// The first of the able clusters, as many as there are places: `nominated_max`, or with steps
/// `size` and in each round since the reservation `size` more. Those that are nominated already
/// have the first places, if they are able.
Taken take(const std::vector<std::string>& able, const std::vector<std::string>& nominated,
           Duration waited, const std::optional<Steps>& steps);

}  // namespace regatta::placement
