#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "webhooks/admission_gates.h"
#include "webhooks/field_rules.h"
#include "webhooks/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace regatta::webhooks {
namespace {

using api::at;
using api::in_quotes;
using api::json_quotes;

constexpr const char* root_of_checks = "status.admissionChecks";

const Json& status_of(const Json& workload) {
  return object_or_empty(workload, {"status"});
}

const Json& pod_sets_of(const Json& workload) {
  return list_or_empty(object_or_empty(workload, {"spec"}), "podSets");
}

const Json* annotation(const Json& object, std::string_view name) {
  return member(object_or_empty(object, {"metadata", "annotations"}), name);
}

const std::string& name_of(const Json& item) {
  return text_at(item, "name");
}

std::int64_t count_of(const Json& item) {
  return integer_at(item, "count").value_or(0);
}

std::set<std::string> names_of(const Json& list) {
  std::set<std::string> names;
  for (const Json& item : list) names.insert(name_of(item));
  return names;
}

/// Of several of one name the last one counts.
using Counts = std::map<std::string, std::int64_t>;

Counts counts_of(const Json& list) {
  Counts counts;
  for (const Json& item : list) counts[name_of(item)] = count_of(item);
  return counts;
}

bool is_reserved(const Json& workload) {
  const Json& conditions = list_or_empty(status_of(workload), "conditions");
  const auto found = std::find_if(conditions.begin(), conditions.end(), [](const Json& condition) {
    return text_at(condition, "type") == api::conditions::quota_reserved;
  });
  return found != conditions.end() && text_at(*found, "status") == "True";
}

bool is_elastic(const Json& workload, const Gates& gates) {
  const Json* value = annotation(workload, api::annotations::elastic_job);
  return gates.elastic_jobs && value && *value == "true";
}

// --- pod sets -----------------------------------------------------------------------------------

void check_resources(const Json& parent, const std::string& path, const Gates& gates,
                     api::ErrorList* errors) {
  for (const char* part : {"requests", "limits"}) {
    for (const auto& [name, value] : object_or_empty(parent, {"resources", part}).items()) {
      const std::string here = at(path + ".resources." + part, name);
      if (name == api::pods_resource) {
        errors->invalid(here, json_quotes(name), "the key is reserved for internal kueue use");
      }
      if (gates.resources_are_non_negative) check_not_negative(quantity_of(&value), here, errors);
    }
  }
}

void check_slice_size(const Json& request, const std::string& path, api::ErrorList* errors) {
  const std::string field = path + ".podSetSliceSize";
  const bool level = string_at(request, "podSetSliceRequiredTopology") != nullptr;
  const auto size = integer_at(request, "podSetSliceSize");
  if (level && !size) {
    errors->required(field, "must be set when podSetSliceRequiredTopology is specified");
  } else if (level && *size <= 0) {
    errors->invalid(field, std::to_string(*size), "must be greater than 0");
  } else if (!level && size) {
    errors->forbidden(field, "may not be set when podSetSliceRequiredTopology is not specified");
  }
  const Json& layers = list_or_empty(request, "podsetSliceRequiredTopologyConstraints");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t layer = integer_at(layers[i], "size").value_or(0);
    if (layer > 0) continue;
    errors->invalid(at(path + ".podsetSliceRequiredTopologyConstraints", i) + ".size",
                    std::to_string(layer), "must be greater than 0");
  }
}

void check_pod_set(const Json& set, const std::string& path, const Gates& gates,
                   api::ErrorList* errors) {
  const Json& metadata = object_or_empty(set, {"template", "metadata"});
  if (gates.pod_set_metadata) {
    check_labels(metadata, "labels", path + ".template.metadata.labels", errors);
    check_annotations(metadata, "annotations", path + ".template.metadata.annotations", errors);
  }
  const Json& spec = object_or_empty(set, {"template", "spec"});
  const std::string root = path + ".template.spec";
  for (const char* part : {"initContainers", "containers"}) {
    const Json& containers = list_or_empty(spec, part);
    for (std::size_t i = 0; i < containers.size(); ++i) {
      check_resources(containers[i], at(root + "." + part, i), gates, errors);
    }
  }
  check_resources(spec, root, gates, errors);
  const Json* request = object_at(set, "topologyRequest");
  if (gates.slice_size && request) check_slice_size(*request, path + ".topologyRequest", errors);
}

void check_pod_sets(const Json& workload, const Gates& gates, api::ErrorList* errors) {
  const std::string path = "spec.podSets";
  const Json& sets = pod_sets_of(workload);
  std::size_t partial = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    check_pod_set(sets[i], at(path, i), gates, errors);
    if (member(sets[i], "minCount")) ++partial;
  }
  if (partial > 1) {
    errors->invalid(path, std::to_string(partial), "at most one podSet can use minCount");
  }
  if (partial > 0 && is_elastic(workload, gates)) {
    errors->invalid(path, std::to_string(partial),
                    "partial admission and elastic job cannot be used together");
  }
}

// --- status -------------------------------------------------------------------------------------

void check_usage(const std::string& path, const Json& assignment, api::ErrorList* errors) {
  const std::int64_t count = count_of(assignment);
  if (count <= 0) return;
  for (const auto& [name, value] : object_or_empty(assignment, {"resourceUsage"}).items()) {
    const api::Quantity quantity = quantity_of(&value);
    if (api::resource_amount(name, quantity) % count == 0) continue;
    errors->invalid(at(path + ".resourceUsage", name), json_quotes(quantity.str()),
                    "is not a multiple of " + std::to_string(count));
  }
}

bool reserved_without_admission(const Json* workload) {
  return workload && is_reserved(*workload) && !object_at(status_of(*workload), "admission");
}

void check_admission(const Json& workload, const Json* before, api::ErrorList* errors) {
  const Json* admission = object_at(status_of(workload), "admission");
  if (!admission) {
    // A Workload that was like this may go on, so that it converges and can be removed.
    if (!reserved_without_admission(before)) {
      errors->required("status.admission", "must be set while the QuotaReserved condition is true");
    }
    return;
  }
  const std::set<std::string> known = names_of(pod_sets_of(workload));
  const Json& assignments = list_or_empty(*admission, "podSetAssignments");
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const std::string path = at("status.admission.podSetAssignments", i);
    const std::string& name = name_of(assignments[i]);
    if (!known.contains(name)) {
      errors->not_found(path + ".name", json_quotes(name));
    }
    check_usage(path, assignments[i], errors);
  }
}

using NamedCount = std::pair<std::string, std::int64_t>;

/// After an elastic job shrank, a count may be too large until it is counted anew.
std::set<NamedCount> counts_that_may_stay(const Json& workload, const Json* before,
                                          const Gates& gates) {
  std::set<NamedCount> out;
  if (!before || !is_elastic(workload, gates)) return out;
  for (const Json& pods : list_or_empty(status_of(*before), "reclaimablePods")) {
    out.emplace(name_of(pods), count_of(pods));
  }
  return out;
}

void check_reclaimable(const Json& workload, const Json* before, const Gates& gates,
                       api::ErrorList* errors) {
  const Json& sets = pod_sets_of(workload);
  std::vector<std::string> names;
  for (const Json& set : sets) names.push_back(name_of(set));
  const Counts counts = counts_of(sets);
  const std::set<NamedCount> may_stay = counts_that_may_stay(workload, before, gates);
  for (const Json& pods : list_or_empty(status_of(workload), "reclaimablePods")) {
    const NamedCount one{name_of(pods), count_of(pods)};
    const std::string path = at("status.reclaimablePods", one.first);
    const auto found = counts.find(one.first);
    if (found == counts.end()) {
      errors->not_supported(path + ".name", json_quotes(one.first), names);
    } else if (one.second > found->second && !may_stay.contains(one)) {
      errors->invalid(path + ".count", std::to_string(one.second),
                      "should be less or equal to " + std::to_string(found->second));
    }
  }
}

void check_updates(const Json& workload, api::ErrorList* errors) {
  const std::set<std::string> known = names_of(pod_sets_of(workload));
  const std::vector<std::string> names(known.begin(), known.end());
  const Json& checks = list_or_empty(status_of(workload), "admissionChecks");
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Json& updates = list_or_empty(checks[i], "podSetUpdates");
    for (std::size_t k = 0; k < updates.size(); ++k) {
      const std::string path = at(at(root_of_checks, i) + ".podSetUpdates", k);
      const std::string& name = name_of(updates[k]);
      if (known.count(name) == 0) {
        errors->not_supported(path + ".name", json_quotes(name), names);
      }
      check_tolerations(updates[k], path + ".tolerations", errors);
      check_annotations(updates[k], "annotations", path + ".annotations", errors);
      check_labels(updates[k], "nodeSelector", path + ".nodeSelector", errors);
      check_labels(updates[k], "labels", path + ".labels", errors);
    }
  }
}

bool is_int32(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  std::int32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

void check_boost(const Json& workload, api::ErrorList* errors) {
  const std::string name(api::annotations::priority_boost);
  const Json* value = annotation(workload, name);
  if (!value) return;
  const auto& text = value->get_ref<const std::string&>();
  const std::string path = at("metadata.annotations", name);
  if (text.empty()) {
    errors->invalid(path, "\"\"",
                    "must be a valid signed integer; use \"0\" explicitly, empty string is not "
                    "allowed");
  } else if (!is_int32(text)) {
    errors->invalid(path, in_quotes(text), "must be a valid signed integer");
  }
}

/// `before` is null on create.
void check_workload(const Json& workload, const Json* before, const Gates& gates,
                    api::ErrorList* errors) {
  check_pod_sets(workload, gates, errors);
  if (is_reserved(workload)) check_admission(workload, before, errors);
  check_conditions(status_of(workload), "status.conditions", errors);
  check_reclaimable(workload, before, gates, errors);
  check_updates(workload, errors);
  if (gates.admission_gated_by) check_admission_gates(workload, errors);
  if (gates.priority_boost) check_boost(workload, errors);
}

// --- what may change ----------------------------------------------------------------------------

/// An elastic job may shrink; nothing else about pod sets that hold quota may change.
void check_kept_pod_sets(const Json& before, const Json& after, const Gates& gates,
                         api::ErrorList* errors) {
  static const ShapeType one = shape_type("PodSet");
  static const ShapeType all = shape_type("[]PodSet");
  const std::string path = "spec.podSets";
  const Json& old_sets = pod_sets_of(before);
  const Json& sets = pod_sets_of(after);
  if (old_sets.size() != sets.size()) {
    errors->invalid(path, shaped_text(member(after, {"spec", "podSets"}), all), immutable);
    return;
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Json set = sets[i];
    if (gates.elastic_jobs && count_of(set) < count_of(old_sets[i])) {
      set["count"] = count_of(old_sets[i]);
    }
    if (!same_shaped(&old_sets[i], &set, one)) {
      errors->invalid(path + "." + std::to_string(i), shaped_text(&set, one), immutable);
    }
  }
}

/// Names of the pod sets of an elastic job that have fewer pods than they were admitted with.
std::set<std::string> shrunk_pod_sets(const Json& workload, const Gates& gates) {
  std::set<std::string> out;
  if (!is_elastic(workload, gates)) return out;
  Counts counts = counts_of(pod_sets_of(workload));
  const Json& admission = at_or_null(status_of(workload), "admission");
  for (const Json& assignment : list_or_empty(admission, "podSetAssignments")) {
    const auto count = integer_at(assignment, "count");
    if (count && *count > counts[name_of(assignment)]) out.insert(name_of(assignment));
  }
  return out;
}

Counts reclaimable_counts(const Json& workload) {
  return counts_of(list_or_empty(status_of(workload), "reclaimablePods"));
}

void check_kept_reclaimable(const Json& before, const Json& after, const Gates& gates,
                            api::ErrorList* errors) {
  const Counts old = reclaimable_counts(before);
  const std::set<std::string> shrunk = shrunk_pod_sets(after, gates);
  const std::string path = "status.reclaimablePods";
  for (const Json& pods : list_or_empty(status_of(after), "reclaimablePods")) {
    const auto found = old.find(name_of(pods));
    const std::int64_t count = count_of(pods);
    if (found == old.end() || count >= found->second || shrunk.count(name_of(pods)) > 0) continue;
    errors->invalid(at(path, name_of(pods)) + ".count", std::to_string(count),
                    "cannot be less than " + std::to_string(found->second));
  }
  const Counts now = reclaimable_counts(after);
  for (const auto& [name, count] : old) {
    if (now.count(name) > 0 || shrunk.count(name) > 0) continue;
    errors->required(at(path, name), "cannot be removed");
  }
}

/// Places of pods may be filled in and replaced.
void keep_places(const Json& from, Json* to) {
  const Json& now = list_or_empty(from, "podSetAssignments");
  Json& old = (*to)["podSetAssignments"];
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (const char* part : {"topologyAssignment", "delayedTopologyRequest"}) {
      const Json* value = member(now[i], part);
      if (value) {
        old[i][part] = *value;
      } else {
        old[i].erase(part);
      }
    }
  }
}

void check_kept_admission(const Json& before, const Json& after, const Gates& gates,
                          api::ErrorList* errors) {
  static const ShapeType type = shape_type("*Admission");
  const Json* old = object_at(status_of(before), "admission");
  const Json* now = object_at(status_of(after), "admission");
  if (!old || !now) return;
  Json settled = *old;
  const bool same_size = list_or_empty(*old, "podSetAssignments").size() ==
                         list_or_empty(*now, "podSetAssignments").size();
  if (gates.topology_aware_scheduling && same_size) keep_places(*now, &settled);
  if (same_shaped(&settled, now, type)) return;
  errors->invalid("status.admission", shaped_text(now, type), immutable);
}

void check_kept_updates(const Json& before, const Json& after, api::ErrorList* errors) {
  static const ShapeType type = shape_type("[]PodSetUpdate");
  const Json& old = list_or_empty(status_of(before), "admissionChecks");
  std::map<std::string, const Json*> checks;
  for (const Json& check : list_or_empty(status_of(after), "admissionChecks")) {
    checks[name_of(check)] = &check;
  }
  for (std::size_t i = 0; i < old.size(); ++i) {
    const auto now = checks.find(name_of(old[i]));
    const bool stays_ready = now != checks.end() && text_at(old[i], "state") == "Ready" &&
                             text_at(*now->second, "state") == "Ready";
    if (!stays_ready) continue;
    const Json* updates = member(*now->second, "podSetUpdates");
    if (same_shaped(member(old[i], "podSetUpdates"), updates, type)) continue;
    // Many checks of one name would each show all updates of it.
    if (errors->is_full()) return errors->leave_out();
    errors->invalid(at(root_of_checks, i) + ".podSetUpdates", shaped_text(updates, type),
                    immutable);
  }
}

void check_cluster(const Json& before, const Json& after, const Gates& gates,
                   api::ErrorList* errors) {
  // A slice takes the cluster over from the slice that it replaces.
  const bool replaces = annotation(after, api::annotations::workload_slice_replacement_for);
  if (gates.elastic_jobs && replaces) return;
  const std::string* name = string_at(status_of(after), "clusterName");
  if (!name || string_at(status_of(before), "clusterName")) return;
  const Json& nominated = list_or_empty(status_of(before), "nominatedClusterNames");
  if (std::find(nominated.begin(), nominated.end(), *name) != nominated.end()) return;
  errors->invalid("status.clusterName", json_quotes(*name),
                  "when setting clusterName it must be one of the nominatedClusterNames");
}

}  // namespace

void default_workload(Json* workload, const Gates& gates) {
  if (gates.partial_admission || pod_sets_of(*workload).empty()) return;
  for (Json& set : (*workload)["spec"]["podSets"]) set.erase("minCount");
}

api::FieldErrors validate_workload(const Json& workload, const Gates& gates) {
  api::ErrorList errors;
  check_workload(workload, nullptr, gates, &errors);
  return errors.take();
}

api::FieldErrors validate_workload_update(const Json& before, const Json& after,
                                          const Gates& gates) {
  api::ErrorList errors;
  check_workload(after, &before, gates, &errors);
  if (is_reserved(before)) {
    check_kept_pod_sets(before, after, gates, &errors);
    if (is_reserved(after)) check_kept_reclaimable(before, after, gates, &errors);
  }
  check_kept_admission(before, after, gates, &errors);
  check_kept_updates(before, after, &errors);
  check_cluster(before, after, gates, &errors);
  if (gates.admission_gated_by) check_admission_gates_update(before, after, &errors);
  return errors.take();
}

}  // namespace regatta::webhooks
