#include "placement/nominate.h"

#include "placement/take.h"

#include <algorithm>

namespace regatta::placement {
namespace {

Nomination all_at_once(const NominationInput& input) {
  // Sorted, so that the same set is never written twice. The order in which workers are asked is
  // decided per workload when the copies are created.
  const std::vector<std::string> names(input.connected.begin(), input.connected.end());
  return {take(names, {}, Duration(0), std::nullopt).clusters, std::nullopt};
}

Nomination incremental(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  std::vector<std::string> able = input.config_order;
  if (config.by_name) std::sort(able.begin(), able.end());
  std::erase_if(able, [&](const std::string& name) { return !input.connected.contains(name); });
  Taken taken = take(able, input.nominated, now - input.quota_reserved_at,
                     Steps{config.step_size, config.round});
  // One that is lost may be back when the next round begins.
  const bool more = taken.clusters.size() < input.config_order.size();
  return {std::move(taken.clusters), more ? taken.next_round : std::nullopt};
}

}  // namespace

Dispatcher dispatcher_of(std::string_view name) {
  if (name.empty() || name == all_at_once_name) return Dispatcher::all_at_once;
  if (name == incremental_name) return Dispatcher::incremental;
  return Dispatcher::external;
}

Nomination nominate(const NominationInput& input, TimePoint now, const NominationConfig& config) {
  switch (config.dispatcher) {
    case Dispatcher::all_at_once:
      return all_at_once(input);
    case Dispatcher::incremental:
      return incremental(input, now, config);
    case Dispatcher::external:
      break;
  }
  return {input.nominated, std::nullopt};
}

}  // namespace regatta::placement
