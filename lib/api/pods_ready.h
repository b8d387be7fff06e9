#pragma once

#include "lib/api/workload.h"

#include <cstdint>

namespace regatta::api {

/// What the PodsReady condition says.
enum class PodsReadiness : std::uint8_t { wait_for_start, started, wait_for_recovery, recovered };

/// What the condition of an admitted workload has to say, given what it says now and whether all
/// pods are ready.
PodsReadiness next_readiness(const Workload& workload, bool ready);

/// Writes `readiness` into the condition. `generation` is the workload's. Returns whether the
/// status or the reason of the condition changed.
bool set_pods_ready(WorkloadStatus* status, std::int64_t generation, PodsReadiness readiness,
                    TimePoint now);

}  // namespace regatta::api
