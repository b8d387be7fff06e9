#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "webhooks/field_rules.h"
#include "webhooks/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::webhooks {
namespace {

using api::at;
using api::in_quotes;
using api::json_quotes;

constexpr std::size_t flavors_max = 256;            ///< of one queue, over all groups
constexpr std::size_t covered_resources_max = 256;  ///< of one queue, over all groups
constexpr std::size_t group_quotas_max = 512;       ///< flavors times resources of one group
constexpr std::size_t concurrent_flavors_max = 16;  ///< with a concurrentAdmissionPolicy

const Json& spec_of(const Json& object) {
  return object_or_empty(object, {"spec"});
}

const std::string& text_of(const Json& value) {
  return value.get_ref<const std::string&>();
}

void keep_while_in_use(Json* object) {
  Json& metadata = (*object)["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  const std::string name(api::finalizers::resource_in_use);
  for (const Json& one : finalizers) {
    if (one == name) return;
  }
  finalizers.push_back(name);
}

/// Rules that differ between the groups of a ClusterQueue and of a Cohort, which may lend more than
/// it owns.
struct GroupRules {
  bool has_parent = false;
  std::string parent;  ///< what the messages call it
  bool lending_within_nominal = true;
};

void check_quota(const std::string& path, const Json& resource, const GroupRules& rules,
                 api::ErrorList* errors) {
  const api::Quantity nominal = quantity_of(member(resource, "nominalQuota"));
  check_not_negative(nominal, path + ".nominalQuota", errors);
  const auto needs_parent = [&](const api::Quantity& limit, const std::string& field) {
    if (rules.has_parent) return;
    errors->invalid(field, in_quotes(limit.str()),
                    "must be nil when " + rules.parent + " is empty");
  };
  if (const Json* limit = member(resource, "borrowingLimit")) {
    const api::Quantity quantity = quantity_of(limit);
    needs_parent(quantity, path + ".borrowingLimit");
    check_not_negative(quantity, path + ".borrowingLimit", errors);
  }
  if (const Json* limit = member(resource, "lendingLimit")) {
    const api::Quantity quantity = quantity_of(limit);
    const std::string field = path + ".lendingLimit";
    check_not_negative(quantity, field, errors);
    needs_parent(quantity, field);
    if (rules.lending_within_nominal && quantity > nominal) {
      errors->invalid(field, in_quotes(quantity.str()),
                      "must be less than or equal to the nominalQuota");
    }
  }
}

void check_flavor(const std::string& path, const Json& flavor, const Json& covered,
                  const GroupRules& rules, api::ErrorList* errors) {
  const Json& resources = list_or_empty(flavor, "resources");
  for (std::size_t i = 0; i < resources.size() && i < covered.size(); ++i) {
    const std::string here = at(path + ".resources", i);
    const std::string& name = text_at(resources[i], "name");
    if (name != text_of(covered[i])) {
      errors->invalid(here + ".name", json_quotes(name), "must match the name in coveredResources");
    }
    check_quota(here, resources[i], rules, errors);
  }
}

void check_groups(const Json& spec, const GroupRules& rules, api::ErrorList* errors) {
  std::set<std::string> resources, flavors;
  const Json& groups = list_or_empty(spec, "resourceGroups");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string root = at("spec.resourceGroups", g);
    const Json& covered = list_or_empty(groups[g], "coveredResources");
    for (std::size_t i = 0; i < covered.size(); ++i) {
      const std::string path = at(root + ".coveredResources", i);
      const std::string& name = text_of(covered[i]);
      for (const std::string& why : api::check_label_key(name)) {
        errors->invalid(path, json_quotes(name), why);
      }
      if (!resources.insert(name).second) errors->duplicate(path, json_quotes(name));
    }
    const Json& in_group = list_or_empty(groups[g], "flavors");
    for (std::size_t i = 0; i < in_group.size(); ++i) {
      const std::string path = at(root + ".flavors", i);
      check_flavor(path, in_group[i], covered, rules, errors);
      const std::string& name = text_at(in_group[i], "name");
      if (!flavors.insert(name).second) errors->duplicate(path + ".name", json_quotes(name));
    }
  }
}

void check_total(const std::string& path, std::size_t total, std::size_t limit,
                 const std::string& what, api::ErrorList* errors) {
  if (total <= limit) return;
  errors->invalid(path, std::to_string(total),
                  what + " must be ≤ " + std::to_string(limit) + ", got " + std::to_string(total));
}

void check_sizes(const Json& spec, api::ErrorList* errors) {
  const std::string root = "spec.resourceGroups";
  const Json& groups = list_or_empty(spec, "resourceGroups");
  std::size_t flavors = 0, resources = 0;
  for (const Json& group : groups) {
    flavors += list_or_empty(group, "flavors").size();
    resources += list_or_empty(group, "coveredResources").size();
  }
  check_total(root, flavors, flavors_max, "total number of flavors across all resourceGroups",
              errors);
  check_total(root, resources, covered_resources_max,
              "total number of covered resources across all resourceGroups", errors);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t quotas = 0;
    for (const Json& flavor : list_or_empty(groups[g], "flavors")) {
      quotas += list_or_empty(flavor, "resources").size();
    }
    check_total(at(root, g), quotas, group_quotas_max,
                "number of flavor-resource combinations in a resourceGroup", errors);
  }
}

std::set<std::string> flavors_of(const Json& spec) {
  std::set<std::string> out;
  for (const Json& group : list_or_empty(spec, "resourceGroups")) {
    for (const Json& flavor : list_or_empty(group, "flavors")) out.insert(text_at(flavor, "name"));
  }
  return out;
}

void check_preemption(const Json& spec, api::ErrorList* errors) {
  static const ShapeType type = shape_type("*ClusterQueuePreemption");
  const Json* preemption = object_at(spec, "preemption");
  const Json* borrow = preemption ? object_at(*preemption, "borrowWithinCohort") : nullptr;
  if (!borrow || text_at(*preemption, "reclaimWithinCohort") != "Never") return;
  if (text_at(*borrow, "policy") == "Never") return;
  errors->invalid("spec.preemption", shaped_text(preemption, type),
                  "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never");
}

void check_fungibility(const Json& spec, api::ErrorList* errors) {
  const Json& fungibility = object_or_empty(spec, {"flavorFungibility"});
  const std::string* preference = string_at(fungibility, "preference");
  if (!preference) return;
  const bool both = text_at(fungibility, "whenCanBorrow") == "TryNextFlavor" &&
                    text_at(fungibility, "whenCanPreempt") == "TryNextFlavor";
  if (both) return;
  errors->invalid("spec.flavorFungibility.preference", json_quotes(*preference),
                  "preference " + in_quotes(*preference) +
                      " requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor");
}

void check_constraints(const Json& spec, const Json& policy, api::ErrorList* errors) {
  const Json* constraints = member(policy, {"migration", "constraints"});
  if (!constraints) return;
  const std::string path = "spec.concurrentAdmissionPolicy.migration.constraints";
  const std::string& mode = text_at(policy, {"migration", "mode"});
  if (!mode.empty() && mode != "TryPreferredFlavors") {
    errors->forbidden(path, "may only be set when migration.mode is \"TryPreferredFlavors\" (got " +
                                in_quotes(mode) + ")");
    return;
  }
  const std::string* last = string_at(*constraints, "lastAcceptableFlavorName");
  const std::set<std::string> known = flavors_of(spec);
  if (!last || known.count(*last) > 0) return;
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : " ") + name;
  errors->invalid(path + ".lastAcceptableFlavorName", json_quotes(*last),
                  "must be one of the flavors defined in the ClusterQueue: [" + names + "]");
}

void check_concurrent_admission(const Json& spec, api::ErrorList* errors) {
  const Json* policy = object_at(spec, "concurrentAdmissionPolicy");
  if (!policy) return;
  const Json& groups = list_or_empty(spec, "resourceGroups");
  const std::string root = "spec.resourceGroups";
  if (groups.size() != 1) {
    errors->invalid(root, std::to_string(groups.size()),
                    "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is "
                    "defined");
  } else if (const std::size_t count = list_or_empty(groups[0], "flavors").size();
             count > concurrent_flavors_max) {
    errors->invalid(root + "[0].flavors", std::to_string(count),
                    "cannot have more than 16 resource flavors in the ResourceGroup when "
                    "ConcurrentAdmissionPolicy is defined");
  }
  check_constraints(spec, *policy, errors);
  if (text_at(spec, "queueingStrategy") == "StrictFIFO") {
    errors->invalid("spec.queueingStrategy", "\"StrictFIFO\"",
                    "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy "
                    "is defined");
  }
}

void check_queue(const Json& spec, const Gates& gates, api::ErrorList* errors) {
  check_groups(spec, {!text_at(spec, "cohortName").empty(), "cohort", true}, errors);
  if (const Json* selector = object_at(spec, "namespaceSelector")) {
    check_selector(*selector, "spec.namespaceSelector", errors);
  }
  check_preemption(spec, errors);
  check_fungibility(spec, errors);
  check_weight(spec, errors);
  check_sizes(spec, errors);
  if (gates.concurrent_admission) check_concurrent_admission(spec, errors);
}

using OnFlavors = std::map<std::string, std::set<std::string>>;

const Json& checks_of(const Json& spec) {
  return list_or_empty(at_or_null(spec, "admissionChecksStrategy"), "admissionChecks");
}

std::set<std::string> on_flavors(const Json& check) {
  std::set<std::string> out;
  for (const Json& flavor : list_or_empty(check, "onFlavors")) out.insert(text_of(flavor));
  return out;
}

/// Checks that are in `accepted` with the same flavors are passed over.
void check_on_flavors(const Json& spec, const OnFlavors& accepted, api::ErrorList* errors) {
  const std::set<std::string> known = flavors_of(spec);
  const std::vector<std::string> supported(known.begin(), known.end());
  const Json& checks = checks_of(spec);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto before = accepted.find(text_at(checks[i], "name"));
    if (before != accepted.end() && before->second == on_flavors(checks[i])) continue;
    const std::string root = at("spec.admissionChecksStrategy.admissionChecks", i) + ".onFlavors";
    const Json& flavors = list_or_empty(checks[i], "onFlavors");
    for (std::size_t k = 0; k < flavors.size(); ++k) {
      const std::string& name = text_of(flavors[k]);
      if (known.count(name) == 0) {
        errors->not_supported(at(root, k), json_quotes(name), supported);
      }
    }
  }
}

void check_taints(const Json& spec, api::ErrorList* errors) {
  static const ShapeType type = shape_type("Taint");
  std::set<std::pair<std::string, std::string>> seen;
  const Json& taints = list_or_empty(spec, "nodeTaints");
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string path = at("spec.nodeTaints", i);
    const std::string& key = text_at(taints[i], "key");
    const std::string& value = text_at(taints[i], "value");
    check_label_name(key, path + ".key", errors);
    if (const auto whys = api::check_label_value(value); !whys.empty()) {
      errors->invalid(path + ".value", in_quotes(value), joined(whys, ";"));
    }
    if (!seen.emplace(text_at(taints[i], "effect"), key).second) {
      errors->duplicate(path, shaped_text(&taints[i], type),
                        "taints must be unique by key and effect pair");
    }
  }
}

}  // namespace

void default_cluster_queue(Json* queue) {
  keep_while_in_use(queue);
}

void default_resource_flavor(Json* flavor) {
  keep_while_in_use(flavor);
}

api::FieldErrors validate_cluster_queue(const Json& queue, const Gates& gates) {
  api::ErrorList errors;
  check_queue(spec_of(queue), gates, &errors);
  check_on_flavors(spec_of(queue), {}, &errors);
  return errors.take();
}

api::FieldErrors validate_cluster_queue_update(const Json& before, const Json& after,
                                               const Gates& gates) {
  static const ShapeType policy = shape_type("*ConcurrentAdmissionPolicy");
  const Json& old_spec = spec_of(before);
  const Json& spec = spec_of(after);
  api::ErrorList errors;
  check_queue(spec, gates, &errors);
  OnFlavors accepted;
  // A queue that was stored with unknown flavors stays editable, as long as its flavors stay.
  if (!gates.reject_invalid_on_flavors && flavors_of(old_spec) == flavors_of(spec)) {
    for (const Json& check : checks_of(old_spec)) {
      accepted[text_at(check, "name")] = on_flavors(check);
    }
  }
  check_on_flavors(spec, accepted, &errors);
  const Json* now = object_at(spec, "concurrentAdmissionPolicy");
  if (!same_shaped(object_at(old_spec, "concurrentAdmissionPolicy"), now, policy)) {
    errors.invalid("spec.concurrentAdmissionPolicy", shaped_text(now, policy), immutable);
  }
  return errors.take();
}

api::FieldErrors validate_cohort(const Json& cohort) {
  api::ErrorList errors;
  const Json& spec = spec_of(cohort);
  check_weight(spec, &errors);
  check_groups(spec, {!text_at(spec, "parentName").empty(), "parent", false}, &errors);
  return errors.take();
}

api::FieldErrors validate_resource_flavor(const Json& flavor) {
  api::ErrorList errors;
  const Json& spec = spec_of(flavor);
  check_labels(spec, "nodeLabels", "spec.nodeLabels", &errors);
  check_taints(spec, &errors);
  check_tolerations(spec, "spec.tolerations", &errors);
  return errors.take();
}

}  // namespace regatta::webhooks
