#pragma once

#include "jobs/plan.h"

/// Elastic jobs: their parallelism may change while they run. When a job shrinks, its Workload
/// shrinks. When a job grows, it gets a second Workload, a slice, for the larger count. The new
/// slice is charged for the difference, and the first slice ends when the new one has its quota.
/// The added pods wait behind a gate until then (see controllers/elastic_ungater.h).
///
///   slice 1 (2 pods, admitted) ── parallelism 5 ──► slice 2 (5 pods, waiting)
///        │                                              │ gets quota for 3 more
///        └──► Finished WorkloadSliceReplaced            └──► the job's Workload
namespace regatta::jobs {

/// The job is annotated as elastic, and it runs neither on a worker nor under a prebuilt Workload.
bool is_elastic(const JobView& view);

/// The slices, the oldest first. Creation times are whole seconds, and a job may grow faster than
/// that: of two slices with the same time, the newer is the one that replaces the other. `known`
/// are the slices in which these replacements are looked up.
std::vector<WorkloadPtr> by_age(std::vector<WorkloadPtr> slices,
                                const std::vector<WorkloadPtr>& known);

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

/// A larger slice waits to replace the one that the job runs under.
bool grows(const JobView& view);

/// The Workload has quota as a slice that replaces a smaller one; pods of the smaller one run.
bool took_over(const JobView& view, const api::Workload& workload);

/// The metadata of a Workload that was made for the job, marked as its first slice or as its next
/// one.
api::ObjectMeta marked_as_slice(const JobView& view, api::ObjectMeta metadata);

}  // namespace regatta::jobs
