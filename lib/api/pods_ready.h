#pragma once

#include "lib/api/workload.h"

#include <cstdint>

namespace regatta::api {

/// What the PodsReady condition says.
enum class PodsReadiness : std::uint8_t { wait_for_start, started, wait_for_recovery, recovered };

/// What it has to say of an admitted workload, given what it says and whether all pods are ready.
PodsReadiness next_readiness(const Workload& workload, bool ready);

/// Writes that into the condition; whether its status or reason changed.
bool set_pods_ready(Workload* workload, PodsReadiness readiness, TimePoint now);

}  // namespace regatta::api
