#pragma once

#include "jobs/generic_job.h"
#include "lib/api/batch.h"
#include "lib/api/workload.h"

#include <optional>
#include <string>
#include <vector>

/// What Kueue does with a batch/v1 Job, as pure functions on the typed object: its pod sets,
/// whether it runs, how it is started, stopped and restored, and how it travels to a worker and its
/// status back.
namespace regatta::jobs::batch_job {

/// One pod set, `main`: parallelism pods, or completions where that is fewer; partial admission
/// from the annotation job-min-parallelism, the topology request from those of the template. Labels
/// that the Job controller itself put into the template are left out of it.
Result<std::vector<api::PodSet>> pod_sets(const api::Job& job,
                                          const TopologyOptions& topology = {});

/// How many pods it runs at once at most.
std::int32_t pod_count(const api::Job& job);

/// spec.suspend, and no stop is half done.
bool suspended(const api::Job& job);
/// Pods are running or terminating as far as its status says.
bool active(const api::Job& job);

std::optional<Finished> finished(const api::Job& job);

bool pods_ready(const api::Job& job);

/// Pods that will not be needed again; empty when it cannot be said or there are none.
std::vector<api::ReclaimablePod> reclaimable_pods(const api::Job& job);

/// Whether the Workload is the one this Job asks for. `running` are the infos it was started with
/// (null when it holds no reservation): a running Job is compared in its running form.
bool equivalent(const api::Job& job, const api::Workload& workload,
                const std::vector<PodSetInfo>* running);

/// Merge patch that starts the Job with what its admission adds; `invalid` on a conflict that no
/// retry can mend. It holds the Job's uid, not its resourceVersion: the Job controller writes the
/// status all the time, and starting twice does no harm.
Result<Json> start_patch(const api::Job& job, const PodSetInfo& info);

/// Merge patch that puts a Job without a queue into one; a Job that has not begun is suspended in
/// the same write.
Json queue_patch(const api::Job& job, const std::string& queue);

/// Stopping takes up to three writes: suspend (marked as stopping), forget the start time (status),
/// restore the template (and drop the mark).
/// The next step, or nullopt when the Job is as it was before it was started. `workload` (may be
/// null) holds the original template.
std::optional<StopStep> next_stop_step(const api::Job& job, const api::Workload* workload);

/// Why the hub's Job may not be run by MultiKueue; empty when it may.
std::string not_managed_reason(const api::Job& job);

/// The Job for a worker: name, namespace, labels, annotations and spec of the hub's, in the form it
/// had before it was started, suspended, with the origin label and the prebuilt Workload's name,
/// without what belongs to the hub (managedBy, selector, controller labels, TTL).
Json remote_job(const api::Job& job, const api::Workload& workload, const std::string& origin);

/// Merge patch for the hub's Job status; empty object when there is nothing to copy or it must
/// wait: while the hub's Job is suspended the status of a running one would break its rules.
Json status_patch(const api::Job& local, const api::Job& remote);

/// Merge patch that says nothing of it runs any more; empty object when the status says so already.
Json release_patch(const api::Job& local);

/// Merge patch that gives the hub's Job the end its Workload had, for when the worker's Job is gone
/// before its last status was seen.
Json final_patch(const api::Job& local, bool success, const std::string& message, TimePoint now);

}  // namespace regatta::jobs::batch_job
