#include "admission/pod_defaults.h"

#include <set>

namespace regatta::admission {
namespace {

constexpr std::string_view above_limit = "requests must not exceed its limits";
constexpr std::string_view above_max = "requests must not be above the limitRange max";
constexpr std::string_view below_min = "requests must not be below the limitRange min";

void keep_first(api::ResourceList* to, const api::ResourceList& from) {
  to->insert(from.begin(), from.end());
}

void keep_least(api::ResourceList* to, const api::ResourceList& from) {
  for (const auto& [name, quantity] : from) {
    const auto [it, added] = to->emplace(name, quantity);
    if (!added && quantity < it->second) it->second = quantity;
  }
}

void keep_greatest(api::ResourceList* to, const api::ResourceList& from) {
  for (const auto& [name, quantity] : from) {
    const auto [it, added] = to->emplace(name, quantity);
    if (!added && quantity > it->second) it->second = quantity;
  }
}

void merge(std::optional<api::LimitRangeItem>* to, const api::LimitRangeItem& item) {
  if (!*to) to->emplace();
  keep_least(&(*to)->max, item.max);
  keep_greatest(&(*to)->min, item.min);
  keep_first(&(*to)->default_limit, item.default_limit);
  keep_first(&(*to)->default_request, item.default_request);
}

/// Names of resources of which `a` has more than `b`, in the amounts that are counted, as a JSON
/// list; empty when there are none.
std::string greater(const api::ResourceList& a, const api::ResourceList& b) {
  std::string names;
  for (const auto& [name, quantity] : a) {
    const auto bound = b.find(name);
    if (bound == b.end()) continue;
    if (api::resource_amount(name, quantity) <= api::resource_amount(name, bound->second)) continue;
    names += (names.empty() ? "\"" : ",\"") + name + "\"";
  }
  return names.empty() ? names : "[" + names + "]";
}

void complain(std::vector<std::string>* errors, const std::string& path, const std::string& names,
              std::string_view what) {
  if (names.empty()) return;
  errors->push_back(path + ": Invalid value: " + names + ": " + std::string(what));
}

void check_range(const api::ResourceRequirements& resources, const api::LimitRangeItem& range,
                 const std::string& path, std::vector<std::string>* errors) {
  api::ResourceList least = resources.requests, greatest = resources.requests;
  keep_least(&least, resources.limits);
  keep_greatest(&greatest, resources.limits);
  complain(errors, path, greater(greatest, range.max), above_max);
  complain(errors, path, greater(range.min, least), below_min);
}

std::string aggregate(const std::vector<std::string>& errors) {
  std::set<std::string_view> distinct;
  std::string text;
  for (const std::string& error : errors) {
    if (!distinct.insert(error).second) continue;
    if (!text.empty()) text += ", ";
    text += error;
  }
  return distinct.size() > 1 ? "[" + text + "]" : text;
}

}  // namespace

bool PodDefaults::upsert(const api::LimitRange& range) {
  ranges_[range.metadata.key()] = range.limits;
  return summarize(range.metadata.ns);
}

bool PodDefaults::erase_limit_range(const api::ObjectKey& key) {
  return ranges_.erase(key) > 0 && summarize(key.ns);
}

bool PodDefaults::summarize(const std::string& ns) {
  LimitSummary summary;
  for (auto it = ranges_.lower_bound({ns, ""}); it != ranges_.end() && it->first.ns == ns; ++it) {
    for (const api::LimitRangeItem& item : it->second) {
      if (item.type == "Container") merge(&summary.container, item);
      if (item.type == "Pod") merge(&summary.pod, item);
    }
  }
  const auto known = limits_.find(ns);
  if (known == limits_.end() ? summary == LimitSummary() : summary == known->second) return false;
  if (summary == LimitSummary()) {
    limits_.erase(known);
  } else {
    limits_[ns] = std::move(summary);
  }
  return true;
}

bool PodDefaults::upsert(const api::RuntimeClass& runtime_class) {
  const auto [it, added] = overheads_.try_emplace(runtime_class.metadata.name);
  if (it->second == runtime_class.overhead) return false;
  it->second = runtime_class.overhead;
  return true;
}

bool PodDefaults::erase_runtime_class(const std::string& name) {
  const auto it = overheads_.find(name);
  if (it == overheads_.end()) return false;
  const bool had = !it->second.empty();
  overheads_.erase(it);
  return had;
}

const LimitSummary* PodDefaults::limits(const std::string& ns) const {
  const auto it = limits_.find(ns);
  return it == limits_.end() ? nullptr : &it->second;
}

const api::ResourceList* PodDefaults::overhead(const std::string& runtime_class) const {
  if (runtime_class.empty()) return nullptr;
  const auto it = overheads_.find(runtime_class);
  return it == overheads_.end() ? nullptr : &it->second;
}

api::PodSpec adjusted(const api::PodSpec& spec, const LimitSummary* limits,
                      const api::ResourceList* overhead) {
  api::PodSpec out = spec;
  if (overhead != nullptr && out.overhead.empty()) out.overhead = *overhead;
  const auto fill = [](api::ResourceRequirements* resources,
                       const std::optional<api::LimitRangeItem>& range) {
    if (range) {
      keep_first(&resources->limits, range->default_limit);
      keep_first(&resources->requests, range->default_request);
    }
    keep_first(&resources->requests, resources->limits);
  };
  const LimitSummary none;
  const LimitSummary& given = limits != nullptr ? *limits : none;
  for (auto* containers : {&out.init_containers, &out.containers}) {
    for (api::Container& container : *containers) fill(&container.resources, given.container);
  }
  if (out.resources) fill(&*out.resources, given.pod);
  return out;
}

void ResourceProblems::check(std::size_t pod_set, const api::PodSpec& spec,
                             const LimitSummary* limits) {
  const std::string path = "spec.podSets[" + std::to_string(pod_set) + "].template.spec";
  const auto each = [&](const std::vector<api::Container>& containers, const char* field) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const std::string at = path + "." + field + "[" + std::to_string(i) + "]";
      const api::ResourceRequirements& resources = containers[i].resources;
      complain(&requests_above_limits_, at, greater(resources.requests, resources.limits),
               above_limit);
      if (limits != nullptr && limits->container) {
        check_range(resources, *limits->container, at, &outside_limit_range_);
      }
    }
  };
  each(spec.init_containers, "initContainers");
  each(spec.containers, "containers");
  if (spec.resources) {
    complain(&requests_above_limits_, path + ".resources",
             greater(spec.resources->requests, spec.resources->limits), above_limit);
  }
  if (limits == nullptr || !limits->pod) return;
  const api::ResourceList total = api::pod_requests(spec);
  complain(&outside_limit_range_, path, greater(total, limits->pod->max), above_max);
  complain(&outside_limit_range_, path, greater(limits->pod->min, total), below_min);
}

std::string ResourceProblems::str() const {
  if (!requests_above_limits_.empty()) {
    return "resources validation failed: " + aggregate(requests_above_limits_);
  }
  if (!outside_limit_range_.empty()) {
    return "resources didn't satisfy LimitRange constraints: " + aggregate(outside_limit_range_);
  }
  return {};
}

}  // namespace regatta::admission
