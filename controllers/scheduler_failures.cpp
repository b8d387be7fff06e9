// The part of the scheduler that deals with writes that failed. What fails once may fail each time:
// a webhook refuses it, or the store lags behind the API. So each failure makes the pause longer
// before the next write for the same Workload, and others may use the quota meanwhile.

#include "controllers/scheduler.h"
#include "lib/kube/status.h"
#include "lifecycle/lifecycle.h"

namespace regatta::controllers {
namespace {

constexpr Backoff pauses{Duration(50), std::chrono::seconds(30)};
constexpr int failures_before_event = 3;

}  // namespace

bool Scheduler::may_come_late(const api::ObjectKey& key, const std::string& version) const {
  const auto stored = cluster_.workloads.get(key);
  return stored && stored->metadata.resource_version == version;
}

Task<Duration> Scheduler::pause_after(api::ObjectKey key, std::string uid, std::string version,
                                      Error failed, std::string event) {
  if (failed.code() == Errc::not_found || cluster_.unsure(key)) co_await cluster_.confirm(key);
  const auto stored = cluster_.workloads.get(key);
  if (!stored || stored->metadata.uid != uid) co_return Duration(0);
  // Another client was faster, or the write has happened. The next decision knows more.
  const bool overtaken = failed.code() == Errc::conflict || kube::may_have_happened(failed);
  if (overtaken && stored->metadata.resource_version != version) co_return Duration(0);
  const int failures = ++failures_[uid];
  if (failures == failures_before_event) note(key, true, std::move(event), failed.what());
  co_return pauses.after(failures);
}

Task<> Scheduler::sit_out(api::ObjectKey key, Duration pause) {
  do {
    co_await cluster_.clock.sleep_for(pause);
  } while (cluster_.workloads.unreadable(key));
}

Task<> Scheduler::give_back(admission::AdmittedWorkload admitted, std::string version,
                            Status written) {
  Duration pause{0};
  if (!written) {
    log_.warning("reservation not written",
                 {{"workload", admitted.key.str()}, {"error", written.error().what()}});
    pause = co_await pause_after(admitted.key, admitted.uid, std::move(version), written.error(),
                                 "ReservationNotWritten");
  }
  reserving_.erase(admitted.uid);
  const auto stored = cluster_.workloads.get(admitted.key);
  const bool same = stored && stored->metadata.uid == admitted.uid;
  const TimePoint now = cluster_.clock.now();
  if (!same || !lifecycle::is_reserved(*stored)) {
    pause > Duration(0) ? state_.set_aside(admitted.key, admitted.uid, now)
                        : state_.forget(admitted.key, admitted.uid, now);
  }
  if (stored) state_.upsert(*stored, now);
  changed();
  if (pause == Duration(0)) co_return;
  co_await sit_out(admitted.key, pause);
  state_.take_back(admitted.key, admitted.uid, cluster_.clock.now());
  changed();
}

Task<> Scheduler::spare(admission::PreemptedWorkload preempted, std::string version, Error failed) {
  log_.warning("preemption not written",
               {{"workload", preempted.key.str()}, {"error", failed.what()}});
  const Duration pause = co_await pause_after(preempted.key, preempted.uid, std::move(version),
                                              failed, "PreemptionNotWritten");
  if (pause > Duration(0)) co_await sit_out(preempted.key, pause);
  preempting_.erase(preempted.uid);
  const auto victim = cluster_.workloads.get(preempted.key);
  if (victim && victim->status.admission) {
    state_.request_reactivation(victim->status.admission->cluster_queue, cluster_.clock.now());
  }
  changed();
}

}  // namespace regatta::controllers
