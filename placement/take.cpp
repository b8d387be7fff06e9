#include "placement/take.h"

#include "lib/base/contains.h"
#include "placement/nominate.h"

#include <algorithm>

namespace regatta::placement {

Page page_of(std::size_t able, Duration waited, Duration length) {
  if (able <= nominated_max) return {0, able, std::nullopt};
  waited = std::max(Duration(0), waited);
  const auto turn = static_cast<std::size_t>(waited / length);
  const std::size_t pages = (able + nominated_max - 1) / nominated_max;
  const std::size_t first = (turn % pages) * nominated_max;
  return {first, std::min(first + nominated_max, able), length - waited % length};
}

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
    if (out.clusters.size() >= places) break;
    if (!contains(out.clusters, name)) out.clusters.push_back(name);
  }
  return out;
}

}  // namespace regatta::placement
