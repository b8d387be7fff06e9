#include "admission/workload.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr std::string_view admission_gated_by = "kueue.x-k8s.io/admission-gated-by";

void write(std::string* to, std::string_view field) {
  *to += std::to_string(field.size());
  *to += ':';
  *to += field;
}

void write(std::string* to, const api::ResourceList& list) {
  *to += '{';
  for (const auto& [name, quantity] : list) {
    write(to, name);
    write(to, quantity.str());
  }
  *to += '}';
}

void write(std::string* to, const std::vector<api::LabelSelectorRequirement>& requirements) {
  *to += '[';
  for (const auto& requirement : requirements) {
    write(to, requirement.key);
    write(to, requirement.op);
    *to += std::to_string(requirement.values.size());
    for (const auto& value : requirement.values) write(to, value);
  }
  *to += ']';
}

void write(std::string* to, const std::vector<api::Container>& containers) {
  *to += '[';
  for (const api::Container& container : containers) {
    write(to, container.resources.requests);
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

/// What of a pod's spec can change where it may run or what it needs.
void write(std::string* to, const api::PodSpec& spec) {
  write(to, spec.containers);
  write(to, spec.init_containers);
  if (spec.resources) write(to, spec.resources->requests);
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

/// A container that only has limits requests them.
api::PodSpec with_requests_from_limits(const api::PodSpec& spec) {
  api::PodSpec adjusted = spec;
  for (auto* containers : {&adjusted.containers, &adjusted.init_containers}) {
    for (api::Container& container : *containers) {
      for (const auto& [name, limit] : container.resources.limits) {
        container.resources.requests.emplace(name, limit);
      }
    }
  }
  return adjusted;
}

void check_limits(const api::ResourceRequirements& resources, const std::string& path,
                  std::vector<std::string>* errors) {
  std::string names;
  for (const auto& [name, request] : resources.requests) {
    const auto limit = resources.limits.find(name);
    if (limit == resources.limits.end() || request <= limit->second) continue;
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  }
  if (names.empty()) return;
  errors->push_back(path + ": Invalid value: [" + names + "]: requests must not exceed its limits");
}

std::string validate_resources(const api::Workload& workload) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < workload.spec.pod_sets.size(); ++i) {
    const api::PodSpec& spec = workload.spec.pod_sets[i].pod_template.spec();
    const std::string path = "spec.podSets[" + std::to_string(i) + "].template.spec";
    const auto each = [&](const std::vector<api::Container>& containers, const char* field) {
      for (std::size_t c = 0; c < containers.size(); ++c) {
        const std::string where = path + "." + field + "[" + std::to_string(c) + "]";
        check_limits(containers[c].resources, where, &errors);
      }
    };
    each(spec.init_containers, "initContainers");
    each(spec.containers, "containers");
    if (spec.resources) check_limits(*spec.resources, path + ".resources", &errors);
  }
  if (errors.empty()) return {};
  std::string text = errors.front();
  for (std::size_t i = 1; i < errors.size(); ++i) text += ", " + errors[i];
  if (errors.size() > 1) text = "[" + text + "]";
  return "resources validation failed: " + text;
}

std::vector<ResourceAmount> total_requests(const api::PodSpec& spec, std::int32_t count,
                                           const Config& config, Names* names) {
  std::vector<ResourceAmount> total;
  for (const auto& [name, amount] : api::pod_request_amounts(spec)) {
    const auto excluded = [&](const std::string& prefix) { return name.starts_with(prefix); };
    if (std::any_of(config.exclude_resource_prefixes.begin(),
                    config.exclude_resource_prefixes.end(), excluded)) {
      continue;
    }
    const Amount one = std::max<Amount>(0, amount);
    total.push_back({names->resources.intern(name), times(one, count)});
  }
  return total;
}

PodSetShape read_pod_set(const api::Workload& workload, const api::PodSet& pod_set,
                         const Config& config, Names* names, std::string* text) {
  const api::PodSpec spec = with_requests_from_limits(pod_set.pod_template.spec());
  PodSetShape shape;
  shape.name = pod_set.name;
  shape.count = count_after_reclaim(workload, pod_set);
  shape.min_count = pod_set.min_count;
  shape.requests = total_requests(spec, shape.count, config, names);
  shape.tolerations = spec.tolerations;
  shape.node_selector = spec.node_selector;
  if (spec.node_affinity) shape.node_affinity = spec.node_affinity->required;
  shape.topology = pod_set.topology_request;
  if (shape.topology) shape.group = shape.topology->pod_set_group_name.value_or("");
  write(text, shape.name);
  write(text, spec);
  *text += '#' + std::to_string(shape.count) + '-' + std::to_string(shape.min_count.value_or(-1));
  for (const ResourceAmount& request : shape.requests) {
    *text += ',' + std::to_string(request.resource) + '=' + std::to_string(request.amount);
  }
  if (shape.topology) write(text, *shape.topology);
  return shape;
}

}  // namespace

std::int32_t count_after_reclaim(const api::Workload& workload, const api::PodSet& pod_set) {
  for (const auto& reclaimable : workload.status.reclaimable_pods) {
    if (reclaimable.name == pod_set.name) return std::max(0, pod_set.count - reclaimable.count);
  }
  return pod_set.count;
}

ShapePtr ShapeRegistry::intern(const api::Workload& workload, const Config& config, Names* names) {
  auto shape = std::make_unique<Shape>();
  for (const api::PodSet& pod_set : workload.spec.pod_sets) {
    shape->pod_sets.push_back(read_pod_set(workload, pod_set, config, names, &shape->text));
  }
  shape->invalid = validate_resources(workload);
  write(&shape->text, shape->invalid);
  if (const auto it = shapes_->find(shape->text); it != shapes_->end()) return it->second.lock();
  shape->id = ++last_id_;
  const auto forget = [shapes = shapes_](const Shape* dead) {
    shapes->erase(dead->text);
    delete dead;
  };
  ShapePtr shared(shape.release(), forget);
  shapes_->emplace(shared->text, shared);
  return shared;
}

bool ScanProgress::pending_flavors() const {
  for (const auto& pod_set : tried) {
    for (const auto& [resource, index] : pod_set) {
      if (index != -1) return true;
    }
  }
  return false;
}

TimePoint queue_order_time(const api::Workload& workload, const Config& config) {
  const auto* evicted = api::find_condition(workload.status.conditions, api::conditions::evicted);
  if (evicted != nullptr && evicted->status == api::ConditionStatus::True) {
    const bool timed_out = evicted->reason == api::reasons::pods_ready_timeout &&
                           config.requeuing_timestamp == RequeuingTimestamp::Eviction;
    if (timed_out || evicted->reason == api::reasons::admission_check) {
      return evicted->last_transition_time;
    }
  }
  const auto* preempted =
      api::find_condition(workload.status.conditions, api::conditions::preempted);
  if (!config.priority_sorting_within_cohort && preempted != nullptr &&
      preempted->status == api::ConditionStatus::True &&
      preempted->reason == api::reasons::in_cohort_reclaim_while_borrowing) {
    return preempted->last_transition_time + std::chrono::milliseconds(1);
  }
  return workload.metadata.creation_timestamp.value_or(TimePoint{});
}

bool is_admissible(const api::Workload& workload) {
  const api::Conditions& conditions = workload.status.conditions;
  const auto* reserved = api::find_condition(conditions, api::conditions::quota_reserved);
  const bool on_hold = reserved != nullptr && reserved->status == api::ConditionStatus::False &&
                       reserved->reason == api::reasons::on_hold;
  return workload.spec.active && !on_hold && !api::is_true(conditions, api::conditions::finished) &&
         !api::is_true(conditions, api::conditions::quota_reserved) &&
         !api::is_true(conditions, api::conditions::waiting_for_replacement_pods) &&
         workload.metadata.annotation(std::string(admission_gated_by)).empty();
}

api::Admission to_api(const Reservation& reservation, const std::string& cluster_queue,
                      const Names& names) {
  api::Admission admission;
  admission.cluster_queue = cluster_queue;
  for (const PodSetReservation& pod_set : reservation.pod_sets) {
    api::PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
    assignment.name = pod_set.name;
    assignment.count = pod_set.count;
    for (const ResourceFlavorChoice& choice : pod_set.flavors) {
      assignment.flavors.emplace(names.resources.name(choice.resource),
                                 names.flavors.name(choice.flavor));
    }
    for (const ResourceAmount& used : pod_set.usage) {
      const std::string& resource = names.resources.name(used.resource);
      assignment.resource_usage.emplace(resource, api::resource_quantity(resource, used.amount));
    }
  }
  return admission;
}

}  // namespace regatta::admission
