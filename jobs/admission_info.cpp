#include "jobs/admission_info.h"

#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/api/validation.h"

#include <set>

namespace regatta::jobs {
namespace {

void add_labels(const api::Workload& workload, const InfoOptions& options, PodSetInfo* info) {
  info->labels[std::string(api::labels::pod_set)] = info->name;
  const std::string& queue = workload.status.admission->cluster_queue;
  if (options.queue_labels && api::check_dns1123_label(queue).empty()) {
    info->labels[std::string(api::labels::cluster_queue_name)] = queue;
  }
  if (options.queue_labels && api::check_dns1123_label(workload.spec.queue_name).empty()) {
    info->labels[std::string(api::labels::local_queue_name)] = workload.spec.queue_name;
  }
  if (api::made_on_hub(workload.metadata)) {
    info->labels[std::string(api::labels::multikueue_worker_workload_pod)] = "true";
  }
  if (options.workload_name) {
    info->annotations[std::string(api::annotations::workload)] = workload.metadata.name;
  }
}

/// Pods that are placed by topology wait behind a gate until each is given its place.
void add_topology(const api::Workload& workload, const api::PodSetAssignment& assignment,
                  PodSetInfo* info) {
  if (!assignment.topology_assignment) return;
  info->scheduling_gates.emplace_back(api::gates::topology);
  for (const api::PodSet& set : workload.spec.pod_sets) {
    if (set.name != assignment.name) continue;
    const auto& request = set.topology_request;
    const bool asked =
        request && (request->required || request->preferred || request->unconstrained);
    if (asked) return;
  }
  info->annotations[std::string(api::annotations::podset_unconstrained_topology)] = "true";
}

/// Pods of an elastic job wait behind a gate until their slice, or a later one, has quota for them.
/// The annotation names the first slice, by which the pods are found.
void add_slice(const api::Workload& workload, PodSetInfo* info) {
  if (workload.metadata.annotation(std::string(api::annotations::elastic_job)) != "true") return;
  const std::string chain(api::annotations::workload_slice_name);
  const std::string& first = workload.metadata.annotation(chain);
  info->annotations[chain] = first.empty() ? workload.metadata.name : first;
  info->scheduling_gates.emplace_back(api::gates::elastic_job);
}

Result<PodSetInfo> with_updates(PodSetInfo info, const api::Workload& workload) {
  for (const api::AdmissionCheckState& check : workload.status.admission_checks) {
    for (const api::PodSetUpdate& update : check.pod_set_updates) {
      if (update.name != info.name) continue;
      PodSetInfo added;
      added.labels = update.labels;
      added.annotations = update.annotations;
      added.node_selector = update.node_selector;
      added.tolerations = update.tolerations;
      auto both = merged(std::move(info), added);
      if (!both)
        return Error(both.error().code(),
                     "in admission check \"" + check.name + "\": " + both.error().what());
      info = std::move(*both);
    }
  }
  return info;
}

}  // namespace

std::vector<PodSetInfo> admitted_sizes(const api::Workload& workload) {
  std::vector<PodSetInfo> sizes;
  if (!workload.status.admission) return sizes;
  for (const api::PodSetAssignment& assignment : workload.status.admission->pod_set_assignments) {
    PodSetInfo info;
    info.name = assignment.name;
    info.count = assignment.count.value_or(0);
    if (!assignment.count) {
      for (const api::PodSet& set : workload.spec.pod_sets) {
        if (set.name == assignment.name) info.count = set.count;
      }
    }
    sizes.push_back(std::move(info));
  }
  return sizes;
}

Result<PodSetInfo> with_flavors(PodSetInfo info, const std::set<std::string>& names,
                                const FlavorLookup& flavor) {
  for (const std::string& name : names) {
    const api::ResourceFlavor* found = flavor(name);
    if (!found) return Error(Errc::not_found, "ResourceFlavor \"" + name + "\" does not exist");
    PodSetInfo added;
    added.node_selector = found->spec.node_labels;
    added.tolerations = found->spec.tolerations;
    auto both = merged(std::move(info), added);
    if (!both) return both.error();
    info = std::move(*both);
  }
  return info;
}

Result<std::vector<PodSetInfo>> admission_infos(const api::Workload& workload,
                                                const FlavorLookup& flavor,
                                                const InfoOptions& options) {
  std::vector<PodSetInfo> infos;
  for (PodSetInfo& info : admitted_sizes(workload)) {
    const api::PodSetAssignment& assignment =
        workload.status.admission->pod_set_assignments[infos.size()];
    add_labels(workload, options, &info);
    add_topology(workload, assignment, &info);
    add_slice(workload, &info);
    std::set<std::string> flavors;
    for (const auto& [resource, name] : assignment.flavors) flavors.insert(name);
    auto placed = with_flavors(std::move(info), flavors, flavor);
    if (!placed) return placed.error();
    auto updated = with_updates(std::move(*placed), workload);
    if (!updated) return updated.error();
    infos.push_back(std::move(*updated));
  }
  return infos;
}

}  // namespace regatta::jobs
