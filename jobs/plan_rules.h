#pragma once

#include "jobs/plan.h"

/// Rules of plan_job() by which a Workload follows its job, and rules for the end of a job. Each
/// answers with at most one action, or with nothing when it does not apply. An action of a rule
/// follow_...() ends the turn, and the next look continues from there.
namespace regatta::jobs {

/// The actions that there are, in this order.
std::vector<JobAction> in_order(std::vector<std::optional<JobAction>> actions);

bool has_reservation(const api::Workload& workload);
/// Whether the job is the one of that Workload. One that runs looks as its admission made it; what
/// a ResourceFlavor adds that is missing or cannot be read is not compared.
bool is_as_admitted(const JobView& view, const api::Workload& workload);
/// Its job holds it back.
bool is_on_hold(const api::Workload& workload);

/// spec.maximumExecutionTimeSeconds as the job's label asks for it; an Error when the label is no
/// number above zero.
Result<std::optional<std::int32_t>> max_execution_seconds(const GenericJob& job);

/// The quota of pods that the job will not need again is given back, and taken again when the job
/// needs them after all.
std::optional<JobAction> follow_reclaimable(const JobView& view, const WorkloadPtr& workload);

/// A priority class label may change at any time, and so may the value of the class. A prebuilt
/// Workload keeps the priority that it was made with.
std::optional<JobAction> follow_priority(const JobView& view, const WorkloadPtr& workload);

/// The gate annotation may change while the Workload has no reservation, and be removed at any
/// time.
std::optional<JobAction> follow_gate(const JobView& view, const WorkloadPtr& workload);

/// The condition PodsReady of an admitted Workload follows the pods of the job. One that is not
/// admitted has it where the reservation does not bring it.
std::optional<JobAction> follow_pods(const JobView& view, const WorkloadPtr& workload);

/// Deletes a job some time after an admission check or a limit deactivated it.
std::optional<JobAction> retain_deactivated(const JobView& view, const api::Workload& workload);

/// An event of the job says why no Workload can be made of it.
std::optional<JobAction> tell_obstacle(const JobView& view, const Error& why);

/// An event of the job says what its admission checks still wait for.
std::optional<JobAction> tell_checks(const JobView& view, const api::Workload& workload);

}  // namespace regatta::jobs
