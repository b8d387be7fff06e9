#include "lib/api/convert_topology.h"

#include "lib/api/hostname_runs.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace regatta::api {
namespace {

Error broken(std::string_view problem) {
  return Error(Errc::invalid, "topologyAssignment: " + std::string(problem));
}

using Values = std::span<const std::string>;

std::size_t common_prefix(Values values) {
  std::size_t length = values.front().size();
  for (const std::string& value : values) {
    std::size_t same = 0;
    while (same < std::min(length, value.size()) && value[same] == values.front()[same]) ++same;
    length = same;
  }
  return length;
}

std::size_t common_suffix(Values values) {
  const std::string& first = values.front();
  std::size_t length = first.size();
  for (const std::string& value : values) {
    std::size_t same = 0;
    while (same < std::min(length, value.size()) &&
           value[value.size() - 1 - same] == first[first.size() - 1 - same]) {
      ++same;
    }
    length = same;
  }
  return length;
}

/// One value when all are equal, else a shared prefix, a shared suffix, and the rest of each value
/// between them. The prefix is shortened where the two would overlap in the shortest value.
Json encode_level(Values values) {
  const bool equal =
      std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (equal) return Json{{"universal", values.front()}};
  std::size_t shortest = values.front().size();
  for (const std::string& value : values) shortest = std::min(shortest, value.size());
  const std::size_t suffix = common_suffix(values);
  const std::size_t prefix = std::min(common_prefix(values), shortest - suffix);
  Json individual = Json::object();
  if (prefix > 0) individual["prefix"] = values.front().substr(0, prefix);
  if (suffix > 0) individual["suffix"] = values.front().substr(values.front().size() - suffix);
  Json& roots = individual["roots"] = Json::array();
  for (const std::string& value : values) {
    roots.push_back(value.substr(prefix, value.size() - prefix - suffix));
  }
  return Json{{"individual", std::move(individual)}};
}

struct Domains {
  std::vector<std::vector<std::string>> values_by_level;
  std::vector<std::int64_t> counts;
};

/// An absent count is 0, and values beyond the levels are passed over.
Result<Domains> read_domains(const Json& list, std::size_t levels) {
  Domains out;
  out.values_by_level.resize(levels);
  for (const Json& domain : list) {
    const Json& values = list_or_empty(domain, "values");
    if (values.size() < levels) return broken("a domain needs one value for each level");
    for (std::size_t level = 0; level < levels; ++level) {
      const Json& value = values[level];
      if (!value.is_string()) return broken("values of a domain must be strings");
      out.values_by_level[level].push_back(value.get<std::string>());
    }
    out.counts.push_back(integer_at(domain, "count").value_or(0));
  }
  return out;
}

Json encode_slice(const Domains& domains, std::size_t begin, std::size_t size) {
  Json slice{{"domainCount", size}, {"valuesPerLevel", Json::array()}};
  for (const auto& values : domains.values_by_level) {
    slice["valuesPerLevel"].push_back(encode_level(Values(values).subspan(begin, size)));
  }
  const auto counts = std::span(domains.counts).subspan(begin, size);
  const bool equal =
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  slice["podCounts"] =
      equal ? Json{{"universal", counts.front()}}
            : Json{{"individual", std::vector<std::int64_t>(counts.begin(), counts.end())}};
  return slice;
}

/// A slice for each run of nodes with a common prefix.
Json encode_runs(const Domains& domains, bool nodes) {
  const std::size_t count = domains.counts.size();
  const std::vector<std::size_t> begins =
      nodes ? hostname_runs(domains.values_by_level.back(), slices_max, slice_domains_max)
            : std::vector<std::size_t>{0};
  Json slices = Json::array();
  for (std::size_t run = 0; run < begins.size(); ++run) {
    const std::size_t end = run + 1 < begins.size() ? begins[run + 1] : count;
    for (std::size_t begin = begins[run]; begin < end; begin += slice_domains_max) {
      slices.push_back(encode_slice(domains, begin, std::min(slice_domains_max, end - begin)));
    }
  }
  return slices;
}

Json encode_domains(const Domains& domains, bool nodes, bool hostname_prefixes) {
  const std::size_t count = domains.counts.size();
  if (count == 0) return Json::array();
  Json runs = hostname_prefixes ? encode_runs(domains, nodes) : Json();
  const bool settled = runs.size() == 1 || count > slice_domains_max;
  if (hostname_prefixes && settled) return runs;
  Json one = Json::array({encode_slice(domains, 0, count)});
  const bool shorter = hostname_prefixes && dump_json(runs).size() <= dump_json(one).size();
  return shorter ? runs : one;
}

/// The value of domain `index` in one level of a slice.
Result<std::string> decode_value(const Json& level, std::size_t index) {
  if (!level.is_object()) return broken("valuesPerLevel must hold objects");
  const auto universal = level.find("universal");
  if (universal != level.end() && universal->is_string()) return universal->get<std::string>();
  const auto individual = level.find("individual");
  if (individual == level.end() || !individual->is_object()) {
    return broken("a level needs a universal or individual value");
  }
  const auto roots = individual->find("roots");
  const bool sound = roots != individual->end() && roots->is_array() && index < roots->size() &&
                     (*roots)[index].is_string();
  if (!sound) return broken("roots must have one string for each domain");
  return text_at(*individual, "prefix") + (*roots)[index].get<std::string>() +
         text_at(*individual, "suffix");
}

Result<std::int64_t> decode_count(const Json& slice, std::size_t index) {
  const auto counts = slice.find("podCounts");
  if (counts == slice.end() || !counts->is_object()) return broken("a slice needs podCounts");
  if (const auto universal = integer_at(*counts, "universal")) return *universal;
  const auto individual = counts->find("individual");
  const bool sound = individual != counts->end() && individual->is_array() &&
                     index < individual->size() && (*individual)[index].is_number_integer();
  if (!sound) return broken("podCounts must have one number for each domain");
  return (*individual)[index].get<std::int64_t>();
}

Error beyond_allowance(const std::string& what) {
  return broken("more than " + what + " in v1beta1, in all objects of one request together");
}

Status take_domains(std::int64_t domains, DomainAllowance* allowance) {
  if (domains < 0) return broken("domainCount must not be negative");
  if (domains > allowance->domains_max - allowance->domains) {
    return beyond_allowance(std::to_string(allowance->domains_max) + " domains");
  }
  allowance->domains += domains;
  return ok();
}

Status take_value(const std::string& value, DomainAllowance* allowance) {
  allowance->bytes += std::ssize(value) + topology_value_bytes;
  if (allowance->bytes <= allowance->bytes_max) return ok();
  return beyond_allowance(std::to_string(allowance->bytes_max) + " bytes of values of domains");
}

Result<Json> decode_domain(const Json& slice, const Json& levels, std::size_t level_count,
                           std::size_t index, DomainAllowance* allowance) {
  Json values = Json::array();
  for (std::size_t level = 0; level < level_count; ++level) {
    Result<std::string> value = decode_value(levels[level], index);
    if (!value) return value.error();
    const Status taken = take_value(*value, allowance);
    if (!taken) return taken.error();
    values.push_back(std::move(*value));
  }
  const Result<std::int64_t> count = decode_count(slice, index);
  if (!count) return count.error();
  return Json{{"values", std::move(values)}, {"count", *count}};
}

Status decode_slice(const Json& slice, std::size_t level_count, DomainAllowance* allowance,
                    Json* out) {
  const std::int64_t domains = integer_at(slice, "domainCount").value_or(0);
  if (const Status taken = take_domains(domains, allowance); !taken) return taken;
  const Json& levels = list_or_empty(slice, "valuesPerLevel");
  if (levels.size() < level_count) return broken("a slice needs valuesPerLevel for each level");
  for (std::size_t index = 0; index < static_cast<std::size_t>(domains); ++index) {
    Result<Json> domain = decode_domain(slice, levels, level_count, index, allowance);
    if (!domain) return domain.error();
    out->push_back(std::move(*domain));
  }
  return ok();
}

}  // namespace

Status encode_topology(Json& assignment, bool hostname_prefixes) {
  const auto list = assignment.find("domains");
  if (list == assignment.end() || assignment.contains("slices")) return ok();
  const Json& levels = list_or_empty(assignment, "levels");
  if (!list->is_array()) return broken("domains must be a list");
  const Result<Domains> domains = read_domains(*list, levels.size());
  if (!domains) return domains.error();
  const bool nodes = !levels.empty() && levels.back() == "kubernetes.io/hostname";
  Json slices = encode_domains(*domains, nodes, hostname_prefixes);
  assignment.erase("domains");
  assignment["slices"] = std::move(slices);
  return ok();
}

DomainAllowance allowance_of(std::size_t request_bytes) {
  DomainAllowance out;
  out.domains_max = std::min(out.domains_max, static_cast<std::int64_t>(request_bytes));
  return out;
}

Status decode_topology(Json& assignment, DomainAllowance* allowance) {
  if (assignment.contains("domains")) return ok();
  Json domains = Json::array();
  const std::size_t levels = list_or_empty(assignment, "levels").size();
  for (const Json& slice : list_or_empty(assignment, "slices")) {
    const Status status = decode_slice(slice, levels, allowance, &domains);
    if (!status) return status;
  }
  assignment.erase("slices");
  assignment["domains"] = std::move(domains);
  return ok();
}

}  // namespace regatta::api
