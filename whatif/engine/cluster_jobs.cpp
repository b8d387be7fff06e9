#include "dispatch/objects.h"
#include "jobs/plan.h"
#include "lib/api/names.h"
#include "lib/api/pods_ready.h"
#include "whatif/engine/annotations.h"
#include "whatif/engine/cluster.h"
#include "whatif/timeline/duration.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::whatif {
namespace {

/// How long a check takes to answer.
Duration answer_time(const api::AdmissionCheck& check) {
  static const api::PodTemplate nothing;
  return manifest::seconds_in(check.metadata, nothing, annotations::answer_seconds)
      .value_or(Duration(0));
}

}  // namespace

Run* Cluster::current_run(const Course& course) {
  if (course.record == SIZE_MAX) return nullptr;
  auto& runs = records_->workloads[course.record].runs;
  return runs.empty() || runs.back().ended_at ? nullptr : &runs.back();
}

/// The workload holds quota from now on.
void Cluster::begin_run(Course* course, TimePoint now) {
  course->pods = admitted_pods(course->workload);
  if (course->record != SIZE_MAX) {
    WorkloadRecord& record = records_->workloads[course->record];
    const api::Admission& admission = *course->workload.status.admission;
    Run run;
    run.cluster = settings_.name;
    run.cluster_queue = admission.cluster_queue;
    run.pods = course->pods;
    run.reserved_at = now;
    for (const auto& set : admission.pod_set_assignments) {
      for (const auto& [resource, flavor] : set.flavors) {
        run.flavors[set.name + "/" + resource] = flavor;
      }
    }
    record.cluster_queue = admission.cluster_queue;
    record.runs.push_back(std::move(run));
  }
  ask_checks(course, now);
}

void Cluster::ask_checks(Course* course, TimePoint now) {
  const auto& states = course->workload.status.admission_checks;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].state != api::CheckState::Pending) continue;
    const auto check = checks_.find(states[i].name);
    if (check == checks_.end()) continue;
    const bool multikueue = api::is_multikueue(*check->second);
    if (multikueue && settings_.dispatches) {
      course->dispatched = true;
      continue;
    }
    if (multikueue) {
      records_->warn("AdmissionCheck " + states[i].name +
                     " asks for workers and there are none: it answers Ready");
    }
    plan(course, Due::answer, now + answer_time(*check->second), static_cast<std::uint32_t>(i));
  }
}

void Cluster::answer(Course* course, std::size_t index, TimePoint now) {
  auto& states = course->workload.status.admission_checks;
  if (course->phase != CoursePhase::reserved || index >= states.size()) return;
  api::AdmissionCheckState& state = states[index];
  const auto check = checks_.find(state.name);
  const bool rejected =
      check != checks_.end() &&
      check->second->metadata.annotation(std::string(annotations::answer)) == "Rejected";
  state.state = rejected ? api::CheckState::Rejected : api::CheckState::Ready;
  state.message = "answered by the simulation";
  state.last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  touch(course, now);
}

/// The workload is admitted: its pods start, unless they run on a worker.
void Cluster::start(Course* course, TimePoint now) {
  const bool first =
      course->record != SIZE_MAX && !records_->workloads[course->record].admitted_at.has_value();
  if (first) {
    records_->workloads[course->record].admitted_at = now;
    records_->workloads[course->record].outcome = Outcome::admitted;
  } else if (course->record != SIZE_MAX) {
    records_->workloads[course->record].outcome = Outcome::admitted;
  }
  if (Run* run = current_run(*course)) run->admitted_at = now;
  if (course->copy && !course->started) return;
  course->phase = CoursePhase::running;
  if (course->dispatched) return;
  course->started = true;
  // A workload that ran before the simulation began has done a part of its work.
  const api::Condition* admitted =
      api::find_condition(course->workload.status.conditions, api::conditions::admitted);
  const TimePoint since = course->copy ? now : std::min(now, admitted->last_transition_time);
  course->ready_at = since + course->work.ready;
  if (Run* run = current_run(*course)) run->started_at = now;
  const Attempt attempt = attempt_of(course->work, course->pods, course->done);
  plan(course, Due::ready, std::max(now, course->ready_at));
  plan(course, Due::end, std::max(now, course->ready_at + attempt.length));
  if (attempt.reclaim_after && !course->workload.spec.pod_sets.empty()) {
    plan(course, Due::reclaim, std::max(now, course->ready_at + *attempt.reclaim_after),
         static_cast<std::uint32_t>(attempt.reclaimable));
  }
}

void Cluster::pods_ready(Course* course, TimePoint now) {
  changed(course->workload.metadata.key());
  if (!settings_.lifecycle.wait_for_pods_ready || course->phase != CoursePhase::running) return;
  api::Workload& workload = course->workload;
  const api::PodsReadiness next = api::next_readiness(workload, true);
  if (api::set_pods_ready(&workload.status, workload.metadata.generation, next, now)) {
    touch(course, now);
  }
}

/// The workload is evicted or deleted: its pods get their time to end.
void Cluster::begin_stop(Course* course, TimePoint now) {
  if (course->phase == CoursePhase::stopping || course->phase == CoursePhase::over) return;
  const bool ran = course->phase == CoursePhase::running;
  course->phase = CoursePhase::stopping;
  ++course->epoch;
  restless_ = true;
  if (ran && course->dispatched && course->started) return;  // the dispatcher says when it stopped
  if (!ran || !course->started) return stopped(course, now);
  const Interrupted left =
      interrupt(course->work, course->pods, course->done, now - course->ready_at);
  course->done = left.done;
  course->lost = left.lost;
  plan(course, Due::stopped, now + course->work.behaviour.termination);
}

/// The pods of the workload have ended, so its quota is free.
void Cluster::stopped(Course* course, TimePoint now) {
  if (course->phase != CoursePhase::stopping) return;
  if (course->deleting) return retire(course, Outcome::deleted, now);
  const bool preempted = course->preemption.has_value();
  if (preempted) {
    PreemptionRecord& record = records_->preemptions[*course->preemption];
    record.grace_seconds = double((now - record.at).count()) / 1000;
  }
  end_run(course, preempted ? RunEnd::preempted : RunEnd::evicted, now);
  course->preemption.reset();
  drop(course, now);
}

void Cluster::drop(Course* course, TimePoint now) {
  course->workload.status = jobs::drop_reservation(course->workload, now);
  course->workload.status.reclaimable_pods.clear();
  course->phase = CoursePhase::waiting;
  if (course->started) show_running(course->job, false);
  course->started = false;
  course->dispatched = false;
  ++course->epoch;
  if (course->record != SIZE_MAX) {
    records_->workloads[course->record].outcome = Outcome::pending;
  }
  touch(course, now);
}

void Cluster::end_run(Course* course, RunEnd end, TimePoint now) {
  Run* run = current_run(*course);
  if (!run) return;
  run->ended_at = now;
  run->end = end;
  run->lost_seconds = double(std::exchange(course->lost, Duration(0)).count()) / 1000;
  if (end != RunEnd::preempted && end != RunEnd::evicted) return;
  const auto& conditions = course->workload.status.conditions;
  const auto type =
      end == RunEnd::preempted ? api::conditions::preempted : api::conditions::evicted;
  if (const api::Condition* why = api::find_condition(conditions, type)) {
    run->reason = why->reason;
    run->message = why->message;
  }
}

void Cluster::finish(Course* course, bool success, const std::string& message, TimePoint now) {
  if (course->phase == CoursePhase::over) return;
  course->workload.status = lifecycle::finished_status(
      course->workload, success ? api::reasons::succeeded : api::reasons::failed, message, now);
  end_run(course, success ? RunEnd::succeeded : RunEnd::failed, now);
  state_.upsert(course->workload, now);
  if (course->copy) {
    // The hub reads how the copy ended, and removes it.
    course->phase = CoursePhase::stopping;
    ++course->epoch;
    changed(course->workload.metadata.key());
    restless_ = true;
    return;
  }
  retire(course, success ? Outcome::finished : Outcome::failed, now);
}

/// The workload is over. Its objects are dropped, and its record stays.
void Cluster::retire(Course* course, Outcome outcome, TimePoint now) {
  const api::ObjectKey key = course->workload.metadata.key();
  if (course->record != SIZE_MAX) {
    end_run(course, RunEnd::deleted, now);
    WorkloadRecord& record = records_->workloads[course->record];
    record.outcome = outcome;
    if (outcome == Outcome::finished || outcome == Outcome::failed) record.finished_at = now;
  }
  state_.erase_workload(key, now);
  course->phase = CoursePhase::over;
  ++course->epoch;
  by_key_.erase(key);
  if (course->job.kind) {
    by_job_.erase(course->job);
    jobs_.erase(course->job);
  }
  active_.erase(course->id);
  dirty_.erase(course->id);
  course->workload = {};
  changed(key);
  restless_ = true;
}

void Cluster::create_copy(const Course& original, TimePoint now) {
  api::Workload copy;
  copy.metadata.name = original.workload.metadata.name;
  copy.metadata.ns = original.workload.metadata.ns;
  copy.metadata.labels = original.workload.metadata.labels;
  copy.metadata.labels.erase(std::string(api::labels::job_uid));
  copy.metadata.annotations = original.workload.metadata.annotations;
  copy.metadata.uid = next_uid();
  copy.metadata.creation_timestamp = std::chrono::floor<std::chrono::seconds>(now);
  copy.spec = original.workload.spec;
  copy.raw_spec = original.workload.raw_spec;
  Course& course = add_course(std::move(copy), original.work, now);
  course.copy = true;
  course.done = original.done;
}

void Cluster::reprice_copy(const api::Workload& original, TimePoint now) {
  Course* course = find(original.metadata.key());
  if (!course) return;
  course->workload.spec.priority = original.spec.priority;
  course->workload.spec.priority_class_ref = original.spec.priority_class_ref;
  course->workload.raw_spec = original.raw_spec;
  touch(course, now);
}

void Cluster::start_copy(const api::ObjectKey& key, TimePoint now) {
  Course* course = find(key);
  if (!course || course->started || course->phase != CoursePhase::reserved) return;
  course->started = true;
  course->has_job = true;
  start(course, now);
}

void Cluster::remove_copy(const api::ObjectKey& key, TimePoint now) {
  Course* course = find(key);
  if (!course || course->deleting) return;
  course->deleting = true;
  const bool ended = lifecycle::is_finished(course->workload);
  if (course->phase == CoursePhase::running && !ended) return begin_stop(course, now);
  if (course->phase == CoursePhase::stopping && !ended && course->started) return;
  retire(course, Outcome::deleted, now);
}

void Cluster::settle_now(Course* course, TimePoint now) {
  touch(course, now);
  settle(course, now);
}

void Cluster::deactivate(const api::ObjectKey& key, const dispatch::DeactivateRemote& action,
                         TimePoint now) {
  Course* course = find(key);
  if (!course) return;
  course->workload.status = dispatch::deactivate(course->workload, action, now);
  touch(course, now);
}

void Cluster::wound_down(Course* course, TimePoint now) {
  course->started = false;
  show_running(course->job, false);
  changed(course->workload.metadata.key());
  restless_ = true;
  stopped(course, now);
}

std::vector<api::ObjectKey> Cluster::unfinished_keys() const {
  std::vector<api::ObjectKey> out;
  for (const std::uint32_t id : active_) out.push_back(courses_[id].workload.metadata.key());
  return out;
}

void Cluster::run_elsewhere(Course* course, const std::string& cluster, TimePoint now) {
  if (Run* run = current_run(*course)) {
    run->cluster = cluster;
    if (!run->started_at) run->started_at = now;
  }
  if (!course->started) plan(course, Due::ready, now + course->work.ready);
  course->started = true;
  show_running(course->job, true);
}

}  // namespace regatta::whatif
