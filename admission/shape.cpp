#include "admission/pod_defaults.h"
#include "admission/topology/text.h"
#include "admission/workload.h"
#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// Distinct sources remembered for each shape; a source beyond them is only slower to recognise.
constexpr std::size_t sources_max = 16;

constexpr const char* uncountable =
    "Workload uses DRA resources, and devices of resource claims cannot be counted; with the "
    "feature gate KueueDRARejectWorkloadsWhenDRADisabled off it is admitted all the same";

using admission::write;

void write(std::string* to, const api::ResourceList& list) {
  *to += '{';
  for (const auto& [name, quantity] : list) {
    write(to, name);
    write(to, quantity.str());
  }
  *to += '}';
}

/// Limits matter only if they become requests or forbid the pods.
enum class Limits : std::uint8_t { left_out, written };

void write(std::string* to, const api::ResourceRequirements& resources, Limits limits) {
  write(to, resources.requests);
  if (limits == Limits::written) write(to, resources.limits);
}

void write(std::string* to, const std::vector<api::Container>& containers, Limits limits) {
  *to += '[';
  for (const api::Container& container : containers) {
    write(to, container.resources, limits);
    *to += container.is_sidecar() ? 's' : 'c';
  }
  *to += ']';
}

void write_optional(std::string* to, const std::optional<std::string>& value) {
  *to += value ? '+' : '-';
  if (value) write(to, *value);
}

void write(std::string* to, const api::PodSetTopologyRequest& topology) {
  write_optional(to, topology.required);
  write_optional(to, topology.preferred);
  *to += topology.unconstrained.value_or(false) ? 'u' : '-';
  write_optional(to, topology.pod_set_group_name);
  write_optional(to, topology.pod_set_slice_required_topology);
  *to += std::to_string(topology.pod_set_slice_size.value_or(0));
  for (const auto& constraint : topology.slice_constraints) {
    write(to, constraint.topology);
    *to += std::to_string(constraint.size);
  }
}

/// Writes the parts of a pod's spec that decide where it may run and what it needs.
void write(std::string* to, const api::PodSpec& spec, Limits limits) {
  write(to, spec.containers, limits);
  write(to, spec.init_containers, limits);
  if (spec.resources) write(to, *spec.resources, limits);
  write(to, spec.overhead);
  write(to, spec.runtime_class_name);
  for (const auto& [key, value] : spec.node_selector) {
    write(to, key);
    write(to, value);
  }
  *to += '|';
  for (const auto& toleration : spec.tolerations) {
    write(to, toleration.key);
    write(to, toleration.op);
    write(to, toleration.value);
    write(to, toleration.effect);
  }
  *to += '|';
  if (spec.node_affinity && spec.node_affinity->required) {
    for (const auto& term : *spec.node_affinity->required) {
      write(to, term.match_expressions);
      write(to, term.match_fields);
    }
  }
}

void write(std::string* to, const std::optional<api::LimitRangeItem>& item) {
  *to += item ? '+' : '-';
  if (!item) return;
  for (const auto* list : {&item->max, &item->min, &item->default_limit, &item->default_request}) {
    write(to, *list);
  }
}

void write_counts(std::string* to, std::int32_t count, const api::PodSet& pod_set) {
  *to += '#' + std::to_string(count) + '-' + std::to_string(pod_set.min_count.value_or(-1));
  if (pod_set.topology_request) write(to, *pod_set.topology_request);
}

/// The slice that an elastic workload replaces; empty when it is in another namespace.
api::ObjectKey replaced_by(const api::Workload& workload) {
  const std::string& name =
      workload.metadata.annotation(std::string(api::annotations::workload_slice_replacement_for));
  const std::string prefix = workload.metadata.ns + "/";
  if (!name.starts_with(prefix)) return {};
  return {workload.metadata.ns, name.substr(prefix.size())};
}

/// Everything that a shape is made of, except the configuration.
std::string source_of(const api::Workload& workload, const PodDefaults& defaults) {
  std::string source;
  for (const api::PodSet& pod_set : workload.spec.pod_sets) {
    const api::PodSpec& spec = pod_set.pod_template.spec();
    write(&source, pod_set.name);
    write(&source, spec, Limits::written);
    if (const auto* overhead = defaults.overhead(spec.runtime_class_name)) {
      write(&source, *overhead);
    }
    if (!spec.resource_claims.empty()) source += 'd';
    write_counts(&source, count_after_reclaim(workload, pod_set), pod_set);
  }
  if (const LimitSummary* limits = defaults.limits(workload.metadata.ns)) {
    write(&source, limits->container);
    write(&source, limits->pod);
  }
  if (const api::ObjectKey replaces = replaced_by(workload); !replaces.name.empty()) {
    write(&source, replaces.str());
  }
  return source;
}

using Requests = std::map<std::string, api::Quantity>;

/// Replaces inputs that have a rule by the rule's outputs, or adds the outputs. What rules generate
/// for a resource may sum up to less than zero; then it takes nothing from what was requested
/// directly.
void transform(Requests* requests, const Config& config) {
  Requests kept, generated;
  for (const auto& [name, quantity] : *requests) {
    const auto rule = config.transformations.find(name);
    if (rule == config.transformations.end() || rule->second.retain) kept.emplace(name, quantity);
    if (rule == config.transformations.end()) continue;
    const auto multiplier = requests->find(rule->second.multiply_by);
    const api::Quantity input =
        multiplier == requests->end() ? quantity : quantity * multiplier->second;
    for (const auto& [output, factor] : rule->second.outputs) generated[output] += input * factor;
  }
  for (const auto& [name, quantity] : generated) {
    api::Quantity& total = kept[name];
    if (!quantity.is_negative()) total += quantity;
  }
  *requests = std::move(kept);
}

std::vector<ResourceAmount> total_requests(const api::PodSpec& spec, std::int32_t count,
                                           const Config& config, Names* names) {
  Requests requests = api::pod_requests(spec);
  std::erase_if(requests, [&](const auto& request) {
    const auto excludes = [&](const std::string& prefix) {
      return request.first.starts_with(prefix);
    };
    return std::any_of(config.exclude_resource_prefixes.begin(),
                       config.exclude_resource_prefixes.end(), excludes);
  });
  if (!config.transformations.empty()) transform(&requests, config);
  std::vector<ResourceAmount> total;
  for (const auto& [name, quantity] : requests) {
    const Amount one = std::max<Amount>(0, api::resource_amount(name, quantity));
    total.push_back({names->resources.intern(name), times(one, count)});
  }
  return total;
}

std::unique_ptr<Shape> make_shape(const api::Workload& workload, const Config& config,
                                  const PodDefaults& defaults, Names* names,
                                  PodProfiles* profiles) {
  auto shape = std::make_unique<Shape>();
  const LimitSummary* limits = defaults.limits(workload.metadata.ns);
  ResourceProblems problems;
  std::string* text = &shape->text;
  bool claims = false;
  for (const api::PodSet& pod_set : workload.spec.pod_sets) {
    const api::PodSpec& given = pod_set.pod_template.spec();
    const api::PodSpec spec = adjusted(given, limits, defaults.overhead(given.runtime_class_name));
    problems.check(shape->pod_sets.size(), spec, limits);
    claims = claims || !given.resource_claims.empty();
    PodSetShape& out = shape->pod_sets.emplace_back();
    out.name = pod_set.name;
    out.count = count_after_reclaim(workload, pod_set);
    out.min_count = pod_set.min_count;
    out.requests = total_requests(spec, out.count, config, names);
    out.pods = profiles->intern(spec, names);
    out.tolerations = spec.tolerations;
    out.node_selector = spec.node_selector;
    if (spec.node_affinity) out.node_affinity = spec.node_affinity->required;
    out.topology = pod_set.topology_request;
    if (out.topology) out.group = out.topology->pod_set_group_name.value_or("");
    if (!given.runtime_class_name.empty()) {
      shape->runtime_classes.push_back(given.runtime_class_name);
    }
    write(text, out.name);
    write(text, spec, Limits::left_out);
    write_counts(text, out.count, pod_set);
    for (const ResourceAmount& request : out.requests) {
      *text += ',' + std::to_string(request.resource) + '=' + std::to_string(request.amount);
    }
  }
  shape->invalid = claims && config.reject_resource_claims ? uncountable : problems.str();
  write(text, shape->invalid);
  shape->replaces = replaced_by(workload);
  if (!shape->replaces.name.empty()) write(text, shape->replaces.str());
  return shape;
}

}  // namespace

struct ShapeRegistry::Shapes {
  struct Known {
    std::weak_ptr<const Shape> shape;
    std::vector<std::string> sources;
  };
  std::unordered_map<std::string_view, Known> by_text;
  std::unordered_map<std::string, std::weak_ptr<const Shape>> by_source;

  void remember(std::string source, const ShapePtr& shape) {
    Known& known = by_text.at(shape->text);
    if (known.sources.size() >= sources_max) return;
    known.sources.push_back(source);
    by_source.insert_or_assign(std::move(source), shape);
  }
  void forget(const Shape* dead) {
    const auto known = by_text.find(dead->text);
    for (const std::string& source : known->second.sources) by_source.erase(source);
    by_text.erase(known);
    delete dead;
  }
};

ShapeRegistry::ShapeRegistry() : shapes_(std::make_shared<Shapes>()) {}

std::size_t ShapeRegistry::size() const {
  return shapes_->by_text.size();
}

ShapePtr ShapeRegistry::intern(const api::Workload& workload, const Config& config,
                               const PodDefaults& defaults, Names* names) {
  std::string source = source_of(workload, defaults);
  const auto seen = shapes_->by_source.find(source);
  if (seen != shapes_->by_source.end()) return seen->second.lock();
  std::unique_ptr<Shape> made = make_shape(workload, config, defaults, names, &profiles_);
  const auto known = shapes_->by_text.find(made->text);
  ShapePtr shape;
  if (known != shapes_->by_text.end()) {
    shape = known->second.shape.lock();
  } else {
    made->id = ++last_id_;
    const auto forget = [shapes = shapes_](const Shape* dead) { shapes->forget(dead); };
    shape = ShapePtr(made.release(), forget);
    shapes_->by_text[shape->text].shape = shape;
  }
  shapes_->remember(std::move(source), shape);
  return shape;
}

}  // namespace regatta::admission
