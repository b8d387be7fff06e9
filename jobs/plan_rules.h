#pragma once

#include "jobs/plan.h"

/// Rules of plan_job() by which a Workload follows its job, and rules for the end of a job. Each
/// adds at most one action. When it returns true, that action ends the turn, and the next look
/// continues from there.
namespace regatta::jobs {

bool has_reservation(const api::Workload& workload);

/// spec.maximumExecutionTimeSeconds as the job's label asks for it; an Error when the label is no
/// number above zero.
Result<std::optional<std::int32_t>> max_execution_seconds(const GenericJob& job);

/// The quota of pods that the job will not need again is given back, and taken again when the job
/// needs them after all.
bool follow_reclaimable(std::vector<JobAction>* out, const JobView& view,
                        const WorkloadPtr& workload);

/// A priority class label may change at any time, and so may the value of the class. A prebuilt
/// Workload keeps the priority that it was made with.
bool follow_priority(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// The gate annotation may change while the Workload has no reservation, and be removed at any
/// time.
bool follow_gate(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// The condition PodsReady of an admitted Workload follows the pods of the job.
bool follow_pods(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// Deletes a job some time after an admission check or a limit deactivated it.
void retain_deactivated(std::vector<JobAction>* out, const JobView& view,
                        const api::Workload& workload);

/// An event of the job says what its admission checks still wait for.
void tell_checks(std::vector<JobAction>* out, const JobView& view, const api::Workload& workload);

}  // namespace regatta::jobs
