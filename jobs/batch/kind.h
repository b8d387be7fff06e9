#pragma once

#include "jobs/generic_job.h"
#include "lib/api/batch.h"

/// batch/v1 Job as a kind of job, behind the interface of jobs/generic_job.h.
namespace regatta::jobs {

std::shared_ptr<const JobKind> batch_job_kind();

/// A typed Job as a GenericJob.
JobPtr generic(api::Job job);
/// The typed Job of one of this kind, otherwise null.
const api::Job* typed(const GenericJob& job);

}  // namespace regatta::jobs
