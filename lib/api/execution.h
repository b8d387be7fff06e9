#pragma once

#include "lib/api/workload.h"

namespace regatta::api {

/// Adds the seconds since it was admitted to accumulatedPastExecutionTimeSeconds; to be called
/// before its Admitted condition becomes false.
void count_execution(Workload* workload, TimePoint now);

/// Admitted=False of one without a reservation, the time it ran counted; whether anything changed.
bool end_admission(Workload* workload, TimePoint now);

}  // namespace regatta::api
