#pragma once

#include "dispatch/plan.h"

#include <set>
#include <string>

namespace regatta::dispatch {

/// The cluster where the action stops or removes a Job; null for other actions.
const std::string* stops_job_on(const Action& action);

/// Whether the action waits until the Jobs have stopped that are being stopped or removed on
/// `stopping`. What starts a Job elsewhere, or takes the workload for one that runs nowhere, waits
/// for all of them; its release, for those that may have run it for its quota. What only brings
/// home the state of one worker waits for that worker: another one that is slow to remove what is
/// left there delays no Job. `local` is what the action was planned on.
bool waits_for(const Action& action, const std::set<std::string>& stopping, const LocalView& local);

}  // namespace regatta::dispatch
