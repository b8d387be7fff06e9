#pragma once

#include "admission/status_reader.h"
#include "jobs/lookup.h"
#include "lifecycle/lifecycle.h"

namespace regatta::lifecycle {

/// What settle() needs to know about the queues of a Workload. `jitter` and `may_tell_bypassed` are
/// the caller's to set. Pure.
LifecycleView read_lifecycle(const jobs::Lookup& objects, const admission::StatusReader& admission,
                             const api::Workload& workload);

}  // namespace regatta::lifecycle
