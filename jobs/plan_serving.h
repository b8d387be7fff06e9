#pragma once

#include "jobs/plan.h"

namespace regatta::jobs {

/// The rules of a serving job (jobs/serving_job.h): its groups have Workloads, and its Pods know
/// their groups. What the groups do is planned for each of them.
std::vector<JobAction> plan_serving(const JobView& view);

}  // namespace regatta::jobs
