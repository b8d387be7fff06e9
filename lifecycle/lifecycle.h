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
  /// How long a finished Workload is kept; none: until somebody deletes it.
  std::optional<Duration> retain_finished;
  bool admission_gates = true;    ///< the annotation admission-gated-by counts
  bool preemption_gates = false;  ///< spec.preemptionGates have states in the status
  bool finish_orphans = true;     ///< a workload whose owner is gone is Finished
  bool explicit_status = false;   ///< a workload nobody has looked at says so
};

struct LifecycleView {
  QueueView local_queue;
  QueueView cluster_queue;  ///< the one the LocalQueue leads to, or that holds the reservation
  std::string cluster_queue_name;
  /// Names of the admission checks it needs now, sorted; see admission::State::required_checks().
  std::vector<std::string> required_checks;
  /// Why one like it did not fit, when it is parked for that; see admission::State::bypassed().
  std::string bypassed;
  /// It may say so although nothing has been said of it yet: costs a write.
  bool may_tell_bypassed = false;
  /// In [0, 1), for backoffs that must not end together.
  double jitter = 0;
};

struct Note {
  bool warning = false;
  std::string reason;
  std::string message;
};

/// What has to be written, besides the status that settle() edited.
struct Settled {
  bool status_changed = false;
  std::optional<bool> active;  ///< new spec.active
  bool release = false;        ///< remove the resource-in-use finalizer
  bool remove = false;         ///< delete the Workload, after the release
  std::optional<Duration> look_again;
  std::vector<Note> notes;
};

/// Brings the status of `workload` as far as it can go now. Rules are numbered in lifecycle.cpp;
/// A Kueue user finds the reasons and messages he knows.
Settled settle(api::Workload* workload, const LifecycleView& view, TimePoint now,
               const LifecycleConfig& config = {});

/// Evicted=True and everything that is reset with it: cluster and nominations, admission checks,
/// preemption gates. The reservation stays until the job has stopped. `cause` may be empty.
void evict(api::Workload* workload, const std::string& reason, const std::string& message,
           const std::string& cause, TimePoint now, std::vector<Note>* notes);

/// QuotaReserved=True with that admission; flips what an earlier eviction left behind, sets the
/// checks, and Admitted too when there are none.
void reserve(api::Workload* workload, api::Admission admission,
             const std::vector<std::string>& checks, TimePoint now);

/// The events of a reservation, so long after the queueing, and of an admission, so long after the
/// reservation.
/// `considered`: flavors that were not simply good; may be empty.
std::string reserved_message(const std::string& cluster_queue, Duration waited,
                             const std::string& considered = {});
std::string admitted_message(const std::string& cluster_queue, Duration waited);

/// Since when it waits for quota: its creation, or its return after an eviction.
TimePoint queued_since(const api::Workload& workload);

/// Other places for the pods of a workload that keeps its reservation; Admitted when that was all
/// it waited for.
void place(api::Workload* workload, api::Admission admission, TimePoint now);

/// QuotaReserved=False with that reason; whether anything changed.
bool set_pending(api::Workload* workload, const std::string& reason, const std::string& message,
                 TimePoint now);

/// BlockedOnPreemptionGates=True; whether anything changed.
bool block_on_gates(api::Workload* workload, const std::string& message, TimePoint now);

bool is_reserved(const api::Workload& workload);
bool is_admitted(const api::Workload& workload);
bool is_finished(const api::Workload& workload);
bool is_evicted(const api::Workload& workload);

}  // namespace regatta::lifecycle
