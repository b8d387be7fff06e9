#pragma once

#include "lifecycle/lifecycle.h"

#include <vector>

namespace regatta::lifecycle {

/// Says why an active workload without quota cannot get any, for reasons that the scheduler does
/// not see; takes back what is no longer true. Returns whether the status changed.
bool explain_pending(api::Workload* workload, const LifecycleView& view,
                     const LifecycleConfig& config, TimePoint now, std::vector<Note>* notes);

}  // namespace regatta::lifecycle
