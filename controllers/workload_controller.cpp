#include "controllers/workload_controller.h"

#include "jobs/elastic.h"
#include "jobs/plan.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lifecycle/read_lifecycle.h"

namespace regatta::controllers {

WorkloadController::WorkloadController(clusters::LocalCluster& cluster, Scheduler& scheduler,
                                       Rng& rng, TaskScope& scope, WorkloadControllerConfig config)
    : cluster_(cluster),
      scheduler_(scheduler),
      scope_(scope),
      config_(config),
      rng_(rng),
      trickle_(config_.tell_bypassed_interval),
      log_(cluster.log.named("workloads")),
      queue_(cluster.clock, scope, Backoff{Duration(20), std::chrono::seconds(30)},
             Intake::closed) {
  cluster_.workloads.on_transition([this](const auto& key, const auto& before, const auto& after) {
    if (!after) {
      trickle_.forget(key);
      repriced_.erase(key);
    }
    if (before && after) tell_cleared_gate(*before, *after);
    queue_.add(key);
  });
  watch_classes();
  cluster_.local_queues.on_transition(
      [this](const auto& key, const auto& before, const auto& after) {
        if (before && after && before->spec == after->spec &&
            before->metadata.deleting() == after->metadata.deleting()) {
          return;
        }
        enqueue_queue(key);
      });
  cluster_.cluster_queues.on_transition(
      [this](const auto& key, const auto& before, const auto& after) {
        const bool same = before && after &&
                          before->metadata.generation == after->metadata.generation &&
                          before->metadata.deleting() == after->metadata.deleting() &&
                          api::is_true(before->status.conditions, api::conditions::active) ==
                              api::is_true(after->status.conditions, api::conditions::active);
        if (same) return;
        for (const auto& queue : cluster_.local_queues.list()) {
          if (queue->spec.cluster_queue == key.name) enqueue_queue(queue->metadata.key());
        }
      });
  // A slice whose job has stopped may have to give back what it has taken over.
  cluster_.jobs.on_transition([this](const jobs::JobId& id, const auto& before, const auto& after) {
    const bool stopped = before && after && before->active() && !after->active();
    if (!stopped || !jobs::is_marked_elastic(*after)) return;
    const std::string owner = clusters::owner_name(id);
    for (const api::ObjectKey& key : cluster_.workloads.keys_by_index(clusters::by_owner, owner)) {
      queue_.add(key);
    }
  });
}

void WorkloadController::enqueue_queue(const api::ObjectKey& local_queue) {
  for (const api::ObjectKey& key :
       cluster_.workloads.keys_by_index(clusters::by_local_queue, local_queue.str())) {
    queue_.add(key);
  }
}

void WorkloadController::start() {
  started_ = true;
  began_ = cluster_.clock.steady();
  queue_.open();
  for (const auto& workload : cluster_.workloads.list()) queue_.add(workload->metadata.key());
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("workloads", work());
}

Task<> WorkloadController::work() {
  for (;;) {
    api::ObjectKey key = co_await queue_.next();
    const Status done = co_await reconcile(key);
    if (queue_.finish(key, done)) {
      log_.warning("workload not reconciled",
                   {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

lifecycle::LifecycleView WorkloadController::view(const api::Workload& workload) const {
  lifecycle::LifecycleView view =
      lifecycle::read_lifecycle(cluster_.objects(), scheduler_.reader(), workload);
  view.leads_for = cluster_.clock.steady() - began_;
  return view;
}

/// An event must do: the scheduler may reserve quota before a status that says so is written.
void WorkloadController::tell_cleared_gate(const api::Workload& before,
                                           const api::Workload& after) {
  const std::string gate(api::annotations::admission_gated_by);
  const bool cleared =
      !before.metadata.annotation(gate).empty() && after.metadata.annotation(gate).empty();
  if (!started_ || !config_.lifecycle.admission_gates || !cleared || lifecycle::is_reserved(before))
    return;
  tell(after, {{false, std::string(api::events::admission_gate_cleared),
                "Admission gate cleared, workload is now admissible"}});
}

void WorkloadController::watch_classes() {
  cluster_.workload_priority_classes.on_transition(
      [this](const auto& key, const auto& before, const auto& after) {
        // A class that is made anew may have another value, too.
        if (!after || (before && before->value == after->value)) return;
        for (const auto& workload : cluster_.workloads.list()) {
          const auto& ref = workload->spec.priority_class_ref;
          if (ref && ref->kind == api::priority::workload_kind && ref->name == key.name) {
            repriced_.insert(workload->metadata.key());
            queue_.add(workload->metadata.key());
          }
        }
      });
}

std::optional<std::int32_t> WorkloadController::new_priority(const api::Workload& workload) const {
  if (!repriced_.contains(workload.metadata.key())) return {};
  const auto& ref = workload.spec.priority_class_ref;
  // A copy of a hub's workload has the hub's priority.
  const bool copy = api::made_on_hub(workload.metadata);
  if (copy || !ref || ref->kind != api::priority::workload_kind || lifecycle::is_finished(workload))
    return {};
  const auto found = cluster_.workload_priority_classes.get(api::ObjectKey(ref->name));
  if (!found || found->value == workload.spec.priority) return {};
  return found->value;
}

bool WorkloadController::may_tell_bypassed(const api::Workload& workload, TimePoint now) {
  const api::ObjectKey key = workload.metadata.key();
  const api::Conditions& conditions = workload.status.conditions;
  if (api::find_condition(conditions, api::conditions::quota_reserved) ||
      lifecycle::is_finished(workload)) {
    return false;
  }
  // Users of a copy look at the hub.
  if (api::made_on_hub(workload.metadata)) return false;
  const TimePoint due =
      workload.metadata.creation_timestamp.value_or(now) + config_.tell_bypassed_after;
  if (due > now) {
    queue_.add_after(key, due - now);
    return false;
  }
  if (scheduler_.reader().bypassed(key).empty()) {
    // The workload still has its turn, but may be bypassed later if the turn takes long to come.
    queue_.add_after(key, 6 * config_.tell_bypassed_after);
    return false;
  }
  if (const auto wait = trickle_.wait(key, now)) {
    queue_.add_after(key, *wait);
    return false;
  }
  return true;
}

Task<Status> WorkloadController::reconcile(api::ObjectKey key) {
  const auto stored = cluster_.workloads.get(key);
  // One that cannot be read is looked at when it can be.
  if (!stored || cluster_.workloads.unreadable(key)) co_return ok();
  const TimePoint now = cluster_.clock.now();
  // A look costs nothing. The lock is only taken for a write.
  lifecycle::LifecycleView seen = view(*stored);
  if (config_.lifecycle.wait_for_pods_ready) seen.jitter = rng_.unit();
  seen.may_tell_bypassed = may_tell_bypassed(*stored, now);
  lifecycle::Settled todo = lifecycle::settle(*stored, seen, now, config_.lifecycle);
  if (todo.look_again) queue_.add_after(key, *todo.look_again);
  const auto priority = new_priority(*stored);
  // This comes before the write, because the class may change again while that is under way.
  repriced_.erase(key);
  if (todo.active || priority) {
    const std::optional<bool> active = todo.active;
    const auto wanted = [active, priority](const api::Workload& workload) {
      api::WorkloadSpec spec = workload.spec;
      if (active) spec.active = *active;
      if (priority) spec.priority = priority;
      return spec;
    };
    const Status done = co_await cluster_.update_spec(stored, wanted);
    if (!done && priority && cluster_.workloads.get(key)) repriced_.insert(key);
    if (!done) co_return done;
  }
  if (todo.status) {
    const Status done = co_await write_status(key, seen, now);
    if (!done) co_return done;
  }
  if (todo.release) {
    const Status done = co_await release(stored);
    if (!done) co_return done;
  }
  if (todo.remove) {
    const Status done = co_await cluster_.remove_workload(stored);
    if (!done) co_return done;
    tell(*stored, std::move(todo.notes));
  }
  co_return co_await finish_replaced(stored);
}

/// The smaller slice of an elastic job is over once the larger one has its quota.
Task<Status> WorkloadController::finish_replaced(jobs::WorkloadPtr slice) {
  const jobs::WorkloadPtr smaller = jobs::find_replaced(cluster_.objects(), *slice);
  if (!smaller || !jobs::keeps_quota(*slice) || !jobs::keeps_quota(*smaller)) co_return ok();
  const std::string& job = slice->metadata.label(std::string(api::labels::job_uid));
  const std::string message = "Replaced to accommodate a workload (UID: " + slice->metadata.uid +
                              ", JobUID: " + job + ") due to workload slice aggregation";
  const std::string reason(api::reasons::workload_slice_replaced);
  const TimePoint now = cluster_.clock.now();
  bool done = false;
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    const bool over = lifecycle::is_finished(workload);
    done = !over || jobs::was_replaced(workload);  // by the job's reconciler
    if (over) return {};
    return lifecycle::finished_status(workload, reason, message, now);
  };
  const Status written = co_await cluster_.update_status(smaller->metadata.key(), wanted);
  if (!written) co_return written.error().code() == Errc::not_found ? ok() : written;
  if (done) tell(*smaller, {{false, reason, message}});
  co_return ok();
}

Task<Status> WorkloadController::write_status(api::ObjectKey key, lifecycle::LifecycleView seen,
                                              TimePoint now) {
  std::vector<lifecycle::Note> notes;
  const auto wanted = [&](const api::Workload& workload) {
    lifecycle::LifecycleView again = view(workload);
    again.jitter = seen.jitter;
    again.may_tell_bypassed = seen.may_tell_bypassed;
    lifecycle::Settled todo = lifecycle::settle(workload, again, now, config_.lifecycle);
    notes = std::move(todo.notes);
    return std::move(todo.status);
  };
  const Status done = co_await cluster_.update_status(key, wanted);
  if (!done) co_return done.error().code() == Errc::not_found ? ok() : done;
  if (const auto written = cluster_.workloads.get(key)) tell(*written, std::move(notes));
  co_return ok();
}

Task<Status> WorkloadController::release(jobs::WorkloadPtr workload) {
  const Status done =
      co_await cluster_.update_metadata(std::move(workload), jobs::released_metadata);
  if (!done && done.error().code() != Errc::not_found) co_return done;
  co_return ok();
}

void WorkloadController::tell(const api::Workload& workload, std::vector<lifecycle::Note> notes) {
  for (lifecycle::Note& note : notes) {
    cluster_.events.event(kube::reference_to(workload),
                          note.warning ? kube::EventType::warning : kube::EventType::normal,
                          std::move(note.reason), std::move(note.message));
  }
}

}  // namespace regatta::controllers
