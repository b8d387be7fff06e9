#include "lib/api/names.h"
#include "lib/api/rule_errors.h"
#include "lib/api/validation.h"

#include <algorithm>
#include <set>

namespace regatta::api {
namespace {

constexpr std::string_view negative = "must be greater than or equal to 0";

void keep_while_in_use(ObjectMeta* metadata) {
  if (metadata->has_finalizer(finalizers::resource_in_use)) return;
  metadata->finalizers.emplace_back(finalizers::resource_in_use);
}

/// Rules that differ between the groups of a ClusterQueue and of a Cohort, which may lend more than
/// it owns.
struct GroupRules {
  bool has_parent = false;
  std::string_view parent;  ///< what the messages call it
  bool lending_within_nominal = true;
};

void check_quota(const std::string& path, const ResourceQuota& quota, const GroupRules& rules,
                 ErrorList* errors) {
  const std::string no_parent = "must be nil when " + std::string(rules.parent) + " is empty";
  if (quota.nominal_quota.is_negative()) {
    errors->invalid(path + ".nominalQuota", in_quotes(quota.nominal_quota.str()), negative);
  }
  const auto check_limit = [&](const char* name, const std::optional<Quantity>& limit) {
    if (!limit) return;
    const std::string field = path + "." + name;
    if (limit->is_negative()) errors->invalid(field, in_quotes(limit->str()), negative);
    if (!rules.has_parent) errors->invalid(field, in_quotes(limit->str()), no_parent);
  };
  check_limit("borrowingLimit", quota.borrowing_limit);
  check_limit("lendingLimit", quota.lending_limit);
  if (rules.lending_within_nominal && quota.lending_limit &&
      *quota.lending_limit > quota.nominal_quota) {
    errors->invalid(path + ".lendingLimit", in_quotes(quota.lending_limit->str()),
                    "must be less than or equal to the nominalQuota");
  }
}

void check_flavor(const std::string& path, const FlavorQuotas& flavor, const ResourceGroup& group,
                  const GroupRules& rules, ErrorList* errors) {
  for (std::size_t i = 0; i < flavor.resources.size(); ++i) {
    const std::string here = at(path + ".resources", i);
    const bool aligned = i < group.covered_resources.size() &&
                         group.covered_resources[i] == flavor.resources[i].name;
    if (!aligned) {
      errors->invalid(here + ".name", in_quotes(flavor.resources[i].name),
                      "must match the name in coveredResources");
    }
    check_quota(here, flavor.resources[i], rules, errors);
  }
}

void check_groups(const std::vector<ResourceGroup>& groups, const GroupRules& rules,
                  ErrorList* errors) {
  const std::string root = "spec.resourceGroups";
  std::set<std::string> resources, flavors;
  std::size_t resource_count = 0, flavor_count = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const ResourceGroup& group = groups[g];
    resource_count += group.covered_resources.size();
    flavor_count += group.flavors.size();
    for (std::size_t i = 0; i < group.covered_resources.size(); ++i) {
      const std::string& name = group.covered_resources[i];
      const std::string path = at(at(root, g) + ".coveredResources", i);
      errors->invalid_each(path, name, check_qualified_name(name));
      if (!resources.insert(name).second) errors->duplicate(path, in_quotes(name));
    }
    for (std::size_t i = 0; i < group.flavors.size(); ++i) {
      const std::string path = at(at(root, g) + ".flavors", i);
      check_flavor(path, group.flavors[i], group, rules, errors);
      if (!flavors.insert(group.flavors[i].name).second) {
        errors->duplicate(path + ".name", in_quotes(group.flavors[i].name));
      }
    }
    const std::size_t quotas = group.flavors.size() * group.covered_resources.size();
    if (quotas > group_quotas_max) errors->too_many(at(root, g), quotas, group_quotas_max);
  }
  if (flavor_count > flavors_max) errors->too_many(root, flavor_count, flavors_max);
  if (resource_count > covered_resources_max) {
    errors->too_many(root, resource_count, covered_resources_max);
  }
}

void check_weight(const std::optional<FairSharing>& sharing, ErrorList* errors) {
  if (!sharing) return;
  const std::string field = "spec.fairSharing.weight";
  static const Quantity smallest = Quantity::parse("1n").value();
  const std::string value = in_quotes(sharing->weight.str());
  if (sharing->weight.is_negative()) {
    errors->invalid(field, value, negative);
  } else if (!sharing->weight.is_zero() && sharing->weight <= smallest) {
    errors->invalid(field, value, "When not 0, weight must be > 10e-9");
  }
}

std::set<std::string> flavors_of(const ClusterQueueSpec& spec) {
  std::set<std::string> out;
  for (const ResourceGroup& group : spec.resource_groups) {
    for (const FlavorQuotas& flavor : group.flavors) out.insert(flavor.name);
  }
  return out;
}

void check_on_flavors(const ClusterQueueSpec& spec, ErrorList* errors) {
  const std::set<std::string> known = flavors_of(spec);
  const std::string root = "spec.admissionChecksStrategy.admissionChecks";
  for (std::size_t i = 0; i < spec.admission_checks.size(); ++i) {
    const std::vector<std::string>& names = spec.admission_checks[i].on_flavors;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (known.count(names[k]) > 0) continue;
      errors->not_found(at(at(root, i) + ".onFlavors", k), names[k]);
    }
  }
}

void check_concurrent_admission(const ClusterQueueSpec& spec, ErrorList* errors) {
  if (!spec.concurrent_admission_policy) return;
  const ConcurrentAdmissionPolicy& policy = *spec.concurrent_admission_policy;
  const std::string root = "spec.concurrentAdmissionPolicy";
  if (spec.resource_groups.size() != 1) {
    errors->forbidden(root, "needs exactly one resource group");
  } else if (spec.resource_groups.front().flavors.size() > concurrent_flavors_max) {
    errors->too_many("spec.resourceGroups[0].flavors", spec.resource_groups.front().flavors.size(),
                     concurrent_flavors_max);
  }
  if (spec.queueing_strategy == QueueingStrategy::StrictFIFO) {
    errors->forbidden(root, "cannot be used with the StrictFIFO queueing strategy");
  }
  if (!policy.constraints) return;
  const std::string constraints = root + ".migration.constraints";
  if (policy.mode != MigrationMode::TryPreferredFlavors) {
    errors->forbidden(constraints, "can only be set with mode TryPreferredFlavors");
  }
  const std::string& last = policy.constraints->last_acceptable_flavor_name;
  if (!last.empty() && flavors_of(spec).count(last) == 0) {
    errors->not_found(constraints + ".lastAcceptableFlavorName", last);
  }
}

FieldErrors check_queue(const ClusterQueue& queue, bool check_flavors) {
  ErrorList errors;
  const ClusterQueueSpec& spec = queue.spec;
  check_groups(spec.resource_groups, {!spec.cohort_name.empty(), "cohort", true}, &errors);
  if (spec.namespace_selector) {
    const Result<Selector> selector = Selector::from(*spec.namespace_selector);
    if (!selector) {
      errors.invalid("spec.namespaceSelector", in_quotes("selector"), selector.error().what());
    }
  }
  check_weight(spec.fair_sharing, &errors);
  if (check_flavors) check_on_flavors(spec, &errors);
  check_concurrent_admission(spec, &errors);
  return errors.take();
}

std::string taint_text(const Taint& taint) {
  std::string out = "{\"key\":" + in_quotes(taint.key);
  if (!taint.value.empty()) out += ",\"value\":" + in_quotes(taint.value);
  return out + ",\"effect\":" + in_quotes(taint.effect) + "}";
}

void check_taints(const std::vector<Taint>& taints, ErrorList* errors) {
  static const std::set<std::string_view> effects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Taint& taint = taints[i];
    const std::string path = at("spec.nodeTaints", i);
    errors->invalid_each(path + ".key", taint.key, check_label_key(taint.key));
    errors->invalid_each(path + ".value", taint.value, check_label_value(taint.value));
    if (effects.count(taint.effect) == 0) {
      errors->invalid(path + ".effect", in_quotes(taint.effect), "unsupported taint effect");
    }
    if (!seen.emplace(taint.key, taint.effect).second) {
      errors->duplicate(path, taint_text(taint) + ": taints must be unique by key and effect pair");
    }
  }
}

}  // namespace

std::string to_text(const FieldErrors& errors) {
  std::string out;
  for (const FieldError& error : errors) {
    if (!out.empty()) out += ", ";
    out += error.field + ": " + error.message;
  }
  return errors.size() > 1 ? "[" + out + "]" : out;
}

void add_defaults(ClusterQueue* queue) {
  keep_while_in_use(&queue->metadata);
}

void add_defaults(ResourceFlavor* flavor) {
  keep_while_in_use(&flavor->metadata);
}

FieldErrors validate(const ClusterQueue& queue) {
  return check_queue(queue, true);
}

FieldErrors validate_update(const ClusterQueue& before, const ClusterQueue& after,
                            const RuleOptions& options) {
  // A queue without its flavors must stay editable, so checks are validated only when they change.
  const bool touched = before.spec.admission_checks != after.spec.admission_checks;
  FieldErrors errors = check_queue(after, touched || options.reject_invalid_on_flavors);
  if (before.spec.concurrent_admission_policy &&
      before.spec.concurrent_admission_policy != after.spec.concurrent_admission_policy) {
    errors.push_back({"spec.concurrentAdmissionPolicy", "Forbidden: field is immutable"});
  }
  return errors;
}

FieldErrors validate(const Cohort& cohort) {
  ErrorList errors;
  check_groups(cohort.spec.resource_groups, {!cohort.spec.parent_name.empty(), "parent", false},
               &errors);
  check_weight(cohort.spec.fair_sharing, &errors);
  return errors.take();
}

FieldErrors validate(const ResourceFlavor& flavor) {
  ErrorList errors;
  for (const auto& [key, value] : flavor.spec.node_labels) {
    errors.invalid_each("spec.nodeLabels", key, check_label_key(key));
    errors.invalid_each("spec.nodeLabels", value, check_label_value(value));
  }
  check_taints(flavor.spec.node_taints, &errors);
  for (std::size_t i = 0; i < flavor.spec.tolerations.size(); ++i) {
    const std::string& key = flavor.spec.tolerations[i].key;
    if (key.empty()) continue;
    errors.invalid_each(at("spec.tolerations", i) + ".key", key, check_label_key(key));
  }
  return errors.take();
}

}  // namespace regatta::api
