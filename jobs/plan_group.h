#pragma once

#include "jobs/composed_job.h"
#include "jobs/plan.h"

/// Rules of plan_job() for jobs that are made of several objects, and writes to jobs that are the
/// same for these and for single objects.
namespace regatta::jobs {

/// The rules of composed jobs alone; nullopt when the common rules decide.
std::optional<std::vector<JobAction>> plan_group(const JobView& view);

/// Ends what runs of the job, where that is by deletion.
std::optional<JobAction> terminate(const JobView& view, const api::Workload* workload,
                                   std::string message);
/// Lets go of what is kept of the job.
std::optional<JobAction> let_go(const JobPtr& job);
/// Starts what waits of an admitted job, with what is its infos'. A conflict finishes the Workload;
/// members before it are started.
std::vector<JobAction> start_writes(const JobView& view, const WorkloadPtr& workload);

}  // namespace regatta::jobs
