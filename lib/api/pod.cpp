#include "lib/api/pod.h"

#include "lib/api/matching.h"

#include <algorithm>

namespace regatta::api {
namespace {

void add(ResourceList& to, const ResourceList& from) {
  for (const auto& [name, quantity] : from) to[name] += quantity;
}

void raise(ResourceList& to, const ResourceList& from) {
  for (const auto& [name, quantity] : from) {
    const auto [it, fresh] = to.emplace(name, quantity);
    if (!fresh && it->second < quantity) it->second = quantity;
  }
}

/// What `list` has of the resources that `names` names.
ResourceList part_of(const ResourceList& list, const ResourceList& names) {
  ResourceList part;
  for (const auto& [name, quantity] : names) {
    if (const auto found = list.find(name); found != list.end()) part.insert(*found);
  }
  return part;
}

/// Whether a request of this resource may be stated for the pod as a whole.
bool pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.substr(0, 10) == "hugepages-";
}

ResourceList container_requests(const PodSpec& spec) {
  ResourceList total;
  for (const Container& container : spec.containers) add(total, container.resources.requests);
  // Init containers run one after another, each beside the sidecars started before it. A step is
  // new only in what its container asks for: of everything else it has what the sidecars had.
  ResourceList sidecars, largest_step;
  for (const Container& container : spec.init_containers) {
    const ResourceList& requests = container.resources.requests;
    if (container.is_sidecar()) {
      add(total, requests);
      add(sidecars, requests);
      raise(largest_step, part_of(sidecars, requests));
    } else {
      ResourceList step = part_of(sidecars, requests);
      add(step, requests);
      raise(largest_step, step);
    }
  }
  raise(total, largest_step);
  return total;
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  for (const LabelSelectorRequirement& expression : term.match_expressions) {
    if (!matches(expression, labels)) return false;
  }
  const StringMap fields{{"metadata.name", std::string(node_name)}};
  for (const LabelSelectorRequirement& expression : term.match_fields) {
    if (!matches(expression, fields)) return false;
  }
  return true;
}

ResourceList pod_requests(const PodSpec& spec) {
  ResourceList total = container_requests(spec);
  if (spec.resources) {
    for (const auto& [name, quantity] : spec.resources->requests) {
      if (pod_level(name)) total[name] = quantity;
    }
  }
  add(total, spec.overhead);
  return total;
}

std::map<std::string, std::int64_t> pod_request_amounts(const PodSpec& spec) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, quantity] : pod_requests(spec)) {
    out.emplace(name, resource_amount(name, quantity));
  }
  return out;
}

}  // namespace regatta::api
