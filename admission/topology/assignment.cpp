#include "admission/topology/assignment.h"

#include "lib/api/hostname_runs.h"
#include "lib/api/placed.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace regatta::admission {
namespace {

constexpr std::int64_t domains_max = 1'000'000;
constexpr std::size_t slice_domains_max = 100'000;  ///< of one slice, by the API
constexpr std::size_t slices_max = 1'000;           ///< of one assignment, by the API

using Domains = std::span<const TopologyDomain>;

Error broken(std::string_view problem) {
  return Error(Errc::invalid, "topologyAssignment: " + std::string(problem));
}

bool sound(const api::TopologySliceValues& values, std::size_t domains) {
  if (values.universal) return true;
  return values.individual && values.individual->roots.size() == domains;
}

std::string value_at(const api::TopologySliceValues& values, std::size_t index) {
  if (values.universal) return *values.universal;
  return values.individual->prefix + values.individual->roots[index] + values.individual->suffix;
}

std::int32_t count_at(const api::TopologyAssignmentSlice& slice, std::size_t index) {
  return slice.pod_counts.universal ? *slice.pod_counts.universal
                                    : slice.pod_counts.individual[index];
}

Status check(const api::TopologyAssignmentSlice& slice, std::size_t levels) {
  const auto domains = static_cast<std::size_t>(slice.domain_count);
  if (slice.values_per_level.size() != levels) return broken("a slice needs values of every level");
  for (const auto& values : slice.values_per_level) {
    if (!sound(values, domains)) return broken("a level needs one value for each domain");
  }
  const auto& counts = slice.pod_counts;
  if (!counts.universal && counts.individual.size() != domains) {
    return broken("podCounts must have one number for each domain");
  }
  return ok();
}

/// Finds the common prefix and suffix of all values of the level. If they would overlap in the
/// shortest value, the prefix is cut.
api::TopologySliceValues compact_level(Domains domains, std::size_t level) {
  const std::string& first = domains.front().values[level];
  std::string_view prefix = first;
  std::string_view suffix = first;
  std::size_t shortest = first.size();
  bool equal = true;
  for (const TopologyDomain& domain : domains) {
    const std::string& value = domain.values[level];
    equal = equal && value == first;
    shortest = std::min(shortest, value.size());
    const auto head = std::mismatch(prefix.begin(), prefix.end(), value.begin(), value.end());
    prefix = prefix.substr(0, static_cast<std::size_t>(head.first - prefix.begin()));
    const auto tail = std::mismatch(suffix.rbegin(), suffix.rend(), value.rbegin(), value.rend());
    suffix.remove_prefix(suffix.size() - static_cast<std::size_t>(tail.first - suffix.rbegin()));
  }
  api::TopologySliceValues out;
  if (equal) {
    out.universal = first;
    return out;
  }
  prefix = prefix.substr(0, std::min(prefix.size(), shortest - suffix.size()));
  auto& individual = out.individual.emplace();
  individual.prefix = prefix;
  individual.suffix = suffix;
  individual.roots.reserve(domains.size());
  for (const TopologyDomain& domain : domains) {
    const std::string& value = domain.values[level];
    individual.roots.push_back(
        value.substr(prefix.size(), value.size() - prefix.size() - suffix.size()));
  }
  return out;
}

api::TopologyAssignmentSlice compact_slice(Domains domains, std::size_t levels) {
  api::TopologyAssignmentSlice slice;
  slice.domain_count = static_cast<std::int32_t>(domains.size());
  for (std::size_t level = 0; level < levels; ++level) {
    slice.values_per_level.push_back(compact_level(domains, level));
  }
  const auto differs = [&](const TopologyDomain& domain) {
    return domain.count != domains.front().count;
  };
  if (std::none_of(domains.begin(), domains.end(), differs)) {
    slice.pod_counts.universal = domains.front().count;
    return slice;
  }
  slice.pod_counts.individual.reserve(domains.size());
  for (const TopologyDomain& domain : domains) {
    slice.pod_counts.individual.push_back(domain.count);
  }
  return slice;
}

/// Length of the slice as compact JSON; label values need no escapes.
std::size_t json_length(const api::TopologyAssignmentSlice& slice) {
  const auto text = [](std::string_view value) { return value.size() + 2; };
  const auto field = [](std::string_view name) { return name.size() + 3; };
  const auto number = [](std::int32_t value) { return std::to_string(value).size(); };
  std::size_t length = field("domainCount") + number(slice.domain_count) + field("valuesPerLevel") +
                       field("podCounts") + 10;
  for (const auto& values : slice.values_per_level) {
    if (values.universal) {
      length += field("universal") + text(*values.universal) + 3;
      continue;
    }
    const auto& individual = *values.individual;
    length += field("individual") + field("roots") + 6;
    if (!individual.prefix.empty()) length += field("prefix") + text(individual.prefix) + 1;
    if (!individual.suffix.empty()) length += field("suffix") + text(individual.suffix) + 1;
    for (const auto& root : individual.roots) length += text(root) + 1;
  }
  if (slice.pod_counts.universal) {
    return length + field("universal") + number(*slice.pod_counts.universal);
  }
  length += field("individual") + 2;
  for (const std::int32_t count : slice.pod_counts.individual) length += number(count) + 1;
  return length;
}

std::size_t json_length(const std::vector<api::TopologyAssignmentSlice>& slices) {
  std::size_t length = 0;
  for (const auto& slice : slices) length += json_length(slice) + 1;
  return length;
}

/// Where each run of domains begins whose hostnames share a prefix.
std::vector<std::size_t> run_begins(const TopologyDomains& from) {
  if (!api::lowest_is_hostname(from.levels)) return {0};
  std::vector<std::string> names;
  names.reserve(from.domains.size());
  for (const TopologyDomain& domain : from.domains) names.push_back(domain.values.back());
  return api::hostname_runs(names, slices_max, slice_domains_max);
}

std::vector<api::TopologyAssignmentSlice> compact_runs(const TopologyDomains& from) {
  const Domains domains(from.domains);
  const std::vector<std::size_t> begins = run_begins(from);
  std::vector<api::TopologyAssignmentSlice> slices;
  for (std::size_t run = 0; run < begins.size(); ++run) {
    const std::size_t end = run + 1 < begins.size() ? begins[run + 1] : domains.size();
    for (std::size_t start = begins[run]; start < end; start += slice_domains_max) {
      const std::size_t size = std::min(slice_domains_max, end - start);
      slices.push_back(compact_slice(domains.subspan(start, size), from.levels.size()));
    }
  }
  return slices;
}

}  // namespace

std::int64_t TopologyDomains::pods() const {
  std::int64_t sum = 0;
  for (const TopologyDomain& domain : domains) sum += domain.count;
  return sum;
}

Result<TopologyDomains> expand(const api::TopologyAssignment& assignment) {
  TopologyDomains out;
  out.levels = assignment.levels;
  std::int64_t total = 0;
  for (const auto& slice : assignment.slices) {
    total += slice.domain_count;
    if (slice.domain_count < 0 || total > domains_max) return broken("too many domains");
    if (const Status status = check(slice, out.levels.size()); !status) return status.error();
    for (std::size_t i = 0; i < static_cast<std::size_t>(slice.domain_count); ++i) {
      TopologyDomain& domain = out.domains.emplace_back();
      domain.count = count_at(slice, i);
      domain.values.reserve(out.levels.size());
      for (const auto& values : slice.values_per_level)
        domain.values.push_back(value_at(values, i));
    }
  }
  return out;
}

api::TopologyAssignment compact(const TopologyDomains& domains, TopologyEncoding encoding) {
  api::TopologyAssignment out;
  out.levels = domains.levels;
  if (domains.domains.empty()) return out;
  const bool large = domains.domains.size() > slice_domains_max;
  if (encoding == TopologyEncoding::hostname_prefixes || large) {
    out.slices = compact_runs(domains);
    if (out.slices.size() == 1 || large) return out;
  }
  std::vector<api::TopologyAssignmentSlice> single{
      compact_slice(domains.domains, domains.levels.size())};
  if (out.slices.empty() || json_length(single) < json_length(out.slices)) {
    out.slices = std::move(single);
  }
  return out;
}

std::int32_t pods_on_node(const api::TopologyAssignment& assignment, const std::string& node) {
  if (!api::lowest_is_hostname(assignment.levels)) return 0;
  const Result<TopologyDomains> domains = expand(assignment);
  if (!domains) return 0;
  std::int32_t pods = 0;
  for (const TopologyDomain& domain : domains->domains) {
    if (domain.values.back() == node) pods += domain.count;
  }
  return pods;
}

}  // namespace regatta::admission
