#pragma once

#include "lib/api/workload.h"

namespace regatta::api {

/// Adds the seconds since the workload was admitted to accumulatedPastExecutionTimeSeconds. Call it
/// before the Admitted condition becomes false.
void count_execution(Workload* workload, TimePoint now);

/// Sets Admitted=False on a workload without a reservation, and counts the time for which it was
/// admitted. Returns whether anything changed.
bool end_admission(Workload* workload, TimePoint now);

}  // namespace regatta::api
