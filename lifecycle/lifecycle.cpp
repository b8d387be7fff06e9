#include "lifecycle/lifecycle.h"

#include "admission/cycle.h"
#include "jobs/elastic.h"
#include "jobs/plan.h"
#include "lib/api/check_retries.h"
#include "lib/api/eviction_record.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/api/own_names.h"
#include "lib/api/pods_ready.h"
#include "lib/base/contains.h"
#include "lifecycle/unadmitted.h"

#include <algorithm>

namespace regatta::lifecycle {
namespace {

namespace conditions = api::conditions;
namespace reasons = api::reasons;

/// What one look at a Workload changes: its status as it will be, and what goes with that. The
/// rules below edit it, each on top of what those before it did.
struct Draft {
  Draft(const api::Workload& of, TimePoint at) : workload(of), status(of.status), now(at) {}

  const api::Workload& workload;
  api::WorkloadStatus status;
  TimePoint now;
  Settled out;  ///< all but the status
};

bool holds_quota(const api::WorkloadStatus& status) {
  return api::is_true(status.conditions, conditions::quota_reserved) && status.admission;
}

bool says_admitted(const api::WorkloadStatus& status) {
  return api::is_true(status.conditions, conditions::admitted);
}

bool says_evicted(const api::WorkloadStatus& status) {
  return api::is_true(status.conditions, conditions::evicted);
}

void set(Draft* d, std::string_view type, bool value, std::string_view reason,
         std::string message) {
  api::set_condition(&d->status.conditions,
                     {std::string(type),
                      value ? api::ConditionStatus::True : api::ConditionStatus::False,
                      d->workload.metadata.generation,
                      {},
                      std::string(reason),
                      std::move(message)},
                     d->now);
}

TimePoint seconds(TimePoint t) {
  return std::chrono::floor<std::chrono::seconds>(t);
}

/// "12s", rounded.
std::string seconds_text(Duration d) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(d).count()) + "s";
}

/// Ends a condition that an eviction left behind.
void flip(Draft* d, std::string_view type) {
  const api::Condition* old = api::find_condition(d->status.conditions, type);
  if (!old || old->status != api::ConditionStatus::True) return;
  set(d, type, false, reasons::quota_reserved, "Previously: " + old->message);
}

/// Makes the list of checks exactly `required`; known states are kept. While the workload runs on
/// the worker that one of the checks has found, that check stays, too: it alone can take the
/// workload back. It is one of `kept`.
void sync_checks(Draft* d, const std::vector<std::string>& required,
                 const std::vector<std::string>& kept) {
  std::vector<api::AdmissionCheckState> wanted;
  for (const std::string& name : required) {
    if (const api::AdmissionCheckState* known = api::find_check(d->status, name)) {
      wanted.push_back(*known);
      continue;
    }
    api::AdmissionCheckState fresh;
    fresh.name = name;
    fresh.last_transition_time = seconds(d->now);
    wanted.push_back(std::move(fresh));
  }
  for (const api::AdmissionCheckState& known : d->status.admission_checks) {
    if (contains(kept, known.name)) wanted.push_back(known);
  }
  d->status.admission_checks = std::move(wanted);
}

void look_again(Draft* d, Duration after) {
  d->out.look_again = std::min(d->out.look_again.value_or(after), after);
}

bool all_checks_ready(const api::WorkloadStatus& status) {
  return std::all_of(status.admission_checks.begin(), status.admission_checks.end(),
                     [](const auto& c) { return c.state == api::CheckState::Ready; });
}

bool topology_delayed(const api::WorkloadStatus& status) {
  if (!status.admission) return false;
  const auto& sets = status.admission->pod_set_assignments;
  return std::any_of(sets.begin(), sets.end(),
                     [](const auto& s) { return s.delayed_topology_request == "Pending"; });
}

bool may_be_admitted(const api::WorkloadStatus& status) {
  return holds_quota(status) && all_checks_ready(status) && !topology_delayed(status);
}

/// `"a" (its message); "b"`: the checks in that state, as one text.
std::string list_checks(const api::WorkloadStatus& status, api::CheckState state, int* count) {
  std::string out;
  for (const api::AdmissionCheckState& check : status.admission_checks) {
    if (check.state != state) continue;
    ++*count;
    out += (out.empty() ? "\"" : "; \"") + check.name + "\"";
    if (!check.message.empty()) out += " (" + check.message + ")";
  }
  return out;
}

std::string checks_text(const char* state, const std::string& list, int count) {
  return std::string(count > 1 ? "AdmissionChecks" : "AdmissionCheck") + " in " + state +
         " state: " + list;
}

/// Says why the workload is not admitted, unless nothing was said about its reservation either.
void explain_not_admitted(Draft* d) {
  const bool told = api::find_condition(d->status.conditions, conditions::quota_reserved) ||
                    api::find_condition(d->status.conditions, conditions::admitted);
  if (!told) return;
  if (!holds_quota(d->status)) {
    api::end_admission(&d->status, d->workload.metadata.generation, d->now);
    return;
  }
  const bool ready = all_checks_ready(d->status);
  const auto reason =
      ready ? reasons::pending_delayed_topology_requests : reasons::unsatisfied_admission_checks;
  const api::Condition* said = api::find_condition(d->status.conditions, conditions::admitted);
  if (said && said->reason == reason) return;
  set(d, conditions::admitted, false, reason,
      ready ? "There are pending delayed topology requests"
            : "The workload has not all checks ready");
}

/// "Admitted by ClusterQueue cq, wait time since reservation was 3s".
std::string admitted_text(const Draft& d) {
  const api::Condition* reserved =
      api::find_condition(d.status.conditions, conditions::quota_reserved);
  return admitted_message(d.status.admission->cluster_queue,
                          d.now - reserved->last_transition_time);
}

/// Only an eviction ends an admission: a check that was added later does not.
void sync_admitted(Draft* d) {
  if (says_admitted(d->status) && holds_quota(d->status)) return;
  if (!may_be_admitted(d->status)) return explain_not_admitted(d);
  d->out.notes.push_back({false, "Admitted", admitted_text(*d)});
  set(d, conditions::admitted, true, reasons::admitted, "The workload is admitted");
}

/// When the checks in state Retry may be tried again.
std::optional<TimePoint> retry_at(const api::WorkloadStatus& status) {
  std::optional<TimePoint> latest;
  for (const api::AdmissionCheckState& check : status.admission_checks) {
    if (check.state != api::CheckState::Retry || !check.requeue_after_seconds) continue;
    const TimePoint at =
        check.last_transition_time + std::chrono::seconds(*check.requeue_after_seconds);
    if (!latest || at > *latest) latest = at;
  }
  return latest;
}

/// Keeps the workload out of the queue until `at`, or longer if that was asked for already.
void wait_until(Draft* d, TimePoint at) {
  auto& state = d->status.requeue_state;
  if (at <= d->now || (state && state->requeue_at && *state->requeue_at >= at)) return;
  if (!state) state.emplace();
  state->requeue_at = at;
}

void reset_checks(Draft* d) {
  for (api::AdmissionCheckState& check : d->status.admission_checks) {
    if (check.state == api::CheckState::Pending) continue;
    // Counts tries in a row: a check that was Ready in between begins anew.
    const bool again = check.state == api::CheckState::Retry;
    check.retry_count = again ? std::optional(api::retries_of(check) + 1) : std::nullopt;
    check.message = api::reset_prefix;
    check.message += text_of(check.state);
    check.state = api::CheckState::Pending;
    check.last_transition_time = seconds(d->now);
    check.pod_set_updates.clear();
  }
}

/// A check that became Retry after the workload lost its quota: no eviction is left that would
/// reset it, and the scheduler never takes a workload with such a check.
void reset_late_retry(Draft* d) {
  const auto& checks = d->status.admission_checks;
  const bool late = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
    return check.state == api::CheckState::Retry;
  });
  if (!late || holds_quota(d->status)) return;
  if (const auto at = retry_at(d->status)) wait_until(d, seconds(*at));
  reset_checks(d);
}

/// What MultiKueue told about a try that is over; `reason` is why. Of a try that had a worker this
/// is what remembers it.
void end_dispatch(Draft* d, std::string_view reason, const std::string& message,
                  bool had_worker = false) {
  const auto& told = d->status.conditions;
  if (!had_worker && !api::find_condition(told, conditions::dispatched)) return;
  set(d, conditions::dispatched, false, reason, message);
}

/// Sets QuotaReserved=False with that reason, unless it says so already.
void set_pending(Draft* d, std::string_view reason, const std::string& message) {
  const api::Condition* old = api::find_condition(d->status.conditions, conditions::quota_reserved);
  if (old && old->status == api::ConditionStatus::False && old->reason == reason &&
      old->message == message) {
    return;
  }
  set(d, conditions::quota_reserved, false, reason, message);
  explain_not_admitted(d);
}

void evict(Draft* d, std::string_view reason, const std::string& message,
           const std::string& cause = {}) {
  api::WorkloadStatus& status = d->status;
  // Other causes appear only in the statistics.
  const bool told = reason == reasons::deactivated && !cause.empty();
  const std::string full =
      told ? std::string(reasons::deactivated_due_to) + cause : std::string(reason);
  const auto from = status.cluster_name ? status.cluster_name : api::evicted_from(status);
  set(d, conditions::evicted, true, full, message);
  if (api::is_true(status.conditions, conditions::blocked_on_preemption_gates)) {
    set(d, conditions::blocked_on_preemption_gates, false, full, message);
  }
  status.cluster_name.reset();
  status.nominated_cluster_names.clear();
  end_dispatch(d, full, from ? api::evicted_from_text(*from, message) : message, from.has_value());
  reset_checks(d);
  status.unhealthy_nodes.clear();
  for (api::PreemptionGateState& gate : status.preemption_gates) {
    if (gate.position == "Closed") continue;
    gate.position = "Closed";
    gate.last_transition_time = seconds(d->now);
  }
  const auto known = std::find_if(
      status.evictions.begin(), status.evictions.end(),
      [&](const auto& e) { return e.reason == reason && e.underlying_cause == cause; });
  if (known != status.evictions.end()) {
    ++known->count;
  } else {
    status.evictions.push_back({std::string(reason), cause, 1});
  }
  d->out.notes.push_back({false, std::string(api::events::evicted_due_to) + full, message});
}

/// Drops a reservation that never became an admission. No worker has the workload.
void unreserve(Draft* d, std::string_view reason, std::string message) {
  d->status.admission.reset();
  d->status.nominated_cluster_names.clear();
  end_dispatch(d, reason, message);
  set(d, conditions::quota_reserved, false, reason, std::move(message));
  explain_not_admitted(d);
}

bool orphaned(const api::Workload& w) {
  const bool from_job = !w.metadata.label(std::string(api::labels::job_uid)).empty();
  return w.metadata.owner_references.empty() && (w.metadata.deleting() || from_job);
}

/// Brings an active workload back into the queue.
void requeue(Draft* d) {
  auto& state = d->status.requeue_state;
  if (state && state->requeue_at) {
    if (*state->requeue_at > d->now) {
      look_again(d, *state->requeue_at - d->now);
      return;
    }
    if (!holds_quota(d->status)) {
      state->requeue_at.reset();
      if (!state->count) state.reset();
    }
  }
  const api::Condition* requeued = api::find_condition(d->status.conditions, conditions::requeued);
  if (!requeued || requeued->status != api::ConditionStatus::False) return;
  if (requeued->reason == reasons::deactivated ||
      requeued->reason.starts_with(reasons::deactivated_due_to)) {
    set(d, conditions::requeued, true, reasons::reactivated, "The workload was reactivated");
  } else if (requeued->reason == reasons::pods_ready_timeout ||
             requeued->reason == reasons::admission_check) {
    set(d, conditions::requeued, true, reasons::backoff_finished,
        "The workload backoff was finished");
  }
}

/// The queue was stopped and takes workloads again.
void restart(Draft* d, const LifecycleView& view) {
  const api::Condition* requeued = api::find_condition(d->status.conditions, conditions::requeued);
  if (!requeued || requeued->status != api::ConditionStatus::False) return;
  const auto open = [](const QueueView& queue) {
    return queue.exists && queue.stop_policy == api::StopPolicy::None;
  };
  if (requeued->reason == reasons::local_queue_stopped && open(view.local_queue)) {
    set(d, conditions::requeued, true, reasons::local_queue_restarted,
        "The LocalQueue was restarted after being stopped");
  } else if (requeued->reason == reasons::cluster_queue_stopped && open(view.cluster_queue)) {
    set(d, conditions::requeued, true, reasons::cluster_queue_restarted,
        "The ClusterQueue was restarted after being stopped");
  }
}

/// The larger size of an elastic job, which has the quota of the smaller one. The copy of a first
/// slice replaces "_", which is none.
bool replaces_slice(const api::Workload& w) {
  const std::string& smaller = jobs::replaced_slice(w);
  return !smaller.empty() && !smaller.ends_with("/_");
}

/// Evicted and stopping: only the job can end this. A copy of a hub's Workload that no job has
/// taken has none to be stopped, and none that could start.
void stop(Draft* d) {
  const api::Workload& w = d->workload;
  const bool untaken = api::made_on_hub(w.metadata) && w.metadata.owner_references.empty();
  if (!untaken || replaces_slice(w) || !holds_quota(d->status)) return;
  api::Workload stopped = w;
  stopped.status = std::move(d->status);
  d->status = jobs::drop_reservation(stopped, d->now);
}

/// spec.active is false: the workload must not hold quota.
void deactivate(Draft* d) {
  const api::Condition* target =
      api::find_condition(d->status.conditions, conditions::deactivation_target);
  if (says_evicted(d->status) && !target) {
    stop(d);
    if (holds_quota(d->status)) return;
    const auto* evicted = api::find_condition(d->status.conditions, conditions::evicted);
    if (evicted->reason.starts_with(reasons::deactivated)) {
      return set_pending(d, reasons::deactivated, evicted->message);
    }
  }
  std::string cause, message = "The workload is deactivated";
  if (target && target->status == api::ConditionStatus::True) {
    cause = target->reason;
    message += " due to " + target->message;
  }
  std::erase_if(d->status.conditions,
                [](const auto& c) { return c.type == conditions::deactivation_target; });
  d->status.requeue_state.reset();
  const bool reserved = holds_quota(d->status);
  const std::size_t told = d->out.notes.size();
  evict(d, reasons::deactivated, message, cause);
  if (reserved) return;
  d->out.notes.resize(told);  // no quota was lost
  set_pending(d, reasons::deactivated, message);
}

/// The workload ran as long as it may, over all its attempts.
void limit_execution(Draft* d) {
  const auto end = api::may_run_until(d->workload.spec, d->status);
  if (!end) return;
  if (*end > d->now) return look_again(d, *end - d->now);
  d->status.accumulated_past_execution_time_seconds.reset();
  d->out.notes.push_back({true, std::string(reasons::maximum_execution_time_exceeded),
                          "The maximum execution time (" +
                              std::to_string(*d->workload.spec.maximum_execution_time_seconds) +
                              "s) exceeded"});
  set(d, conditions::deactivation_target, true, reasons::maximum_execution_time_exceeded,
      "exceeding the maximum execution time");
}

/// A rejection is final, and also counts when it comes after the quota was lost. True when there is
/// one.
bool obey_rejection(Draft* d) {
  int count = 0;
  const std::string list = list_checks(d->status, api::CheckState::Rejected, &count);
  if (count == 0) return false;
  const std::string message = checks_text("Rejected", list, count);
  d->out.notes.push_back(
      {true, std::string(api::events::admission_check_rejected), "Deactivated due to " + message});
  set(d, conditions::deactivation_target, true, reasons::admission_check, message);
  return true;
}

/// The workload took its quota over from a smaller slice of its job, whose pods run; an eviction
/// has stopped them.
bool runs_as_larger_slice(const api::Workload& w) {
  return replaces_slice(w) && w.status.evictions.empty();
}

/// Checks a workload that holds quota for failed checks and stopped queues. True when that decides.
bool guard_reservation(Draft* d, const LifecycleView& view) {
  int count = 0;
  if (const std::string list = list_checks(d->status, api::CheckState::Retry, &count); count > 0) {
    if (const auto at = retry_at(d->status)) wait_until(d, seconds(*at));
    evict(d, reasons::admission_check, "Evicted due to " + checks_text("Retry", list, count));
    return true;
  }
  // What has a worker may run there before it counts as admitted.
  const bool runs = says_admitted(d->status) || d->status.cluster_name.has_value() ||
                    (runs_as_larger_slice(d->workload) && !view.replaces_stopped);
  const auto drained = [&](const QueueView& queue) {
    return queue.exists && queue.stop_policy == api::StopPolicy::HoldAndDrain;
  };
  if (runs && drained(view.local_queue)) {
    evict(d, reasons::local_queue_stopped, "The LocalQueue is stopped");
    return true;
  }
  if (runs && drained(view.cluster_queue)) {
    evict(d, reasons::cluster_queue_stopped, "The ClusterQueue is stopped");
    return true;
  }
  // With all checks ready it is about to be admitted, and no queue has a say in that.
  if (runs || may_be_admitted(d->status)) return false;
  const std::string lq = "LocalQueue " + d->workload.spec.queue_name;
  const std::string cq = "ClusterQueue " + view.cluster_queue_name;
  if (!view.local_queue.exists) {
    unreserve(d, reasons::misconfigured, lq + " is terminating or missing");
  } else if (view.local_queue.stop_policy != api::StopPolicy::None) {
    unreserve(d, reasons::suspended, lq + " is stopped");
  } else if (!view.cluster_queue.exists || view.cluster_queue.deleting) {
    unreserve(d, reasons::misconfigured, cq + " is terminating or missing");
  } else if (view.cluster_queue.stop_policy != api::StopPolicy::None) {
    unreserve(d, reasons::suspended, cq + " is stopped");
  } else {
    return false;
  }
  return true;
}

/// The pods were not ready in time: try again later, or give up. True when that decides.
bool time_out(Draft* d, const PodsReadyPolicy& policy, const LifecycleView& view) {
  const auto waiting = not_ready(d->status, policy);
  if (!waiting) return false;
  // The pods may have become ready while no process led, and the job may not have told it yet.
  const Duration left = std::max(waiting->deadline - d->now, waiting->limit / 3 - view.leads_for);
  if (left > Duration(0)) {
    look_again(d, left);
    return false;
  }
  if (tries_used_up(d->status, policy)) {
    set(d, conditions::deactivation_target, true, reasons::requeuing_limit_exceeded,
        "exceeding the maximum number of re-queuing retries");
    return true;
  }
  d->status.requeue_state = back_off(d->status.requeue_state, policy, view.jitter, d->now);
  evict(d, reasons::pods_ready_timeout,
        "Exceeded the PodsReady timeout " + d->workload.metadata.key().str(),
        std::string(waiting->cause));
  return true;
}

/// Keeps a state for each gate of the spec, and for no other; new gates are closed.
void sync_preemption_gates(Draft* d) {
  auto& states = d->status.preemption_gates;
  const auto& names = d->workload.spec.preemption_gates;
  std::erase_if(states, [&](const api::PreemptionGateState& state) {
    return std::find(names.begin(), names.end(), state.name) == names.end();
  });
  for (const std::string& name : names) {
    const bool known = std::any_of(states.begin(), states.end(),
                                   [&](const auto& state) { return state.name == name; });
    if (!known) states.push_back({name, "Closed", seconds(d->now)});
  }
}

/// Removes a finished workload when it was kept for as long as configured.
void retain(Draft* d, const LifecycleConfig& config) {
  const api::Workload& w = d->workload;
  if (!config.retain_finished || w.metadata.deleting()) return;
  // How a copy ended is news for its hub, which removes it then. A job may still name a slice that
  // was replaced here.
  if (api::made_on_hub(w.metadata)) return;
  const api::Condition* end = api::find_condition(w.status.conditions, conditions::finished);
  const TimePoint until = end->last_transition_time + *config.retain_finished;
  if (until > d->now) return look_again(d, until - d->now);
  d->out.release = w.metadata.has_finalizer(api::finalizers::resource_in_use);
  d->out.remove = true;
  d->out.notes.push_back({false, std::string(api::events::deleted),
                          "Deleted finished workload due to elapsed retention"});
}

/// The rules of settle().
void apply_rules(Draft* d, const LifecycleView& view, const LifecycleConfig& config) {
  const api::Workload& w = d->workload;
  // 1. Finished: nothing changes any more, and after a while the workload is deleted.
  if (is_finished(w)) {
    d->out.release = w.metadata.deleting() && orphaned(w);
    return retain(d, config);
  }
  // 2. The owner is gone.
  if (orphaned(w)) {
    if (config.finish_orphans) {
      set(d, conditions::finished, true, reasons::owner_not_found,
          "The workload's owner no longer exists");
    }
    d->out.release = true;
    return;
  }
  // 3. To be deactivated: the spec first, the rest follows.
  if (w.spec.active && api::is_true(w.status.conditions, conditions::deactivation_target)) {
    d->out.active = false;
    return;
  }
  // 4. Inactive.
  if (!w.spec.active) return deactivate(d);
  if (config.preemption_gates) sync_preemption_gates(d);
  // 5. Back into the queue after an eviction.
  reset_late_retry(d);
  const bool reserved = holds_quota(w.status);
  if (!says_evicted(w.status) || !reserved) {
    requeue(d);
    restart(d, view);
  }
  // 6. The checks that the workload needs, and whether it is admitted. Without a reservation and
  // without checks, the reservation's own write sets them. A queue that does not exist has no say
  // about checks.
  const bool sync = reserved || !w.status.admission_checks.empty();
  if (sync && view.cluster_queue.exists) sync_checks(d, view.required_checks, view.kept_checks);
  // 7. Evicted and stopping.
  if (reserved && says_evicted(w.status)) return stop(d);
  if (obey_rejection(d)) return;
  if (reserved) {
    if (guard_reservation(d, view)) return;
  } else if (auto why = explain_pending(w, view, config)) {
    if (why->note) d->out.notes.push_back(std::move(*why->note));
    set_pending(d, why->reason, why->message);
  }
  sync_admitted(d);
  // 8. How long the pods may take to be ready.
  if (config.wait_for_pods_ready && time_out(d, *config.wait_for_pods_ready, view)) return;
  // 9. How long the workload may run.
  limit_execution(d);
}

void take_places(const api::Admission& from, api::Admission* to) {
  for (api::PodSetAssignment& assignment : to->pod_set_assignments) {
    for (const api::PodSetAssignment& placed : from.pod_set_assignments) {
      if (placed.name != assignment.name) continue;
      assignment.topology_assignment = placed.topology_assignment;
      assignment.delayed_topology_request = placed.delayed_topology_request;
    }
  }
}

}  // namespace

bool is_reserved(const api::Workload& w) {
  return holds_quota(w.status);
}
bool is_admitted(const api::Workload& w) {
  return says_admitted(w.status);
}
bool is_finished(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::finished);
}
bool is_evicted(const api::Workload& w) {
  return says_evicted(w.status);
}

Settled settle(const api::Workload& workload, const LifecycleView& view, TimePoint now,
               const LifecycleConfig& config) {
  Draft draft(workload, now);
  apply_rules(&draft, view, config);
  Settled out = std::move(draft.out);
  if (draft.status != workload.status) out.status = std::move(draft.status);
  return out;
}

StatusChange evict(const api::Workload& workload, std::string_view reason,
                   const std::string& message, TimePoint now, const std::string& cause) {
  Draft draft(workload, now);
  evict(&draft, reason, message, cause);
  return {std::move(draft.status), std::move(draft.out.notes)};
}

StatusChange preempt(const api::Workload& workload, std::string_view reason,
                     const std::string& message, TimePoint now) {
  Draft draft(workload, now);
  evict(&draft, reasons::preempted, message);
  set(&draft, conditions::preempted, true, reason, message);
  return {std::move(draft.status), std::move(draft.out.notes)};
}

api::WorkloadStatus reserve(const api::Workload& workload, Reservation reservation, TimePoint now) {
  Draft draft(workload, now);
  api::WorkloadStatus& status = draft.status;
  const std::string queue = reservation.admission.cluster_queue;
  status.admission = std::move(reservation.admission);
  status.resource_requests.clear();  // the admission says what is used
  set(&draft, conditions::quota_reserved, true, reasons::quota_reserved,
      "Quota reserved in ClusterQueue " + queue);
  for (const std::string_view type :
       {conditions::evicted, conditions::preempted, conditions::blocked_on_preemption_gates}) {
    flip(&draft, type);
  }
  end_dispatch(&draft, reasons::racing, "Worker clusters are asked to admit the workload");
  sync_checks(&draft, reservation.checks, {});
  sync_admitted(&draft);
  if (reservation.wait_for_pods_ready && workload.metadata.controller()) {
    api::set_pods_ready(&status, workload.metadata.generation, api::PodsReadiness::wait_for_start,
                        now);
  }
  return std::move(draft.status);
}

api::WorkloadStatus place(const api::Workload& workload, const api::Admission& places,
                          TimePoint now) {
  Draft draft(workload, now);
  // The usage in `places` may lack what was reclaimed; read back, it would be taken off again.
  if (draft.status.admission) take_places(places, &*draft.status.admission);
  draft.status.unhealthy_nodes.clear();
  sync_admitted(&draft);
  return std::move(draft.status);
}

api::WorkloadStatus finished_status(const api::Workload& workload, std::string_view reason,
                                    const std::string& message, TimePoint now) {
  Draft draft(workload, now);
  set(&draft, conditions::finished, true, reason, message);
  return std::move(draft.status);
}

std::optional<api::WorkloadStatus> pending_status(const api::Workload& workload,
                                                  std::string_view reason,
                                                  const std::string& message, bool gated,
                                                  TimePoint now) {
  Draft draft(workload, now);
  set_pending(&draft, reason, message);
  if (gated) {
    set(&draft, conditions::blocked_on_preemption_gates, true, reasons::preemption_gated, message);
  }
  if (draft.status == workload.status) return std::nullopt;
  return std::move(draft.status);
}

std::string reserved_message(const std::string& cluster_queue, Duration waited,
                             const std::string& considered) {
  return admission::quota_reserved_message(cluster_queue) + ", wait time since queued was " +
         seconds_text(waited) + (considered.empty() ? "" : "; Flavors considered: ") + considered;
}

std::string admitted_message(const std::string& cluster_queue, Duration waited) {
  return "Admitted by ClusterQueue " + cluster_queue + ", wait time since reservation was " +
         seconds_text(waited);
}

TimePoint queued_since(const api::Workload& w) {
  const api::Condition* back = api::find_condition(w.status.conditions, conditions::requeued);
  if (back && back->status == api::ConditionStatus::True) return back->last_transition_time;
  return w.metadata.creation_timestamp.value_or(TimePoint());
}

}  // namespace regatta::lifecycle
