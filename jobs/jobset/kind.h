#pragma once

#include "jobs/generic_job.h"

/// jobset.x-k8s.io JobSet: a pod set for each replicated job.
namespace regatta::jobs {

std::shared_ptr<const JobKind> jobset_kind();

}  // namespace regatta::jobs
