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

/// One pod set, `main`. Its count is the parallelism, or the completions where these are fewer.
/// Partial admission comes from the annotation job-min-parallelism, the topology request from the
/// annotations of the template. Labels that the Job controller put into the template are left out.
Result<std::vector<api::PodSet>> pod_sets(const api::Job& job,
                                          const TopologyOptions& topology = {});

/// The number of pods that the Job runs at once at most.
std::int32_t pod_count(const api::Job& job);

/// The Job has spec.suspend, and no stop of it is half done.
bool suspended(const api::Job& job);
bool stopping(const api::Job& job);
/// Pods of the Job run or terminate, as far as its status says.
bool active(const api::Job& job);

std::optional<Finished> finished(const api::Job& job);

bool pods_ready(const api::Job& job);

/// Pods that the Job will not need again; empty when there are none or when it is not known.
std::vector<api::ReclaimablePod> reclaimable_pods(const api::Job& job);

/// Whether the Workload is the one this Job asks for. `running` are the infos that the Job was
/// started with (null when the Workload holds no reservation): a running Job is compared in its
/// running form.
bool equivalent(const api::Job& job, const api::Workload& workload,
                const std::vector<PodSetInfo>* running);

/// Merge patch that starts the Job with what its admission adds; `invalid` on a conflict that no
/// retry can mend. It holds the Job's uid, not its resourceVersion: the Job controller writes the
/// status all the time, and starting twice does no harm.
Result<Json> start_patch(const api::Job& job, const PodSetInfo& info);

/// Merge patch that puts a Job without a queue into one; a Job that has not begun is suspended in
/// the same write.
Json queue_patch(const api::Job& job, const std::string& queue);

/// What webhooks refuse of a Job, and of a change of it.
void check(const api::Job& job, const CheckOptions& options, api::ErrorList* errors);
void check_update(const api::Job& before, const api::Job& after, const CheckOptions& options,
                  api::ErrorList* errors);

/// A stop takes up to three writes: suspend the Job and mark it as stopping; clear the start time
/// in its status; restore the template and remove the mark. This is the next of them, or nullopt
/// when the Job is as it was before it was started. `workload` (may be null) holds the original
/// template. With `at_once` that is restored while pods are still active.
std::optional<StopStep> next_stop_step(const api::Job& job, const api::Workload* workload,
                                       bool at_once = false);

/// Why MultiKueue may not run the hub's Job; empty when it may.
std::string not_managed_reason(const api::Job& job);

/// The Job for a worker: name, namespace, labels, annotations and spec of the hub's, in the form it
/// had before it was started, suspended, with the origin label and the prebuilt Workload's name,
/// without what belongs to the hub (managedBy, selector, controller labels, TTL).
Json remote_job(const api::Job& job, const api::Workload& workload, const std::string& origin);

/// Merge patch that makes `remote` as large as the hub's Job (`local`); an empty object when it is.
Json resize_patch(const api::Job& local, const api::Job& remote);

/// Merge patch for the status of the hub's Job. Empty object when there is nothing to copy, or when
/// the copy must wait: the API refuses the status of a running Job on one that is suspended.
Json status_patch(const api::Job& local, const api::Job& remote);

/// Merge patch for the status of the hub's Job: none of its pods runs any more. Empty object when
/// the status says so already.
Json release_patch(const api::Job& local);

/// Merge patch that ends the hub's Job as its Workload ended. It is used when the worker's Job is
/// gone before its last status was seen.
Json final_patch(const api::Job& local, bool success, const std::string& message, TimePoint now);

}  // namespace regatta::jobs::batch_job
