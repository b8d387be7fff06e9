#include "placement/nominate.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
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

const std::vector<std::string>& short_names() {
  static const std::vector<std::string> all = {"all-at-once", "incremental", "external", "capacity",
                                               "cost",        "spread",      "locality"};
  return all;
}

std::optional<Dispatcher> dispatcher_by_short_name(std::string_view name) {
  const auto& all = short_names();
  const auto found = std::find(all.begin(), all.end(), name);
  if (found == all.end()) return std::nullopt;
  return static_cast<Dispatcher>(found - all.begin());  // in the order of the enumeration
}

Dispatcher dispatcher_of(std::string_view name) {
  namespace names = api::dispatchers;
  if (name.empty() || name == names::all_at_once) return Dispatcher::all_at_once;
  if (name == names::incremental) return Dispatcher::incremental;
  if (name == names::capacity) return Dispatcher::capacity;
  if (name == names::cost) return Dispatcher::cost;
  if (name == names::spread) return Dispatcher::spread;
  if (name == names::locality) return Dispatcher::locality;
  return Dispatcher::external;
}

const std::vector<std::string>& own_dispatchers() {
  namespace names = api::dispatchers;
  static const std::vector<std::string> all = {
      std::string(names::capacity), std::string(names::cost), std::string(names::locality),
      std::string(names::placement), std::string(names::spread)};
  return all;
}

bool is_misspelled(std::string_view name) {
  return name.starts_with(api::dispatchers::domain) && !contains(own_dispatchers(), name);
}

Nomination nominate(const NominationInput& input, TimePoint now, const NominationConfig& config) {
  switch (config.dispatcher) {
    case Dispatcher::all_at_once:
      return all_at_once(input);
    case Dispatcher::incremental:
      return incremental(input, now, config);
    default:
      return {input.nominated, std::nullopt};
  }
}

}  // namespace regatta::placement
