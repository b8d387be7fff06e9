#include "lab/cluster/job_plan.h"

#include "lab/cluster/job_status.h"

#include <algorithm>
#include <set>

namespace regatta::lab {

namespace {

std::int32_t count_of(std::size_t n) {
  return static_cast<std::int32_t>(n);
}

void at_latest(std::optional<TimePoint>* again, TimePoint t) {
  if (!*again || t < **again) *again = t;
}

/// Rule 1.
JobActions plan_finished(const api::Job& job, TimePoint now) {
  JobActions actions;
  const auto ended = finished_at(job.status);
  if (!job.spec.ttl_seconds_after_finished || !ended) return actions;
  const TimePoint due = *ended + std::chrono::seconds(*job.spec.ttl_seconds_after_finished);
  actions.remove = now >= due;
  if (!actions.remove) actions.again = due;
  return actions;
}

/// One step of a Job with pods: observes the pods, then decides.
class PodStep {
 public:
  PodStep(const api::Job& job, const manifest::Behaviour& how, TimePoint now)
      : job_(job), how_(how), now_(now), status_(job.status) {}

  JobActions take(const std::vector<PodView>& pods) {
    for (const PodView& pod : pods) look_at(pod);
    status_.succeeded = std::max(status_.succeeded, count_of(succeeded_));
    status_.failed = std::max(status_.failed, count_of(failed_));
    if (indexed()) note_indexes();
    decide();
    if (status_ != job_.status) actions_.status = std::move(status_);
    return std::move(actions_);
  }

 private:
  bool indexed() const { return job_.spec.completion_mode == "Indexed"; }

  /// Rule 2.
  void look_at(const PodView& pod) {
    if (!pod.over() && pod.lost) {
      actions_.ended.push_back(pod.name);
      return;
    }
    if (!pod.over() && pod.end_request) return look_at_ending(pod);
    if (pod.phase == PodView::Phase::running) {
      const TimePoint due = pod.started.value_or(now_) + how_.run;
      if (now_ >= due) return finish(pod);
      at_latest(&actions_.again, due);
    }
    switch (pod.phase) {
      case PodView::Phase::succeeded:
        return count_success(pod);
      case PodView::Phase::failed:
        ++failed_;
        return;
      case PodView::Phase::pending:
        pod.waits ? void(++waiting_) : actions_.start.push_back(pod.name);
        break;
      case PodView::Phase::running:
        break;
    }
    active_.push_back(&pod);
    if (pod.index) busy_.insert(*pod.index);
  }

  void look_at_ending(const PodView& pod) {
    const TimePoint due = *pod.end_request + how_.termination;
    if (now_ >= due) {
      actions_.ended.push_back(pod.name);
      return;
    }
    at_latest(&actions_.again, due);
    ++ending_;
  }

  void finish(const PodView& pod) {
    const auto failures = std::max<std::int64_t>(job_.status.failed, count_of(failed_));
    const bool succeeded = failures >= how_.failures;
    actions_.finish.push_back({pod.name, succeeded});
    if (succeeded) return count_success(pod);
    ++failed_;
  }

  void count_success(const PodView& pod) {
    ++succeeded_;
    if (pod.index) done_.insert(*pod.index);
  }

  void note_indexes() {
    status_.completed_indexes =
        format_indexes(std::vector<std::int32_t>(done_.begin(), done_.end()));
  }

  void decide() {
    if (job_.spec.suspend.value_or(false) && !condemned()) {
      end_all();
      suspend_status(&status_, now_);
    } else {
      start_status(&status_, now_);
      const bool enough = status_.succeeded >= completions_of(job_);
      const bool too_late = past_deadline(job_, now_);
      if (api::is_true(status_.conditions, "FailureTarget") || (!enough && hopeless(too_late))) {
        fail(too_late);
      } else if (enough) {
        end_all();
        succeed_status(&status_, ending_ == 0, now_);
      } else {
        scale();
      }
    }
    status_.active = count_of(active_.size()) + count_of(actions_.create.size());
    const bool gated = !job_.spec.pod_template.spec().scheduling_gates.empty();
    const std::size_t waiting = waiting_ + (gated ? actions_.create.size() : 0);
    fill_status(&status_, count_of(ending_), status_.active - count_of(waiting));
  }

  /// Rule 4 is final: a Job that fails or completes cannot be suspended any more.
  bool condemned() const {
    return api::is_true(status_.conditions, "FailureTarget") ||
           api::is_true(status_.conditions, "SuccessCriteriaMet");
  }

  bool hopeless(bool too_late) const {
    return too_late || status_.failed > job_.spec.backoff_limit.value_or(6);
  }

  void fail(bool too_late) {
    end_all();
    fail_status(&status_, too_late, ending_ == 0, now_);
  }

  void end_all() {
    for (const PodView* pod : active_) end(*pod);
    active_.clear();
    actions_.start.clear();
    waiting_ = 0;
  }

  void end(const PodView& pod) {
    actions_.end.push_back(pod.name);
    if (how_.termination <= Duration(0)) {
      actions_.ended.push_back(pod.name);
      return;
    }
    ++ending_;
    at_latest(&actions_.again, now_ + how_.termination);
  }

  /// Rule 5.
  void scale() {
    const std::int32_t left = completions_of(job_) - status_.succeeded;
    const std::int32_t wanted = std::min(parallelism_of(job_), left);
    while (count_of(active_.size()) > wanted) {
      // Pods that wait are ended before pods that run.
      const auto waits = [](const PodView* pod) { return pod->waits; };
      const auto waiting = std::find_if(active_.rbegin(), active_.rend(), waits);
      const auto last = waiting == active_.rend() ? active_.end() - 1 : waiting.base() - 1;
      end(**last);
      if ((*last)->waits) --waiting_;
      std::erase(actions_.start, (*last)->name);
      active_.erase(last);
    }
    const bool wait_for_ending = job_.spec.pod_replacement_policy == "Failed";
    const std::int32_t held = wait_for_ending ? count_of(ending_) : 0;
    for (std::int32_t i = count_of(active_.size()) + held; i < wanted; ++i) {
      actions_.create.push_back(next_index());
    }
    if (!actions_.create.empty()) at_latest(&actions_.again, now_ + how_.run);
    if (const auto deadline = deadline_of(job_)) {
      at_latest(&actions_.again, *deadline);
    } else if (job_.spec.active_deadline_seconds) {
      at_latest(&actions_.again, now_ + std::chrono::seconds(*job_.spec.active_deadline_seconds));
    }
  }

  std::optional<std::int32_t> next_index() {
    if (!indexed()) return std::nullopt;
    std::int32_t index = 0;
    while (busy_.contains(index) || done_.contains(index)) ++index;
    busy_.insert(index);
    return index;
  }

  const api::Job& job_;
  const manifest::Behaviour& how_;
  const TimePoint now_;
  api::JobStatus status_;
  JobActions actions_;
  std::vector<const PodView*> active_;
  std::size_t ending_ = 0, succeeded_ = 0, failed_ = 0, waiting_ = 0;
  std::set<std::int32_t> done_, busy_;
};

/// The number of pods that have ended by `t` when they run in waves since the start time.
std::int64_t ended_by(const api::JobStatus& status, std::int32_t parallelism, Duration run,
                      TimePoint t, std::int64_t all) {
  if (run <= Duration(0)) return all;
  const std::int64_t waves = (t - *status.start_time) / run;
  const std::int64_t counted = std::int64_t{status.succeeded} + status.failed;
  const std::int64_t before = std::max<std::int64_t>(0, counted - waves * parallelism);
  return std::min(all, before + waves * parallelism);
}

void suspend_without_pods(const manifest::Behaviour& how, TimePoint now, api::JobStatus* status,
                          JobActions* actions) {
  const bool was_suspended = api::is_true(status->conditions, "Suspended");
  std::int32_t ending = status->terminating.value_or(0);
  if (!was_suspended) {
    ending = how.termination > Duration(0) ? status->active : 0;
    suspend_status(status, now);
  }
  const auto* condition = api::find_condition(status->conditions, "Suspended");
  const TimePoint due = condition->last_transition_time.value_or(now) + how.termination;
  if (now >= due) ending = 0;
  if (ending > 0) at_latest(&actions->again, due);
  fill_status(status, ending, 0);
}

/// Counts the pods that have ended by `t`, and decides.
void advance_without_pods(const api::Job& job, const manifest::Behaviour& how, TimePoint now,
                          api::JobStatus* status, JobActions* actions) {
  const std::int32_t parallelism = parallelism_of(job);
  const std::int32_t completions = completions_of(job);
  const std::int64_t limit = job.spec.backoff_limit.value_or(6);
  api::Job started = job;
  started.status.start_time = status->start_time;
  const auto deadline = deadline_of(started);
  const TimePoint t = deadline ? std::min(now, *deadline) : now;
  const std::int64_t all = completions + std::min(how.failures, limit + 1);
  const std::int64_t ended = ended_by(*status, parallelism, how.run, t, all);
  const std::int64_t failed = std::min({how.failures, ended, limit + 1});
  status->failed = std::max(status->failed, static_cast<std::int32_t>(failed));
  // Failures come first, so that a Job whose failures exceed its limit never succeeds.
  const std::int64_t succeeded =
      failed > limit ? 0 : std::min<std::int64_t>(completions, ended - failed);
  status->succeeded = std::max(status->succeeded, static_cast<std::int32_t>(succeeded));
  if (job.spec.completion_mode == "Indexed") {
    std::vector<std::int32_t> indexes;
    for (std::int32_t i = 0; i < status->succeeded; ++i) indexes.push_back(i);
    status->completed_indexes = format_indexes(indexes);
  }
  status->active = std::min(parallelism, completions - status->succeeded);
  const bool enough = status->succeeded >= completions;
  const bool too_late = deadline && now >= *deadline;
  if (enough || too_late || status->failed > limit) {
    status->active = 0;
    if (enough) {
      succeed_status(status, true, now);
    } else {
      fail_status(status, too_late && status->failed <= limit, true, now);
    }
  } else {
    const auto waves = (now - *status->start_time) / how.run;
    at_latest(&actions->again, *status->start_time + how.run * (waves + 1));
    if (deadline) at_latest(&actions->again, *deadline);
  }
  fill_status(status, 0, status->active);
}

}  // namespace

JobActions plan_job(const api::Job& job, const std::vector<PodView>& pods,
                    const manifest::Behaviour& how, TimePoint now) {
  if (job.metadata.deleting()) return {};
  if (is_finished(job.status)) return plan_finished(job, now);
  return PodStep(job, how, now).take(pods);
}

JobActions plan_job_without_pods(const api::Job& job, const manifest::Behaviour& how,
                                 TimePoint now) {
  if (job.metadata.deleting()) return {};
  if (is_finished(job.status)) return plan_finished(job, now);
  JobActions actions;
  api::JobStatus status = job.status;
  if (job.spec.suspend.value_or(false)) {
    // A Job that never ran has nothing to report, which saves a write for each Job that waits. A
    // client that suspends a running Job may remove its start time before this is called.
    const bool ran =
        job.status.start_time || job.status.active > 0 || job.status.terminating.value_or(0) > 0;
    if (ran) suspend_without_pods(how, now, &status, &actions);
  } else {
    start_status(&status, now);
    advance_without_pods(job, how, now, &status, &actions);
  }
  if (status != job.status) actions.status = std::move(status);
  return actions;
}

std::string format_indexes(const std::vector<std::int32_t>& indexes) {
  std::string out;
  for (std::size_t i = 0; i < indexes.size();) {
    std::size_t last = i;
    while (last + 1 < indexes.size() && indexes[last + 1] == indexes[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(indexes[i]);
    if (last == i + 1) out += "," + std::to_string(indexes[last]);
    if (last > i + 1) out += "-" + std::to_string(indexes[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace regatta::lab
