#pragma once

#include "jobs/generic_job.h"

/// v1 Pod that is a job by itself. It is held back by a scheduling gate, and ended by deletion.
namespace regatta::jobs {

std::shared_ptr<const JobKind> pod_kind();

}  // namespace regatta::jobs
