#pragma once

#include "lib/api/workload.h"

namespace regatta::api {

/// Sets Admitted=False in the status of a workload without a reservation, and adds the seconds for
/// which it was admitted to accumulatedPastExecutionTimeSeconds. `generation` is the workload's.
/// Returns whether anything changed.
bool end_admission(WorkloadStatus* status, std::int64_t generation, TimePoint now);

/// Until when an admitted workload with a maximum execution time may run; nullopt for others.
std::optional<TimePoint> may_run_until(const WorkloadSpec& spec, const WorkloadStatus& status);

/// A larger slice of an elastic job goes on with the seconds for which the one that it replaces was
/// admitted.
void inherit_execution(WorkloadStatus* status, const WorkloadStatus& replaced, TimePoint now);

}  // namespace regatta::api
