#pragma once

#include "jobs/plan.h"

/// Rules of plan_job() by which a Workload keeps up with its job, and what an end leads to. Each
/// adds at most one action, and says whether that is the turn's: the next look goes on from there.
namespace regatta::jobs {

bool has_reservation(const api::Workload& workload);

/// spec.maximumExecutionTimeSeconds as the job's label asks for it; an Error when it is no number
/// above zero.
Result<std::optional<std::int32_t>> max_execution_seconds(const GenericJob& job);

/// Pods it will not need again give their quota back.
bool follow_reclaimable(std::vector<JobAction>* out, const JobView& view,
                        const WorkloadPtr& workload);

/// A priority class label may change at any time, and so may the value of the class. A prebuilt
/// Workload has the priority of whoever made it.
bool follow_priority(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// The gate annotation may be changed while nothing is reserved, and taken away at any time.
bool follow_gate(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// PodsReady of an admitted Workload.
bool follow_pods(std::vector<JobAction>* out, const JobView& view, const WorkloadPtr& workload);

/// A job that was deactivated by an admission check or a limit is removed after a while.
void retain_deactivated(std::vector<JobAction>* out, const JobView& view,
                        const api::Workload& workload);

/// What its admission checks still wait for.
void tell_checks(std::vector<JobAction>* out, const JobView& view, const api::Workload& workload);

}  // namespace regatta::jobs
