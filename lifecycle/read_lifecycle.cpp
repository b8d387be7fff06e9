#include "lifecycle/read_lifecycle.h"

#include "jobs/elastic.h"

namespace regatta::lifecycle {

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
  const jobs::WorkloadPtr replaced = jobs::find_replaced(objects, workload);
  view.replaces_evicted = replaced && is_evicted(*replaced) && !is_reserved(*replaced);
  view.bypassed = admission.bypassed(workload.metadata.key());
  view.required_checks = admission.required_checks(workload);
  return view;
}

}  // namespace regatta::lifecycle
