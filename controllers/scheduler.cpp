#include "controllers/scheduler.h"

#include "jobs/elastic.h"
#include "jobs/read_job.h"
#include "lib/api/execution.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/kube/status.h"
#include "lib/runtime/deadline.h"
#include "lifecycle/lifecycle.h"

namespace regatta::controllers {

namespace {

constexpr Duration shortest_pause{4};
constexpr Duration longest_pause{1000};
/// An API server gives a request up after a minute.
constexpr Duration late_writes_max = std::chrono::minutes(2);
constexpr Backoff unknown_writes{Duration(50), std::chrono::seconds(10)};

/// "; preemptor effective priority: 5 (base: 5, boost: 0)".
std::string priority_text(const char* whose, const api::Workload* workload) {
  const std::string priority = std::to_string(workload ? workload->spec.priority.value_or(0) : 0);
  return std::string("; ") + whose + " effective priority: " + priority + " (base: " + priority +
         ", boost: 0)";
}

}  // namespace

bool holds_its_quota(const api::Workload& workload, const std::string& uid) {
  return workload.metadata.uid == uid && lifecycle::is_reserved(workload) &&
         !lifecycle::is_finished(workload) && !lifecycle::is_evicted(workload);
}

Scheduler::Scheduler(clusters::LocalCluster& cluster, TaskScope& scope, SchedulerConfig config)
    : cluster_(cluster),
      scope_(scope),
      config_(std::move(config)),
      log_(cluster.log.named("scheduler")),
      state_(config_.admission),
      claims_(
          cluster, scope,
          [this](const api::Workload& workload, const std::string& pod_set) {
            return state_.taken_for_a_pod(workload.metadata.key(), pod_set);
          },
          [this](const api::ObjectKey& key) {
            if (const auto pod = cluster_.pods.get(key)) count(*pod);
            changed();
          }),
      unwritten_(cluster.clock, scope),
      work_(scope.executor()) {
  watch_objects();
  watch_places();
  watch_pod_defaults();
}

void Scheduler::watch_objects() {
  Clock& clock = cluster_.clock;
  cluster_.namespaces.on_transition([this](const auto& key, const auto&, const auto& after) {
    after ? state_.upsert(*after) : state_.erase_namespace(key.name);
    changed();
  });
  cluster_.flavors.on_transition([this](const auto& key, const auto&, const auto& after) {
    after ? state_.upsert(*after) : state_.erase_flavor(key.name);
    changed();
  });
  cluster_.checks.on_transition([this](const auto& key, const auto&, const auto& after) {
    after ? state_.upsert(*after) : state_.erase_check(key.name);
    changed();
  });
  cluster_.cohorts.on_transition([this, &clock](const auto& key, const auto&, const auto& after) {
    after ? state_.upsert(*after, clock.now()) : state_.erase_cohort(key.name, clock.now());
    changed();
  });
  cluster_.cluster_queues.on_transition([this, &clock](const auto& key, const auto& before,
                                                       const auto& after) {
    // Status writes are our own and say nothing new.
    if (before && after && before->metadata.generation == after->metadata.generation &&
        before->metadata.deleting() == after->metadata.deleting()) {
      return;
    }
    after ? state_.upsert(*after, clock.now()) : state_.erase_cluster_queue(key.name, clock.now());
    changed();
  });
  cluster_.local_queues.on_transition(
      [this, &clock](const auto& key, const auto& before, const auto& after) {
        if (before && after && before->metadata.generation == after->metadata.generation &&
            before->metadata.deleting() == after->metadata.deleting()) {
          return;
        }
        after ? state_.upsert(*after, clock.now()) : state_.erase_local_queue(key);
        changed();
      });
  cluster_.workloads.on_transition(
      [this, &clock](const auto& key, const auto& before, const auto& after) {
        after ? upsert(*after) : state_.erase_workload(key, clock.now());
        if (!after) {
          pending_.erase(key);
          failures_.erase(before->metadata.uid);
        }
        changed();
      });
}

void Scheduler::upsert(const api::Workload& workload) {
  const TimePoint now = cluster_.clock.now();
  state_.upsert(workload, now);
  if (workload.status.reclaimable_pods.empty() || !jobs::is_slice(workload)) return;
  const jobs::JobPtr job = jobs::owner_of(cluster_.objects(), workload);
  if (job && jobs::has_recounted(*job, workload)) state_.note_recount(workload, now);
}

void Scheduler::watch_pod_defaults() {
  cluster_.limit_ranges.on_transition([this](const auto& key, const auto&, const auto& after) {
    read_again(after ? state_.upsert(*after) : state_.erase_limit_range(key));
  });
  cluster_.runtime_classes.on_transition([this](const auto& key, const auto&, const auto& after) {
    read_again(after ? state_.upsert(*after) : state_.erase_runtime_class(key.name));
  });
}

void Scheduler::read_again(const std::vector<api::ObjectKey>& workloads) {
  const TimePoint now = cluster_.clock.now();
  for (const api::ObjectKey& key : workloads) {
    if (const auto workload = cluster_.workloads.get(key)) state_.upsert(*workload, now);
  }
  if (!workloads.empty()) changed();
}

void Scheduler::changed() {
  ++events_;
  work_.notify_all();
  for (const auto& handler : changes_handlers_) handler();
}

void Scheduler::start() {
  started_ = true;
  // Their jobs may have come after them.
  for (const auto& workload : cluster_.workloads.list()) {
    const bool given_back = !workload->status.reclaimable_pods.empty();
    if (given_back && jobs::is_slice(*workload)) upsert(*workload);
  }
  claims_.start();
  scope_.spawn("scheduler", run());
  for (int i = 0; i < 4; ++i) scope_.spawn("pending", write_pending_conditions());
}

bool Scheduler::idle() const {
  return writing_ == 0 && !has_work() && unwritten_.idle();
}

bool Scheduler::has_work() const {
  // A workload that lost a node comes first: its pods may be the ones that all others wait for.
  if (state_.places_due()) return true;
  return state_.has_heads() && !(blocked_ && state_.not_ready() > 0);
}

Task<> Scheduler::wait_for_work() {
  const auto due = state_.next_flush();
  if (!due) {
    co_await work_.wait();
  } else {
    co_await finishes_before(cluster_.clock, cluster_.clock.steady_at(*due), work_.wait());
  }
}

Task<> Scheduler::run() {
  Duration pause = shortest_pause;
  for (;;) {
    const std::uint64_t seen = events_;
    const TimePoint now = cluster_.clock.now();
    state_.flush(now);
    if (!has_work()) {
      co_await wait_for_work();
      continue;
    }
    const SteadyPoint begun = cluster_.clock.steady();
    const admission::CycleResult result = admission::run_cycle(state_, now);
    blocked_ = result.blocked;
    if (config_.on_cycle) {
      config_.on_cycle(CycleSeen{result.settled(), cluster_.clock.steady() - begun,
                                 result.skipped_preemptors, result.recomputed});
    }
    const bool progressed = apply(result, now);
    // Other coroutines have a turn between two cycles.
    co_await cluster_.clock.sleep_for(Duration(progressed ? 0 : 2));
    if (progressed || events_ != seen) {
      pause = shortest_pause;
      continue;
    }
    // The cycle made no progress, and only an event can change that. A look now and then costs
    // little.
    const SteadyPoint until = cluster_.clock.steady() + pause;
    co_await finishes_before(cluster_.clock, until, work_.wait());
    pause = std::min(2 * pause, longest_pause);
  }
}

bool Scheduler::apply(const admission::CycleResult& result, TimePoint now) {
  for (const admission::AdmittedWorkload& admitted : result.admitted) {
    ++writing_;
    reserving_.try_emplace(admitted.uid, false);
    pending_.erase(admitted.key);
    scope_.spawn("reserve", reserve(admitted));
  }
  bool progressed = result.settled();
  for (const admission::PreemptedWorkload& preempted : result.preempted) {
    // What can be preempted is what is written. The victim's reservation may yet fail.
    if (const auto found = reserving_.find(preempted.uid); found != reserving_.end()) {
      found->second = true;
      continue;
    }
    // Each cycle decides the same for the preemptor until its victims are evicted.
    if (!preempting_.insert(preempted.uid).second) continue;
    progressed = true;
    ++writing_;
    scope_.spawn("preempt", preempt(preempted));
  }
  for (const admission::PendingWorkload& pending : result.pending) {
    pending_[pending.key] = pending;
    const auto workload = cluster_.workloads.get(pending.key);
    const Duration age = workload && workload->metadata.creation_timestamp
                             ? now - *workload->metadata.creation_timestamp
                             : Duration(0);
    unwritten_.add_after(pending.key,
                         age > config_.explain_after ? Duration(100) : config_.explain_after);
  }
  apply_places(result);
  if (progressed) changed();
  return progressed;
}

Task<> Scheduler::reserve(admission::AdmittedWorkload admitted) {
  const TimePoint now = cluster_.clock.now();
  bool done = false;
  std::string version;
  const clusters::Wanted<api::WorkloadStatus> wanted =
      [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    done = false;
    version = workload.metadata.resource_version;
    // What asks for something else by now is decided on anew.
    const bool same = workload.metadata.uid == admitted.uid &&
                      workload.metadata.generation == admitted.generation;
    if (!same || !admission::is_admissible(workload)) return {};
    done = true;
    api::WorkloadStatus status = lifecycle::reserve(
        workload, {admitted.admission, admitted.checks, config_.wait_for_pods_ready}, now);
    const auto before = cluster_.workloads.get(admitted.replaces);
    const bool limited = workload.spec.maximum_execution_time_seconds.has_value();
    if (before && limited) api::inherit_execution(&status, before->status, now);
    if (config_.nominate_first) config_.nominate_first(workload, &status);
    return status;
  };
  const Status written = co_await write_until_known(admitted.key, wanted, version);
  --writing_;
  if (!written || !done) {
    co_await give_back(std::move(admitted), std::move(version), written);
    co_return;
  }
  failures_.erase(admitted.uid);
  const auto in_flight = reserving_.extract(admitted.uid);
  if (in_flight && in_flight.mapped()) changed();
  const auto workload = cluster_.workloads.get(admitted.key);
  if (!workload) co_return;
  const bool whole = lifecycle::is_admitted(*workload);
  // The hub has the events of its workload. Its copy here gets one event for one write.
  const bool copy = api::made_on_hub(workload->metadata);
  if (!copy || !whole) {
    const Duration waited = now - lifecycle::queued_since(*workload);
    note(admitted.key, false, "QuotaReserved",
         lifecycle::reserved_message(admitted.cluster_queue, waited, admitted.considered));
  }
  if (whole) {
    note(admitted.key, false, "Admitted",
         lifecycle::admitted_message(admitted.cluster_queue, Duration(0)));
  }
  if (config_.on_reserved) config_.on_reserved(*workload, whole);
}

Task<Status> Scheduler::write_until_known(const api::ObjectKey& key,
                                          const clusters::Wanted<api::WorkloadStatus>& wanted,
                                          const std::string& version) {
  const SteadyPoint until = cluster_.clock.steady() + late_writes_max;
  Status written = co_await cluster_.update_status(key, wanted);
  bool unanswered = false;
  for (int tries = 1; !written; ++tries) {
    const bool may_have_happened = kube::may_have_happened(written.error());
    unanswered |= may_have_happened && !written.error().details();
    if (!may_have_happened && !unanswered) break;
    co_await find_out(key);
    // What a later write is told says nothing about the one that is still under way.
    const bool late = unanswered && may_come_late(key, version);
    if (!late || cluster_.clock.steady() >= until) break;
    co_await cluster_.clock.sleep_for(unknown_writes.after(tries));
    // Of two writes with one resourceVersion the API takes one.
    written = co_await cluster_.update_status(key, wanted);
  }
  co_return written;
}

Task<> Scheduler::find_out(api::ObjectKey key) {
  for (int attempt = 1;; ++attempt) {
    const Status read = co_await cluster_.refresh(key);
    if (read || read.error().code() == Errc::not_found) co_return;
    co_await cluster_.clock.sleep_for(unknown_writes.after(attempt));
  }
}

Task<> Scheduler::preempt(admission::PreemptedWorkload preempted) {
  const TimePoint now = cluster_.clock.now();
  const auto preemptor = cluster_.workloads.get(preempted.preemptor->key);
  const std::string label(api::labels::job_uid);
  const std::string message = admission::preemption_message(
      preempted, preemptor ? preemptor->metadata.label(label) : std::string());
  std::vector<lifecycle::Note> notes;
  std::string version;
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    notes.clear();
    version = workload.metadata.resource_version;
    if (!holds_its_quota(workload, preempted.uid)) return {};
    lifecycle::StatusChange change = lifecycle::preempt(workload, preempted.reason, message, now);
    notes = std::move(change.notes);
    return std::move(change.status);
  };
  const Status written = co_await cluster_.update_status(preempted.key, wanted);
  --writing_;
  if (!written) {
    co_await spare(std::move(preempted), std::move(version), written.error());
    co_return;
  }
  preempting_.erase(preempted.uid);
  failures_.erase(preempted.uid);
  if (notes.empty()) {  // evicted or finished already, or another Workload by now
    changed();
    co_return;
  }
  for (lifecycle::Note& one : notes) note(preempted.key, one.warning, one.reason, one.message);
  if (config_.on_preempted) config_.on_preempted(preempted);
  const auto victim = cluster_.workloads.get(preempted.key);
  const std::string priorities =
      priority_text("preemptor", preemptor.get()) + priority_text("preemptee", victim.get());
  note(preempted.key, false, "Preempted", message + priorities);
  const std::string queue =
      victim && victim->status.admission ? victim->status.admission->cluster_queue : "";
  if (!preemptor) co_return;
  // All victims of a preemptor share one Event, which names the first.
  cluster_.events.event(kube::reference_to(*preemptor), kube::EventType::normal,
                        "PreemptedWorkload",
                        "Preempted workload " + preempted.key.str() + " (UID: " + preempted.uid +
                            ") in ClusterQueue " + queue + priorities,
                        kube::Repeats::any_message);
}

Task<> Scheduler::write_pending_conditions() {
  for (;;) {
    api::ObjectKey key = co_await unwritten_.next();
    const Status written = co_await write_pending(key);
    if (unwritten_.finish(key, written)) {
      log_.warning("condition not written",
                   {{"workload", key.str()}, {"error", written.error().what()}});
    }
  }
}

Task<Status> Scheduler::write_pending(api::ObjectKey key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) co_return ok();
  const admission::PendingWorkload pending = found->second;
  const TimePoint now = cluster_.clock.now();
  // A preemption gate has a condition of its own. AdmissionGated is the reason of another gate.
  const std::string reason =
      pending.gated ? std::string(api::reasons::pending_evaluation) : pending.reason;
  bool wrote = false;
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    const bool waits = workload.metadata.uid == pending.uid && admission::is_admissible(workload);
    if (!waits) return {};
    auto told = lifecycle::pending_status(workload, reason, pending.message, pending.gated, now);
    wrote = told.has_value();
    if (!told) told = workload.status;
    told->resource_requests = state_.reader().resource_requests(key);
    return told;
  };
  const Status written = co_await cluster_.update_status(key, wanted);
  if (!written && written.error().code() != Errc::not_found) co_return written;
  // Another cycle may have left a newer message meanwhile.
  const auto latest = pending_.find(key);
  if (latest != pending_.end() && latest->second.message == pending.message) pending_.erase(latest);
  if (wrote) note(key, true, pending.reason, pending.message);
  co_return ok();
}

void Scheduler::note(const api::ObjectKey& key, bool warning, std::string reason,
                     std::string message) {
  const auto workload = cluster_.workloads.get(key);
  if (!workload) return;
  cluster_.events.event(kube::reference_to(*workload),
                        warning ? kube::EventType::warning : kube::EventType::normal,
                        std::move(reason), std::move(message));
}

}  // namespace regatta::controllers
