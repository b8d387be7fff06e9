#include "controllers/live_fleet.h"

namespace regatta::controllers {

jobs::JobPtr remote_job_of(const clusters::RemoteCluster& remote, const api::ObjectKey& workload) {
  const auto found = remote.jobs.by_index(clusters::by_workload, workload.str());
  return found.empty() ? nullptr : found.front();
}

void LiveFleet::for_each_worker(const api::ObjectKey& workload, const Visit& visit) const {
  for (const auto& [name, member] : fleet_.members()) {
    dispatch::WorkerView worker;
    worker.connected = member.ready();
    worker.lost_since = member.lost_since;
    if (const auto& remote = member.remote) {
      worker.copy = remote->workloads.get(workload);
      worker.removing_copy = worker.copy && remote->removing_workload(*worker.copy);
      worker.job = remote_job_of(*remote, workload);
      worker.removing_job = worker.job && remote->removing_job(*worker.job);
    }
    visit(name, worker);
  }
}

}  // namespace regatta::controllers
