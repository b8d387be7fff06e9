#pragma once

#include "jobs/read_job.h"
#include "lib/api/field_errors.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

/// What webhooks set on new jobs, and what they refuse of jobs.
namespace regatta::jobs {

struct JobWebhookConfig {
  JobConfig jobs;
  bool multikueue = true;        ///< jobs of queues that lead to workers are given to MultiKueue
  bool fixed_group_size = true;  ///< gate LWSImmutableGroupSize
  /// A managed job that leaves its queue is still checked (gate ValidateRayAndSparkJobUpdates).
  bool check_leaving = true;
};

/// The merge patch that a new job gets; an empty object when it stays as it is. `invalid` when the
/// owners of the job lead in a circle or to a job that is not there.
///
/// 1. A job without a queue is put into the LocalQueue `default` of its namespace, if that is open.
/// 2. A job without a class gets the WorkloadPriorityClass `default`, where there is one.
/// 3. A job with a queue, or of a manager that manages all jobs, is suspended; not one that a
///    managed job made.
///    Pods of an elastic job wait for their part of the quota.
/// 4. A job whose queue leads to workers is managed by MultiKueue, unless it names another manager.
///
/// Rules 1 and 2 leave jobs alone that another job made.
Result<Json> default_job(const Lookup& objects, const GenericJob& job,
                         const JobWebhookConfig& config);

/// Errors in upstream's order.
api::FieldErrors validate_job(const Lookup& objects, const JobPtr& job,
                              const JobWebhookConfig& config);
api::FieldErrors validate_job_update(const Lookup& objects, const GenericJob& before,
                                     const JobPtr& after, const JobWebhookConfig& config);
/// What the user of a new or changed job should know, besides errors.
std::vector<std::string> job_warnings(const Lookup& objects, const GenericJob& job);

}  // namespace regatta::jobs
