#include "placement/nominate.h"

#include "lib/base/contains.h"

#include <algorithm>

namespace regatta::placement {
namespace {

Nomination all_at_once(const NominationInput& input) {
  // Sorted, so that the same set is never written twice. The order in which workers are asked is
  // decided per workload when the copies are created.
  std::vector<std::string> names(input.connected.begin(), input.connected.end());
  if (names.size() > nominated_max) names.resize(nominated_max);
  return {std::move(names), std::nullopt};
}

Nomination incremental(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  const auto elapsed = std::max(Duration(0), now - input.quota_reserved_at);
  const auto round = elapsed / config.round;
  const auto places =
      std::min<std::size_t>(std::size_t(config.step_size) * std::size_t(round + 1), nominated_max);
  Nomination result;
  for (const std::string& name : input.nominated) {
    if (input.connected.contains(name)) result.clusters.push_back(name);
  }
  std::vector<std::string> order = input.config_order;
  if (config.by_name) std::sort(order.begin(), order.end());
  for (const std::string& name : order) {
    if (result.clusters.size() >= places) break;
    if (!input.connected.contains(name) || contains(result.clusters, name)) continue;
    result.clusters.push_back(name);
  }
  const bool more =
      std::any_of(input.config_order.begin(), input.config_order.end(),
                  [&](const std::string& name) { return !contains(result.clusters, name); });
  if (more && places < nominated_max) {
    result.look_again = (round + 1) * config.round - elapsed;
  }
  return result;
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
