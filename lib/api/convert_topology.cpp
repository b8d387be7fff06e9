#include "lib/api/convert_topology.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace regatta::api {
namespace {

Error broken(std::string_view problem) {
  return Error(Errc::invalid, "topologyAssignment: " + std::string(problem));
}

std::size_t common_prefix(const std::vector<std::string>& values) {
  std::size_t length = values.front().size();
  for (const std::string& value : values) {
    std::size_t same = 0;
    while (same < std::min(length, value.size()) && value[same] == values.front()[same]) ++same;
    length = same;
  }
  return length;
}

std::size_t common_suffix(const std::vector<std::string>& values) {
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
Json encode_level(const std::vector<std::string>& values) {
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

Result<Domains> read_domains(const Json& list, std::size_t levels) {
  Domains out;
  out.values_by_level.resize(levels);
  for (const Json& domain : list) {
    const auto values = domain.is_object() ? domain.find("values") : domain.end();
    const auto count = domain.is_object() ? domain.find("count") : domain.end();
    const bool sound = domain.is_object() && values != domain.end() && values->is_array() &&
                       values->size() == levels && count != domain.end() &&
                       count->is_number_integer();
    if (!sound) return broken("a domain needs a count and one value for each level");
    for (std::size_t level = 0; level < levels; ++level) {
      const Json& value = (*values)[level];
      if (!value.is_string()) return broken("values of a domain must be strings");
      out.values_by_level[level].push_back(value.get<std::string>());
    }
    out.counts.push_back(count->get<std::int64_t>());
  }
  return out;
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
  if (const std::int64_t universal = integer_at(*counts, "universal").value_or(-1);
      universal >= 0) {
    return universal;
  }
  const auto individual = counts->find("individual");
  const bool sound = individual != counts->end() && individual->is_array() &&
                     index < individual->size() && (*individual)[index].is_number_integer();
  if (!sound) return broken("podCounts must have one number for each domain");
  return (*individual)[index].get<std::int64_t>();
}

Status decode_slice(const Json& slice, std::int64_t domains, Json* out) {
  const auto levels = slice.find("valuesPerLevel");
  if (levels == slice.end() || !levels->is_array()) return broken("a slice needs valuesPerLevel");
  for (std::size_t index = 0; index < static_cast<std::size_t>(domains); ++index) {
    Json values = Json::array();
    for (const Json& level : *levels) {
      Result<std::string> value = decode_value(level, index);
      if (!value) return value.error();
      values.push_back(std::move(*value));
    }
    const Result<std::int64_t> count = decode_count(slice, index);
    if (!count) return count.error();
    out->push_back(Json{{"values", std::move(values)}, {"count", *count}});
  }
  return ok();
}

}  // namespace

Status encode_topology(Json& assignment) {
  const auto list = assignment.find("domains");
  if (list == assignment.end() || assignment.contains("slices")) return ok();
  const auto levels = assignment.find("levels");
  if (!list->is_array() || levels == assignment.end() || !levels->is_array()) {
    return broken("levels and domains must be lists");
  }
  const Result<Domains> domains = read_domains(*list, levels->size());
  if (!domains) return domains.error();
  Json slices = Json::array();
  if (!domains->counts.empty()) {
    Json slice{{"domainCount", domains->counts.size()}, {"valuesPerLevel", Json::array()}};
    for (const auto& values : domains->values_by_level) {
      slice["valuesPerLevel"].push_back(encode_level(values));
    }
    const auto& counts = domains->counts;
    const bool equal =
        std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
    slice["podCounts"] = equal ? Json{{"universal", counts.front()}} : Json{{"individual", counts}};
    slices.push_back(std::move(slice));
  }
  assignment.erase("domains");
  assignment["slices"] = std::move(slices);
  return ok();
}

Status decode_topology(Json& assignment) {
  const auto slices = assignment.find("slices");
  if (slices == assignment.end() || assignment.contains("domains")) return ok();
  if (!slices->is_array()) return broken("slices must be a list");
  Json domains = Json::array();
  std::int64_t total = 0;
  for (const Json& slice : *slices) {
    const std::int64_t count = integer_at(slice, "domainCount").value_or(-1);
    if (count < 0) return broken("a slice needs a domainCount");
    if (count > topology_domains_max || (total += count) > topology_domains_max) {
      return broken("more than " + std::to_string(topology_domains_max) + " domains");
    }
    const Status status = decode_slice(slice, count, &domains);
    if (!status) return status;
  }
  assignment.erase("slices");
  assignment["domains"] = std::move(domains);
  return ok();
}

}  // namespace regatta::api
