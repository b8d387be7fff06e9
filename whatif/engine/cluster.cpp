#include "whatif/engine/cluster.h"

#include "lib/api/names.h"
#include "lifecycle/read_lifecycle.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

/// The most cycles in one moment. If more are needed, they run a millisecond later.
constexpr int cycles_max = 200'000;
constexpr int settle_rounds_max = 8;

std::size_t digest(const admission::CycleResult& result) {
  std::size_t out = result.pending.size();
  for (const auto& one : result.pending) {
    const std::hash<std::string> hash;
    for (const std::string* text : {&one.key.ns, &one.key.name, &one.reason, &one.message}) {
      out ^= hash(*text) + 0x9e3779b97f4a7c15ULL + (out << 6U) + (out >> 2U);
    }
  }
  return out;
}

bool all_immediate(const admission::CycleResult& result) {
  return std::all_of(result.pending.begin(), result.pending.end(),
                     [](const auto& one) { return one.immediate; });
}

}  // namespace

Cluster::Cluster(ClusterSettings settings, const Grid* grid, Agenda* agenda, Records* records)
    : settings_(std::move(settings)),
      agenda_(agenda),
      records_(records),
      state_(settings_.admission),
      meters_(grid) {}

Course* Cluster::find(const api::ObjectKey& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &courses_[found->second];
}

const Course* Cluster::find(const api::ObjectKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &courses_[found->second];
}

Course* Cluster::find_job(const api::ObjectKey& job) {
  const auto found = by_job_.find(job_named(job));
  return found == by_job_.end() ? nullptr : &courses_[found->second];
}

std::set<api::ObjectKey> Cluster::take_changed() {
  for (const api::ObjectKey& key : changed_) {
    if (Course* course = find(key)) {
      course->workload.metadata.resource_version = std::to_string(++versions_);
    }
  }
  return std::exchange(changed_, {});
}

std::set<std::string> Cluster::take_changed_queues() {
  return std::exchange(changed_queues_, {});
}

void Cluster::plan(Course* course, Due due, TimePoint at, std::uint32_t detail) {
  agenda_->add({at, 0, due, settings_.index, course->id, course->epoch, detail});
}

void Cluster::look_again(Course* course, TimePoint at) {
  const bool planned = course->look_at && course->look_epoch == course->epoch;
  if (planned && *course->look_at <= at) return;
  course->look_at = at;
  course->look_epoch = course->epoch;
  plan(course, Due::look, at);
}

void Cluster::touch(Course* course, TimePoint now) {
  if (course->phase == CoursePhase::over) return;
  state_.upsert(course->workload, now);
  dirty_.insert(course->id);
  changed(course->workload.metadata.key());
  restless_ = true;
}

void Cluster::wake(const Wake& wake, TimePoint now) {
  restless_ = true;
  if (wake.due == Due::flush) {
    flush_at_.reset();
    return;
  }
  Course* course = &courses_[wake.course];
  if (course->phase == CoursePhase::over || wake.epoch != course->epoch) return;
  switch (wake.due) {
    case Due::look:
      course->look_at.reset();
      dirty_.insert(course->id);
      break;
    case Due::answer:
      answer(course, wake.detail, now);
      break;
    case Due::ready:
      pods_ready(course, now);
      break;
    case Due::reclaim:
      course->workload.status.reclaimable_pods = {
          {course->workload.spec.pod_sets.front().name, static_cast<std::int32_t>(wake.detail)}};
      touch(course, now);
      break;
    case Due::end: {
      const Attempt attempt = attempt_of(course->work, course->pods, course->done);
      finish(course, attempt.succeeds, attempt.message, now);
      break;
    }
    case Due::stopped:
      stopped(course, now);
      break;
    case Due::flush:
    case Due::dispatch:
      break;
  }
}

void Cluster::settle(Course* course, TimePoint now) {
  api::Workload& workload = course->workload;
  for (int round = 0; round < settle_rounds_max; ++round) {
    const lifecycle::Settled settled =
        lifecycle::settle(workload, lifecycle::read_lifecycle(*this, state_.reader(), workload),
                          now, settings_.lifecycle);
    if (settled.look_again) look_again(course, now + *settled.look_again);
    if (settled.active) workload.spec.active = *settled.active;
    if (settled.status) workload.status = *settled.status;
    if (!settled.status && !settled.active) break;
    state_.upsert(workload, now);
    changed(workload.metadata.key());
  }
  follow(course, now);
}

/// The job follows the conditions of its Workload.
void Cluster::follow(Course* course, TimePoint now) {
  const api::Workload& workload = course->workload;
  const bool reserved = lifecycle::is_reserved(workload);
  if (course->phase == CoursePhase::over) return;
  if (course->phase == CoursePhase::waiting && reserved) {
    course->phase = CoursePhase::reserved;
    begin_run(course, now);
  }
  if (lifecycle::is_finished(workload)) {
    const api::Condition* end =
        api::find_condition(workload.status.conditions, api::conditions::finished);
    finish(course, end->reason == api::reasons::succeeded, end->message, now);
    return;
  }
  if (course->phase == CoursePhase::waiting || course->phase == CoursePhase::stopping) {
    if (!reserved && course->record != SIZE_MAX) {
      const api::Condition* why =
          api::find_condition(workload.status.conditions, api::conditions::quota_reserved);
      if (why && !why->message.empty()) {
        records_->workloads[course->record].reason = why->reason;
        records_->workloads[course->record].message = why->message;
      }
    }
    return;
  }
  if (!reserved) {
    // The reservation was taken back before it became an admission.
    end_run(course, RunEnd::evicted, now);
    course->phase = CoursePhase::waiting;
    ++course->epoch;
    restless_ = true;
    return;
  }
  if (lifecycle::is_evicted(workload)) return begin_stop(course, now);
  if (course->phase == CoursePhase::reserved && lifecycle::is_admitted(workload)) {
    start(course, now);
  }
}

void Cluster::settle_dirty(TimePoint now) {
  while (!dirty_.empty()) {
    const std::set<std::uint32_t> courses = std::exchange(dirty_, {});
    for (const std::uint32_t id : courses) {
      if (courses_[id].phase != CoursePhase::over) settle(&courses_[id], now);
    }
  }
}

void Cluster::act(TimePoint now) {
  restless_ = false;
  settle_dirty(now);
  schedule(now);
  settle_dirty(now);
  if (const auto due = state_.next_flush(); due && (!flush_at_ || *due < *flush_at_)) {
    flush_at_ = std::max(*due, now);
    agenda_->add({*flush_at_, 0, Due::flush, settings_.index, 0, 0, 0});
  }
  observe(now);
}

void Cluster::schedule(TimePoint now) {
  std::optional<std::size_t> stuck;
  for (int cycle = 0; cycle < cycles_max; ++cycle) {
    state_.flush(now);
    if (!state_.has_heads()) return;
    const admission::CycleResult result = admission::run_cycle(state_, now);
    take_decisions(result, now);
    settle_dirty(now);
    if (result.progressed() || !all_immediate(result)) {
      stuck.reset();
      continue;
    }
    if (result.blocked) return;
    // The same heads wait for the same reasons. Only an event can change that.
    const std::size_t seen = digest(result);
    if (stuck == seen) return;
    stuck = seen;
  }
  agenda_->add({now + Duration(1), 0, Due::flush, settings_.index, 0, 0, 0});
}

void Cluster::take_decisions(const admission::CycleResult& result, TimePoint now) {
  for (const auto& decision : result.admitted) reserve(decision, now);
  take_places(result, now);
  for (const auto& decision : result.pending) explain(decision, now);
  // Preemptions come last, because a victim that stops at once is queued again.
  for (const auto& decision : result.preempted) preempt(decision, now);
}

void Cluster::reserve(const admission::AdmittedWorkload& decision, TimePoint now) {
  Course* course = find(decision.key);
  course->workload.status = lifecycle::reserve(
      course->workload,
      {decision.admission, decision.checks, settings_.lifecycle.wait_for_pods_ready.has_value()},
      now);
  state_.upsert(course->workload, now);
  changed(decision.key);
  course->phase = CoursePhase::reserved;
  begin_run(course, now);
  follow(course, now);
  // Time limits count from now on, so the next look has to be planned.
  dirty_.insert(course->id);
}

void Cluster::preempt(const admission::PreemptedWorkload& decision, TimePoint now) {
  Course* course = find(decision.key);
  const Course* preemptor = find(decision.preemptor->key);
  const std::string job_uid =
      preemptor ? preemptor->workload.metadata.label(std::string(api::labels::job_uid)) : "";
  const std::string message = admission::preemption_message(decision, job_uid);
  api::Workload& workload = course->workload;
  workload.status = lifecycle::preempt(workload, decision.reason, message, now).status;
  state_.upsert(workload, now);
  changed(decision.key);
  PreemptionRecord record;
  record.at = now;
  record.cluster = settings_.name;
  record.workload = decision.key.str();
  record.cluster_queue = workload.status.admission->cluster_queue;
  record.reason = decision.reason;
  record.message = message;
  record.by = decision.preemptor->key.str();
  if (preemptor) record.by_queue = state_.reader().cluster_queue_of(preemptor->workload);
  course->preemption = records_->preemptions.size();
  records_->preemptions.push_back(std::move(record));
  if (course->record != SIZE_MAX) ++records_->workloads[course->record].preemptions;
  begin_stop(course, now);
}

void Cluster::explain(const admission::PendingWorkload& decision, TimePoint now) {
  Course* course = find(decision.key);
  auto status =
      lifecycle::pending_status(course->workload, decision.reason, decision.message, false, now);
  if (status) {
    course->workload.status = std::move(*status);
    changed(decision.key);
  }
  if (course->record == SIZE_MAX) return;
  WorkloadRecord& record = records_->workloads[course->record];
  record.reason = decision.reason;
  record.message = decision.message;
}

void Cluster::explain_passed_over(TimePoint now) {
  const admission::StatusReader reader = state_.reader();
  for (const std::uint32_t id : active_) {
    const Course& course = courses_[id];
    if (course.phase != CoursePhase::waiting || course.record == SIZE_MAX) continue;
    WorkloadRecord& record = records_->workloads[course.record];
    const std::string why = reader.bypassed(course.workload.metadata.key());
    if (!record.reason.empty() || why.empty()) continue;
    lifecycle::LifecycleView seen = lifecycle::read_lifecycle(*this, reader, course.workload);
    seen.bypassed = why;
    seen.may_tell_bypassed = true;
    const lifecycle::Settled told =
        lifecycle::settle(course.workload, seen, now, settings_.lifecycle);
    const api::WorkloadStatus& status = told.status ? *told.status : course.workload.status;
    const api::Condition* said =
        api::find_condition(status.conditions, api::conditions::quota_reserved);
    if (!said) continue;
    record.reason = said->reason;
    record.message = said->message;
  }
}

void Cluster::observe(TimePoint now) {
  const admission::Changes changes = state_.take_changes();
  const admission::StatusReader reader = state_.reader();
  for (const std::string& queue : changes.cluster_queues) {
    meters_.observe(reader, queue, now);
    if (settings_.federated) changed_queues_.insert(queue);
  }
}

}  // namespace regatta::whatif
