#pragma once

#include "lib/api/batch.h"

namespace regatta::lab {

/// Sets a condition of a Job. The transition time changes with the status.
void set_job_condition(api::JobStatus* status, std::string_view type, bool value,
                       std::string_view reason, std::string_view message, TimePoint now);

bool is_finished(const api::JobStatus& status);
/// The time at which it finished, if it has.
std::optional<TimePoint> finished_at(const api::JobStatus& status);

/// Sets the members that the real controller writes even when they are zero.
void fill_status(api::JobStatus* status, std::int32_t terminating, std::int32_t ready);

// The steps of a Job's life, with the reasons and messages of the real controller.
void suspend_status(api::JobStatus* status, TimePoint now);
void start_status(api::JobStatus* status, TimePoint now);
/// `last`: no pod is left, so the result is final.
void succeed_status(api::JobStatus* status, bool last, TimePoint now);
void fail_status(api::JobStatus* status, bool past_deadline, bool last, TimePoint now);

std::int32_t parallelism_of(const api::Job& job);
std::int32_t completions_of(const api::Job& job);
bool past_deadline(const api::Job& job, TimePoint now);
std::optional<TimePoint> deadline_of(const api::Job& job);

}  // namespace regatta::lab
