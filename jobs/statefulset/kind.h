#pragma once

#include "jobs/generic_job.h"

/// apps/v1 StatefulSet: its Pods are one group, whose Workload it makes.
namespace regatta::jobs {

/// StatefulSets, and the Pods that they made.
std::vector<std::shared_ptr<const JobKind>> stateful_set_kinds();

}  // namespace regatta::jobs
