#pragma once

#include "lib/api/workload.h"

namespace regatta::api {

/// Adds the seconds since it was admitted to accumulatedPastExecutionTimeSeconds; to be called
/// before its Admitted condition becomes false.
void count_execution(Workload* workload, TimePoint now);

}  // namespace regatta::api
