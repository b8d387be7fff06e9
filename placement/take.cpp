#include "placement/take.h"

#include "lib/base/contains.h"
#include "placement/nominate.h"

#include <algorithm>

namespace regatta::placement {

Taken take(const std::vector<std::string>& able, const std::vector<std::string>& nominated,
           Duration waited, const std::optional<Steps>& steps) {
  std::size_t places = nominated_max;
  Taken out;
  if (steps) {
    const Duration elapsed = std::max(Duration(0), waited);
    const auto round = elapsed / steps->round;
    places = std::min(static_cast<std::size_t>(steps->size) * static_cast<std::size_t>(round + 1),
                      nominated_max);
    if (places < nominated_max) out.next_round = (round + 1) * steps->round - elapsed;
  }
  out.places = places;
  for (const std::string& name : nominated) {
    if (contains(able, name)) out.clusters.push_back(name);
  }
  for (const std::string& name : able) {
    if (contains(out.clusters, name)) continue;
    (out.clusters.size() < places ? out.clusters : out.later).push_back(name);
  }
  return out;
}

}  // namespace regatta::placement
