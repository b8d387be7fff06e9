#include "clusters/holders.h"

#include "clusters/remote_cluster.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"

#include <algorithm>

namespace regatta::clusters {

template <class Map, class Key>
void Holders::note(Map* map, const Key& key, const std::string& worker, bool holds) {
  if (holds) {
    Workers& all = (*map)[key];
    if (std::find(all.begin(), all.end(), worker) == all.end()) all.push_back(worker);
    return;
  }
  const auto found = map->find(key);
  if (found == map->end()) return;
  std::erase(found->second, worker);
  if (found->second.empty()) map->erase(found);
}

void Holders::look(const RemoteCluster& worker, const api::ObjectKey& workload) {
  const bool holds = worker.workloads.get(workload) || worker.workloads.unreadable(workload) ||
                     worker.jobs.any_by_index(clusters::by_workload, workload.str());
  note(&by_workload_, workload, worker.name(), holds);
}

void Holders::look_at_elastic(const RemoteCluster& worker, const jobs::JobId& job) {
  const jobs::JobPtr found = worker.jobs.get(job);
  note(&elastic_, job, worker.name(), found && jobs::is_marked_elastic(*found));
}

void Holders::look_at_unreadable_jobs(const RemoteCluster& worker) {
  if (worker.jobs.any_unreadable()) {
    unreadable_jobs_.insert(worker.name());
  } else {
    unreadable_jobs_.erase(worker.name());
  }
}

void Holders::forget(const RemoteCluster& worker) {
  unreadable_jobs_.erase(worker.name());
  for (const auto& copy : worker.workloads.list()) {
    note(&by_workload_, copy->metadata.key(), worker.name(), false);
  }
  for (const auto& [key, error] : worker.workloads.undecodable()) {
    note(&by_workload_, key, worker.name(), false);
  }
  for (const jobs::JobPtr& job : worker.jobs.list()) {
    note(&elastic_, jobs::id_of(*job), worker.name(), false);
    for (const std::string& name : jobs::workloads_of_copy(*job)) {
      note(&by_workload_, api::ObjectKey(job->metadata().ns, name), worker.name(), false);
    }
  }
}

void Holders::add_to(std::set<std::string>* names, const api::ObjectKey& workload,
                     const jobs::JobId* elastic) const {
  names->insert(unreadable_jobs_.begin(), unreadable_jobs_.end());
  if (const auto found = by_workload_.find(workload); found != by_workload_.end()) {
    names->insert(found->second.begin(), found->second.end());
  }
  if (!elastic) return;
  if (const auto found = elastic_.find(*elastic); found != elastic_.end()) {
    names->insert(found->second.begin(), found->second.end());
  }
}

}  // namespace regatta::clusters
