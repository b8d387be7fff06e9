#include "lifecycle/lifecycle.h"

#include "admission/cycle.h"
#include "lib/api/check_retries.h"
#include "lib/api/dispatch_names.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lifecycle/unadmitted.h"

#include <algorithm>

namespace regatta::lifecycle {
namespace {

namespace conditions = api::conditions;
namespace reasons = api::reasons;

bool set(api::Workload* w, std::string_view type, bool value, std::string_view reason,
         std::string message, TimePoint now) {
  return api::set_condition(&w->status.conditions,
                            {std::string(type),
                             value ? api::ConditionStatus::True : api::ConditionStatus::False,
                             w->metadata.generation,
                             {},
                             std::string(reason),
                             std::move(message)},
                            now);
}

bool remove_condition(api::Workload* w, std::string_view type) {
  return std::erase_if(w->status.conditions, [type](const auto& c) { return c.type == type; }) > 0;
}

TimePoint seconds(TimePoint t) {
  return std::chrono::floor<std::chrono::seconds>(t);
}

/// "12s", rounded.
std::string seconds_text(Duration d) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(d).count()) + "s";
}

/// Ends a condition that an eviction left behind.
void flip(api::Workload* w, std::string_view type, TimePoint now) {
  const api::Condition* old = api::find_condition(w->status.conditions, type);
  if (!old || old->status != api::ConditionStatus::True) return;
  set(w, type, false, reasons::quota_reserved, "Previously: " + old->message, now);
}

/// Makes the list of checks exactly `required`; known states are kept. While the workload runs on
/// the worker that one of the checks has found, that check stays, too: it alone can take the
/// workload back.
bool sync_checks(api::Workload* w, const std::vector<std::string>& required, TimePoint now) {
  std::vector<api::AdmissionCheckState> wanted;
  for (const std::string& name : required) {
    if (const api::AdmissionCheckState* known = api::find_check(w->status, name)) {
      wanted.push_back(*known);
      continue;
    }
    api::AdmissionCheckState fresh;
    fresh.name = name;
    fresh.last_transition_time = seconds(now);
    wanted.push_back(std::move(fresh));
  }
  for (const api::AdmissionCheckState& known : w->status.admission_checks) {
    const bool asked = std::find(required.begin(), required.end(), known.name) != required.end();
    if (w->status.cluster_name && !asked) wanted.push_back(known);
  }
  if (wanted == w->status.admission_checks) return false;
  w->status.admission_checks = std::move(wanted);
  return true;
}

void look_again(Settled* out, Duration after) {
  out->look_again = out->look_again ? std::min(*out->look_again, after) : after;
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
bool explain_not_admitted(api::Workload* w, TimePoint now) {
  const bool told = api::find_condition(w->status.conditions, conditions::quota_reserved) ||
                    api::find_condition(w->status.conditions, conditions::admitted);
  if (!told) return false;
  if (!is_reserved(*w)) return api::end_admission(w, now);
  const bool ready = all_checks_ready(w->status);
  const auto reason =
      ready ? reasons::pending_delayed_topology_requests : reasons::unsatisfied_admission_checks;
  const api::Condition* said = api::find_condition(w->status.conditions, conditions::admitted);
  if (said && said->reason == reason) return false;
  return set(w, conditions::admitted, false, reason,
             ready ? "There are pending delayed topology requests"
                   : "The workload has not all checks ready",
             now);
}

/// "Admitted by ClusterQueue cq, wait time since reservation was 3s".
std::string admitted_text(const api::Workload& w, TimePoint now) {
  const api::Condition* reserved =
      api::find_condition(w.status.conditions, conditions::quota_reserved);
  return admitted_message(w.status.admission->cluster_queue, now - reserved->last_transition_time);
}

/// Only an eviction ends an admission: a check that was added later does not.
bool sync_admitted(api::Workload* w, TimePoint now, std::vector<Note>* notes) {
  if (is_admitted(*w) && is_reserved(*w)) return false;
  const bool complete =
      is_reserved(*w) && all_checks_ready(w->status) && !topology_delayed(w->status);
  if (!complete) return explain_not_admitted(w, now);
  notes->push_back({false, "Admitted", admitted_text(*w, now)});
  return set(w, conditions::admitted, true, reasons::admitted, "The workload is admitted", now);
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
void wait_until(api::Workload* w, TimePoint at, TimePoint now) {
  auto& state = w->status.requeue_state;
  if (at <= now || (state && state->requeue_at && *state->requeue_at >= at)) return;
  if (!state) state.emplace();
  state->requeue_at = at;
}

void reset_checks(api::WorkloadStatus* status, TimePoint now) {
  for (api::AdmissionCheckState& check : status->admission_checks) {
    if (check.state == api::CheckState::Pending) continue;
    // Counts tries in a row: a check that was Ready in between begins anew.
    const bool again = check.state == api::CheckState::Retry;
    check.retry_count = again ? std::optional(api::retries_of(check) + 1) : std::nullopt;
    check.message = "Reset to Pending after eviction. Previously: ";
    check.message += text_of(check.state);
    check.state = api::CheckState::Pending;
    check.last_transition_time = seconds(now);
    check.pod_set_updates.clear();
  }
}

/// A check that became Retry after the workload was evicted, or after it lost its quota: no
/// eviction is left that would reset it, and the scheduler never takes a workload with such a
/// check.
bool reset_late_retry(api::Workload* w, TimePoint now) {
  const auto& checks = w->status.admission_checks;
  const bool late = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
    return check.state == api::CheckState::Retry;
  });
  if (!late || is_reserved(*w) || !is_evicted(*w)) return false;
  if (const auto at = retry_at(w->status)) wait_until(w, seconds(*at), now);
  reset_checks(&w->status, now);
  return true;
}

/// What MultiKueue told about a try that is over; `reason` is why.
void end_dispatch(api::Workload* w, std::string_view reason, const std::string& message,
                  TimePoint now) {
  if (!api::find_condition(w->status.conditions, conditions::dispatched)) return;
  set(w, conditions::dispatched, false, reason, message, now);
}

/// Drops a reservation that never became an admission.
void unreserve(api::Workload* w, std::string_view reason, std::string message, TimePoint now) {
  w->status.admission.reset();
  // A check that is Ready for a cluster must not outlive the cluster.
  if (w->status.cluster_name) reset_checks(&w->status, now);
  w->status.cluster_name.reset();
  w->status.nominated_cluster_names.clear();
  end_dispatch(w, reason, message, now);
  set(w, conditions::quota_reserved, false, reason, std::move(message), now);
  explain_not_admitted(w, now);
}

bool orphaned(const api::Workload& w) {
  const bool from_job = !w.metadata.label(std::string(api::labels::job_uid)).empty();
  return w.metadata.owner_references.empty() && (w.metadata.deleting() || from_job);
}

/// Brings an active workload back into the queue. True when the status changed.
bool requeue(api::Workload* w, TimePoint now, Settled* out) {
  bool changed = false;
  auto& state = w->status.requeue_state;
  if (state && state->requeue_at) {
    if (*state->requeue_at > now) {
      look_again(out, *state->requeue_at - now);
      return false;
    }
    if (!is_reserved(*w)) {
      state->requeue_at.reset();
      if (!state->count) state.reset();
      changed = true;
    }
  }
  const api::Condition* requeued = api::find_condition(w->status.conditions, conditions::requeued);
  if (!requeued || requeued->status != api::ConditionStatus::False) return changed;
  if (requeued->reason == reasons::deactivated ||
      requeued->reason.starts_with(reasons::deactivated_due_to)) {
    return set(w, conditions::requeued, true, reasons::reactivated, "The workload was reactivated",
               now) ||
           changed;
  }
  if (requeued->reason == reasons::pods_ready_timeout ||
      requeued->reason == reasons::admission_check) {
    return set(w, conditions::requeued, true, reasons::backoff_finished,
               "The workload backoff was finished", now) ||
           changed;
  }
  return changed;
}

/// The queue was stopped and takes workloads again.
bool restart(api::Workload* w, const LifecycleView& view, TimePoint now) {
  const api::Condition* requeued = api::find_condition(w->status.conditions, conditions::requeued);
  if (!requeued || requeued->status != api::ConditionStatus::False) return false;
  const auto open = [](const QueueView& queue) {
    return queue.exists && queue.stop_policy == api::StopPolicy::None;
  };
  if (requeued->reason == reasons::local_queue_stopped && open(view.local_queue)) {
    return set(w, conditions::requeued, true, reasons::local_queue_restarted,
               "The LocalQueue was restarted after being stopped", now);
  }
  if (requeued->reason == reasons::cluster_queue_stopped && open(view.cluster_queue)) {
    return set(w, conditions::requeued, true, reasons::cluster_queue_restarted,
               "The ClusterQueue was restarted after being stopped", now);
  }
  return false;
}

/// spec.active is false: the workload must not hold quota.
bool deactivate(api::Workload* w, TimePoint now, Settled* out) {
  const api::Condition* target =
      api::find_condition(w->status.conditions, conditions::deactivation_target);
  const api::Condition* evicted = api::find_condition(w->status.conditions, conditions::evicted);
  if (is_evicted(*w) && !target) {
    // The job is still stopping.
    if (is_reserved(*w)) return false;
    if (evicted->reason.starts_with(reasons::deactivated)) {
      return set_pending(w, std::string(reasons::deactivated), evicted->message, now);
    }
  }
  std::string cause, message = "The workload is deactivated";
  if (target && target->status == api::ConditionStatus::True) {
    cause = target->reason;
    message += " due to " + target->message;
  }
  remove_condition(w, conditions::deactivation_target);
  w->status.requeue_state.reset();
  const bool reserved = is_reserved(*w);
  std::vector<Note> untold;  // dropped: no quota was lost
  evict(w, std::string(reasons::deactivated), message, cause, now,
        reserved ? &out->notes : &untold);
  if (!reserved) set_pending(w, std::string(reasons::deactivated), message, now);
  return true;
}

/// The workload ran as long as it may, over all its attempts.
bool limit_execution(api::Workload* w, TimePoint now, Settled* out) {
  const auto& limit = w->spec.maximum_execution_time_seconds;
  if (!limit || !is_admitted(*w)) return false;
  const api::Condition* admitted = api::find_condition(w->status.conditions, conditions::admitted);
  const std::chrono::seconds past(w->status.accumulated_past_execution_time_seconds.value_or(0));
  const TimePoint end = admitted->last_transition_time + std::chrono::seconds(*limit) - past;
  if (end > now) {
    look_again(out, end - now);
    return false;
  }
  w->status.accumulated_past_execution_time_seconds.reset();
  out->notes.push_back({true, std::string(reasons::maximum_execution_time_exceeded),
                        "The maximum execution time (" + std::to_string(*limit) + "s) exceeded"});
  return set(w, conditions::deactivation_target, true, reasons::maximum_execution_time_exceeded,
             "exceeding the maximum execution time", now);
}

/// Checks a workload that holds quota for failed checks and stopped queues.
bool guard_reservation(api::Workload* w, const LifecycleView& view, TimePoint now, Settled* out) {
  int count = 0;
  if (const std::string list = list_checks(w->status, api::CheckState::Rejected, &count);
      count > 0) {
    const std::string message = checks_text("Rejected", list, count);
    out->notes.push_back({true, std::string(api::events::admission_check_rejected),
                          "Deactivated due to " + message});
    return set(w, conditions::deactivation_target, true, reasons::admission_check, message, now);
  }
  if (const std::string list = list_checks(w->status, api::CheckState::Retry, &count); count > 0) {
    if (const auto at = retry_at(w->status)) wait_until(w, seconds(*at), now);
    evict(w, std::string(reasons::admission_check),
          "Evicted due to " + checks_text("Retry", list, count), "", now, &out->notes);
    return true;
  }
  const bool admitted = is_admitted(*w);
  const auto drained = [&](const QueueView& queue) {
    return queue.exists && queue.stop_policy == api::StopPolicy::HoldAndDrain;
  };
  if (admitted && drained(view.local_queue)) {
    evict(w, std::string(reasons::local_queue_stopped), "The LocalQueue is stopped", "", now,
          &out->notes);
    return true;
  }
  if (admitted && drained(view.cluster_queue)) {
    evict(w, std::string(reasons::cluster_queue_stopped), "The ClusterQueue is stopped", "", now,
          &out->notes);
    return true;
  }
  if (admitted) return false;
  const std::string lq = "LocalQueue " + w->spec.queue_name;
  const std::string cq = "ClusterQueue " + view.cluster_queue_name;
  if (!view.local_queue.exists) {
    unreserve(w, reasons::misconfigured, lq + " is terminating or missing", now);
  } else if (view.local_queue.stop_policy != api::StopPolicy::None) {
    unreserve(w, reasons::suspended, lq + " is stopped", now);
  } else if (!view.cluster_queue.exists || view.cluster_queue.deleting) {
    unreserve(w, reasons::misconfigured, cq + " is terminating or missing", now);
  } else if (view.cluster_queue.stop_policy != api::StopPolicy::None) {
    unreserve(w, reasons::suspended, cq + " is stopped", now);
  } else {
    return false;
  }
  return true;
}

/// The pods were not ready in time: try again later, or give up.
bool time_out(api::Workload* w, const PodsReadyPolicy& policy, double jitter, TimePoint now,
              Settled* out) {
  const auto waiting = not_ready(*w, policy);
  if (!waiting) return false;
  if (waiting->deadline > now) {
    look_again(out, waiting->deadline - now);
    return false;
  }
  if (tries_used_up(*w, policy)) {
    return set(w, conditions::deactivation_target, true, reasons::requeuing_limit_exceeded,
               "exceeding the maximum number of re-queuing retries", now);
  }
  back_off(w, policy, jitter, now);
  evict(w, std::string(reasons::pods_ready_timeout),
        "Exceeded the PodsReady timeout " + w->metadata.key().str(), std::string(waiting->cause),
        now, &out->notes);
  return true;
}

/// Keeps a state for each gate of the spec, and for no other; new gates are closed.
bool sync_preemption_gates(api::Workload* w, TimePoint now) {
  auto& states = w->status.preemption_gates;
  const auto& names = w->spec.preemption_gates;
  bool changed = std::erase_if(states, [&](const api::PreemptionGateState& state) {
                   return std::find(names.begin(), names.end(), state.name) == names.end();
                 }) > 0;
  for (const std::string& name : names) {
    const bool known = std::any_of(states.begin(), states.end(),
                                   [&](const auto& state) { return state.name == name; });
    if (known) continue;
    states.push_back({name, "Closed", seconds(now)});
    changed = true;
  }
  return changed;
}

/// Removes a finished workload when it was kept for as long as configured.
void retain(const api::Workload& w, const LifecycleConfig& config, TimePoint now, Settled* out) {
  if (!config.retain_finished || w.metadata.deleting()) return;
  const api::Condition* end = api::find_condition(w.status.conditions, conditions::finished);
  const TimePoint until = end->last_transition_time + *config.retain_finished;
  if (until > now) return look_again(out, until - now);
  out->release = w.metadata.has_finalizer(api::finalizers::resource_in_use);
  out->remove = true;
  out->notes.push_back({false, std::string(api::events::deleted),
                        "Deleted finished workload due to elapsed retention"});
}

}  // namespace

bool is_reserved(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::quota_reserved) && w.status.admission;
}
bool is_admitted(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::admitted);
}
bool is_finished(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::finished);
}
bool is_evicted(const api::Workload& w) {
  return api::is_true(w.status.conditions, conditions::evicted);
}

bool set_pending(api::Workload* w, const std::string& reason, const std::string& message,
                 TimePoint now) {
  const api::Condition* old = api::find_condition(w->status.conditions, conditions::quota_reserved);
  if (old && old->status == api::ConditionStatus::False && old->reason == reason &&
      old->message == message) {
    return false;
  }
  set(w, conditions::quota_reserved, false, reason, message, now);
  explain_not_admitted(w, now);
  return true;
}

bool block_on_gates(api::Workload* w, const std::string& message, TimePoint now) {
  return set(w, conditions::blocked_on_preemption_gates, true, reasons::preemption_gated, message,
             now);
}

void evict(api::Workload* w, const std::string& reason, const std::string& message,
           const std::string& cause, TimePoint now, std::vector<Note>* notes) {
  api::WorkloadStatus& status = w->status;
  // Other causes appear only in the statistics.
  const bool told = reason == reasons::deactivated && !cause.empty();
  const std::string full = told ? std::string(reasons::deactivated_due_to) + cause : reason;
  set(w, conditions::evicted, true, full, message, now);
  if (api::is_true(status.conditions, conditions::blocked_on_preemption_gates)) {
    set(w, conditions::blocked_on_preemption_gates, false, full, message, now);
  }
  status.cluster_name.reset();
  status.nominated_cluster_names.clear();
  end_dispatch(w, full, message, now);
  reset_checks(&status, now);
  status.unhealthy_nodes.clear();
  for (api::PreemptionGateState& gate : status.preemption_gates) {
    if (gate.position == "Closed") continue;
    gate.position = "Closed";
    gate.last_transition_time = seconds(now);
  }
  const auto known = std::find_if(
      status.evictions.begin(), status.evictions.end(),
      [&](const auto& e) { return e.reason == reason && e.underlying_cause == cause; });
  if (known != status.evictions.end()) {
    ++known->count;
  } else {
    status.evictions.push_back({reason, cause, 1});
  }
  notes->push_back({false, std::string(api::events::evicted_due_to) + full, message});
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

void reserve(api::Workload* w, api::Admission admission, const std::vector<std::string>& checks,
             TimePoint now) {
  const std::string queue = admission.cluster_queue;
  w->status.admission = std::move(admission);
  w->status.resource_requests.clear();  // the admission says what is used
  set(w, conditions::quota_reserved, true, reasons::quota_reserved,
      "Quota reserved in ClusterQueue " + queue, now);
  for (const std::string_view type :
       {conditions::evicted, conditions::preempted, conditions::blocked_on_preemption_gates}) {
    flip(w, type, now);
  }
  end_dispatch(w, reasons::racing, "Worker clusters are asked to admit the workload", now);
  sync_checks(w, checks, now);
  std::vector<Note> ignored;
  sync_admitted(w, now, &ignored);
}

void place(api::Workload* w, api::Admission admission, TimePoint now) {
  w->status.admission = std::move(admission);
  w->status.unhealthy_nodes.clear();
  std::vector<Note> ignored;
  sync_admitted(w, now, &ignored);
}

Settled settle(api::Workload* w, const LifecycleView& view, TimePoint now,
               const LifecycleConfig& config) {
  Settled out;
  // 1. Finished: nothing changes any more, and after a while the workload is deleted.
  if (is_finished(*w)) {
    out.release = w->metadata.deleting() && orphaned(*w);
    retain(*w, config, now, &out);
    return out;
  }
  // 2. The owner is gone.
  if (orphaned(*w)) {
    out.status_changed =
        config.finish_orphans && set(w, conditions::finished, true, reasons::owner_not_found,
                                     "The workload's owner no longer exists", now);
    out.release = true;
    return out;
  }
  // 3. To be deactivated: the spec first, the rest follows.
  if (w->spec.active && api::is_true(w->status.conditions, conditions::deactivation_target)) {
    out.active = false;
    return out;
  }
  // 4. Inactive.
  if (!w->spec.active) {
    out.status_changed = deactivate(w, now, &out);
    return out;
  }
  if (config.preemption_gates) out.status_changed |= sync_preemption_gates(w, now);
  // 5. Back into the queue after an eviction.
  out.status_changed |= reset_late_retry(w, now);
  if (!is_evicted(*w) || !is_reserved(*w)) {
    out.status_changed |= requeue(w, now, &out);
    out.status_changed |= restart(w, view, now);
  }
  // 6. The checks that the workload needs, and whether it is admitted. Without a reservation and
  // without checks, the reservation's own write sets them. A queue that does not exist has no say
  // about checks.
  const bool sync = is_reserved(*w) || !w->status.admission_checks.empty();
  if (sync && view.cluster_queue.exists) {
    out.status_changed |= sync_checks(w, view.required_checks, now);
  }
  // 7. Evicted and stopping: only the job can end this.
  if (is_reserved(*w) && is_evicted(*w)) return out;
  if (is_reserved(*w)) {
    if (guard_reservation(w, view, now, &out)) {
      out.status_changed = true;
      return out;
    }
  } else {
    out.status_changed |= explain_pending(w, view, config, now, &out.notes);
  }
  out.status_changed |= sync_admitted(w, now, &out.notes);
  // 8. How long the pods may take to be ready.
  if (config.wait_for_pods_ready &&
      time_out(w, *config.wait_for_pods_ready, view.jitter, now, &out)) {
    out.status_changed = true;
    return out;
  }
  // 9. How long the workload may run.
  out.status_changed |= limit_execution(w, now, &out);
  return out;
}

}  // namespace regatta::lifecycle
