#include "controllers/live_slices.h"

#include "dispatch/parts.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/base/contains.h"

#include <algorithm>
#include <set>

namespace regatta::controllers {
namespace {

namespace conditions = api::conditions;

/// The slice on the hub that the copy names; null when it is gone.
jobs::WorkloadPtr named_slice(const clusters::LocalCluster& hub, const jobs::GenericJob& copy) {
  const api::ObjectMeta& metadata = copy.metadata();
  return hub.workloads.get({metadata.ns, jobs::prebuilt_workload(metadata)});
}

/// Its copy on the worker.
jobs::WorkloadPtr named_copy(const clusters::RemoteCluster& remote, const jobs::GenericJob& job) {
  const api::ObjectMeta& metadata = job.metadata();
  return remote.workloads.get({metadata.ns, jobs::prebuilt_workload(metadata)});
}

/// Until the copy of the slice under which the job runs belongs to the job, the worker's manager
/// may not have seen that the job was given to it. It would stop a job whose former slice is gone.
bool is_noted(const jobs::WorkloadPtr& copy, const jobs::GenericJob& job) {
  return !copy || copy->metadata.deleting() || jobs::is_controlled_by(*copy, job);
}

/// The copy that has the quota of the job, once another one has replaced there the one under which
/// the job runs, `named`, or is about to; null when none has it. The hub may have lost those in
/// between.
jobs::WorkloadPtr successor_on(const clusters::RemoteCluster& remote, const HubIdentity& identity,
                               jobs::WorkloadPtr named) {
  constexpr int sizes_max = 16;  // that a job had while the hub was away
  for (int i = 0; i < sizes_max && named; ++i) {
    jobs::WorkloadPtr next;
    for (const auto& copy :
         remote.workloads.by_index(clusters::by_replaced, named->metadata.key().str())) {
      if (!identity.may_own(*copy)) continue;
      if (jobs::keeps_quota(*copy)) return copy;
      if (jobs::was_replaced(*copy)) next = copy;
    }
    if (!jobs::was_replaced(*named)) break;
    named = std::move(next);
  }
  return nullptr;
}

/// The copy of another slice replaces `next`, or if that is null the one that the job names. Empty
/// for the copy of that one.
std::string name_to_replace(const jobs::GenericJob& job, const jobs::WorkloadPtr& next,
                            const std::string& slice) {
  const std::string name = next ? next->metadata.name : jobs::prebuilt_workload(job.metadata());
  return name == slice ? std::string() : name;
}

const std::set<api::ObjectKey>& keys_of_slices(const clusters::LocalCluster& hub,
                                               const jobs::JobId& job) {
  return hub.workloads.keys_by_index(clusters::by_owner, clusters::owner_name(job));
}

}  // namespace

bool under_other_slice(const jobs::GenericJob& job, const api::ObjectKey& workload) {
  return jobs::is_marked_elastic(job) && jobs::prebuilt_workload(job.metadata()) != workload.name;
}

bool named_slice_is_over(const clusters::LocalCluster& hub, const jobs::GenericJob& copy) {
  const jobs::WorkloadPtr slice = named_slice(hub, copy);
  return !slice || jobs::is_over(*slice);
}

std::vector<api::ObjectKey> slices_on_hub(const jobs::GenericJob& copy,
                                          const clusters::LocalCluster& hub,
                                          const HubIdentity& identity) {
  const jobs::JobId id = jobs::id_of(copy);
  const jobs::JobPtr owner = hub.jobs.get(id);
  if (!owner || identity.of_another_life(copy.metadata(), owner->metadata().uid)) return {};
  const auto& keys = keys_of_slices(hub, id);
  return {keys.begin(), keys.end()};
}

bool may_take_place(const std::string& worker, const clusters::LocalCluster& hub,
                    const api::ObjectKey& key, const jobs::GenericJob& job,
                    const api::ObjectKey& slice) {
  const auto replaced = hub.workloads.get(slice);
  if (!replaced || !jobs::was_replaced(*replaced) || dispatch::told_to_stop(job)) return false;
  const auto other = hub.workloads.get(key);
  if (!other || !jobs::keeps_quota(*other) || other->status.cluster_name) return false;
  const auto* check = dispatch::multikueue_check(hub.objects(), other->status);
  const auto config = check ? dispatch::config_of(hub.objects(), check->name) : nullptr;
  return !config || contains(config->spec.clusters, worker);
}

std::string slice_to_replace(const clusters::RemoteCluster& remote,
                             const clusters::LocalCluster& hub, const api::Workload& workload) {
  const jobs::JobPtr job = remote_job_of(remote, workload.metadata.key(), hub);
  if (job && jobs::is_marked_elastic(*job)) {
    const HubIdentity identity(hub, remote);
    const jobs::WorkloadPtr next = successor_on(remote, identity, named_copy(remote, *job));
    return name_to_replace(*job, next, workload.metadata.name);
  }
  // The job may be on its way.
  const std::string& before = jobs::replaced_slice(workload);
  const std::string own = workload.metadata.ns + "/";
  if (!before.starts_with(own)) return {};
  const std::string name = before.substr(own.size());
  return remote.workloads.get({workload.metadata.ns, name}) ? name : std::string();
}

bool may_run_unseen(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                    const api::Workload& slice, const jobs::JobPtr& owner) {
  if (!owner || !jobs::was_replaced(slice)) return false;
  const auto& keys = keys_of_slices(hub, jobs::id_of(*owner));
  return std::any_of(keys.begin(), keys.end(), [&](const api::ObjectKey& key) {
    const auto next = hub.workloads.get(key);
    return next && next->status.cluster_name == remote.name() && !jobs::is_over(*next);
  });
}

jobs::JobPtr job_of_lost_slice(const clusters::RemoteCluster& remote, const HubIdentity& identity,
                               const api::Workload& copy) {
  std::vector<std::string> names = {jobs::replaced_slice(copy)};
  const std::string own = copy.metadata.key().str();
  for (const auto& next : remote.workloads.by_index(clusters::by_replaced, own)) {
    names.push_back(next->metadata.key().str());
  }
  for (const std::string& name : names) {
    for (const jobs::JobPtr& job : remote.jobs.by_index(clusters::by_workload, name)) {
      const bool ours = jobs::is_marked_elastic(*job) && identity.may_own(*job);
      if (ours) return job;
    }
  }
  return nullptr;
}

void read_slices(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                 const api::ObjectKey& workload, dispatch::WorkerView* worker) {
  const jobs::GenericJob& job = *worker->job;
  worker->other_slice = under_other_slice(job, workload);
  const jobs::WorkloadPtr named = named_copy(remote, job);
  const jobs::WorkloadPtr next = successor_on(remote, HubIdentity(hub, remote), named);
  worker->replaces = name_to_replace(job, next, workload.name);
  if (!worker->other_slice) {
    worker->handing_over = worker->job_shared;
    return;
  }
  const jobs::WorkloadPtr slice = named_slice(hub, job);
  worker->named_is_over = !slice || jobs::is_over(*slice);
  worker->named_was_replaced = slice && jobs::was_replaced(*slice);
  worker->handing_over = !is_noted(named, job);
  if (!named) return;
  worker->named_out_of_time = dispatch::out_of_time(*named);
  // The worker has replaced it by another one, which the job does not name yet, or is about to.
  if (!next) {
    worker->without_quota = jobs::was_replaced(*named);
  } else if (next->metadata.key() == workload) {
    worker->handing_over = worker->handing_over || worker->job_shared;
  }
}

}  // namespace regatta::controllers
