#include "placement/nominate.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/fnv.h"
#include "placement/take.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace regatta::placement {
namespace {

/// Of more than can be nominated, those whose turn it is; each has it for `page`. Says when the
/// next ones have theirs.
std::optional<Duration> turn_page(std::vector<std::string>* able, Duration waited, Duration page) {
  if (able->size() <= nominated_max) return std::nullopt;
  waited = std::max(Duration(0), waited);
  const auto turn = static_cast<std::size_t>(waited / page);
  const std::size_t pages = (able->size() + nominated_max - 1) / nominated_max;
  const std::size_t first = (turn % pages) * nominated_max;
  const std::size_t last = std::min(first + nominated_max, able->size());
  *able = std::vector<std::string>(able->begin() + static_cast<std::ptrdiff_t>(first),
                                   able->begin() + static_cast<std::ptrdiff_t>(last));
  return page - waited % page;
}

Nomination all_at_once(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  std::vector<std::string> names(input.connected.begin(), input.connected.end());
  std::optional<Duration> next;
  if (names.size() > nominated_max) {
    // Each workload has an order of its own, so that not all of them ask the same ones.
    const std::uint64_t own = fnv1a(input.uid);
    const auto place = [own](const std::string& name) {
      return std::pair(fnv1a(name, own), std::string_view(name));
    };
    std::sort(names.begin(), names.end(), [&](const std::string& one, const std::string& other) {
      return place(one) < place(other);
    });
    next = turn_page(&names, now - input.quota_reserved_at, config.page);
  }
  // Sorted, so that the same set is never written twice. The order in which workers are asked is
  // decided per workload when the copies are created.
  std::sort(names.begin(), names.end());
  return {std::move(names), next};
}

/// Rounds as ever among the first twenty; then the next twenty have theirs.
Nomination in_pages(std::vector<std::string> able, const NominationInput& input, TimePoint now,
                    const NominationConfig& config) {
  const Steps steps{config.step_size, config.round};
  const auto size = static_cast<std::size_t>(std::max(1, config.step_size));
  const auto rounds = static_cast<std::int64_t>((nominated_max + size - 1) / size);
  const Duration waited = std::max(Duration(0), now - input.quota_reserved_at);
  const Duration page = config.round * rounds;
  const std::optional<Duration> turns = turn_page(&able, waited, page);
  Taken taken = take(able, input.nominated, waited % page, steps);
  const Duration next = std::min(*turns, taken.next_round.value_or(*turns));
  return {std::move(taken.clusters), next};
}

Nomination incremental(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  std::vector<std::string> able = input.config_order;
  if (config.by_name) std::sort(able.begin(), able.end());
  std::erase_if(able, [&](const std::string& name) { return !input.connected.contains(name); });
  if (able.size() > nominated_max) return in_pages(std::move(able), input, now, config);
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
      return all_at_once(input, now, config);
    case Dispatcher::incremental:
      return incremental(input, now, config);
    default:
      return {input.nominated, std::nullopt};
  }
}

}  // namespace regatta::placement
