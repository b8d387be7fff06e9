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

/// Each workload has an order of its own, so that not all of them ask the same ones. Only where the
/// page begins and ends is sorted, because there may be a thousand.
std::vector<std::string> names_on(const Page& page, const NominationInput& input) {
  const std::vector<std::string>& able = *input.able;
  using Place = std::pair<std::uint64_t, std::string_view>;
  std::vector<Place> places;
  places.reserve(able.size());
  const std::uint64_t own = fnv1a(input.uid);
  for (const std::string& name : able) places.emplace_back(fnv1a(name, own), name);
  const auto first = places.begin() + static_cast<std::ptrdiff_t>(page.first);
  const auto last = places.begin() + static_cast<std::ptrdiff_t>(page.last);
  if (first != places.begin()) std::nth_element(places.begin(), first, places.end());
  if (last != places.end()) std::nth_element(first, last, places.end());
  std::vector<std::string> names;
  for (auto place = first; place != last; ++place) names.emplace_back(place->second);
  return names;
}

Nomination all_at_once(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  const Page page = page_of(input.able->size(), now - input.quota_reserved_at, config.page);
  std::vector<std::string> names = page.next ? names_on(page, input) : *input.able;
  // Sorted, so that the same set is never written twice. The order in which workers are asked is
  // decided per workload when the copies are created.
  std::sort(names.begin(), names.end());
  return {std::move(names), page.next};
}

/// Rounds as ever among the first twenty; then the next twenty have theirs.
Nomination in_pages(const std::vector<std::string>& able, const NominationInput& input,
                    TimePoint now, const NominationConfig& config) {
  const Steps steps{config.step_size, config.round};
  const auto size = static_cast<std::size_t>(std::max(1, config.step_size));
  const auto rounds = static_cast<std::int64_t>((nominated_max + size - 1) / size);
  const Duration waited = std::max(Duration(0), now - input.quota_reserved_at);
  const Duration length = config.round * rounds;
  const Page page = page_of(able.size(), waited, length);
  const std::vector<std::string> names(able.begin() + static_cast<std::ptrdiff_t>(page.first),
                                       able.begin() + static_cast<std::ptrdiff_t>(page.last));
  Taken taken = take(names, input.nominated, waited % length, steps);
  const Duration next = std::min(*page.next, taken.next_round.value_or(*page.next));
  return {std::move(taken.clusters), next};
}

Nomination incremental(const NominationInput& input, TimePoint now,
                       const NominationConfig& config) {
  std::vector<std::string> sorted;
  if (config.by_name) {
    sorted = *input.able;
    std::sort(sorted.begin(), sorted.end());
  }
  const std::vector<std::string>& able = config.by_name ? sorted : *input.able;
  if (able.size() > nominated_max) return in_pages(able, input, now, config);
  Taken taken = take(able, input.nominated, now - input.quota_reserved_at,
                     Steps{config.step_size, config.round});
  // One that is lost may be back when the next round begins.
  const bool more = taken.clusters.size() < input.listed;
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
