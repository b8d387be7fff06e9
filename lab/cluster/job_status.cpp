#include "lab/cluster/job_status.h"

#include <algorithm>

namespace regatta::lab {

namespace {

std::int32_t not_negative(std::int32_t value) {
  return std::max<std::int32_t>(0, value);
}

}  // namespace

void set_job_condition(api::JobStatus* status, std::string_view type, bool value,
                       std::string_view reason, std::string_view message, TimePoint now) {
  const auto wanted = value ? api::ConditionStatus::True : api::ConditionStatus::False;
  auto found = std::find_if(status->conditions.begin(), status->conditions.end(),
                            [&](const api::StatusCondition& one) { return one.type == type; });
  if (found == status->conditions.end()) {
    status->conditions.emplace_back();
    found = std::prev(status->conditions.end());
    found->type = type;
  } else if (found->status == wanted) {
    return;
  }
  found->status = wanted;
  found->reason = reason;
  found->message = message;
  found->last_probe_time = now;
  found->last_transition_time = now;
}

bool is_finished(const api::JobStatus& status) {
  return api::is_true(status.conditions, "Complete") || api::is_true(status.conditions, "Failed");
}

std::optional<TimePoint> finished_at(const api::JobStatus& status) {
  for (const char* type : {"Complete", "Failed"}) {
    const api::StatusCondition* condition = api::find_condition(status.conditions, type);
    if (condition != nullptr && condition->status == api::ConditionStatus::True) {
      return condition->last_transition_time;
    }
  }
  return std::nullopt;
}

void fill_status(api::JobStatus* status, std::int32_t terminating, std::int32_t ready) {
  status->terminating = terminating;
  status->ready = ready;
  if (!status->uncounted_terminated_pods) status->uncounted_terminated_pods.emplace();
}

void suspend_status(api::JobStatus* status, TimePoint now) {
  status->active = 0;
  status->start_time.reset();
  set_job_condition(status, "Suspended", true, "JobSuspended", "Job suspended", now);
}

void start_status(api::JobStatus* status, TimePoint now) {
  if (!status->start_time) status->start_time = now;
  if (api::is_true(status->conditions, "Suspended")) {
    set_job_condition(status, "Suspended", false, "JobResumed", "Job resumed", now);
  }
}

void succeed_status(api::JobStatus* status, bool last, TimePoint now) {
  constexpr std::string_view reason = "CompletionsReached";
  constexpr std::string_view message = "Reached expected number of succeeded pods";
  set_job_condition(status, "SuccessCriteriaMet", true, reason, message, now);
  if (!last) return;
  set_job_condition(status, "Complete", true, reason, message, now);
  if (!status->completion_time) status->completion_time = now;
}

void fail_status(api::JobStatus* status, bool past_deadline, bool last, TimePoint now) {
  const api::StatusCondition* target = api::find_condition(status->conditions, "FailureTarget");
  const std::string reason = target != nullptr ? target->reason
                             : past_deadline   ? "DeadlineExceeded"
                                               : "BackoffLimitExceeded";
  const std::string message = target != nullptr ? target->message
                              : past_deadline   ? "Job was active longer than specified deadline"
                                                : "Job has reached the specified backoff limit";
  set_job_condition(status, "FailureTarget", true, reason, message, now);
  if (last) set_job_condition(status, "Failed", true, reason, message, now);
}

std::int32_t parallelism_of(const api::Job& job) {
  return not_negative(job.spec.parallelism.value_or(1));
}

std::int32_t completions_of(const api::Job& job) {
  return not_negative(job.spec.completions.value_or(parallelism_of(job)));
}

std::optional<TimePoint> deadline_of(const api::Job& job) {
  if (!job.spec.active_deadline_seconds || !job.status.start_time) return std::nullopt;
  return *job.status.start_time + std::chrono::seconds(*job.spec.active_deadline_seconds);
}

bool past_deadline(const api::Job& job, TimePoint now) {
  const auto deadline = deadline_of(job);
  return deadline && now >= *deadline;
}

}  // namespace regatta::lab
