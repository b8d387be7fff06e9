#pragma once

#include "jobs/plan.h"

/// Elastic jobs: parallelism may change while they run. A smaller job shrinks its Workload; a
/// larger one gets a second Workload, a slice, for the larger count. That is charged for the
/// difference, and the first one ends when it has its quota. The pods that came with the change
/// wait behind a gate until then (see controllers/elastic_ungater.h).
///
///   slice 1 (2 pods, admitted) ── parallelism 5 ──► slice 2 (5 pods, waiting)
///        │                                              │ gets quota for 3 more
///        └──► Finished WorkloadSliceReplaced            └──► the job's Workload
namespace regatta::jobs {

/// The job says so, and is not run elsewhere or under a prebuilt Workload.
bool is_elastic(const JobView& view);

/// Puts the oldest first. Times of creation are cut to whole seconds, and a job may grow faster: of
/// two with the same time, the one that replaces the other, as `known` tells, is the newer.
void sort_by_age(std::vector<WorkloadPtr>* slices, const std::vector<WorkloadPtr>& known);

struct Slices {
  /// The one the job runs under: with quota, or else the newest. Null: there is none.
  WorkloadPtr current;
  /// The one whose count follows the job: `current`, or the slice that shall replace it.
  WorkloadPtr latest;
  std::vector<WorkloadPtr> stale;  ///< neither
};
/// Of the job's Workloads that are not finished.
Slices slices_of(const JobView& view);

/// The Workload the job runs under, as for any other job; null when what it asks for is no longer
/// a matter of counts.
WorkloadPtr matching_slice(const JobView& view);

/// What slices need, besides what every Workload needs. At most one turn's actions.
std::vector<JobAction> plan_slices(const JobView& view);

/// A larger slice waits beside the one the job runs under.
bool grows(const JobView& view);

/// It has quota in the place of a smaller slice whose pods run.
bool took_over(const JobView& view, const api::Workload& workload);

/// Marks a Workload made for the job as its first slice, or the next one.
void mark_slice(const JobView& view, api::Workload* workload);

}  // namespace regatta::jobs
