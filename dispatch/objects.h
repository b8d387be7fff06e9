#pragma once

#include "dispatch/plan.h"
#include "jobs/generic_job.h"
#include "lib/api/workload.h"
#include "lib/base/json.h"

#include <optional>
#include <string>
#include <vector>

/// What the objects that actions change should be afterwards, as pure functions.
namespace regatta::dispatch {

/// The Workload for a worker: same namespace and name, labels (with the origin, without the job's
/// uid), annotations and the whole spec, unknown fields included. No owners, finalizers or status.
/// With `gated`, our closed preemption gate replaces the gates of the hub's Workload. `replaced` is
/// the slice under which the worker runs an elastic job; empty when it runs none yet.
Json remote_copy(const api::Workload& workload, const std::string& origin, bool gated = false,
                 const std::string& replaced = {});

/// Marks an object for a worker with the uid of the object that it is made for, with that of the
/// hub if that is known, and with the name of the MultiKueueCluster.
void stamp(Json* object, const std::string& origin_uid, const std::string& hub_uid,
           const std::string& worker);

/// Marks a copy as made for the present attempt of the Workload.
void stamp_attempt(Json* copy, const api::Workload& workload);
/// The copy was made for an attempt of the Workload that is over: an eviction took its quota, and
/// it has got quota again. The removal of the copy may still be under way, by whatever process sent
/// it.
bool of_earlier_attempt(const api::Workload& copy, const api::Workload& workload);

/// A worker whose copy and job tell different ends is believed about the job. `of_job` is what the
/// hub's job says of its end by now.
FinishLocal believed_end(FinishLocal of_copy, const std::optional<jobs::Finished>& of_job);

/// The status of a copy with our preemption gate open.
api::WorkloadStatus open_gate(const api::Workload& copy, TimePoint now);

/// The status of a copy whose worker is asked to stop the Job in an orderly way.
api::WorkloadStatus deactivate(const api::Workload& copy, const DeactivateRemote& action,
                               TimePoint now);

/// The status with clusterName set, the check Ready, no nominations, and Admitted when that was the
/// last check, all for one write. Nothing when the Workload is no longer in a state for it. `check`
/// is part of `workload` and may be null. `copy` is the winner's and may be null: pod sets that
/// have places in it no longer wait for a topology.
std::optional<api::WorkloadStatus> record_winner(const api::Workload& workload,
                                                 const api::AdmissionCheckState* check,
                                                 const RecordWinner& winner, TimePoint now,
                                                 const api::Workload* copy = nullptr);

/// Of the check and the condition Dispatched, and of the event.
constexpr std::string_view runs_on_hub_message = "The job runs on the hub, as it asks to";

/// The status with the cluster of TakePlace. Nothing when the workload has one, or lost its quota.
std::optional<api::WorkloadStatus> take_place(const api::Workload& workload,
                                              const api::AdmissionCheckState* check,
                                              const TakePlace& place);

/// The same for a job that runs on the hub: without clusterName.
std::optional<api::WorkloadStatus> record_hub(const api::Workload& workload,
                                              const api::AdmissionCheckState* check, TimePoint now);

/// The status with the check Retry or Rejected, and the previous state in its message. Nothing when
/// the check says so already. `check` is part of `workload` and may be null.
std::optional<api::WorkloadStatus> set_check(const api::Workload& workload,
                                             const api::AdmissionCheckState* check,
                                             const SetCheck& wanted, TimePoint now);

/// Workers that refused to create the job of a Workload. The Workload's own status remembers them,
/// so that a restart does not forget them. They are passed over for a while after the last refusal.
struct Refusals {
  std::vector<std::string> clusters;
  TimePoint until{};
};
inline constexpr Duration refusal_remembered = std::chrono::minutes(10);
Refusals refusals_of(const api::Workload& workload);
/// The status with that worker among those that refused the job.
api::WorkloadStatus with_refusal(const api::Workload& workload, const std::string& cluster,
                                 const std::string& why, TimePoint now);

/// The status with the condition Dispatched, whose own status follows from the reason.
api::WorkloadStatus with_state(const api::Workload& workload, const TellState& state,
                               TimePoint now);
/// The same in place; `generation` is the Workload's.
void set_state(api::WorkloadStatus* status, std::int64_t generation, TellState state,
               TimePoint now);

}  // namespace regatta::dispatch
