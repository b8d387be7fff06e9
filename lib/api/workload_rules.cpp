#include "lib/api/names.h"
#include "lib/api/rule_errors.h"
#include "lib/api/validation.h"

#include <algorithm>

namespace regatta::api {
namespace {

constexpr std::string_view immutable = "field is immutable";

const PodSet* find_set(const WorkloadSpec& spec, std::string_view name) {
  for (const PodSet& set : spec.pod_sets) {
    if (set.name == name) return &set;
  }
  return nullptr;
}

bool reserved(const Workload& workload) {
  return is_true(workload.status.conditions, conditions::quota_reserved);
}

bool elastic(const Workload& workload) {
  return workload.metadata.annotation(std::string(annotations::elastic_job)) == "true";
}

void check_containers(const std::string& path, const std::vector<Container>& containers,
                      ErrorList* errors) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string requests = at(path, i) + ".resources.requests";
    for (const auto& [name, quantity] : containers[i].resources.requests) {
      if (name == pods_resource) {
        errors->invalid(at(requests, name), in_quotes(name),
                        "the key is reserved for internal kueue use");
      }
      if (quantity.is_negative()) {
        errors->invalid(at(requests, name), in_quotes(quantity.str()),
                        "must be greater than or equal to 0");
      }
    }
  }
}

void check_metadata(const std::string& path, const PodTemplateView& view, ErrorList* errors) {
  for (const auto& [key, value] : view.labels) {
    errors->invalid_each(path + ".labels", key, check_label_key(key));
    errors->invalid_each(path + ".labels", value, check_label_value(value));
  }
  for (const auto& [key, value] : view.annotations) {
    std::string lower = key;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    errors->invalid_each(path + ".annotations", key, check_qualified_name(lower));
  }
}

void check_pod_sets(const Workload& workload, ErrorList* errors) {
  std::size_t partial = 0;
  for (std::size_t i = 0; i < workload.spec.pod_sets.size(); ++i) {
    const PodSet& set = workload.spec.pod_sets[i];
    const std::string path = at("spec.podSets", i);
    check_containers(path + ".template.spec.initContainers",
                     set.pod_template.spec().init_containers, errors);
    check_containers(path + ".template.spec.containers", set.pod_template.spec().containers,
                     errors);
    check_metadata(path + ".template.metadata", set.pod_template.view(), errors);
    if (!set.min_count) continue;
    ++partial;
    if (elastic(workload)) {
      errors->forbidden(path + ".minCount", "cannot be set for an elastic job");
    }
  }
  if (partial > 1) {
    errors->invalid("spec.podSets", std::to_string(partial), "at most one podSet can use minCount");
  }
}

void check_usage(const std::string& path, const PodSetAssignment& assignment, ErrorList* errors) {
  const std::int64_t count = assignment.count.value_or(1);
  if (count <= 0) return;
  for (const auto& [name, quantity] : assignment.resource_usage) {
    if (resource_amount(name, quantity) % count == 0) continue;
    errors->invalid(at(path + ".resourceUsage", name), in_quotes(quantity.str()),
                    "is not a multiple of " + std::to_string(count));
  }
}

void check_admission(const Workload& workload, ErrorList* errors) {
  if (!reserved(workload) || !workload.status.admission) return;
  const Admission& admission = *workload.status.admission;
  errors->invalid_each("status.admission.clusterQueue", admission.cluster_queue,
                       check_dns1123_subdomain(admission.cluster_queue));
  const std::string root = "status.admission.podSetAssignments";
  for (std::size_t i = 0; i < admission.pod_set_assignments.size(); ++i) {
    const PodSetAssignment& assignment = admission.pod_set_assignments[i];
    const std::string path = at(root, i);
    if (!find_set(workload.spec, assignment.name)) {
      errors->not_found(path + ".name", assignment.name);
    }
    check_usage(path, assignment, errors);
  }
}

void check_reclaimable(const Workload& workload, ErrorList* errors) {
  const std::vector<ReclaimablePod>& pods = workload.status.reclaimable_pods;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const std::string path = at("status.reclaimablePods", i);
    const PodSet* set = find_set(workload.spec, pods[i].name);
    if (!set) {
      errors->not_found(path + ".name", pods[i].name);
    } else if (pods[i].count > set->count) {
      errors->invalid(path + ".count", std::to_string(pods[i].count),
                      "should be less or equal to " + std::to_string(set->count));
    }
  }
}

void check_updates(const Workload& workload, ErrorList* errors) {
  const std::vector<AdmissionCheckState>& checks = workload.status.admission_checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const std::string path = at("status.admissionChecks", i) + ".podSetUpdates";
    const std::vector<PodSetUpdate>& updates = checks[i].pod_set_updates;
    if (updates.size() > workload.spec.pod_sets.size()) {
      errors->too_many(path, updates.size(), workload.spec.pod_sets.size());
    }
    for (std::size_t k = 0; k < updates.size(); ++k) {
      if (!find_set(workload.spec, updates[k].name)) {
        errors->not_found(at(path, k) + ".name", updates[k].name);
      }
    }
  }
}

/// Elastic jobs may shrink while they hold quota; nothing else about the pod sets may change.
bool same_pod_sets(const Workload& before, const Workload& after) {
  if (before.spec.pod_sets == after.spec.pod_sets) return true;
  if (!elastic(after) || before.spec.pod_sets.size() != after.spec.pod_sets.size()) return false;
  for (std::size_t i = 0; i < after.spec.pod_sets.size(); ++i) {
    PodSet shrunk = before.spec.pod_sets[i];
    shrunk.count = std::min(shrunk.count, after.spec.pod_sets[i].count);
    if (shrunk != after.spec.pod_sets[i]) return false;
  }
  return true;
}

/// The admission without the fields that may still be filled in.
Admission settled(Admission admission) {
  for (PodSetAssignment& assignment : admission.pod_set_assignments) {
    assignment.topology_assignment.reset();
    assignment.delayed_topology_request.clear();
  }
  return admission;
}

/// The pod set of an elastic job has fewer pods than it was admitted with.
bool shrank(const Workload& workload, const std::string& name) {
  if (!elastic(workload) || !workload.status.admission) return false;
  const PodSet* set = find_set(workload.spec, name);
  const auto& given = workload.status.admission->pod_set_assignments;
  return set && std::any_of(given.begin(), given.end(), [&](const PodSetAssignment& assignment) {
           return assignment.name == name && assignment.count.value_or(0) > set->count;
         });
}

void check_kept_reclaimable(const Workload& before, const Workload& after, ErrorList* errors) {
  for (const ReclaimablePod& old : before.status.reclaimable_pods) {
    if (shrank(after, old.name)) continue;  // they are counted anew
    const auto& now = after.status.reclaimable_pods;
    const auto it = std::find_if(now.begin(), now.end(),
                                 [&](const ReclaimablePod& pod) { return pod.name == old.name; });
    const std::string path = at("status.reclaimablePods", old.name);
    if (it == now.end()) {
      errors->required(path, "cannot be removed");
    } else if (it->count < old.count) {
      errors->invalid(path + ".count", std::to_string(it->count),
                      "cannot be less than " + std::to_string(old.count));
    }
  }
}

void check_kept_updates(const Workload& before, const Workload& after, ErrorList* errors) {
  const std::vector<AdmissionCheckState>& checks = after.status.admission_checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const AdmissionCheckState* old = find_check(before.status, checks[i].name);
    const bool stays_ready =
        old && old->state == CheckState::Ready && checks[i].state == CheckState::Ready;
    if (stays_ready && old->pod_set_updates != checks[i].pod_set_updates) {
      errors->forbidden(at("status.admissionChecks", i) + ".podSetUpdates", immutable);
    }
  }
}

void check_cluster(const Workload& before, const Workload& after, ErrorList* errors) {
  if (before.status.cluster_name || !after.status.cluster_name) return;
  // A slice takes the cluster over from the slice that it replaces.
  const std::string replaces(annotations::workload_slice_replacement_for);
  if (!after.metadata.annotation(replaces).empty()) return;
  const std::vector<std::string>& nominated = before.status.nominated_cluster_names;
  if (std::find(nominated.begin(), nominated.end(), *after.status.cluster_name) ==
      nominated.end()) {
    errors->invalid("status.clusterName", in_quotes(*after.status.cluster_name),
                    "when setting clusterName it must be one of the nominatedClusterNames");
  }
}

}  // namespace

void add_defaults(Workload* workload, const RuleOptions& options) {
  if (options.partial_admission) return;
  for (PodSet& set : workload->spec.pod_sets) set.min_count.reset();
}

FieldErrors validate(const Workload& workload) {
  ErrorList errors;
  check_pod_sets(workload, &errors);
  check_admission(workload, &errors);
  check_reclaimable(workload, &errors);
  check_updates(workload, &errors);
  return errors.take();
}

FieldErrors validate_update(const Workload& before, const Workload& after) {
  FieldErrors errors = validate(after);
  ErrorList more;
  if (reserved(before) && reserved(after)) {
    if (!same_pod_sets(before, after)) more.forbidden("spec.podSets", immutable);
    check_kept_reclaimable(before, after, &more);
    const bool both = before.status.admission && after.status.admission;
    if (both && settled(*before.status.admission) != settled(*after.status.admission)) {
      more.forbidden("status.admission", immutable);
    }
  }
  check_kept_updates(before, after, &more);
  check_cluster(before, after, &more);
  FieldErrors added = more.take();
  errors.insert(errors.end(), added.begin(), added.end());
  return errors;
}

}  // namespace regatta::api
