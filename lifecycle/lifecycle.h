#pragma once

#include "lib/api/kueue.h"
#include "lib/base/clock.h"
#include "lifecycle/pods_ready.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What happens to a Workload besides scheduling and its job: admission checks, admission itself,
/// evictions, deactivation, requeueing, stopped queues. Pure functions from a Workload to the
/// status that it should have; docs/decisions/wanted-status.md says why they do not answer with
/// actions.
namespace regatta::lifecycle {

struct QueueView {
  bool exists = false;
  bool active = false;
  api::StopPolicy stop_policy = api::StopPolicy::None;
  bool deleting = false;
};

/// What the configuration says about the life of workloads.
struct LifecycleConfig {
  std::optional<PodsReadyPolicy> wait_for_pods_ready;
  /// How long a finished Workload is kept; unset: until a user deletes it.
  std::optional<Duration> retain_finished;
  bool admission_gates = true;    ///< the annotation admission-gated-by counts
  bool preemption_gates = false;  ///< spec.preemptionGates have states in the status
  bool finish_orphans = true;     ///< a workload whose owner is gone is Finished
  bool explicit_status = false;   ///< a workload that had no turn yet says so
};

struct LifecycleView {
  QueueView local_queue;
  QueueView cluster_queue;  ///< to which the LocalQueue leads, or which holds the reservation
  std::string cluster_queue_name;
  /// Names of the admission checks that the workload needs now, sorted; see
  /// admission::StatusReader::required_checks().
  std::vector<std::string> required_checks;
  /// Of those that it has and does not need any more: which may have found the worker that it runs
  /// on.
  std::vector<std::string> kept_checks;
  /// It is a slice that replaces one which was evicted, and nothing runs on that quota any more.
  bool replaces_stopped = false;
  /// The reason for which a workload of the same class did not fit, when this one is parked for it;
  /// see admission::StatusReader::bypassed().
  std::string bypassed;
  /// `bypassed` may be written even if nothing was written before: costs a write.
  bool may_tell_bypassed = false;
  /// In [0, 1), so that backoffs do not end together.
  double jitter = 0;
  /// Since this process began to lead, by the steady clock.
  Duration leads_for = Duration::max();
};

struct Note {
  bool warning = false;
  std::string reason;
  std::string message;
};

/// A status as it should be written, and the events of that write.
struct StatusChange {
  api::WorkloadStatus status;
  std::vector<Note> notes;
};

/// What has to be written.
struct Settled {
  std::optional<api::WorkloadStatus> status;  ///< unset: it stays as it is
  std::optional<bool> active;                 ///< new spec.active
  bool release = false;                       ///< remove the resource-in-use finalizer
  bool remove = false;                        ///< delete the Workload, after the release
  std::optional<Duration> look_again;
  std::vector<Note> notes;
};

/// What brings the Workload as far as it can go now. The rules are numbered in lifecycle.cpp.
/// Reasons and messages are Kueue's.
Settled settle(const api::Workload& workload, const LifecycleView& view, TimePoint now,
               const LifecycleConfig& config = {});

/// Evicted=True, and what goes with it is reset: cluster and nominations, admission checks,
/// preemption gates. The reservation stays until the job has stopped. `cause` may be empty.
StatusChange evict(const api::Workload& workload, std::string_view reason,
                   const std::string& message, TimePoint now, const std::string& cause = {});

/// An eviction in favour of another workload: Preempted=True with that reason, too.
StatusChange preempt(const api::Workload& workload, std::string_view reason,
                     const std::string& message, TimePoint now);

struct Reservation {
  api::Admission admission;
  std::vector<std::string> checks;   ///< names of the admission checks that are needed
  bool wait_for_pods_ready = false;  ///< PodsReady=False is written for a workload of a job
};
/// QuotaReserved=True with that admission, the ends of what an earlier eviction left behind, the
/// checks, and Admitted too when there are none.
api::WorkloadStatus reserve(const api::Workload& workload, Reservation reservation, TimePoint now);

/// The messages of the events of a reservation and of an admission; `waited` is the time since the
/// queueing and since the reservation. `considered`: flavors that fit only with a remark; may be
/// empty.
std::string reserved_message(const std::string& cluster_queue, Duration waited,
                             const std::string& considered = {});
std::string admitted_message(const std::string& cluster_queue, Duration waited);

/// Since when the workload waits for quota: its creation, or its return after an eviction.
TimePoint queued_since(const api::Workload& workload);

/// Other places for the pods of a workload that keeps its reservation: of `places` only the places
/// of its pod sets are taken. Admitted when the workload waited for nothing else.
api::WorkloadStatus place(const api::Workload& workload, const api::Admission& places,
                          TimePoint now);

/// Finished=True with that reason.
api::WorkloadStatus finished_status(const api::Workload& workload, std::string_view reason,
                                    const std::string& message, TimePoint now);

/// QuotaReserved=False with that reason; `gated`: and BlockedOnPreemptionGates=True. Nothing when
/// the status says all that already.
std::optional<api::WorkloadStatus> pending_status(const api::Workload& workload,
                                                  std::string_view reason,
                                                  const std::string& message, bool gated,
                                                  TimePoint now);

bool is_reserved(const api::Workload& workload);
bool is_admitted(const api::Workload& workload);
bool is_finished(const api::Workload& workload);
bool is_evicted(const api::Workload& workload);

}  // namespace regatta::lifecycle
