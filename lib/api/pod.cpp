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

/// Whether a request of this resource may be stated for the pod as a whole.
bool pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.substr(0, 10) == "hugepages-";
}

ResourceList container_requests(const PodSpec& spec) {
  ResourceList total;
  for (const Container& container : spec.containers) add(total, container.resources.requests);
  // Init containers run one after another, each beside the sidecars started before it.
  ResourceList sidecars, largest_step;
  for (const Container& container : spec.init_containers) {
    if (container.is_sidecar()) {
      add(total, container.resources.requests);
      add(sidecars, container.resources.requests);
      raise(largest_step, sidecars);
    } else {
      ResourceList step = sidecars;
      add(step, container.resources.requests);
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
