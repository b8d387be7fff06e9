#pragma once

#include "lib/api/kueue.h"
#include "lib/base/clock.h"
#include "lifecycle/pods_ready.h"

#include <optional>
#include <string>
#include <vector>

/// What happens to a Workload besides scheduling and its job: admission checks, admission itself,
/// evictions, deactivation, requeueing, stopped queues. Pure functions on the Workload.
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
  /// The reason for which a workload of the same class did not fit, when this one is parked for it;
  /// see admission::StatusReader::bypassed().
  std::string bypassed;
  /// `bypassed` may be written even if nothing was written before: costs a write.
  bool may_tell_bypassed = false;
  /// In [0, 1), so that backoffs do not end together.
  double jitter = 0;
};

struct Note {
  bool warning = false;
  std::string reason;
  std::string message;
};

/// What has to be written besides the status, which settle() edited.
struct Settled {
  bool status_changed = false;
  std::optional<bool> active;  ///< new spec.active
  bool release = false;        ///< remove the resource-in-use finalizer
  bool remove = false;         ///< delete the Workload, after the release
  std::optional<Duration> look_again;
  std::vector<Note> notes;
};

/// Brings the status of `workload` as far as it can go now. The rules are numbered in
/// lifecycle.cpp. Reasons and messages are Kueue's.
Settled settle(api::Workload* workload, const LifecycleView& view, TimePoint now,
               const LifecycleConfig& config = {});

/// Sets Evicted=True and resets what goes with it: cluster and nominations, admission checks,
/// preemption gates. The reservation stays until the job has stopped. `cause` may be empty.
void evict(api::Workload* workload, const std::string& reason, const std::string& message,
           const std::string& cause, TimePoint now, std::vector<Note>* notes);

/// Sets QuotaReserved=True with that admission, ends what an earlier eviction left behind, sets the
/// checks, and Admitted too when there are none.
void reserve(api::Workload* workload, api::Admission admission,
             const std::vector<std::string>& checks, TimePoint now);

/// The messages of the events of a reservation and of an admission; `waited` is the time since the
/// queueing and since the reservation. `considered`: flavors that fit only with a remark; may be
/// empty.
std::string reserved_message(const std::string& cluster_queue, Duration waited,
                             const std::string& considered = {});
std::string admitted_message(const std::string& cluster_queue, Duration waited);

/// Since when the workload waits for quota: its creation, or its return after an eviction.
TimePoint queued_since(const api::Workload& workload);

/// Gives the pods of a workload that keeps its reservation other places. Sets Admitted when the
/// workload waited for nothing else.
void place(api::Workload* workload, api::Admission admission, TimePoint now);

/// Sets QuotaReserved=False with that reason. True when anything changed.
bool set_pending(api::Workload* workload, const std::string& reason, const std::string& message,
                 TimePoint now);

/// Sets BlockedOnPreemptionGates=True. True when anything changed.
bool block_on_gates(api::Workload* workload, const std::string& message, TimePoint now);

bool is_reserved(const api::Workload& workload);
bool is_admitted(const api::Workload& workload);
bool is_finished(const api::Workload& workload);
bool is_evicted(const api::Workload& workload);

}  // namespace regatta::lifecycle
