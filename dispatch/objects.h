#pragma once

#include "dispatch/plan.h"
#include "lib/api/workload.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

/// Edits of the objects that actions change, as pure functions.
namespace regatta::dispatch {

/// Reads the MultiKueue check of a Workload into its view.
void read_check(const api::AdmissionCheckState& check, LocalView* view);

/// The Workload for a worker: same namespace and name, labels (with the origin, without the job's
/// uid), annotations and the whole spec, unknown fields included. No owners, finalizers or status.
/// With `gated`, our closed preemption gate replaces the gates of the hub's Workload.
Json remote_copy(const api::Workload& workload, const std::string& origin, bool gated = false);

/// Opens our preemption gate.
void open_gate(api::Workload* copy, TimePoint now);

/// Sets clusterName and the check to Ready, clears the nominations, and sets Admitted when that was
/// the last check, all for one write. False when the Workload is no longer in a state for it.
/// `check` is part of `workload`. `copy` is the winner's and may be null: pod sets that have places
/// in it no longer wait for a topology.
bool record_winner(api::Workload* workload, const api::AdmissionCheckState* check,
                   const RecordWinner& winner, TimePoint now, const api::Workload* copy = nullptr);

/// Sets Retry or Rejected, with the previous state in the message. False when the check says so
/// already.
bool set_check(api::AdmissionCheckState* check, const SetCheck& wanted, TimePoint now);

/// Workers that refused to create the job of a Workload. The Workload's own status remembers them,
/// so that a restart does not forget them. They are passed over for a while after the last refusal.
struct Refusals {
  std::vector<std::string> clusters;
  TimePoint until{};
};
inline constexpr Duration refusal_remembered = std::chrono::minutes(10);
Refusals refusals_of(const api::Workload& workload);
void note_refusal(api::Workload* workload, const std::string& cluster, const std::string& why,
                  TimePoint now);

/// Sets the condition Dispatched; its status follows from the reason. True when anything changed.
bool tell_state(api::Workload* workload, const TellState& state, TimePoint now);

}  // namespace regatta::dispatch
