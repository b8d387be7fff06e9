#pragma once

#include "controllers/live_fleet.h"

#include <string>
#include <vector>

/// What the slices of an elastic job are to its copy on a worker, as the caches have them. The copy
/// names the slice under which it runs (docs/decisions/elastic.md).
namespace regatta::controllers {

/// Whether that job of a worker is elastic, and runs there under another slice than `workload`.
bool under_other_slice(const jobs::GenericJob& job, const api::ObjectKey& workload);

/// The slice under which the copy runs there is over on the hub.
bool named_slice_is_over(const clusters::LocalCluster& hub, const jobs::GenericJob& copy);

/// The Workloads on the hub of the elastic job of which a worker has that copy, by key; none when
/// the job is gone, or is another one by now.
std::vector<api::ObjectKey> slices_on_hub(const jobs::GenericJob& copy,
                                          const clusters::LocalCluster& hub,
                                          const HubIdentity& identity);

/// The copy, `job`, goes on under `slice`, which was replaced; and the slice `key` has quota, has
/// no place yet, and may take the one on that worker.
bool may_take_place(const std::string& worker, const clusters::LocalCluster& hub,
                    const api::ObjectKey& key, const jobs::GenericJob& job,
                    const api::ObjectKey& slice);

/// The name of the slice whose copy the copy of `workload` is to replace there: the one with the
/// quota with which the job runs. Empty when there is none.
std::string slice_to_replace(const clusters::RemoteCluster& remote,
                             const clusters::LocalCluster& hub, const api::Workload& workload);

/// No job of that slice is seen there, which was replaced. It may have been created there all the
/// same, and runs under this slice until the next one, which has its place, takes it over.
bool may_run_unseen(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                    const api::Workload& slice, const jobs::JobPtr& owner);

/// The elastic job for which a slice was made that the hub has lost, by its copy: the job names the
/// slice before it, or the one after it. Null when it is not there.
jobs::JobPtr job_of_lost_slice(const clusters::RemoteCluster& remote, const HubIdentity& identity,
                               const api::Workload& copy);

/// Reads what concerns the slices of `worker->job`, which is elastic, for the one with that key.
void read_slices(const clusters::RemoteCluster& remote, const clusters::LocalCluster& hub,
                 const api::ObjectKey& workload, dispatch::WorkerView* worker);

}  // namespace regatta::controllers
