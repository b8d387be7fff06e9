#include "jobs/plan_serving.h"

#include "jobs/plan_rules.h"
#include "jobs/serving_job.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::jobs {
namespace {

using Actions = std::vector<JobAction>;

bool ended(const api::Workload& workload) {
  return workload.metadata.deleting() ||
         api::is_true(workload.status.conditions, api::conditions::finished);
}

WorkloadPtr named(const std::vector<WorkloadPtr>& all, const std::string& name) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const WorkloadPtr& one) { return one->metadata.name == name; });
  return found == all.end() ? nullptr : *found;
}

/// S1. Groups that are not to be any more have no Workloads. A job that may return to the same
/// group keeps its Workload, which gives back its quota when the Pods are gone.
Actions without_group(const JobView& view, const std::set<std::string>& wanted) {
  Actions out;
  const std::string hold = view.job->serving()->hold_message();
  for (const WorkloadPtr& workload : view.owned) {
    if (ended(*workload) || wanted.contains(workload->metadata.name)) continue;
    if (hold.empty()) {
      out.push_back(RetireWorkload{workload});
    } else if (view.pods.empty() && !is_on_hold(*workload)) {
      out.push_back(HoldWorkload{workload, hold});
    }
  }
  return out;
}

/// S3. While it waits, a Workload follows the job: its size after a hold, its queue, its priority
/// and its gate. On a hub, which has no Pods of the group, it says that they are ready once they
/// run elsewhere: nothing else would.
std::optional<JobAction> follow_job(const JobView& view, const WorkloadPtr& workload) {
  if (is_on_hold(*workload)) {
    auto wanted = build_workload(view);
    if (wanted && wanted->spec.pod_sets != workload->spec.pod_sets) {
      api::WorkloadSpec spec = workload->spec;
      spec.pod_sets = std::move(wanted->spec.pod_sets);
      return UpdateWorkload{workload, std::move(spec), ""};
    }
    return HoldWorkload{workload, ""};
  }
  if (!has_reservation(*workload) && view.queue_name != workload->spec.queue_name) {
    api::WorkloadSpec spec = workload->spec;
    spec.queue_name = view.queue_name;
    return UpdateWorkload{workload, std::move(spec), ""};
  }
  if (view.job->serving()->follows_priority()) {
    if (auto action = follow_priority(view, workload)) return action;
  }
  if (auto action = follow_gate(view, workload)) return action;
  return view.dispatched ? follow_pods(view, workload) : std::nullopt;
}

Actions keep_groups(const JobView& view, const std::vector<ServingGroup>& groups) {
  Actions out;
  for (const ServingGroup& group : groups) {
    const WorkloadPtr workload = named(view.owned, group.name);
    if (workload && ended(*workload)) continue;
    if (workload) {
      if (auto action = follow_job(view, workload)) out.push_back(std::move(*action));
      continue;
    }
    // S2. Each group has a Workload, before it has Pods.
    auto made = build_group_workload(view, group);
    if (!made) {
      const std::string_view reason = view.missing_workload_class
                                          ? api::events::workload_priority_class_not_found
                                          : api::events::error_workload_compose;
      return {Complain{std::string(reason), made.error().what()}};
    }
    out.push_back(CreateWorkload{std::move(*made)});
  }
  return out;
}

}  // namespace

std::vector<JobAction> plan_serving(const JobView& view) {
  const ServingJob& job = *view.job->serving();
  Actions out;
  const ServingNames names{view.policy.brief_names, view.policy.names_in_labels};
  if (!job.made_on_hub()) {
    const auto groups = job.groups(names);
    if (!groups) {
      return {Complain{std::string(api::events::error_workload_compose), groups.error().what()}};
    }
    std::set<std::string> wanted;
    for (const ServingGroup& group : *groups) wanted.insert(group.name);
    out = without_group(view, wanted);
    for (JobAction& one : keep_groups(view, *groups)) out.push_back(std::move(one));
  }
  // S4. Each Pod knows its group.
  PatchPods pods;
  for (ServedPod one : view.pods) {
    if (one.pod->metadata().deleting()) continue;
    one.runs_elsewhere = view.dispatched;
    Json patch = job.pod_patch(one, names);
    if (!patch.empty()) pods.writes.push_back({one.pod, std::move(patch)});
  }
  if (!pods.writes.empty()) out.push_back(std::move(pods));
  return out;
}

}  // namespace regatta::jobs
