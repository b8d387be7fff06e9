#include "controllers/live_slices.h"

#include "dispatch/parts.h"
#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/base/contains.h"

#include <algorithm>

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
  if (!copy || copy->metadata.deleting()) return true;
  const api::OwnerReference* owner = copy->metadata.controller();
  return owner && owner->uid == job.metadata().uid;
}

bool has_quota(const api::Workload& copy) {
  const api::Conditions& all = copy.status.conditions;
  return api::is_true(all, conditions::quota_reserved) && !api::is_true(all, conditions::evicted) &&
         !api::is_true(all, conditions::finished) && !copy.metadata.deleting();
}

/// The copy that has the quota of the job, once another one has replaced there the one under which
/// the job runs; null when none has it.
jobs::WorkloadPtr successor_on(const clusters::RemoteCluster& remote,
                               const clusters::LocalCluster& hub, const jobs::GenericJob& job) {
  const HubIdentity identity(hub, remote.name());
  for (const api::ObjectKey& key : slices_on_hub(job, hub, identity)) {
    const auto copy = remote.workloads.get(key);
    if (copy && identity.may_own(copy->metadata) && has_quota(*copy)) return copy;
  }
  return nullptr;
}

}  // namespace

bool under_other_slice(const jobs::GenericJob& job, const api::ObjectKey& workload) {
  return jobs::is_marked_elastic(job) && jobs::prebuilt_workload(job.metadata()) != workload.name;
}

bool named_slice_is_over(const clusters::LocalCluster& hub, const jobs::GenericJob& copy) {
  const jobs::WorkloadPtr slice = named_slice(hub, copy);
  return !slice || slice->metadata.deleting() ||
         api::is_true(slice->status.conditions, conditions::finished);
}

std::vector<api::ObjectKey> slices_on_hub(const jobs::GenericJob& copy,
                                          const clusters::LocalCluster& hub,
                                          const HubIdentity& identity) {
  const jobs::JobId id = jobs::id_of(copy);
  const jobs::JobPtr owner = hub.jobs.get(id);
  if (!owner || identity.of_another_life(copy.metadata(), owner->metadata().uid)) return {};
  const auto& keys = hub.workloads.keys_by_index(clusters::by_owner, clusters::owner_name(id));
  return {keys.begin(), keys.end()};
}

bool may_take_place(const std::string& worker, const clusters::LocalCluster& hub,
                    const api::ObjectKey& key, const jobs::GenericJob& job,
                    const api::ObjectKey& slice) {
  const auto replaced = hub.workloads.get(slice);
  if (!replaced || !jobs::was_replaced(*replaced) || dispatch::told_to_stop(job)) return false;
  const auto other = hub.workloads.get(key);
  if (!other || other->metadata.deleting() || other->status.cluster_name) return false;
  const auto* check = dispatch::multikueue_check(hub.objects(), other->status);
  const auto config = check ? dispatch::config_of(hub.objects(), check->name) : nullptr;
  if (config && !contains(config->spec.clusters, worker)) return false;
  const api::Conditions& all = other->status.conditions;
  return api::is_true(all, conditions::quota_reserved) &&
         !api::is_true(all, conditions::finished) && !api::is_true(all, conditions::evicted);
}

std::string slice_to_replace(const clusters::RemoteCluster& remote,
                             const clusters::LocalCluster& hub, const api::Workload& workload) {
  const jobs::JobPtr job = remote_job_of(remote, workload.metadata.key(), hub);
  if (job && jobs::is_marked_elastic(*job)) {
    const jobs::WorkloadPtr named = named_copy(remote, *job);
    const jobs::WorkloadPtr next =
        named && jobs::was_replaced(*named) ? successor_on(remote, hub, *job) : nullptr;
    const std::string name = next ? next->metadata.name : jobs::prebuilt_workload(job->metadata());
    return name == workload.metadata.name ? std::string() : name;
  }
  // The job may be on its way.
  const std::string& before = jobs::replaced_slice(workload);
  const std::string own = workload.metadata.ns + "/";
  if (!before.starts_with(own)) return {};
  const std::string name = before.substr(own.size());
  return remote.workloads.get({workload.metadata.ns, name}) ? name : std::string();
}

void read_slices(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                 const api::ObjectKey& workload, dispatch::WorkerView* worker) {
  const jobs::GenericJob& job = *worker->job;
  worker->other_slice = under_other_slice(job, workload);
  const jobs::WorkloadPtr own = hub.workloads.get(workload);
  if (own && worker->copy) worker->replaces = slice_to_replace(remote, hub, *own);
  if (!worker->other_slice) {
    worker->handing_over = worker->job_shared;
    return;
  }
  const jobs::WorkloadPtr slice = named_slice(hub, job);
  worker->named_is_over = named_slice_is_over(hub, job);
  worker->named_was_replaced = worker->named_is_over && slice && jobs::was_replaced(*slice);
  const jobs::WorkloadPtr named = named_copy(remote, job);
  worker->handing_over = !is_noted(named, job);
  if (!named || !jobs::was_replaced(*named)) return;
  // The worker has replaced it by another one, which the job does not name yet.
  const jobs::WorkloadPtr next = successor_on(remote, hub, job);
  worker->without_quota = !next;
  if (next && next->metadata.key() == workload) {
    worker->handing_over = worker->handing_over || worker->job_shared;
  }
}

}  // namespace regatta::controllers
