#pragma once

#include "dispatch/plan.h"
#include "lib/api/workload.h"
#include "lib/base/json.h"

#include <string>

/// How the objects themselves change, as pure functions.
namespace regatta::dispatch {

/// What the MultiKueue check of a Workload says, into its view.
void read_check(const api::AdmissionCheckState& check, LocalView* view);

/// The Workload for a worker: same namespace and name, labels (with the origin, without the job's
/// uid), annotations and the whole spec, unknown fields included. No owners, finalizers or status.
/// `gated`: our preemption gate takes the place of the hub's own.
Json remote_copy(const api::Workload& workload, const std::string& origin, bool gated = false);

/// Our preemption gate is open.
void open_gate(api::Workload* copy, TimePoint now);

/// clusterName, the check Ready, nominations cleared, and Admitted when that was the last check:
/// one write. False when the Workload is no longer in a state for it. `check` is `workload`'s own.
/// `copy`: the winner's; what it has places for is no longer waited for. May be null.
bool record_winner(api::Workload* workload, const api::AdmissionCheckState* check,
                   const RecordWinner& winner, TimePoint now, const api::Workload* copy = nullptr);

/// Retry or Rejected, with the previous state in the message. False when it is so already.
bool set_check(api::AdmissionCheckState* check, const SetCheck& wanted, TimePoint now);

}  // namespace regatta::dispatch
