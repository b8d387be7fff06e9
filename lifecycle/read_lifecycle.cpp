#include "lifecycle/read_lifecycle.h"

#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/base/contains.h"

#include <algorithm>

namespace regatta::lifecycle {
namespace {

/// The slice that this one replaces was evicted, and nothing runs on its quota any more. A slice
/// that was replaced before it gave its quota back says for ever that it has some.
bool replaces_stopped(const jobs::Lookup& objects, const api::Workload& workload) {
  const jobs::WorkloadPtr replaced = jobs::find_replaced(objects, workload);
  if (!replaced || !is_evicted(*replaced)) return false;
  if (!is_reserved(*replaced)) return true;
  // What runs on a worker is not told by the job here.
  const jobs::JobPtr job = jobs::owner_of(objects, workload);
  return job && job->suspended() && !job->active() && !replaced->status.cluster_name;
}

std::vector<std::string> kept_checks(const jobs::Lookup& objects, const api::WorkloadStatus& status,
                                     const std::vector<std::string>& required) {
  std::vector<std::string> kept;
  if (!status.cluster_name) return kept;
  const auto finds_workers = [](const auto& check) { return check && api::is_multikueue(*check); };
  const bool others_do = std::any_of(
      required.begin(), required.end(),
      [&](const std::string& name) { return finds_workers(objects.admission_check(name)); });
  const bool admitted = api::is_true(status.conditions, api::conditions::admitted);
  for (const api::AdmissionCheckState& state : status.admission_checks) {
    if (contains(required, state.name)) continue;
    const auto check = objects.admission_check(state.name);
    if (check && !finds_workers(check)) continue;
    // Of a check that is gone it is not known. It was Ready when the worker was found, and the
    // workload was admitted then.
    const bool found_it = check ? state.state != api::CheckState::Pending : admitted;
    if (found_it || !others_do) kept.push_back(state.name);
  }
  return kept;
}

}  // namespace

LifecycleView read_lifecycle(const jobs::Lookup& objects, const admission::StatusReader& admission,
                             const api::Workload& workload) {
  LifecycleView view;
  const auto local =
      objects.local_queue(api::ObjectKey(workload.metadata.ns, workload.spec.queue_name));
  if (local && !local->metadata.deleting()) {
    view.local_queue = {true, true, local->spec.stop_policy};
    view.cluster_queue_name = local->spec.cluster_queue;
  }
  if (workload.status.admission) view.cluster_queue_name = workload.status.admission->cluster_queue;
  if (const auto queue = objects.cluster_queue(view.cluster_queue_name)) {
    const bool active = admission.activity(view.cluster_queue_name).active;
    view.cluster_queue = {true, active, queue->spec.stop_policy, queue->metadata.deleting()};
  }
  view.replaces_stopped = replaces_stopped(objects, workload);
  view.bypassed = admission.bypassed(workload.metadata.key());
  view.required_checks = admission.required_checks(workload);
  view.kept_checks = kept_checks(objects, workload.status, view.required_checks);
  return view;
}

}  // namespace regatta::lifecycle
