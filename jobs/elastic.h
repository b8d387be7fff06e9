#pragma once

#include "jobs/lookup.h"
#include "jobs/plan.h"

/// Elastic jobs: their parallelism may change while they run. When a job shrinks, its Workload
/// shrinks. When a job grows, it gets a second Workload, a slice, for the larger count. The new
/// slice is charged for the difference, and the first slice ends when the new one has its quota.
/// The added pods wait behind a gate until then (see controllers/elastic_ungater.h).
/// On a worker the slices are copies of the hub's, and the job names the one that it runs under.
///
///   slice 1 (2 pods, admitted) ── parallelism 5 ──► slice 2 (5 pods, waiting)
///        │                                              │ gets quota for 3 more
///        └──► Finished WorkloadSliceReplaced            └──► the job's Workload
namespace regatta::jobs {

/// The job is annotated as elastic and makes its own slices: it has no prebuilt Workload.
bool is_elastic(const JobView& view);
/// The same, and its slices are prebuilt: the job was copied to this worker.
bool has_prebuilt_slices(const JobView& view);
/// The job, or a copy of it, is annotated as elastic; the Workload is a slice of such a job.
bool is_marked_elastic(const GenericJob& job);
bool is_slice(const api::Workload& workload);
/// "namespace/name" of the slice that the Workload is to replace; empty for the first one.
const std::string& replaced_slice(const api::Workload& workload);
/// That slice, if it is there.
WorkloadPtr find_replaced(const Lookup& objects, const api::Workload& workload);
/// A larger slice has taken over from the Workload.
bool was_replaced(const api::Workload& workload);

/// The Workload is over, or is about to be gone.
bool is_over(const api::Workload& workload);
/// It has quota, and neither ends nor gives it back.
bool keeps_quota(const api::Workload& workload);

/// The same of a job without a view, prebuilt Workloads aside.
bool is_elastic(const GenericJob& job, const JobPolicy& policy);

/// The slices, the oldest first. Creation times are whole seconds, a job may grow faster than that,
/// and a clock may be set back: a slice that replaces another one is the newer of the two. `known`
/// are the slices in which these replacements are looked up.
std::vector<WorkloadPtr> by_age(std::vector<WorkloadPtr> slices,
                                const std::vector<WorkloadPtr>& known);

/// Of `slices`, all those of one job, this one replaces none that lives, and the job has another
/// one already. So it is with one whose creation reached the API server late: meanwhile another one
/// was made, which knows nothing of it. It is about to be ended, and must not be sent to a worker,
/// where it would take the job over from the other one.
bool is_stray(const api::Workload& slice, const std::vector<WorkloadPtr>& slices);

struct Slices {
  /// The slice that the job runs under: the one with quota, or else the newest. Null when there is
  /// none.
  WorkloadPtr current;
  /// The slice that is resized with the job: `current`, or the one that is to replace it.
  WorkloadPtr latest;
  std::vector<WorkloadPtr> stale;  ///< all other slices
};
/// Sorts the job's Workloads that are not finished into these parts.
Slices slices_of(const JobView& view);

/// The Workload that the job runs under, as matching_workload() finds it for other jobs. Null when
/// the job differs from it in more than counts.
WorkloadPtr matching_slice(const JobView& view);

/// The actions that only slices need; the caller plans what every Workload needs. When it returns
/// any, they are the whole plan of this turn.
std::vector<JobAction> plan_slices(const JobView& view);

/// What made the job grow or shrink is noted at it, for jobs that are resized by their runtime.
std::optional<JobAction> note_size(const JobView& view);

/// A larger slice waits to replace the one that the job runs under.
bool grows(const JobView& view);

/// The Workload has quota as a slice that replaces a smaller one; pods of the smaller one run.
bool took_over(const JobView& view, const api::Workload& workload);

/// Whether the prebuilt slice is what the job asks for. The hub changes the slice and the job one
/// after the other, and a later slice may have been made of the running template, so only the
/// template of the first one counts, and no count does.
bool matches_prebuilt_slice(const JobView& view, const api::Workload& slice);
/// The slices that the prebuilt slice of the job has taken over from are over.
std::vector<JobAction> end_replaced(const JobView& view, const api::Workload& slice);

/// What the copy of an elastic job on a worker takes over from the hub's job (`job`) for the slice
/// that has its place there: the slice's name, once `replaced` says that the one that it names is
/// over on the hub, and the size, if the slice is large enough for it. An empty object when there
/// is nothing.
Json slice_update(const GenericJob& job, const GenericJob& copy, const api::Workload& slice,
                  bool replaced);

/// The pod set has fewer pods than it was admitted with.
bool has_shrunk(const api::Workload& workload, const api::PodSet& set);

/// Whether a pod set of the Workload has shrunk, and the reclaimable pods in its status were
/// counted since. False when that cannot be told from the job.
bool has_recounted(const GenericJob& job, const api::Workload& workload);

/// The metadata of a Workload that was made for the job, marked as its first slice or as its next
/// one.
api::ObjectMeta marked_as_slice(const JobView& view, api::ObjectMeta metadata);

}  // namespace regatta::jobs
